//===- Copy.h - instructions that move elements -----------------------------------------------===//

#ifndef KILNRT_SEMANTICS_COPY_H
#define KILNRT_SEMANTICS_COPY_H

#include "kilnrt/Semantics/Tile.h"

#include <span>

namespace kilnrt {

/// dst[r, f] = src[r, f]: equal dtypes keep every bit, different ones go
/// through fp32 and are rounded once. Rows and elements agree; free patterns
/// may differ. The tiles are disjoint or the same elements.
void copyTile(const ConstTile &src, const Tile &dst);

/// The elements of a row of src are `blocks` blocks of as many as dst has rows: dst[f, b * R + r] =
/// src[r, b * F + f] for R rows of src and F of dst, bits unchanged; one dtype. One block is the
/// transpose of a matrix. The tiles are disjoint.
void transposeTile(const ConstTile &src, const Tile &dst, int64_t blocks = 1);

/// Row r of dst is row `rows[r]` of src, bit for bit; dst keeps rows with a negative number. One
/// dtype, as many elements; the tiles are disjoint.
void copyRows(std::span<const int> rows, const ConstTile &src, const Tile &dst);

} // namespace kilnrt

#endif // KILNRT_SEMANTICS_COPY_H
