//===- Generate.cpp - memset and iota ---------------------------------------------------------===//

#include "kilnrt/Semantics/Generate.h"

#include "BitStream.h"
#include "GenerateSupport.h"
#include "kilnrt/Numerics/Convert.h"
#include "kilnrt/Semantics/Rows.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <vector>

using namespace kilnrt;

/// `value` as fp32, its last bit set if anything was lost: a later rounding to a format of at least
/// two bits less then equals one rounding of `value`.
static float toOdd(double value) {
  const float nearest = float(value);
  if (double(nearest) == value || std::isnan(value))
    return nearest;
  if (std::isinf(nearest)) // beyond the largest float; still infinite in every narrower format
    return nearest;
  // Towards zero, then odd.
  uint32_t bits = std::bit_cast<uint32_t>(nearest);
  if (std::fabs(double(nearest)) > std::fabs(value))
    --bits;
  return std::bit_cast<float>(bits | 1);
}

uint32_t kilnrt::encodeValue(DType dtype, double value) {
  std::byte bytes[4] = {};
  if (dtype == DType::Float32)
    storeElement(dtype, canonicalNan(float(value)), bytes);
  else if (!kiln::isa::isFloat(dtype)) {
    // Saturated in double: not every 32-bit integer is a float.
    const kiln::isa::IntegerRange range = kiln::isa::integerRange(dtype);
    const double rounded = std::isnan(value) ? 0 : std::nearbyint(value);
    const int64_t integer = int64_t(std::clamp(rounded, range.low, range.high));
    std::memcpy(bytes, &integer, kiln::isa::bytesOf(dtype));
  } else
    storeElement(dtype, toOdd(value), bytes);
  uint32_t bits;
  std::memcpy(&bits, bytes, sizeof(bits));
  return bits;
}

void kilnrt::memsetTile(double value, const Tile &dst) {
  const uint32_t bits = encodeValue(dst.dtype, value);
  const int64_t width = dst.elementBytes();
  alignas(8) std::byte chunk[kChunkElements * 4];
  const int64_t total = int64_t(dst.rows) * dst.elements;
  for (int64_t i = 0; i < std::min(total, kChunkElements); ++i)
    std::memcpy(chunk + i * width, &bits, size_t(width));
  TileCursor<std::byte> cursor(dst);
  for (int64_t left = total; left > 0;) {
    const int64_t n = std::min({left, cursor.runLeft(), kChunkElements});
    if (cursor.isDense())
      std::memcpy(cursor.address(), chunk, size_t(n * width));
    else
      for (int64_t i = 0; i < n; ++i)
        std::memcpy(cursor.address() + i * cursor.step(), &bits, size_t(width));
    cursor.advance(n);
    left -= n;
  }
}

std::vector<uint32_t> kilnrt::patternValues(std::span<const int32_t> pattern, int64_t count) {
  std::vector<uint32_t> values = {0};
  values.reserve(size_t(count));
  // From the innermost pair on, the sequence so far is repeated with each multiple of the step
  // added.
  for (size_t pair = pattern.size(); pair > 0; pair -= 2) {
    const uint32_t step = uint32_t(pattern[pair - 2]);
    const int32_t num = pattern[pair - 1];
    const size_t length = values.size();
    for (int32_t i = 1; i < num; ++i)
      for (size_t k = 0; k < length; ++k)
        values.push_back(values[k] + uint32_t(i) * step);
  }
  return values;
}

void kilnrt::iotaTile(std::span<const int32_t> pattern, int32_t offset, int32_t rowStep,
                      const Tile &dst) {
  const std::vector<uint32_t> values = patternValues(pattern, dst.elements);
  const int64_t width = dst.elementBytes();
  std::vector<std::byte> row(size_t(dst.elements * width));
  BitWriter writer(dst);
  for (uint32_t p = 0; p < dst.rows; ++p) {
    const uint32_t start = uint32_t(offset) + p * uint32_t(rowStep);
    for (int64_t f = 0; f < dst.elements; ++f) {
      const uint32_t v = start + values[size_t(f)];
      const uint32_t bits = dst.dtype == DType::Int32 ? v : encodeValue(dst.dtype, int32_t(v));
      std::memcpy(row.data() + f * width, &bits, size_t(width));
    }
    writer.write(row.data(), dst.elements);
  }
}
