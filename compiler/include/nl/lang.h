//===- lang.h - tile functions written with instructions --------------------------------------===//
//
// The value-returning half of the language: a function declares the tile it returns and fills it
// with nisa:: instructions. Whatever stands here could stand in a kernel.
//
//===------------------------------------------------------------------------------------------===//

#ifndef NL_LANG_H
#define NL_LANG_H

#include "nl/math.h"

namespace nl {

/// A tile in SBUF with the elements of `src`, a tensor or view in HBM whose dim 0 (at most 128)
/// becomes the partition dim. A 1-D source fills one partition. With `dtype` the elements are
/// converted. Checks B-06, P-01.
Tensor load(const Tensor &src, std::optional<DType> dtype = {}, SrcLoc loc = SrcLoc::current());

/// Writes the SBUF tile `value` to `dst`, a tensor or view in HBM with as many elements. A value
/// (nl/math.h) of any size may be stored, to HBM or to a tile; it is rounded to dst's dtype.
/// Checks B-04, B-06, S-09, T-04.
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
/// An unwritten tensor of `like`'s shape, dtype and buffer (SBUF for a value, which has none).
inline Tensor empty_like(const Tensor &like, const NdarrayOptions &options = {},
                         SrcLoc loc = SrcLoc::current()) {
  return ndarray(like.shape(), like.dtype(), is_value(like.buffer()) ? sbuf : like.buffer(),
                 options, loc);
}

/// Shows the elements of `tensor`, a tensor or view in any memory, when the program runs: `kiln
/// run` prints them under `prefix`, with the line and the numbers of the iterations. It is a read
/// like any other, in program order, and changes no result. Checks K-08, M-08, S-07.
void device_print(std::string_view prefix, const Tensor &tensor, SrcLoc loc = SrcLoc::current());
/// Numbers and indices of the trace are no tensors.
template <class T>
  requires(!std::is_convertible_v<const T &, Tensor>)
void device_print(std::string_view /*prefix*/, const T & /*value*/) {
  static_assert(detail::never<T>, "nl::device_print shows a tensor (numbers are known while "
                                  "tracing: print them with std::printf)");
}

template <class T>
void device_print(const Tensor & /*tensor*/, const T & /*prefix*/) {
  static_assert(detail::never<T>, "nl::device_print takes the text first (write the text, then "
                                  "the tensor)");
}

/// Number of the running program and how many there are; both are numbers of the trace, so an `if`
/// on them picks a branch while tracing. A kernel runs as one program.
inline int program_id(int /*axis*/ = 0) { return 0; }
inline int num_programs(int /*axes*/ = 0) { return 1; }

} // namespace nl

#endif // NL_LANG_H
