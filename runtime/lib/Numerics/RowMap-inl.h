//===- RowMap-inl.h - applying an exact function to a row of floats, per target
//--------------------===//
//
// Widens, evaluates, rounds once, and settles the few inputs whose rounding the evaluation is known
// to get wrong (HardCases.h). Each input's result depends on that input alone, so vector width and
// position in the row change no bit.
//
//===--------------------------------------------------------------------------------------------===//

#include "HardCases.h"

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

/// Replaces the results of inputs listed in `cases`. Rare: called for results near a rounding
/// border.
inline HWY_NOINLINE VF settleHardCases(VF x, VF y, HardCases cases) {
  const DU32 du;
  HWY_ALIGN uint32_t in[HWY_MAX_BYTES / 8], out[HWY_MAX_BYTES / 8];
  hn::Store(hn::BitCast(du, x), du, in);
  hn::Store(hn::BitCast(du, y), du, out);
  for (size_t i = 0; i < hn::Lanes(du); ++i)
    for (size_t c = 0; c < cases.count; ++c)
      if (in[i] == cases.data[c].input)
        out[i] = cases.data[c].result;
  return hn::BitCast(DF32(), hn::Load(du, out));
}

/// Lanes whose double lies within 16 ulp of the middle between two normal floats.
HWY_INLINE M nearRoundingBorder(V y) {
  const DI64 di;
  const auto bits = hn::BitCast(di, y);
  const auto distance =
      hn::And(hn::Add(bits, hn::Set(di, 16 - 0x10000000)), hn::Set(di, 0x1FFFFFFF));
  return hn::RebindMask(D64(), hn::Lt(distance, hn::Set(di, 32)));
}

/// One vector of Fn, correctly rounded. Fn::watch is a zero of the function around which the
/// evaluation is only absolutely accurate (NaN: none).
template <class Fn>
HWY_INLINE VF mapVector(VF x, HardCases cases) {
  const D64 d;
  const V wide = hn::PromoteTo(d, x);
  const V y = roundToOdd(Fn::evaluate(wide));
  VF result = narrow(y);
  if (cases.count != 0) {
    M suspect = nearRoundingBorder(y);
    if constexpr (Fn::watch == Fn::watch)
      suspect = hn::Or(suspect, hn::Lt(hn::Abs(hn::Sub(wide, set(Fn::watch))), set(0x1p-8)));
    if (HWY_UNLIKELY(!hn::AllFalse(d, suspect)))
      result = settleHardCases(x, result, cases);
  }
  return keepNan(x, Fn::special(x, result));
}

/// out[i] = Fn(x[i]) for i < n. `out` may be `x`.
template <class Fn>
HWY_INLINE void mapRow(const float *x, float *out, size_t n, HardCases cases) {
  const DF32 df;
  const size_t lanes = hn::Lanes(df);
  size_t i = 0;
  for (; i + lanes <= n; i += lanes)
    hn::StoreU(mapVector<Fn>(hn::LoadU(df, x + i), cases), df, out + i);
  if (i == n)
    return;
  HWY_ALIGN float tail[HWY_MAX_BYTES / 8] = {};
  for (size_t j = i; j < n; ++j)
    tail[j - i] = x[j];
  hn::Store(mapVector<Fn>(hn::Load(df, tail), cases), df, tail);
  for (size_t j = i; j < n; ++j)
    out[j] = tail[j - i];
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
