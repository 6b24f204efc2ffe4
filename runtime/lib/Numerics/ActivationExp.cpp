//===- ActivationExp.cpp - exp, tanh, sigmoid, softplus and the functions made of them --------===//
//
// The exact function rounded once to fp32 (the activation table of the instruction reference).
// Negative arguments use forms without cancellation, so tails keep their relative accuracy down to
// the smallest denormal.
//
//===------------------------------------------------------------------------------------------===//

#include "ActivationKernels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ActivationExp.cpp"
#include "hwy/foreach_target.h" // IWYU pragma: keep

#include "ExpLog-inl.h"
#include "FastMath-inl.h"
#include "RowMap-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kilnrt {
namespace HWY_NAMESPACE {
namespace {
using kiln::isa::ActFn;

/// x y for a normalised y; x exact.
HWY_INLINE DD times(V x, DD y) { return multiply(y, x); }

/// The factor of x in x * (something that vanishes at -Inf): beyond `bound` the product is below
/// every float, and a finite factor keeps -Inf * 0 from being a NaN.
HWY_INLINE V boundedBelow(V x, double bound) { return hn::Max(x, set(-bound)); }

struct Exp : ExactFn {
  static HWY_INLINE V fast(V x) { return fastExp(clamp(x, -200.0, 200.0)); }
  static HWY_INLINE DD exact(V x) { return expDD(clamp(x, -200.0, 200.0)); }
};

struct ErfDx : ExactFn {
  static HWY_INLINE V fast(V x) {
    const V bounded = clamp(x, -16.0, 16.0);
    return hn::Mul(fastExp(hn::Neg(hn::Mul(bounded, bounded))), set(0x1.20dd750429b6dp+0));
  }
  static HWY_INLINE DD exact(V x) {
    const V bounded = clamp(x, -16.0, 16.0);
    const DD e = expDD(hn::Neg(hn::Mul(bounded, bounded)));
    const DD p = multiply(e, DD{set(0x1.20dd750429b6dp+0), set(0x1.1ae3a914fed80p-56)});
    return fastTwoSum(p.hi, p.lo);
  }
};

struct Sigmoid : ExactFn {
  static HWY_INLINE V fast(V x) { return fastSigmoid(clamp(x, -200.0, 200.0)); }
  static HWY_INLINE DD exact(V x) { return sigmoidDD({clamp(x, -200.0, 200.0), hn::Zero(D64())}); }
};

struct Silu : ExactFn {
  static HWY_INLINE V fast(V x) { return hn::Mul(boundedBelow(x, 200.0), Sigmoid::fast(x)); }
  static HWY_INLINE DD exact(V x) { return times(boundedBelow(x, 200.0), Sigmoid::exact(x)); }
};

struct SiluDx : ExactFn {
  static constexpr double watch = -0x1.474973c84120cp+0;
  static HWY_INLINE V fast(V x) { return fastSiluSlope(clamp(x, -200.0, 200.0)); }
  static HWY_INLINE DD exact(V x) {
    return siluSlopeDD({clamp(x, -200.0, 200.0), hn::Zero(D64())});
  }
};

/// 1.702 x for the sigmoid form of gelu; the constant is the decimal number.
HWY_INLINE DD geluSigmoidArgument(V x) {
  const DD p =
      multiply(DD{set(0x1.b3b645a1cac08p+0), set(0x1.89374bc6a7efap-55)}, clamp(x, -128.0, 128.0));
  return fastTwoSum(p.hi, p.lo);
}

struct GeluSigmoid : ExactFn {
  static HWY_INLINE V fast(V x) {
    const V w = hn::Mul(clamp(x, -128.0, 128.0), set(1.702));
    return hn::Mul(boundedBelow(x, 128.0), fastSigmoid(w));
  }
  static HWY_INLINE DD exact(V x) {
    return times(boundedBelow(x, 128.0), sigmoidDD(geluSigmoidArgument(x)));
  }
};

struct GeluSigmoidDx : ExactFn {
  static constexpr double watch = -0x1.80974a62be3dfp-1;
  static HWY_INLINE V fast(V x) {
    return fastSiluSlope(hn::Mul(clamp(x, -128.0, 128.0), set(1.702)));
  }
  static HWY_INLINE DD exact(V x) { return siluSlopeDD(geluSigmoidArgument(x)); }
};

/// x (1 + tanh z) / 2 = x sigmoid(2z), 2z = x (c1 + c3 x^2): no cancellation for negative x.
struct GeluTanh : ExactFn {
  static HWY_INLINE V fast(V x) {
    const V bounded = clamp(x, -16.0, 16.0);
    const V square = hn::Mul(bounded, bounded);
    const V slope = fma(square, set(0x1.2444f2a4d8b4bp-4), set(0x1.9884533d43651p+0));
    return hn::Mul(boundedBelow(x, 16.0), fastSigmoid(hn::Mul(bounded, slope)));
  }
  static HWY_INLINE DD exact(V x) {
    const DD c1 = {set(0x1.9884533d43651p+0), set(-0x1.cbc0d30ebfd15p-54)}; // 2 sqrt(2 / pi)
    const DD c3 = {set(0x1.2444f2a4d8b4bp-4), set(-0x1.6c843a29d1c70p-61)}; // 0.044715 c1
    const V bounded = clamp(x, -16.0, 16.0);
    const DD cubic = multiply(c3, hn::Mul(bounded, bounded));
    const DD sum = twoSum(c1.hi, cubic.hi);
    const DD w = multiply({sum.hi, hn::Add(sum.lo, hn::Add(c1.lo, cubic.lo))}, bounded);
    return times(boundedBelow(x, 16.0), sigmoidDD(fastTwoSum(w.hi, w.lo)));
  }
};

/// -E / (2 + E) with E = e^(-2|x|) - 1.
struct Tanh : ExactFn {
  static HWY_INLINE V fast(V x) {
    const V e = fastExpMinusOne(hn::Mul(hn::Min(hn::Abs(x), set(24.0)), set(-2.0)));
    return hn::CopySign(hn::Div(e, hn::Add(e, set(2.0))), x);
  }
  static HWY_INLINE DD exact(V x) {
    const V a = hn::Min(hn::Abs(x), set(24.0));
    const DD e = expMinusOne(hn::Mul(a, set(-2.0)));
    const DD q = divide(negate(e), addTo(set(2.0), e));
    return flipSign({hn::Abs(q.hi), q.lo}, x);
  }
};

/// max(x, 0) + log(1 + e^-|x|).
struct Softplus : ExactFn {
  static HWY_INLINE V fast(V x) {
    const V t = fastExp(hn::Neg(hn::Min(hn::Abs(x), set(200.0))));
    return hn::Add(hn::Max(x, hn::Zero(D64())), fastLogOnePlus(t));
  }
  static HWY_INLINE DD exact(V x) {
    const DD t = expDD(hn::Neg(hn::Min(hn::Abs(x), set(200.0))));
    const DD l = logOnePlus(t);
    const V positive = hn::Min(hn::Max(x, hn::Zero(D64())), set(0x1p200));
    const DD sum = twoSum(positive, l.hi);
    return fastTwoSum(sum.hi, hn::Add(sum.lo, l.lo));
  }
};

/// x n / d with t = e^-|x|: n = 1 + 2t, d = n + 2t^2 at x >= 0; n = t^2 + 2t, d = n + 2 below.
struct Mish : ExactFn {
  static HWY_INLINE V fast(V x) {
    const V one = set(1.0);
    const M negative = hn::Lt(x, hn::Zero(D64()));
    const V t = fastExp(hn::Neg(hn::Min(hn::Abs(x), set(200.0))));
    const V n = fma(t, set(2.0), hn::IfThenElse(negative, hn::Mul(t, t), one));
    const V rest = hn::IfThenElse(negative, one, hn::Mul(t, t));
    return hn::Mul(boundedBelow(x, 200.0), hn::Div(n, fma(rest, set(2.0), n)));
  }
  static HWY_INLINE DD exact(V x) {
    const V zero = hn::Zero(D64());
    const M negative = hn::Lt(x, zero);
    const DD t = expDD(hn::Neg(hn::Min(hn::Abs(x), set(200.0))));
    const DD twice = {hn::Add(t.hi, t.hi), hn::Add(t.lo, t.lo)};
    const DD square = multiply(t, t);
    const DD squareOrOne = select(negative, square, {set(1.0), zero});
    const DD sum = twoSum(squareOrOne.hi, twice.hi);
    const DD n = fastTwoSum(sum.hi, hn::Add(sum.lo, hn::Add(squareOrOne.lo, twice.lo)));
    const DD rest = select(negative, {set(2.0), zero},
                           {hn::Add(square.hi, square.hi), hn::Add(square.lo, square.lo)});
    const DD dSum = twoSum(rest.hi, n.hi);
    const DD d = fastTwoSum(dSum.hi, hn::Add(dSum.lo, hn::Add(rest.lo, n.lo)));
    return times(boundedBelow(x, 200.0), divide(n, d));
  }
};

bool expRow(ActFn fn, const float *x, float *out, size_t n) {
  switch (fn) {
  case ActFn::Exp:
    return mapRow<Exp>(x, out, n), true;
  case ActFn::ErfDx:
    return mapRow<ErfDx>(x, out, n), true;
  case ActFn::Sigmoid:
    return mapRow<Sigmoid>(x, out, n), true;
  case ActFn::Silu:
    return mapRow<Silu>(x, out, n), true;
  case ActFn::SiluDx:
    return mapRow<SiluDx>(x, out, n), true;
  case ActFn::GeluApprxSigmoid:
    return mapRow<GeluSigmoid>(x, out, n), true;
  case ActFn::GeluApprxSigmoidDx:
    return mapRow<GeluSigmoidDx>(x, out, n), true;
  case ActFn::GeluApprxTanh:
    return mapRow<GeluTanh>(x, out, n), true;
  case ActFn::Tanh:
    return mapRow<Tanh>(x, out, n), true;
  case ActFn::Softplus:
    return mapRow<Softplus>(x, out, n), true;
  case ActFn::Mish:
    return mapRow<Mish>(x, out, n), true;
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
HWY_EXPORT(expRow);
bool activationExpRow(kiln::isa::ActFn fn, const float *x, float *out, size_t n) {
  return HWY_DYNAMIC_DISPATCH(expRow)(fn, x, out, n);
}
} // namespace kilnrt
#endif // HWY_ONCE
