//===- NumberModel.cpp - dtypes, slowly -------------------------------------------------------===//

#include "NumberModel.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <random>

using namespace kilnrt;
using namespace kilnrt::test;

namespace {

struct FloatFormat {
  int exponentBits, mantissaBits;
  int bias() const { return (1 << (exponentBits - 1)) - 1; }
};

FloatFormat formatOf(DType dtype) {
  switch (dtype) {
  case DType::Float32:
    return {8, 23};
  case DType::BFloat16:
    return {8, 7};
  case DType::TFloat32:
    return {8, 10};
  case DType::Float8E4M3:
  case DType::Float8E4M3FN:
    return {4, 3};
  case DType::Float8E5M2:
    return {5, 2};
  default:
    return {5, 10};
  }
}

/// A non-negative double to the nearest integer, ties to even.
double roundEven(double x) {
  const double down = std::floor(x), rest = x - down;
  if (rest != 0.5)
    return rest < 0.5 ? down : down + 1;
  return std::fmod(down, 2) == 0 ? down : down + 1;
}

uint32_t encodeFloat(FloatFormat format, double value) {
  const int e = format.exponentBits, m = format.mantissaBits;
  const uint32_t infinity = ((1u << e) - 1) << m;
  if (std::isnan(value))
    return infinity | 1u << (m - 1);
  const uint32_t sign = std::signbit(value) ? 1u << (e + m) : 0;
  value = std::fabs(value);
  if (std::isinf(value))
    return sign | infinity;
  if (value == 0)
    return sign;
  const int exponent = std::max(std::ilogb(value), 1 - format.bias());
  // Units in the last place; a carry into the next binade falls out of the sum below.
  const double units = roundEven(std::ldexp(value, m - exponent));
  const double bits = std::ldexp(double(exponent + format.bias() - 1), m) + units;
  return sign | (bits >= infinity ? infinity : uint32_t(bits));
}

double decodeFloat(FloatFormat format, uint32_t bits) {
  const int e = format.exponentBits, m = format.mantissaBits;
  const double sign = bits >> (e + m) & 1 ? -1 : 1;
  const int exponent = int(bits >> m & ((1u << e) - 1));
  const double mantissa = double(bits & ((1u << m) - 1));
  if (exponent == (1 << e) - 1)
    return mantissa != 0 ? std::nan("") : sign * HUGE_VAL;
  if (exponent == 0)
    return sign * std::ldexp(mantissa, 1 - format.bias() - m);
  return sign * std::ldexp(mantissa + std::ldexp(1, m), exponent - format.bias() - m);
}

/// Mantissa bits of a float32 that tf32 leaves 0.
constexpr unsigned kUnusedBits = 13;
/// e4m3fn: the one magnitude that is a NaN; below it the last exponent holds numbers.
constexpr uint32_t kE4m3fnNan = 0x7F;

uint32_t encodeE4m3fn(double value) {
  if (std::isnan(value))
    return kE4m3fnNan;
  const uint32_t sign = std::signbit(value) ? 0x80 : 0;
  const double magnitude = std::fabs(value);
  // From 256 on steps of 32, where e4m3 has its infinity.
  const uint32_t code = magnitude < 248
                            ? encodeFloat({4, 3}, magnitude)
                            : uint32_t(0x78 + roundEven(std::min(magnitude, 1e3) / 32) - 8);
  return sign | std::min(code, kE4m3fnNan);
}

double saturate(double value, double low, double high) {
  if (std::isnan(value))
    return 0;
  const double rounded = std::copysign(roundEven(std::fabs(value)), value);
  return rounded < low ? low : rounded > high ? high : rounded;
}

} // namespace

uint32_t kilnrt::test::encode(DType dtype, double value) {
  switch (dtype) {
  case DType::Int32:
    return uint32_t(int32_t(saturate(value, -2147483648.0, 2147483647.0)));
  case DType::UInt32:
    return uint32_t(saturate(value, 0, 4294967295.0));
  case DType::Int16:
    return uint16_t(int16_t(saturate(value, -32768, 32767)));
  case DType::UInt16:
    return uint32_t(saturate(value, 0, 65535));
  case DType::Int8:
    return uint8_t(int8_t(saturate(value, -128, 127)));
  case DType::UInt8:
    return uint32_t(saturate(value, 0, 255));
  default:
    break;
  }
  if (dtype == DType::Float8E4M3FN)
    return encodeE4m3fn(value);
  return encodeFloat(formatOf(dtype), value) << (dtype == DType::TFloat32 ? kUnusedBits : 0);
}

double kilnrt::test::decode(DType dtype, uint32_t bits) {
  switch (dtype) {
  case DType::Int32:
    return int32_t(bits);
  case DType::Int16:
    return bits >= 0x8000 ? double(bits) - 0x10000 : bits;
  case DType::Int8:
    return bits >= 0x80 ? double(bits) - 0x100 : bits;
  case DType::UInt32:
  case DType::UInt16:
  case DType::UInt8:
    return bits;
  default:
    break;
  }
  if (dtype == DType::TFloat32) // reads are exact
    return decodeFloat(formatOf(DType::Float32), bits);
  if (dtype == DType::Float8E4M3FN && (bits & 0x7F) >= 0x78)
    return (bits & 0x7F) == kE4m3fnNan ? std::nan("")
                                       : (bits & 0x80 ? -1 : 1) * (256.0 + 32 * (bits & 7));
  return decodeFloat(formatOf(dtype), bits);
}

