//===- AluOps-inl.h - the fp32 operators on vectors, per target -----------===//
//
// One struct per operator, shared by the element-wise kernels and the folds. Results may hold any
// NaN where the operator gives a NaN; the caller makes it canonical.
//
//===----------------------------------------------------------------------===//

#if defined(KILNRT_NUMERICS_ALUOPS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef KILNRT_NUMERICS_ALUOPS_INL_H
#undef KILNRT_NUMERICS_ALUOPS_INL_H
#else
#define KILNRT_NUMERICS_ALUOPS_INL_H
#endif

#include "FloatRows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kilnrt {
namespace HWY_NAMESPACE {
namespace op {

using MaskF = hn::Mask<DF>;

HWY_INLINE F oneIf(MaskF m) { return hn::IfThenElseZero(m, setF(1.0f)); }
/// x != y, true for NaNs: Highway's Ne is false for them on some targets.
HWY_INLINE MaskF differ(F x, F y) { return hn::Not(hn::Eq(x, y)); }
HWY_INLINE MaskF isTrue(F x) { return differ(x, hn::Zero(DF())); }
/// The value that is a NaN if x or y is, else `otherwise`.
HWY_INLINE F nanOr(F x, F y, F otherwise) {
  return hn::IfThenElse(hn::Eq(x, x), hn::IfThenElse(hn::Eq(y, y), otherwise, y), x);
}

struct Add {
  static HWY_INLINE F apply(F x, F y) { return hn::Add(x, y); }
};
struct Subtract {
  static HWY_INLINE F apply(F x, F y) { return hn::Sub(x, y); }
};
struct Multiply {
  static HWY_INLINE F apply(F x, F y) { return hn::Mul(x, y); }
};
struct Maximum {
  static HWY_INLINE F apply(F x, F y) {
    // Equal arguments have equal bits except +0 and -0, where "and" gives +0.
    const F larger = hn::IfThenElse(hn::Gt(x, y), x, y);
    return nanOr(x, y, hn::IfThenElse(hn::Eq(x, y), hn::And(x, y), larger));
  }
};
struct Minimum {
  static HWY_INLINE F apply(F x, F y) {
    const F smaller = hn::IfThenElse(hn::Lt(x, y), x, y);
    return nanOr(x, y, hn::IfThenElse(hn::Eq(x, y), hn::Or(x, y), smaller));
  }
};
struct Equal {
  static HWY_INLINE F apply(F x, F y) { return oneIf(hn::Eq(x, y)); }
};
struct NotEqual {
  static HWY_INLINE F apply(F x, F y) { return oneIf(differ(x, y)); }
};
struct GreaterEqual {
  static HWY_INLINE F apply(F x, F y) { return oneIf(hn::Ge(x, y)); }
};
struct Greater {
  static HWY_INLINE F apply(F x, F y) { return oneIf(hn::Gt(x, y)); }
};
struct LessEqual {
  static HWY_INLINE F apply(F x, F y) { return oneIf(hn::Le(x, y)); }
};
struct Less {
  static HWY_INLINE F apply(F x, F y) { return oneIf(hn::Lt(x, y)); }
};
struct LogicalAnd {
  static HWY_INLINE F apply(F x, F y) { return oneIf(hn::And(isTrue(x), isTrue(y))); }
};
struct LogicalOr {
  static HWY_INLINE F apply(F x, F y) { return oneIf(hn::Or(isTrue(x), isTrue(y))); }
};
struct LogicalXor {
  static HWY_INLINE F apply(F x, F y) { return oneIf(hn::Xor(isTrue(x), isTrue(y))); }
};
struct Abs {
  static HWY_INLINE F apply(F x, F) { return hn::Abs(x); }
};
struct Reciprocal {
  static HWY_INLINE F apply(F x, F) { return hn::Div(setF(1.0f), x); }
};

} // namespace op
} // namespace HWY_NAMESPACE
} // namespace kilnrt
HWY_AFTER_NAMESPACE();

#endif // KILNRT_NUMERICS_ALUOPS_INL_H
