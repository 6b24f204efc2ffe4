//===- Matmul.h - the Tensor Engine's instruction ---------------------------------------------===//

#ifndef KILNRT_SEMANTICS_MATMUL_H
#define KILNRT_SEMANTICS_MATMUL_H

#include "kilnrt/Numerics/Matmul.h"
#include "kilnrt/Semantics/Tile.h"

#include <optional>
#include <vector>

namespace kilnrt {

/// The stationary operand, K x M, as the array holds it; used by any number of multiplications.
struct LoadedStationary {
  StationaryTile tile;
  DType dtype = DType::Float32;
  /// Two rows a partition: (K, 2, M), the second half of a partition after all first ones.
  bool isDoubleRow = false;
};
void loadStationary(const ConstTile &stationary, bool isDoubleRow, LoadedStationary &loaded);

/// R[m, n] = sum over k of stationary[k, m] * moving[k, n], in the order the dtypes have;
/// dst[m, n] = R[m, n], or dst[m, n] + R[m, n]. dst is fp32; its elements are distinct. `moving`
/// has two rows a partition where the stationary operand has.
void matmul(const LoadedStationary &stationary, const ConstTile &moving, MatmulWrite write,
            const Tile &dst);

/// R alone: M rows of N floats, without gaps.
std::vector<float> matmulProduct(const LoadedStationary &stationary, const ConstTile &moving);

struct MatrixElement {
  uint32_t row;
  int64_t column;
};
/// The first element in which a tile differs from an identity matrix (1 on the diagonal, 0 of
/// either sign elsewhere); nothing for an identity.
std::optional<MatrixElement> findNonIdentity(const ConstTile &tile);

} // namespace kilnrt

#endif // KILNRT_SEMANTICS_MATMUL_H
