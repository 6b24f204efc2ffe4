//===- FloatRows-inl.h - vectors of floats and loops over rows of them, per target ------------===//
//
// Loads, stores, the canonical NaN, a real fused multiply-add on every target, and the element-wise
// loops of the fp32 kernels. Compiled once per instruction set through foreach_target.
//
//===------------------------------------------------------------------------------------------===//

#include <cstddef>
#include <cstdint>

#if defined(KILNRT_NUMERICS_FLOATROWS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef KILNRT_NUMERICS_FLOATROWS_INL_H
#undef KILNRT_NUMERICS_FLOATROWS_INL_H
#else
#define KILNRT_NUMERICS_FLOATROWS_INL_H
#endif

#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace kilnrt {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using DF = hn::ScalableTag<float>;
using DFU = hn::RebindToUnsigned<DF>;
using F = hn::Vec<DF>;
inline constexpr size_t kMaxFloats = HWY_MAX_BYTES / sizeof(float);

HWY_INLINE F setF(float c) { return hn::Set(DF(), c); }

/// x, or the quiet NaN 0x7FC00000 where x is a NaN.
template <class V>
HWY_INLINE V canonicalF(V x) {
  const hn::DFromV<V> d;
  const V nan = hn::BitCast(d, hn::Set(hn::RebindToUnsigned<decltype(d)>(), 0x7FC00000u));
  return hn::IfThenElse(hn::Eq(x, x), x, nan);
}

/// a * b + c, rounded once.
HWY_INLINE F fmaF(F a, F b, F c) {
#if HWY_NATIVE_FMA
  return hn::MulAdd(a, b, c);
#elif HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128
  // The C library's fma never rounds twice.
  HWY_ALIGN float x[kMaxFloats], y[kMaxFloats], z[kMaxFloats];
  hn::Store(a, DF(), x);
  hn::Store(b, DF(), y);
  hn::Store(c, DF(), z);
  for (size_t i = 0; i < hn::Lanes(DF()); ++i)
    x[i] = __builtin_fmaf(x[i], y[i], z[i]);
  return hn::Load(DF(), x);
#else
  // The product is exact in double. The sum is rounded to odd there, so that the second rounding,
  // to fp32, gives what one rounding would have given.
  const DF d;
  const hn::Half<DF> dh;
  const hn::RepartitionToWide<DF> dd;
  const hn::RebindToSigned<decltype(dd)> di;
  const auto half = [&](auto x, auto y, auto z) HWY_ATTR {
    const auto p = hn::Mul(hn::PromoteTo(dd, x), hn::PromoteTo(dd, y));
    const auto w = hn::PromoteTo(dd, z);
    const auto s = hn::Add(p, w);
    const auto v = hn::Sub(s, p);
    const auto error = hn::Add(hn::Sub(p, hn::Sub(s, v)), hn::Sub(w, v));
    const auto zero = hn::Zero(dd);
    // A NaN error comes with an infinite or NaN sum, which stays as it is.
    const auto inexact = hn::RebindMask(di, hn::Or(hn::Lt(error, zero), hn::Gt(error, zero)));
    const auto bits = hn::BitCast(di, s);
    const auto even = hn::Eq(hn::And(bits, hn::Set(di, 1)), hn::Zero(di));
    const auto towardsZero = hn::Lt(hn::BitCast(di, hn::Xor(s, error)), hn::Zero(di));
    const auto step = hn::IfThenElse(towardsZero, hn::Set(di, -1), hn::Set(di, 1));
    const auto odd = hn::Add(bits, hn::IfThenElseZero(hn::And(inexact, even), step));
    return hn::DemoteTo(dh, hn::BitCast(dd, odd));
  };
  const auto low = half(hn::LowerHalf(dh, a), hn::LowerHalf(dh, b), hn::LowerHalf(dh, c));
  const auto high = half(hn::UpperHalf(dh, a), hn::UpperHalf(dh, b), hn::UpperHalf(dh, c));
  return hn::Combine(d, high, low);
#endif
}

/// The first `count` < Lanes floats at `p`; 0 in the other lanes.
HWY_INLINE F loadSome(const float *p, size_t count) {
  HWY_ALIGN float lanes[kMaxFloats] = {};
  for (size_t i = 0; i < count; ++i)
    lanes[i] = p[i];
  return hn::Load(DF(), lanes);
}

/// Writes the first `count` < Lanes floats of x to `p`.
HWY_INLINE void storeSome(F x, float *p, size_t count) {
  HWY_ALIGN float lanes[kMaxFloats];
  hn::Store(x, DF(), lanes);
  for (size_t i = 0; i < count; ++i)
    p[i] = lanes[i];
}

/// out[i] = Fn(x[i]), NaNs canonical. `out` may be `x`.
template <class Fn>
HWY_INLINE void mapFloats(const float *x, float *out, size_t n) {
  const DF d;
  const size_t lanes = hn::Lanes(d);
  size_t i = 0;
  for (; i + lanes <= n; i += lanes)
    hn::StoreU(canonicalF(Fn::evaluate(hn::LoadU(d, x + i))), d, out + i);
  if (i < n)
    storeSome(canonicalF(Fn::evaluate(loadSome(x + i, n - i))), out + i, n - i);
}

} // namespace HWY_NAMESPACE
} // namespace kilnrt
HWY_AFTER_NAMESPACE();

#endif // KILNRT_NUMERICS_FLOATROWS_INL_H
