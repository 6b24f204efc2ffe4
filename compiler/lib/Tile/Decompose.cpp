//===- Decompose.cpp - composite operations as primitive ones ---------------------------------===//

#include "kiln/Tile/Decompose.h"

using namespace kiln;
using namespace kiln::tile;
using isa::ActFn;
using isa::AluOp;

namespace {

/// Writes the steps of one composite.
class Steps {
public:
  Steps(Graph &out, const Node &composite) : out(out), composite(composite) {}

  NodeId unary(ActFn fn, NodeId x) {
    Node node = step(Op::Unary, {x}, out[x].shape);
    node.fn = fn;
    return out.add(std::move(node));
  }
  NodeId binary(AluOp alu, NodeId x, NodeId y) {
    Node node = step(Op::Binary, {x, y}, *broadcastShapes({out[x].shape, out[y].shape}));
    node.alu = alu;
    return out.add(std::move(node));
  }
  NodeId reduce(AluOp alu, NodeId x, int64_t axis) {
    Node node = step(Op::Reduce, {x}, out[x].shape);
    node.alu = alu;
    node.axes = {axis};
    node.keepDims = true;
    node.shape[size_t(axis)] = 1;
    return out.add(std::move(node));
  }
  NodeId number(double value) {
    Node node = step(Op::Splat, {}, {1});
    node.number = value;
    return out.add(std::move(node));
  }
  /// sum(x) * (1/n) along the last dim.
  NodeId mean(NodeId x) {
    const int64_t n = out[x].shape.back();
    const NodeId sum = reduce(AluOp::Add, x, int64_t(out[x].shape.size()) - 1);
    return binary(AluOp::Multiply, sum, number(double(float(1.0 / double(n)))));
  }
  /// 1 / sqrt(mean(x * x) + epsilon).
  NodeId inverseDeviation(NodeId x) {
    const NodeId square = mean(unary(ActFn::Square, x));
    return unary(ActFn::Rsqrt, binary(AluOp::Add, square, number(composite.number)));
  }

  /// Gives the last step what belongs to the composite.
  NodeId finish(NodeId last) {
    out[last].dtype = composite.dtype;
    out[last].hint = composite.hint;
    return last;
  }

private:
  Node step(Op op, std::vector<NodeId> operands, Shape shape) const {
    Node node;
    node.op = op;
    node.operands = std::move(operands);
    node.shape = std::move(shape);
    node.location = composite.location;
    node.position = composite.position;
    return node;
  }

  Graph &out;
  const Node &composite;
};

NodeId softmax(Steps &steps, const Node &node, NodeId x) {
  const NodeId largest = steps.reduce(AluOp::Maximum, x, node.axis);
  const NodeId e = steps.unary(ActFn::Exp, steps.binary(AluOp::Subtract, x, largest));
  const NodeId sum = steps.reduce(AluOp::Add, e, node.axis);
  return steps.binary(AluOp::Multiply, e, steps.unary(ActFn::Reciprocal, sum));
}

NodeId norm(Steps &steps, const Node &node, const std::vector<NodeId> &operands) {
  NodeId x = operands[0];
  if (node.op == Op::LayerNorm)
    for (int pass = 0; pass < 2; ++pass)
      x = steps.binary(AluOp::Subtract, x, steps.mean(x));
  NodeId y = steps.binary(AluOp::Multiply, x, steps.inverseDeviation(x));
  if (operands.size() > 1)
    y = steps.binary(AluOp::Multiply, y, operands[1]);
  if (operands.size() > 2)
    y = steps.binary(AluOp::Add, y, operands[2]);
  return y;
}

} // namespace

Graph tile::decompose(const Graph &graph, std::vector<NodeId> *renamed) {
  Graph out;
  out.buffers = graph.buffers;
  std::vector<NodeId> numbers;
  numbers.reserve(graph.nodes.size());
  for (const Node &node : graph.nodes) {
    std::vector<NodeId> operands;
    for (NodeId id : node.operands)
      operands.push_back(numbers[id]);
    if (isComposite(node.op)) {
      Steps steps(out, node);
      numbers.push_back(steps.finish(node.op == Op::Softmax ? softmax(steps, node, operands[0])
                                                            : norm(steps, node, operands)));
      continue;
    }
    Node copy = node;
    copy.operands = std::move(operands);
    numbers.push_back(out.add(std::move(copy)));
  }
  if (renamed)
    *renamed = std::move(numbers);
  return out;
}
