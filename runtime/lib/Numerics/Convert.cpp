//===- Convert.cpp - scalar conversions and strided rows --------------------------------------===//
//
// The scalar functions are the definition; the contiguous kernels are tested against them. Strided
// rows convert element by element: their time goes into memory.
//
//===------------------------------------------------------------------------------------------===//

#include "kilnrt/Numerics/Convert.h"

#include "ConvertKernels.h"

#include <array>
#include <cstring>
#include <limits>

using kiln::isa::DType;

namespace kilnrt {
namespace {

/// The integer nearest to x, ties to even, for |x| <= 2^32.
int64_t nearestInteger(float x) {
  // 1.5 * 2^52 has an ulp of 1: the addition rounds, and the low bits hold the integer.
  const double shifted = double(x) + 0x1.8p52;
  return std::bit_cast<int64_t>(shifted) - std::bit_cast<int64_t>(0x1.8p52);
}

/// x rounded and saturated to a type whose limits are floats.
template <typename T>
T saturate(float x) {
  constexpr float low = float(std::numeric_limits<T>::min()),
                  high = float(std::numeric_limits<T>::max());
  if (x != x)
    return 0;
  if (x <= low)
    return std::numeric_limits<T>::min();
  return x >= high ? std::numeric_limits<T>::max() : T(nearestInteger(x));
}

template <typename T>
T read(const std::byte *src) {
  T value;
  std::memcpy(&value, src, sizeof value);
  return value;
}

template <typename T>
void write(std::byte *dst, T value) {
  std::memcpy(dst, &value, sizeof value);
}

} // namespace

uint16_t floatToBf16(float x) {
  const uint32_t bits = std::bit_cast<uint32_t>(canonicalNan(x));
  return uint16_t((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16);
}

float bf16ToFloat(uint16_t bits) {
  return canonicalNan(std::bit_cast<float>(uint32_t(bits) << 16));
}

uint16_t floatToFp16(float x) {
  const uint32_t bits = std::bit_cast<uint32_t>(x);
  const uint16_t sign = uint16_t((bits >> 16) & 0x8000);
  const uint32_t magnitude = bits & 0x7FFFFFFF;
  if (magnitude > 0x7F800000)
    return 0x7E00;
  if (magnitude >= 0x477FF000) // 65520, the middle between the largest finite value and 2^16
    return sign | 0x7C00;
  if (magnitude < 0x38800000) { // 2^-14; an ulp of 0.5 is 2^-24, the smallest denormal
    const float shifted = std::bit_cast<float>(magnitude) + 0.5f;
    return uint16_t(sign | (std::bit_cast<uint32_t>(shifted) - 0x3F000000));
  }
  const uint32_t rounded = magnitude + 0xFFF + ((magnitude >> 13) & 1) - (112u << 23);
  return uint16_t(sign | (rounded >> 13));
}

float fp16ToFloat(uint16_t bits) {
  const uint32_t sign = uint32_t(bits & 0x8000) << 16;
  const uint32_t magnitude = uint32_t(bits & 0x7FFF) << 13;
  if ((bits & 0x7C00) == 0x7C00)
    return canonicalNan(std::bit_cast<float>(sign | magnitude | 0x7F800000));
  const float value = std::bit_cast<float>(magnitude) * 0x1p112f;
  return std::bit_cast<float>(std::bit_cast<uint32_t>(value) | sign);
}

namespace {

/// The 8-bit floats: a sign, exponent bits, mantissa bits.
template <unsigned kMantissa, bool kHasInfinity>
struct Float8 {
  static constexpr unsigned kExponent = 7 - kMantissa;
  static constexpr int kBias = (1 << (kExponent - 1)) - 1;
  static constexpr unsigned kDropped = 23 - kMantissa; ///< mantissa bits of a float it lacks
  /// The first code that is no finite number, and the canonical NaN.
  static constexpr uint32_t kSpecial = kHasInfinity ? ((1u << kExponent) - 1) << kMantissa : 0x7Fu;
  static constexpr uint8_t kNan =
      kHasInfinity ? uint8_t(kSpecial | 1u << (kMantissa - 1)) : uint8_t(kSpecial);

  static uint8_t narrow(float x) {
    const uint32_t bits = std::bit_cast<uint32_t>(x);
    const uint32_t sign = bits >> 24 & 0x80, magnitude = bits & 0x7FFFFFFF;
    if (magnitude > 0x7F800000)
      return kNan;
    constexpr uint32_t kSmallestNormal = uint32_t(127 + 1 - kBias) << 23;
    uint32_t code;
    if (magnitude < kSmallestNormal) {
      // An ulp of this float is the smallest denormal, so adding it rounds as needed.
      constexpr uint32_t kShift = uint32_t(127 + 1 - kBias - int(kMantissa) + 23) << 23;
      const float shifted = std::bit_cast<float>(magnitude) + std::bit_cast<float>(kShift);
      code = std::bit_cast<uint32_t>(shifted) - kShift;
    } else {
      const uint32_t last = magnitude >> kDropped & 1;
      const uint32_t rounded = magnitude + (1u << (kDropped - 1)) - 1 + last;
      code = (rounded - (uint32_t(127 - kBias) << 23)) >> kDropped;
    }
    return uint8_t(sign | (code < kSpecial ? code : kSpecial));
  }

  static constexpr float widen(uint8_t code) {
    const uint32_t sign = uint32_t(code & 0x80) << 24, magnitude = code & 0x7F;
    if (magnitude >= kSpecial)
      return std::bit_cast<float>(kHasInfinity && magnitude == kSpecial ? sign | 0x7F800000
                                                                        : kCanonicalNanBits);
    const uint32_t exponent = magnitude >> kMantissa;
    const uint32_t fraction = magnitude & ((1u << kMantissa) - 1);
    if (exponent == 0) { // a multiple of the smallest denormal
      const float unit = std::bit_cast<float>(uint32_t(127 + 1 - kBias - int(kMantissa)) << 23);
      return std::bit_cast<float>(std::bit_cast<uint32_t>(float(fraction) * unit) | sign);
    }
    return std::bit_cast<float>(sign | (exponent + uint32_t(127 - kBias)) << 23 |
                                fraction << kDropped);
  }

  static constexpr std::array<float, 256> makeTable() {
    std::array<float, 256> table{};
    for (unsigned code = 0; code < table.size(); ++code)
      table[code] = widen(uint8_t(code));
    return table;
  }
};

using E4m3 = Float8<3, true>;
using E5m2 = Float8<2, true>;
using E4m3fn = Float8<3, false>;
constexpr std::array<float, 256> kE4m3 = E4m3::makeTable(), kE5m2 = E5m2::makeTable(),
                                 kE4m3fn = E4m3fn::makeTable();

} // namespace

uint8_t floatToE4m3(float x) { return E4m3::narrow(x); }
float e4m3ToFloat(uint8_t bits) { return kE4m3[bits]; }
uint8_t floatToE5m2(float x) { return E5m2::narrow(x); }
float e5m2ToFloat(uint8_t bits) { return kE5m2[bits]; }
uint8_t floatToE4m3fn(float x) { return E4m3fn::narrow(x); }
float e4m3fnToFloat(uint8_t bits) { return kE4m3fn[bits]; }

float roundToTf32(float x) {
  constexpr uint32_t kCleared = (1u << 13) - 1;
  const uint32_t bits = std::bit_cast<uint32_t>(canonicalNan(x));
  return std::bit_cast<float>((bits + (kCleared >> 1) + (bits >> 13 & 1)) & ~kCleared);
}

int32_t floatToInt32(float x) {
  if (x != x)
    return 0;
  if (x >= 0x1p31f)
    return INT32_MAX;
  if (x < -0x1p31f)
    return INT32_MIN;
  return int32_t(nearestInteger(x));
}

float int32ToFloat(int32_t x) { return float(x); }

uint32_t floatToUint32(float x) {
  if (!(x > 0.0f))
    return 0;
  return x >= 0x1p32f ? UINT32_MAX : uint32_t(nearestInteger(x));
}

float uint32ToFloat(uint32_t x) { return float(x); }

int16_t floatToInt16(float x) { return saturate<int16_t>(x); }
uint16_t floatToUint16(float x) { return saturate<uint16_t>(x); }
int8_t floatToInt8(float x) { return saturate<int8_t>(x); }
uint8_t floatToUint8(float x) { return saturate<uint8_t>(x); }

float loadElement(DType type, const std::byte *src) {
  switch (type) {
  case DType::Float32:
  case DType::TFloat32:
    return read<float>(src);
  case DType::Float8E4M3:
    return e4m3ToFloat(read<uint8_t>(src));
  case DType::Float8E5M2:
    return e5m2ToFloat(read<uint8_t>(src));
  case DType::Float8E4M3FN:
    return e4m3fnToFloat(read<uint8_t>(src));
  case DType::BFloat16:
    return bf16ToFloat(read<uint16_t>(src));
  case DType::Float16:
    return fp16ToFloat(read<uint16_t>(src));
  case DType::Int32:
    return int32ToFloat(read<int32_t>(src));
  case DType::UInt8:
    return float(read<uint8_t>(src));
  case DType::Int8:
    return float(read<int8_t>(src));
  case DType::Int16:
    return float(read<int16_t>(src));
  case DType::UInt16:
    return float(read<uint16_t>(src));
  case DType::UInt32:
    return uint32ToFloat(read<uint32_t>(src));
  }
  return 0.0f;
}

void storeElement(DType type, float x, std::byte *dst) {
  switch (type) {
  case DType::Float32:
    return write(dst, x);
  case DType::TFloat32:
    return write(dst, roundToTf32(x));
  case DType::Float8E4M3:
    return write(dst, floatToE4m3(x));
  case DType::Float8E5M2:
    return write(dst, floatToE5m2(x));
  case DType::Float8E4M3FN:
    return write(dst, floatToE4m3fn(x));
  case DType::BFloat16:
    return write(dst, floatToBf16(x));
  case DType::Float16:
    return write(dst, floatToFp16(x));
  case DType::Int32:
    return write(dst, floatToInt32(x));
  case DType::UInt8:
    return write(dst, floatToUint8(x));
  case DType::Int8:
    return write(dst, floatToInt8(x));
  case DType::Int16:
    return write(dst, floatToInt16(x));
  case DType::UInt16:
    return write(dst, floatToUint16(x));
  case DType::UInt32:
    return write(dst, floatToUint32(x));
  }
}

void loadRow(DType type, const std::byte *src, int64_t strideBytes, size_t n, float *out) {
  if (strideBytes == int64_t(kiln::isa::bytesOf(type)) && n > 1) {
    if (type == DType::Float32 || type == DType::TFloat32)
      std::memcpy(out, src, n * sizeof(float));
    else
      widenRow(type, src, out, n);
    return;
  }
  if (strideBytes == 0 && n > 1) {
    const float value = loadElement(type, src);
    for (size_t i = 0; i < n; ++i)
      out[i] = value;
    return;
  }
  for (size_t i = 0; i < n; ++i)
    out[i] = loadElement(type, src + int64_t(i) * strideBytes);
}

void storeRow(DType type, const float *in, std::byte *dst, int64_t strideBytes, size_t n) {
  if (strideBytes == int64_t(kiln::isa::bytesOf(type)) && n > 1) {
    if (type == DType::Float32)
      std::memmove(dst, in, n * sizeof(float));
    else
      narrowRow(type, in, dst, n);
    return;
  }
  for (size_t i = 0; i < n; ++i)
    storeElement(type, in[i], dst + int64_t(i) * strideBytes);
}

} // namespace kilnrt
