//===- Trn2.td - the numbers of one NeuronCore-v3, and the enums the table is written in ----------===//
//
// Sources are public pages of the Neuron SDK and public measurements; "choice" marks a decision of
// this project where the sources are silent.
//
//===--------------------------------------------------------------------------------------------===//

#ifndef KILN_TABLE_TRN2_TD
#define KILN_TABLE_TRN2_TD

include "Base.td"

//---- sizes -------------------------------------------------------------------------------------===//

def : MachineConst<"numPartitions", 128, "partitions", "trn2 architecture guide", "published",
  "Partitions of SBUF and of PSUM">;
def : MachineConst<"sbufBytesPerPartition", 229376, "bytes", "trn2 architecture guide", "published",
  "Physical SBUF bytes of one partition">;
def : MachineConst<"sbufUsableBytesPerPartition", 212984, "bytes", "NKI library constants", "published",
  "SBUF bytes of one partition a kernel may use: physical less 16 KiB of DMA scratch less 8">;
def : MachineConst<"sbufFirstUsableByte", 16384, "bytes", "NKI library constants", "derived",
  "Physical offset of the first SBUF byte a kernel may use; addresses in kernels count from it">;
def : MachineConst<"psumBytesPerPartition", 16384, "bytes", "architecture guide", "published",
  "PSUM bytes of one partition">;
def : MachineConst<"psumBanks", 8, "banks", "architecture guide", "published", "PSUM banks">;
def : MachineConst<"psumBankBytesPerPartition", 2048, "bytes", "architecture guide", "published",
  "Bytes of one PSUM bank in one partition">;
def : MachineConst<"psumCellBytes", 4, "bytes", "architecture guide", "published",
  "Size of the location PSUM accumulates into">;
def : MachineConst<"partitionQuadrant", 32, "partitions", "architecture guide: start partition", "published",
  "Engine accesses start at multiples of this, or of twice it, or at 0, by their partition count">;
def : MachineConst<"matmulMaxContraction", 128, "partitions", "nc_matmul", "published",
  "Largest contraction length of one matmul: rows of the array">;
def : MachineConst<"matmulMaxStationaryFree", 128, "elements", "nc_matmul", "published",
  "Largest free size of the stationary operand: columns of the array">;
def : MachineConst<"matmulTileSize", 32, "rows or columns", "nc_matmul", "published",
  "Smallest tile the array is cut into; tiles are this, twice or four times as long on a side">;
def : MachineConst<"matmulMaxMovingFree", 512, "elements", "nc_matmul", "published",
  "Largest free size of the moving operand">;
def : MachineConst<"matmulSumBlock", 32, "partitions", "numerics page", "choice",
  "Contraction rows summed as one block for 16-bit and 8-bit operands">;
def : MachineConst<"vectorTransposeMax", 32, "elements", "nc_transpose", "published",
  "Largest side of a transpose on the Vector Engine">;
def : MachineConst<"bnStatsMaxFree", 512, "elements", "bn_stats", "published",
  "Largest free size of one bn_stats">;
def : MachineConst<"shuffleKeepRow", 255, "mask entry", "nc_stream_shuffle", "published",
  "Entry of a shuffle mask that leaves the row of dst as it is">;
def : MachineConst<"dmaTransposeRows", 16, "elements", "dma_transpose", "published",
  "Leading extent a hardware-descriptor transpose works in">;
def : MachineConst<"dmaTransposeMaxColumns", 128, "elements", "dma_transpose", "published",
  "Largest last extent of a hardware-descriptor transpose">;
def : MachineConst<"maxFreeDims", 4, "dims", "access patterns", "published",
  "Free dimensions one access pattern holds">;
def : MachineConst<"maxRank", 5, "dims", "NkiTensor", "published", "Largest rank of a tensor or view">;
def : MachineConst<"maxFreeStep", 32767, "elements", "architecture guide: access pattern", "published",
  "Largest step of a free dimension on chip (signed 16 bit)">;
