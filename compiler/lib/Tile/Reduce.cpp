//===- Reduce.cpp - folds over axes -----------------------------------------------------------===//

#include "Operations.h"
#include "Strided.h"
#include "kilnrt/Numerics/Alu.h"
#include "kilnrt/Numerics/Convert.h"
#include "kilnrt/Numerics/Fold.h"

#include <algorithm>
#include <cmath>
#include <cstring>

using namespace kiln;
using namespace kiln::tile;
using isa::AluOp;

static float combine(AluOp op, float x, float y) {
  switch (op) {
  case AluOp::Add:
    return x + y;
  case AluOp::Multiply:
    return x * y;
  default:
    return kilnrt::applyAlu(op, x, y);
  }
}

/// op(op(x[0], x[1]), x[2]) ..., or op(op(identity, x[0]), x[1]) ...
static float foldLeftToRight(AluOp op, const float *x, int64_t n, bool fromIdentity) {
  float sum = fromIdentity ? combine(op, kilnrt::foldIdentity(op), x[0]) : x[0];
  for (int64_t i = 1; i < n; ++i)
    sum = combine(op, sum, x[i]);
  return kilnrt::canonicalNan(sum);
}

/// Folds of `chunk` elements each, and their results left to right.
static float foldChunks(AluOp op, const float *x, int64_t n, const Order &order) {
  float total = 0;
  for (int64_t first = 0; first < n;) {
    const int64_t count = std::min(order.chunk, n - first);
    const float sum = foldLeftToRight(op, x + first, count, order.fromIdentity);
    total = first == 0 ? sum : kilnrt::canonicalNan(combine(op, total, sum));
    first += count;
  }
  return total;
}

/// In double; the largest and the smallest are exact anyhow.
static double foldInDouble(AluOp op, const float *x, int64_t n) {
  if (op != AluOp::Add && op != AluOp::Multiply)
    return foldLeftToRight(op, x, n, false);
  double sum = x[0];
  for (int64_t i = 1; i < n; ++i)
    sum = op == AluOp::Add ? sum + x[i] : sum * x[i];
  return sum;
}

// y[kept] = round(alu folded over x[kept, reduced]), in row-major order of the reduced dims
void tile::evaluateReduce(const Node &node, const Operands &operands, Value &out) {
  const Value &x = *operands[0];
  // The kept dims outside, the reduced ones inside: one row of elements for each result.
  const Strides own = rowMajor(x.shape);
  Shape kept, reduced;
  Strides keptStride, reducedStride;
  for (size_t i = 0; i < x.shape.size(); ++i) {
    const bool isReduced =
        std::find(node.axes.begin(), node.axes.end(), int64_t(i)) != node.axes.end();
    (isReduced ? reduced : kept).push_back(x.shape[i]);
    (isReduced ? reducedStride : keptStride).push_back(own[i]);
  }
  if (kept.empty()) {
    kept = {1};
    keptStride = {0};
  }
  const int64_t n = *countElements(reduced), width = isa::bytesOf(x.dtype);
  const size_t outWidth = isa::bytesOf(out.dtype);
  std::vector<float> row(static_cast<size_t>(n));
  Walk<1> inner{reduced, {reducedStride}, {}};
  inner.collapse();
  std::byte *to = out.bytes.data();
  const Walk<1> outer{kept, {keptStride}, {}};
  outer.forEachRow(1, [&](const std::array<int64_t, 1> &at, int64_t) {
    float *next = row.data();
    inner.forEachRow(INT64_MAX, [&](const std::array<int64_t, 1> &offset, int64_t count) {
      kilnrt::loadRow(x.dtype, x.bytes.data() + (at[0] + offset[0]) * width, inner.step(0) * width,
                      size_t(count), next);
      next += count;
    });
    if (node.order.kind == Order::Kind::Any) {
      const uint32_t bits = encodeNumber(out.dtype, foldInDouble(node.alu, row.data(), n));
      std::memcpy(to, &bits, outWidth);
    } else {
      const float sum = node.order.kind == Order::Kind::Chunks
                            ? foldChunks(node.alu, row.data(), n, node.order)
                            : foldLeftToRight(node.alu, row.data(), n, node.order.fromIdentity);
      kilnrt::storeElement(out.dtype, sum, to);
    }
    to += outWidth;
  });
}
