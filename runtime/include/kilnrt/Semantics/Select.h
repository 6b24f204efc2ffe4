//===- Select.h - elements chosen by a predicate ----------------------------------------------===//
//
// The two halves of tensor_copy_predicated: which elements of dst are written depends on values,
// and whoever keeps track of written bytes needs to know it before they are.
//
//===------------------------------------------------------------------------------------------===//

#ifndef KILNRT_SEMANTICS_SELECT_H
#define KILNRT_SEMANTICS_SELECT_H

#include "kilnrt/Semantics/Tile.h"

#include <vector>

namespace kilnrt {

/// For each element of all rows, in order: it differs from 0, or with `isReversed` it is 0. The
/// dtype is an integer.
std::vector<bool> selectedElements(const ConstTile &predicate, bool isReversed);

/// dst[p, f] = src[p, f] where `selected` has a true, bit for bit; the other elements stay. Without
/// src, the value is `value`, rounded once. src has dst's dtype, rows and elements, and is disjoint
/// from dst or the same elements.
void copySelected(const std::vector<bool> &selected, const ConstTile *src, double value,
                  const Tile &dst);

} // namespace kilnrt

#endif // KILNRT_SEMANTICS_SELECT_H
