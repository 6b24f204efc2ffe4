//===- Groups.h - cutting a graph into groups -------------------------------------------------===//

#ifndef KILN_LIB_PLAN_GROUPS_H
#define KILN_LIB_PLAN_GROUPS_H

#include "kiln/Plan/Plan.h"

namespace kiln::plan {

/// Splits reductions that no tile could do with its partitions in use, and gives every sum its
/// order. Precondition: no movement left. Reductions that `isSplit` names, by node, fold their dims
/// one after the other. `source` becomes, by new node, the node it was.
void chooseOrders(tile::Graph &graph, const std::vector<bool> &isSplit,
                  std::vector<NodeId> &source);

/// Cuts `graph` into groups and returns it in their order, with the loads and stores that carry
/// values from one to another, and why they have to. Of the groups nodes, skeleton, position and
/// location are set. A group with node i has at most `maxNodes[i]` operations, if that is given.
/// `origin` becomes, by node of the plan, the node of `graph` it is; kNone for what carries values.
Plan cut(const tile::Graph &graph, const std::vector<size_t> &maxNodes,
         std::vector<NodeId> &origin);

/// Dims of `shape` in the iteration space `extents`, aligned from the right: bit d.
uint32_t dimsOf(const tile::Shape &shape, const tile::Shape &extents);

} // namespace kiln::plan

#endif // KILN_LIB_PLAN_GROUPS_H
