//===- Convert.cpp - scalar conversions and strided rows --------------------------------------===//
//
// The scalar functions are the definition; the contiguous kernels are tested against them. Strided
// rows convert element by element: their time goes into memory.
//
//===------------------------------------------------------------------------------------------===//

#include "kilnrt/Numerics/Convert.h"

#include "ConvertKernels.h"

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
    return read<float>(src);
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
    if (type == DType::Float32)
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
