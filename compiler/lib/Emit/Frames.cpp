//===- Frames.cpp - the tiles of a group and the instructions on them -------------------------===//

#include "Frames.h"

#include "kiln/Tile/Numbers.h"

namespace kiln::emit {

using nl::Tensor;
using plan::Argument;
using plan::Group;
using plan::kNone;
using plan::Step;
using plan::Tile;

Body::Body(const Context &context, const Group &group, int64_t base)
    : context(context), group(group), tiles(group.tiles.size()), turn(group.slotBytes.size(), 0),
      levelBase(group.slotBytes.size(), 0), frameBytes(group.slotBytes.size(), 0) {
  for (size_t l = 0; l < group.slotBytes.size(); ++l) {
    levelBase[l] = base;
    for (int64_t slot : group.slotBytes[l])
      frameBytes[l] += slot;
    base += frameBytes[l] * group.copies[l];
  }
}

std::vector<unsigned> Body::freeDims(uint32_t dims) const {
  std::vector<unsigned> out;
  for (unsigned d = 0; d < group.extents.size(); ++d)
    if ((dims >> d & 1) && d != group.partition)
      out.push_back(d);
  return out;
}

/// Partitions of a tile with `dims`: what repeats along them is there for all.
int64_t Body::rowsOf(uint32_t dims, const Region &region) const {
  if (group.partition == kNone)
    return 1;
  return dims >> group.partition & 1 ? region.size[group.partition] : group.tile[group.partition];
}

/// Elements of a tile along a free dim.
int64_t Body::sizeOf(const Tile &tile, unsigned d, const Region &region) const {
  return tile.isWhole && d == group.loops.back() ? group.extents[d] : region.size[d];
}

void Body::bind(uint32_t t, const Tensor &tensor, const Region &region) {
  std::vector<Dim> free;
  for (unsigned d : freeDims(group.tiles[t].dims))
    free.push_back({region.size[d], 1});
  for (size_t i = free.size(); i-- > 1;)
    free[i - 1].stride = free[i].stride * free[i].size;
  tiles[t] = onChip(tensor, tensor.dim(0), free);
}

/// The elements of the region in the tile of the kernel that `node` reads or writes.
Tensor Body::inPlace(plan::NodeId node, uint32_t dims, const Region &region) const {
  const plan::Footprint &f = footprint(node);
  std::vector<Dim> free;
  for (unsigned d : freeDims(dims))
    free.push_back({region.size[d], f.stride[d]});
  const int64_t first = group.partition == kNone ? 0 : region.start[group.partition];
  return onChip(context.buffers[context.node(node).view.buffer], rowsOf(dims, region), free,
                offsetOf(node, region), first);
}

Tensor Body::make(uint32_t t, const Region &region) {
  const Tile &tile = group.tiles[t];
  if (tile.place != kNone)
    return tiles[t] = inPlace(tile.place, tile.dims, region);
  if (tile.inPlaceOf != kNone)
    return tiles[t] = tiles[tile.inPlaceOf];
  nl::Shape shape{rowsOf(tile.dims, region)};
  for (unsigned d : freeDims(tile.dims))
    shape.push_back(sizeOf(tile, d, region));
  if (shape.size() == 1)
    shape.push_back(1);
  nl::NdarrayOptions options;
  if (context.isPlaced) {
    int64_t byte = levelBase[tile.level] +
                   turn[tile.level] % group.copies[tile.level] * frameBytes[tile.level];
    for (unsigned s = 0; s < tile.slot; ++s)
      byte += group.slotBytes[tile.level][s];
    options.address = nl::Address{0, byte};
  }
  return tiles[t] = nl::ndarray(shape, toNl(tile.dtype), nl::sbuf, options);
}

Tensor Body::view(uint32_t t, uint32_t dims, const Region &region) const {
  const Tile &tile = group.tiles[t];
  const Tensor &tensor = tile.place != kNone ? inPlace(tile.place, tile.dims, region) : tiles[t];
  const nl::detail::View &raw = tensor.raw();
  // Which dim of the tile's tensor each free dim is.
  std::vector<Dim> free;
  unsigned own = 1;
  std::vector<int64_t> stride(group.extents.size(), 0);
  for (unsigned d : freeDims(tile.dims))
    stride[d] = raw.stride[own++];
  for (unsigned d : freeDims(dims))
    free.push_back({region.size[d], stride[d]});
  const int64_t rows = group.partition == kNone      ? 1
                       : dims >> group.partition & 1 ? region.size[group.partition]
                                                     : raw.shape[0];
  const int64_t offset =
      tile.isWhole ? region.start[group.loops.back()] * stride[group.loops.back()] : 0;
  return onChip(tensor, rows, free, offset);
}

nl::Operand Body::scalar(const Argument &argument, uint32_t dims, const Region &region) const {
  if (!argument.isTile())
    return argument.kind == Argument::Kind::Number ? nl::Operand(argument.number) : nl::Operand();
  const uint32_t partition = group.partition == kNone ? 0 : 1u << group.partition;
  return nl::Operand(view(argument.tile, dims & partition, region));
}

const plan::Footprint &Body::footprint(plan::NodeId node) const {
  for (const plan::Footprint &f : group.footprints)
    if (f.node == node)
      return f;
  return group.footprints.front();
}

int64_t Body::offsetOf(plan::NodeId node, const Region &region) const {
  const plan::Footprint &f = footprint(node);
  int64_t offset = context.node(node).view.offset;
  for (size_t d = 0; d < f.stride.size(); ++d)
    if (f.stride[d] != plan::kPartitionStep)
      offset += f.stride[d] * region.start[d];
  return offset;
}

void Body::writeLoad(const Step &step, const Region &region) {
  const tile::Node &node = context.node(step.node);
  const plan::Footprint &f = footprint(step.node);
  const uint32_t dims = group.tiles[step.dst].dims;
  const Tensor tile = make(step.dst, region);
  std::vector<Dim> free;
  for (unsigned d : freeDims(dims))
    free.push_back({sizeOf(group.tiles[step.dst], d, region), f.stride[d]});
  const bool isSpread = group.partition != kNone && (dims >> group.partition & 1);
  const Dim row{rowsOf(dims, region), isSpread ? f.stride[group.partition] : 0};
  load(tile, context.buffers[node.view.buffer], offsetOf(step.node, region), row, free);
}

void Body::writeStore(const Step &step, const Region &region) {
  if (take)
    return take(view(step.x.tile, group.tiles[step.x.tile].dims, region), region);
  const tile::Node &node = context.node(step.node);
  const plan::Footprint &f = footprint(step.node);
  const uint32_t dims = group.tiles[step.x.tile].dims;
  std::vector<Dim> free;
  for (unsigned d : freeDims(dims))
    free.push_back({region.size[d], f.stride[d]});
  const bool isSpread = group.partition != kNone && (dims >> group.partition & 1);
  const Dim row{isSpread ? region.size[group.partition] : 1,
                isSpread ? f.stride[group.partition] : 0};
  Tensor tile = view(step.x.tile, dims, region);
  if (nl::is_on_chip(context.buffers[node.view.buffer].buffer())) {
    nisa::tensor_copy(inPlace(step.node, dims, region), tile);
    return;
  }
  if (!isSpread)
    tile = onChip(tile, 1, std::vector<Dim>(1, {tile.size() / tile.dim(0), 1}));
  store(context.buffers[node.view.buffer], offsetOf(step.node, region), row, free, tile);
}

void Body::combine(isa::AluOp op, uint32_t whole, uint32_t part, const Region &region) {
  const uint32_t dims = group.tiles[whole].dims;
  const Tensor total = view(whole, dims, region);
  nisa::tensor_tensor(
      {.dst = total, .data1 = total, .data2 = view(part, dims, region), .op = aluOp(op)});
}

void Body::writeReduce(const Step &step, const Region &region) {
  const bool isContinued = step.isPartial && region.chunk > 0;
  const uint32_t target = isContinued ? step.part : step.dst;
  make(target, region);
  const uint32_t kept = group.tiles[step.dst].dims;
  // Kept dims first, then the folded ones in their order.
  const Tensor source = view(step.x.tile, kept | step.dims, region);
  std::vector<Dim> free;
  const nl::detail::View &raw = source.raw();
  const std::vector<unsigned> order = freeDims(kept | step.dims);
  for (const bool folded : {false, true})
    for (size_t i = 0; i < order.size(); ++i)
      if (bool(step.dims >> order[i] & 1) == folded)
        free.push_back({raw.shape[i + 1], raw.stride[i + 1]});
  int64_t reduced = __builtin_popcount(step.dims);
  if (reduced == 0) { // the fold of one element
    free.push_back({1, 1});
    reduced = 1;
  }
  nl::Axes axes(int64_t(free.size()));
  axes.count = 0;
  for (int64_t i = 0; i < reduced; ++i)
    axes.values[axes.count++] = int64_t(free.size()) - reduced + 1 + i;
  nisa::tensor_reduce({.dst = view(target, kept, region),
                       .op = aluOp(step.op0),
                       .data = onChip(source, source.dim(0), free),
                       .axis = axes,
                       .negate = step.isNegated});
  if (isContinued)
    combine(step.op0, step.dst, step.part, region);
}

void Body::writeActivation(const Step &step, const Region &region) {
  const uint32_t dims = group.tiles[step.dst].dims;
  const Tensor data = view(step.x.tile, dims, region);
  nisa::Activation args{.dst = make(step.dst, region), .op = function(step.fn), .data = data};
  args.bias = scalar(step.z, dims, region);
  args.scale = scalar(step.y, dims, region);
  const bool isContinued = step.isPartial && region.chunk > 0;
  if (step.sum != kNone) {
    const uint32_t target = isContinued ? step.part : step.sum;
    args.reduce_res = make(target, region);
    args.reduce_op = nl::add;
    args.reduce_cmd = nisa::reduce_cmd::reset_reduce;
  }
  nisa::activation(args);
  if (isContinued)
    combine(isa::AluOp::Add, step.sum, step.part, region);
}

void Body::write(const Step &step, const Region &region) {
  using Kind = Step::Kind;
  context.session.at(context.node(step.node).location);
  const uint32_t dims = step.dst == kNone ? 0 : group.tiles[step.dst].dims;
  const auto tileOf = [&](const Argument &argument) { return view(argument.tile, dims, region); };
  switch (step.kind) {
  case Kind::Load:
    return writeLoad(step, region);
  case Kind::Store:
    return writeStore(step, region);
  case Kind::Reduce:
    return writeReduce(step, region);
  case Kind::Activation:
    return writeActivation(step, region);
  case Kind::Fill: {
    const isa::DType dtype = group.tiles[step.dst].dtype;
    nl::Scalar value(tile::numberIn(dtype, step.x.number));
    value.isInteger = !isa::isFloat(dtype);
    return nisa::memset(make(step.dst, region), value);
  }
  case Kind::Iota: {
    const Tensor dst = make(step.dst, region);
    if (dims == 0) // along a dim of extent 1, which the group may have dropped
      return nisa::iota(dst, {{0, 1}}, 0, 0);
    if (step.dim == group.partition)
      return nisa::iota(dst, {{0, 1}}, region.start[step.dim], 1);
    return nisa::iota(dst, {{1, region.size[step.dim]}}, region.start[step.dim]);
  }
  case Kind::Copy: {
    const Tensor src = tileOf(step.x);
    return nisa::tensor_copy(make(step.dst, region), src);
  }
  case Kind::TensorScalar: {
    nisa::TensorScalar args;
    args.data = tileOf(step.x);
    args.dst = make(step.dst, region);
    args.op0 = aluOp(step.op0);
    args.operand0 = scalar(step.y, dims, region);
    args.reverse0 = step.reverse0;
    args.op1 = aluOp(step.op1);
    if (step.op1 != isa::AluOp::None)
      args.operand1 = scalar(step.z, dims, region);
    args.reverse1 = step.reverse1;
    return nisa::tensor_scalar(args);
  }
  case Kind::TensorTensor: {
    const Tensor x = tileOf(step.x), y = tileOf(step.y);
    return nisa::tensor_tensor(
        {.dst = make(step.dst, region), .data1 = x, .data2 = y, .op = aluOp(step.op0)});
  }
  case Kind::ScalarTensorTensor: {
    nisa::ScalarTensorTensor args;
    args.data = tileOf(step.x);
    args.operand1 = tileOf(step.z);
    args.dst = make(step.dst, region);
    args.op0 = aluOp(step.op0);
    args.operand0 = scalar(step.y, dims, region);
    args.reverse0 = step.reverse0;
    args.op1 = aluOp(step.op1);
    args.reverse1 = step.reverse1;
    return nisa::scalar_tensor_tensor(args);
  }
  case Kind::Reciprocal: {
    const Tensor x = tileOf(step.x);
    return nisa::reciprocal(make(step.dst, region), x);
  }
  case Kind::Predicated: {
    const Tensor dst = view(step.dst, dims, region);
    const nl::Operand source =
        step.x.isTile() ? nl::Operand(tileOf(step.x))
                        : nl::Operand(tile::numberIn(group.tiles[step.dst].dtype, step.x.number));
    return nisa::tensor_copy_predicated(dst, source, tileOf(step.y));
  }
  }
}

} // namespace kiln::emit
