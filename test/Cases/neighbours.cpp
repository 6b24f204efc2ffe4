//===- neighbours.cpp - faults of compilers for other machines --------------------------------===//
//
// What has gone wrong in compilers with the same problems: pipelines, predicated stores, two
// writers, tensors that no tile divides, DMA patterns. Named in cases.py.
//
//===------------------------------------------------------------------------------------------===//

#include "nl/nl.h"
using nl::_, nl::Chunk, nl::ds, nl::Tensor;

namespace {

/// Row sums of t[P, N] in a column.
Tensor sum_of(Tensor t) {
  Tensor sum = nl::ndarray({t.dim(0), 1}, nl::float32);
  nisa::tensor_reduce(sum, nl::add, t, 1);
  return sum;
}

} // namespace

/// Row sums of x[M, N]. With `is_beside`, the elements of x whose mask is not 0 are also copied
/// over the rest of a scratch tile and stored: to `scratch`, which nothing else reads.
Tensor masked_store(Tensor x, Tensor mask, nl::InOut scratch, bool is_beside) {
  const auto [M, N] = x.dims<2>();
  Tensor y = nl::ndarray({M, 1}, nl::float32, nl::shared_hbm);
  for (Chunk m : nl::tiles(M, 64)) {
    Tensor t = nl::load(x(m, _));
    if (is_beside) {
      Tensor u = nl::ndarray({m.size, N}, x.dtype());
      nisa::memset(u, -1.0f);
      nisa::tensor_copy_predicated(u, t, nl::load(mask(m, _)));
      nisa::dma_copy(scratch(m, _), u);
    }
    nisa::dma_copy(y(m, _), sum_of(t));
  }
  return y;
}
NL_KERNEL(masked_store, "x", "mask", "scratch", "is_beside")

/// Row sums of x by the Vector Engine and of x * 0.5 by the Scalar Engine, to columns of one tile:
/// both write column 1, the Scalar Engine last.
Tensor two_reducers(Tensor x) {
  const auto [P, N] = x.dims<2>();
  Tensor y = nl::ndarray({P, 3}, nl::float32, nl::shared_hbm);
  Tensor t = nl::load(x), sums = nl::ndarray({P, 3}, nl::float32);
  nisa::tensor_reduce(sums(_, ds(0, 2)), nl::add, t.expand_dim(1).broadcast(1, 2), 2);
  for (int column = 1; column < 3; ++column)
    nisa::activation({.dst = nl::ndarray({P, N}, nl::float32),
                      .op = nl::copy,
                      .data = t,
                      .scale = 0.5f,
                      .reduce_op = nl::add,
                      .reduce_res = sums(_, ds(column, 1)),
                      .reduce_cmd = nisa::reduce_cmd::reset_reduce});
  nisa::dma_copy(y, sums);
  return y;
}
NL_KERNEL(two_reducers, "x")

/// The same through two tiles that the author placed one over the other: [0, 8) and [4, 12) of each
/// partition.
Tensor two_reducers_placed(Tensor x) {
  const auto [P, N] = x.dims<2>();
  Tensor y = nl::ndarray({P, 4}, nl::float32, nl::shared_hbm);
  Tensor t = nl::load(x);
  Tensor first = nl::ndarray({P, 2}, nl::float32, nl::sbuf, {.name = "first", .address = {{0, 0}}}),
         second =
             nl::ndarray({P, 2}, nl::float32, nl::sbuf, {.name = "second", .address = {{0, 4}}});
  nisa::tensor_reduce(first, nl::add, t.expand_dim(1).broadcast(1, 2), 2);
  for (int column = 0; column < 2; ++column)
    nisa::activation({.dst = nl::ndarray({P, N}, nl::float32),
                      .op = nl::copy,
                      .data = t,
                      .scale = 0.5f,
                      .reduce_op = nl::add,
                      .reduce_res = second(_, ds(column, 1)),
                      .reduce_cmd = nisa::reduce_cmd::reset_reduce});
  nisa::dma_copy(y(_, ds(0, 2)), first);
  nisa::dma_copy(y(_, ds(2, 2)), second);
  return y;
}
NL_KERNEL(two_reducers_placed, "x")

/// y[0:N, 0:M] = transpose(x[0:M, 0:N]), in tiles of `rows` x `columns`; what is left of y stays.
void turned(nl::InOut y, Tensor x, int rows, int columns) {
  const auto [M, N] = x.dims<2>();
  for (Chunk m : nl::tiles(M, rows))
    for (Chunk n : nl::tiles(N, columns)) {
      Tensor t = nl::load(x(m, n));
      Tensor p = nl::ndarray({n.size, m.size}, x.dtype(), nl::psum),
             u = nl::ndarray({n.size, m.size}, x.dtype());
      nisa::nc_transpose(p, t);
      nisa::tensor_copy(u, p);
      nisa::dma_copy(y(n, m), u);
    }
}
NL_KERNEL(turned, "y", "x", "rows", "columns")

/// The rows of x from `row` on as rows of y: whatever x has.
void moved_rows(nl::InOut y, Tensor x, int row, int column) {
  const auto [M, N] = x.dims<2>();
  for (Chunk m : nl::tiles(M, 128)) {
    Tensor t = nl::load(x(m, _));
    nisa::dma_copy(y(ds(row + m.start, m.size), ds(column, N)), t);
  }
}
NL_KERNEL(moved_rows, "y", "x", "row", "column")

/// y[A, R, B, C] from x[A, B, C] with stride 0 in the dim R. `way` is 0 within HBM, 1 when SBUF is
/// read with the stride, 2 when HBM is, 3 when HBM is read with stride 0 across partitions too:
/// then all of y is x[0].
Tensor repeated(Tensor x, int R, int way) {
  const auto [A, B, C] = x.dims<3>();
  Tensor y = nl::ndarray({A, R, B, C}, x.dtype(), nl::shared_hbm);
  const auto repeat = [&, B = B, C = C](Tensor t) { return t.expand_dim(1).broadcast(1, R); };
  if (way == 0) {
    nisa::dma_copy(y, repeat(x));
  } else if (way == 1) {
    nisa::dma_copy(y, repeat(nl::load(x)));
  } else {
    Tensor t = nl::ndarray({A, R, B, C}, x.dtype());
    nisa::dma_copy(t, repeat(way == 2 ? x : x(ds(0, 1)).broadcast(0, A)));
    nisa::dma_copy(y, t);
  }
  return y;
}
NL_KERNEL(repeated, "x", "R", "way")

/// Every second element of the innermost dim, from the last row to the first.
Tensor strided(Tensor x) {
  const auto [A, B, C] = x.dims<3>();
  Tensor y = nl::ndarray({A, C / 2, B}, x.dtype(), nl::shared_hbm);
  Tensor t = nl::ndarray({A, C / 2, B}, x.dtype());
  for (int64_t b = 0; b < B; ++b)
    nisa::dma_copy(t(_, _, B - 1 - b), x(_, b, nl::slice(0, C / 2 * 2, 2)));
  nisa::dma_copy(y, t);
  return y;
}
NL_KERNEL(strided, "x")
