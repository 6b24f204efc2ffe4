//===- ConvertKernels.cpp - contiguous rows of elements to fp32 and back ----------------------===//

#include "ConvertKernels.h"

#include "kilnrt/Numerics/Convert.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ConvertKernels.cpp"
#include "hwy/foreach_target.h" // IWYU pragma: keep

#include "Convert-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kilnrt {
namespace HWY_NAMESPACE {
namespace {
using kiln::isa::DType;

/// out[i] = convert(in[i]), vectors of D's type to vectors of DOut's; the tail goes through
/// buffers.
template <class DIn, class DOut, class Convert>
HWY_INLINE void convertRow(DIn din, const hn::TFromD<DIn> *in, DOut dout, hn::TFromD<DOut> *out,
                           size_t n, Convert convert) {
  const size_t lanes = hn::Lanes(din);
  size_t i = 0;
  for (; i + lanes <= n; i += lanes)
    hn::StoreU(convert(hn::LoadU(din, in + i)), dout, out + i);
  if (i == n)
    return;
  HWY_ALIGN hn::TFromD<DIn> tailIn[kMaxFloats] = {};
  HWY_ALIGN hn::TFromD<DOut> tailOut[kMaxFloats];
  __builtin_memcpy(tailIn, in + i, (n - i) * sizeof tailIn[0]);
  hn::StoreU(convert(hn::LoadU(din, tailIn)), dout, tailOut);
  __builtin_memcpy(out + i, tailOut, (n - i) * sizeof tailOut[0]);
}

struct WidenBf16 {
  HWY_INLINE F operator()(VU16 x) const { return widenBf16(x); }
};
struct WidenFp16 {
  HWY_INLINE F operator()(VU16 x) const { return widenFp16(x); }
};
struct WidenInt32 {
  HWY_INLINE F operator()(VI32 x) const { return widenInt32(x); }
};
struct WidenUint32 {
  HWY_INLINE F operator()(VU32 x) const { return widenUint32(x); }
};
struct WidenSmall {
  template <class V>
  HWY_INLINE F operator()(V x) const {
    return widenSmall(x);
  }
};
struct RoundToTf32 {
  HWY_INLINE F operator()(F x) const { return roundTf32(x); }
};
struct NarrowBf16 {
  HWY_INLINE VU16 operator()(F x) const { return narrowBf16(x); }
};
struct NarrowFp16 {
  HWY_INLINE VU16 operator()(F x) const { return narrowFp16(x); }
};
struct NarrowInt32 {
  HWY_INLINE VI32 operator()(F x) const { return narrowInt32(x); }
};
struct NarrowUint32 {
  HWY_INLINE VU32 operator()(F x) const { return narrowUint32(x); }
};
template <class D>
struct NarrowSmall {
  HWY_INLINE hn::Vec<D> operator()(F x) const { return narrowSmall<D>(x); }
};

/// Element by element: the tables and the rounding of 8-bit floats are the scalar functions'.
template <typename In, typename Out, typename Convert>
void convertEach(const void *in, void *out, size_t n, Convert convert) {
  const auto *from = static_cast<const In *>(in);
  auto *to = static_cast<Out *>(out);
  for (size_t i = 0; i < n; ++i)
    to[i] = convert(from[i]);
}

void widen(DType type, const void *src, float *out, size_t n) {
  const DF d;
  switch (type) {
  case DType::BFloat16:
    return convertRow(DU16(), static_cast<const uint16_t *>(src), d, out, n, WidenBf16());
  case DType::Float16:
    return convertRow(DU16(), static_cast<const uint16_t *>(src), d, out, n, WidenFp16());
  case DType::Int32:
    return convertRow(DFI(), static_cast<const int32_t *>(src), d, out, n, WidenInt32());
  case DType::UInt8:
    return convertRow(DU8(), static_cast<const uint8_t *>(src), d, out, n, WidenSmall());
  case DType::Int8:
    return convertRow(DI8(), static_cast<const int8_t *>(src), d, out, n, WidenSmall());
  case DType::Int16:
    return convertRow(DI16(), static_cast<const int16_t *>(src), d, out, n, WidenSmall());
  case DType::UInt16:
    return convertRow(DU16(), static_cast<const uint16_t *>(src), d, out, n, WidenSmall());
  case DType::UInt32:
    return convertRow(DFU(), static_cast<const uint32_t *>(src), d, out, n, WidenUint32());
  case DType::Float8E4M3:
    return convertEach<uint8_t, float>(src, out, n, e4m3ToFloat);
  case DType::Float8E5M2:
    return convertEach<uint8_t, float>(src, out, n, e5m2ToFloat);
  case DType::Float8E4M3FN:
    return convertEach<uint8_t, float>(src, out, n, e4m3fnToFloat);
  case DType::Float32:
  case DType::TFloat32: // bits as they are
    break;
  }
}

void narrow(DType type, const float *in, void *dst, size_t n) {
  const DF d;
  switch (type) {
  case DType::BFloat16:
    return convertRow(d, in, DU16(), static_cast<uint16_t *>(dst), n, NarrowBf16());
  case DType::Float16:
    return convertRow(d, in, DU16(), static_cast<uint16_t *>(dst), n, NarrowFp16());
  case DType::Int32:
    return convertRow(d, in, DFI(), static_cast<int32_t *>(dst), n, NarrowInt32());
  case DType::UInt8:
    return convertRow(d, in, DU8(), static_cast<uint8_t *>(dst), n, NarrowSmall<DU8>());
  case DType::Int8:
    return convertRow(d, in, DI8(), static_cast<int8_t *>(dst), n, NarrowSmall<DI8>());
  case DType::Int16:
    return convertRow(d, in, DI16(), static_cast<int16_t *>(dst), n, NarrowSmall<DI16>());
  case DType::UInt16:
    return convertRow(d, in, DU16(), static_cast<uint16_t *>(dst), n, NarrowSmall<DU16>());
  case DType::UInt32:
    return convertRow(d, in, DFU(), static_cast<uint32_t *>(dst), n, NarrowUint32());
  case DType::Float8E4M3:
    return convertEach<float, uint8_t>(in, dst, n, floatToE4m3);
  case DType::Float8E5M2:
    return convertEach<float, uint8_t>(in, dst, n, floatToE5m2);
  case DType::Float8E4M3FN:
    return convertEach<float, uint8_t>(in, dst, n, floatToE4m3fn);
  case DType::TFloat32:
    return convertRow(d, in, d, static_cast<float *>(dst), n, RoundToTf32());
  case DType::Float32:
    break;
  }
}

} // namespace
} // namespace HWY_NAMESPACE
} // namespace kilnrt
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kilnrt {
HWY_EXPORT(widen);
HWY_EXPORT(narrow);
void widenRow(kiln::isa::DType type, const void *src, float *out, size_t n) {
  HWY_DYNAMIC_DISPATCH(widen)(type, src, out, n);
}
void narrowRow(kiln::isa::DType type, const float *in, void *dst, size_t n) {
  HWY_DYNAMIC_DISPATCH(narrow)(type, in, dst, n);
}
} // namespace kilnrt
#endif // HWY_ONCE
