//===- ActivationErf.cpp - erf, gelu and the derivative of gelu -------------------------------===//
//
// The exact function rounded once to fp32.
//
//===------------------------------------------------------------------------------------------===//

#include "ActivationKernels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ActivationErf.cpp"
#include "hwy/foreach_target.h" // IWYU pragma: keep

#include "Erf-inl.h"
#include "FastMath-inl.h"
#include "RowMap-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kilnrt {
namespace HWY_NAMESPACE {
namespace {
using kiln::isa::ActFn;

/// 1 - p for 0 <= p < 1.
HWY_INLINE DD oneMinus(DD p) { return addTo(set(1.0), negate(p)); }

struct Erf : ExactFn {
  static HWY_INLINE V fast(V x) {
    const V a = hn::Min(hn::Abs(x), set(6.0));
    const V square = hn::Mul(a, a);
    const V w = hn::Min(hn::Add(square, square), set(1.0));
    const V scaled = hn::Mul(a, set(0x1.20dd750429b6dp+0));
    const V near = fma(scaled, fastErfSeries(w), scaled);
    const V tail = hn::Mul(fastExp(hn::Neg(square)),
                           fastTailRatio(hn::Max(hn::Mul(a, set(0x1.6a09e667f3bcdp+0)), set(1.0))));
    const V far = fma(tail, set(-2.0), set(1.0));
    return hn::CopySign(hn::IfThenElse(hn::Lt(square, set(0.5)), near, far), x);
  }
  static HWY_INLINE DD exact(V x) {
    const V a = hn::Min(hn::Abs(x), set(6.0));
    const V square = hn::Mul(a, a);
    // |x| sqrt(2) < 1: x 2/sqrt(pi) (1 + series(2 x^2)).
    const M small = hn::Lt(square, set(0.5));
    const V w = hn::Min(hn::Add(square, square), set(1.0));
    const DD series = multiply(fastTwoSum(set(1.0), erfSeries(w)),
                               DD{set(0x1.20dd750429b6dp+0), set(0x1.1ae3a914fed80p-56)});
    const DD near = multiply(series, a);
    // Else 1 - 2 Phi(-a sqrt(2)).
    const V scaled = hn::Max(hn::Mul(a, set(0x1.6a09e667f3bcdp+0)), set(1.0));
    const DD tail = multiply(expDD(hn::Neg(square)), tailRatio(scaled));
    const DD far = oneMinus({hn::Add(tail.hi, tail.hi), hn::Add(tail.lo, tail.lo)});
    const DD y = select(small, near, far);
    return flipSign(fastTwoSum(y.hi, y.lo), x);
  }
};

/// Pieces of the normal distribution at a float x: density times sqrt(2 pi), and upper tail at |x|.
struct NormalParts {
  V a;     // |x|, bounded
  M small; // |x| < 1
  DD exponential, tail;
  V series; // see erfSeries
};

HWY_INLINE NormalParts normalParts(V x) {
  const V a = hn::Min(hn::Abs(x), set(16.0));
  const V square = hn::Mul(a, a);
  const DD e = expDD(hn::Mul(square, set(-0.5)));
  const DD tail = multiply(e, tailRatio(hn::Max(a, set(1.0))));
  return {a, hn::Lt(a, set(1.0)), e, fastTwoSum(tail.hi, tail.lo),
          erfSeries(hn::Min(square, set(1.0)))};
}

struct Gelu : ExactFn {
  static HWY_INLINE V fast(V x) {
    const V a = hn::Min(hn::Abs(x), set(16.0));
    const V square = hn::Mul(a, a);
    const V scaled = hn::Mul(clamp(x, -1.0, 1.0), inverseSqrtTwoPi().hi);
    const V series = fastErfSeries(hn::Min(square, set(1.0)));
    const V near = hn::Add(fma(scaled, series, scaled), set(0.5));
    const V tail =
        hn::Mul(fastExp(hn::Mul(square, set(-0.5))), fastTailRatio(hn::Max(a, set(1.0))));
    const V far = hn::IfThenElse(hn::Lt(x, hn::Zero(D64())), tail, hn::Sub(set(1.0), tail));
    return hn::Mul(hn::IfThenElse(hn::Lt(a, set(1.0)), near, far), hn::Max(x, set(-16.0)));
  }
  static HWY_INLINE DD exact(V x) {
    const NormalParts p = normalParts(x);
    const DD slope = multiply(fastTwoSum(set(1.0), p.series), inverseSqrtTwoPi());
    const DD near = addTo(set(0.5), multiply(slope, clamp(x, -1.0, 1.0)));
    const DD far = select(hn::Lt(x, hn::Zero(D64())), p.tail, oneMinus(p.tail));
    const DD phi = select(p.small, near, far);
    return multiply(phi, hn::Max(x, set(-16.0)));
  }
};

struct GeluDx : ExactFn {
  static constexpr double watch = -0x1.80ead197f00b4p-1;
  static HWY_INLINE V fast(V x) {
    const V a = hn::Min(hn::Abs(x), set(16.0));
    const V square = hn::Mul(a, a);
    const V scaled = hn::Mul(a, inverseSqrtTwoPi().hi);
    const V e = fastExp(hn::Mul(square, set(-0.5)));
    const V series = fastErfSeries(hn::Min(square, set(1.0)));
    const V small = hn::Mul(hn::CopySign(scaled, x), hn::Add(hn::Add(e, set(1.0)), series));
    const V near = hn::Add(small, set(0.5));
    const V q = hn::Mul(e, hn::Sub(scaled, fastTailRatio(hn::Max(a, set(1.0)))));
    const V far = hn::IfThenElse(hn::Lt(x, hn::Zero(D64())), hn::Neg(q), hn::Add(set(1.0), q));
    return hn::IfThenElse(hn::Lt(a, set(1.0)), near, far);
  }
  static HWY_INLINE DD exact(V x) {
    const NormalParts p = normalParts(x);
    // |x| < 1: 1/2 + x / sqrt(2 pi) (1 + series + e^(-x^2/2)).
    const DD one = addTo(set(1.0), p.exponential);
    const DD two = fastTwoSum(one.hi, hn::Add(one.lo, p.series));
    const DD slope = multiply(two, inverseSqrtTwoPi());
    const DD product = multiply(slope, clamp(x, -1.0, 1.0));
    const DD sum = twoSum(set(0.5), product.hi);
    const DD near = fastTwoSum(sum.hi, hn::Add(sum.lo, product.lo));
    // Beyond: with q = |x| density - tail, 1 + q above and -q below.
    const DD density = multiply(p.exponential, multiply(inverseSqrtTwoPi(), p.a));
    const DD difference = twoSum(density.hi, hn::Neg(p.tail.hi));
    const DD q = fastTwoSum(difference.hi, hn::Add(difference.lo, hn::Sub(density.lo, p.tail.lo)));
    const DD far = select(hn::Lt(x, hn::Zero(D64())), negate(q), addTo(set(1.0), q));
    return select(p.small, near, far);
  }
};

bool erfRow(ActFn fn, const float *x, float *out, size_t n) {
  switch (fn) {
  case ActFn::Erf:
    return mapRow<Erf>(x, out, n), true;
  case ActFn::Gelu:
    return mapRow<Gelu>(x, out, n), true;
  case ActFn::GeluDx:
    return mapRow<GeluDx>(x, out, n), true;
  default:
    return false;
  }
}

} // namespace
} // namespace HWY_NAMESPACE
} // namespace kilnrt
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kilnrt {
HWY_EXPORT(erfRow);
bool activationErfRow(kiln::isa::ActFn fn, const float *x, float *out, size_t n) {
  return HWY_DYNAMIC_DISPATCH(erfRow)(fn, x, out, n);
}
} // namespace kilnrt
#endif // HWY_ONCE
