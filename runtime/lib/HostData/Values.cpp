//===- Values.cpp - single values of device dtypes as float64 and back ------------------------===//
//
// See Values.h. Rounding to 16 bits is done on integers.
//
//===------------------------------------------------------------------------------------------===//

#include "Values.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace kilnrt::detail {
namespace {

static_assert(std::endian::native == std::endian::little,
              "arrays and .npy files are little-endian");

constexpr int kDoubleMantissa = 52;
constexpr int kDoubleBias = 1023;

/// A float format of 8 or 16 bits with its sign in the top bit.
template <int Mantissa, int Exponent>
struct Format {
  static constexpr int signBit = Mantissa + Exponent;
  static constexpr uint16_t magnitude = (1 << signBit) - 1;
  static constexpr int bias = (1 << (Exponent - 1)) - 1;
  static constexpr uint16_t infinity = ((1 << Exponent) - 1) << Mantissa;

  static uint16_t round(double value) {
    const uint64_t bits = std::bit_cast<uint64_t>(value);
    const auto sign = static_cast<uint16_t>(bits >> 63 << signBit);
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
    const uint64_t sign = static_cast<uint64_t>(half >> signBit & 1) << 63;
    const uint64_t fraction = half & ((1 << Mantissa) - 1);
    const int exponent = (half & magnitude) >> Mantissa;
    if (exponent == 0) { // zero or subnormal: an integer multiple of the
                         // smallest value, exact
      const double unit = std::bit_cast<double>(
          static_cast<uint64_t>(1 - bias - Mantissa + kDoubleBias) << kDoubleMantissa);
      return std::bit_cast<double>(std::bit_cast<uint64_t>(fraction * unit) | sign);
    }
    const bool special = (half & magnitude) >= infinity;
    const uint64_t field = special ? 0x7ff : exponent - bias + kDoubleBias;
    return std::bit_cast<double>(sign | field << kDoubleMantissa |
                                 fraction << (kDoubleMantissa - Mantissa));
  }
};
using E5m2Format = Format<2, 5>;
using E4m3Format = Format<3, 4>;
using BFloat16Format = Format<7, 8>;
using Float16Format = Format<10, 5>;

uint8_t toE5m2(double value) { return static_cast<uint8_t>(E5m2Format::round(value)); }
uint8_t toE4m3(double value) { return static_cast<uint8_t>(E4m3Format::round(value)); }
double fromE5m2(uint8_t bits) { return E5m2Format::widen(bits); }
double fromE4m3(uint8_t bits) { return E4m3Format::widen(bits); }

/// e4m3 without infinities: its last exponent holds numbers, but for the last code, a NaN.
uint8_t toE4m3fn(double value) {
  constexpr uint8_t nan = 0x7f;
  const uint8_t sign = std::signbit(value) ? 0x80 : 0;
  const double magnitude = std::fabs(value);
  if (!(magnitude <= 464)) // the middle between 448 and what would be 480, NaNs too
    return sign | nan;
  if (magnitude < 256 - 8) // e4m3 rounds it to 240 at most
    return toE4m3(value);
  const auto steps = static_cast<uint8_t>(std::nearbyint(magnitude / 32)); // 8 to 14
  return sign | static_cast<uint8_t>(0x78 + steps - 8);
}
double fromE4m3fn(uint8_t bits) {
  const uint8_t magnitude = bits & 0x7f;
  if (magnitude == 0x7f)
    return std::numeric_limits<double>::quiet_NaN();
  if (magnitude < 0x78)
    return fromE4m3(bits);
  const double value = 32.0 * (magnitude - 0x78 + 8);
  return bits >> 7 ? -value : value;
}

/// A double as the nearest float of 10 mantissa bits, rounded once.
float toTFloat32(double value) {
  if (value != value)
    return static_cast<float>(value);
  int exponent = 0;
  const double magnitude = std::fabs(value);
  std::frexp(magnitude, &exponent); // magnitude < 2^exponent
  // The smallest normal number is 2^-126; below it the step stays.
  const double step = std::ldexp(1.0, std::max(exponent, -125) - 11);
  return static_cast<float>(std::copysign(std::nearbyint(magnitude / step) * step, value));
}

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
  case DType::TFloat32:
    return {-0x1.ffcp127, 0x1.ffcp127};
  case DType::Float8E4M3:
    return {-240, 240};
  case DType::Float8E5M2:
    return {-57344, 57344};
  case DType::Float8E4M3FN:
    return {-448, 448};
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
  case DType::TFloat32:
    return value <= 0x1p11;
  case DType::Float8E4M3:
  case DType::Float8E4M3FN:
    return value <= 0x1p4;
  case DType::Float8E5M2:
    return value <= 0x1p3;
  default:
    return value <= rangeOf(dtype).high;
  }
}

void widen(DType dtype, const std::byte *source, std::span<double> out) {
  const auto same = [](auto value) { return static_cast<double>(value); };
  switch (dtype) {
  case DType::Float32:
  case DType::TFloat32:
    return widenAll<float>(source, out, same);
  case DType::Float8E4M3:
    return widenAll<uint8_t>(source, out, fromE4m3);
  case DType::Float8E5M2:
    return widenAll<uint8_t>(source, out, fromE5m2);
  case DType::Float8E4M3FN:
    return widenAll<uint8_t>(source, out, fromE4m3fn);
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
  case DType::TFloat32:
    return narrowAll(values, target, toTFloat32);
  case DType::Float8E4M3:
    return narrowAll(values, target, toE4m3);
  case DType::Float8E5M2:
    return narrowAll(values, target, toE5m2);
  case DType::Float8E4M3FN:
    return narrowAll(values, target, toE4m3fn);
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
