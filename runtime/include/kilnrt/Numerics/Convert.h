//===- Convert.h - element types to fp32 and back ---------------------------------------------===//
//
// Arithmetic happens in fp32; this is how values get there and back. The rules, for scalars and
// rows alike and equal on every host:
//
//   fp32 -> bf16, fp16, e4m3, e5m2
//                        round to nearest even, denormals kept, overflow gives an infinity
//   fp32 -> e4m3fn       the same, but there is no infinity: overflow gives a NaN
//   fp32 -> tf32         round to nearest even to 10 mantissa bits; the low 13 bits are 0
//   tf32 -> fp32         the bits as they are; only the Tensor Engine rounds what it reads
//   fp32 -> integers     round to nearest even, then saturate; a NaN gives 0
//   (u)int32 -> fp32     round to nearest even; exact up to 2^24
//   16 and 8 bits        widen exactly
//   NaN                  becomes the canonical one of the destination: 0x7FC00000
//                        (tf32 too), 0x7FC0, 0x7E00, 0x7C (e4m3), 0x7E (e5m2), 0x7F (e4m3fn)
//   fp32 -> fp32         copies bits, NaN payloads included
//
// Instructions that copy without conversion move bytes and do not come here.
//
//===------------------------------------------------------------------------------------------===//

#ifndef KILNRT_NUMERICS_CONVERT_H
#define KILNRT_NUMERICS_CONVERT_H

#include "kiln/ISA/Types.h"

#include <bit>
#include <cstddef>
#include <cstdint>

namespace kilnrt {

inline constexpr uint32_t kCanonicalNanBits = 0x7FC00000u;

/// x, or the canonical NaN if x is a NaN.
inline float canonicalNan(float x) { return x == x ? x : std::bit_cast<float>(kCanonicalNanBits); }

//---- one value
//---------------------------------------------------------------------------------===//

uint16_t floatToBf16(float x);
float bf16ToFloat(uint16_t bits);
uint16_t floatToFp16(float x);
float fp16ToFloat(uint16_t bits);
uint8_t floatToE4m3(float x);
float e4m3ToFloat(uint8_t bits);
uint8_t floatToE5m2(float x);
float e5m2ToFloat(uint8_t bits);
uint8_t floatToE4m3fn(float x);
float e4m3fnToFloat(uint8_t bits);
/// The nearest float of 10 mantissa bits.
float roundToTf32(float x);
int32_t floatToInt32(float x);
float int32ToFloat(int32_t x);
uint32_t floatToUint32(float x);
float uint32ToFloat(uint32_t x);
int16_t floatToInt16(float x);
uint16_t floatToUint16(float x);
int8_t floatToInt8(float x);
uint8_t floatToUint8(float x);

/// The element of type `type` at `src`, as fp32.
float loadElement(kiln::isa::DType type, const std::byte *src);
/// Writes x, converted to `type`, to `dst`.
void storeElement(kiln::isa::DType type, float x, std::byte *dst);

//---- rows
//--------------------------------------------------------------------------------------===//

/// out[i] = the element of type `type` at src + i * strideBytes, as fp32, for i < n. Any stride, 0
/// and negative ones included; a stride of one element takes the fast path. `src` needs no
/// alignment.
void loadRow(kiln::isa::DType type, const std::byte *src, int64_t strideBytes, size_t n,
             float *out);

/// The element at dst + i * strideBytes = in[i], converted to `type`, for i < n in ascending order.
/// Memory between the elements is not touched.
void storeRow(kiln::isa::DType type, const float *in, std::byte *dst, int64_t strideBytes,
              size_t n);

} // namespace kilnrt

#endif // KILNRT_NUMERICS_CONVERT_H
