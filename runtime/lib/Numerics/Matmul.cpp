//===- Matmul.cpp - packing, panels, and the scalar definition of the sum ---------------------===//
//
// The moving operand is packed one panel at a time, just before it is used, so that it stays in the
// first cache whatever the partition stride.
//
//===------------------------------------------------------------------------------------------===//

#include "kilnrt/Numerics/Matmul.h"

#include "MatmulKernel.h"
#include "kilnrt/Numerics/Convert.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstring>

using kiln::isa::DType;

namespace kilnrt {
namespace {

/// loadRow as the array reads: tf32 elements are rounded to their 10 mantissa bits.
void readElements(DType type, const std::byte *src, int64_t strideBytes, size_t n, float *out) {
  loadRow(type, src, strideBytes, n, out);
  if (type == DType::TFloat32)
    for (size_t i = 0; i < n; ++i)
      out[i] = roundToTf32(out[i]);
}

/// Columns [first, first + count) of every row, fewer than a panel or not dense; the rest zeros.
void packPartialPanel(const OperandRows &rows, size_t k, size_t first, size_t count, float *panel) {
  for (size_t row = 0; row < k; ++row) {
    float *to = panel + row * kMovingPanelColumns;
    readElements(rows.type,
                 rows.base + int64_t(row) * rows.rowStrideBytes +
                     int64_t(first) * rows.elementStrideBytes,
                 rows.elementStrideBytes, count, to);
    std::fill(to + count, to + kMovingPanelColumns, 0.0f);
  }
}

void packMovingPanel(const OperandRows &rows, size_t k, size_t first, size_t count, float *panel) {
  const bool dense = rows.elementStrideBytes == int64_t(kiln::isa::bytesOf(rows.type));
  if (dense && count == kMovingPanelColumns)
    packFullPanel(rows.type, rows.base + int64_t(first) * rows.elementStrideBytes,
                  rows.rowStrideBytes, k, panel);
  else
    packPartialPanel(rows, k, first, count, panel);
}

/// Element [row][column] of a dense matrix of `columns` columns, or 0 beyond the last row.
float elementOrZero(const float *matrix, size_t rows, size_t columns, size_t row, size_t column) {
  return row < rows ? matrix[row * columns + column] : 0.0f;
}

} // namespace

SumOrder sumOrder(DType stationary, DType moving) {
  const auto isShort = [](DType type) {
    return type == DType::BFloat16 || kiln::isa::bytesOf(type) == 1;
  };
  return isShort(stationary) && isShort(moving) ? SumOrder::Blocked : SumOrder::Sequential;
}

void StationaryTile::begin(size_t contraction, size_t columns) {
  k = contraction;
  m = columns;
  const size_t panelCount = (m + kPanelColumns - 1) / kPanelColumns;
  const size_t needed = panelCount * kPanelColumns * k;
  if (needed > capacity) {
    data = std::make_unique<float[]>(needed);
    capacity = needed;
  }
  // The last panel may have columns no row sets.
  if (m % kPanelColumns != 0)
    std::fill_n(data.get() + (panelCount - 1) * kPanelColumns * k, kPanelColumns * k, 0.0f);
}

void StationaryTile::setRow(size_t row, const float *values) {
  float *to = data.get() + row * kPanelColumns;
  size_t column = 0;
  // Copies of a fixed size become two moves each.
  for (; column + kPanelColumns <= m; column += kPanelColumns)
    std::memcpy(to + column * k, values + column, kPanelColumns * sizeof(float));
  if (column < m)
    std::memcpy(to + column * k, values + column, (m - column) * sizeof(float));
}

void StationaryTile::pack(const OperandRows &rows, size_t contraction, size_t columns) {
  begin(contraction, columns);
  rowValues.resize(columns);
  const bool denseFloats = rows.type == DType::Float32 && rows.elementStrideBytes == sizeof(float);
  for (size_t row = 0; row < contraction; ++row) {
    const std::byte *src = rows.base + int64_t(row) * rows.rowStrideBytes;
    if (denseFloats) {
      setRow(row, reinterpret_cast<const float *>(src));
      continue;
    }
    readElements(rows.type, src, rows.elementStrideBytes, columns, rowValues.data());
    setRow(row, rowValues.data());
  }
}

void matmulTile(SumOrder order, const StationaryTile &stationary, const OperandRows &moving,
                size_t n, std::byte *out, int64_t outRowStrideBytes, MatmulWrite write) {
  constexpr size_t usualPanel =
      kMovingPanelColumns * size_t(kiln::isa::machine.matmulMaxContraction);
  const size_t k = stationary.contraction();
  alignas(64) float stackPanel[usualPanel];
  std::vector<float> largePanel;
  float *panel = stackPanel;
  if (k * kMovingPanelColumns > usualPanel) {
    largePanel.resize(k * kMovingPanelColumns + 16);
    const auto address = reinterpret_cast<uintptr_t>(largePanel.data());
    panel = largePanel.data() + (64 - address % 64) % 64 / sizeof(float);
  }
  for (size_t column = 0; column < n; column += kMovingPanelColumns) {
    const size_t count = std::min(kMovingPanelColumns, n - column);
    packMovingPanel(moving, k, column, count, panel);
    multiplyPanel({order, write, k, stationary.columns(), count, stationary.panels(), panel,
                   out + column * sizeof(float), outRowStrideBytes});
  }
}

void matmulReference(SumOrder order, size_t k, size_t m, size_t n, const float *stationary,
                     const float *moving, float *out, MatmulWrite write) {
  const size_t block = size_t(kiln::isa::machine.matmulSumBlock);
  for (size_t row = 0; row < m; ++row) {
    for (size_t column = 0; column < n; ++column) {
      const auto step = [&](size_t i, float acc) {
        return std::fma(elementOrZero(stationary, k, m, i, row),
                        elementOrZero(moving, k, n, i, column), acc);
      };
      float sum = 0.0f;
      if (order == SumOrder::Sequential) {
        for (size_t i = 0; i < k; ++i)
          sum = step(i, sum);
      } else {
        for (size_t first = 0; first < k; first += block) {
          float even = 0.0f, odd = 0.0f;
          for (size_t i = first; i < first + block; i += 2) {
            even = step(i, even);
            odd = step(i + 1, odd);
          }
          sum = sum + (even + odd);
        }
      }
      float &target = out[row * n + column];
      target = canonicalNan(write == MatmulWrite::Add ? target + sum : sum);
    }
  }
}

} // namespace kilnrt
