//===- FloatStream.h - the elements of a tile as fp32 ---------------------===//
//
// Readers and writers over a TileCursor. Elements that already lie as consecutive fp32 are handed
// out where they are; everything else goes through a buffer and the conversions of Numerics.
// Private to the library.
//
//===----------------------------------------------------------------------===//

#ifndef KILNRT_LIB_SEMANTICS_FLOATSTREAM_H
#define KILNRT_LIB_SEMANTICS_FLOATSTREAM_H

#include "Stream.h"
#include "kilnrt/Numerics/Convert.h"

namespace kilnrt {

/// values[p] = column[p, 0].
inline void loadColumn(const ConstTile &column, float *values) {
  loadRow(column.dtype, column.base, column.rowStep, column.rows, values);
}

class FloatReader {
public:
  explicit FloatReader(const ConstTile &tile) : cursor(tile) {}

  /// The next `n` elements: in place, or in `buffer`, which holds as many.
  const float *read(float *buffer, int64_t n) {
    if (cursor.dtype() == DType::Float32 && cursor.isDense() && cursor.runLeft() >= n) {
      auto *values = reinterpret_cast<const float *>(cursor.address());
      cursor.advance(n);
      return values;
    }
    cursor.take(n, [&](const std::byte *address, int64_t step, int64_t count, int64_t position) {
      loadRow(cursor.dtype(), address, step, size_t(count), buffer + position);
    });
    return buffer;
  }

private:
  TileCursor<const std::byte> cursor;
};

class FloatWriter {
public:
  explicit FloatWriter(const Tile &tile) : cursor(tile) {}

  /// Where the next `n` elements may be computed: in place, or in `buffer`.
  float *target(float *buffer, int64_t n) const {
    return isDirect(n) ? reinterpret_cast<float *>(cursor.address()) : buffer;
  }
  /// The next `n` elements become `values`, which may be their target.
  void write(const float *values, int64_t n) {
    if (isDirect(n) && reinterpret_cast<const std::byte *>(values) == cursor.address()) {
      cursor.advance(n);
      return;
    }
    cursor.take(n, [&](std::byte *address, int64_t step, int64_t count, int64_t position) {
      storeRow(cursor.dtype(), values + position, address, step, size_t(count));
    });
  }

private:
  bool isDirect(int64_t n) const {
    return cursor.dtype() == DType::Float32 && cursor.isDense() && cursor.runLeft() >= n;
  }

  TileCursor<std::byte> cursor;
};

} // namespace kilnrt

#endif // KILNRT_LIB_SEMANTICS_FLOATSTREAM_H
