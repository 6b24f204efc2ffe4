//===- RowMap-inl.h - applying an exact function to a row of floats, per target ---------------===//
//
// A function comes twice: `fast` in plain doubles and `exact` in double-double. The fast value is
// rounded to fp32 unless it lies so near the middle of two floats that its error could matter; then
// the exact one decides. Each result depends on its input alone, so vector width and position in
// the row change no bit.
//
//===------------------------------------------------------------------------------------------===//

#if defined(KILNRT_NUMERICS_ROWMAP_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef KILNRT_NUMERICS_ROWMAP_INL_H
#undef KILNRT_NUMERICS_ROWMAP_INL_H
#else
#define KILNRT_NUMERICS_ROWMAP_INL_H
#endif

#include "DoubleMath-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kilnrt {
namespace HWY_NAMESPACE {

/// Lanes whose rounding to fp32 an error of 2^-42 could change: values near the middle of two
/// normal floats, and every one that becomes a denormal other than 0.
HWY_INLINE M isRoundingUncertain(V y) {
  const DI64 di;
  constexpr int64_t reach = 2048; // ulps, of 2^-53
  const auto bits = hn::BitCast(di, y);
  const auto distance =
      hn::And(hn::Add(bits, hn::Set(di, reach - 0x10000000)), hn::Set(di, 0x1FFFFFFF));
  const M nearMiddle = hn::RebindMask(D64(), hn::Lt(distance, hn::Set(di, 2 * reach)));
  const V a = hn::Abs(y);
  return hn::Or(nearMiddle, hn::And(hn::Lt(a, set(0x1.1p-126)), hn::Gt(a, set(0x1p-151))));
}

/// One vector of Fn from its exact form. Out of line: rare.
template <class Fn>
HWY_NOINLINE VF mapExactly(VF x) {
  const DD y = Fn::exact(hn::PromoteTo(D64(), x));
  // An infinite part has no meaningful rest.
  const V sum = hn::Add(y.hi, y.lo);
  const V hi = hn::IfThenElse(hn::Eq(sum, sum), sum, y.hi);
  return narrow(roundToOdd({hi, hn::Sub(y.lo, hn::Sub(hi, y.hi))}));
}

/// One vector of Fn, correctly rounded. Fn::watch is a zero of the function around which the fast
/// form is only absolutely accurate (NaN: none).
template <class Fn>
HWY_INLINE VF mapVector(VF x) {
  const D64 d;
  const V wide = hn::PromoteTo(d, x);
  const V y = Fn::fast(wide);
  M uncertain = isRoundingUncertain(y);
  if constexpr (Fn::watch == Fn::watch)
    uncertain = hn::Or(uncertain, hn::Lt(hn::Abs(hn::Sub(wide, set(Fn::watch))), set(0x1p-6)));
  VF result = narrow(y);
  if (HWY_UNLIKELY(!hn::AllFalse(d, uncertain))) {
    // In the uncertain lanes only: the exact form may lose the sign of a 0 that the fast one keeps.
    const VF isUncertain = narrow(hn::IfThenElseZero(uncertain, set(1.0)));
    result = hn::IfThenElse(hn::Gt(isUncertain, hn::Zero(DF32())), mapExactly<Fn>(x), result);
  }
  return keepNan(x, Fn::special(x, result));
}

/// out[i] = Fn(x[i]) for i < n. `out` may be `x`. One function of its own per Fn, with the vector
/// code in it once: these bodies are long, and compilers are slow on what they would make of all of
/// them inlined.
template <class Fn>
HWY_NOINLINE void mapRow(const float *x, float *out, size_t n) {
  const DF32 df;
  const size_t lanes = hn::Lanes(df);
  HWY_ALIGN float tail[HWY_MAX_BYTES / 8] = {};
  for (size_t i = 0; i < n; i += lanes) {
    const size_t count = n - i;
    const bool full = count >= lanes;
    if (!full)
      for (size_t j = 0; j < count; ++j)
        tail[j] = x[i + j];
    const VF y = mapVector<Fn>(hn::LoadU(df, full ? x + i : tail));
    hn::StoreU(y, df, full ? out + i : tail);
    if (!full)
      for (size_t j = 0; j < count; ++j)
        out[i + j] = tail[j];
  }
}

/// Base of the functions: no zero to watch, no special values beyond NaN.
struct ExactFn {
  static constexpr double watch = __builtin_nan("");
  static HWY_INLINE VF special(VF, VF y) { return y; }
};

} // namespace HWY_NAMESPACE
} // namespace kilnrt
HWY_AFTER_NAMESPACE();

#endif // KILNRT_NUMERICS_ROWMAP_INL_H
