//===- Movement.cpp - movement of elements becomes views of memory ----------------------------===//
//
// Nodes are built anew, operands first. A value of the old graph is a node of the new one, perhaps
// read with another shape of the same elements in row-major order (`Val`): reshapes wait there
// until somebody needs them, and two of them often undo each other.
//
//===------------------------------------------------------------------------------------------===//

#include "kiln/Plan/Movement.h"

#include "Sharing.h"

#include <algorithm>
#include <numeric>

namespace kiln::plan {

using tile::Graph;
using tile::kNone;
using tile::Node;
using tile::NodeId;
using tile::Op;
using tile::Shape;

std::vector<int64_t> contiguousStrides(const Shape &shape) {
  std::vector<int64_t> stride(shape.size(), 1);
  for (size_t i = shape.size(); i-- > 1;)
    stride[i - 1] = stride[i] * shape[i];
  return stride;
}

std::optional<std::vector<int64_t>>
reshapeStrides(const Shape &from, const std::vector<int64_t> &stride, const Shape &to) {
  // Runs of dims that are one dim in memory, outermost first.
  Shape extent;
  std::vector<int64_t> step;
  for (size_t i = 0; i < from.size(); ++i) {
    if (from[i] == 1)
      continue;
    if (!extent.empty() && step.back() == stride[i] * from[i]) {
      extent.back() *= from[i];
      step.back() = stride[i];
    } else {
      extent.push_back(from[i]);
      step.push_back(stride[i]);
    }
  }
  std::vector<int64_t> out(to.size(), 0);
  size_t run = 0;
  int64_t left = extent.empty() ? 1 : extent[0];
  for (size_t i = 0; i < to.size(); ++i) {
    if (to[i] == 1)
      continue;
    while (left == 1 && run + 1 < extent.size())
      left = extent[++run];
    if (left % to[i] != 0)
      return std::nullopt;
    left /= to[i];
    out[i] = step[run] * left;
  }
  return out;
}

namespace {

class Lowering {
public:
  Lowering(const Graph &old, const std::vector<Write> &writes)
      : old(old), writes(writes), uses(old.nodes.size(), 0), user(old.nodes.size(), kNone),
        vals(old.nodes.size()) {
    graph.buffers = old.buffers;
    for (const Node &node : old.nodes)
      for (NodeId operand : node.operands) {
        ++uses[operand];
        user[operand] = NodeId(&node - old.nodes.data());
      }
    // Pushing movement into arithmetic repeats it; past this size values go through memory instead.
    limit = 4 * old.nodes.size() + 64;
    shared = sharedBuffers(old);
  }

  std::map<uint32_t, std::string> reasons; ///< by new buffer: why there is one

  Graph run() {
    for (NodeId id = 0; id < old.nodes.size(); ++id)
      vals[id] = lower(id);
    return shareEqual(graph, old.buffers.size());
  }

private:
  /// Node `node` of the new graph, read with `shape`.
  struct Val {
    NodeId node = kNone;
    Shape shape;
  };

  //---- building blocks --------------------------------------------------//

  Val whole(NodeId id) const { return {id, graph[id].shape}; }

  /// A node like the old one, with the new operands.
  Node like(const Node &node, std::vector<NodeId> operands) const {
    Node out = node;
    out.operands = std::move(operands);
    return out;
  }

  /// A fresh buffer in HBM for `shape` elements, and why it takes one.
  uint32_t scratch(const Shape &shape, isa::DType dtype, uint32_t location, std::string_view why) {
    tile::Buffer buffer;
    do
      buffer.name = "scratch" + std::to_string(scratches++);
    while (std::any_of(graph.buffers.begin(), graph.buffers.end(),
                       [&](const tile::Buffer &b) { return b.name == buffer.name; }));
    buffer.dtype = dtype;
    buffer.shape = shape;
    buffer.location = location;
    graph.buffers.push_back(std::move(buffer));
    shared.push_back(false);
    reasons.emplace(uint32_t(graph.buffers.size() - 1), why);
    return uint32_t(graph.buffers.size() - 1);
  }

  NodeId load(uint32_t buffer, const Shape &shape, const tile::View &view, const Node &of) {
    Node node;
    node.op = Op::Load;
    node.shape = shape;
    node.dtype = graph.buffers[buffer].dtype;
    node.view = view;
    node.view.buffer = buffer;
    node.location = of.location;
    node.position = of.position;
    return graph.add(std::move(node));
  }

