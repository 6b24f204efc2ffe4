//===- NisaStructure.td - kernel, allocation, loop -----------------------------------------*- tablegen -*-===//
//
// The ops around the instructions. They have no row in the table and no encoding of their own.
//
//===--------------------------------------------------------------------------------------------===//

#ifndef KILN_DIALECT_NISA_IR_NISASTRUCTURE_TD
#define KILN_DIALECT_NISA_IR_NISASTRUCTURE_TD

include "kiln/Dialect/Nisa/IR/NisaBase.td"
include "kiln/Dialect/Nisa/IR/NisaInterfaces.td"
include "mlir/IR/OpAsmInterface.td"
include "mlir/IR/RegionKindInterface.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class Nisa_Op<string mnemonic, list<Trait> traits = []> : Op<Nisa_Dialect, mnemonic, traits>;

def Nisa_KernelOp : Nisa_Op<"kernel",
    [IsolatedFromAbove, Symbol, SingleBlock, NoTerminator, NoRegionArguments]> {
  let summary = "Hold the buffers and instructions of one kernel";
  let description = [{
    Allocations and instructions in program order. Parameters and results are allocations that carry
    their number, so there are neither arguments nor a return: a program file knows tensors, not values.

    `placed` says that every on-chip buffer has its address, `scheduled` that the order of instructions is
    final and every instruction has its engine. A kernel that contains a `stream.program` is synchronised.

    `texts` are what a `nisa.device_print` shows in front of a tensor; the instruction holds a number.

    Tensor names are unique; inputs are numbered from 0 without gaps, and so are outputs (rule M-13 for
    names).

    ```mlir
    nisa.kernel @copy {
      %x = nisa.alloc "x" input 0 : !nisa.buf<hbm, 128x512xf32>
      %y = nisa.alloc "y" output 0 : !nisa.buf<hbm, 128x512xf32>
      nisa.dma_copy dst=%y[128 rows of 512, 0: 1x512] src=%x[128 rows of 512, 0: 1x512]
        : !nisa.buf<hbm, 128x512xf32>, !nisa.buf<hbm, 128x512xf32>
    }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, UnitAttr:$placed, UnitAttr:$scheduled,
                       OptionalAttr<StrArrayAttr>:$texts);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $sym_name (`placed` $placed^)? (`scheduled` $scheduled^)? (`texts` $texts^)?
    attr-dict-with-keyword $body
  }];
  let hasRegionVerifier = 1;
  let skipDefaultBuilders = 1;
  let builders = [OpBuilder<(ins "::llvm::StringRef":$name)>];
}

def Nisa_AllocOp : Nisa_Op<"alloc",
    [ParentOneOf<["KernelOp", "ForOp"]>,
     DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>,
     DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "Declare a buffer";
  let description = [{
    A tensor in the memory its type names, live for the whole kernel as far as the IR is concerned; a
    placer decides from the accesses when its bytes may serve another buffer. The contents are undefined
    until written, except for inputs and constants. Inside a loop every iteration has a buffer of its own:
    its contents are undefined again, and copies of the body name copies of it.

    `input` and `output` give the number of the kernel's parameter or result, `=` the bytes of a constant;
    these three lie in HBM. `at (partition, byte)` is an address on chip: first partition, and byte counted
    in the usable part of each partition. `loop` is for synchronised kernels, where buffers no longer stand
    inside their loops: the number of the loop it belongs to, by the order in which loops begin.

    Rules: P-01, P-02, M-02 (shape), M-03, M-06, M-07 (address).

    ```mlir
    %x = nisa.alloc "x" input 0 : !nisa.buf<hbm, 512x4096xbf16>
    %w = nisa.alloc "w" at (0, 2048) : !nisa.buf<sbuf, 128x512xbf16>
    %i = nisa.alloc "ident" = dense<[[1.0, 0.0], [0.0, 1.0]]> : tensor<2x2xf32> : !nisa.buf<hbm, 2x2xf32>
    ```
  }];
  let arguments = (ins StrAttr:$tensorName, OptionalAttr<I32Attr>:$input, OptionalAttr<I32Attr>:$output,
                       OptionalAttr<I32Attr>:$partition, OptionalAttr<I64Attr>:$byte,
                       OptionalAttr<I32Attr>:$loop, OptionalAttr<ElementsAttr>:$data);
  let results = (outs Nisa_BufType:$buffer);
  let assemblyFormat = [{
    $tensorName (`input` $input^)? (`output` $output^)? (`at` `(` $partition^ `,` $byte `)`)?
    (`loop` $loop^)? (`=` $data^)? attr-dict `:` qualified(type($buffer))
  }];
  let hasVerifier = 1;
  let skipDefaultBuilders = 1;
  let builders = [
    OpBuilder<(ins "::kiln::nisa::BufType":$type, "::llvm::StringRef":$name)>,
  ];
  let extraClassDeclaration = [{
    /// An allocation the kernel's caller does not see: no parameter, result or constant.
    bool isInternal() { return !getInput() && !getOutput() && !getData(); }
    BufType getType() { return ::llvm::cast<BufType>(getBuffer().getType()); }
    /// The address on chip, if there is one.
    ::std::optional<::kiln::isa::TensorAddress> getAddress();
    void setAddress(::kiln::isa::TensorAddress address);
    /// The bytes of a constant, splats written out; empty when there is no data.
    ::llvm::SmallVector<char> getDataBytes();
  }];
}

def Nisa_ForOp : Nisa_Op<"for",
    [ParentOneOf<["KernelOp", "ForOp"]>, SingleBlock, NoTerminator, NoRegionArguments,
     RecursiveMemoryEffects, DeclareOpInterfaceMethods<Nisa_LoopOpInterface>]> {
  let summary = "Repeat instructions a fixed number of times";
  let description = [{
    Runs the body `tripCount` times in order. There is no induction variable: an access inside carries one
    coefficient for each enclosing loop (`loop 65536, 512`, outermost first), and iteration i adds i times
    it to the offset. On chip the coefficient moves the offset inside each partition, in HBM it moves the
    whole rectangle, so a row step times a row count walks down the rows.

    The body holds buffers, instructions and loops. A buffer declared in it is a new one in every
    iteration; one declared outside carries what it holds from iteration to iteration. At most four loops
    stand inside one another.

    Registers may decide instead (`control`): `r0 = 0 to r1 step 128` counts a register from a bound to below
    another, `while r2` runs as long as a register is not 0, `if r2` once if it is not. Such a loop stays as
    it is, no access moves with it by a coefficient, and it may run not at all.

    A loop may stay as it is: in the program it is an epoch, at whose edges all engines meet.
    `-nisa-unroll` decides which loops do, and writes iterations out.

    ```mlir
    nisa.for 4 {
      nisa.dma_copy dst=%t[0+128, 0: 1x512] src=%x[128 rows of 512, 0: 1x512 loop 65536]
        : !nisa.buf<sbuf, 128x512xf32>, !nisa.buf<hbm, 512x512xf32>
    }
    nisa.for r0 = 0 to r1 step 128 {
      nisa.dma_copy dst=%t[0+128, 0: 1x512] src=%x[128 rows of 512, 0: 1x512 by r0 * 512 below 512]
        : !nisa.buf<sbuf, 128x512xf32>, !nisa.buf<hbm, 512x512xf32>
    }
    ```
  }];
  let arguments = (ins I64Attr:$tripCount, OptionalAttr<DenseI64ArrayAttr>:$control);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "custom<LoopControl>($tripCount, $control) attr-dict-with-keyword $body";
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let skipDefaultBuilders = 1;
  let builders = [OpBuilder<(ins "int64_t":$tripCount)>,
                  OpBuilder<(ins "const ::kiln::isa::LoopControl &":$control)>];
}

#endif // KILN_DIALECT_NISA_IR_NISASTRUCTURE_TD
