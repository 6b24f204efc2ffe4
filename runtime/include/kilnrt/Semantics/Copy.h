//===- Copy.h - instructions that move elements -----------------------------------------------===//

#ifndef KILNRT_SEMANTICS_COPY_H
#define KILNRT_SEMANTICS_COPY_H

#include "kilnrt/Semantics/Tile.h"

namespace kilnrt {

/// dst[r, f] = src[r, f]: equal dtypes keep every bit, different ones go
/// through fp32 and are rounded once. Rows and elements agree; free patterns
/// may differ. The tiles are disjoint or the same elements.
void copyTile(const ConstTile &src, const Tile &dst);

/// dst[f, r] = src[r, f], bits unchanged; one dtype. dst has src's elements as
/// rows. The tiles are disjoint.
void transposeTile(const ConstTile &src, const Tile &dst);

} // namespace kilnrt

#endif // KILNRT_SEMANTICS_COPY_H
