//===- Numbers.cpp - numbers of a graph in their dtype ----------------------------------------===//

#include "kiln/Tile/Numbers.h"

#include "kilnrt/Numerics/Convert.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

using namespace kiln;
using isa::DType;

/// The fp32 next to `value` towards zero with its last bit set if anything was lost: rounding that
/// to a narrower format equals rounding `value` itself.
static float roundToOdd(double value) {
  const float nearest = float(value);
  if (double(nearest) == value || std::isnan(value) || std::isinf(nearest))
    return nearest;
  const uint32_t bits = std::bit_cast<uint32_t>(nearest);
  const bool isTooLarge = std::fabs(double(nearest)) > std::fabs(value);
  return std::bit_cast<float>((isTooLarge ? bits - 1 : bits) | 1);
}

/// An integer dtype's value; not through fp32, which does not hold every 32-bit integer.
static double wholeNumber(DType dtype, double number) {
  const isa::IntegerRange range = isa::integerRange(dtype);
  return std::isnan(number) ? 0 : std::clamp(std::nearbyint(number), range.low, range.high);
}

uint32_t tile::encodeNumber(DType dtype, double number) {
  std::byte bytes[sizeof(uint32_t)] = {};
  if (!isa::isFloat(dtype)) {
    const int64_t integer = int64_t(wholeNumber(dtype, number));
    std::memcpy(bytes, &integer, isa::bytesOf(dtype));
  } else {
    const float rounded = dtype == DType::Float32 ? float(number) : roundToOdd(number);
    kilnrt::storeElement(dtype, kilnrt::canonicalNan(rounded), bytes);
  }
  uint32_t bits;
  std::memcpy(&bits, bytes, sizeof(bits));
  return bits;
}

double tile::numberIn(DType dtype, double number) {
  if (!isa::isFloat(dtype))
    return wholeNumber(dtype, number);
  const uint32_t bits = encodeNumber(dtype, number);
  std::byte bytes[sizeof(bits)];
  std::memcpy(bytes, &bits, sizeof(bits));
  return double(kilnrt::loadElement(dtype, bytes));
}
