//===- TileToNisaPasses.td - from whole tensors to instructions on tiles -*- tablegen -*-===//

#ifndef KILN_CONVERSION_TILETONISAPASSES_TD
#define KILN_CONVERSION_TILETONISAPASSES_TD

include "mlir/Pass/PassBase.td"

def PlanPass : Pass<"kiln-plan", "::kiln::nisa::KernelOp"> {
  let summary = "Turn the values of a kernel into instructions on tiles that fit";
  let description = [{
    Reads the tile ops into a graph, decomposes composites, makes a plan (compiler/docs/Planner.md), checks
    it, and replaces the ops by its instructions, each group where its results are first needed among the
    kernel's own instructions.

    Before: tile ops that verify. After: no tile op is left.

    ```mlir
    nisa.kernel @f {
      %x = nisa.alloc "x" input 0 : !nisa.buf<hbm, 4x8xf32>
      %y = nisa.alloc "y" output 0 : !nisa.buf<hbm, 4x8xf32>
      %0 = tile.load %x ...
      %1 = tile.unary exp %0 ...
      tile.store %1, %y ...
    }
    // becomes
    nisa.kernel @f {
      ...
      nisa.dma_copy dst=%t0[...] src=%x[...]
      nisa.activation dst=%t0[...] data=%t0[...] op=exp
      nisa.dma_copy dst=%y[...] src=%t0[...]
    }
    ```
  }];
  let dependentDialects = ["::kiln::nisa::NisaDialect"];
}

#endif // KILN_CONVERSION_TILETONISAPASSES_TD
