//===- lang.h - tile functions written with instructions --------------------------------------===//
//
// The value-returning half of the language: a function declares the tile it returns and fills it
// with nisa:: instructions. Whatever stands here could stand in a kernel.
//
//===------------------------------------------------------------------------------------------===//

#ifndef NL_LANG_H
#define NL_LANG_H

#include "nl/isa.h"

namespace nl {

/// A tile in SBUF with the elements of `src`, a tensor or view in HBM whose dim 0 (at most 128)
/// becomes the partition dim. A 1-D source fills one partition. With `dtype` the elements are
/// converted. Checks B-06, P-01.
Tensor load(const Tensor &src, std::optional<DType> dtype = {}, SrcLoc loc = SrcLoc::current());

/// Writes the SBUF tile `value` to `dst`, a tensor or view in HBM with as many elements.
/// Checks B-04, B-06, S-09.
void store(const Tensor &dst, const Tensor &value, SrcLoc loc = SrcLoc::current());

/// A tile filled with `value`. Checks what ndarray and memset check.
inline Tensor full(const Shape &shape, Scalar value, DType dtype, Buffer buffer = sbuf,
                   const NdarrayOptions &options = {}, SrcLoc loc = SrcLoc::current()) {
  Tensor t = ndarray(shape, dtype, buffer, options, loc);
  nisa::memset(t, value, loc);
  return t;
}
/// A tile of zeros.
inline Tensor zeros(const Shape &shape, DType dtype, Buffer buffer = sbuf,
                    const NdarrayOptions &options = {}, SrcLoc loc = SrcLoc::current()) {
  return full(shape, 0, dtype, buffer, options, loc);
}
/// A tile of ones.
inline Tensor ones(const Shape &shape, DType dtype, Buffer buffer = sbuf,
                   const NdarrayOptions &options = {}, SrcLoc loc = SrcLoc::current()) {
  return full(shape, 1, dtype, buffer, options, loc);
}
/// An unwritten tensor of `like`'s shape, dtype and buffer.
inline Tensor empty_like(const Tensor &like, const NdarrayOptions &options = {},
                         SrcLoc loc = SrcLoc::current()) {
  return ndarray(like.shape(), like.dtype(), like.buffer(), options, loc);
}

/// Number of the running program and how many there are; both are numbers of the trace, so an `if`
/// on them picks a branch while tracing. A kernel runs as one program.
inline int program_id(int /*axis*/ = 0) { return 0; }
inline int num_programs(int /*axes*/ = 0) { return 1; }

//---- names of earlier NKI versions --------------------------------------===//
// A use stops the host compiler with the replacement.

#define NL_REMOVED(name, text)                                                                     \
  template <class T = void, class... A>                                                            \
  void name(A &&...) {                                                                             \
    static_assert(detail::never<T, A...>, text);                                                   \
  }
NL_REMOVED(arange, "nl::arange is gone: use nl::slice, nl::ds or Tensor::ap in the subscript")
NL_REMOVED(mgrid, "nl::mgrid is gone: use nl::slice, nl::ds or Tensor::ap in the subscript")
NL_REMOVED(par_dim,
           "nl::par_dim is gone: dim 0 is the partition dim; keep blocks in a std::vector<Tensor>")
NL_REMOVED(
    loop_reduce,
    "nl::loop_reduce is gone: accumulate in PSUM, or nisa::tensor_tensor into the accumulator")
NL_REMOVED(parallel_reduce,
           "nl::parallel_reduce is gone: accumulate in PSUM, or use nisa::tensor_tensor")
NL_REMOVED(spmd_dim, "nl::spmd_dim is gone: a kernel asks nl::program_id()")

#undef NL_REMOVED

/// D-16: `nl::max` and `nl::min` reduce a tile; they are no operators.
namespace detail {
template <bool Max>
struct Reduction {
  template <class T>
    requires std::is_same_v<T, Op>
  operator T() const {
    static_assert(never<T> || !Max,
                  "nl::max reduces a tile; the element-wise operator is nl::maximum");
    static_assert(never<T> || Max,
                  "nl::min reduces a tile; the element-wise operator is nl::minimum");
    return {};
  }
};
} // namespace detail
/// K-11: division has no instruction, as an operator or as a function.
namespace detail {
struct Division {
  template <class T>
    requires std::is_same_v<T, Op>
  operator T() const {
    static_assert(never<T>, "nl::divide has no instruction: multiply by the result of "
                            "nisa::reciprocal");
    return {};
  }
  template <class... A>
  void operator()(A &&...) const {
    static_assert(never<A...>, "nl::divide has no instruction: multiply by the result of "
                               "nisa::reciprocal");
  }
};
} // namespace detail
inline constexpr detail::Division divide{};
inline constexpr detail::Reduction<true> max{};
inline constexpr detail::Reduction<false> min{};

} // namespace nl

namespace nisa {
/// Names of earlier NKI versions for the engines.
[[deprecated("write nisa::engine::vector")]] inline constexpr engine vector_engine = engine::vector;
[[deprecated("write nisa::engine::scalar")]] inline constexpr engine scalar_engine = engine::scalar;
[[deprecated("write nisa::engine::gpsimd")]] inline constexpr engine gpsimd_engine = engine::gpsimd;
[[deprecated("write nisa::engine::tensor")]] inline constexpr engine tensor_engine = engine::tensor;
} // namespace nisa

#endif // NL_LANG_H
