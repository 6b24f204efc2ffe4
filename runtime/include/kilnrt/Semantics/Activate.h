//===- Activate.h - the Scalar Engine's instruction -------------------------------------------===//

#ifndef KILNRT_SEMANTICS_ACTIVATE_H
#define KILNRT_SEMANTICS_ACTIVATE_H

#include "kilnrt/Semantics/Elementwise.h"

namespace kilnrt {

/// y[p, f] = fn(data[p, f] * scale[p] + bias[p]), product and sum rounded separately;
/// dst[p, f] = round(y[p, f]). With `sums`: sums[p] = (sums[p] + y[p, 0]) + y[p, 1] + ..., left to
/// right, of y before it is narrowed; one for each row.
void activation(kiln::isa::ActFn fn, const ConstTile &data, const Scalar &scale, const Scalar &bias,
                const Tile &dst, float *sums);

} // namespace kilnrt

#endif // KILNRT_SEMANTICS_ACTIVATE_H
