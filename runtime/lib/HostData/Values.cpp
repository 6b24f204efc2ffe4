//===- Values.cpp - single values of device dtypes as float64 and back ------------------------===//
//
// See Values.h. Rounding to 16 bits is done on integers.
//
//===------------------------------------------------------------------------------------------===//

#include "Values.h"

#include <bit>
#include <limits>

namespace kilnrt::detail {
namespace {

static_assert(std::endian::native == std::endian::little,
              "arrays and .npy files are little-endian");

constexpr int kDoubleMantissa = 52;
constexpr int kDoubleBias = 1023;

/// A 16-bit float format with its sign in the top bit.
template <int Mantissa, int Exponent>
struct Format {
  static constexpr int bias = (1 << (Exponent - 1)) - 1;
  static constexpr uint16_t infinity = ((1 << Exponent) - 1) << Mantissa;

  static uint16_t round(double value) {
    const uint64_t bits = std::bit_cast<uint64_t>(value);
    const auto sign = static_cast<uint16_t>(bits >> 63 << 15);
    const uint64_t fraction = bits & ((uint64_t{1} << kDoubleMantissa) - 1);
    const int exponent = static_cast<int>(bits >> kDoubleMantissa & 0x7ff);
    int shift = kDoubleMantissa - Mantissa;
    if (exponent == 0x7ff) {
      if (fraction == 0)
        return sign | infinity;
      const uint16_t quiet = 1 << (Mantissa - 1);
      return sign | infinity | quiet | static_cast<uint16_t>(fraction >> shift);
    }
    int target = exponent - kDoubleBias + bias; // exponent field of the result, before rounding
    if (target > 2 * bias)
      return sign | infinity;
    if (target <= 0) { // subnormal: the exponent field stays 0 and bits move
                       // out to the right
      shift += 1 - target;
      target = 1;
      if (shift > kDoubleMantissa + 1) // below half of the smallest value;
                                       // double's own subnormals too
        return sign;
    }
    const uint64_t significand = fraction | uint64_t{1} << kDoubleMantissa;
    const uint64_t half = uint64_t{1} << (shift - 1), rest = significand & (2 * half - 1);
    uint64_t result = significand >> shift;
    if (rest > half || (rest == half && (result & 1)))
      ++result;
    // The implicit bit adds 1 to the exponent field; a carry out of the
    // fraction adds another, up to Inf.
    return sign | static_cast<uint16_t>((static_cast<uint64_t>(target - 1) << Mantissa) + result);
  }