def : MachineConst<"maxFreeCount", 65535, "elements", "architecture guide: access pattern", "published",
  "Largest extent of a free dimension on chip (unsigned 16 bit)">;
def : MachineConst<"maxSbufElementsPerInstruction", 65536, "elements", "architecture guide: tile size",
  "published", "Free elements a partition one instruction may touch in SBUF">;
def : MachineConst<"maxPsumElementsPerInstruction", 4096, "elements", "architecture guide: tile size",
  "published", "Free elements a partition one instruction may touch in PSUM">;
def : MachineConst<"dmaShortRowBytes", 256, "bytes", "DMA overview", "published",
  "A DMA that moves shorter pieces spends nearly all its time on overhead">;
def : MachineConst<"dmaLongRowBytes", 2048, "bytes", "DMA overview", "published",
  "Pieces from which on a DMA comes near its full rate">;
def : MachineConst<"sbufMinAlign", 4, "bytes", "allocation", "choice",
  "Alignment of an SBUF address placed by hand (or the dtype's size, if larger)">;
def : MachineConst<"sbufAllocAlign", 64, "bytes", "allocation", "choice",
  "Alignment of an SBUF address chosen by the compiler">;
def : MachineConst<"psumMinAlign", 2048, "bytes", "migration guide", "published",
  "A PSUM tensor starts at a bank">;
def : MachineConst<"numSemaphores", 256, "semaphores", "architecture guide", "choice",
  "Semaphores the streams of one core may use">;
def : MachineConst<"dmaRings", 8, "rings", "DMA overview", "choice",
  "DMA rings static descriptors are spread over, a semaphore each">;
def : MachineConst<"dmaEngines", 16, "engines", "DMA overview", "published",
  "DMA engines of one core; each raises the semaphore of a transfer once">;
def : MachineConst<"maxLogicalCores", 2, "cores", "logical core configuration", "published",
  "Physical cores a kernel may be launched on together">;
def : MachineConst<"maxSequencerRegisters", 64, "registers", "register_alloc", "published",
  "Registers of one engine sequencer">;

def : MachineConst<"maxPrintedElements", 67108864, "elements", "device_print", "choice",
  "Elements one device_print may show: they are copied for whoever runs the program">;
def : MachineConst<"maxLoopDepth", 4, "loops", "nisa.for", "choice",
  "Loops of a program that may stand inside one another; an access holds a step for each">;

//---- enums -------------------------------------------------------------------------------------===//

def EngineTensor : EngineRec<"tensor", 1, "pe", 2400, "Tensor Engine: matmul and transpose, writes PSUM">;
def EngineScalar : EngineRec<"scalar", 2, "act", 1200, "Scalar Engine: functions of one input">;
def EngineGpsimd : EngineRec<"gpsimd", 3, "pool", 1200, "GpSimd Engine: integers, iota; no PSUM port">;
def EngineVector : EngineRec<"vector", 5, "dve", 960, "Vector Engine: elementwise and reductions">;
def EngineSync : EngineRec<"sync", 6, "sp", 1400, "Sync Engine: triggers DMA">;

def Sbuf : MemoryRec<"sbuf", 0, "On-chip state buffer, partitioned">;
def Psum : MemoryRec<"psum", 1, "Matmul accumulator memory, partitioned, in banks">;
def Hbm : MemoryRec<"hbm", 2, "Device memory, one linear address space">;

def Float32 : DtypeRec<"float32", "Float32", 0, "f32", 4, 1, 1, "IEEE binary32">;
def BFloat16 : DtypeRec<"bfloat16", "BFloat16", 1, "bf16", 2, 1, 1, "1 sign, 8 exponent, 7 mantissa bits">;
def Float16 : DtypeRec<"float16", "Float16", 2, "f16", 2, 1, 1, "IEEE binary16">;
def Int32 : DtypeRec<"int32", "Int32", 3, "i32", 4, 0, 1, "two's complement">;
def UInt8 : DtypeRec<"uint8", "UInt8", 4, "ui8", 1, 0, 0, "unsigned byte; bool tensors are stored as it">;
def Int8 : DtypeRec<"int8", "Int8", 5, "i8", 1, 0, 1, "two's complement">;
def Int16 : DtypeRec<"int16", "Int16", 6, "i16", 2, 0, 1, "two's complement">;
def UInt16 : DtypeRec<"uint16", "UInt16", 7, "ui16", 2, 0, 0, "unsigned">;
def UInt32 : DtypeRec<"uint32", "UInt32", 8, "ui32", 4, 0, 0, "unsigned">;

