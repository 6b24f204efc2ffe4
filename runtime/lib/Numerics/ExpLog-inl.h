//===- ExpLog-inl.h - exponential, logarithm and sigmoid in double-double, per target ---------===//
//
// Results are sums hi + lo good to about 2^-57 of the value, which leaves next to no float whose
// rounding they could get wrong. Coefficients are Chebyshev interpolants computed to 300 bits.
//
//===------------------------------------------------------------------------------------------===//

#if defined(KILNRT_NUMERICS_EXPLOG_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef KILNRT_NUMERICS_EXPLOG_INL_H
#undef KILNRT_NUMERICS_EXPLOG_INL_H
#else
#define KILNRT_NUMERICS_EXPLOG_INL_H
#endif

#include "DoubleMath-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kilnrt {
namespace HWY_NAMESPACE {

/// e^x = scale * (1 + head + tail): scale a power of two, |head| <= 0.35, tail not small against
/// head.
struct ExpParts {
  V scale, head, tail;
};

/// For |x.hi| <= 700.
HWY_INLINE ExpParts expParts(DD x) {
  // (e^r - 1 - r) / r^2 on [-ln2/2, ln2/2], error 2^-61 of e^r.
  static constexpr double q[] = {
      0x1.0000000000000p-1,  0x1.5555555555557p-3,  0x1.5555555555556p-5,  0x1.11111111100dcp-7,
      0x1.6c16c16c162d4p-10, 0x1.a01a01abe7fe1p-13, 0x1.a01a01a6d889cp-16, 0x1.71de0231960ebp-19,
      0x1.27e4db646b17ep-22, 0x1.af4de97ca4194p-26, 0x1.1f730349868cep-29};
  const DU64 du;
  const V magic = set(0x1.8p52); // its last bit is worth 1: adding it rounds to an integer
  const V shifted = fma(x.hi, set(0x1.71547652b82fep+0), magic);
  const V k = hn::Neg(hn::Sub(shifted, magic));
  // ln2 in two parts; the first has 33 bits, so the first difference is exact.
  const V r0 = fma(k, set(0x1.62e42fef00000p-1), x.hi);
  const DD r = fastTwoSum(r0, fma(k, set(0x1.473de6af278edp-34), x.lo));
  const V tail = fma(hn::Mul(r.hi, r.hi), polynomial(r.hi, q), r.lo);
  const auto exponent = hn::Add(hn::BitCast(du, shifted), hn::Set(du, 1023));
  return {hn::BitCast(D64(), hn::ShiftLeft<52>(exponent)), r.hi, tail};
}

/// e^x, normalised, for |x.hi| <= 700.
HWY_INLINE DD expDD(DD x) {
  const ExpParts p = expParts(x);
  const DD one = fastTwoSum(set(1.0), p.head);
  const DD sum = fastTwoSum(one.hi, hn::Add(one.lo, p.tail));
  return {hn::Mul(sum.hi, p.scale), hn::Mul(sum.lo, p.scale)};
}
HWY_INLINE DD expDD(V x) { return expDD(DD{x, hn::Zero(D64())}); }

/// e^x - 1, normalised, relative accuracy also near 0, for -700 <= x <= 0.
HWY_INLINE DD expMinusOne(V x) {
  const ExpParts p = expParts(DD{x, hn::Zero(D64())});
  const DD scaled = {hn::Mul(p.head, p.scale), hn::Mul(p.tail, p.scale)};
  const DD sum = addTo(hn::Sub(p.scale, set(1.0)), scaled);
  return fastTwoSum(sum.hi, sum.lo);
}

/// 2 atanh(n / d) for |n / d| <= 0.2, n and d normalised; lo may reach 2^-6 of hi.
HWY_INLINE DD twiceAtanh(DD n, DD d) {
  // (2 atanh(s) - 2 s) / s^3 in s^2 on [0, 0.0401], error 2^-60 of the sum.
  static constexpr double c[] = {0x1.5555555555555p-1, 0x1.999999999999ap-2, 0x1.24924924923f3p-2,
                                 0x1.c71c71c73526fp-3, 0x1.745d173637a6bp-3, 0x1.3b13b6e16d503p-3,
                                 0x1.110fd2e0c4f66p-3, 0x1.e23837221fa1cp-4, 0x1.a82165e20f4bbp-4,
                                 0x1.d5bcffa4d5ad5p-4};
  const DD s = divide(n, d);
  const V z = hn::Mul(s.hi, s.hi);
  const V twice = hn::Add(s.hi, s.hi);
  const V cubic = hn::Mul(hn::Mul(s.hi, z), polynomial(z, c));
  return {twice, fma(set(2.0), s.lo, cubic)};
}

/// log(1 + t) for normalised t in [0, 1], relative accuracy; not normalised.
HWY_INLINE DD logOnePlus(DD t) {
  const V zero = hn::Zero(D64());
  // Above 1/2 halve 1 + t first: the argument of atanh is (t - 1) / (t + 3), else t / (t + 2).
  const M big = hn::Gt(t.hi, set(0.5));
  const DD n = {hn::Sub(t.hi, hn::IfThenElseZero(big, set(1.0))), t.lo};
  const DD d = addTo(hn::IfThenElse(big, set(3.0), set(2.0)), t);
  const DD a = twiceAtanh(n, d);
  const DD sum = addTo(hn::IfThenElse(big, set(0x1.62e42fefa39efp-1), zero), a);
  return {sum.hi, hn::Add(sum.lo, hn::IfThenElseZero(big, set(0x1.abc9e3b39803fp-56)))};
}

/// x = 2^k m with m in [sqrt(1/2), sqrt(2)).
struct FloatParts {
  V k, m;
};

/// For a positive finite float held in a double, denormals included.
HWY_INLINE FloatParts splitFloat(V x) {
  const DU64 du;
  const auto bits = hn::BitCast(du, x);
  // The bits of sqrt(1/2), less a bias that makes the shifted exponent positive.
  const auto offset = hn::Set(du, 0x3FE6A09E00000000ull - (1024ull << 52));
  const auto exponent = hn::ShiftRight<52>(hn::Sub(bits, offset));
  const V k = hn::Sub(hn::BitCast(D64(), hn::Or(exponent, hn::Set(du, 0x4330000000000000ull))),
                      set(0x1p52 + 1024));
  const auto unbias = hn::ShiftLeft<52>(hn::Sub(exponent, hn::Set(du, 1024)));
  return {k, hn::BitCast(D64(), hn::Sub(bits, unbias))};
}

/// Natural logarithm of a positive finite float held in a double; normalised.
HWY_INLINE DD logOfFloat(V x) {
  const FloatParts parts = splitFloat(x);
  const V zero = hn::Zero(D64());
  const V one = set(1.0);
  // Both are exact: m has 24 bits.
  const DD a = twiceAtanh({hn::Sub(parts.m, one), zero}, {hn::Add(parts.m, one), zero});
  const DD sum = addTo(hn::Mul(parts.k, set(0x1.62e42fef00000p-1)), a);
  return fastTwoSum(sum.hi, fma(parts.k, set(0x1.473de6af278edp-34), sum.lo));
}

/// 1 / (1 + e^-w), normalised, for |w.hi| <= 700.
HWY_INLINE DD sigmoidDD(DD w) {
  // Near 0 the value is almost the tie 1/2 + w/4: the terms beyond must keep their sign.
  static constexpr double c[] = {-0x1.5555555555555p-6, 0x1.1111111111111p-9,
                                 -0x1.ba1ba1ba1ba1cp-13, 0x1.664f4882c10fap-16,
                                 -0x1.226e355e6c23dp-19};
  const V one = set(1.0);
  const V zero = hn::Zero(D64());
  const M negative = hn::Lt(w.hi, zero);
  const V sign = hn::AndNot(w.hi, set(-0.0)); // makes -|w|
  const DD t = expDD(flipSign(w, sign));
  const DD n = select(negative, t, {one, zero});
  const DD general = divide(n, addTo(one, t));
  const V z = hn::Mul(w.hi, w.hi);
  const V beyond = hn::Mul(hn::Mul(w.hi, z), polynomial(z, c));
  const DD linear = fastTwoSum(set(0.5), hn::Mul(w.hi, set(0.25)));
  const DD series = {linear.hi, hn::Add(linear.lo, fma(w.lo, set(0.25), beyond))};
  const DD y = select(hn::Lt(hn::Abs(w.hi), set(0x1p-5)), series, general);
  return fastTwoSum(y.hi, y.lo);
}

/// d/dw of w / (1 + e^-w), for |w.hi| <= 300; absolute accuracy near its zero at -1.278.
HWY_INLINE DD siluSlopeDD(DD w) {
  // 1/2 + w/2 - w^3/12 + ...: the same tie as above.
  static constexpr double c[] = {-0x1.5555555555555p-4, 0x1.999999999999ap-7,
                                 -0x1.ba1ba1ba1ba1cp-10, 0x1.bfe31aa371538p-13,
                                 -0x1.b3a5500da235bp-16};
  const V one = set(1.0);
  const V zero = hn::Zero(D64());
  const M negative = hn::Lt(w.hi, zero);
  const DD t = expDD(flipSign(w, hn::AndNot(w.hi, set(-0.0))));
  const DD d = addTo(one, t);
  // With t = e^-|w|: (1 + t + w t) / (1 + t)^2 at w >= 0, t (1 + t + w) / (1 + t)^2 below.
  const DD linear = select(negative, w, multiply(w, t));
  const DD sum = twoSum(d.hi, linear.hi);
  const DD n = fastTwoSum(sum.hi, hn::Add(sum.lo, hn::Add(d.lo, linear.lo)));
  const DD factor = select(negative, t, {one, zero});
  const DD square = multiply(d, d);
  const DD general = divide(multiply(n, factor), fastTwoSum(square.hi, square.lo));
  const V z = hn::Mul(w.hi, w.hi);
  const V beyond = hn::Mul(hn::Mul(w.hi, z), polynomial(z, c));
  const DD half = fastTwoSum(set(0.5), hn::Mul(w.hi, set(0.5)));
  const DD series = {half.hi, hn::Add(half.lo, fma(w.lo, set(0.5), beyond))};
  const DD y = select(hn::Lt(hn::Abs(w.hi), set(0x1p-5)), series, general);
  return fastTwoSum(y.hi, y.lo);
}

} // namespace HWY_NAMESPACE
} // namespace kilnrt
HWY_AFTER_NAMESPACE();

#endif // KILNRT_NUMERICS_EXPLOG_INL_H
