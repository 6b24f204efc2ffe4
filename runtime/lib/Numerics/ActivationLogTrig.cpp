//===- ActivationLogTrig.cpp - log, sin, arctan, rsqrt ----------------------------------------===//
//
// The exact function rounded once to fp32. Sine has no argument reduction: beyond [-pi, pi] it is
// the cubic the hardware's table continues with.
//
//===------------------------------------------------------------------------------------------===//

#include "ActivationKernels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ActivationLogTrig.cpp"
#include "hwy/foreach_target.h" // IWYU pragma: keep

#include "ExpLog-inl.h"
#include "FastMath-inl.h"
#include "RowMap-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kilnrt {
namespace HWY_NAMESPACE {
namespace {
using kiln::isa::ActFn;

HWY_INLINE VF constant(float c) { return hn::Set(DF32(), c); }
HWY_INLINE VF bitsConstant(uint32_t bits) { return hn::BitCast(DF32(), hn::Set(DU32(), bits)); }
HWY_INLINE VF canonicalNan() { return bitsConstant(0x7FC00000u); }
HWY_INLINE VF infinity() { return bitsConstant(0x7F800000u); }

struct Log : ExactFn {
  static HWY_INLINE V fast(V x) {
    const FloatParts parts = splitFloat(clamp(x, 0x1p-150, 0x1p128));
    const V one = set(1.0);
    const V s = hn::Div(hn::Sub(parts.m, one), hn::Add(parts.m, one));
    return fma(parts.k, set(0x1.62e42fefa39efp-1), fastTwiceAtanh(s));
  }
  static HWY_INLINE DD exact(V x) { return logOfFloat(clamp(x, 0x1p-150, 0x1p128)); }
  static HWY_INLINE VF special(VF x, VF y) {
    const VF zero = constant(0.0f);
    y = hn::IfThenElse(hn::Eq(x, zero), hn::Neg(infinity()), y);
    y = hn::IfThenElse(hn::Eq(x, infinity()), infinity(), y);
    return hn::IfThenElse(hn::Lt(x, zero), canonicalNan(), y);
  }
};

struct Sin : ExactFn {
  static HWY_INLINE V fast(V x) {
    static constexpr double c[] = {-0x1.5555555555555p-3,  0x1.1111111111107p-7,
                                   -0x1.a01a01a018aadp-13, 0x1.71de3a54566ddp-19,
                                   -0x1.ae6455a1d4c70p-26, 0x1.6124015aa3b2dp-33,
                                   -0x1.ae5138855dab5p-41, 0x1.89a47efb9f8a0p-49};
    const V a = hn::Min(hn::Abs(x), set(0x1p128));
    const V fromPi = minusPi(a);
    const V d = hn::IfThenElse(hn::Gt(a, set(0x1.921fb54442d18p+0)), hn::Neg(fromPi), a);
    const V z = hn::Mul(d, d);
    const V inside = fma(hn::Mul(d, z), polynomial(z, c), d);
    // Near its other zero the cubic keeps relative accuracy as a product.
    const V q = hn::Sub(hn::Sub(a, set(0x1.65d44b426a723p+2)), set(0x1.873774bb29238p-52));
    const V r = hn::Sub(a, set(0x1.625b500ec2fa7p-1));
    const V outside = hn::Mul(hn::Mul(fromPi, q), hn::Mul(r, set(0x1.5555555555555p-3)));
    const V y = hn::IfThenElse(hn::Le(a, set(0x1.921fb6p+1)), inside, outside);
    return hn::Xor(y, hn::And(x, set(-0.0)));
  }

  /// a - pi; relative accuracy also near pi.
  static HWY_INLINE V minusPi(V a) {
    return hn::Sub(hn::Sub(a, set(0x1.921fb54442d18p+1)), set(0x1.1a62633145c07p-53));
  }
  static HWY_INLINE DD exact(V x) {
    const V a = hn::Min(hn::Abs(x), set(0x1p128));
    return flipSign(select(hn::Le(a, set(0x1.921fb6p+1)), inside(a), outside(a)), x);
  }

