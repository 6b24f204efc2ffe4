//===- Plan.cpp - from a graph to a plan ------------------------------------------------------===//

#include "kiln/Plan/Plan.h"

#include "Groups.h"
#include "Inline.h"
#include "Rows.h"
#include "kiln/Tile/Numbers.h"

namespace kiln::plan {

PlanResult makePlan(const tile::Graph &graph, const std::vector<Write> &writes,
                    const PlanOptions &options) {
  PlanResult result;
  const int64_t sbufBytes =
      options.sbufBytes ? options.sbufBytes : int64_t(isa::machine.sbufUsableBytesPerPartition);
  tile::Graph flat = lowerMovement(graph, writes);
  // Readers take the numbers of splats as they are.
  for (tile::Node &node : flat.nodes)
    if (node.op == tile::Op::Splat)
      node.number = tile::numberIn(node.dtype, node.number);
  chooseOrders(flat);
  Plan plan = cut(flat);
  for (uint32_t g = 0; g < plan.groups.size(); ++g) {
    Group &group = plan.groups[g];
    bool fits = true;
    if (group.skeleton == Skeleton::Rows)
      fits = planRows(plan.graph, group, {}, sbufBytes);
    else if (group.skeleton == Skeleton::Contraction)
      fits = planWithProducers(plan, g, sbufBytes);
    if (!fits) {
      Diagnostic d;
      d.rule = "T-07";
      d.message = "this does not fit";
      result.diagnostics.push_back(d);
      result.nodes.push_back(0);
      return result;
    }
    plan.sbufBytes = std::max(plan.sbufBytes, group.sbufBytes);
  }
  result.plan = std::move(plan);
  return result;
}

} // namespace kiln::plan
