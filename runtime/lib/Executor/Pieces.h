//===- Pieces.h - parts of a place that no access names ---------------------------------------===//
//
// A piece is a place with a pattern of its own, for writes that are noted and transfers that move
// part by part. Private to the library.
//
//===------------------------------------------------------------------------------------------===//

#ifndef KILNRT_LIB_EXECUTOR_PIECES_H
#define KILNRT_LIB_EXECUTOR_PIECES_H

#include "kilnrt/Machine/Layout.h"

#include <algorithm>

namespace kilnrt {

struct Piece {
  Pattern pattern;
  Place place;
  Piece() = default;
  Piece(const Piece &) = delete; // place points into pattern
};

/// Elements of `place` from flat position `position` to the end of their
/// innermost run.
inline int64_t runLength(const Place &place, int64_t position) {
  return place.shape().innerNum() - position % place.shape().innerNum();
}

/// Makes `piece` the `count` elements of `place` from flat position `position`
/// on; they lie in one run.
inline void cutPiece(const Place &place, int64_t position, int64_t count, Piece &piece) {
  const TileShape &shape = place.shape();
  const int64_t row = position / shape.elements;
  int64_t rest = position % shape.elements;
  int64_t offset = place.onChip ? 0 : row * shape.rowStep;
  for (unsigned i = shape.rank; i > 0; --i) {
    offset += rest % shape.num[i - 1] * shape.step[i - 1];
    rest /= shape.num[i - 1];
  }
  piece.pattern.shape = shape;
  piece.pattern.shape.rank = 1;
  piece.pattern.shape.rows = 1;
  piece.pattern.shape.elements = count;
  piece.pattern.shape.num = {count};
  piece.pattern.shape.step = {shape.innerStep()};
  piece.pattern.runs = piece.pattern.shape.asBytes();

  piece.place = place;
  piece.place.pattern = &piece.pattern;
  piece.place.partition += place.onChip ? uint32_t(row) : 0;
  piece.place.byte += offset;
  const int64_t last = piece.place.byte + (count - 1) * shape.innerStep();
  piece.place.firstByte = std::min(piece.place.byte, last);
  piece.place.endByte = std::max(piece.place.byte, last) + shape.elementBytes();
  piece.place.whole = false;
}

/// Makes `piece` the `count` rows of an on-chip `place` from row `first` on.
inline void cutRows(const Place &place, uint32_t first, uint32_t count, Piece &piece) {
  piece.pattern = *place.pattern;
  piece.pattern.shape.rows = count;
  piece.pattern.runs.rows = count;
  piece.place = rowsFrom(place, first, &piece.pattern);
}

} // namespace kilnrt

#endif // KILNRT_LIB_EXECUTOR_PIECES_H
