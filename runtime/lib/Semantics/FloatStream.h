//===- FloatStream.h - the elements of a tile as fp32 -----------------------------------------===//
//
// Readers and writers over a TileCursor. Elements that already lie as consecutive fp32 are handed
// out where they are; everything else goes through a buffer and the conversions of Numerics.
// Private to the library.
//
//===------------------------------------------------------------------------------------------===//

#ifndef KILNRT_LIB_SEMANTICS_FLOATSTREAM_H
#define KILNRT_LIB_SEMANTICS_FLOATSTREAM_H

#include "Stream.h"
#include "kilnrt/Numerics/Convert.h"

#include <cstring>

namespace kilnrt {

/// `n` elements of `dtype` as fp32. fp32 itself is copied here: runs are often
/// too short to pay for a call.
inline void loadRun(DType dtype, const std::byte *address, int64_t step, int64_t n, float *out) {
  if (dtype != DType::Float32) {
    loadRow(dtype, address, step, size_t(n), out);
  } else if (step == int64_t(sizeof(float))) {
    std::memcpy(out, address, size_t(n) * sizeof(float));
  } else {
    for (int64_t i = 0; i < n; ++i)
      std::memcpy(out + i, address + i * step, sizeof(float));
  }
}

/// The other way round.
inline void storeRun(DType dtype, const float *in, std::byte *address, int64_t step, int64_t n) {
  if (dtype != DType::Float32) {
    storeRow(dtype, in, address, step, size_t(n));
  } else if (step == int64_t(sizeof(float))) {
    std::memmove(address, in, size_t(n) * sizeof(float));
  } else {
    for (int64_t i = 0; i < n; ++i)
      std::memcpy(address + i * step, in + i, sizeof(float));
  }
}

/// values[p] = column[p, 0].
inline void loadColumn(const ConstTile &column, float *values) {
  loadRun(column.dtype, column.base, column.rowStep, column.rows, values);
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
      loadRun(cursor.dtype(), address, step, count, buffer + position);
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
      storeRun(cursor.dtype(), values + position, address, step, count);
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
