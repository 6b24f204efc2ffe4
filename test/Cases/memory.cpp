//===- memory.cpp - what lies where, and what lies nowhere ------------------------------------===//
//
// Recipes of faults that users of other compilers met with memory: engines and memories that a
// kernel does not use, partitions that hold far more than the others, tensors that do not fit.
// Named in cases.py.
//
//===------------------------------------------------------------------------------------------===//

#include "nl/nl.h"
using nl::_, nl::Chunk, nl::ds, nl::Tensor;

namespace {

Tensor tile(nl::Shape shape, nl::DType dtype = nl::float32, nl::Buffer buffer = nl::sbuf) {
  return nl::ndarray(shape, dtype, buffer);
}

} // namespace

/// x[P, N] through whatever the bits of `parts` choose, in this order: the Vector Engine doubles
/// it, the Scalar Engine adds 1, GpSimd squares, a copy in HBM, the Tensor Engine turns it, PSUM
/// holds it between two copies. Without any of them the copy stays in HBM. What lies in PSUM comes
/// out through the Vector or the Scalar Engine; if the kernel uses neither, it stays there.
Tensor parts_of_the_core(Tensor x, int parts) {
  const auto [P, N] = x.dims<2>();
  const auto uses = [&](int bit) { return (parts >> bit & 1) != 0; };
  const bool is_vector = uses(0), is_scalar = uses(1);
  const bool is_turned = uses(4) && (is_vector || is_scalar);
  Tensor y = nl::ndarray({is_turned ? N : P, is_turned ? P : N}, x.dtype(), nl::shared_hbm);
  if (parts == 0) {
    nisa::dma_copy(y, x);
    return y;
  }
  const auto out_of_psum = [&](Tensor to, Tensor from) {
    if (is_vector)
      nisa::tensor_copy({.dst = to, .src = from, .engine = nisa::engine::vector});
    else if (is_scalar)
      nisa::tensor_copy({.dst = to, .src = from, .engine = nisa::engine::scalar});
  };
  Tensor source = x;
  if (uses(3)) {
    source = nl::ndarray({P, N}, x.dtype(), nl::private_hbm);
    nisa::dma_copy(source, x);
  }
  Tensor t = tile({P, N});
  nisa::dma_copy(t, source);
  if (is_vector)
    nisa::tensor_scalar({.dst = t,
                         .data = t,
                         .op0 = nl::multiply,
                         .operand0 = 2.0f,
                         .engine = nisa::engine::vector});
  if (is_scalar)
    nisa::activation({.dst = t, .op = nl::copy, .data = t, .bias = 1.0f});
  if (uses(2))
    nisa::tensor_tensor(
        {.dst = t, .data1 = t, .data2 = t, .op = nl::multiply, .engine = nisa::engine::gpsimd});
  if (uses(4)) {
    Tensor turned = tile({N, P}, nl::float32, nl::psum);
    nisa::nc_transpose({.dst = turned, .data = t, .engine = nisa::engine::tensor});
    if (is_turned) {
      t = tile({N, P});
      out_of_psum(t, turned);
    }
  }
  if (uses(5) && (is_vector || is_scalar)) {
    Tensor between = tile(t.shape(), nl::float32, nl::psum);
    nisa::tensor_copy({.dst = between,
                       .src = t,
                       .engine = is_vector ? nisa::engine::vector : nisa::engine::scalar});
    t = tile(t.shape());
    out_of_psum(t, between);
  }
  nisa::dma_copy(y, t);
  return y;
}
NL_KERNEL(parts_of_the_core, "x", "parts")

/// The sum of x[128, N] and, in row 0, of `columns` rows of `extra` that all lie in partition 0
/// until they are added.
Tensor one_full_partition(Tensor x, Tensor extra, int columns) {
  const auto [P, N] = x.dims<2>();
  Tensor y = nl::ndarray({P, N}, x.dtype(), nl::shared_hbm);
  Tensor wide = nl::ndarray({P, N}, x.dtype(), nl::sbuf, {.name = "wide"});
  std::vector<Tensor> narrow;
  nisa::dma_copy(wide, x);
  for (int i = 0; i < columns; ++i) {
    narrow.push_back(nl::ndarray({1, N}, x.dtype()));
    nisa::dma_copy(narrow.back(), extra(ds(i, 1), _));
  }
  for (const Tensor &row : narrow)
    nisa::tensor_tensor(wide(ds(0, 1), _), wide(ds(0, 1), _), row, nl::add);
  nisa::dma_copy(y, wide);
  return y;
}
NL_KERNEL(one_full_partition, "x", "extra", "columns")

