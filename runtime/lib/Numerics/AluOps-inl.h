//===- AluOps-inl.h - the fp32 operators on vectors, per target -------------------------------===//
//
// One struct per operator, shared by the element-wise kernels and the folds. Results may hold any
// NaN where the operator gives a NaN; the caller makes it canonical.
//
//===------------------------------------------------------------------------------------------===//

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

/// 1 in every lane.
template <class V>
HWY_INLINE V one() {
  return hn::Set(hn::DFromV<V>(), 1.0f);
}
template <class V>
HWY_INLINE V oneIf(hn::Mask<hn::DFromV<V>> m) {
  return hn::IfThenElseZero(m, one<V>());
}
/// x != y, true for NaNs: Highway's Ne is false for them on some targets.
template <class V>
HWY_INLINE hn::Mask<hn::DFromV<V>> differ(V x, V y) {
  return hn::Not(hn::Eq(x, y));
}
template <class V>
HWY_INLINE hn::Mask<hn::DFromV<V>> isTrue(V x) {
  return differ(x, hn::Zero(hn::DFromV<V>()));
}
/// The value that is a NaN if x or y is, else `otherwise`.
template <class V>
HWY_INLINE V nanOr(V x, V y, V otherwise) {
  return hn::IfThenElse(hn::Eq(x, x), hn::IfThenElse(hn::Eq(y, y), otherwise, y), x);
}

struct Add {
  template <class V>
  static HWY_INLINE V apply(V x, V y) {
    return hn::Add(x, y);
  }
};
struct Subtract {
  template <class V>
  static HWY_INLINE V apply(V x, V y) {
    return hn::Sub(x, y);
  }
};
struct Multiply {
  template <class V>
  static HWY_INLINE V apply(V x, V y) {
    return hn::Mul(x, y);
  }
};
struct Maximum {
  template <class V>
  static HWY_INLINE V apply(V x, V y) {
    // Equal arguments have equal bits except +0 and -0, where "and" gives +0.
    const V larger = hn::IfThenElse(hn::Gt(x, y), x, y);
    return nanOr(x, y, hn::IfThenElse(hn::Eq(x, y), hn::And(x, y), larger));
  }
};
struct Minimum {
  template <class V>
  static HWY_INLINE V apply(V x, V y) {
    const V smaller = hn::IfThenElse(hn::Lt(x, y), x, y);
    return nanOr(x, y, hn::IfThenElse(hn::Eq(x, y), hn::Or(x, y), smaller));
  }
};
struct Equal {
  template <class V>
  static HWY_INLINE V apply(V x, V y) {
    return oneIf<V>(hn::Eq(x, y));
  }
};
struct NotEqual {
  template <class V>
  static HWY_INLINE V apply(V x, V y) {
    return oneIf<V>(differ(x, y));
  }
};
struct GreaterEqual {
  template <class V>
  static HWY_INLINE V apply(V x, V y) {
    return oneIf<V>(hn::Ge(x, y));
  }
};
struct Greater {
  template <class V>
  static HWY_INLINE V apply(V x, V y) {
    return oneIf<V>(hn::Gt(x, y));
  }
};
struct LessEqual {
  template <class V>
  static HWY_INLINE V apply(V x, V y) {
    return oneIf<V>(hn::Le(x, y));
  }
};
struct Less {
  template <class V>
  static HWY_INLINE V apply(V x, V y) {
    return oneIf<V>(hn::Lt(x, y));
  }
};
struct LogicalAnd {
  template <class V>
  static HWY_INLINE V apply(V x, V y) {
    return oneIf<V>(hn::And(isTrue(x), isTrue(y)));
  }
};
struct LogicalOr {
  template <class V>
  static HWY_INLINE V apply(V x, V y) {
    return oneIf<V>(hn::Or(isTrue(x), isTrue(y)));
  }
};
struct LogicalXor {
  template <class V>
  static HWY_INLINE V apply(V x, V y) {
    return oneIf<V>(hn::Xor(isTrue(x), isTrue(y)));
  }
};
struct Abs {
  template <class V>
  static HWY_INLINE V apply(V x, V) {
    return hn::Abs(x);
  }
};
struct Reciprocal {
  template <class V>
  static HWY_INLINE V apply(V x, V) {
    return hn::Div(one<V>(), x);
  }
};

} // namespace op
} // namespace HWY_NAMESPACE
} // namespace kilnrt
HWY_AFTER_NAMESPACE();

#endif // KILNRT_NUMERICS_ALUOPS_INL_H
