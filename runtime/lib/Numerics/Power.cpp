//===- Power.cpp - x to the power y, rounded once ---------------------------------------------===//
//
// |x|^y = e^(y ln|x|) with the logarithm good to 2^-64, then the C standard's special cases.
// Results near a rounding border, and denormal ones, are checked for being exact ties.
//
//===------------------------------------------------------------------------------------------===//

#include "AluKernels.h"
#include "ExactPower.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "Power.cpp"
#include "hwy/foreach_target.h" // IWYU pragma: keep

#include "ExpLog-inl.h"
#include "RowMap-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kilnrt {
namespace HWY_NAMESPACE {
namespace {

/// ln(a) for a positive finite float, relative error 2^-64; normalised.
HWY_INLINE DD accurateLog(V a) {
  // 2 atanh(s) = 2s + s^3 (2/3 + z (2/5 + ...)), z = s^2 <= 0.0295.
  static constexpr double c[] = {0x1.999999999999ap-2, 0x1.24924924923f3p-2, 0x1.c71c71c73526fp-3,
                                 0x1.745d173637a6bp-3, 0x1.3b13b6e16d503p-3, 0x1.110fd2e0c4f66p-3,
                                 0x1.e23837221fa1cp-4, 0x1.a82165e20f4bbp-4, 0x1.d5bcffa4d5ad5p-4};
  const FloatParts parts = splitFloat(a);
  const V zero = hn::Zero(D64());
  const V one = set(1.0);
  const DD s = divide({hn::Sub(parts.m, one), zero}, {hn::Add(parts.m, one), zero});
  const DD z = multiply(s, s);
  const DD head = fastTwoSum(set(0x1.5555555555555p-1), hn::Mul(z.hi, polynomial(z.hi, c)));
  const DD factor = {head.hi, hn::Add(head.lo, set(0x1.5555555555555p-55))};
  const DD cubic = multiply(multiply(s, z), factor);
  const DD sum = fastTwoSum(hn::Add(s.hi, s.hi), cubic.hi);
  const DD log = {sum.hi, hn::Add(sum.lo, fma(set(2.0), s.lo, cubic.lo))};
  const DD total = addTo(hn::Mul(parts.k, set(0x1.62e42fef00000p-1)), log);
  return fastTwoSum(total.hi, fma(parts.k, set(0x1.473de6af278edp-34), total.lo));
}

HWY_INLINE M isInteger(V magnitude) {
  // Adding 2^52 rounds to an integer; from there on every double is one.
  const V big = set(0x1p52);
  const V rounded = hn::Sub(hn::Add(magnitude, big), big);
  return hn::Or(hn::Eq(rounded, magnitude), hn::Ge(magnitude, big));
}

/// Replaces the lanes of `y` whose power is exact.
HWY_NOINLINE V settleExactPowers(VF base, VF exponent, V y) {
  HWY_ALIGN float x[HWY_MAX_BYTES / 8], p[HWY_MAX_BYTES / 8];
  HWY_ALIGN double result[HWY_MAX_BYTES / 8];
  hn::Store(base, DF32(), x);
  hn::Store(exponent, DF32(), p);
  hn::Store(y, D64(), result);
  for (size_t i = 0; i < hn::Lanes(D64()); ++i)
    if (x[i] > 0.0f && x[i] < __builtin_inff() && __builtin_fabsf(p[i]) < __builtin_inff())
      exactPower(x[i], p[i], &result[i]);
  return hn::Load(D64(), result);
}

HWY_INLINE VF powerVector(VF x, VF y) {
  const D64 d;
  const DF32 df;
  const VF magnitude = hn::Abs(x);
  const V a = hn::PromoteTo(d, magnitude);
  const V wideY = hn::PromoteTo(d, y);
  const V exponent = clamp(wideY, -0x1p130, 0x1p130);
  const DD log = accurateLog(clamp(a, 0x1p-149, 0x1p128));
  // Zero and infinity act through a logarithm beyond all others.
  const V zero = hn::Zero(d);
  const M isZero = hn::Eq(a, zero);
  const M isInfinite = hn::Gt(a, set(0x1p128));
  const V logHigh =
      hn::IfThenElse(isZero, set(-0x1p500), hn::IfThenElse(isInfinite, set(0x1p500), log.hi));
  const DD product = multiply(DD{logHigh, log.lo}, exponent);
  const DD w = fastTwoSum(product.hi, product.lo);
  const V bounded = clamp(w.hi, -200.0, 200.0);
  const V low = hn::IfThenElseZero(hn::Eq(bounded, w.hi), w.lo);
  V result = roundToOdd(expDD(DD{bounded, low}));
  const M suspect = isRoundingUncertain(result);
  if (HWY_UNLIKELY(!hn::AllFalse(d, suspect)))
    result = settleExactPowers(magnitude, y, result);
  // A negative x needs an integer y, and an odd one keeps the sign.
  const V absY = hn::Abs(wideY);
  const M integer = isInteger(absY);
  const M odd = hn::AndNot(isInteger(hn::Mul(absY, set(0.5))), integer);
  const V signOfX = hn::And(hn::PromoteTo(d, x), set(-0.0));
  result = hn::Or(result, hn::IfThenElseZero(odd, signOfX));
  const M finiteNegative = hn::And(hn::Lt(hn::PromoteTo(d, x), zero), hn::Not(isInfinite));
  const M invalid = hn::AndNot(integer, finiteNegative);
  result = hn::IfThenElse(invalid, set(__builtin_nan("")), result);
  const VF one = hn::Set(df, 1.0f);
  const VF rounded = canonical(keepNan(x, keepNan(y, narrow(result))));
  return hn::IfThenElse(hn::Or(hn::Eq(y, hn::Zero(df)), hn::Eq(x, one)), one, rounded);
}

void powerRow(FloatSource x, FloatSource y, float *out, size_t n) {
  const DF32 df;
  const size_t lanes = hn::Lanes(df);
  for (size_t i = 0; i < n; i += lanes) {
    const size_t count = n - i < lanes ? n - i : lanes;
    HWY_ALIGN float base[HWY_MAX_BYTES / 8], exponent[HWY_MAX_BYTES / 8];
    for (size_t j = 0; j < lanes; ++j) {
      const size_t at = i + (j < count ? j : 0);
      base[j] = x.row ? x.row[at] : x.value;
      exponent[j] = y.row ? y.row[at] : y.value;
    }
    hn::Store(powerVector(hn::Load(df, base), hn::Load(df, exponent)), df, base);
    for (size_t j = 0; j < count; ++j)
      out[i + j] = base[j];
  }
}

} // namespace
} // namespace HWY_NAMESPACE
} // namespace kilnrt
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kilnrt {
HWY_EXPORT(powerRow);
void powerSources(FloatSource x, FloatSource y, float *out, size_t n) {
  HWY_DYNAMIC_DISPATCH(powerRow)(x, y, out, n);
}
} // namespace kilnrt
#endif // HWY_ONCE
