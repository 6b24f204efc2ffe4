//===- Select.h - which instructions compute a group ------------------------------------------===//

#ifndef KILN_LIB_PLAN_SELECT_H
#define KILN_LIB_PLAN_SELECT_H

#include "Space.h"

namespace kiln::plan {

/// Sets `tiles` and `steps` of a group whose `partition` is chosen, without levels, stages and
/// slots. Steps stand in an order that respects what they read.
void selectSteps(const tile::Graph &graph, const Space &space, Group &group);

} // namespace kiln::plan

#endif // KILN_LIB_PLAN_SELECT_H
