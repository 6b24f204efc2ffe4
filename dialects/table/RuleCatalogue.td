//===- RuleCatalogue.td - the text behind every rule id ------------------------------------------------===//
//
// `kiln explain ID` prints an entry. Messages of the compiler and the executor carry the id, the numbers
// and the place; what the rule is and why stands here.
//
//===--------------------------------------------------------------------------------------------===//

#ifndef KILN_TABLE_RULECATALOGUE_TD
#define KILN_TABLE_RULECATALOGUE_TD

include "Base.td"

def : RuleText<"P-01", "A tile has at most 128 partitions",
  "SBUF and PSUM have 128 partitions and dim 0 of an on-chip tensor is the partition dim",
  "split dim 0 into tiles of 128, or move part of it into a free dim">;
def : RuleText<"P-02", "An on-chip tensor has a partition dim and at least one free dim",
  "dim 0 selects a partition, the rest lies inside it, so a tensor of rank 1 has no place",
  "write (N, 1) for a column or (1, N) for a row">;
def : RuleText<"P-03", "Dim 0 is the partition dim",
  "a small dim 0 that counts blocks leaves most partitions idle",
  "keep a vector of tiles, or fold the blocks into a free dim"> {
  let severity = "warning";
}
def : RuleText<"P-04", "Operands use the same number of partitions",
  "every partition computes on its own data; the hardware never broadcasts across partitions. A chain through reduction registers uses one number too",
  "replicate the operand first: a DMA with partition stride 0, or a matmul with a column of ones">;
def : RuleText<"P-05", "Operands hold the same number of elements a partition",
  "elements are paired by their position in the flattened free sequence",
  "take equal slices, broadcast a free dim, or use tensor_scalar for one value a partition">;
def : RuleText<"P-06", "An access starts at a legal partition",
  "the engines read partitions in quadrants: more than 64 partitions start at 0, 33 to 64 at 0 or 64, up to 32 at a multiple of 32; two SBUF inputs share their start, and so do the instructions of a chain through reduction registers",
  "move the slice to a legal start, or copy the rows first">;
def : RuleText<"P-07", "An access does not cross a half",
  "33 to 64 partitions lie in one half of the array",
  "start at 0 or 64, or split the access">;
def : RuleText<"P-08", "Partitions are consecutive",
  "an access covers a range of partitions; there is no partition stride",
  "use DMA or a matmul with a selection matrix">;
def : RuleText<"P-09", "Partitions are not reduced",
  "a reduction runs along the free dims of one partition",
  "transpose first, or multiply by a column of ones">;
def : RuleText<"P-10", "Reduced dims are trailing",
  "a reduction folds the innermost free dims",
  "permute the view so that the reduced dims come last">;
def : RuleText<"P-11", "Both matmul inputs span the same partitions",
  "the contraction dim of both lies on the partitions",
  "pass the operand as [K, M], or transpose it">;
def : RuleText<"P-12", "The result has the shape the instruction writes",
  "a matmul writes (stationary free, moving free), a transpose swaps, a reduction keeps the other dims",
  "declare dst with the shape in the message">;
def : RuleText<"P-13", "A partition index keeps its dim",
  "on chip, indexing dim 0 gives extent 1",
  "use squeeze_dim on free dims, or index an HBM tensor"> {
  let severity = "note";
}
def : RuleText<"P-14", "A slice stays inside its dim",
  "the last tile of a dim is smaller when the tile size does not divide it",
  "clip with nl::tiles(n, t) or std::min(end, n)">;
def : RuleText<"B-01", "The Tensor Engine writes PSUM",
  "its results leave the array into the accumulator memory only",
  "allocate dst with nl::psum and copy it out afterwards">;
def : RuleText<"B-02", "The Tensor Engine reads SBUF",
  "its operands enter from the state buffer only",
  "copy the operand to SBUF first: tensor_copy from PSUM, dma_copy from HBM">;
def : RuleText<"B-03", "At most one input lies in PSUM",
  "the Vector Engine has one read port into PSUM",
  "copy one of the inputs to SBUF">;
def : RuleText<"B-04", "DMA reaches HBM and SBUF",
  "no DMA path leads into or out of PSUM",
  "tensor_copy the tile to SBUF, then DMA that">;
def : RuleText<"B-05", "GpSimd does not reach PSUM",
  "the engine has no PSUM port",
  "use the Vector Engine, or copy the operand to SBUF">;
def : RuleText<"B-06", "Engines compute on chip",
  "only DMA reaches HBM",
  "load the tensor into an SBUF tile first">;
def : RuleText<"B-07", "The engine has the operation",
  "each engine implements part of the instruction set",
  "leave the engine out, or name one the message lists">;
