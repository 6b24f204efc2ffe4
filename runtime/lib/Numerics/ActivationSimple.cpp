//===- ActivationSimple.cpp - activation functions that are one fp32 operation ----------------===//
//
// copy, square, relu, sqrt, reciprocal, sign, abs: IEEE operations, rounded once by the hardware.
//
//===------------------------------------------------------------------------------------------===//

#include "ActivationKernels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ActivationSimple.cpp"
#include "hwy/foreach_target.h" // IWYU pragma: keep

#include "FloatRows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kilnrt {
namespace HWY_NAMESPACE {
namespace {
using kiln::isa::ActFn;

struct Copy {
  static HWY_INLINE F evaluate(F x) { return x; }
};
struct Square {
  static HWY_INLINE F evaluate(F x) { return hn::Mul(x, x); }
};
struct Relu {
  static HWY_INLINE F evaluate(F x) {
    // A NaN compares false both times and passes through.
    return hn::IfThenZeroElse(hn::Le(x, hn::Zero(DF())), x);
  }
};
struct Sqrt {
  static HWY_INLINE F evaluate(F x) { return hn::Sqrt(x); }
};
struct Reciprocal {
  static HWY_INLINE F evaluate(F x) { return hn::Div(setF(1.0f), x); }
};
struct Sign {
  static HWY_INLINE F evaluate(F x) {
    const F zero = hn::Zero(DF());
    const F positive = hn::IfThenElse(hn::Gt(x, zero), setF(1.0f), x);
    const F signedOne = hn::IfThenElse(hn::Lt(x, zero), setF(-1.0f), positive);
    return hn::IfThenZeroElse(hn::Eq(x, zero), signedOne);
  }
};
struct Abs {
  static HWY_INLINE F evaluate(F x) { return hn::Abs(x); }
};

bool simpleRow(ActFn fn, const float *x, float *out, size_t n) {
  switch (fn) {
  case ActFn::Copy:
    return mapFloats<Copy>(x, out, n), true;
  case ActFn::Square:
    return mapFloats<Square>(x, out, n), true;
  case ActFn::Relu:
    return mapFloats<Relu>(x, out, n), true;
  case ActFn::Sqrt:
    return mapFloats<Sqrt>(x, out, n), true;
  case ActFn::Reciprocal:
    return mapFloats<Reciprocal>(x, out, n), true;
  case ActFn::Sign:
    return mapFloats<Sign>(x, out, n), true;
  case ActFn::Abs:
    return mapFloats<Abs>(x, out, n), true;
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
HWY_EXPORT(simpleRow);
bool activationSimpleRow(kiln::isa::ActFn fn, const float *x, float *out, size_t n) {
  return HWY_DYNAMIC_DISPATCH(simpleRow)(fn, x, out, n);
}
} // namespace kilnrt
#endif // HWY_ONCE
