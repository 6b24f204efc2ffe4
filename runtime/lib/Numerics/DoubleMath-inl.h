//===- DoubleMath-inl.h - vectors of doubles and of unevaluated sums of two, per target -------===//
//
// The arithmetic the exact functions are built from: a fused multiply-add that is a real one on
// every target, double-double helpers, polynomials, and the single rounding to fp32. Compiled once
// per instruction set through foreach_target; only Highway operations and built-ins are used, so
// that no shared inline function can be emitted with instructions the host lacks.
//
//===------------------------------------------------------------------------------------------===//

#include <cstddef>
#include <cstdint>

#if defined(KILNRT_NUMERICS_DOUBLEMATH_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef KILNRT_NUMERICS_DOUBLEMATH_INL_H
#undef KILNRT_NUMERICS_DOUBLEMATH_INL_H
#else
#define KILNRT_NUMERICS_DOUBLEMATH_INL_H
#endif

#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace kilnrt {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D64 = hn::ScalableTag<double>;
using DI64 = hn::RebindToSigned<D64>;
using DU64 = hn::RebindToUnsigned<D64>;
/// As many floats as D64 has doubles.
using DF32 = hn::Rebind<float, D64>;
using DU32 = hn::RebindToUnsigned<DF32>;
using V = hn::Vec<D64>;
using VF = hn::Vec<DF32>;
using M = hn::Mask<D64>;

HWY_INLINE V set(double c) { return hn::Set(D64(), c); }

/// a * b + c, rounded once.
HWY_INLINE V fma(V a, V b, V c) {
#if HWY_NATIVE_FMA
  return hn::MulAdd(a, b, c);
#else
  // Highway's MulAdd rounds twice here; the C library's fma never does.
  const D64 d;
  HWY_ALIGN double x[HWY_MAX_BYTES / 8], y[HWY_MAX_BYTES / 8], z[HWY_MAX_BYTES / 8];
  hn::Store(a, d, x);
  hn::Store(b, d, y);
  hn::Store(c, d, z);
  for (size_t i = 0; i < hn::Lanes(d); ++i)
    x[i] = __builtin_fma(x[i], y[i], z[i]);
  return hn::Load(d, x);
#endif
}

/// c[0] + c[1] x + ...: even and odd powers by Horner's rule side by side, every step fused. Half
/// the latency of one chain, which bounds the speed of these functions.
template <size_t N>
HWY_INLINE V polynomial(V x, const double (&c)[N]) {
  constexpr size_t top = N - 1;
  const V square = hn::Mul(x, x);
  V same = set(c[top]), other = set(c[top - 1]); // powers of the parity of `top`, and the others
  for (size_t i = 2; i <= top; ++i) {
    if (i % 2 == 0)
      same = fma(same, square, set(c[top - i]));
    else
      other = fma(other, square, set(c[top - i]));
  }
  return top % 2 == 0 ? fma(other, x, same) : fma(same, x, other);
}

/// An unevaluated sum; |lo| is at most about half an ulp of hi where "normalised" is said.
struct DD {
  V hi, lo;
};

/// a + b exactly, normalised. Needs |a| >= |b| or a == 0.
HWY_INLINE DD fastTwoSum(V a, V b) {
  const V s = hn::Add(a, b);
  return {s, hn::Sub(b, hn::Sub(s, a))};
}

/// a + b exactly, normalised.
HWY_INLINE DD twoSum(V a, V b) {
  const V s = hn::Add(a, b);
  const V bb = hn::Sub(s, a);
  return {s, hn::Add(hn::Sub(a, hn::Sub(s, bb)), hn::Sub(b, bb))};
}

/// a * b exactly, normalised.
HWY_INLINE DD twoProduct(V a, V b) {
  const V p = hn::Mul(a, b);
  return {p, fma(a, b, hn::Neg(p))};
}

/// a * b to about 2^-100.
HWY_INLINE DD multiply(DD a, DD b) {
  const DD p = twoProduct(a.hi, b.hi);
  return {p.hi, fma(a.lo, b.hi, fma(a.hi, b.lo, p.lo))};
}
HWY_INLINE DD multiply(DD a, V b) {
  const DD p = twoProduct(a.hi, b);
  return {p.hi, fma(a.lo, b, p.lo)};
}