def : RuleText<"B-08", "GpSimd runs tensor_scalar for rsqrt only",
  "its other operators are not exposed there",
  "leave the engine out">;
def : RuleText<"B-09", "A DMA trigger engine needs hardware descriptors",
  "only descriptors of the hardware block are triggered from a chosen engine",
  "add .dge_mode = nisa::dge_mode::hwdge, or leave the engine out">;
def : RuleText<"B-10", "Gather and scatter use software descriptors",
  "hardware descriptors have static addresses",
  "use dge_mode::swdge or leave it unset">;
def : RuleText<"B-11", "A copy on chip is an engine's work",
  "a DMA has a latency of about two microseconds; an engine copies a tile at once",
  "use nisa::tensor_copy"> {
  let severity = "warning";
}
def : RuleText<"B-12", "The operation exists on trn2",
  "some instructions came with trn3",
  "use the replacement in the message">;
def : RuleText<"D-01", "A matmul does not mix 32-bit and narrower operands",
  "the array runs either in fp32 passes or in 16-bit passes",
  "cast one operand while copying it to SBUF">;
def : RuleText<"D-02", "A matmul result is float32",
  "PSUM accumulates in fp32 on trn2",
  "declare dst float32 and narrow it in the copy that evacuates PSUM">;
def : RuleText<"D-03", "A transpose moves bits",
  "it does no arithmetic and cannot convert",
  "give dst the data's dtype and cast in a separate copy">;
def : RuleText<"D-06", "The Tensor Engine takes floats",
  "it has no integer path",
  "convert to bfloat16 (exact to 2^8) or float32 (exact to 2^24)">;
def : RuleText<"D-07", "A fill value fits the tile",
  "an integer tile holds whole numbers of its range",
  "write a whole number inside the range">;
def : RuleText<"D-08", "Bit operators need integers of one width, and one class an instruction",
  "they work on raw bits; arithmetic works in fp32",
  "use integer tiles of one dtype, and do not mix the classes in one instruction">;
def : RuleText<"D-09", "A scale tile is float32",
  "the engine reads the scalars of its arithmetic unconverted; bit operators take one of the data's width",
  "declare the scale or scalar tile float32">;
def : RuleText<"D-10", "A per-partition operand is [P, 1]",
  "it holds one value for each partition",
  "slice or reshape the operand to one element a partition">;
def : RuleText<"D-12", "Hardware descriptors move raw bytes",
  "the hardware descriptor block does not convert",
  "make the dtypes equal, or leave dge_mode unset">;
def : RuleText<"D-13", "int32 values pass through float32",
  "the engines compute in float32, which holds whole numbers up to 2^24; only copies, bit operators and GpSimd's tensor_tensor on three int32 tiles keep all 32 bits",
  "use the instruction the message names"> {
  let severity = "warning";
}
def : RuleText<"D-17", "A reduction operator reduces",
  "comparisons, shifts and unary operators have no fold",
  "use add, subtract, multiply, maximum, minimum or a bitwise or logical operator">;
def : RuleText<"S-01", "A stationary operand has at most 128 columns",
  "the array has 128 columns",
  "loop over blocks of 128 columns">;
def : RuleText<"S-02", "A moving operand has at most 512 columns",
  "one matmul fills one PSUM bank: 512 fp32",
  "split the moving operand">;
def : RuleText<"S-03", "A matmul result lies in one PSUM bank",
  "a pass cannot cross from one bank to the next",
  "split the moving operand so that a row of dst has at most 2048 bytes">;
def : RuleText<"S-04", "At most eight PSUM banks are live",
  "PSUM has eight banks",
  "evacuate an accumulator before opening the next">;
def : RuleText<"S-05", "A transpose fits the engine",
  "the Tensor Engine transposes up to 128 x 128, the Vector Engine 32 x 32",
  "loop over blocks">;
def : RuleText<"S-06", "A view fits four free strides",
  "an instruction holds four free dims, a tensor five dims in all",
  "make two dims contiguous, or copy the tile once">;
def : RuleText<"S-07", "Steps and extents fit their fields",
  "a step is 16 bits signed, an extent 16 bits unsigned; an instruction touches a bounded number of elements",
  "split the access">;
def : RuleText<"S-08", "An operand has as many elements as the instruction takes",
  "some instructions work on a fixed number of elements of a partition, or hold at most so many",
  "take a view of that many, or split the tile">;
def : RuleText<"S-09", "A DMA moves as many elements as it reads",
  "elements are paired one to one",
  "make the shapes hold equally many elements">;
def : RuleText<"V-01", "An index lies inside its dim",
  "there is nothing to access outside the tensor",
  "use an index below the extent">;
