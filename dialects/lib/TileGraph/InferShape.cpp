//===- InferShape.cpp - the shape of a value by its operands ----------------------------------===//
//
// Nothing here trusts the graph: operand numbers, ranks and extents are checked before they are
// used, and products never overflow.
//
//===------------------------------------------------------------------------------------------===//

#include "GraphSupport.h"

#include <algorithm>

using namespace kiln;
using namespace kiln::tile;

namespace {

/// How many operands an operation takes.
struct Arity {
  size_t least, most;
};

Arity arityOf(Op op) {
  switch (op) {
  case Op::Load:
  case Op::Splat:
  case Op::Iota:
    return {0, 0};
  case Op::Binary:
  case Op::Matmul:
    return {2, 2};
  case Op::Select:
    return {3, 3};
  case Op::Concat:
    return {1, SIZE_MAX};
  case Op::RmsNorm:
    return {1, 2};
  case Op::LayerNorm:
    return {1, 3};
  default:
    return {1, 1};
  }
}

/// Shapes of the operands; nothing after a complaint.
std::optional<std::vector<const Shape *>> operandShapes(const Graph &graph, const Node &node,
                                                        const Complain &complain) {
  const auto [least, most] = arityOf(node.op);
  if (node.operands.size() < least || node.operands.size() > most) {
    complain("",
             text("'", calledAs(node), "' has ", counted(int64_t(node.operands.size()), "operand"),
                  ", it takes ",
                  least == most      ? text(least)
                  : most == SIZE_MAX ? text(least, " or more")
                                     : text(least, " to ", most)),
             "");
    return std::nullopt;
  }
  std::vector<const Shape *> shapes;
  for (size_t i = 0; i < node.operands.size(); ++i) {
    const NodeId id = node.operands[i];
    if (id >= graph.nodes.size() || graph[id].isEffect()) {
      complain("",
               text("the ", ordinal(i), " operand of '", calledAs(node), "' is ",
                    id < graph.nodes.size() ? text("an effect, '", name(graph[id].op), "'")
                                            : text("node ", id, " of ", graph.nodes.size())),
               "operands are values that come earlier");
      return std::nullopt;
    }
    if (!checkShape(text("the ", ordinal(i), " operand of '", calledAs(node), "'"), graph[id].shape,
                    complain))
      return std::nullopt;
    shapes.push_back(&graph[id].shape);
  }
  return shapes;
}

std::string listOf(const std::vector<const Shape *> &shapes) {
  std::string out;
  for (size_t i = 0; i < shapes.size(); ++i)
    out += text(i == 0 ? "" : i + 1 == shapes.size() ? " and " : ", ", tupleText(*shapes[i]));
  return out;
}

/// The first dim of the result in which `x` and `y` do not go together, and its two extents.
struct Clash {
  size_t dim;
  int64_t x, y;
};
std::optional<Clash> findClash(const Shape &x, const Shape &y) {
  const size_t rank = std::max(x.size(), y.size());
  const auto extent = [&](const Shape &s, size_t i) {
    return i + s.size() < rank ? 1 : s[i + s.size() - rank];
  };
  for (size_t i = 0; i < rank; ++i)
    if (const int64_t a = extent(x, i), b = extent(y, i); a != b && a != 1 && b != 1)
      return Clash{i, a, b};
  return std::nullopt;
}

std::optional<Shape> inferElementwise(const Node &node, const std::vector<const Shape *> &shapes,
                                      const Complain &complain) {
  Shape out;
  for (const Shape *shape : shapes) {
    const std::optional<Shape> next = broadcastShapes({out, *shape});
    if (!next) {
      const Clash clash = *findClash(out, *shape);
      complain("T-01",
               text("'", calledAs(node), "' of ", listOf(shapes),
                    ": these shapes do not broadcast, dim ", clash.dim, " is ", clash.x, " and ",
                    clash.y),
               "extents must be equal or 1, dims count from the last; reshape, slice or repeat one "
               "of the operands");
      return std::nullopt;
    }
    out = *next;
  }
  return checkShape(text("the result of '", calledAs(node), "'"), out, complain)
             ? std::optional(out)
             : std::nullopt;
}

/// "(64, 128), transposed".
std::string matrixText(const Shape &shape, bool isTransposed) {
  return tupleText(shape) + (isTransposed ? ", transposed," : "");
}

std::optional<Shape> inferMatmul(const Node &node, const Shape &x, const Shape &y,
                                 const Complain &complain) {
  const auto fail = [&](std::string why, std::string help) {
    complain("T-02",
             text("'matmul' of ", matrixText(x, node.transposeX), " and ",
                  matrixText(y, node.transposeY), ": ", why),
             std::move(help));
    return std::nullopt;
  };
  if (x.size() < 2 || y.size() < 2)
    return fail(
        text("an operand has rank ", std::min(x.size(), y.size()), ", both must have 2 or more"),
        "reshape a vector to one row (1, n) or one column (n, 1)");
  int64_t m = x[x.size() - 2], k = x[x.size() - 1];
  int64_t otherK = y[y.size() - 2], n = y[y.size() - 1];
  if (node.transposeX)
    std::swap(m, k);
  if (node.transposeY)
    std::swap(otherK, n);
  if (k != otherK)
    return fail(text("the contraction dim is ", k, " in the first and ", otherK, " in the second"),
                k == n        ? "transpose the second operand (transpose_y)"
                : m == otherK ? "transpose the first operand (transpose_x)"
                              : "the last dim of the first must equal the last but one of the "
                                "second");
  const Shape batchX(x.begin(), x.end() - 2), batchY(y.begin(), y.end() - 2);
  std::optional<Shape> out = broadcastShapes({batchX, batchY});
  if (!out) {
    const Clash clash = *findClash(batchX, batchY);
    return fail(text("the leading dims do not broadcast, dim ", clash.dim, " is ", clash.x, " and ",
                     clash.y),
                "leading dims must be equal or 1");
  }
  out->push_back(m);
  out->push_back(n);
  return checkShape("the result of 'matmul'", *out, complain) ? out : std::nullopt;
}

std::optional<Shape> inferReduce(const Node &node, const Shape &x, const Complain &complain) {
  if (node.axes.empty()) {
    complain("T-03", text("'reduce' of ", tupleText(x), " names no axis; it takes 1 to ", x.size()),
             text("the last dim is axis ", x.size() - 1));
    return std::nullopt;
  }
  for (size_t i = 0; i < node.axes.size(); ++i) {
    if (!checkAxis(node, node.axes[i], x.size(), complain))
      return std::nullopt;
    if (i > 0 && node.axes[i] <= node.axes[i - 1]) {
      const bool isTwice = std::count(node.axes.begin(), node.axes.end(), node.axes[i]) > 1;
      complain("T-03",
               text("'reduce' of ", tupleText(x), " over axes ", tupleText(node.axes), ": ",
                    isTwice ? text("axis ", node.axes[i], " is named twice")
                            : std::string("axes must ascend")),
               "name each axis once, in ascending order");
      return std::nullopt;
    }
  }
  Shape out;
  for (size_t i = 0; i < x.size(); ++i)
    if (std::find(node.axes.begin(), node.axes.end(), int64_t(i)) == node.axes.end())
      out.push_back(x[i]);
    else if (node.keepDims)
      out.push_back(1);
  return checkShape("the result of 'reduce'", out, complain) ? std::optional(out) : std::nullopt;
}

std::optional<Shape> inferComposite(const Node &node, const std::vector<const Shape *> &shapes,
                                    const Complain &complain) {
  const Shape &x = *shapes[0];
  if (node.op == Op::Softmax && !checkAxis(node, node.axis, x.size(), complain))
    return std::nullopt;
  for (size_t i = 1; i < shapes.size(); ++i)
    if (broadcastShapes({x, *shapes[i]}) != x) {
      complain("T-01",
               text("'", name(node.op), "' of ", tupleText(x), ": ",
                    i == 1 ? "the factor" : "the summand", " is ", tupleText(*shapes[i]),
                    ", which does not broadcast to it"),
               text("make it (1, ", x.back(), ") or (", x.back(), ",)"));
      return std::nullopt;
    }
  return x;
}

} // namespace

std::optional<Shape> tile::inferShape(const Graph &graph, const Node &node,
                                      const Complain &complain) {
  const auto operands = operandShapes(graph, node, complain);
  if (!operands)
    return std::nullopt;
  const auto own = [&]() -> std::optional<Shape> {
    if (!checkShape(text("the result of '", calledAs(node), "'"), node.shape, complain))
      return std::nullopt;
    return node.shape;
  };
  switch (node.op) {
  case Op::Load:
  case Op::Splat:
    return own();
  case Op::Iota:
    if (!own() || !checkAxis(node, node.axis, node.shape.size(), complain))
      return std::nullopt;
    return node.shape;
  case Op::Store:
  case Op::Materialize:
  case Op::Unary:
  case Op::Cast:
    return *(*operands)[0];
  case Op::Binary:
  case Op::Select:
    return inferElementwise(node, *operands, complain);
  case Op::Matmul:
    return inferMatmul(node, *(*operands)[0], *(*operands)[1], complain);
  case Op::Reduce:
    return inferReduce(node, *(*operands)[0], complain);
  case Op::Softmax:
  case Op::RmsNorm:
  case Op::LayerNorm:
    return inferComposite(node, *operands, complain);
  default:
    return inferMovement(node, *operands, complain);
  }
}
