//===- Convert-inl.h - conversions of vectors, per target -------------------------------------===//
//
// The rules of Convert.h on Highway vectors. fp16 uses the hardware's conversion where every host
// of the target has it, and integer arithmetic elsewhere: Highway's own fallback truncates.
//
//===------------------------------------------------------------------------------------------===//

#if defined(KILNRT_NUMERICS_CONVERT_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef KILNRT_NUMERICS_CONVERT_INL_H
#undef KILNRT_NUMERICS_CONVERT_INL_H
#else
#define KILNRT_NUMERICS_CONVERT_INL_H
#endif

#include "FloatRows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kilnrt {
namespace HWY_NAMESPACE {

using DFI = hn::RebindToSigned<DF>;
using DU16 = hn::Rebind<uint16_t, DF>;
using DU8 = hn::Rebind<uint8_t, DF>;
using VU16 = hn::Vec<DU16>;
using VU8 = hn::Vec<DU8>;
using VI32 = hn::Vec<DFI>;
using VU32 = hn::Vec<DFU>;
using DI16 = hn::Rebind<int16_t, DF>;
using DI8 = hn::Rebind<int8_t, DF>;
using VI16 = hn::Vec<DI16>;
using VI8 = hn::Vec<DI8>;

// Defined anew for every target.
#undef KILNRT_HARDWARE_FP16
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2 && !defined(HWY_DISABLE_F16C)
#define KILNRT_HARDWARE_FP16 1
#else
#define KILNRT_HARDWARE_FP16 0
#endif

HWY_INLINE F widenBf16(VU16 bits) {
  return canonicalF(hn::BitCast(DF(), hn::ShiftLeft<16>(hn::PromoteTo(DFU(), bits))));
}

HWY_INLINE VU16 narrowBf16(F x) {
  const DFU du;
  const auto bits = hn::BitCast(du, canonicalF(x));
  const auto last = hn::And(hn::ShiftRight<16>(bits), hn::Set(du, 1));
  const auto rounded = hn::Add(bits, hn::Add(last, hn::Set(du, 0x7FFF)));
  return hn::TruncateTo(DU16(), hn::ShiftRight<16>(rounded));
}

/// The nearest floats of 10 mantissa bits.
HWY_INLINE F roundTf32(F x) {
  const DFU du;
  constexpr uint32_t cleared = (1u << 13) - 1;
  const auto bits = hn::BitCast(du, canonicalF(x));
  const auto last = hn::And(hn::ShiftRight<13>(bits), hn::Set(du, 1));
  const auto rounded = hn::Add(bits, hn::Add(last, hn::Set(du, cleared >> 1)));
  return hn::BitCast(DF(), hn::And(rounded, hn::Set(du, ~cleared)));
}

HWY_INLINE F widenFp16(VU16 half) {
#if KILNRT_HARDWARE_FP16
  return canonicalF(hn::PromoteTo(DF(), hn::BitCast(hn::Rebind<hwy::float16_t, DF>(), half)));
#else
  const DF d;
  const DFU du;
  const auto h = hn::PromoteTo(du, half);
  const auto magnitude = hn::ShiftLeft<13>(hn::And(h, hn::Set(du, 0x7FFF)));
  const auto sign = hn::ShiftLeft<16>(hn::And(h, hn::Set(du, 0x8000)));
  // The exponent field is 112 too small; a multiplication mends denormals as well, exactly.
  const F finite = hn::Mul(hn::BitCast(d, magnitude), setF(0x1p112f));
  const auto special = hn::Eq(hn::And(h, hn::Set(du, 0x7C00)), hn::Set(du, 0x7C00));
  const F infinite = hn::BitCast(d, hn::Or(magnitude, hn::Set(du, 0x7F800000u)));
  const F positive = hn::IfThenElse(hn::RebindMask(d, special), infinite, finite);
  return canonicalF(hn::Or(positive, hn::BitCast(d, sign)));
#endif
}

HWY_INLINE VU16 narrowFp16(F value) {
  const F x = canonicalF(value);
#if KILNRT_HARDWARE_FP16
  return hn::BitCast(DU16(), hn::DemoteTo(hn::Rebind<hwy::float16_t, DF>(), x));
#else
  const DF d;
  const DFU du;
  const DFI di;
  const auto all = hn::BitCast(du, x);
  const auto bits = hn::And(all, hn::Set(du, 0x7FFFFFFFu));
  const auto signedBits = hn::BitCast(di, bits);
  const auto last = hn::And(hn::ShiftRight<13>(bits), hn::Set(du, 1));
  const auto rounded = hn::Add(bits, hn::Add(last, hn::Set(du, 0xFFFu - (112u << 23))));
  auto half = hn::ShiftRight<13>(rounded);
  // Below 2^-14: one ulp of 0.5 is the smallest fp16 denormal, so adding 0.5 rounds as needed.
  const F shifted = hn::Add(hn::BitCast(d, bits), setF(0.5f));
  const auto denormal = hn::Sub(hn::BitCast(du, shifted), hn::Set(du, 0x3F000000u));
  const auto isSmall = hn::Lt(signedBits, hn::Set(di, 0x38800000));
  half = hn::IfThenElse(hn::RebindMask(du, isSmall), denormal, half);
  // From 65520 on the result is infinite; a NaN is above the infinity.
  const auto isLarge = hn::Gt(signedBits, hn::Set(di, 0x477FEFFF));
  half = hn::IfThenElse(hn::RebindMask(du, isLarge), hn::Set(du, 0x7C00), half);
  const auto isNan = hn::Gt(signedBits, hn::Set(di, 0x7F800000));
  half = hn::IfThenElse(hn::RebindMask(du, isNan), hn::Set(du, 0x7E00), half);
  const auto sign = hn::And(hn::ShiftRight<16>(all), hn::Set(du, 0x8000));
  return hn::TruncateTo(DU16(), hn::Or(half, sign));
#endif
}

HWY_INLINE F widenInt32(VI32 x) { return hn::ConvertTo(DF(), x); }

/// The nearest integer, ties to even, for |x| <= 2^31 - 128 and x = -2^31.
HWY_INLINE VI32 nearestInt(F x) {
#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128
  // Highway's own version rounds 0.49999997 up. From 2^23 on floats are integers; below, adding
  // 2^23 rounds to one.
  const F magnitude = hn::Abs(x);
  const F rounded = hn::Sub(hn::Add(magnitude, setF(0x1p23f)), setF(0x1p23f));
  const F integer = hn::IfThenElse(hn::Lt(magnitude, setF(0x1p23f)), rounded, magnitude);
  return hn::ConvertTo(DFI(), hn::CopySign(integer, x));
#else
  return hn::NearestInt(x);
#endif
}

HWY_INLINE VI32 narrowInt32(F x) {
  const DFI di;
  const F number = hn::IfThenElseZero(hn::Eq(x, x), x);
  const auto tooLarge = hn::Ge(number, setF(0x1p31f));
  // Both bounds are floats; the upper one is the largest below 2^31.
  const F bounded = hn::Min(hn::Max(number, setF(-0x1p31f)), setF(0x1.fffffep30f));
  return hn::IfThenElse(hn::RebindMask(di, tooLarge), hn::Set(di, 0x7FFFFFFF), nearestInt(bounded));
}

HWY_INLINE F widenUint32(VU32 x) {
  // Two exact halves, one rounding. Highway converts signed integers only on some targets.
  const DFU du;
  const DFI di;
  const F high = hn::ConvertTo(DF(), hn::BitCast(di, hn::ShiftRight<16>(x)));
  const F low = hn::ConvertTo(DF(), hn::BitCast(di, hn::And(x, hn::Set(du, 0xFFFF))));
  return hn::Add(hn::Mul(high, setF(0x1p16f)), low);
}

HWY_INLINE VU32 narrowUint32(F x) {
  const DFU du;
  const F number = hn::IfThenElseZero(hn::Eq(x, x), x);
  const auto tooLarge = hn::Ge(number, setF(0x1p32f));
  const F bounded = hn::Min(hn::Max(number, setF(0.0f)), setF(0x1.fffffep31f));
  // From 2^31 on floats are integers: the top bit is taken off and put back.
  const auto isHigh = hn::Ge(bounded, setF(0x1p31f));
  const F rest = hn::IfThenElse(isHigh, hn::Sub(bounded, setF(0x1p31f)), bounded);
  const auto top = hn::IfThenElseZero(hn::RebindMask(du, isHigh), hn::Set(du, 0x80000000u));
  const auto bits = hn::Or(hn::BitCast(du, nearestInt(rest)), top);
  return hn::IfThenElse(hn::RebindMask(du, tooLarge), hn::Set(du, 0xFFFFFFFFu), bits);
}

/// 8 and 16-bit integers of any sign.
template <class V>
HWY_INLINE F widenSmall(V x) {
  return hn::ConvertTo(DF(), hn::PromoteTo(DFI(), x));
}

template <class D>
HWY_INLINE hn::Vec<D> narrowSmall(F x) {
  using T = hn::TFromD<D>;
  const F number = hn::IfThenElseZero(hn::Eq(x, x), x);
  const F bounded =
      hn::Min(hn::Max(number, setF(float(hwy::LimitsMin<T>()))), setF(float(hwy::LimitsMax<T>())));
  return hn::DemoteTo(D(), nearestInt(bounded));
}

} // namespace HWY_NAMESPACE
} // namespace kilnrt
HWY_AFTER_NAMESPACE();

#endif // KILNRT_NUMERICS_CONVERT_INL_H