  void store(NodeId value, const Shape &shape, const tile::View &view, const Node &of) {
    Node node;
    node.op = Op::Store;
    node.operands = {value};
    node.shape = shape;
    node.dtype = graph.buffers[view.buffer].dtype;
    node.view = view;
    node.location = of.location;
    node.position = of.position;
    graph.add(std::move(node));
  }

  /// `val` written to memory and read again with its own shape.
  NodeId throughMemory(const Val &val, std::string_view why) {
    const Node source = graph[val.node];
    uint32_t buffer = scratch(source.shape, source.dtype, source.location, why);
    tile::View view;
    view.buffer = buffer;
    view.stride = contiguousStrides(source.shape);
    Node of = source;
    of.position = source.op == Op::Load ? source.position : current;
    store(val.node, source.shape, view, of);
    view.stride = contiguousStrides(val.shape);
    of.position = current;
    return load(buffer, val.shape, view, of);
  }

  /// A node whose own shape is that of `val`.
  NodeId exact(const Val &val) {
    if (graph[val.node].shape == val.shape)
      return val.node;
    if (std::optional<NodeId> pushed = reshaped(val.node, val.shape))
      return *pushed;
    return throughMemory(val, "what computes it cannot compute it in another shape");
  }

  /// Arithmetic that is not repeated any more. What is loaded has a view of its own at any size.
  bool isTooLarge(const Node &node) const {
    return graph.nodes.size() > limit && node.op != Op::Load && node.op != Op::Splat;
  }
  /// What a hint is about is computed as it stands.
  static bool isFixed(const Node &node) { return node.op != Op::Load && node.hint.any(); }

  //---- reshape ----------------------------------------------------------//

  /// `id` with another shape, if that costs nothing.
  std::optional<NodeId> reshaped(NodeId id, const Shape &shape) {
    const Node node = graph[id];
    if (node.shape == shape)
      return id;
    if (isTooLarge(node) || isFixed(node))
      return std::nullopt;
    switch (node.op) {
    case Op::Load: {
      auto stride = reshapeStrides(node.shape, node.view.stride, shape);
      if (!stride)
        return std::nullopt;
      Node moved = node;
      moved.shape = shape;
      moved.view.stride = *stride;
      return graph.add(std::move(moved));
    }
    case Op::Splat: {
      Node moved = node;
      moved.shape = shape;
      return graph.add(std::move(moved));
    }
    case Op::Unary:
    case Op::Cast:
    case Op::Binary:
    case Op::Select: {
      std::vector<NodeId> operands;
      for (NodeId operand : node.operands) {
        const bool isScalar = graph[operand].elements() == 1;
        if (!isScalar && graph[operand].shape != node.shape)
          return std::nullopt; // broadcasting dims do not regroup
        auto moved = reshaped(operand, isScalar ? Shape(shape.size(), 1) : shape);
        if (!moved)
          return std::nullopt;
        operands.push_back(*moved);
      }
      Node moved = like(node, operands);
      moved.shape = shape;
      return graph.add(std::move(moved));
    }
    default:
      return std::nullopt;
    }
  }

  //---- transpose, slice -------------------------------------------------//

  struct Box {
    std::vector<int64_t> start, step;
    Shape shape;
  };

  std::optional<NodeId> transposed(NodeId id, const std::vector<int64_t> &perm) {
    const Node node = graph[id];
    if (isTooLarge(node) || isFixed(node))
      return std::nullopt;
    const auto permute = [&](const auto &list) {
      auto out = list;
      for (size_t i = 0; i < perm.size(); ++i)
        out[i] = list[size_t(perm[i])];
      return out;
    };
    Node moved = node;
    moved.shape = permute(node.shape);
    switch (node.op) {
    case Op::Load:
      moved.view.stride = permute(node.view.stride);
      return graph.add(std::move(moved));
    case Op::Splat:
      return graph.add(std::move(moved));
    case Op::Iota:
      moved.axis = std::find(perm.begin(), perm.end(), node.axis) - perm.begin();
      return graph.add(std::move(moved));
    case Op::Unary:
    case Op::Cast:
    case Op::Binary:
    case Op::Select: {
      std::vector<NodeId> operands;
      for (NodeId operand : node.operands) {
        const Shape aligned = padded(graph[operand].shape, perm.size());
        auto ranked = reshaped(operand, aligned);
        auto done = ranked ? transposed(*ranked, perm) : std::nullopt;
        if (!done)
          return std::nullopt;
        operands.push_back(*done);
      }
      moved.operands = operands;
      return graph.add(std::move(moved));
    }
    default:
      return std::nullopt;
    }
  }

