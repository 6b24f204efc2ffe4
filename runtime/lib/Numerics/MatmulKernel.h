//===- MatmulKernel.h - the register-blocked kernel behind Matmul.h ---------------------------===//
//
// A second kernel with other operand layouts (AMX) would be chosen beside this one, in Matmul.cpp,
// by a feature bit of the host. Private to the library.
//
//===------------------------------------------------------------------------------------------===//

#ifndef KILNRT_NUMERICS_MATMULKERNEL_H
#define KILNRT_NUMERICS_MATMULKERNEL_H

#include "kilnrt/Numerics/Matmul.h"

namespace kilnrt {

/// Columns of the moving operand packed and multiplied at a time.
inline constexpr size_t kMovingPanelColumns = 32;

/// One panel: `moving` is [k][kMovingPanelColumns], packed; columns beyond n are computed and
/// dropped. `out` is the first column of the panel.
struct PanelJob {
  SumOrder order;
  MatmulWrite write;
  size_t k, m, n;
  const float *stationary; // StationaryTile::panels()
  const float *moving;
  std::byte *out;
  int64_t outRowStrideBytes;
};

void multiplyPanel(const PanelJob &job);

/// panel[row][c] = the element of type `type` (a float type) at src + row * rowStrideBytes, c
/// elements on, for row < k and c < kMovingPanelColumns. Infinities, NaNs and all finite values
/// keep their value.
void packFullPanel(kiln::isa::DType type, const std::byte *src, int64_t rowStrideBytes, size_t k,
                   float *panel);

} // namespace kilnrt

#endif // KILNRT_NUMERICS_MATMULKERNEL_H