  /// sin(a) for 0 <= a <= the float next above pi.
  static HWY_INLINE DD inside(V a) {
    // (sin(d) - d) / d^3 in d^2 on [0, (pi/2)^2], error 2^-78.
    static constexpr double c[] = {-0x1.5555555555555p-3,  0x1.1111111111111p-7,
                                   -0x1.a01a01a01a01ap-13, 0x1.71de3a556c72cp-19,
                                   -0x1.ae64567f53a4fp-26, 0x1.6124613a06aecp-33,
                                   -0x1.ae7f3dfd20857p-41, 0x1.952c339bdae8fp-49,
                                   -0x1.2f3270c413440p-57, 0x1.68d04fef25e95p-66};
    // Above pi/2 reflect: pi - a is exact in its first part.
    const M reflected = hn::Gt(a, set(0x1.921fb54442d18p+0));
    const V first = hn::IfThenElse(reflected, hn::Sub(set(0x1.921fb54442d18p+1), a), a);
    const DD d = fastTwoSum(first, hn::IfThenElseZero(reflected, set(0x1.1a62633145c07p-53)));
    const V z = hn::Mul(d.hi, d.hi);
    // d.lo enters with the slope cos(d).
    const V cosine = fma(z, fma(z, set(1.0 / 24), set(-0.5)), set(1.0));
    const V rest = fma(hn::Mul(d.hi, z), polynomial(z, c), hn::Mul(d.lo, cosine));
    return fastTwoSum(d.hi, rest);
  }

  /// -d + d^3 / 6 with d = a - pi, as (a - pi) (a - pi - sqrt 6) (a - pi + sqrt 6) / 6.
  static HWY_INLINE DD outside(V a) {
    const DD p = minus(a, 0x1.921fb54442d18p+1, 0x1.1a62633145c07p-53);
    const DD q = minus(a, 0x1.65d44b426a723p+2, 0x1.873774bb29238p-52);
    const DD r = minus(a, 0x1.625b500ec2fa7p-1, 0x1.32aee761c9cecp-56);
    const DD sixth = {set(0x1.5555555555555p-3), set(0x1.5555555555555p-57)};
    const DD y = multiply(multiply(p, q), multiply(r, sixth));
    return fastTwoSum(y.hi, y.lo);
  }

  static HWY_INLINE DD minus(V a, double hi, double lo) {
    const DD s = twoSum(a, set(-hi));
    return fastTwoSum(s.hi, hn::Sub(s.lo, set(lo)));
  }
};

struct Arctan : ExactFn {
  /// atan|x| = quarters * pi/4 + atan(n / d), |n / d| <= tan(pi/8); n and d are exact.
  struct Reduced {
    V n, d, quarters;
  };

  static HWY_INLINE Reduced reduce(V x) {
    const V one = set(1.0);
    const V a = hn::Min(hn::Abs(x), set(0x1p200));
    // n / d is a, (a - 1) / (a + 1) or -1 / a.
    const M middle = hn::Gt(a, set(0x1.a8279ap-2));
    const M high = hn::Gt(a, set(0x1.3504f4p+1));
    const V n = hn::IfThenElse(high, set(-1.0), hn::IfThenElse(middle, hn::Sub(a, one), a));
    const V d = hn::IfThenElse(high, a, hn::IfThenElse(middle, hn::Add(a, one), one));
    const V quarters = hn::Add(hn::IfThenElseZero(middle, one), hn::IfThenElseZero(high, one));
    return {n, d, quarters};
  }

