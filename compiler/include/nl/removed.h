//===- removed.h - names of earlier NKI versions ----------------------------------------------===//
//
// A use stops the host compiler with the rule and the replacement, which Kiln shows at the author's
// line. Whoever knows NKI of another year, or of another chip, finds out here what to write today.
//
//===------------------------------------------------------------------------------------------===//

#ifndef NL_REMOVED_H
#define NL_REMOVED_H

#include "nl/isa.h"

namespace nl {

//---- K-11: functions ----------------------------------------------------===//

#define NL_REMOVED(name, text)                                                                     \
  template <class T = void, class... A>                                                            \
  void name(A &&...) {                                                                             \
    static_assert(detail::never<T, A...>, text);                                                   \
  }
NL_REMOVED(arange, "[K-11] nl::arange is gone (use nl::slice, nl::ds or Tensor::ap)")
NL_REMOVED(mgrid, "[K-11] nl::mgrid is gone (use nl::slice, nl::ds or Tensor::ap)")
NL_REMOVED(par_dim, "[K-11] nl::par_dim is gone (dim 0 is the partition dim; keep blocks in a "
                    "std::vector<Tensor>)")
NL_REMOVED(loop_reduce, "[K-11] nl::loop_reduce is gone (accumulate in PSUM, or by "
                        "nisa::tensor_tensor into the accumulator)")
NL_REMOVED(parallel_reduce, "[K-11] nl::parallel_reduce is gone (accumulate in PSUM, or by "
                            "nisa::tensor_tensor into the accumulator)")
NL_REMOVED(spmd_dim, "[K-11] nl::spmd_dim is gone (a kernel asks nl::program_id())")
NL_REMOVED(atomic_rmw,
           "[K-11] nl::atomic_rmw is gone (load the tile, nisa::tensor_tensor, store it)")
NL_REMOVED(all_reduce, "[K-11] nl::all_reduce is gone (a kernel runs on one core)")
NL_REMOVED(dynamic_range, "[K-11] nl::dynamic_range is gone (nl::fori_loop runs on the device; "
                          "nl::range unrolls while the kernel is "
                          "traced)")
NL_REMOVED(mod, "[K-11] nl::mod has no instruction (subtract multiples of the divisor)")
NL_REMOVED(fmod, "[K-11] nl::fmod has no instruction (subtract multiples of the divisor)")
NL_REMOVED(ceil,
           "[K-11] nl::ceil has no instruction (nl::cast to an integer dtype rounds to nearest)")
NL_REMOVED(floor, "[K-11] nl::floor has no instruction (nl::cast to an integer dtype rounds to "
                  "nearest)")
NL_REMOVED(trunc, "[K-11] nl::trunc has no instruction (nl::cast to an integer dtype rounds to "
                  "nearest)")
NL_REMOVED(cos, "[K-11] nl::cos has no instruction (use nl::sin of x + pi / 2, kept in [-pi, pi])")
NL_REMOVED(tan, "[K-11] nl::tan has no instruction (divide nl::sin of x by nl::sin of x + pi / 2)")
#undef NL_REMOVED

//---- operators that are none --------------------------------------------===//

namespace detail {

/// K-11: division has no instruction; x / y multiplies by the reciprocal.
struct Division {
  template <class T>
    requires std::is_same_v<T, Op>
  operator T() const {
    static_assert(never<T>, "[K-11] nl::divide has no instruction (multiply by the result of "
                            "nisa::reciprocal)");
    return {};
  }
  template <class... A>
  void operator()(A &&...) const {
    static_assert(never<A...>, "[K-11] nl::divide has no instruction (multiply by the result of "
                               "nisa::reciprocal)");
  }
};

/// B-12: an operator of trn3.
template <bool Max>
struct Magnitude {
  template <class T>
    requires std::is_same_v<T, Op>
  operator T() const {
    static_assert(never<T> || !Max, "[B-12] nl::abs_max exists on trn3 only (use nl::abs, then "
                                    "nl::maximum, where the sign is not needed)");
    static_assert(never<T> || Max, "[B-12] nl::abs_min exists on trn3 only (use nl::abs, then "
                                   "nl::minimum, where the sign is not needed)");
    return {};
  }
};

} // namespace detail

inline constexpr detail::Division divide{};
inline constexpr detail::Magnitude<true> abs_max{};
inline constexpr detail::Magnitude<false> abs_min{};

} // namespace nl

namespace nisa {
/// Names of earlier NKI versions for the engines.
[[deprecated("write nisa::engine::vector")]] inline constexpr engine vector_engine = engine::vector;
[[deprecated("write nisa::engine::scalar")]] inline constexpr engine scalar_engine = engine::scalar;
[[deprecated("write nisa::engine::gpsimd")]] inline constexpr engine gpsimd_engine = engine::gpsimd;
[[deprecated("write nisa::engine::tensor")]] inline constexpr engine tensor_engine = engine::tensor;
} // namespace nisa

#endif // NL_REMOVED_H
