//===- FinishValues.cpp - the graph of values of a finished trace -----------------------------===//
//
// Host compilers evaluate the arguments of a call in different orders, so the order in which values
// were made means nothing beyond what the program says: a snapshot is taken before the writes and
// instructions that follow it. The finished graph is made from the effects, which are statements:
// loads and effects in program order, loads of one point by their place among the operands; every
// other node in front of the first effect that needs it, operands before their user. What no effect
// needs is left out.
//
//===------------------------------------------------------------------------------------------===//

#include "Values.h"

#include <algorithm>

namespace kiln::trace {

using tile::Node;
using tile::NodeId;
using tile::Op;

namespace {

/// Calls `visit` for each node that `root` needs and that is not `done`, operands first and in
/// their order, `root` last. Marks them done.
template <class Visit>
void visitOperandsFirst(const tile::Graph &graph, NodeId root, std::vector<bool> &done,
                        Visit visit) {
  struct Open {
    NodeId node;
    size_t next; ///< operand
  };
  std::vector<Open> path; // no recursion: graphs are as deep as kernels are long
  auto enter = [&](NodeId id) {
    if (done[id])
      return;
    done[id] = true;
    path.push_back({id, 0});
  };
  enter(root);
  while (!path.empty()) {
    Open &top = path.back();
    const std::vector<NodeId> &operands = graph[top.node].operands;
    if (top.next < operands.size()) {
      enter(operands[top.next++]);
      continue;
    }
    visit(top.node);
    path.pop_back();
  }
}

/// A border node and its place in the program.
struct Border {
  uint32_t position, effects;
  bool isEffect;
  uint32_t rank; ///< among all nodes, operands first
  NodeId node;
  auto key() const { return std::tuple(position, effects, isEffect, rank); }
  bool operator<(const Border &other) const { return key() < other.key(); }
};

/// Loads and effects that matter, in program order.
std::vector<Border> bordersOf(const Values &values) {
  std::vector<Border> borders;
  std::vector<bool> done(values.graph.nodes.size(), false);
  uint32_t rank = 0;
  for (NodeId root = 0; root < values.graph.nodes.size(); ++root)
    if (values.graph[root].isEffect())
      visitOperandsFirst(values.graph, root, done, [&](NodeId id) {
        const Node &node = values.graph[id];
        if (node.op == Op::Load || node.isEffect())
          borders.push_back({node.position, values.records[id].effects, node.isEffect(), rank, id});
        ++rank;
      });
  std::sort(borders.begin(), borders.end());
  return borders;
}

/// Two loads of a parameter nobody writes are one.
struct SameLoad {
  std::vector<int64_t> key;
  explicit SameLoad(const Node &node) : key{node.view.buffer, node.view.offset} {
    key.insert(key.end(), node.shape.begin(), node.shape.end());
    key.insert(key.end(), node.view.stride.begin(), node.view.stride.end());
  }
  bool operator<(const SameLoad &other) const { return key < other.key; }
};

} // namespace

std::vector<Node> TraceState::orderedNodes() const {
  std::vector<Node> nodes;
  std::vector<NodeId> renumbered(values.graph.nodes.size(), tile::kNone);
  std::vector<bool> done(values.graph.nodes.size(), false);
  std::map<SameLoad, NodeId> loads;
  auto append = [&](NodeId id) {
    Node node = values.graph[id];
    for (NodeId &operand : node.operands)
      operand = renumbered[operand];
    renumbered[id] = static_cast<NodeId>(nodes.size());
    nodes.push_back(std::move(node));
  };
  for (const Border &border : bordersOf(values)) {
    const Node &node = values.graph[border.node];
    if (node.op == Op::Load && !node.hint.any() &&
        tensors[node.view.buffer].role == TensorRole::Input) {
      auto [known, isNew] = loads.try_emplace(SameLoad(node), border.node);
      if (!isNew) {
        renumbered[border.node] = renumbered[known->second];
        done[border.node] = true;
        continue;
      }
    }
    // Loads an effect needs stand in front of it already.
    visitOperandsFirst(values.graph, border.node, done, append);
  }
  return nodes;
}

void TraceState::takeValue(const nl::detail::View &result, uint32_t resultNumber) {
  const Node &node = values.graph[result.tensor];
  TensorRecord record;
  record.buffer = nl::shared_hbm;
  record.dtype = static_cast<nl::DType>(resultDType(*this, result.tensor));
  record.shape = nl::Shape(node.shape);
  record.place = node.location;
  record.role = TensorRole::Output;
  record.index = resultNumber;
  const Value value{result.tensor, node.shape, node.dtype};
  ValueCall call("a result", *this, node.location);
  const nl::Tensor output = declare(std::move(record));
  call.write(Op::Store, value, output.raw());
}

} // namespace kiln::trace
