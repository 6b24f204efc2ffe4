//===- Generate.h - instructions without tile inputs ------------------------------------------===//

#ifndef KILNRT_SEMANTICS_GENERATE_H
#define KILNRT_SEMANTICS_GENERATE_H

#include "kilnrt/Semantics/Tile.h"

#include <span>

namespace kilnrt {

/// dst[p, f] = value, rounded once to dst's dtype.
void memsetTile(double value, const Tile &dst);

/// dst[p, f] = offset + p * rowStep + sum over j of step_j * i_j in wrapping int32, where i is the
/// index of element f in `pattern`, [step, num] pairs, outermost first. Integer tiles saturate,
/// float tiles round once.
void iotaTile(std::span<const int32_t> pattern, int32_t offset, int32_t rowStep, const Tile &dst);

} // namespace kilnrt

#endif // KILNRT_SEMANTICS_GENERATE_H