  static double widen(uint16_t half) {
    const uint64_t sign = static_cast<uint64_t>(half >> 15) << 63;
    const uint64_t fraction = half & ((1 << Mantissa) - 1);
    const int exponent = (half & 0x7fff) >> Mantissa;
    if (exponent == 0) { // zero or subnormal: an integer multiple of the
                         // smallest value, exact
      const double unit = std::bit_cast<double>(
          static_cast<uint64_t>(1 - bias - Mantissa + kDoubleBias) << kDoubleMantissa);
      return std::bit_cast<double>(std::bit_cast<uint64_t>(fraction * unit) | sign);
    }
    const bool special = (half & 0x7fff) >= infinity;
    const uint64_t field = special ? 0x7ff : exponent - bias + kDoubleBias;
    return std::bit_cast<double>(sign | field << kDoubleMantissa |
                                 fraction << (kDoubleMantissa - Mantissa));
  }
};
using BFloat16Format = Format<7, 8>;
using Float16Format = Format<10, 5>;

/// Nearest integer, ties to even, of a value well inside the range of int64.
int64_t roundToInteger(double value) {
  auto whole = static_cast<int64_t>(value); // towards 0
  const double rest = value - static_cast<double>(whole);
  if (rest > 0.5 || (rest == 0.5 && (whole & 1)))
    return whole + 1;
  if (rest < -0.5 || (rest == -0.5 && (whole & 1)))
    return whole - 1;
  return whole;
}

template <typename T>
T saturate(double value) {
  if (value != value)
    return 0;
  if (value <= std::numeric_limits<T>::min())
    return std::numeric_limits<T>::min();
  if (value >= std::numeric_limits<T>::max())
    return std::numeric_limits<T>::max();
  return static_cast<T>(roundToInteger(value));
}

template <typename T, typename Convert>
void widenAll(const std::byte *source, std::span<double> out, Convert convert) {
  for (size_t i = 0; i < out.size(); ++i)
    out[i] = convert(loadAs<T>(source + i * sizeof(T)));
}

template <typename Convert>
void narrowAll(std::span<const double> values, std::byte *target, Convert convert) {
  for (size_t i = 0; i < values.size(); ++i) {
    auto narrowed = convert(values[i]);
    storeAs(target + i * sizeof(narrowed), narrowed);
  }
}

} // namespace

uint16_t toBFloat16(double value) { return BFloat16Format::round(value); }
uint16_t toFloat16(double value) { return Float16Format::round(value); }
double fromBFloat16(uint16_t bits) { return BFloat16Format::widen(bits); }
double fromFloat16(uint16_t bits) { return Float16Format::widen(bits); }

ValueRange rangeOf(DType dtype) {
  switch (dtype) {
  case DType::Float32:
    return {-std::numeric_limits<float>::max(), std::numeric_limits<float>::max()};
  case DType::BFloat16:
    return {-0x1.fep127, 0x1.fep127};
  case DType::Float16:
    return {-65504, 65504};
  default:
    break;
  }
  const kiln::isa::IntegerRange integers = kiln::isa::integerRange(dtype);
  return {integers.low, integers.high};
}

bool holdsIntegersTo(DType dtype, double value) {
  switch (dtype) {
  case DType::Float32:
    return value <= 0x1p24;
  case DType::BFloat16:
    return value <= 0x1p8;
  case DType::Float16:
    return value <= 0x1p11;
  default:
    return value <= rangeOf(dtype).high;
  }
}

void widen(DType dtype, const std::byte *source, std::span<double> out) {
  const auto same = [](auto value) { return static_cast<double>(value); };
  switch (dtype) {
  case DType::Float32:
    return widenAll<float>(source, out, same);
  case DType::BFloat16:
    return widenAll<uint16_t>(source, out, fromBFloat16);
  case DType::Float16:
    return widenAll<uint16_t>(source, out, fromFloat16);
  case DType::Int32:
    return widenAll<int32_t>(source, out, same);
  case DType::UInt8:
    return widenAll<uint8_t>(source, out, same);
  case DType::Int8:
    return widenAll<int8_t>(source, out, same);
  case DType::Int16:
    return widenAll<int16_t>(source, out, same);
  case DType::UInt16:
    return widenAll<uint16_t>(source, out, same);
  case DType::UInt32:
    return widenAll<uint32_t>(source, out, same);
  }
}

void narrow(DType dtype, std::span<const double> values, std::byte *target) {
  switch (dtype) {
  case DType::Float32:
    return narrowAll(values, target, [](double value) { return static_cast<float>(value); });
  case DType::BFloat16:
    return narrowAll(values, target, toBFloat16);
  case DType::Float16:
    return narrowAll(values, target, toFloat16);
  case DType::Int32:
    return narrowAll(values, target, saturate<int32_t>);
  case DType::UInt8:
    return narrowAll(values, target, saturate<uint8_t>);
  case DType::Int8:
    return narrowAll(values, target, saturate<int8_t>);
  case DType::Int16:
    return narrowAll(values, target, saturate<int16_t>);
  case DType::UInt16:
    return narrowAll(values, target, saturate<uint16_t>);
  case DType::UInt32:
    return narrowAll(values, target, saturate<uint32_t>);
  }
}

} // namespace kilnrt::detail