  /// `shape` with extents 1 in front up to `rank` dims.
  static Shape padded(const Shape &shape, size_t rank) {
    Shape out(rank - std::min(rank, shape.size()), 1);
    out.insert(out.end(), shape.begin(), shape.end());
    return out;
  }

  std::optional<NodeId> sliced(NodeId id, const Box &box) {
    const Node node = graph[id];
    if (isTooLarge(node) || isFixed(node))
      return std::nullopt;
    Node moved = node;
    moved.shape = box.shape;
    switch (node.op) {
    case Op::Load:
      for (size_t i = 0; i < box.start.size(); ++i) {
        moved.view.offset += box.start[i] * node.view.stride[i];
        moved.view.stride[i] *= box.step[i];
      }
      return graph.add(std::move(moved));
    case Op::Splat:
      return graph.add(std::move(moved));
    case Op::Unary:
    case Op::Cast:
    case Op::Binary:
    case Op::Select: {
      std::vector<NodeId> operands;
      for (NodeId operand : node.operands) {
        const Shape own = graph[operand].shape;
        const size_t skip = box.shape.size() - own.size();
        Box part;
        for (size_t i = 0; i < own.size(); ++i) {
          const bool isRepeated = own[i] == 1;
          part.start.push_back(isRepeated ? 0 : box.start[skip + i]);
          part.step.push_back(isRepeated ? 1 : box.step[skip + i]);
          part.shape.push_back(isRepeated ? 1 : box.shape[skip + i]);
        }
        auto done = sliced(operand, part);
        if (!done)
          return std::nullopt;
        operands.push_back(*done);
      }
      moved.operands = operands;
      return graph.add(std::move(moved));
    }
    default:
      return std::nullopt;
    }
  }

  //---- the old nodes ----------------------------------------------------//

  Val lower(NodeId id) {
    Val val = lowered(id);
    const Node &node = old[id];
    const bool isMade = node.op == Op::Transpose || node.op == Op::Reshape ||
                        node.op == Op::Slice || node.op == Op::Broadcast || node.op == Op::Splat ||
                        node.op == Op::Iota;
    if (!node.hint.in || !isMade)
      return val;
    // The elements as they are after the movement, written out.
    const NodeId x = exact(val);
    return whole(throughMemory(whole(x), "nl::hint asks for it in HBM"));
  }

  Val lowered(NodeId id) {
    const Node &node = old[id];
    if (node.isEffect() || node.op == Op::Load)
      current = node.position;
    switch (node.op) {
    case Op::Load:
      return loadAt(id);
    case Op::Store:
    case Op::Materialize:
      if (isDeferred(node.operands[0]))
        assembleInto(old[node.operands[0]], node.view);
      else
        write(vals[node.operands[0]], node, node.view);
      return {};
    case Op::Splat:
    case Op::Iota:
      return whole(graph.add(node));
    case Op::Transpose: {
      const NodeId x = exact(vals[node.operands[0]]);
      if (auto moved = transposed(x, node.axes))
        return whole(*moved);
      return whole(*transposed(
          throughMemory(whole(x), "what computes it cannot compute it transposed"), node.axes));
    }
    case Op::Slice: {
      const NodeId x = exact(vals[node.operands[0]]);
      const Box box{node.starts, node.steps, node.shape};
      if (auto moved = sliced(x, box))
        return whole(*moved);
      return whole(
          *sliced(throughMemory(whole(x), "what computes it cannot compute a part of it"), box));
    }
    case Op::Reshape:
      return {vals[node.operands[0]].node, node.shape};
    case Op::Broadcast:
      return broadcast(id);
    case Op::Concat:
    case Op::Pad:
      return isDeferred(id) ? Val{} : assembled(id);
    case Op::Reduce:
      return reduce(id);
    default:
      return arithmetic(id);
    }
  }

  /// Whether something writes the buffer of load `id` behind it.
  bool isOvertaken(NodeId id) const {
    const Node &node = old[id];
    if (graph.buffers[node.view.buffer].role == tile::Buffer::Role::Input)
      return false;
    for (const Write &write : writes)
      if (write.buffer == node.view.buffer && write.position >= node.position)
        return true;
    return shared[node.view.buffer];
  }

  /// A tile that engines may read where it is: from its first partition on, by arithmetic on each
  /// element only.
  bool isReadInPlace(NodeId id) const {
    const Node &node = old[id];
    if (node.view.partition != 0 || node.shape.size() < 2 || node.shape[0] == 1)
      return false;
    for (const Node &reader : old.nodes)
      for (NodeId operand : reader.operands)
        if (operand == id && reader.op != Op::Unary && reader.op != Op::Binary)
          return false;
    return true;
  }

