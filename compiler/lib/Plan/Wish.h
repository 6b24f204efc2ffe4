//===- Wish.h - what hints ask of a group, and refusals
//-----------------------------------------===//

#ifndef KILN_LIB_PLAN_WISH_H
#define KILN_LIB_PLAN_WISH_H

#include "Space.h"

namespace kiln::plan {

/// Why a group cannot be planned.
struct Refusal : PlanProblem {
  bool mayCut = false; ///< fewer nodes in the group may help
};

/// The hints of a group's nodes together, in the dims of its iteration space.
struct Wish {
  bool hasPartition = false;
  unsigned partition = kNone; ///< with hasPartition; kNone: one partition holds everything
  tile::Shape tile;           ///< by dim; 0: anything
  int64_t buffers = 0;        ///< tiles in flight; 0: anything
  NodeId node = kNone;        ///< one that asked, for messages; kNone: nobody did
  bool hasTile() const {
    for (int64_t size : tile)
      if (size != 0)
        return true;
    return false;
  }
  bool hasLayout() const { return hasPartition || hasTile(); }
};

/// Gathers the hints of `group`, whose space was just made; a refusal when two disagree.
std::optional<Refusal> gatherWish(const tile::Graph &graph, const Group &group, const Space &space,
                                  Wish &wish);

/// T-06 about the hint of `node`.
Refusal refuseHint(const tile::Graph &graph, NodeId node, std::string message, std::string help);

/// T-07: the last node that computes something does not fit into `sbufBytes` of a partition, with
/// its operands. It takes `bytes`, however it is cut.
Refusal refuseSize(const tile::Graph &graph, const Group &group, int64_t bytes, int64_t sbufBytes);

/// What a node does, as an author would say it: "exp", "matmul", "sum over dim 1".
std::string nameOf(const tile::Graph &graph, NodeId id);
/// "the (300, 200) float32 result of exp".
std::string valueText(const tile::Graph &graph, NodeId id);

/// Whether a hint can ask for more than a place in HBM: instructions compute the node.
bool isComputed(tile::Op op);

} // namespace kiln::plan

#endif // KILN_LIB_PLAN_WISH_H
