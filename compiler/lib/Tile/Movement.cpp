//===- Movement.cpp - operations that move elements -------------------------------------------===//

#include "Operations.h"
#include "Strided.h"

#include <cstring>

using namespace kiln;
using namespace kiln::tile;

template <typename Word>
static void moveRow(std::byte *to, int64_t toStep, const std::byte *from, int64_t fromStep,
                    int64_t n) {
  for (int64_t i = 0; i < n; ++i)
    std::memcpy(to + i * toStep * int64_t(sizeof(Word)),
                from + i * fromStep * int64_t(sizeof(Word)), sizeof(Word));
}

void tile::moveElements(Walk<2> walk, unsigned width, std::byte *to, const std::byte *from) {
  walk.collapse();
  const int64_t toStep = walk.step(0), fromStep = walk.step(1);
  walk.forEachRow(INT64_MAX, [&](const std::array<int64_t, 2> &at, int64_t n) {
    std::byte *target = to + at[0] * width;
    const std::byte *source = from + at[1] * width;
    if (toStep == 1 && fromStep == 1)
      std::memcpy(target, source, size_t(n) * width);
    else if (width == sizeof(uint32_t))
      moveRow<uint32_t>(target, toStep, source, fromStep, n);
    else if (width == sizeof(uint16_t))
      moveRow<uint16_t>(target, toStep, source, fromStep, n);
    else
      moveRow<uint8_t>(target, toStep, source, fromStep, n);
  });
}

/// Fills `out` from x, element (i0, i1, ...) of the result being at `offset` + sum stride_k * i_k.
static void gather(const Value &x, Strides stride, int64_t offset, Value &out) {
  moveElements({out.shape, {rowMajor(out.shape), std::move(stride)}, {0, offset}},
               isa::bytesOf(out.dtype), out.bytes.data(), x.bytes.data());
}

// y[i_0, i_1, ...] = x[j_0, j_1, ...] with j_axes[k] = i_k
void tile::evaluateTranspose(const Node &node, const Operands &operands, Value &out) {
  const Strides own = rowMajor(operands[0]->shape);
  Strides stride;
  for (int64_t axis : node.axes)
    stride.push_back(own[size_t(axis)]);
  gather(*operands[0], std::move(stride), 0, out);
}

// y in row-major order = x in row-major order
void tile::evaluateReshape(const Node &, const Operands &operands, Value &out) {
  out.bytes = operands[0]->bytes;
}

// y[i_0, i_1, ...] = x[starts_0 + i_0 * steps_0, ...]
void tile::evaluateSlice(const Node &node, const Operands &operands, Value &out) {
  Strides stride = rowMajor(operands[0]->shape);
  int64_t offset = 0;
  for (size_t i = 0; i < stride.size(); ++i) {
    offset += node.starts[i] * stride[i];
    stride[i] *= node.steps[i];
  }
  gather(*operands[0], std::move(stride), offset, out);
}

/// Writes x into `out` from element `offset` on.
static void scatter(const Value &x, int64_t offset, Value &out) {
  moveElements({x.shape, {rowMajor(out.shape), rowMajor(x.shape)}, {offset, 0}},
               isa::bytesOf(out.dtype), out.bytes.data(), x.bytes.data());
}

// y[..., i, ...] = x_k[..., i - (extents of x_0 to x_(k-1)), ...] along the axis
void tile::evaluateConcat(const Node &node, const Operands &operands, Value &out) {
  const size_t axis = size_t(node.axis);
  const int64_t step = rowMajor(out.shape)[axis];
  int64_t done = 0;
  for (const Value *x : operands) {
    scatter(*x, done * step, out);
    done += x->shape[axis];
  }
}

// y[i_0, i_1, ...] = x[i_0 - starts_0, ...] where that exists, else number
void tile::evaluatePad(const Node &node, const Operands &operands, Value &out) {
  fill(out, node.number);
  const Strides stride = rowMajor(out.shape);
  int64_t offset = 0;
  for (size_t i = 0; i < stride.size(); ++i)
    offset += node.starts[i] * stride[i];
  scatter(*operands[0], offset, out);
}

// y[i_0, i_1, ...] = x[..., i_k, ...], with 0 for i_k where x has extent 1
void tile::evaluateBroadcast(const Node &, const Operands &operands, Value &out) {
  gather(*operands[0], broadcastStrides(operands[0]->shape, out.shape), 0, out);
}