  Val loadAt(NodeId id) {
    const Node &node = old[id];
    NodeId loaded = graph.add(node);
    const bool isOnChip = graph.buffers[node.view.buffer].memory != isa::Memory::Hbm;
    if (!isOvertaken(id) && (!isOnChip || isReadInPlace(id)))
      return whole(loaded);
    uint32_t buffer =
        scratch(node.shape, node.dtype, node.location,
                isOnChip ? "it is read from a tile of the kernel, and needed in other places"
                         : "the kernel writes there again before all of it is read");
    tile::View view;
    view.buffer = buffer;
    view.stride = contiguousStrides(node.shape);
    store(loaded, node.shape, view, node);
    return whole(load(buffer, node.shape, view, node));
  }

  /// Writes `val` to `view` of a buffer, element by element in row-major order.
  void write(Val val, const Node &effect, const tile::View &view) {
    // A store rounds by itself.
    if (const Node &value = graph[val.node]; value.op == Op::Cast &&
                                             value.dtype == graph.buffers[view.buffer].dtype &&
                                             !value.hint.any())
      val.node = value.operands[0];
    const Shape own = graph[val.node].shape;
    Node out = effect;
    out.operands = {val.node};
    out.view = view;
    const bool isOnChip = graph.buffers[view.buffer].memory != isa::Memory::Hbm;
    if (own != effect.shape) {
      auto stride = isOnChip ? std::nullopt : reshapeStrides(effect.shape, view.stride, own);
      if (stride) {
        out.shape = own;
        out.view.stride = *stride;
      } else {
        out.operands = {exact({val.node, effect.shape})};
      }
    }
    // Engines write a tile from its first partition on; transfers do the rest.
    const bool isInPlace = isOnChip && !shared[view.buffer] && view.partition == 0 &&
                           out.shape.size() >= 2 && out.shape[0] > 1 &&
                           graph.buffers[view.buffer].memory == isa::Memory::Sbuf;
    if ((isOnChip || shared[view.buffer]) && !isInPlace && graph[out.operands[0]].op != Op::Load)
      out.operands = {throughMemory(whole(out.operands[0]), "a transfer brings it to its place")};
    // Waves of dtypes: what is rounded to the buffer is rounded on the way there.
    out.op = Op::Store;
    out.dtype = graph.buffers[view.buffer].dtype;
    graph.add(std::move(out));
  }

  Val broadcast(NodeId id) {
    const Node &node = old[id];
    const NodeId x = exact(vals[node.operands[0]]);
    if (graph[x].shape == node.shape)
      return whole(x);
    if (auto moved = spread(x, node.shape))
      return whole(*moved);
    return whole(*spread(throughMemory(whole(x), "it is read again and again"), node.shape));
  }

  /// `id` repeated to `shape` by strides of 0.
  std::optional<NodeId> spread(NodeId id, const Shape &shape) {
    const Node node = graph[id];
    Node moved = node;
    moved.shape = shape;
    if (node.op == Op::Splat)
      return graph.add(std::move(moved));
    if (node.op != Op::Load)
      return std::nullopt;
    moved.view.stride.assign(shape.size(), 0);
    const size_t skip = shape.size() - node.shape.size();
    for (size_t i = 0; i < node.shape.size(); ++i)
      if (node.shape[i] == shape[skip + i])
        moved.view.stride[skip + i] = node.view.stride[i];
    return graph.add(std::move(moved));
  }

  /// Concat and Pad: a buffer that several stores fill; the only reader may be a store itself.
  Val assembled(NodeId id) {
    const Node &node = old[id];
    uint32_t buffer = scratch(node.shape, node.dtype, node.location,
                              "parts of it are computed apart and put together there");
    tile::View view;
    view.buffer = buffer;
    view.stride = contiguousStrides(node.shape);
    assembleInto(node, view);
    Node of = node;
    of.position = current;
    return whole(load(buffer, node.shape, view, of));
  }

  /// A Concat or Pad that only a store to HBM reads is put together where it is stored.
  bool isDeferred(NodeId id) const {
    const Node &node = old[id];
    if ((node.op != Op::Concat && node.op != Op::Pad) || uses[id] != 1)
      return false;
    const Node &reader = old[user[id]];
    return reader.op == Op::Store && !shared[reader.view.buffer] &&
           graph.buffers[reader.view.buffer].memory == isa::Memory::Hbm;
  }