def Float8E4M3 : DtypeRec<"float8_e4m3", "Float8E4M3", 9, "f8E4M3", 1, 1, 1, "1 sign, 4 exponent, 3 mantissa bits, with infinities; largest 240">;
def Float8E5M2 : DtypeRec<"float8_e5m2", "Float8E5M2", 10, "f8E5M2", 1, 1, 1, "1 sign, 5 exponent, 2 mantissa bits; largest 57344">;
def Float8E4M3FN : DtypeRec<"float8_e4m3fn", "Float8E4M3FN", 11, "f8E4M3FN", 1, 1, 1, "e4m3 without infinities; largest 448; storage only, no engine of trn2 computes with it">;
def TFloat32 : DtypeRec<"tfloat32", "TFloat32", 12, "tf32", 4, 1, 1, "binary32 of which 10 mantissa bits are used">;

// What engines compute with. In the order of their numbers, which programs store: new ones come last.
defvar AnyDtype = [Float32, BFloat16, Float16, Int32, UInt8, Int8, Int16, UInt16, UInt32, Float8E4M3,
                   Float8E5M2, TFloat32];
// What memory holds and DMA moves.
defvar StoredDtypes = [Float32, BFloat16, Float16, Int32, UInt8, Int8, Int16, UInt16, UInt32, Float8E4M3,
                       Float8E5M2, Float8E4M3FN, TFloat32];
defvar FloatDtypes = [Float32, BFloat16, Float16, Float8E4M3, Float8E5M2, TFloat32];
// What DMA transposes: elements of two and four bytes.
defvar TransposeDtypes = [Float32, BFloat16, Float16, Int32, Int16, UInt16, UInt32, TFloat32];
defvar PredicateDtypes = [UInt8, UInt16, UInt32];
defvar OnChip = [Sbuf, Psum];

def AluNone : AluOpRec<"none", 0, "the stage is absent", 0, 1, 0>;
def AluAdd : AluOpRec<"add", 1, "x + y", 0, 0, 1>;
def AluSubtract : AluOpRec<"subtract", 2, "x - y", 0, 0, 1>;
def AluMultiply : AluOpRec<"multiply", 3, "x * y", 0, 0, 1>;
def AluMaximum : AluOpRec<"maximum", 4, "the larger; NaN if either is NaN; +0 of two zeros", 0, 0, 1>;
def AluMinimum : AluOpRec<"minimum", 5, "the smaller; NaN if either is NaN; -0 of two zeros", 0, 0, 1>;
def AluEqual : AluOpRec<"equal", 6, "1 if x == y, else 0", 0, 0, 0>;
def AluNotEqual : AluOpRec<"not_equal", 7, "1 if x != y or either is NaN, else 0", 0, 0, 0>;
def AluGreaterEqual : AluOpRec<"greater_equal", 8, "1 if x >= y, else 0", 0, 0, 0>;
def AluGreater : AluOpRec<"greater", 9, "1 if x > y, else 0", 0, 0, 0>;
def AluLessEqual : AluOpRec<"less_equal", 10, "1 if x <= y, else 0", 0, 0, 0>;
def AluLess : AluOpRec<"less", 11, "1 if x < y, else 0", 0, 0, 0>;
def AluLogicalAnd : AluOpRec<"logical_and", 12, "1 if x and y are both not 0, else 0; NaN is not 0", 0, 0, 1>;
def AluLogicalOr : AluOpRec<"logical_or", 13, "1 if x or y is not 0, else 0", 0, 0, 1>;
def AluLogicalXor : AluOpRec<"logical_xor", 14, "1 if exactly one of x and y is not 0, else 0", 0, 0, 1>;
def AluPower : AluOpRec<"power", 15, "x to the power y, rounded once to fp32", 0, 0, 0>;
def AluAbs : AluOpRec<"abs", 16, "x without its sign", 0, 1, 0>;
def AluRsqrt : AluOpRec<"rsqrt", 17, "1 / sqrt(x), rounded once to fp32", 0, 1, 0>;
def AluReciprocal : AluOpRec<"reciprocal", 18, "1 / x", 0, 1, 0>;
def AluInvert : AluOpRec<"invert", 19, "every bit of x inverted", 1, 1, 0>;
def AluBitwiseAnd : AluOpRec<"bitwise_and", 20, "x & y", 1, 0, 1>;
def AluBitwiseOr : AluOpRec<"bitwise_or", 21, "x | y", 1, 0, 1>;
def AluBitwiseXor : AluOpRec<"bitwise_xor", 22, "x ^ y", 1, 0, 1>;
def AluLeftShift : AluOpRec<"left_shift", 23, "x << y, zero fill; 0 when y is not below the width", 1, 0, 0>;
def AluRightShift : AluOpRec<"right_shift", 24, "x >> y, zero fill, signed types too; 0 when y is not below the width", 1, 0, 0>;

