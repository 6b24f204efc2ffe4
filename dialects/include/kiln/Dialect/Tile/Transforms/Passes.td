//===- Passes.td - passes that need nothing but the tile dialect -------------------------*- tablegen -*-===//

#ifndef KILN_DIALECT_TILE_TRANSFORMS_PASSES_TD
#define KILN_DIALECT_TILE_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

def SimplifyPass : Pass<"tile-simplify", "::kiln::nisa::KernelOp"> {
  let summary = "Bring the values of a kernel to their canonical form";
  let description = [{
    Before:

    ```mlir
    nisa.kernel @simplify_before {
      %a = nisa.alloc "a" input 0 : !nisa.buf<hbm, 64x512xf32>
      %b = nisa.alloc "b" output 0 : !nisa.buf<hbm, 64x64xf32>
      %x = tile.load %a : !nisa.buf<hbm, 64x512xf32> -> tensor<64x512xf32>
      %y = tile.load %a : !nisa.buf<hbm, 64x512xf32> -> tensor<64x512xf32>
      %t = tile.transpose %y [1, 0] : tensor<64x512xf32> -> tensor<512x64xf32>
      %r = tile.matmul %x, %t : tensor<64x512xf32>, tensor<512x64xf32> -> tensor<64x64xf32>
      tile.store %r, %b : tensor<64x64xf32>, !nisa.buf<hbm, 64x64xf32>
    }
    ```

    After:

    ```mlir
    nisa.kernel @simplify_after {
      %a = nisa.alloc "a" input 0 : !nisa.buf<hbm, 64x512xf32>
      %b = nisa.alloc "b" output 0 : !nisa.buf<hbm, 64x64xf32>
      %x = tile.load %a : !nisa.buf<hbm, 64x512xf32> -> tensor<64x512xf32>
      %r = tile.matmul %x, %x transpose_y : tensor<64x512xf32>, tensor<64x512xf32> -> tensor<64x64xf32>
      tile.store %r, %b : tensor<64x64xf32>, !nisa.buf<hbm, 64x64xf32>
    }
    ```

    Folders, canonical forms and common-subexpression elimination of the tile ops. No bit of any result
    changes: sums keep their order, NaNs their payload, zeros their sign. Hence x * 1 goes only where x holds
    no NaN but the canonical one, x + 0 stays because it turns -0 into +0, and a cast there and back stays
    where it would make a NaN canonical. Values nobody uses go, loads are merged only with no write between
    them, and an op with a hint stays as it is. Instructions are not touched; a
    kernel without tile ops is left alone after one look at its top level.
  }];
  let dependentDialects = ["::kiln::tile::TileDialect"];
}

#endif // KILN_DIALECT_TILE_TRANSFORMS_PASSES_TD
