//===- Tile.cpp - canonical patterns ----------------------------------------------------------===//

#include "kilnrt/Semantics/Tile.h"

using namespace kilnrt;

void TileShape::canonicalize() {
  unsigned kept = 0;
  for (unsigned i = 0; i < rank; ++i) {
    if (num[i] == 1)
      continue;
    const int64_t n = num[i], s = step[i];
    if (kept > 0 && step[kept - 1] == n * s) {
      num[kept - 1] *= n;
      step[kept - 1] = s;
      continue;
    }
    num[kept] = n;
    step[kept] = s;
    ++kept;
  }
  if (kept == 0) {
    num[0] = 1;
    step[0] = elementBytes();
    kept = 1;
  }
  rank = uint8_t(kept);
  for (unsigned i = rank; i < kMaxTileDims; ++i)
    num[i] = step[i] = 0;
}

TileShape TileShape::asBytes() const {
  TileShape bytes = *this;
  bytes.dtype = DType::UInt8;
  bytes.num[rank] = elementBytes();
  bytes.step[rank] = 1;
  ++bytes.rank;
  bytes.elements *= elementBytes();
  bytes.canonicalize();
  if (bytes.innerStep() != 1) {
    // Single bytes with gaps: the dim of one byte was dropped.
    bytes.num[bytes.rank] = bytes.step[bytes.rank] = 1;
    ++bytes.rank;
  }
  return bytes;
}

TileShape TileShape::packed() const {
  TileShape result;
  result.dtype = dtype;
  result.rows = rows;
  result.elements = elements;
  result.num[0] = elements;
  result.step[0] = elementBytes();
  result.rowStep = elements * elementBytes();
  return result;
}