def ActCopy : ActFnRec<"copy", 0, "x">;
def ActSquare : ActFnRec<"square", 1, "x * x">;
def ActSigmoid : ActFnRec<"sigmoid", 2, "1 / (1 + exp(-x))">;
def ActRelu : ActFnRec<"relu", 3, "max(x, 0)">;
def ActGelu : ActFnRec<"gelu", 4, "x * (1 + erf(x / sqrt(2))) / 2">;
def ActGeluDx : ActFnRec<"gelu_dx", 5, "Phi(x) + x * phi(x), phi = exp(-x*x/2) / sqrt(2 pi)">;
def ActGeluTanh : ActFnRec<"gelu_apprx_tanh", 6, "x/2 * (1 + tanh(sqrt(2/pi) * (x + 0.044715 x^3)))">;
def ActGeluSigmoid : ActFnRec<"gelu_apprx_sigmoid", 7, "x * sigmoid(1.702 x)">;
def ActGeluSigmoidDx : ActFnRec<"gelu_apprx_sigmoid_dx", 8, "s + 1.702 x * s * (1 - s), s = sigmoid(1.702 x)">;
def ActSilu : ActFnRec<"silu", 9, "x * sigmoid(x)">;
def ActSiluDx : ActFnRec<"silu_dx", 10, "s * (1 + x * (1 - s)), s = sigmoid(x)">;
def ActTanh : ActFnRec<"tanh", 11, "tanh(x)">;
def ActSoftplus : ActFnRec<"softplus", 12, "ln(1 + exp(x))">;
def ActMish : ActFnRec<"mish", 13, "x * tanh(softplus(x))">;
def ActErf : ActFnRec<"erf", 14, "erf(x)">;
def ActErfDx : ActFnRec<"erf_dx", 15, "2 / sqrt(pi) * exp(-x*x)">;
def ActExp : ActFnRec<"exp", 16, "exp(x)">;
def ActLog : ActFnRec<"log", 17, "ln(x)", "0x1p-64", "0x1p+64">;
def ActSin : ActFnRec<"sin", 18, "sin(x) in the domain; outside it the cubic about the nearer pi: with d = x - pi (x > pi) or x + pi (x < -pi), -d + d^3/6", "-0x1.921fb6p+1", "0x1.921fb6p+1">;
def ActArctan : ActFnRec<"arctan", 19, "atan(x)", "-0x1.921fb6p+0", "0x1.921fb6p+0">;
def ActSqrt : ActFnRec<"sqrt", 20, "sqrt(x)", "0x1p-116", "0x1p+118">;
def ActRsqrt : ActFnRec<"rsqrt", 21, "1 / sqrt(x)", "0x1p-87", "0x1p+97">;
def ActReciprocal : ActFnRec<"reciprocal", 22, "1 / x", "0x1p-42", "0x1p+42">;
def ActSign : ActFnRec<"sign", 23, "-1, 0 or 1">;
def ActAbs : ActFnRec<"abs", 24, "x without its sign">;

