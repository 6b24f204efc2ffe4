//===- Wish.cpp - what hints ask of a group, and refusals
//---------------------------------------===//

#include "Wish.h"

#include "kiln/ISA/Text.h"

#include <algorithm>

namespace kiln::plan {

using tile::Graph;
using tile::Node;
using tile::Op;
using tile::Shape;

bool isComputed(Op op) {
  return op == Op::Unary || op == Op::Binary || op == Op::Select || op == Op::Cast ||
         op == Op::Matmul || op == Op::Reduce;
}

std::string nameOf(const Graph &graph, NodeId id) {
  const Node &node = graph[id];
  switch (node.op) {
  case Op::Unary:
    return std::string(isa::name(node.fn));
  case Op::Binary:
    return std::string(isa::name(node.alu));
  case Op::Reduce: {
    const isa::AluOp alu = node.alu;
    std::string out = alu == isa::AluOp::Add        ? "sum"
                      : alu == isa::AluOp::Multiply ? "product"
                                                    : std::string(isa::name(alu));
    out += node.axes.size() == 1 ? " over dim " : " over dims ";
    for (size_t i = 0; i < node.axes.size(); ++i)
      out += text(i ? ", " : "", node.axes[i]);
    return out;
  }
  case Op::Load:
    return "load of '" + graph.buffers[node.view.buffer].name + "'";
  case Op::Store:
    return "store to '" + graph.buffers[node.view.buffer].name + "'";
  default:
    return std::string(tile::name(node.op));
  }
}

std::string valueText(const Graph &graph, NodeId id) {
  return text("the ", tupleText(graph[id].shape), " ", isa::name(graph[id].dtype), " result of ",
              nameOf(graph, id));
}

Refusal refuseHint(const Graph &graph, NodeId node, std::string message, std::string help) {
  Refusal out;
  out.rule = "T-06";
  out.message = std::move(message);
  out.help = std::move(help);
  const tile::Hint &hint = graph[node].hint;
  out.location = hint.location == kNone ? graph[node].location : hint.location;
  return out;
}

Refusal refuseSize(const Graph &graph, const Group &group, int64_t bytes, int64_t sbufBytes) {
  NodeId last = kNone;
  for (NodeId id : group.nodes)
    if (isComputed(graph[id].op) || last == kNone)
      last = id;
  Refusal out;
  out.rule = "T-07";
  out.mayCut = true;
  out.location = graph[last].location;
  out.message = text(nameOf(graph, last), " to ", tupleText(graph[last].shape), " ",
                     isa::name(graph[last].dtype));
  for (size_t i = 0; i < graph[last].operands.size(); ++i) {
    const Node &operand = graph[graph[last].operands[i]];
    out.message +=
        text(i ? " and " : " of ", tupleText(operand.shape), " ", isa::name(operand.dtype));
  }
  out.message += text(" takes ", bytes, " bytes of an SBUF partition in its smallest tiles, there ",
                      "are ", sbufBytes);
  out.help = text("free ", bytes - sbufBytes, bytes - sbufBytes == 1 ? " byte" : " bytes",
                  " of each partition: let the kernel's own tiles ",
                  "be smaller, or compute the value before they are declared");
  return out;
}

namespace {

/// Two values computed together cannot both have what they ask for.
Refusal disagree(const Graph &graph, NodeId node, NodeId other, std::string_view what) {
  Refusal out = refuseHint(
      graph, node,
      text("nl::hint asks for ", what, " of ", valueText(graph, node),
           ", but the hint of a value that is computed with it asks for something else"),
      "a group has one layout; let the hints agree, or ask for .in = nl::hbm on the value between "
      "them, which makes two groups");
  out.notes.push_back(
      {text("the other hint, of ", valueText(graph, other)), graph[other].hint.location});
  return out;
}

} // namespace

std::optional<Refusal> gatherWish(const Graph &graph, const Group &group, const Space &space,
                                  Wish &wish) {
  wish.tile.assign(group.extents.size(), 0);
  NodeId partitionNode = kNone, buffersNode = kNone;
  std::vector<NodeId> tileNode(group.extents.size(), kNone);
  for (NodeId id : group.nodes) {
    const Node &node = graph[id];
    if (!node.hint.any() || !isComputed(node.op))
      continue;
    const size_t skip = space.rank - node.shape.size();
    // The group's dim for a dim of the node; kNone where it has one element.
    const auto dimOf = [&](int64_t d) {
      for (unsigned g = 0; g < space.kept.size(); ++g)
        if (space.kept[g] == skip + size_t(d) && node.shape[size_t(d)] != 1)
          return g;
      return unsigned(kNone);
    };
    if (node.hint.partitionDim) {
      const unsigned d = dimOf(*node.hint.partitionDim);
      if (wish.hasPartition && wish.partition != d)
        return disagree(graph, id, partitionNode,
                        text("dim ", *node.hint.partitionDim, " on partitions"));
      wish.hasPartition = true;
      wish.partition = d;
      partitionNode = wish.node = id;
    }
    for (size_t i = 0; i < node.hint.tile.size(); ++i) {
      const unsigned d = dimOf(int64_t(i));
      const int64_t size = node.hint.tile[i];
      if (size == 0 || d == kNone)
        continue;
      if (wish.tile[d] != 0 && wish.tile[d] != size)
        return disagree(graph, id, tileNode[d], text("tiles of ", size, " along dim ", i));
      wish.tile[d] = size;
      tileNode[d] = wish.node = id;
    }
    if (node.hint.buffers) {
      if (wish.buffers != 0 && wish.buffers != *node.hint.buffers)
        return disagree(graph, id, buffersNode, text(*node.hint.buffers, " buffers"));
      wish.buffers = *node.hint.buffers;
      buffersNode = id;
      if (wish.node == kNone)
        wish.node = id;
    }
  }
  if (!wish.hasLayout())
    return std::nullopt;
  // A tile of the kernel that is read or filled has its rows on partitions.
  for (const Footprint &footprint : group.footprints)
    for (unsigned d = 0; d < footprint.stride.size(); ++d)
      if (footprint.stride[d] == kPartitionStep) {
        if (wish.hasPartition && wish.partition != d)
          return refuseHint(
              graph, partitionNode,
              text("nl::hint asks for dim ", *graph[partitionNode].hint.partitionDim, " of ",
                   valueText(graph, partitionNode), " on partitions, but '",
                   graph.buffers[graph[footprint.node].view.buffer].name,
                   "', a tile of the kernel in the same group, has another one there"),
              "leave partition_dim out");
        wish.hasPartition = true;
        wish.partition = d;
      }
  return std::nullopt;
}

} // namespace kiln::plan
