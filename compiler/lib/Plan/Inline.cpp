//===- Inline.cpp - operands computed inside their contraction --------------------------------===//
//
// A norm in front of a matmul has its rows on partitions, the matmul wants their columns there. The
// rows of a block are computed once, when the block is loaded, and a transfer turns them over
// inside SBUF. It pays when what the value costs to write and read exceeds what the smaller blocks
// cost the other operand.
//
//===------------------------------------------------------------------------------------------===//

#include "Inline.h"

#include "Contraction.h"
#include "Rows.h"

#include <algorithm>
#include <optional>

namespace kiln::plan {

using tile::Node;
using tile::Op;

namespace {

/// Frames of the computation may take this part of SBUF.
constexpr int64_t kShare = 3;

struct Candidate {
  NodeId load = kNone, store = kNone;
  uint32_t producer = kNone;
  int64_t bytes = 0; ///< of the value
};

/// The store that writes all of `buffer`, if it is the only one.
NodeId onlyStoreOf(const Plan &plan, uint32_t buffer) {
  NodeId found = kNone;
  for (NodeId id = 0; id < plan.graph.nodes.size(); ++id)
    if (plan.graph[id].isEffect() && plan.graph[id].view.buffer == buffer) {
      if (found != kNone)
        return kNone;
      found = id;
    }
  return found;
}

bool isOnlyLoad(const Plan &plan, NodeId load) {
  uint32_t loads = 0;
  for (const Node &node : plan.graph.nodes)
    loads += node.op == Op::Load && node.view.buffer == plan.graph[load].view.buffer;
  return loads == 1;
}

uint32_t groupOf(const Plan &plan, NodeId node) {
  for (uint32_t g = 0; g < plan.groups.size(); ++g)
    if (std::binary_search(plan.groups[g].nodes.begin(), plan.groups[g].nodes.end(), node))
      return g;
  return kNone;
}

/// `load` as rows that a group before could compute in place.
std::optional<Candidate> candidateOf(const Plan &plan, NodeId load) {
  const Node &node = plan.graph[load];
  const tile::Buffer &buffer = plan.graph.buffers[node.view.buffer];
  const bool isWhole = node.shape.size() == 2 && node.shape == buffer.shape &&
                       node.view.offset == 0 && node.view.stride == contiguousStrides(node.shape);
  if (buffer.role != tile::Buffer::Role::Internal || buffer.memory != isa::Memory::Hbm ||
      !isWhole || isa::bytesOf(buffer.dtype) < 2 || !isOnlyLoad(plan, load))
    return std::nullopt;
  Candidate out;
  out.load = load;
  out.store = onlyStoreOf(plan, node.view.buffer);
  if (out.store == kNone || plan.graph[out.store].shape != node.shape)
    return std::nullopt;
  out.producer = groupOf(plan, out.store);
  if (out.producer == kNone || plan.groups[out.producer].skeleton != Skeleton::Rows)
    return std::nullopt;
  for (NodeId id : plan.groups[out.producer].nodes) // a hint has the last word on how it is done
    if ((plan.graph[id].isEffect() && id != out.store) || plan.graph[id].hint.any())
      return std::nullopt;
  out.bytes = node.elements() * isa::bytesOf(buffer.dtype);
  return out;
}

/// Whether all that reads `load` in the group are matmuls, as rows of one and the same side. What
/// is done to results reads it from memory.
bool isOperandOnly(const Plan &plan, const Group &group, NodeId load) {
  std::optional<bool> side;
  for (NodeId id : group.nodes) {
    const Node &node = plan.graph[id];
    for (size_t i = 0; i < node.operands.size(); ++i) {
      if (node.operands[i] != load)
        continue;
      const bool isX = i == 0;
      const bool isAlongRows = isX ? !node.transposeX : node.transposeY;
      if (node.op != Op::Matmul || !isAlongRows || side.value_or(isX) != isX)
        return false;
      side = isX;
    }
  }
  return true;
}

/// Operands of the group that read rows of a value along the contraction dim, none of a batch.
std::vector<Candidate> candidatesOf(const Plan &plan, const Group &group) {
  std::vector<Candidate> out;
  for (NodeId id : group.nodes) {
    const Node &node = plan.graph[id];
    if (node.op != Op::Matmul || node.shape.size() != 2)
      continue;
    for (const bool isX : {true, false}) {
      const NodeId operand = node.operands[isX ? 0 : 1];
      const bool isAlongRows = isX ? !node.transposeX : node.transposeY;
      if (!isAlongRows || plan.graph[operand].op != Op::Load ||
          !isOperandOnly(plan, group, operand))
        continue;
      const auto candidate = candidateOf(plan, operand);
      const bool isKnown = std::any_of(out.begin(), out.end(),
                                       [&](const Candidate &c) { return c.load == operand; });
      if (candidate && !isKnown)
        out.push_back(*candidate);
    }
  }
  return out;
}

} // namespace

std::optional<Refusal> planWithProducers(Plan &plan, uint32_t index, int64_t sbufBytes,
                                         int64_t psumBanks) {
  double traffic = 0;
  Group plain = plan.groups[index];
  std::optional<Refusal> refusal =
      planContraction(plan.graph, plain, sbufBytes, psumBanks, {}, traffic);
  if (refusal && !refusal->mayCut)
    return refusal;
  const bool fits = !refusal;
  for (const Candidate &candidate : candidatesOf(plan, plan.groups[index])) {
    Group producer = plan.groups[candidate.producer];
    Group inlined = plan.groups[index];
    double inlinedTraffic = 0;
    if (producer.isInlined ||
        !planProducer(plan.graph, producer, candidate.store, sbufBytes / kShare))
      continue;
    Producers producers{{{candidate.load, candidate.producer}}, producer.sbufBytes};
    if (planContraction(plan.graph, inlined, sbufBytes, psumBanks, producers, inlinedTraffic))
      continue;
    // Frames are planned once: the same rows on both sides are made in front.
    size_t sides = 0;
    for (const auto *list : {&inlined.contraction.stationary, &inlined.contraction.moving})
      sides += size_t(std::count_if(list->begin(), list->end(),
                                    [](const Side &side) { return side.producer != kNone; }));
    if (sides > 1)
      continue;
    // The value itself would be written, and read as often as the plain plan does.
    if (fits && inlinedTraffic > traffic + double(candidate.bytes))
      continue;
    producer.isInlined = true;
    inlined.sbufBytes += producer.sbufBytes;
    plan.groups[candidate.producer] = std::move(producer);
    plan.groups[index] = std::move(inlined);
    return std::nullopt;
  }
  if (fits)
    plan.groups[index] = std::move(plain);
  return refusal;
}

} // namespace kiln::plan