def : RuleText<"V-02", "A slice is not empty and steps forward",
  "an access has at least one element",
  "write start < end and step >= 1">;
def : RuleText<"V-03", "There are at most as many indices as dims",
  "each index addresses one dim",
  "drop the extra index">;
def : RuleText<"V-04", "A reshape keeps the elements and the partitions",
  "a view regroups free dims only",
  "keep the element count, and dim 0 on chip">;
def : RuleText<"V-05", "Merged dims are adjacent in memory",
  "a view moves nothing",
  "copy to a fresh tile first">;
def : RuleText<"V-06", "Dim 0 stays in place on chip",
  "it is the partition dim",
  "use nc_transpose to exchange partitions and a free dim">;
def : RuleText<"V-07", "Only a dim of extent 1 is broadcast",
  "a broadcast repeats one element",
  "select one element of the dim first">;
def : RuleText<"V-08", "A destination does not repeat storage",
  "with step 0 several values would land in one place",
  "write to a view without a broadcast">;
def : RuleText<"V-09", "A transfer does not overlap its source",
  "its sixteen DMA engines move their shares in no order, so overlapping views of one tensor give bits by chance",
  "copy to a second tensor first"> {
  let severity = "warning";
}
def : RuleText<"V-10", "An access pattern takes whole partitions",
  "every partition is accessed alike, so the first pair of an on-chip pattern is the partition step",
  "start the pattern with [elements of one partition, partitions]">;
def : RuleText<"V-11", "An access stays inside its tensor",
  "bytes outside belong to something else",
  "reduce the counts, the steps or the offset">;
def : RuleText<"V-14", "oob_mode::skip needs an index known only at run time",
  "a static access is checked while the kernel is compiled, so there is nothing to skip",
  "leave oob_mode out"> {
  let severity = "warning";
}
def : RuleText<"V-16", "ap is called on a whole tensor",
  "it addresses the storage and would ignore an earlier slice",
  "call ap on the tensor itself, or use view methods">;
def : RuleText<"C-01", "A tile has no value while tracing",
  "the kernel is recorded, not run, when the C++ executes",
  "use a comparison and a select instruction">;
def : RuleText<"C-02", "A register has no value while tracing",
  "its value exists on the device only",
  "use it as a bound or an offset">;
def : RuleText<"C-11", "Iterations of nl::affine_range are independent",
  "the name promises that no iteration reads or writes what another one writes; matmuls that add to one PSUM tile are fine",
  "index by the loop variable, declare the tile inside the loop, or use nl::range"> {
  let severity = "warning";
}
def : RuleText<"C-12", "Every output is written",
  "an output nothing wrote would hold arbitrary bytes",
  "check that the loop that writes it runs; nl::ceil_div counts partial tiles">;
def : RuleText<"K-12", "A kernel has a bounded number of instructions",
  "host loops are unrolled while tracing; one without an end would take all memory",
  "end the loop, enlarge the tiles, or run a smaller shape">;
def : RuleText<"M-01", "Live tiles fit SBUF",
  "a partition has 212,984 usable bytes",
  "free the largest tile earlier, make tiles smaller, or load less at once">;
def : RuleText<"M-02", "A tile fits a partition",
  "a tile cannot be larger than the memory of one partition",
  "split the free dims">;
def : RuleText<"M-03", "An address lies inside the usable bytes",
  "the top of a partition is reserved",
  "choose a smaller address">;
def : RuleText<"M-04", "Tiles placed by hand do not overlap while live",
  "one would overwrite the other",
  "move one of them, or let the compiler place it"> {
  let isDemotable = 1;
}
def : RuleText<"M-05", "Tiles that rotate by hand are dead before their address is used again",
  "tile i + n is written into the bytes of tile i",
  "rotate over as many tiles as are live at once, or let the compiler place them"> {
  let isDemotable = 1;
}
def : RuleText<"M-06", "A PSUM address is a bank boundary",
  "accumulation works bank by bank",
  "use a multiple of 2048">;
def : RuleText<"M-07", "An address starts at a legal partition",
  "engine accesses start at quadrants",
  "choose 0, 32, 64 or 96 as the partition count allows">;
def : RuleText<"M-08", "A tile is written before it is read",
  "memory is not initialised, nor are the reduction registers of an engine",
  "write it first: dma_copy, memset or a matmul; begin a chain of reductions with reduce_cmd reset_reduce">;
def : RuleText<"M-09", "Every byte read was written",
  "a tail tile writes fewer bytes than a full one",
  "read only what was written">;
def : RuleText<"M-10", "Accumulation starts with a matmul",
  "adding onto anything else is undefined on trn2",
  "let the first matmul overwrite: accumulate left out, or false">;
