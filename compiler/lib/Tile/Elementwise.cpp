//===- Elementwise.cpp - sources and operations on elements of equal position -----------------===//

#include "Operations.h"
#include "Strided.h"
#include "kilnrt/Numerics/Activation.h"
#include "kilnrt/Numerics/Alu.h"
#include "kilnrt/Numerics/Convert.h"

#include <algorithm>
#include <cstring>

using namespace kiln;
using namespace kiln::tile;
using isa::DType;

//---- sources ------------------------------------------------------------===//

void tile::fill(Value &out, double number) {
  const uint32_t bits = encodeNumber(out.dtype, number);
  const size_t width = isa::bytesOf(out.dtype);
  for (size_t i = 0; i + width <= out.bytes.size(); i += width)
    std::memcpy(out.bytes.data() + i, &bits, width);
}

// y[i] = number
void tile::evaluateSplat(const Node &node, Value &out) { fill(out, node.number); }

// y[i0, i1, ...] = i_axis
void tile::evaluateIota(const Node &node, Value &out) {
  const int64_t step = rowMajor(node.shape)[size_t(node.axis)];
  const int64_t extent = node.shape[size_t(node.axis)];
  auto *values = reinterpret_cast<int32_t *>(out.bytes.data());
  const int64_t count = node.elements();
  for (int64_t i = 0; i < count; ++i)
    values[i] = int32_t(i / step % extent);
}

//---- conversions --------------------------------------------------------===//

void tile::convertElements(DType fromType, const std::byte *from, DType toType, std::byte *to,
                           int64_t count) {
  const int64_t fromWidth = isa::bytesOf(fromType), toWidth = isa::bytesOf(toType);
  if (fromType == toType) {
    std::memcpy(to, from, size_t(count * toWidth));
    return;
  }
  float piece[kPiece];
  for (int64_t i = 0; i < count; i += kPiece) {
    const size_t n = size_t(std::min(kPiece, count - i));
    kilnrt::loadRow(fromType, from + i * fromWidth, fromWidth, n, piece);
    kilnrt::storeRow(toType, piece, to + i * toWidth, toWidth, n);
  }
}

// y[i] = x[i], in another dtype
void tile::evaluateCast(const Node &node, const Operands &operands, Value &out) {
  convertElements(operands[0]->dtype, operands[0]->bytes.data(), out.dtype, out.bytes.data(),
                  node.elements());
}

//---- functions and operators --------------------------------------------===//

// y[i] = round(fn(x[i]))
void tile::evaluateUnary(const Node &node, const Operands &operands, Value &out) {
  const Value &x = *operands[0];
  const int64_t width = isa::bytesOf(x.dtype), outWidth = isa::bytesOf(out.dtype);
  float piece[kPiece];
  for (int64_t i = 0, count = node.elements(); i < count; i += kPiece) {
    const size_t n = size_t(std::min(kPiece, count - i));
    kilnrt::loadRow(x.dtype, x.bytes.data() + i * width, width, n, piece);
    kilnrt::activationRow(node.fn, piece, piece, n);
    kilnrt::storeRow(out.dtype, piece, out.bytes.data() + i * outWidth, outWidth, n);
  }
}

/// The layouts of the result and of N - 1 operands that broadcast to it.
template <size_t N>
static Walk<N> elementwiseWalk(const Node &node, const Operands &operands) {
  Walk<N> walk;
  walk.shape = node.shape;
  walk.stride[0] = rowMajor(node.shape);
  for (size_t k = 1; k < N; ++k)
    walk.stride[k] = broadcastStrides(operands[k - 1]->shape, node.shape);
  walk.collapse();
  return walk;
}

