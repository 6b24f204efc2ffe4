//===- Tile.h - the operand of a semantic function --------------------------------------------===//
//
// A tile is a window on bytes: rows (partitions, or rows of an HBM access) and
// a free pattern that is the same in every row. It owns nothing and knows no
// memory. The flattened sequence of a row is row-major over the pattern,
// outermost step first.
//
//===------------------------------------------------------------------------------------------===//

#ifndef KILNRT_SEMANTICS_TILE_H
#define KILNRT_SEMANTICS_TILE_H

#include "kiln/ISA/Instruction.h"

#include <array>
#include <cstddef>
#include <cstdint>

namespace kilnrt {

using kiln::isa::DType;

/// An access pattern has fewer: a tile may fold rows into its free dims, cut
/// new rows, and end in bytes.
inline constexpr unsigned kMaxTileDims = kiln::isa::kMaxFreeDims + 3;

/// Where the elements of a tile lie, relative to its first one. Steps are in
/// bytes. In canonical form
/// (`canonicalize`) rank is at least 1, adjacent dims do not merge, and no num
/// is 1 unless it is the only.
struct TileShape {
  DType dtype = DType::Float32;
  uint8_t rank = 1;
  uint32_t rows = 1;
  int64_t rowStep = 0;
  int64_t elements = 1; ///< of one row
  std::array<int64_t, kMaxTileDims> step{};
  std::array<int64_t, kMaxTileDims> num{};

  auto operator<=>(const TileShape &) const = default;
  /// A row is one run of bytes. Precondition: canonical form.
  bool isContiguous() const { return rank == 1 && step[0] == elementBytes(); }
  int64_t elementBytes() const { return kiln::isa::bytesOf(dtype); }
  int64_t innerStep() const { return step[rank - 1]; }
  int64_t innerNum() const { return num[rank - 1]; }
  /// Drops dims of one element and merges adjacent ones: the same elements in
  /// the same order.
  void canonicalize();
  /// The same bytes as elements of one byte; the innermost dim has step 1.
  TileShape asBytes() const;
  /// The same rows and elements without gaps.
  TileShape packed() const;
  int64_t packedBytes() const { return int64_t(rows) * elements * elementBytes(); }
};

/// A shape with the address of its first element.
template <typename Byte>
struct BasicTile : TileShape {
  Byte *base = nullptr;

  BasicTile() = default;
  BasicTile(const TileShape &shape, Byte *base) : TileShape(shape), base(base) {}
  /// A writable tile is readable.
  operator BasicTile<const std::byte>() const { return {*this, base}; }

  Byte *row(uint32_t r) const { return base + int64_t(r) * rowStep; }
};

using Tile = BasicTile<std::byte>;
using ConstTile = BasicTile<const std::byte>;

/// A scalar operand: one value for all rows, or one for each.
struct Scalar {
  double value = 0;
  const ConstTile *column = nullptr; ///< [P, 1]; replaces `value`
};

/// A tile of one element a row as one row with an element for each row of
/// `tile`.
template <typename Byte>
BasicTile<Byte> columnAsRow(const BasicTile<Byte> &tile) {
  BasicTile<Byte> row = tile;
  row.rank = 1;
  row.rows = 1;
  row.elements = tile.rows;
  row.step[0] = tile.rows == 1 ? tile.elementBytes() : tile.rowStep;
  row.num[0] = tile.rows;
  row.rowStep = 0;
  return row;
}

/// Calls `fn(address, elements, stepBytes)` for each innermost run of one row,
/// in order. `row` is the address of the row's first element: a pointer or a
/// byte offset.
template <typename Address, typename Fn>
void forEachRun(const TileShape &shape, Address row, const Fn &fn) {
  if (shape.rank == 1) {
    fn(row, shape.num[0], shape.step[0]);
    return;
  }
  const unsigned outer = shape.rank - 1;
  std::array<int64_t, kMaxTileDims> index{};
  for (Address run = row;;) {
    fn(run, shape.innerNum(), shape.innerStep());
    unsigned d = outer;
    while (d > 0) {
      --d;
      run += shape.step[d];
      if (++index[d] < shape.num[d])
        break;
      run -= shape.step[d] * shape.num[d];
      index[d] = 0;
      if (d == 0)
        return;
    }
  }
}

} // namespace kilnrt

#endif // KILNRT_SEMANTICS_TILE_H
