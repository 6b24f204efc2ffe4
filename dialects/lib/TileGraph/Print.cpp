//===- Print.cpp - graphs as text -------------------------------------------------------------===//
//
// Parse.cpp reads this form; the two share the spelling of keywords by being short and side by side
// in the tests, which compare texts over a round trip.
//
//===------------------------------------------------------------------------------------------===//

#include "GraphSupport.h"

#include <cmath>

using namespace kiln;
using namespace kiln::tile;

/// As short as reads back equal; NaNs are all "nan".
static std::string numberText(double value) {
  if (std::isnan(value))
    return "nan";
  if (std::isinf(value))
    return value < 0 ? "-inf" : "inf";
  return text(value);
}

static bool isWhole(const View &view, const Buffer &buffer, const Shape &shape) {
  if (view.partition != 0 || view.offset != 0 || shape != buffer.shape ||
      view.stride.size() != shape.size())
    return false;
  int64_t step = 1;
  const bool isHbm = buffer.memory == isa::Memory::Hbm;
  for (size_t i = shape.size(); i-- > 0;) {
    if (view.stride[i] != (i == 0 && !isHbm ? 1 : step))
      return false;
    if (__builtin_mul_overflow(step, shape[i], &step))
      return false;
  }
  return true;
}

/// "@x" for a whole buffer, "@x partition 32 offset 4 strides (1, 8)" for a part of it.
static std::string viewText(const Graph &graph, const Node &node) {
  const View &view = node.view;
  if (view.buffer >= graph.buffers.size())
    return text("@", view.buffer, "?");
  const Buffer &buffer = graph.buffers[view.buffer];
  std::string out = text("@", buffer.name);
  if (isWhole(view, buffer, node.shape))
    return out;
  if (view.partition != 0)
    out += text(" partition ", view.partition);
  if (view.offset != 0)
    out += text(" offset ", view.offset);
  return out + text(" strides ", tupleText(view.stride));
}

static std::string orderText(const Order &order) {
  std::string out;
  if (order.kind == Order::Kind::LeftToRight)
    out = " left_to_right";
  else if (order.kind == Order::Kind::Chunks)
    out = text(" chunks ", order.chunk);
  return out + (order.fromIdentity ? " from_identity" : "");
}

static std::string hintText(const Hint &hint) {
  std::string out;
  if (hint.partitionDim)
    out += text(" hint_partition ", *hint.partitionDim);
  if (!hint.tile.empty())
    out += text(" hint_tile ", tupleText(hint.tile));
  if (hint.buffers)
    out += text(" hint_buffers ", *hint.buffers);
  if (hint.in)
    out += text(" hint_in ", isa::name(*hint.in));
  return out;
}

/// What an operation has beside operands, in front of the colon.
static std::string attributesText(const Node &node) {
  switch (node.op) {
  case Op::Splat:
    return text(" number ", numberText(node.number));
  case Op::Iota:
  case Op::Concat:
  case Op::Softmax:
    return text(" axis ", node.axis);
  case Op::Matmul:
    return text(node.transposeX ? " transpose_x" : "", node.transposeY ? " transpose_y" : "",
                orderText(node.order));
  case Op::Reduce:
    return text(" axes ", tupleText(node.axes), node.keepDims ? " keepdims" : "",
                orderText(node.order));
  case Op::Transpose:
    return text(" axes ", tupleText(node.axes));
  case Op::Slice:
    return text(" starts ", tupleText(node.starts), " steps ", tupleText(node.steps));
  case Op::Pad:
    return text(" starts ", tupleText(node.starts), " ends ", tupleText(node.ends), " number ",
                numberText(node.number));
  case Op::RmsNorm:
  case Op::LayerNorm:
    return text(" number ", numberText(node.number));
  default:
    return {};
  }
}

std::string tile::print(const Graph &graph, NodeId id) {
  if (id >= graph.nodes.size())
    return text("%", id, " = ?");
  const Node &node = graph[id];
  std::string out = text("%", id, " = ", name(node.op));
  if (node.op == Op::Unary)
    out += text(" ", isa::name(node.fn));
  if (node.op == Op::Binary || node.op == Op::Reduce)
    out += text(" ", isa::name(node.alu));
  for (size_t i = 0; i < node.operands.size(); ++i)
    out += text(i ? ", %" : " %", node.operands[i]);
  if (node.op == Op::Load || node.isEffect())
    out += text(node.operands.empty() ? " " : ", ", viewText(graph, node));
  out += attributesText(node);
  if (node.position != 0)
    out += text(" after ", node.position);
  out += hintText(node.hint);
  return out + text(" : ", node.shape.empty() ? "scalar" : shapeText(node.shape), " ",
                    isa::name(node.dtype));
}

std::string tile::print(const Graph &graph) {
  std::string out;
  for (const Buffer &buffer : graph.buffers) {
    out += text("@", buffer.name, " = ", isa::name(buffer.memory));
    if (buffer.role != Buffer::Role::Internal)
      out += text(buffer.role == Buffer::Role::Input ? " input " : " output ", buffer.index);
    out += text(" : ", shapeText(buffer.shape), " ", isa::name(buffer.dtype), "\n");
  }
  for (NodeId id = 0; id < graph.nodes.size(); ++id)
    out += print(graph, id) + "\n";
  return out;
}
