//===- InferMovement.cpp - shapes of what only moves elements ---------------------------------===//

#include "GraphSupport.h"

#include <algorithm>

using namespace kiln;
using namespace kiln::tile;

/// Complains unless a list of the node has one entry for each of `rank` dims.
static bool checkLength(const Node &node, std::string_view list, size_t length, size_t rank,
                        const Complain &complain) {
  if (length == rank)
    return true;
  complain("V-03",
           text("'", calledAs(node), "' has ", counted(int64_t(length), list),
                " for a value of rank ", rank),
           text("give ", rank, ", one for each dim"));
  return false;
}

static std::optional<Shape> inferTranspose(const Node &node, const Shape &x,
                                           const Complain &complain) {
  std::vector<int64_t> sorted = node.axes;
  std::sort(sorted.begin(), sorted.end());
  bool isPermutation = sorted.size() == x.size();
  for (size_t i = 0; isPermutation && i < sorted.size(); ++i)
    isPermutation = sorted[i] == int64_t(i);
  if (!isPermutation) {
    Shape all(x.size());
    for (size_t i = 0; i < all.size(); ++i)
      all[i] = int64_t(all.size() - 1 - i);
    complain("T-03",
             text("'transpose' of ", tupleText(x), " with axes ", tupleText(node.axes),
                  ": each of 0 to ", x.size() - 1, " must be named once"),
             text("axes ", tupleText(all), " reverse all dims"));
    return std::nullopt;
  }
  Shape out;
  for (int64_t axis : node.axes)
    out.push_back(x[size_t(axis)]);
  return out;
}

static std::optional<Shape> inferReshape(const Node &node, const Shape &x,
                                         const Complain &complain) {
  if (!checkShape("the result of 'reshape'", node.shape, complain))
    return std::nullopt;
  const int64_t from = *countElements(x), to = *countElements(node.shape);
  if (from == to)
    return node.shape;
  complain("V-04",
           text("'reshape' of ", tupleText(x), " to ", tupleText(node.shape), ": ", from,
                " elements are not ", to),
           "the extents must multiply to as many elements; slice or pad to change their number");
  return std::nullopt;
}

static std::optional<Shape> inferSlice(const Node &node, const Shape &x, const Complain &complain) {
  if (!checkLength(node, "start", node.starts.size(), x.size(), complain) ||
      !checkLength(node, "step", node.steps.size(), x.size(), complain) ||
      !checkLength(node, "extent", node.shape.size(), x.size(), complain))
    return std::nullopt;
  for (size_t i = 0; i < x.size(); ++i) {
    const int64_t start = node.starts[i], step = node.steps[i], count = node.shape[i];
    if (step < 1) {
      complain("V-02",
               text("'slice' of ", tupleText(x), " has step ", step, " in dim ", i,
                    "; steps are 1 or more"),
               "slice forwards, and gather or transpose to reorder");
      return std::nullopt;
    }
    if (count < 1) {
      complain("V-02",
               text("'slice' of ", tupleText(x), " takes ", counted(count, "element"), " of dim ",
                    i, "; a slice takes 1 or more"),
               "leave out slices of nothing");
      return std::nullopt;
    }
    // start + (count - 1) * step < extent, without overflow.
    if (start < 0 || start >= x[i] || (x[i] - 1 - start) / step < count - 1) {
      complain("V-01",
               text("'slice' of ", tupleText(x), " takes ", counted(count, "element"), " of dim ",
                    i, " from ", start, " in steps of ", step, ", dim ", i, " has indices 0 to ",
                    x[i] - 1),
               start < 0 || start >= x[i]
                   ? text("start at ", x[i] - 1, " or below")
                   : text("take at most ", (x[i] - 1 - start) / step + 1, " from ", start));
      return std::nullopt;
    }
  }
  return node.shape;
}

static std::optional<Shape> inferConcat(const Node &node, const std::vector<const Shape *> &shapes,
                                        const Complain &complain) {
  Shape out = *shapes[0];
  if (!checkAxis(node, node.axis, out.size(), complain))
    return std::nullopt;
  const size_t axis = size_t(node.axis);
  for (size_t k = 1; k < shapes.size(); ++k) {
    Shape like = *shapes[k];
    if (like.size() == out.size())
      like[axis] = out[axis];
    if (like != out) {
      complain("T-01",
               text("'concat' along axis ", node.axis, " of ", tupleText(*shapes[0]), " and ",
                    tupleText(*shapes[k]), ": the other dims must be equal"),
               "reshape, slice or pad one of them, or choose another axis");
      return std::nullopt;
    }
    if (__builtin_add_overflow(out[axis], (*shapes[k])[axis], &out[axis]))
      out[axis] = INT64_MAX;
  }
  return checkShape("the result of 'concat'", out, complain) ? std::optional(out) : std::nullopt;
}

static std::optional<Shape> inferPad(const Node &node, const Shape &x, const Complain &complain) {
  if (!checkLength(node, "start", node.starts.size(), x.size(), complain) ||
      !checkLength(node, "end", node.ends.size(), x.size(), complain))
    return std::nullopt;
  Shape out = x;
  for (size_t i = 0; i < x.size(); ++i) {
    const int64_t front = node.starts[i], behind = node.ends[i];
    if (front < 0 || behind < 0) {
      complain("V-02",
               text("'pad' of ", tupleText(x), " puts ", front, " in front of dim ", i, " and ",
                    behind, " behind it; both are 0 or more"),
               "slice to make a value smaller");
      return std::nullopt;
    }
    if (__builtin_add_overflow(out[i], front, &out[i]) ||
        __builtin_add_overflow(out[i], behind, &out[i]))
      out[i] = INT64_MAX;
  }
  return checkShape("the result of 'pad'", out, complain) ? std::optional(out) : std::nullopt;
}

static std::optional<Shape> inferBroadcast(const Node &node, const Shape &x,
                                           const Complain &complain) {
  if (!checkShape("the result of 'broadcast'", node.shape, complain))
    return std::nullopt;
  const std::optional<Shape> both = broadcastShapes({x, node.shape});
  if (both == node.shape)
    return node.shape;
  complain("T-01",
           text("'broadcast' of ", tupleText(x), " to ", tupleText(node.shape),
                ": dims, counted from the last, must be equal or 1"),
           "reshape the operand so that the dims to repeat have extent 1");
  return std::nullopt;
}

std::optional<Shape> tile::inferMovement(const Node &node,
                                         const std::vector<const Shape *> &operands,
                                         const Complain &complain) {
  switch (node.op) {
  case Op::Transpose:
    return inferTranspose(node, *operands[0], complain);
  case Op::Reshape:
    return inferReshape(node, *operands[0], complain);
  case Op::Slice:
    return inferSlice(node, *operands[0], complain);
  case Op::Concat:
    return inferConcat(node, operands, complain);
  case Op::Pad:
    return inferPad(node, *operands[0], complain);
  default:
    return inferBroadcast(node, *operands[0], complain);
  }
}