def : RuleText<"M-11", "One bank, one open accumulation group",
  "groups in a bank share its state",
  "use another bank">;
def : RuleText<"M-12", "A tile declared outside a loop serialises it",
  "it is one piece of memory, so an iteration cannot fill it before the one before has used it; a tile declared inside is a new one in every iteration",
  "declare it inside the loop"> {
  let severity = "warning";
}
def : RuleText<"M-13", "Names are unique",
  "reports and schedules name tensors",
  "choose another name, or none">;
def : RuleText<"K-01", "Results live in shared HBM",
  "the host reads them there",
  "allocate the result with nl::shared_hbm">;
def : RuleText<"K-02", "Inputs are read-only",
  "the host owns them",
  "declare the parameter nl::InOut, or write a copy">;
def : RuleText<"K-03", "A kernel returns something",
  "otherwise nothing of it is visible",
  "return the tensor it computes">;
def : RuleText<"K-04", "Shared tensors are declared once",
  "shared_hbm is one memory for all cores of a launch, so each core declares the same tensors: at the top of the kernel, not in a loop or branch",
  "use nl::private_hbm for scratch, or move the declaration to the top"> {
  let severity = "warning";
}
def : RuleText<"K-05", "trn2 joins one or two cores",
  "a logical core has at most two",
  "launch on 1 or 2">;
def : RuleText<"K-07", "Instructions belong to a kernel",
  "they are recorded into the kernel being traced",
  "call them from a kernel function only">;
def : RuleText<"K-08", "A tensor belongs to one trace",
  "another trace numbers its tensors anew",
  "create or receive the tensor in this kernel">;
def : RuleText<"K-10", "Arguments match the parameters",
  "a kernel is traced for the shapes and dtypes it is given",
  "pass the arguments the message lists">;
def : RuleText<"K-11", "A removed name",
  "NKI dropped it",
  "use the replacement in the message">;
def : RuleText<"X-01", "Every wait is reached",
  "streams that wait for each other never move",
  "see the wait-for graph in the message">;
def : RuleText<"X-02", "A run ends",
  "the step limit stops endless programs",
  "raise --max-steps if the program is right">;
def : RuleText<"X-03", "A kernel file compiles and loads",
  "a kernel is a shared object built from C++",
  "see the host compiler's message">;
def : RuleText<"X-04", "A kernel name is in the file",
  "NL_KERNEL registers the names",
  "use a name of `kiln list FILE`">;
def : RuleText<"X-05", "A file is what its name says",
  "inputs are NumPy .npy files and program files",
  "see the message">;
def : RuleText<"X-06", "An instruction record is well formed",
  "operands, fields and the DMA ring are numbers of the table; only hand-written IR, assembler text or a damaged file has others",
  "use the values in the message">;
def : RuleText<"X-07", "A kernel's own C++ runs to its end",
  "a kernel is native code that records instructions; a crash, an exception or exit() leaves nothing to compile",
  "run the kernel's code under a debugger; nl::require stops a kernel with a message">;

def : RuleText<"H-05", "Tiles are counted with the remainder",
  "in C++ the division M / t rounds down, so a loop over M / t tiles leaves the last rows out",
  "use nl::tiles(M, t) or nl::ceil_div(M, t)"> {
  let severity = "warning";
}
def : RuleText<"W-01", "A DMA moves long pieces",
  "each piece that lies side by side costs the same overhead: below 256 bytes there is little else, from 2048 on hardly any",
  "move more columns at once, or choose a layout in which they are neighbours"> {
  let severity = "warning";
  let isPerformance = 1;
}
def : RuleText<"W-02", "An instruction uses many partitions",
  "an engine works on all partitions at once; an instruction on eight of them takes as long as one on all",
  "give the partition dim the longest dim, or work on several rows at once"> {
  let severity = "warning";
  let isPerformance = 1;
}
def : RuleText<"W-03", "A float32 matmul is slow",
  "the array takes four passes for it: about 20 instead of 79 TFLOPS",
  "cast the operands to bfloat16 on the way to SBUF; sums stay float32"> {
  let severity = "warning";
  let isPerformance = 1;
}
def : RuleText<"W-05", "The wide operand is stationary",
  "a matmul takes as long as it has moving columns, however few stationary columns the array holds",
  "swap the operands: the result comes out transposed"> {
  let severity = "warning";
  let isPerformance = 1;
}
def : RuleText<"W-08", "An input is loaded once",
  "HBM is the slowest memory, and SBUF holds tiles from one use to the next",
  "load the tiles before the loop and keep them as far as SBUF has room"> {
  let severity = "warning";
  let isPerformance = 1;
}

#endif // KILN_TABLE_RULECATALOGUE_TD
