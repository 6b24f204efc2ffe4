//===- MatmulKernel.h - products of packed panels ---------------------------------------------===//
//
// Vectors run over output columns, so each output has a chain of its own and the order along the
// contraction is the scalar one on every host.
//
//===------------------------------------------------------------------------------------------===//

#ifndef KILN_LIB_TILE_MATMULKERNEL_H
#define KILN_LIB_TILE_MATMULKERNEL_H

#include <cstddef>

namespace kiln::tile {

/// Rows and columns of a panel; missing ones are computed and dropped by the caller.
inline constexpr size_t kPanelRows = 4, kPanelColumns = 32;

/// x is [k][kPanelRows], y [k][kPanelColumns], out [kPanelRows][kPanelColumns].
struct PanelProduct {
  size_t k;
  const float *x, *y;
};

/// out = for each `chunk` elements of the contraction the Tensor Engine's sum, the sums added left
/// to right. `isBlocked`: per block of 32 an even and an odd chain of fused multiply-adds from +0,
/// and their sum added to the chunk's; otherwise one chain from +0 a chunk.
void multiplyInChunks(const PanelProduct &product, size_t chunk, bool isBlocked, float *out);

/// out = the sum in double, k ascending. Products of floats are exact in double.
void multiplyInDouble(const PanelProduct &product, double *out);

} // namespace kiln::tile

#endif // KILN_LIB_TILE_MATMULKERNEL_H
