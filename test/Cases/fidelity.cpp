//===- fidelity.cpp - kernels that simulators got wrong ---------------------------------------===//
//
// Each is the recipe of a place where a functional simulator and the chip were found to differ,
// named in fidelity.py.
//
//===------------------------------------------------------------------------------------------===//

#include "nl/nl.h"

using nl::_, nl::ds, nl::Tensor;

namespace {

nl::DType dtype_of(const std::string &name) {
  return name == "int8"      ? nl::int8
         : name == "uint8"   ? nl::uint8
         : name == "int16"   ? nl::int16
         : name == "uint16"  ? nl::uint16
         : name == "int32"   ? nl::int32
         : name == "uint32"  ? nl::uint32
         : name == "float16" ? nl::float16
                             : nl::bfloat16;
}

Tensor loaded(Tensor x, nl::SrcLoc loc = nl::SrcLoc::current()) {
  Tensor t = nl::ndarray(x.shape(), x.dtype(), nl::sbuf, {}, loc);
  nisa::dma_copy(t, x, loc);
  return t;
}

Tensor stored(Tensor t, nl::SrcLoc loc = nl::SrcLoc::current()) {
  Tensor y = nl::ndarray(t.shape(), t.dtype(), nl::shared_hbm, {}, loc);
  nisa::dma_copy(y, t, loc);
  return y;
}

} // namespace

/// x in another dtype, by a tensor_copy of the Vector or the Scalar Engine.
Tensor cast(Tensor x, std::string dtype, bool is_scalar) {
  Tensor t = nl::ndarray(x.shape(), dtype_of(dtype));
  nisa::tensor_copy({.dst = t,
                     .src = loaded(x),
                     .engine = is_scalar ? nisa::engine::scalar : nisa::engine::vector});
  return stored(t);
}
NL_KERNEL(cast, "x", "dtype", "is_scalar")

/// ((x + y) + y) + y, every sum rounded to the dtype of x.
Tensor three_sums(Tensor x, Tensor y) {
  Tensor sum = loaded(x), addend = loaded(y);
  for (int i = 0; i < 3; ++i)
    nisa::tensor_tensor(sum, sum, addend, nl::add);
  return stored(sum);
}
NL_KERNEL(three_sums, "x", "y")

/// (x + 1) - 256 in one instruction: float32 between the two operators.
Tensor two_stages(Tensor x) {
  Tensor t = nl::ndarray(x.shape(), x.dtype());
  nisa::tensor_scalar({.dst = t,
                       .data = loaded(x),
                       .op0 = nl::add,
                       .operand0 = 1.0f,
                       .op1 = nl::subtract,
                       .operand1 = 256.0f});
  return stored(t);
}
NL_KERNEL(two_stages, "x")

/// A matmul of bfloat16 whose result leaves PSUM as bfloat16.
Tensor narrow_product(Tensor lhsT, Tensor rhs) {
  Tensor acc = nl::ndarray({lhsT.dim(1), rhs.dim(1)}, nl::float32, nl::psum);
  nisa::nc_matmul(acc, loaded(lhsT), loaded(rhs));
  Tensor out = nl::ndarray({lhsT.dim(1), rhs.dim(1)}, nl::bfloat16);
  nisa::tensor_copy(out, acc);
  return stored(out);
}
NL_KERNEL(narrow_product, "lhsT", "rhs")

/// Sums of rows.
Tensor row_sums(Tensor x) {
  Tensor sum = nl::ndarray({x.dim(0), 1}, nl::float32);
  nisa::tensor_reduce(sum, nl::add, loaded(x), 1);
  return stored(sum);
}
NL_KERNEL(row_sums, "x")

/// x transposed by the Tensor Engine.
Tensor turned(Tensor x) {
  Tensor p = nl::ndarray({x.dim(1), x.dim(0)}, x.dtype(), nl::psum);
  nisa::nc_transpose({.dst = p, .data = loaded(x), .engine = nisa::engine::tensor});
  Tensor t = nl::ndarray(p.shape(), x.dtype());
  nisa::tensor_copy(t, p);
  return stored(t);
}
NL_KERNEL(turned, "x")

/// int32 x through `activation(op=copy)`, which computes in float32.
Tensor activated(Tensor x) {
  Tensor t = nl::ndarray(x.shape(), x.dtype());
  nisa::activation(t, nl::copy, loaded(x));
  return stored(t);
}
NL_KERNEL(activated, "x")

/// Reads `read` of 128 rows of which `written` were loaded.
Tensor unwritten(Tensor x, int written, int read) {
  Tensor t = nl::ndarray({128, x.dim(1)}, x.dtype(), nl::sbuf, {.name = "t"});
  if (written > 0)
    nisa::dma_copy(t(ds(0, written), _), x(ds(0, written), _));
  Tensor u = nl::ndarray({read, x.dim(1)}, x.dtype());
  nisa::tensor_scalar(u, t(ds(0, read), _), nl::add, 1.0f);
  return stored(u);
}
NL_KERNEL(unwritten, "x", "written", "read")

/// Rows of x over rows of y; mask entries from `first_kept` on are 255.
Tensor shuffled(Tensor x, Tensor y, int first_kept) {
  std::vector<int64_t> mask;
  for (int row = 0; row < 32; ++row)
    mask.push_back(row < first_kept ? 31 - row : 255);
  Tensor t = loaded(y);
  nisa::nc_stream_shuffle(t, loaded(x), mask);
  return stored(t);
}
NL_KERNEL(shuffled, "x", "y", "first_kept")

/// 1 where a logical operator (0 and, 1 or, 2 xor) holds, in `dtype`.
Tensor logical(Tensor x, Tensor y, int which, std::string dtype) {
  Tensor t = nl::ndarray(x.shape(), dtype_of(dtype));
  nisa::tensor_tensor(t, loaded(x), loaded(y),
                      which == 0   ? nl::logical_and
                      : which == 1 ? nl::logical_or
                                   : nl::logical_xor);
  return stored(t);
}
NL_KERNEL(logical, "x", "y", "which", "dtype")

/// exp(x) / sum of exp(x), without taking the maximum off: overflows.
Tensor naive_softmax(Tensor x) {
  Tensor t = loaded(x), sum = nl::ndarray({x.dim(0), 1}, nl::float32);
  nisa::activation(t, nl::exp, t);
  nisa::tensor_reduce(sum, nl::add, t, 1);
  nisa::reciprocal(sum, sum);
  nisa::tensor_scalar(t, t, nl::multiply, sum);
  return stored(t);
}
NL_KERNEL(naive_softmax, "x")

/// The variance of rows as E[x^2] - E[x]^2, which cancels.
Tensor naive_variance(Tensor x) {
  const float share = 1.0f / static_cast<float>(x.dim(1));
  Tensor t = loaded(x), square = nl::ndarray(x.shape(), nl::float32);
  Tensor mean = nl::ndarray({x.dim(0), 1}, nl::float32), second = nl::empty_like(mean);
  nisa::tensor_reduce(mean, nl::add, t, 1);
  nisa::tensor_scalar(mean, mean, nl::multiply, share);
  nisa::tensor_tensor(square, t, t, nl::multiply);
  nisa::tensor_reduce(second, nl::add, square, 1);
  nisa::tensor_scalar(second, second, nl::multiply, share);
  nisa::tensor_tensor(mean, mean, mean, nl::multiply);
  nisa::tensor_tensor(second, second, mean, nl::subtract);
  return stored(second);
}
NL_KERNEL(naive_variance, "x")