float kilnrt::test::f32(double value) {
  return std::bit_cast<float>(encode(DType::Float32, value));
}

HostArray kilnrt::test::fromBits(DType dtype, std::vector<int64_t> shape,
                                 const std::vector<uint32_t> &bits) {
  HostArray array{dtype, std::move(shape), {}};
  const size_t width = kiln::isa::bytesOf(dtype);
  array.data.resize(bits.size() * width);
  for (size_t i = 0; i < bits.size(); ++i)
    std::memcpy(array.data.data() + i * width, &bits[i], width);
  return array;
}

std::vector<uint32_t> kilnrt::test::bitsOf(const HostArray &array) {
  const size_t width = kiln::isa::bytesOf(array.dtype);
  std::vector<uint32_t> bits(array.data.size() / width);
  for (size_t i = 0; i < bits.size(); ++i)
    std::memcpy(&bits[i], array.data.data() + i * width, width);
  return bits;
}

static std::vector<uint32_t> specials(DType dtype) {
  switch (dtype) {
  case DType::Float32:
    return {0x7FC12345, 0xFF812345, 0x7F800000, 0xFF800000, 0x00000000, 0x80000000, 0x00000001,
            0x807FFFFF, 0x7F7FFFFF, 0xFF7FFFFF, 0x3F800000, 0xBF800000, 0x4B800001, 0x477FE000};
  case DType::BFloat16:
    return {0x7FC1, 0xFF93, 0x7F80, 0xFF80, 0x0000, 0x8000, 0x0001, 0x807F, 0x7F7F, 0xFF7F, 0x3F80};
  case DType::Float16:
    return {0x7E01, 0xFD55, 0x7C00, 0xFC00, 0x0000, 0x8000, 0x0001, 0x83FF, 0x7BFF, 0xFBFF, 0x3C00};
  case DType::TFloat32:
    return {0x7FC12345, 0x7F800000, 0xFF800000, 0,          0x80000000, 0x00002000, 0x807FE000,
            0x7F7FE000, 0x3F801000, 0x3F803000, 0x3F801001, 0xBF800FFF}; // the last ones are no
                                                                         // tf32 numbers
  case DType::Float8E4M3:
    return {0x7C, 0xF9, 0x78, 0xF8, 0, 0x80, 0x01, 0x87, 0x77, 0xF7, 0x38, 0x08};
  case DType::Float8E5M2:
    return {0x7E, 0xFD, 0x7C, 0xFC, 0, 0x80, 0x01, 0x83, 0x7B, 0xFB, 0x3C, 0x04};
  case DType::Float8E4M3FN:
    return {0x7F, 0xFF, 0x78, 0xFE, 0, 0x80, 0x01, 0x87, 0x77, 0x7E, 0x38, 0x08};
  case DType::Int32:
    return {0, 1, 0xFFFFFFFF, 0x7FFFFFFF, 0x80000000, 0x01000001, 0xFEFFFFFF, 255, 256, 0xDBDBDBDB};
  case DType::UInt8:
    return {0, 1, 127, 128, 254, 255};
  case DType::Int8:
    return {0, 1, 0xFF, 0x7F, 0x80, 0x81};
  case DType::Int16:
    return {0, 1, 0xFFFF, 0x7FFF, 0x8000, 0x0101, 0xFF00};
  case DType::UInt16:
    return {0, 1, 0xFFFF, 0x7FFF, 0x8000, 0x8001, 256};
  case DType::UInt32:
    return {0,          1,          0xFFFFFFFF, 0x7FFFFFFF, 0x80000000,
            0x80000081, 0x01000001, 0xFFFFFF80, 0xFFFFFF7F};
  }
  return {};
}

/// Moderate values of a dtype lie between plus and minus this.
static double scaleOf(DType dtype) {
  switch (dtype) {
  case DType::Int32:
  case DType::UInt32:
    return 1e6;
  case DType::Int16:
  case DType::UInt16:
    return 32767;
  case DType::UInt8:
    return 255;
  case DType::Int8:
    return 127;
  default:
    return 8;
  }
}

static bool isUnsigned(DType dtype) {
  return dtype == DType::UInt8 || dtype == DType::UInt16 || dtype == DType::UInt32;
}

std::vector<uint32_t> kilnrt::test::samples(DType dtype, size_t count, uint64_t seed) {
  std::vector<uint32_t> bits = specials(dtype);
  std::mt19937_64 random(seed);
  while (bits.size() < count) {
    const double unit = double(random() >> 11) * 0x1p-53 * 2 - 1;
    const double scale = scaleOf(dtype);
    bits.push_back(encode(dtype, isUnsigned(dtype) ? std::fabs(unit) * scale : unit * scale));
  }
  bits.resize(count);
  return bits;
}
