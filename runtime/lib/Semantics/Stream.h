//===- Stream.h - the elements of a tile as one sequence --------------------------------------===//
//
// A cursor walks a tile row by row, each row in the order of its free pattern, and gives out chunks
// of addresses. Row kernels then see long arrays whatever the pattern: many short rows become one
// chunk, and a column of one element a partition becomes a single strided run. Private to the
// library.
//
//===------------------------------------------------------------------------------------------===//

#ifndef KILNRT_LIB_SEMANTICS_STREAM_H
#define KILNRT_LIB_SEMANTICS_STREAM_H

#include "kilnrt/Semantics/Tile.h"

#include <algorithm>

namespace kilnrt {

/// Elements of a chunk: a few buffers of it stay in the first-level cache.
inline constexpr int64_t kChunkElements = 2048;
/// Rows at least this long are taken one by one, shorter ones together.
inline constexpr int64_t kWideRowElements = 64;

/// A window of one row.
template <typename Byte>
BasicTile<Byte> rowOf(const BasicTile<Byte> &tile, uint32_t r) {
  BasicTile<Byte> row = tile;
  row.rows = 1;
  row.base = tile.row(r);
  return row;
}

template <typename Byte>
class TileCursor {
public:
  explicit TileCursor(const BasicTile<Byte> &source)
      : tile(source.elements == 1 && source.rows > 1 ? columnAsRow(source) : source),
        run(tile.base), rowStart(tile.base) {}

  /// Elements to the end of the current run.
  int64_t runLeft() const { return tile.innerNum() - inRun; }
  /// The next element; `step()` bytes from it to its successor in the run.
  Byte *address() const { return run + inRun * tile.innerStep(); }
  int64_t step() const { return tile.innerStep(); }
  bool isDense() const { return tile.innerStep() == tile.elementBytes(); }
  DType dtype() const { return tile.dtype; }

  /// Moves past `count` elements of the current run.
  void advance(int64_t count) {
    inRun += count;
    if (inRun == tile.innerNum())
      nextRun();
  }
  /// Calls `fn(address, step, count, position)` for the runs that make up the next `count`
  /// elements.
  template <typename Fn>
  void take(int64_t count, const Fn &fn) {
    for (int64_t position = 0; position < count;) {
      const int64_t n = std::min(count - position, runLeft());
      fn(address(), step(), n, position);
      advance(n);
      position += n;
    }
  }

private:
  void nextRun() {
    inRun = 0;
    for (unsigned d = tile.rank - 1; d > 0; --d) {
      run += tile.step[d - 1];
      if (++index[d - 1] < tile.num[d - 1])
        return;
      run -= tile.step[d - 1] * tile.num[d - 1];
      index[d - 1] = 0;
    }
    rowStart += tile.rowStep;
    run = rowStart;
  }

  BasicTile<Byte> tile;
  Byte *run;
  Byte *rowStart;
  int64_t inRun = 0;
  std::array<int64_t, kMaxTileDims> index{};
};

/// Elements of the next chunk of a tile of `rows` x `elements` when `done` are behind: within one
/// row if rows are wide, over several if they are short.
inline int64_t chunkLength(uint32_t rows, int64_t elements, int64_t done) {
  const int64_t left =
      elements >= kWideRowElements ? elements - done % elements : int64_t(rows) * elements - done;
  return std::min(left, kChunkElements);
}

} // namespace kilnrt

#endif // KILNRT_LIB_SEMANTICS_STREAM_H
