//===- Matmul.cpp - products of matrices ------------------------------------------------------===//

#include "MatmulKernel.h"
#include "Operations.h"
#include "Strided.h"
#include "kilnrt/Numerics/Convert.h"

#include <algorithm>
#include <cstring>

using namespace kiln;
using namespace kiln::tile;
using isa::DType;

namespace {

/// One matrix of an operand, of `rows` by `columns` elements as the product sees it, and where they
/// lie.
struct Matrix {
  DType dtype;
  const std::byte *base;
  int64_t rows, columns, rowStride, columnStride;

  /// `n` elements of a row or a column from `at`, as floats.
  void read(int64_t at, int64_t stride, int64_t n, float *out) const {
    const int64_t width = isa::bytesOf(dtype);
    kilnrt::loadRow(dtype, base + at * width, stride * width, size_t(n), out);
    if (dtype == DType::TFloat32) // rounded where the array reads it
      for (int64_t i = 0; i < n; ++i)
        out[i] = kilnrt::roundToTf32(out[i]);
  }
};

/// `size` lines (rows of x or columns of y) side by side: out[k][line], lines from `first` on; the
/// lines that do not exist are zeros.
void packPanel(const Matrix &matrix, bool isRows, int64_t first, size_t size,
               std::vector<float> &scratch, float *out) {
  const int64_t lines = isRows ? matrix.rows : matrix.columns;
  const int64_t k = isRows ? matrix.columns : matrix.rows;
  const int64_t lineStride = isRows ? matrix.rowStride : matrix.columnStride;
  const int64_t stepK = isRows ? matrix.columnStride : matrix.rowStride;
  const size_t count = size_t(std::min<int64_t>(int64_t(size), lines - first));
  if (count < size)
    std::fill(out, out + size_t(k) * size, 0.0f);
  if (lineStride == 1 || k < int64_t(count)) {
    for (int64_t i = 0; i < k; ++i)
      matrix.read(first * lineStride + i * stepK, lineStride, int64_t(count),
                  out + size_t(i) * size);
    return;
  }
  scratch.resize(size_t(k));
  for (size_t line = 0; line < count; ++line) {
    matrix.read((first + int64_t(line)) * lineStride, stepK, k, scratch.data());
    for (size_t i = 0; i < size_t(k); ++i)
      out[i * size + line] = scratch[i];
  }
}

/// Writes one row of a panel's results, rounded once to the dtype.
void writeRow(const float *sums, DType dtype, std::byte *to, size_t n) {
  float row[kPanelColumns];
  for (size_t i = 0; i < n; ++i)
    row[i] = kilnrt::canonicalNan(sums[i]);
  kilnrt::storeRow(dtype, row, to, isa::bytesOf(dtype), n);
}
void writeRow(const double *sums, DType dtype, std::byte *to, size_t n) {
  const size_t width = isa::bytesOf(dtype);
  for (size_t i = 0; i < n; ++i) {
    const uint32_t bits = encodeNumber(dtype, sums[i]);
    std::memcpy(to + i * width, &bits, width);
  }
}

/// Multiplies matrices panel by panel; keeps its memory from one product of a batch to the next.
class Multiplier {
public:
  Multiplier(const Node &node, DType x, DType y)
      : order(node.order), isBlocked(isShort(x) && isShort(y)) {}

  void run(const Matrix &x, const Matrix &y, DType dtype, std::byte *out) {
    const size_t k = size_t(x.columns);
    const int64_t m = x.rows, n = y.columns, width = isa::bytesOf(dtype);
    const size_t panels = (size_t(m) + kPanelRows - 1) / kPanelRows;
    left.resize(panels * kPanelRows * k);
    right.resize(kPanelColumns * k);
    for (size_t p = 0; p < panels; ++p)
      packPanel(x, /*isRows=*/true, int64_t(p * kPanelRows), kPanelRows, scratch,
                left.data() + p * kPanelRows * k);
    for (int64_t column = 0; column < n; column += int64_t(kPanelColumns)) {
      packPanel(y, /*isRows=*/false, column, kPanelColumns, scratch, right.data());
      const size_t columns = size_t(std::min<int64_t>(kPanelColumns, n - column));
      for (size_t p = 0; p < panels; ++p) {
        const PanelProduct product{k, left.data() + p * kPanelRows * k, right.data()};
        const size_t row = p * kPanelRows, rows = std::min(kPanelRows, size_t(m) - row);
        std::byte *to = out + (int64_t(row) * n + column) * width;
        if (order.kind == Order::Kind::Any) {
          double sums[kPanelRows * kPanelColumns];
          multiplyInDouble(product, sums);
          for (size_t r = 0; r < rows; ++r)
            writeRow(sums + r * kPanelColumns, dtype, to + int64_t(r) * n * width, columns);
        } else {
          float sums[kPanelRows * kPanelColumns];
          multiplyInChunks(product, size_t(order.chunk), isBlocked, sums);
          for (size_t r = 0; r < rows; ++r)
            writeRow(sums + r * kPanelColumns, dtype, to + int64_t(r) * n * width, columns);
        }
      }
    }
  }

private:
  /// Operands of these dtypes are summed in blocks.
  static bool isShort(DType t) { return t == DType::BFloat16 || isa::bytesOf(t) == 1; }

  Order order;
  bool isBlocked;
  std::vector<float> left, right, scratch;
};

/// The first matrix of an operand.
Matrix matrixOf(const Value &value, bool isTransposed) {
  const size_t rank = value.shape.size();
  const int64_t rows = value.shape[rank - 2], columns = value.shape[rank - 1];
  if (isTransposed)
    return {value.dtype, value.bytes.data(), columns, rows, 1, columns};
  return {value.dtype, value.bytes.data(), rows, columns, columns, 1};
}

/// Strides of the leading dims of an operand as leading dims of the result.
Strides batchStrides(const Value &value, const Shape &batch) {
  const Shape own(value.shape.begin(), value.shape.end() - 2);
  Strides strides = broadcastStrides(own, batch);
  for (int64_t &stride : strides)
    stride *= value.shape[value.shape.size() - 2] * value.shape.back();
  return strides;
}

} // namespace

// y[b, m, n] = sum over k of x0[b, m, k] * x1[b, k, n], in the node's order
void tile::evaluateMatmul(const Node &node, const Operands &operands, Value &out) {
  const Value &x = *operands[0], &y = *operands[1];
  Matrix left = matrixOf(x, node.transposeX), right = matrixOf(y, node.transposeY);
  Shape batch(node.shape.begin(), node.shape.end() - 2);
  Walk<2> walk{batch, {batchStrides(x, batch), batchStrides(y, batch)}, {}};
  walk.collapse();
  Multiplier multiplier(node, x.dtype, y.dtype);
  std::byte *to = out.bytes.data();
  walk.forEachRow(1, [&](const std::array<int64_t, 2> &at, int64_t) {
    left.base = x.bytes.data() + at[0] * isa::bytesOf(x.dtype);
    right.base = y.bytes.data() + at[1] * isa::bytesOf(y.dtype);
    multiplier.run(left, right, out.dtype, to);
    to += left.rows * right.columns * isa::bytesOf(out.dtype);
  });
}
