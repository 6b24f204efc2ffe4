//===- Plan.cpp - from a graph to a plan ------------------------------------------------------===//
//
// A group that does not fit is cut into halves, down to groups of one operation; a reduction of
// several dims that does not fit alone becomes one reduction a dim. What is refused then is refused
// for good.
//
//===------------------------------------------------------------------------------------------===//

#include "kiln/Plan/Plan.h"

#include "Groups.h"
#include "Inline.h"
#include "Rows.h"
#include "kiln/ISA/Text.h"
#include "kiln/Tile/Numbers.h"

namespace kiln::plan {

using tile::Graph;
using tile::Node;
using tile::Op;

namespace {

/// The refusal of a hint about what nothing computes.
std::optional<PlanProblem> checkHints(const Graph &graph) {
  for (NodeId id = 0; id < graph.nodes.size(); ++id) {
    const Node &node = graph[id];
    const tile::Hint &hint = node.hint;
    if (isComputed(node.op) || !(hint.partitionDim || !hint.tile.empty() || hint.buffers))
      continue;
    return refuseHint(graph, id,
                      text("nl::hint asks how ", valueText(graph, id),
                           " is computed, but nothing computes it: a ",
                           node.op == Op::Load ? "tensor in memory" : tile::name(node.op),
                           " is only another way to read or make elements"),
                      "hint a value that is computed, such as the one that reads it");
  }
  return std::nullopt;
}

class Planner {
public:
  Planner(const Graph &flat, int64_t sbufBytes, int64_t psumBanks)
      : flat(flat), sbufBytes(sbufBytes), psumBanks(psumBanks), limits(flat.nodes.size(), SIZE_MAX),
        isSplit(flat.nodes.size(), false) {}

  PlanResult run() {
    PlanResult result;
    while (!attempt(result)) {
    }
    return result;
  }

private:
  /// False when it is worth another attempt, with smaller groups.
  bool attempt(PlanResult &result) {
    Graph ordered = flat;
    chooseOrders(ordered, isSplit, source);
    std::vector<size_t> maxNodes;
    for (NodeId id : source)
      maxNodes.push_back(limits[id]);
    Plan plan = cut(ordered, maxNodes, origin);
    bool isDone = true;
    for (uint32_t g = 0; g < plan.groups.size(); ++g) {
      Group &group = plan.groups[g];
      std::optional<Refusal> refusal;
      if (group.skeleton == Skeleton::Rows)
        refusal = planRows(plan.graph, group, sbufBytes);
      else if (group.skeleton == Skeleton::Contraction)
        refusal = planWithProducers(plan, g, sbufBytes, psumBanks);
      plan.sbufBytes = std::max(plan.sbufBytes, group.sbufBytes);
      if (!refusal)
        continue;
      if (!refusal->mayCut || !cutSmaller(plan.graph, group)) {
        result.problem = *refusal;
        return true;
      }
      isDone = false;
    }
    if (isDone)
      result.plan = std::move(plan);
    return isDone;
  }

  /// Lets the nodes of a group into smaller ones from now on; false when they are as small as can
  /// be.
  bool cutSmaller(const Graph &graph, const Group &group) {
    std::vector<NodeId> nodes; // of `flat`
    NodeId only = kNone;
    for (NodeId id : group.nodes)
      if (origin[id] != kNone) {
        nodes.push_back(source[origin[id]]);
        only = id;
      }
    if (nodes.size() > 1) {
      for (NodeId id : nodes)
        limits[id] = std::min(limits[id], nodes.size() / 2);
      return true;
    }
    if (nodes.empty() || graph[only].op != Op::Reduce || graph[only].axes.size() < 2 ||
        isSplit[nodes.front()])
      return false;
    isSplit[nodes.front()] = true;
    return true;
  }

  const Graph &flat;
  const int64_t sbufBytes, psumBanks;
  std::vector<size_t> limits; ///< by node of `flat`: nodes its group may have
  std::vector<bool> isSplit;  ///< by node of `flat`: a reduction dim by dim
  std::vector<NodeId> source; ///< by node with an order: of `flat`
  std::vector<NodeId> origin; ///< by node of the plan: with an order
};

} // namespace

PlanResult makePlan(const Graph &graph, const std::vector<Write> &writes,
                    const PlanOptions &options) {
  if (auto problem = checkHints(graph))
    return {std::nullopt, std::move(problem)};
  const int64_t sbufBytes =
      options.sbufBytes ? options.sbufBytes : int64_t(isa::machine.sbufUsableBytesPerPartition);
  std::map<uint32_t, std::string> reasons; // of buffers that movement needs
  Graph flat = lowerMovement(graph, writes, &reasons);
  // Readers take the numbers of splats as they are.
  for (Node &node : flat.nodes)
    if (node.op == Op::Splat)
      node.number = tile::numberIn(node.dtype, node.number);
  PlanResult result = Planner(flat, sbufBytes, options.psumBanks).run();
  if (result.plan) {
    result.plan->ownBuffers = uint32_t(graph.buffers.size());
    result.plan->sbufLimit = sbufBytes;
    countTraffic(*result.plan);
    for (NodeId id = 0; id < result.plan->graph.nodes.size(); ++id)
      if (const Node &node = result.plan->graph[id]; node.isEffect())
        if (const auto why = reasons.find(node.view.buffer); why != reasons.end())
          result.plan->crossings.push_back({id, why->second});
  }
  return result;
}

} // namespace kiln::plan