  static HWY_INLINE V fast(V x) {
    static constexpr double c[] = {
        -0x1.5555555555546p-2, 0x1.9999999990a81p-3, -0x1.2492491dd36fep-3, 0x1.c71c6dd12673dp-4,
        -0x1.745c7f6f74ddep-4, 0x1.3b068d86c9c53p-4, -0x1.105e316e925c8p-4, 0x1.d5eaddccfafaep-5,
        -0x1.6f43e8bd8d90ap-5, 0x1.74b7f80f108e5p-6};
    const Reduced r = reduce(x);
    const V s = hn::Div(r.n, r.d);
    const V z = hn::Mul(s, s);
    const V tail = fma(hn::Mul(s, z), polynomial(z, c), s);
    return hn::CopySign(fma(r.quarters, set(0x1.921fb54442d18p-1), tail), x);
  }
  static HWY_INLINE DD exact(V x) {
    // (atan(s) - s) / s^3 in s^2 on [0, tan(pi/8)^2], error 2^-58 of the value.
    static constexpr double c[] = {
        -0x1.5555555555555p-2, 0x1.9999999999997p-3, -0x1.24924924920acp-3, 0x1.c71c71c6ddb13p-4,
        -0x1.745d173561ae0p-4, 0x1.3b13aea970e58p-4, -0x1.1110ceddb22d6p-4, 0x1.e1d8e89291b2fp-5,
        -0x1.aebd143c55a36p-5, 0x1.829c9a46152b5p-5, -0x1.503b1df32251dp-5, 0x1.f5ea203927f08p-6,
        -0x1.c807c7fd8901cp-7};
    const V zero = hn::Zero(D64());
    const Reduced r = reduce(x);
    const DD s = divide({r.n, zero}, {r.d, zero});
    const V z = hn::Mul(s.hi, s.hi);
    const V rest = fma(hn::Mul(s.hi, z), polynomial(z, c), s.lo);
    const DD sum = fastTwoSum(hn::Mul(r.quarters, set(0x1.921fb54442d18p-1)), s.hi);
    const V low = fma(r.quarters, set(0x1.1a62633145c07p-55), hn::Add(sum.lo, rest));
    return flipSign(fastTwoSum(sum.hi, low), x);
  }
};

struct Rsqrt : ExactFn {
  static HWY_INLINE V fast(V x) { return hn::Div(set(1.0), hn::Sqrt(clamp(x, 0x1p-150, 0x1p128))); }
  static HWY_INLINE DD exact(V x) {
    const V a = clamp(x, 0x1p-150, 0x1p128);
    const V y = hn::Div(set(1.0), hn::Sqrt(a));
    const DD square = twoProduct(y, y);
    const V rest = fma(hn::Neg(a), square.lo, fma(hn::Neg(a), square.hi, set(1.0)));
    return fastTwoSum(y, hn::Mul(hn::Mul(y, set(0.5)), rest));
  }
  static HWY_INLINE VF special(VF x, VF y) {
    const VF zero = constant(0.0f);
    y = hn::IfThenElse(hn::Eq(x, infinity()), zero, y);
    y = hn::IfThenElse(hn::Lt(x, zero), canonicalNan(), y);
    return hn::IfThenElse(hn::Eq(x, zero), hn::Or(infinity(), x), y);
  }
};

bool logTrigRow(ActFn fn, const float *x, float *out, size_t n) {
  switch (fn) {
  case ActFn::Log:
    return mapRow<Log>(x, out, n), true;
  case ActFn::Sin:
    return mapRow<Sin>(x, out, n), true;
  case ActFn::Arctan:
    return mapRow<Arctan>(x, out, n), true;
  case ActFn::Rsqrt:
    return mapRow<Rsqrt>(x, out, n), true;
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
HWY_EXPORT(logTrigRow);
bool activationLogTrigRow(kiln::isa::ActFn fn, const float *x, float *out, size_t n) {
  return HWY_DYNAMIC_DISPATCH(logTrigRow)(fn, x, out, n);
}
} // namespace kilnrt
#endif // HWY_ONCE