/// c + a for a constant or exact c with |c| >= |a.hi| or c == 0; normalised up to a.lo.
HWY_INLINE DD addTo(V c, DD a) {
  const DD s = fastTwoSum(c, a.hi);
  return {s.hi, hn::Add(s.lo, a.lo)};
}

/// a / b to about 2^-100, for normalised b; normalised.
HWY_INLINE DD divide(DD a, DD b) {
  const V inverse = hn::Div(set(1.0), b.hi);
  const V q = hn::Mul(a.hi, inverse);
  const V rest = hn::Add(fma(hn::Neg(q), b.hi, a.hi), fma(hn::Neg(q), b.lo, a.lo));
  return fastTwoSum(q, hn::Mul(rest, inverse));
}

HWY_INLINE DD select(M m, DD yes, DD no) {
  return {hn::IfThenElse(m, yes.hi, no.hi), hn::IfThenElse(m, yes.lo, no.lo)};
}
HWY_INLINE DD negate(DD a) { return {hn::Neg(a.hi), hn::Neg(a.lo)}; }

/// a with the sign bit of `sign` flipped into both parts.
HWY_INLINE DD flipSign(DD a, V sign) {
  const V bit = hn::And(sign, set(-0.0));
  return {hn::Xor(a.hi, bit), hn::Xor(a.lo, bit)};
}

/// The double that rounds to fp32 as y.hi + y.lo does: y.hi, moved to the odd neighbour towards
/// y.lo when it is even and not exact. With it a tie in y.hi is broken by y.lo, however small. A
/// NaN in y.lo (left by an infinite y.hi) counts as 0.
HWY_INLINE V roundToOdd(DD y) {
  const DI64 di;
  const V zero = hn::Zero(D64());
  const auto bits = hn::BitCast(di, y.hi);
  const auto opposite = hn::Lt(hn::BitCast(di, hn::Xor(y.hi, y.lo)), hn::Zero(di));
  const auto step = hn::IfThenElse(opposite, hn::Set(di, -1), hn::Set(di, 1));
  const auto inexact = hn::Or(hn::Lt(y.lo, zero), hn::Gt(y.lo, zero));
  const auto even = hn::Eq(hn::And(bits, hn::Set(di, 1)), hn::Zero(di));
  const auto move = hn::And(hn::RebindMask(di, inexact), even);
  return hn::BitCast(D64(), hn::Add(bits, hn::IfThenElseZero(move, step)));
}

/// x rounded to fp32; overflow gives an infinity.
HWY_INLINE VF narrow(V x) {
#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128
  // Highway's own version gives the largest float instead.
  HWY_ALIGN double wide[HWY_MAX_BYTES / 8];
  HWY_ALIGN float result[HWY_MAX_BYTES / 8];
  hn::Store(x, D64(), wide);
  for (size_t i = 0; i < hn::Lanes(D64()); ++i)
    result[i] = static_cast<float>(wide[i]);
  return hn::Load(DF32(), result);
#else
  return hn::DemoteTo(DF32(), x);
#endif
}

/// The quiet NaN 0x7FC00000 where `x` is a NaN, else `y`.
HWY_INLINE VF keepNan(VF x, VF y) {
  const DF32 d;
  const VF nan = hn::BitCast(d, hn::Set(DU32(), 0x7FC00000u));
  return hn::IfThenElse(hn::Eq(x, x), y, nan);
}
HWY_INLINE VF canonical(VF y) { return keepNan(y, y); }

/// min(max(x, low), high); a NaN gives either bound.
HWY_INLINE V clamp(V x, double low, double high) {
  return hn::Min(hn::Max(x, set(low)), set(high));
}

} // namespace HWY_NAMESPACE
} // namespace kilnrt
HWY_AFTER_NAMESPACE();

#endif // KILNRT_NUMERICS_DOUBLEMATH_INL_H
