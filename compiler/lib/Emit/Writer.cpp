//===- Writer.cpp - what the emitters of all skeletons share ----------------------------------===//

#include "Writer.h"

namespace kiln::emit {

using nl::Tensor;

namespace {

void set(nl::detail::View &view, unsigned at, Dim dim) {
  view.shape[at] = dim.size;
  view.stride[at] = dim.stride;
}

} // namespace

Tensor onChip(const Tensor &tile, int64_t rows, std::span<const Dim> free, int64_t offset,
              int64_t partition) {
  nl::detail::View view = tile.raw();
  view.partition += uint32_t(partition);
  view.offset += offset;
  view.shape[0] = rows;
  view.rank = 1;
  for (const Dim &dim : free)
    set(view, view.rank++, dim);
  if (view.rank == 1)
    set(view, view.rank++, {1, 1});
  return Tensor(view);
}

Tensor inHbm(const Tensor &buffer, int64_t offset, std::span<const Dim> dims) {
  nl::detail::View view = buffer.raw();
  view.offset += offset;
  view.rank = 0;
  for (const Dim &dim : dims)
    set(view, view.rank++, dim);
  if (view.rank == 0)
    set(view, view.rank++, {1, 1});
  return Tensor(view);
}

nl::DType toNl(isa::DType dtype) { return static_cast<nl::DType>(dtype); }

nl::Op aluOp(isa::AluOp op) {
  if (op == isa::AluOp::None)
    return {};
  return {isa::name(op).data(), int16_t(op), -1};
}

nl::Op function(isa::ActFn fn) { return {isa::name(fn).data(), -1, int16_t(fn)}; }

void load(const Tensor &tile, const Tensor &buffer, int64_t offset, Dim row,
          std::span<const Dim> free) {
  std::vector<Dim> dims(free.begin(), free.end());
  int64_t elements = 1;
  for (const Dim &dim : free)
    elements *= dim.size;
  const nl::DType dtype = tile.dtype();
  const int64_t bytes = isa::bytesOf(static_cast<isa::DType>(dtype));
  if (row.size > 1 && row.stride == 0 && elements * bytes > plan::kRepeatedRowBytes) {
    // One row from memory, the others from the first.
    const Dim flat[] = {{elements, 1}};
    dims.insert(dims.begin(), {1, 0});
    nisa::dma_copy(onChip(tile, 1, flat), inHbm(buffer, offset, dims));
    const Dim repeated[] = {{row.size - 1, 0}, {elements, 1}};
    nisa::dma_copy(onChip(tile, row.size - 1, flat, 0, 1), onChip(tile, 1, repeated));
    return;
  }
  const bool isTransposed = row.size > 1 && row.stride == 1 && bytes > 1 && !dims.empty() &&
                            dims.back().size > 1 && dims.back().stride != 1 && dims.size() <= 3 &&
                            dtype == buffer.dtype();
  if (isTransposed) {
    // (R, B..., C) in memory becomes (C, B..., R).
    std::vector<Dim> source{dims.back()};
    source.insert(source.end(), dims.begin(), dims.end() - 1);
    source.push_back(row);
    nisa::DmaTranspose args{.dst = tile, .src = inHbm(buffer, offset, source)};
    args.axes = source.size() == 2   ? nl::AxisOrder{1, 0}
                : source.size() == 3 ? nl::AxisOrder{2, 1, 0}
                                     : nl::AxisOrder{3, 1, 2, 0};
    nisa::dma_transpose(args);
    return;
  }
  dims.insert(dims.begin(), row);
  nisa::dma_copy(tile, inHbm(buffer, offset, dims));
}

void store(const Tensor &buffer, int64_t offset, Dim row, std::span<const Dim> free,
           const Tensor &tile) {
  std::vector<Dim> dims{row};
  dims.insert(dims.end(), free.begin(), free.end());
  nisa::dma_copy(inHbm(buffer, offset, dims), tile);
}

//---- Copy ---------------------------------------------------------------===//

namespace {

/// `view` of `buffer` as a tensor of `shape`.
Tensor viewOf(const Tensor &buffer, const tile::View &view, const tile::Shape &shape) {
  std::vector<Dim> dims;
  const bool isOnChip = nl::is_on_chip(buffer.buffer());
  for (size_t i = isOnChip ? 1 : 0; i < shape.size(); ++i)
    dims.push_back({shape[i], view.stride[i]});
  return isOnChip ? onChip(buffer, shape[0], dims, view.offset, view.partition)
                  : inHbm(buffer, view.offset, dims);
}

} // namespace

void writeCopy(const Context &context, const plan::Group &group) {
  const tile::Node &from = context.node(group.nodes[0]), &to = context.node(group.nodes[1]);
  const Tensor &source = context.buffers[from.view.buffer],
               &target = context.buffers[to.view.buffer];
  const Tensor src = viewOf(source, from.view, from.shape), dst = viewOf(target, to.view, to.shape);
  const auto between = [&](nl::DType dtype) {
    nl::Shape shape{from.shape[0]};
    for (size_t i = 1; i < from.shape.size(); ++i)
      shape.push_back(from.shape[i]);
    if (from.shape.size() == 1)
      shape.push_back(1);
    return nl::ndarray(shape, dtype);
  };
  if (source.buffer() == nl::psum) { // no transfer reaches PSUM
    const Tensor tile = between(target.dtype());
    nisa::tensor_copy(tile, src);
    nisa::dma_copy(dst, tile);
  } else if (target.buffer() == nl::psum) {
    const Tensor tile = between(source.dtype());
    nisa::dma_copy(tile, src);
    nisa::tensor_copy(dst, tile);
  } else {
    nisa::dma_copy(dst, src);
  }
}

} // namespace kiln::emit
