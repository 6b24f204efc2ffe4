//===- Groups.h - cutting a graph into groups -------------------------------------------------===//

#ifndef KILN_LIB_PLAN_GROUPS_H
#define KILN_LIB_PLAN_GROUPS_H

#include "kiln/Plan/Plan.h"

namespace kiln::plan {

/// Splits reductions that no tile could do with its partitions in use, and gives every sum its
/// order. Precondition: no movement left.
void chooseOrders(tile::Graph &graph);

/// Cuts `graph` into groups and returns it in their order, with the loads and stores that carry
/// values from one to another. Of the groups nodes, skeleton, position and location are set.
Plan cut(const tile::Graph &graph);

/// Dims of `shape` in the iteration space `extents`, aligned from the right: bit d.
uint32_t dimsOf(const tile::Shape &shape, const tile::Shape &extents);

} // namespace kiln::plan

#endif // KILN_LIB_PLAN_GROUPS_H
