//===- Erf-inl.h - the normal distribution in double-double, per target -----------------------===//
//
// Two pieces: a series for |x| < 1, and e^(-x^2/2) times a smooth ratio beyond, which keeps full
// relative accuracy far into the tail. x^2 is exact for a float, so the exponential has no argument
// error.
//
//===------------------------------------------------------------------------------------------===//

#if defined(KILNRT_NUMERICS_ERF_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef KILNRT_NUMERICS_ERF_INL_H
#undef KILNRT_NUMERICS_ERF_INL_H
#else
#define KILNRT_NUMERICS_ERF_INL_H
#endif

#include "ExpLog-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kilnrt {
namespace HWY_NAMESPACE {

/// 1 / sqrt(2 pi).
HWY_INLINE DD inverseSqrtTwoPi() {
  return {set(0x1.9884533d43651p-2), set(-0x1.cbc0d30ebfd15p-56)};
}

/// erf(x / sqrt(2)) sqrt(pi / 2) / x - 1 as a function of w = x^2 <= 1: |value| <= 0.15.
HWY_INLINE V erfSeries(V w) {
  static constexpr double c[] = {
      -0x1.5555555555555p-3,  0x1.9999999999999p-6,  -0x1.8618618618565p-9,  0x1.2f684bda0d812p-12,
      -0x1.8d3018d045639p-16, 0x1.c01c00f3419b9p-20, -0x1.bbd753c88ca24p-24, 0x1.879b9b75e6146p-28,
      -0x1.3722681f6c3aep-32, 0x1.bac9fbc752a11p-37, -0x1.e59164aecb68bp-42};
  return hn::Mul(w, polynomial(w, c));
}

/// e^(a^2/2) times the upper tail of the normal distribution at `a`, 1 <= a <= 16; normalised.
HWY_INLINE DD tailRatio(V a) {
  // (a + 5) ratio(a) in u = (a - 5) / (a + 5), error 2^-60.
  static constexpr double first = 0x1.89d3abe1f95aep-1, firstLow = -0x1.ff4c5d4342768p-57;
  static constexpr double c[] = {
      -0x1.54ad03f27ca18p-1, 0x1.fb31653876f86p-2,   -0x1.410ed5f875960p-2,  0x1.51f6329f01dd2p-3,
      -0x1.1b1c254ca2a6bp-4, 0x1.54b4d4f468199p-6,   -0x1.88590e9d5ab09p-9,  -0x1.a250373554c8ap-11,
      0x1.1daf1c22798aap-11, -0x1.f214b494b88dap-15, -0x1.a170cf9d3ba73p-15, 0x1.17e00de05b09dp-16,
      0x1.0b35cd9a9c0e0p-18, -0x1.73e06368a3d85p-19, -0x1.6e0a1ff1de83bp-22, 0x1.d11c91952d3b3p-22,
      0x1.b7838171625dfp-25, -0x1.026242f9b57fcp-24, -0x1.0aea90f8d66e7p-26};
  const V d = hn::Add(a, set(5.0));
  const V inverse = hn::Div(set(1.0), d);
  const V inverseLow = hn::Mul(inverse, fma(hn::Neg(inverse), d, set(1.0)));
  const V u = fma(set(-10.0), inverse, set(1.0));
  const DD sum = fastTwoSum(set(first), hn::Mul(u, polynomial(u, c)));
  const DD p = multiply({sum.hi, hn::Add(sum.lo, set(firstLow))}, {inverse, inverseLow});
  return fastTwoSum(p.hi, p.lo);
}

/// tailRatio in plain doubles, error 2^-45.
HWY_INLINE V fastTailRatio(V a) {
  static constexpr double c[] = {
      0x1.89d3abe1f95b5p-1,  -0x1.54ad03f27c82cp-1,  0x1.fb31653875dfcp-2,
      -0x1.410ed5f8934abp-2, 0x1.51f6329f6d96fp-3,   -0x1.1b1c253bcca3cp-4,
      0x1.54b4d4c2b603cp-6,  -0x1.885930afee2efp-9,  -0x1.a2502987cbec1p-11,
      0x1.1db394229326ap-11, -0x1.f1fbcca07c0dfp-15, -0x1.a2b4045aaad99p-15,
      0x1.161c9b62bde20p-16, 0x1.22598b2d1ddf0p-18,  -0x1.451411d22579ep-19,
      -0x1.577429a8052a1p-21};
  const V inverse = hn::Div(set(1.0), hn::Add(a, set(5.0)));
  return hn::Mul(polynomial(fma(set(-10.0), inverse, set(1.0)), c), inverse);
}

} // namespace HWY_NAMESPACE
} // namespace kilnrt
HWY_AFTER_NAMESPACE();

#endif // KILNRT_NUMERICS_ERF_INL_H