  void assembleInto(const Node &node, const tile::View &view) {
    Node of = node;
    of.position = current;
    if (node.op == Op::Concat) {
      tile::View part = view;
      for (NodeId operand : node.operands) {
        const NodeId x = exact(vals[operand]);
        const Shape shape = graph[x].shape;
        store(x, shape, part, of);
        part.offset += shape[size_t(node.axis)] * view.stride[size_t(node.axis)];
      }
      return;
    }
    const NodeId x = exact(vals[node.operands[0]]);
    const Shape inner = graph[x].shape;
    // The frame, dim by dim: full in the dims behind, the middle in those before.
    Shape extent = node.shape;
    tile::View corner = view;
    for (size_t i = 0; i < inner.size(); ++i) {
      const auto strip = [&](int64_t start, int64_t size) {
        if (size <= 0)
          return;
        Node fill;
        fill.op = Op::Splat;
        fill.shape = extent;
        fill.shape[i] = size;
        fill.dtype = node.dtype;
        fill.number = node.number;
        fill.location = node.location;
        const Shape shape = fill.shape;
        tile::View to = corner;
        to.offset += start * view.stride[i];
        store(graph.add(std::move(fill)), shape, to, of);
      };
      strip(0, node.starts[i]);
      strip(node.starts[i] + inner[i], node.ends[i]);
      corner.offset += node.starts[i] * view.stride[i];
      extent[i] = inner[i];
    }
    store(x, inner, corner, of);
  }

  Val reduce(NodeId id) {
    const Node &node = old[id];
    Node out = like(node, {exact(vals[node.operands[0]])});
    out.keepDims = true;
    out.shape = graph[out.operands[0]].shape;
    for (int64_t axis : node.axes) {
      out.shape[size_t(axis)] = 1;
      if (node.keepDims)
        continue;
      // Hints count the dims of the result.
      if (out.hint.partitionDim && *out.hint.partitionDim >= axis)
        ++*out.hint.partitionDim;
      if (!out.hint.tile.empty())
        out.hint.tile.insert(out.hint.tile.begin() + axis, 0);
    }
    return {graph.add(std::move(out)), node.shape};
  }

  Val arithmetic(NodeId id) {
    const Node &node = old[id];
    // Operands that are one reshape of what their nodes are: the result is the same reshape.
    if (node.op != Op::Matmul && !node.hint.any())
      if (auto val = delayed(node))
        return *val;
    std::vector<NodeId> operands;
    for (NodeId operand : node.operands)
      operands.push_back(node.op == Op::Matmul ? inMemory(vals[operand]) : exact(vals[operand]));
    return whole(graph.add(like(node, operands)));
  }

  /// An operand of a matmul, whose pieces are loaded: numbers and indices are written first.
  NodeId inMemory(const Val &val) {
    const NodeId id = exact(val);
    const Node &node = graph[id];
    const Op source = node.op == Op::Cast ? graph[node.operands[0]].op : node.op;
    return source == Op::Splat || source == Op::Iota
               ? throughMemory(whole(id), "a matmul loads its operands")
               : id;
  }

  std::optional<Val> delayed(const Node &node) {
    const Val *pending = nullptr;
    for (NodeId operand : node.operands)
      if (vals[operand].shape != graph[vals[operand].node].shape &&
          vals[operand].shape == node.shape)
        pending = &vals[operand];
    if (!pending)
      return std::nullopt;
    const Shape inner = graph[pending->node].shape;
    std::vector<NodeId> operands;
    for (NodeId operand : node.operands) {
      const Val &val = vals[operand];
      const bool isScalar = graph[val.node].elements() == 1;
      if (!isScalar && val.shape != node.shape)
        return std::nullopt;
      auto moved = reshaped(val.node, isScalar ? Shape(inner.size(), 1) : inner);
      if (!moved)
        return std::nullopt;
      operands.push_back(*moved);
    }
    Node out = like(node, operands);
    out.shape = inner;
    return Val{graph.add(std::move(out)), node.shape};
  }

  const Graph &old;
  const std::vector<Write> &writes;
  Graph graph;
  std::vector<uint32_t> uses; ///< of old nodes
  std::vector<NodeId> user;   ///< of old nodes: the last
  std::vector<Val> vals;
  std::vector<bool> shared; ///< by buffer
  size_t limit = 0;
  uint32_t scratches = 0;
  uint32_t current = 0; ///< position of the latest effect
};

} // namespace

Graph lowerMovement(const Graph &graph, const std::vector<Write> &writes,
                    std::map<uint32_t, std::string> *reasons) {
  Lowering lowering(graph, writes);
  Graph lowered = lowering.run();
  if (reasons)
    *reasons = std::move(lowering.reasons);
  return lowered;
}

} // namespace kiln::plan
