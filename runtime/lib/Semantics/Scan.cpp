//===- Scan.cpp - tensor_tensor_scan ----------------------------------------------------------===//
//
// A recurrence cannot be cut along its row, so all rows advance together, one element a step:
// blocks of columns are transposed, and each step is two row operations on as many lanes as there
// are rows.
//
//===------------------------------------------------------------------------------------------===//

#include "FloatStream.h"
#include "kilnrt/Numerics/Alu.h"
#include "kilnrt/Semantics/Elementwise.h"
#include "kilnrt/Semantics/Rows.h"

#include <vector>

using namespace kilnrt;

namespace {

/// Columns of a block: the block of 128 rows fits the first-level cache.
constexpr int64_t kBlockColumns = 32;

/// The rows of an input; blocks of columns come out transposed.
class ColumnReader {
public:
  explicit ColumnReader(const ConstTile &tile) {
    for (uint32_t r = 0; r < tile.rows; ++r)
      rows.emplace_back(rowOf(tile, r));
  }

  /// columns[c * rows + r] = the next element c of row r, for c < n.
  void read(float *columns, int64_t n) {
    float buffer[kBlockColumns];
    for (size_t r = 0; r < rows.size(); ++r) {
      const float *values = rows[r].read(buffer, n);
      for (int64_t c = 0; c < n; ++c)
        columns[size_t(c) * rows.size() + r] = values[c];
    }
  }

private:
  std::vector<FloatReader> rows;
};

/// The other way round.
class ColumnWriter {
public:
  explicit ColumnWriter(const Tile &tile) {
    for (uint32_t r = 0; r < tile.rows; ++r)
      rows.emplace_back(rowOf(tile, r));
  }

  void write(const float *columns, int64_t n) {
    float buffer[kBlockColumns];
    for (size_t r = 0; r < rows.size(); ++r) {
      for (int64_t c = 0; c < n; ++c)
        buffer[c] = columns[size_t(c) * rows.size() + r];
      rows[r].write(buffer, n);
    }
  }

private:
  std::vector<FloatWriter> rows;
};

} // namespace

void kilnrt::tensorTensorScan(AluOp op0, AluOp op1, bool reverse0, bool reverse1,
                              const ConstTile &data0, const ConstTile &data1, const Scalar &initial,
                              const Tile &dst) {
  const size_t rows = dst.rows;
  std::vector<float> start(rows, float(initial.value));
  if (initial.column)
    loadColumn(*initial.column, start.data());
  std::vector<float> first(rows * size_t(kBlockColumns)), second(first.size());
  ColumnReader in0(data0), in1(data1);
  ColumnWriter out(dst);
  for (int64_t done = 0; done < dst.elements; done += kBlockColumns) {
    const int64_t n = std::min(kBlockColumns, dst.elements - done);
    in0.read(first.data(), n);
    in1.read(second.data(), n);
    const float *state = start.data();
    for (int64_t c = 0; c < n; ++c) {
      float *x = first.data() + size_t(c) * rows, *y = second.data() + size_t(c) * rows;
      aluRow(op0, reverse0 ? state : x, reverse0 ? x : state, x, rows);
      aluRow(op1, reverse1 ? y : x, reverse1 ? x : y, y, rows);
      state = y;
    }
    std::copy(state, state + rows, start.begin());
    out.write(second.data(), n);
  }
}