def ReduceIdle : Case<"idle", 0, "leave them alone">;
def ReduceReset : Case<"reset", 1, "set them to 0">;
def ReduceReduce : Case<"reduce", 2, "continue from their value">;
def ReduceResetReduce : Case<"reset_reduce", 3, "start from the identity">;
def ReduceLoadReduce : Case<"load_reduce", 4, "start from a given value">;

def LoopKindEnum : TableEnum<"LoopKind", "What decides how often the body of a loop runs.",
  [Case<"count", 0, "a number">, Case<"range", 1, "a register counts from a bound to another">,
   Case<"while", 2, "a register that is not 0">, Case<"once", 3, "a register that is not 0, and then once">]>;
def EngineEnum : TableEnum<"Engine", "Engines of one core. NKI's values.",
  [Case<"unknown", 0, "the compiler picks">, EngineTensor, EngineScalar, EngineGpsimd, EngineVector, EngineSync]>;
def MemoryEnum : TableEnum<"Memory", "Memories an access can name.", [Sbuf, Psum, Hbm]>;
def DtypeEnum : TableEnum<"DType", "Element types.", StoredDtypes>;
def AluOpEnum : TableEnum<"AluOp", "ALU operators; x is the left argument, y the right.",
  [AluNone, AluAdd, AluSubtract, AluMultiply, AluMaximum, AluMinimum, AluEqual, AluNotEqual,
   AluGreaterEqual, AluGreater, AluLessEqual, AluLess, AluLogicalAnd, AluLogicalOr, AluLogicalXor,
   AluPower, AluAbs, AluRsqrt, AluReciprocal, AluInvert, AluBitwiseAnd, AluBitwiseOr, AluBitwiseXor,
   AluLeftShift, AluRightShift]>;
def ActFnEnum : TableEnum<"ActFn", "Functions of the Scalar Engine.",
  [ActCopy, ActSquare, ActSigmoid, ActRelu, ActGelu, ActGeluDx, ActGeluTanh, ActGeluSigmoid,
   ActGeluSigmoidDx, ActSilu, ActSiluDx, ActTanh, ActSoftplus, ActMish, ActErf, ActErfDx, ActExp, ActLog,
   ActSin, ActArctan, ActSqrt, ActRsqrt, ActReciprocal, ActSign, ActAbs]>;
def ReduceCmdEnum : TableEnum<"ReduceCmd", "What an instruction does to the engine's reduction registers. NKI's values.",
  [ReduceIdle, ReduceReset, ReduceReduce, ReduceResetReduce, ReduceLoadReduce]>;
def AccumulateEnum : TableEnum<"Accumulate", "What a matmul does to the location it writes.",
  [Case<"automatic", 0, "overwrite at the first matmul write since allocation, add at later ones, location by location">,
   Case<"overwrite", 1, "replace what is there">, Case<"add", 2, "add to what an earlier matmul left">]>;
def MatmulPerfModeEnum : TableEnum<"MatmulPerfMode", "How the array takes its operands. NKI's names.",
  [Case<"none", 0, "one row a partition">,
   Case<"double_row", 1, "two rows of 8-bit floats a partition, for twice the contraction">]>;
def DgeModeEnum : TableEnum<"DgeMode", "Who builds the DMA descriptors. NKI's values.",
  [Case<"unknown", 0, "the compiler picks">, Case<"swdge", 1, "GpSimd, at run time">,
   Case<"hwdge", 2, "the hardware block, triggered from sync or scalar">, Case<"none", 3, "the host, before execution">]>;
def OobModeEnum : TableEnum<"OobMode", "What a run-time index out of range does. NKI's values.",
  [Case<"error", 0, "the run fails">, Case<"skip", 1, "the row is not transferred">]>;

#endif // KILN_TABLE_TRN2_TD
