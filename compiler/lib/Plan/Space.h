//===- Space.h - the iteration space of a group -----------------------------------------------===//

#ifndef KILN_LIB_PLAN_SPACE_H
#define KILN_LIB_PLAN_SPACE_H

#include "kiln/Plan/Plan.h"

namespace kiln::plan {

/// What the nodes of a group have of its iteration space, by index in Group::nodes.
struct Space {
  std::vector<uint32_t> dims;    ///< bit d: elements differ along dim d
  std::vector<uint32_t> reduced; ///< dims a Reduce folds
  std::vector<unsigned> kept;    ///< by dim: which it was of the nodes' broadcast shape
  size_t rank = 0;               ///< of that shape
};
/// Sets `extents` and `footprints` of a Rows or Contraction group: the union of its nodes' shapes.
/// Extents of 1 go, and adjacent dims become one wherever every node treats them as one; those of a
/// contraction stay as they are: batches, M, N. Hints name dims, so none merge in a group with
/// some.
Space makeSpace(const tile::Graph &graph, Group &group);

} // namespace kiln::plan

#endif // KILN_LIB_PLAN_SPACE_H
