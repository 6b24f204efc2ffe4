//===- BitStream.h - the elements of a tile as raw integers -----------------------------------===//
//
// As FloatStream.h, without conversion: chunks of consecutive elements of the tile's own width.
//
//===------------------------------------------------------------------------------------------===//

#ifndef KILNRT_LIB_SEMANTICS_BITSTREAM_H
#define KILNRT_LIB_SEMANTICS_BITSTREAM_H

#include "Stream.h"

#include <cstring>

namespace kilnrt {

/// The bits of the integer at `address`, zero-extended.
inline uint32_t loadInteger(DType dtype, const std::byte *address) {
  uint32_t bits = 0; // little-endian hosts only, as program files are
  std::memcpy(&bits, address, kiln::isa::bytesOf(dtype));
  return bits;
}

class BitReader {
public:
  explicit BitReader(const ConstTile &tile) : cursor(tile), width(tile.elementBytes()) {}

  /// The next `n` elements: in place, or in `buffer`.
  const std::byte *read(std::byte *buffer, int64_t n) {
    if (cursor.isDense() && cursor.runLeft() >= n) {
      const std::byte *values = cursor.address();
      cursor.advance(n);
      return values;
    }
    cursor.take(n, [&](const std::byte *address, int64_t step, int64_t count, int64_t position) {
      for (int64_t i = 0; i < count; ++i)
        std::memcpy(buffer + (position + i) * width, address + i * step, size_t(width));
    });
    return buffer;
  }

private:
  TileCursor<const std::byte> cursor;
  int64_t width;
};

class BitWriter {
public:
  explicit BitWriter(const Tile &tile) : cursor(tile), width(tile.elementBytes()) {}

  std::byte *target(std::byte *buffer, int64_t n) const {
    return cursor.isDense() && cursor.runLeft() >= n ? cursor.address() : buffer;
  }
  void write(const std::byte *values, int64_t n) {
    if (values == cursor.address()) {
      cursor.advance(n); // its target
      return;
    }
    cursor.take(n, [&](std::byte *address, int64_t step, int64_t count, int64_t position) {
      for (int64_t i = 0; i < count; ++i)
        std::memcpy(address + i * step, values + (position + i) * width, size_t(width));
    });
  }

private:
  TileCursor<std::byte> cursor;
  int64_t width;
};

} // namespace kilnrt

#endif // KILNRT_LIB_SEMANTICS_BITSTREAM_H
