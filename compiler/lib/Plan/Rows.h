//===- Rows.h - layout and tiles of maps and row reductions -----------------------------------===//

#ifndef KILN_LIB_PLAN_ROWS_H
#define KILN_LIB_PLAN_ROWS_H

#include "Select.h"
#include "Wish.h"

namespace kiln::plan {

/// Chooses partition dim, tiles, loops and frames of a Rows group for `sbufBytes` of a partition,
/// as the hints of its nodes ask. A refusal when it does not fit, however small its tiles, or when
/// a hint cannot be kept.
std::optional<Refusal> planRows(tile::Graph &graph, Group &group, int64_t sbufBytes);

/// The same for a group that computes the operand `store` writes inside a contraction: whole rows,
/// as many as there are partitions, at most `sbufBytes`. False when its space is not rows of the
/// operand, or a row does not fit.
bool planProducer(const tile::Graph &graph, Group &group, NodeId store, int64_t sbufBytes);

/// Bytes of a partition that `tile` takes with the group's tile extents.
int64_t bytesOf(const Group &group, const Tile &tile);

/// Sets level, stage and order of `steps`, level and slot of `tiles`, and `slotBytes`; duplicates
/// what later passes compute again.
void arrange(Group &group);

/// Iterations of loop `l` of the group.
int64_t trips(const Group &group, size_t l);

} // namespace kiln::plan

#endif // KILN_LIB_PLAN_ROWS_H