/// Rotary embedding of x[d, heads * S], halves of d turned against each other by cos and sin[d/2,
/// S]; `heads` at a time are on chip.
Tensor rope(Tensor x, Tensor cos, Tensor sin, int heads) {
  const auto [d, columns] = x.dims<2>();
  const int64_t half = d / 2, S = cos.dim(1);
  Tensor y = nl::ndarray({d, columns}, nl::float32, nl::shared_hbm);
  Tensor c = nl::load(cos), s = nl::load(sin);
  for (Chunk h : nl::tiles(columns / S, heads)) {
    const auto each = [&](Tensor angle) { return angle.expand_dim(1).broadcast(1, h.size); };
    const auto part = [&](Tensor of, int64_t row) {
      return of(ds(row, half), ds(h.start * S, h.size * S)).reshape({half, h.size, S});
    };
    const nl::Shape shape{half, h.size, S};
    Tensor low = tile(shape, x.dtype()), high = tile(shape, x.dtype());
    nisa::dma_copy(low, part(x, 0));
    nisa::dma_copy(high, part(x, half));
    Tensor a = tile(shape), b = tile(shape);
    const auto turn = [&](Tensor first, Tensor second, nl::Op op, int64_t row) {
      nisa::tensor_tensor(a, first, each(c), nl::multiply);
      nisa::tensor_tensor(b, second, each(s), nl::multiply);
      nisa::tensor_tensor(a, a, b, op);
      nisa::dma_copy(part(y, row), a);
    };
    turn(low, high, nl::subtract, 0);
    turn(high, low, nl::add, half);
  }
  return y;
}
NL_KERNEL(rope, "x", "cos", "sin", "heads")

/// lhsT^T . rhs for any M, `rows` rows of the result at a time: the last ones are fewer, and
/// nothing is padded.
Tensor matmul_rows(Tensor lhsT, Tensor rhs, int rows) {
  const auto [K, M] = lhsT.dims<2>();
  const int64_t N = rhs.dim(1);
  Tensor y = nl::ndarray({M, N}, nl::float32, nl::shared_hbm);
  Tensor b = nl::load(rhs);
  for (Chunk m : nl::tiles(M, rows)) {
    Tensor a = nl::load(lhsT(_, m));
    Tensor acc = tile({m.size, N}, nl::float32, nl::psum), out = tile({m.size, N});
    nisa::nc_matmul(acc, a, b);
    nisa::tensor_copy(out, acc);
    nisa::dma_copy(y(m, _), out);
  }
  return y;
}
NL_KERNEL(matmul_rows, "lhsT", "rhs", "rows")

/// x + 1 in one tile that is written where it is read: nothing else lies in SBUF.
Tensor in_place(Tensor x) {
  Tensor y = nl::ndarray(x.shape(), x.dtype(), nl::shared_hbm);
  Tensor t = nl::ndarray(x.shape(), x.dtype(), nl::sbuf, {.name = "t"});
  nisa::dma_copy(t, x);
  nisa::tensor_scalar(t, t, nl::add, 1.0f);
  nisa::dma_copy(y, t);
  return y;
}
NL_KERNEL(in_place, "x")

/// Sum of the first x[., 0:N] of `tiles` tiles that are all live at once.
Tensor all_live(Tensor x, int tiles) {
  const auto [P, N] = x.dims<2>();
  Tensor y = nl::ndarray({P, N}, x.dtype(), nl::shared_hbm);
  std::vector<Tensor> live;
  for (int i = 0; i < tiles; ++i) {
    live.push_back(nl::ndarray({P, N + i}, x.dtype()));
    nisa::dma_copy(live.back()(_, ds(0, N)), x);
  }
  Tensor sum = nl::ndarray({P, N}, nl::float32, nl::sbuf, {.name = "sum"});
  nisa::memset(sum, 0.0f);
  for (const Tensor &t : live)
    nisa::tensor_tensor(sum, sum, t(_, ds(0, N)), nl::add);
  nisa::dma_copy(y, sum);
  return y;
}
NL_KERNEL(all_live, "x", "tiles")

/// Row sums of x[M, N] in a loop of the device, with tiles of 60 KiB in every partition for
/// N = 15360: as many iterations at a time as fit.
Tensor wide_rows_rolled(Tensor x) {
  const auto [M, N] = x.dims<2>();
  Tensor y = nl::ndarray({M, 1}, nl::float32, nl::shared_hbm);
  nl::affine_for(M / 64, [&, N = N](nl::Index i) {
    Tensor t = nl::ndarray({64, N}, x.dtype());
    nisa::dma_copy(t, x(ds(i * 64, 64), _));
    Tensor sum = tile({64, 1});
    nisa::tensor_reduce(sum, nl::add, t, 1);
    nisa::dma_copy(y(ds(i * 64, 64), _), sum);
  });
  return y;
}
NL_KERNEL(wide_rows_rolled, "x")
