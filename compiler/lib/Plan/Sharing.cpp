//===- Sharing.cpp - equal values, and memory that is written twice ---------------------------===//

#include "Sharing.h"

#include <map>

namespace kiln::plan {

using tile::Graph;
using tile::Node;
using tile::NodeId;
using tile::Op;
using tile::Shape;

namespace {

/// What tells values apart that one node can stand for.
std::string keyOf(const Node &node) {
  std::string key;
  const auto add = [&](auto value) {
    key.append(reinterpret_cast<const char *>(&value), sizeof value);
  };
  const auto addList = [&](const auto &list) {
    add(list.size());
    for (auto value : list)
      add(value);
  };
  add(node.op);
  add(node.dtype);
  add(node.fn);
  add(node.alu);
  add(node.axis);
  add(node.transposeX);
  add(node.transposeY);
  add(node.number);
  addList(node.operands);
  addList(node.shape);
  addList(node.axes);
  add(node.view.buffer);
  add(node.view.offset);
  addList(node.view.stride);
  return key;
}

} // namespace

Graph shareEqual(const Graph &graph, size_t buffers) {
  Graph out;
  out.buffers = graph.buffers;
  std::vector<NodeId> renumbered(graph.nodes.size());
  std::map<std::string, NodeId> known;
  for (NodeId id = 0; id < graph.nodes.size(); ++id) {
    Node node = graph[id];
    for (NodeId &operand : node.operands)
      operand = renumbered[operand];
    const bool isSteady = node.op != Op::Load || node.view.buffer >= buffers ||
                          graph.buffers[node.view.buffer].role == tile::Buffer::Role::Input;
    if (node.isEffect() || !isSteady || node.hint.any()) {
      renumbered[id] = out.add(std::move(node));
      continue;
    }
    auto [slot, isNew] = known.try_emplace(keyOf(node), NodeId(out.nodes.size()));
    renumbered[id] = isNew ? out.add(std::move(node)) : slot->second;
  }
  return out;
}

//---- stores to one place ------------------------------------------------===//

namespace {

/// [start, end) of what a store writes along each dim of its buffer; empty when it is no box.
using Box = std::vector<std::pair<int64_t, int64_t>>;

Box boxOf(const Graph &graph, const Node &effect) {
  const Shape &shape = graph.buffers[effect.view.buffer].shape;
  const std::vector<int64_t> step = contiguousStrides(shape);
  Box box;
  int64_t rest = effect.view.offset;
  for (int64_t s : step) {
    box.push_back({rest / s, rest / s + 1});
    rest %= s;
  }
  for (size_t i = 0; i < effect.shape.size(); ++i) {
    if (effect.shape[i] == 1)
      continue;
    size_t d = 0;
    while (d < step.size() && (shape[d] == 1 || effect.view.stride[i] < step[d]))
      ++d;
    if (d == step.size() || effect.view.stride[i] % step[d] != 0 ||
        box[d].second != box[d].first + 1)
      return {};
    box[d].second = box[d].first + (effect.shape[i] - 1) * (effect.view.stride[i] / step[d]) + 1;
    if (box[d].second > shape[d])
      return {};
  }
  return box;
}

bool areDisjoint(const Box &x, const Box &y) {
  if (x.empty() || y.empty())
    return false;
  for (size_t d = 0; d < x.size(); ++d)
    if (x[d].second <= y[d].first || y[d].second <= x[d].first)
      return true;
  return false;
}

bool meet(const std::vector<Box> &boxes) {
  for (size_t i = 0; i < boxes.size(); ++i)
    for (size_t j = i + 1; j < boxes.size(); ++j)
      if (!areDisjoint(boxes[i], boxes[j]))
        return true;
  return false;
}

} // namespace

std::vector<bool> sharedBuffers(const Graph &graph) {
  std::vector<std::vector<Box>> stores(graph.buffers.size());
  std::vector<bool> isLoaded(graph.buffers.size(), false), shared(graph.buffers.size(), false);
  for (const Node &node : graph.nodes) {
    if (node.op == Op::Load)
      isLoaded[node.view.buffer] = true;
    else if (node.isEffect())
      stores[node.view.buffer].push_back(boxOf(graph, node));
  }
  for (size_t b = 0; b < stores.size(); ++b)
    shared[b] = !stores[b].empty() && (isLoaded[b] || meet(stores[b]));
  return shared;
}

} // namespace kiln::plan
