//===- RowBlocks.h - rows side by side, written and folded
//----------------------------------------===//
//
// A strict left-to-right fold is fast only when many rows are folded side by side, and must see
// values before they are narrowed: rows are computed into a block, folded there, then written.
// Private to the library.
//
//===------------------------------------------------------------------------------------------===//

#ifndef KILNRT_LIB_SEMANTICS_ROWBLOCKS_H
#define KILNRT_LIB_SEMANTICS_ROWBLOCKS_H

#include "FloatStream.h"
#include "kilnrt/Numerics/Fold.h"

#include <vector>

namespace kilnrt {

/// The rows of an input, each at its own position.
class RowReaders {
public:
  explicit RowReaders(const ConstTile &tile) {
    rows.reserve(tile.rows);
    for (uint32_t r = 0; r < tile.rows; ++r)
      rows.emplace_back(rowOf(tile, r));
  }
  /// The next `n` elements of row `r`: in place, or in `buffer`.
  const float *read(uint32_t r, float *buffer, int64_t n) { return rows[r].read(buffer, n); }

private:
  std::vector<FloatReader> rows;
};

/// Rows folded side by side, and the columns of their block.
inline constexpr uint32_t kBlockRows = 16;
inline constexpr int64_t kBlockColumns = 512;

/// Computes, folds and writes dst block by block: `compute(row, first, y, n)` fills y with elements
/// first to first + n - 1 of a row, in order. With `registers` the row's one is folded with them by
/// `op`.
template <typename Compute>
void writeRowBlocks(const Tile &dst, kiln::isa::AluOp op, float *registers,
                    const Compute &compute) {
  std::vector<float> block(size_t(kBlockRows) * kBlockColumns);
  for (uint32_t r0 = 0; r0 < dst.rows; r0 += kBlockRows) {
    const uint32_t rows = std::min(kBlockRows, dst.rows - r0);
    std::vector<FloatWriter> writers;
    writers.reserve(rows);
    for (uint32_t r = 0; r < rows; ++r)
      writers.emplace_back(rowOf(dst, r0 + r));
    for (int64_t done = 0; done < dst.elements; done += kBlockColumns) {
      const int64_t n = std::min(kBlockColumns, dst.elements - done);
      for (uint32_t r = 0; r < rows; ++r)
        compute(r0 + r, done, block.data() + r * kBlockColumns, n);
      if (registers)
        foldRows(op, block.data(), kBlockColumns, rows, size_t(n), registers + r0);
      for (uint32_t r = 0; r < rows; ++r)
        writers[r].write(block.data() + r * kBlockColumns, n);
    }
  }
}

} // namespace kilnrt

#endif // KILNRT_LIB_SEMANTICS_ROWBLOCKS_H
