//===- Passes.td - passes that need nothing but the nisa dialect ------------------------*- tablegen -*-===//

#ifndef KILN_DIALECT_NISA_TRANSFORMS_PASSES_TD
#define KILN_DIALECT_NISA_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

def UnrollPass : Pass<"nisa-unroll", "::kiln::nisa::KernelOp"> {
  let summary = "Write the iterations of nisa.for out, all of them or some";
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

    A nest of loops that comes to at most `full-limit` instructions is written out, as is one inside a loop
    that stays if it comes to at most `body-target`. Of the others, innermost loops get several iterations
    into their body, as many as `body-target` and `max-factor` allow, so that engines overlap between two
    meetings at the back edge; iterations that are left over stand behind the loop. Loops around them, and
    all loops of one iteration, are kept or dropped as they are.

    Copies keep the location of the instruction they come from, and have buffers of their own for those
    declared in the body. A kernel that would grow beyond `max-instructions`, or a loop that stays with more
    than 2^32 - 1 iterations, is refused (K-12). By default everything is written out.
  }];
  let options = [
    Option<"maxInstructions", "max-instructions", "uint64_t", "1000000",
           "Instructions a kernel may have once its loops are written out">,
    Option<"fullLimit", "full-limit", "uint64_t", "UINT64_MAX",
           "Instructions up to which a nest of loops is written out as a whole">,
    Option<"bodyTarget", "body-target", "uint64_t", "128",
           "Instructions worth having in the body of a loop that stays">,
    Option<"maxFactor", "max-factor", "uint64_t", "8",
           "Iterations at most that are written out in the body of a loop that stays">
  ];
}

#endif // KILN_DIALECT_NISA_TRANSFORMS_PASSES_TD
