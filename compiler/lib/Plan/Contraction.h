//===- Contraction.h - loops and residency of matmuls -----------------------------------------===//

#ifndef KILN_LIB_PLAN_CONTRACTION_H
#define KILN_LIB_PLAN_CONTRACTION_H

#include "Select.h"
#include "Wish.h"

namespace kiln::plan {

/// Groups that may compute an operand in place of a load.
struct Producers {
  std::vector<std::pair<NodeId, uint32_t>> ofLoad; ///< load, group
  int64_t sbufBytes = 0;                           ///< of a partition, for their frames
};

/// Chooses sides, blocks and residency of a Contraction group for `sbufBytes` of a partition, by
/// search over everything ContractionPlan can say that the hints of its nodes allow. A refusal when
/// nothing fits, or when a hint cannot be kept. Sets `traffic` to the bytes of operands it will
/// load.
std::optional<Refusal> planContraction(const tile::Graph &graph, Group &group, int64_t sbufBytes,
                                       int64_t psumBanks, const Producers &producers,
                                       double &traffic);

/// Extent of the dim on partitions of the result, and of the other one.
inline int64_t stationaryExtent(const Group &group) { return group.extents[group.partition]; }
inline unsigned movingDim(const Group &group) {
  const unsigned last = unsigned(group.extents.size()) - 1;
  return group.partition == last ? last - 1 : last;
}
inline int64_t movingExtent(const Group &group) { return group.extents[movingDim(group)]; }

} // namespace kiln::plan

#endif // KILN_LIB_PLAN_CONTRACTION_H
