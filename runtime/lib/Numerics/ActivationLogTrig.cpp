//===- ActivationLogTrig.cpp - log, sin, arctan, rsqrt
//----------------------------------------------===//
//
// The exact function rounded once to fp32. Sine has no argument reduction: beyond [-pi, pi] it is
// the cubic the hardware's table continues with.
//
//===--------------------------------------------------------------------------------------------===//

#include "ActivationKernels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ActivationLogTrig.cpp"
#include "hwy/foreach_target.h" // IWYU pragma: keep

#include "ExpLog-inl.h"
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
  static HWY_INLINE DD evaluate(V x) { return logOfFloat(clamp(x, 0x1p-150, 0x1p128)); }
  static HWY_INLINE VF special(VF x, VF y) {
    const VF zero = constant(0.0f);
    y = hn::IfThenElse(hn::Eq(x, zero), hn::Neg(infinity()), y);
    y = hn::IfThenElse(hn::Eq(x, infinity()), infinity(), y);
    return hn::IfThenElse(hn::Lt(x, zero), canonicalNan(), y);
  }
};

struct Sin : ExactFn {
  static HWY_INLINE DD evaluate(V x) {
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
  static HWY_INLINE DD evaluate(V x) {
    // (atan(s) - s) / s^3 in s^2 on [0, tan(pi/8)^2], error 2^-58 of the value.
    static constexpr double c[] = {
        -0x1.5555555555555p-2, 0x1.9999999999997p-3, -0x1.24924924920acp-3, 0x1.c71c71c6ddb13p-4,
        -0x1.745d173561ae0p-4, 0x1.3b13aea970e58p-4, -0x1.1110ceddb22d6p-4, 0x1.e1d8e89291b2fp-5,
        -0x1.aebd143c55a36p-5, 0x1.829c9a46152b5p-5, -0x1.503b1df32251dp-5, 0x1.f5ea203927f08p-6,
        -0x1.c807c7fd8901cp-7};
    const V zero = hn::Zero(D64());
    const V one = set(1.0);
    const V a = hn::Min(hn::Abs(x), set(0x1p200));
    // atan(a), pi/4 + atan((a - 1) / (a + 1)) or pi/2 + atan(-1 / a).
    const M middle = hn::Gt(a, set(0x1.a8279ap-2));
    const M high = hn::Gt(a, set(0x1.3504f4p+1));
    const V n = hn::IfThenElse(high, set(-1.0), hn::IfThenElse(middle, hn::Sub(a, one), a));
    const V d = hn::IfThenElse(high, a, hn::IfThenElse(middle, hn::Add(a, one), one));
    const DD s = divide({n, zero}, {d, zero});
    const V z = hn::Mul(s.hi, s.hi);
    const V rest = fma(hn::Mul(s.hi, z), polynomial(z, c), s.lo);
    // One or two quarters of pi.
    const V quarters = hn::Add(hn::IfThenElseZero(middle, one), hn::IfThenElseZero(high, one));
    const DD sum = fastTwoSum(hn::Mul(quarters, set(0x1.921fb54442d18p-1)), s.hi);
    const V low = fma(quarters, set(0x1.1a62633145c07p-55), hn::Add(sum.lo, rest));
    return flipSign(fastTwoSum(sum.hi, low), x);
  }
};

struct Rsqrt : ExactFn {
  static HWY_INLINE DD evaluate(V x) {
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
  const HardCases cases = hardCases(fn);
  switch (fn) {
  case ActFn::Log:
    return mapRow<Log>(x, out, n, cases), true;
  case ActFn::Sin:
    return mapRow<Sin>(x, out, n, cases), true;
  case ActFn::Arctan:
    return mapRow<Arctan>(x, out, n, cases), true;
  case ActFn::Rsqrt:
    return mapRow<Rsqrt>(x, out, n, cases), true;
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
