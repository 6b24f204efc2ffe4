//===- FastMath-inl.h - the same functions in plain doubles, per target -----------------------===//
//
// Good to about 2^-46 of the value: enough to round all but one float in 2^18, at half the price of
// double-double. RowMap-inl.h recomputes the rest.
//
//===------------------------------------------------------------------------------------------===//

#if defined(KILNRT_NUMERICS_FASTMATH_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef KILNRT_NUMERICS_FASTMATH_INL_H
#undef KILNRT_NUMERICS_FASTMATH_INL_H
#else
#define KILNRT_NUMERICS_FASTMATH_INL_H
#endif

#include "DoubleMath-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kilnrt {
namespace HWY_NAMESPACE {

/// e^x = scale * (1 + rest), |rest| <= 0.42 with relative accuracy.
struct FastExpParts {
  V scale, rest;
};

/// For |x| <= 700.
HWY_INLINE FastExpParts fastExpParts(V x) {
  static constexpr double q[] = {
      0x1.0000000000000p-1,  0x1.5555555553b78p-3,  0x1.5555555554cb7p-5,
      0x1.1111111c478ebp-7,  0x1.6c16c1738ff55p-10, 0x1.a019ada3609f3p-13,
      0x1.a019c9a5652d3p-16, 0x1.72c72ca338df0p-19, 0x1.2880411bad1aap-22};
  const DU64 du;
  const V magic = set(0x1.8p52); // see expParts
  const V shifted = fma(x, set(0x1.71547652b82fep+0), magic);
  const V k = hn::Sub(magic, shifted);
  const V r = fma(k, set(0x1.473de6af278edp-34), fma(k, set(0x1.62e42fef00000p-1), x));
  const V rest = fma(hn::Mul(r, r), polynomial(r, q), r);
  const auto exponent = hn::Add(hn::BitCast(du, shifted), hn::Set(du, 1023));
  return {hn::BitCast(D64(), hn::ShiftLeft<52>(exponent)), rest};
}

HWY_INLINE V fastExp(V x) {
  const FastExpParts p = fastExpParts(x);
  return fma(p.scale, p.rest, p.scale);
}

/// e^x - 1 for -700 <= x <= 0.
HWY_INLINE V fastExpMinusOne(V x) {
  const FastExpParts p = fastExpParts(x);
  return fma(p.scale, p.rest, hn::Sub(p.scale, set(1.0)));
}

/// 1 / (1 + e^-w) for |w| <= 700.
HWY_INLINE V fastSigmoid(V w) {
  const V one = set(1.0);
  return hn::Div(one, hn::Add(one, fastExp(hn::Neg(w))));
}

/// d/dw of w / (1 + e^-w) = s + w s (1 - s) with 1 - s = s e^-w.
HWY_INLINE V fastSiluSlope(V w) {
  const V one = set(1.0);
  const V t = fastExp(hn::Neg(w));
  const V s = hn::Div(one, hn::Add(one, t));
  return hn::Mul(s, fma(w, hn::Mul(s, t), one));
}

/// 2 atanh(s) for |s| <= 0.2.
HWY_INLINE V fastTwiceAtanh(V s) {
  static constexpr double c[] = {0x1.555555555556ep-1, 0x1.999999997c60ap-2, 0x1.2492495208437p-2,
                                 0x1.c71c3cd5b95f4p-3, 0x1.746bbab7ddfe4p-3, 0x1.39029fee44135p-3,
                                 0x1.35a069e7c1f02p-3};
  const V z = hn::Mul(s, s);
  return fma(hn::Mul(s, z), polynomial(z, c), hn::Add(s, s));
}

/// log(1 + t) for 0 <= t <= 1.
HWY_INLINE V fastLogOnePlus(V t) {
  const M big = hn::Gt(t, set(0.5)); // see logOnePlus
  const V n = hn::Sub(t, hn::IfThenElseZero(big, set(1.0)));
  const V d = hn::Add(t, hn::IfThenElse(big, set(3.0), set(2.0)));
  return hn::Add(fastTwiceAtanh(hn::Div(n, d)), hn::IfThenElseZero(big, set(0x1.62e42fefa39efp-1)));
}

/// erf(x / sqrt(2)) sqrt(pi / 2) / x - 1 as a function of w = x^2 <= 1.
HWY_INLINE V fastErfSeries(V w) {
  static constexpr double c[] = {
      -0x1.5555555555552p-3,  0x1.9999999998ac5p-6,   -0x1.861861855266ep-9,
      0x1.2f684b9a66df7p-12,  -0x1.8d300446c53d8p-16, 0x1.c01845fd78a17p-20,
      -0x1.bb7111f46c9ebp-24, 0x1.812ea024c9298p-28,  -0x1.fced4686caee0p-33};
  return hn::Mul(w, polynomial(w, c));
}

} // namespace HWY_NAMESPACE
} // namespace kilnrt
HWY_AFTER_NAMESPACE();

#endif // KILNRT_NUMERICS_FASTMATH_INL_H
