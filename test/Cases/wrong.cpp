//===- wrong.cpp - kernels that must be refused -----------------------------------------------===//
//
// Each is the recipe of a mistake that users have made and were told nothing useful about, named in
// cases.py, which compares the whole message. Line numbers count: append at the end.
//
//===------------------------------------------------------------------------------------------===//

#include "nl/nl.h"
using nl::_, nl::ds, nl::Tensor;

namespace {

/// A loaded tile.
Tensor loaded(Tensor x, nl::SrcLoc loc = nl::SrcLoc::current()) {
  Tensor t = nl::ndarray(x.shape(), x.dtype(), nl::sbuf, {}, loc);
  nisa::dma_copy(t, x, loc);
  return t;
}

} // namespace

/// The bias goes into PSUM by a copy, and the matmuls add to it.
Tensor bias_in_psum(Tensor lhsT, Tensor rhs, Tensor bias) {
  Tensor y = nl::ndarray(bias.shape(), nl::float32, nl::shared_hbm);
  Tensor acc = nl::ndarray(bias.shape(), nl::float32, nl::psum, {.name = "acc"});
  nisa::tensor_copy(acc, loaded(bias));
  nisa::nc_matmul(
      {.dst = acc, .stationary = loaded(lhsT), .moving = loaded(rhs), .accumulate = true});
  Tensor out = nl::ndarray(bias.shape(), nl::float32);
  nisa::tensor_copy(out, acc);
  nisa::dma_copy(y, out);
  return y;
}
NL_KERNEL(bias_in_psum, "lhsT", "rhs", "bias")

/// A tile of as many partitions and elements as the arguments say.
Tensor big_tile(Tensor x, int partitions, int elements) {
  Tensor y = nl::ndarray(x.shape(), x.dtype(), nl::shared_hbm);
  Tensor t = nl::ndarray({partitions, elements}, x.dtype(), nl::sbuf, {.name = "t"});
  nisa::dma_copy(t(ds(0, x.dim(0)), ds(0, x.dim(1))), x);
  nisa::dma_copy(y, t(ds(0, x.dim(0)), ds(0, x.dim(1))));
  return y;
}
NL_KERNEL(big_tile, "x", "partitions", "elements")

/// One matmul of K contraction rows, M stationary and N moving columns.
void matmul_sizes(nl::InOut y, int K, int M, int N) {
  Tensor a = nl::ndarray({K, M}, nl::bfloat16), b = nl::ndarray({K, N}, nl::bfloat16);
  Tensor acc = nl::ndarray({128, 512}, nl::float32, nl::psum);
  nisa::memset(a, 0.0f);
  nisa::memset(b, 0.0f);
  nisa::nc_matmul(acc, a, b);
}
NL_KERNEL(matmul_sizes, "y", "K", "M", "N")

/// A copy of `rows` rows from row `start` of a tile.
void rows_from(nl::InOut y, int start, int rows) {
  Tensor t = nl::ndarray({128, 16}, nl::float32), u = nl::ndarray({128, 16}, nl::float32);
  nisa::memset(t, 0.0f);
  nisa::tensor_copy(u(ds(0, rows), _), t(ds(start, rows), _));
}
NL_KERNEL(rows_from, "y", "start", "rows")

/// Every other partition.
void every_other(nl::InOut y) {
  Tensor t = nl::ndarray({128, 16}, nl::float32), u = nl::ndarray({64, 16}, nl::float32);
  nisa::memset(t, 0.0f);
  nisa::tensor_copy(u, t(nl::slice(0, 128, 2), _));
}
NL_KERNEL(every_other, "y")

/// The four ways to bring PSUM where it cannot go.
void psum_misuse(nl::InOut y, int which) {
  Tensor p = nl::ndarray({64, 128}, nl::float32, nl::psum),
         q = nl::ndarray({64, 128}, nl::float32, nl::psum);
  Tensor s = nl::ndarray({64, 128}, nl::float32);
  nisa::memset(p, 0.0f);
  nisa::memset(q, 0.0f);
  nisa::memset(s, 0.0f);
  if (which == 0)
    nisa::tensor_tensor(s, p, q, nl::add);
  if (which == 1)
    nisa::dma_copy(y(ds(0, 64), ds(0, 128)), p);
  if (which == 2)
    nisa::dma_copy(p, y(ds(0, 64), ds(0, 128)));
  if (which == 3)
    nisa::iota(p, {{1, 128}});
}
NL_KERNEL(psum_misuse, "y", "which")

/// The stationary buffer was declared with the tile size of the moving one.
Tensor wrong_tile_size(Tensor lhsT, Tensor rhs) {
  Tensor y = nl::ndarray({128, 512}, nl::float32, nl::shared_hbm);
  Tensor a = nl::ndarray({128, 512}, lhsT.dtype(), nl::sbuf, {.name = "a"});
  nisa::dma_copy(a, lhsT);
  Tensor acc = nl::ndarray({128, 512}, nl::float32, nl::psum);
  nisa::nc_matmul(acc, a, loaded(rhs));
  Tensor out = nl::ndarray({128, 512}, nl::float32);
  nisa::tensor_copy(out, acc);
  nisa::dma_copy(y, out);
  return y;
}
NL_KERNEL(wrong_tile_size, "lhsT", "rhs")

/// Stationary and moving swapped; square operands would hide it.
Tensor swapped(Tensor lhsT, Tensor rhs) {
  Tensor y = nl::ndarray({lhsT.dim(1), rhs.dim(1)}, nl::float32, nl::shared_hbm);
  Tensor acc = nl::ndarray({lhsT.dim(1), rhs.dim(1)}, nl::float32, nl::psum, {.name = "acc"});
  nisa::nc_matmul({.dst = acc, .stationary = loaded(rhs), .moving = loaded(lhsT)});
  Tensor out = nl::ndarray({lhsT.dim(1), rhs.dim(1)}, nl::float32);
  nisa::tensor_copy(out, acc);
  nisa::dma_copy(y, out);
  return y;
}
NL_KERNEL(swapped, "lhsT", "rhs")
