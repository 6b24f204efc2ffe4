//===- dtypes.cpp - kernels of the faults about 8-bit floats and mixed dtypes -----------------===//
//
// Operands and the mistakes with them that users have reported, named in dtypes.py. Line numbers
// count where a message is compared.
//
//===------------------------------------------------------------------------------------------===//

#include "nl/nl.h"
using nl::_, nl::ds, nl::Tensor;

namespace {

/// What a PSUM tile holds, in HBM.
Tensor stored(Tensor acc) {
  Tensor y = nl::ndarray(acc.shape(), nl::float32, nl::shared_hbm);
  Tensor t = nl::ndarray(acc.shape(), nl::float32);
  nisa::tensor_copy(t, acc);
  nl::store(y, t);
  return y;
}

} // namespace

/// (K, 2, M) and (K, 2, N): a contraction of 2 K in one matmul. (M, N) comes out.
Tensor double_rows(Tensor lhsT, Tensor rhs) {
  Tensor acc = nl::ndarray({lhsT.dim(2), rhs.dim(2)}, nl::float32, nl::psum, {.name = "acc"});
  nisa::nc_matmul({.dst = acc,
                   .stationary = nl::load(lhsT),
                   .moving = nl::load(rhs),
                   .perf_mode = nisa::matmul_perf_mode::double_row});
  return stored(acc);
}
NL_KERNEL(double_rows, "lhsT", "rhs")

/// The same with one row a partition on the moving side.
Tensor single_moving_row(Tensor lhsT, Tensor rhs) {
  Tensor acc = nl::ndarray({lhsT.dim(2), rhs.dim(1)}, nl::float32, nl::psum, {.name = "acc"});
  Tensor left = nl::load(lhsT), right = nl::load(rhs);
  nisa::nc_matmul({.dst = acc,
                   .stationary = left,
                   .moving = right,
                   .perf_mode = nisa::matmul_perf_mode::double_row});
  return stored(acc);
}
NL_KERNEL(single_moving_row, "lhsT", "rhs")

/// One matmul of operands of any two dtypes.
Tensor plain(Tensor lhsT, Tensor rhs) {
  Tensor acc = nl::ndarray({lhsT.dim(1), rhs.dim(1)}, nl::float32, nl::psum, {.name = "acc"});
  Tensor left = nl::load(lhsT), right = nl::load(rhs);
  nisa::nc_matmul(acc, left, right);
  return stored(acc);
}
NL_KERNEL(plain, "lhsT", "rhs")

/// The same after the bits of both are read as the e4m3 of trn2.
Tensor viewed(Tensor lhsT, Tensor rhs) {
  Tensor acc = nl::ndarray({lhsT.dim(1), rhs.dim(1)}, nl::float32, nl::psum, {.name = "acc"});
  nisa::nc_matmul(acc, nl::load(lhsT).view(nl::float8_e4m3), nl::load(rhs).view(nl::float8_e4m3));
  return stored(acc);
}
NL_KERNEL(viewed, "lhsT", "rhs")

/// Bytes as the numbers of e4m3 they are the codes of.
Tensor numbers_of(Tensor codes) {
  Tensor y = nl::ndarray(codes.shape(), nl::float32, nl::shared_hbm);
  Tensor t = nl::ndarray(codes.shape(), nl::float32);
  nisa::tensor_copy(t, nl::load(codes).view(nl::float8_e4m3));
  nl::store(y, t);
  return y;
}
NL_KERNEL(numbers_of, "codes")

/// The bytes of each tile as another dtype in SBUF, in HBM, or both; bytes come out.
Tensor same_bytes(Tensor bytes, nl::DType dtype, bool inHbm) {
  Tensor y = nl::ndarray(bytes.shape(), nl::uint8, nl::shared_hbm);
  Tensor seen = inHbm ? nl::load(bytes.view(dtype)) : nl::load(bytes).view(dtype);
  Tensor moved = nl::ndarray(seen.shape(), dtype);
  nisa::tensor_copy({.dst = moved, .src = seen, .engine = nisa::engine::vector});
  if (inHbm)
    nl::store(y.view(dtype), moved);
  else
    nl::store(y, moved.view(nl::uint8));
  return y;
}
Tensor bytes_as(Tensor bytes, int which, bool inHbm) {
  const nl::DType dtypes[] = {nl::uint8,       nl::int16,       nl::float32,  nl::bfloat16,
                              nl::float8_e4m3, nl::float8_e5m2, nl::tfloat32, nl::float16};
  return same_bytes(bytes, dtypes[which], inHbm);
}
NL_KERNEL(bytes_as, "bytes", "which", "inHbm")

/// Math on a whole tensor.
Tensor whole(Tensor x) { return nl::exp(x); }
NL_KERNEL(whole, "x")
