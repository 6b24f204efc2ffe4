//===- Passes.td - passes that need nothing but the nisa dialect ------------------------*- tablegen -*-===//

#ifndef KILN_DIALECT_NISA_TRANSFORMS_PASSES_TD
#define KILN_DIALECT_NISA_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

def UnrollPass : Pass<"nisa-unroll", "::kiln::nisa::KernelOp"> {
  let summary = "Write the iterations of every nisa.for out";
  let description = [{
    Before:

    ```mlir
    nisa.for 2 {
      nisa.memset dst=%t[0+128, 0: 1x64 loop 64] value=0 : !nisa.buf<sbuf, 128x128xf32>
    }
    ```

    After:

    ```mlir
    nisa.memset dst=%t[0+128, 0: 1x64] value=0 : !nisa.buf<sbuf, 128x128xf32>
    nisa.memset dst=%t[0+128, 64: 1x64] value=0 : !nisa.buf<sbuf, 128x128xf32>
    ```

    Afterwards the kernel has no loops and no access has loop coefficients. Copies keep the location of the
    instruction they come from. A kernel that would grow beyond `max-instructions` is refused (K-12).
  }];
  let options = [
    Option<"maxInstructions", "max-instructions", "uint64_t", "1000000",
           "Instructions a kernel may have once its loops are written out">
  ];
}

#endif // KILN_DIALECT_NISA_TRANSFORMS_PASSES_TD
