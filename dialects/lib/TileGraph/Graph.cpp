//===- Graph.cpp - small questions about shapes and operations --------------------------------===//

#include "kiln/Tile/Graph.h"

#include "GraphSupport.h"

#include <algorithm>

using namespace kiln;
using namespace kiln::tile;

std::optional<Shape> tile::broadcastShapes(const std::vector<Shape> &shapes) {
  Shape out;
  for (const Shape &shape : shapes) {
    // Dims count from the last; missing leading ones are 1.
    if (shape.size() > out.size())
      out.insert(out.begin(), shape.size() - out.size(), 1);
    for (size_t i = 0; i < shape.size(); ++i) {
      int64_t &extent = out[out.size() - shape.size() + i];
      if (extent == 1)
        extent = shape[i];
      else if (shape[i] != 1 && shape[i] != extent)
        return std::nullopt;
    }
  }
  return out;
}

std::string_view tile::name(Op op) {
  switch (op) {
  case Op::Load:
    return "load";
  case Op::Store:
    return "store";
  case Op::Materialize:
    return "materialize";
  case Op::Splat:
    return "splat";
  case Op::Iota:
    return "iota";
  case Op::Unary:
    return "unary";
  case Op::Binary:
    return "binary";
  case Op::Select:
    return "select";
  case Op::Cast:
    return "cast";
  case Op::Matmul:
    return "matmul";
  case Op::Reduce:
    return "reduce";
  case Op::Transpose:
    return "transpose";
  case Op::Reshape:
    return "reshape";
  case Op::Slice:
    return "slice";
  case Op::Concat:
    return "concat";
  case Op::Pad:
    return "pad";
  case Op::Broadcast:
    return "broadcast";
  case Op::Softmax:
    return "softmax";
  case Op::RmsNorm:
    return "rmsnorm";
  case Op::LayerNorm:
    return "layernorm";
  }
  return "?";
}

std::string_view tile::calledAs(const Node &node) {
  if (node.op == Op::Unary)
    return isa::name(node.fn);
  if (node.op == Op::Binary)
    return isa::name(node.alu);
  return name(node.op);
}

std::optional<int64_t> tile::countElements(const Shape &shape) {
  // Zero extents aside, so that their order does not decide.
  int64_t n = 1;
  for (int64_t extent : shape)
    if (extent < 0 || (extent > 0 && __builtin_mul_overflow(n, extent, &n)))
      return std::nullopt;
  if (std::find(shape.begin(), shape.end(), 0) != shape.end())
    return 0;
  constexpr int64_t widest = sizeof(double); // bytes of one element, at most
  return n <= INT64_MAX / widest ? std::optional(n) : std::nullopt;
}

bool tile::checkShape(std::string_view what, const Shape &shape, const Complain &complain) {
  if (shape.empty() || shape.size() > kMaxRank) {
    complain("S-06",
             text(what, " has rank ", shape.size(), ", a value has rank 1 to ", kMaxRank,
                  shape.empty() ? "" : text(": ", tupleText(shape))),
             shape.empty() ? "keep the reduced dims (keepdims), or add a dim of extent 1"
                           : "make neighbouring dims one with reshape");
    return false;
  }
  for (size_t i = 0; i < shape.size(); ++i)
    if (shape[i] < 1) {
      complain("V-02",
               text(what, " is ", tupleText(shape), ": dim ", i, " has extent ", shape[i],
                    ", extents are 1 or more"),
               "leave out operations on nothing");
      return false;
    }
  if (!countElements(shape)) {
    complain("V-04",
             text(what, " is ", tupleText(shape), ", more elements than 64-bit addresses reach"),
             "make the tensor smaller");
    return false;
  }
  return true;
}

bool tile::checkAxis(const Node &node, int64_t axis, size_t rank, const Complain &complain) {
  if (axis >= 0 && axis < int64_t(rank))
    return true;
  complain("T-03",
           text("'", calledAs(node), "' over axis ", axis, " of a value of rank ", rank,
                ": axes are 0 to ", rank - 1),
           text("the last dim is axis ", rank - 1));
  return false;
}

std::string tile::ordinal(size_t index) {
  static constexpr std::string_view endings[] = {"st", "nd", "rd"};
  return text(index + 1, index < 3 ? endings[index] : "th");
}
