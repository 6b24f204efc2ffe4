//===- Reduce.h - folds along the free dimensions ---------------------------------------------===//

#ifndef KILNRT_SEMANTICS_REDUCE_H
#define KILNRT_SEMANTICS_REDUCE_H

#include "kilnrt/Semantics/Elementwise.h"

namespace kilnrt {

/// For every row and every group of `groupElements` consecutive elements of data: the fold of `op`
/// over the group, strictly left to right from the operator's identity (subtract: from the first
/// element), in fp32; dst's element of that row and group is the fold, negated if asked, rounded
/// once.
void tensorReduce(AluOp op, const ConstTile &data, int64_t groupElements, bool isNegated,
                  const Tile &dst);
/// The same on raw bits of integer tiles of one width; never negated.
void tensorReduceBits(AluOp op, const ConstTile &data, int64_t groupElements, const Tile &dst);

} // namespace kilnrt

#endif // KILNRT_SEMANTICS_REDUCE_H