/// Calls `apply(x, y, out, n)` with neighbouring elements of `width` bytes.
template <typename Apply>
static void forEachBitRow(const Node &node, const Operands &operands, Value &out, unsigned width,
                          const Apply &apply) {
  const Walk<3> walk = elementwiseWalk<3>(node, operands);
  alignas(8) std::byte x[kPiece * sizeof(uint32_t)], y[kPiece * sizeof(uint32_t)];
  walk.forEachRow(kPiece, [&](const std::array<int64_t, 3> &at, int64_t n) {
    std::byte *rows[] = {x, y};
    for (size_t k = 0; k < 2; ++k)
      for (int64_t i = 0; i < n; ++i)
        std::memcpy(rows[k] + i * width,
                    operands[k]->bytes.data() + (at[k + 1] + i * walk.step(k + 1)) * width, width);
    apply(x, y, out.bytes.data() + at[0] * width, size_t(n));
  });
}

// y[i] = round(alu(x0[i], x1[i])); 32-bit integers and bits without a detour through fp32
void tile::evaluateBinary(const Node &node, const Operands &operands, Value &out) {
  const Value &x = *operands[0], &y = *operands[1];
  if (isa::info(node.alu).isBitvec) {
    const unsigned width = isa::bytesOf(out.dtype);
    forEachBitRow(node, operands, out, width, [&](auto *a, auto *b, auto *to, size_t n) {
      kilnrt::bitvecRow(node.alu, width, a, b, to, n);
    });
    return;
  }
  if (isa::isWideInteger(x.dtype) && isa::isWideInteger(y.dtype) && isa::isWideInteger(out.dtype)) {
    forEachBitRow(node, operands, out, sizeof(uint32_t), [&](auto *a, auto *b, auto *to, size_t n) {
      kilnrt::aluIntegerRow(node.alu, x.dtype, a, y.dtype, b, out.dtype, to, n);
    });
    return;
  }
  const Walk<3> walk = elementwiseWalk<3>(node, operands);
  const int64_t xWidth = isa::bytesOf(x.dtype), yWidth = isa::bytesOf(y.dtype);
  const int64_t width = isa::bytesOf(out.dtype);
  float left[kPiece], right[kPiece];
  walk.forEachRow(kPiece, [&](const std::array<int64_t, 3> &at, int64_t n) {
    kilnrt::loadRow(x.dtype, x.bytes.data() + at[1] * xWidth, walk.step(1) * xWidth, size_t(n),
                    left);
    kilnrt::loadRow(y.dtype, y.bytes.data() + at[2] * yWidth, walk.step(2) * yWidth, size_t(n),
                    right);
    kilnrt::aluRow(node.alu, left, right, left, size_t(n));
    kilnrt::storeRow(out.dtype, left, out.bytes.data() + at[0] * width, width, size_t(n));
  });
}

// y[i] = x0[i] != 0 ? x1[i] : x2[i]; a NaN is not 0; what is chosen keeps its bits unless the dtype
// differs
void tile::evaluateSelect(const Node &node, const Operands &operands, Value &out) {
  // Both choices in the result's dtype first, so that elements can be moved.
  Value choices[2];
  for (size_t k = 0; k < 2; ++k) {
    const Value &from = *operands[k + 1];
    const int64_t width = isa::bytesOf(out.dtype), count = *countElements(from.shape);
    choices[k] = {out.dtype, from.shape, std::vector<std::byte>(size_t(count * width))};
    convertElements(from.dtype, from.bytes.data(), out.dtype, choices[k].bytes.data(), count);
  }
  const Value &condition = *operands[0];
  const Walk<4> walk = elementwiseWalk<4>(node, operands);
  const int64_t conditionWidth = isa::bytesOf(condition.dtype);
  const size_t width = isa::bytesOf(out.dtype);
  float flags[kPiece];
  walk.forEachRow(kPiece, [&](const std::array<int64_t, 4> &at, int64_t n) {
    kilnrt::loadRow(condition.dtype, condition.bytes.data() + at[1] * conditionWidth,
                    walk.step(1) * conditionWidth, size_t(n), flags);
    for (int64_t i = 0; i < n; ++i) {
      const size_t k = flags[i] != 0 ? 0 : 1;
      std::memcpy(out.bytes.data() + size_t(at[0] + i) * width,
                  choices[k].bytes.data() + size_t(at[k + 2] + i * walk.step(k + 2)) * width,
                  width);
    }
  });
}
