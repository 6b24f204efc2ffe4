//===- Layout.h - where tensors and their accesses lie ----------------------------------------===//
//
// Decided once for a program: which block of memory holds each tensor, and, for
// each access, the block, the first byte and the pattern in bytes. A block is
// SBUF, PSUM, one HBM tensor, or, in a program that is not placed, one on-chip
// tensor. Nothing here holds data.
//
//===------------------------------------------------------------------------------------------===//

#ifndef KILNRT_MACHINE_LAYOUT_H
#define KILNRT_MACHINE_LAYOUT_H

#include "kilnrt/Program.h"
#include "kilnrt/Semantics/Tile.h"

#include <optional>
#include <set>

namespace kilnrt {

/// A piece of memory that is allocated at once.
struct BlockInfo {
  isa::Memory memory = isa::Memory::Hbm;
  uint32_t partitions = 1;
  int64_t bytes = 0;       ///< of one partition, without padding
  int64_t stride = 0;      ///< bytes from partition to partition
  uint32_t tensor = kNone; ///< the only tensor in it; kNone for SBUF and PSUM,
                           ///< which tensors share
  int64_t allocationBytes() const { return int64_t(partitions) * stride; }
};

/// The bytes of a tensor: a rectangle of its block.
struct TensorPlace {
  uint32_t block = 0;
  uint32_t partition = 0, partitions = 1;
  int64_t byte = 0;  ///< in each partition of the block
  int64_t bytes = 0; ///< of one partition
};

/// A pattern, and the same bytes as runs: elements of one byte, innermost
/// step 1. An HBM pattern has its rows folded into the runs; on chip the runs
/// are those of every partition.
struct Pattern {
  TileShape shape, runs;
  auto operator<=>(const Pattern &) const = default;
};

/// A decoded access.
struct Place {
  uint32_t tensor = kNone; ///< kNone: the operand is absent
  uint32_t block = 0;
  uint32_t partition = 0; ///< first partition in the block
  bool onChip = false;
  bool whole = false;                 ///< touches every byte of the tensor
  bool injective = true;              ///< no element is touched twice
  int64_t byte = 0;                   ///< of the first element, in its partition
  int64_t firstByte = 0, endByte = 0; ///< bytes touched lie in [firstByte,
                                      ///< endByte) of each partition
  const Pattern *pattern = nullptr;

  bool present() const { return tensor != kNone; }
  const TileShape &shape() const { return pattern->shape; }
  /// Partitions touched in the block.
  uint32_t partitions() const { return onChip ? pattern->shape.rows : 1; }
};

/// True when some byte may be touched by both (bounding boxes meet).
bool mayOverlap(const Place &a, const Place &b);
/// True when two tensors of one block share a byte.
inline bool mayOverlap(const TensorPlace &a, const TensorPlace &b) {
  return a.partition < b.partition + b.partitions && b.partition < a.partition + a.partitions &&
         a.byte < b.byte + b.bytes && b.byte < a.byte + a.bytes;
}
/// True when both are the same elements in the same order.
bool sameElements(const Place &a, const Place &b);
/// Rows of `place` from `first` on; `rows` is their pattern
/// (Layout::patternOfRows).
Place rowsFrom(const Place &place, uint32_t first, const Pattern *rows);
/// Columns of `place` from `first` on; `columns` is their pattern (Layout::patternOfColumns).
Place columnsFrom(const Place &place, int64_t first, const Pattern *columns);

/// `place`, `bytes` further on in its partitions or its tensor.
inline Place shifted(const Place &place, int64_t bytes) {
  Place moved = place;
  moved.byte += bytes;
  moved.firstByte += bytes;
  moved.endByte += bytes;
  // A place that is all of a tensor has nowhere to go; see Layout::place.
  moved.whole = place.whole && bytes == 0;
  return moved;
}

class Layout {
public:
  explicit Layout(const Program &program);
  Layout(Layout &&) = default;
  Layout(const Layout &) = delete;

  /// Decodes an access of a verified program. The result points into this
  /// layout.
  Place place(const isa::Access &access);
  /// The elements of an HBM place in the same order, cut into `rows` rows;
  /// nothing if no pattern does that.
  std::optional<Place> reshapeRows(const Place &place, uint32_t rows);
  /// The pattern of `count` rows of `place`.
  const Pattern *patternOfRows(const Place &place, uint32_t count);
  /// The pattern of `count` neighbours of every `columns` elements of a row: of as many columns of
  /// each block, where a row is blocks of `columns`. Precondition: the elements of a block lie at
  /// one step.
  const Pattern *patternOfColumns(const Place &place, int64_t columns, int64_t count);

  const std::vector<BlockInfo> &blocks() const { return blockInfos; }
  const std::vector<TensorPlace> &tensors() const { return places; }

private:
  uint32_t addBlock(BlockInfo block);
  const Pattern *intern(const TileShape &shape, bool onChip);

  std::vector<BlockInfo> blockInfos;
  std::vector<TensorPlace> places;
  std::set<Pattern> patterns; // node addresses are stable
};

} // namespace kilnrt

#endif // KILNRT_MACHINE_LAYOUT_H
