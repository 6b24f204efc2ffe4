//===- right.cpp - kernels that other compilers got wrong -------------------------------------===//
//
// Each is the recipe of a fault that users of kernel compilers have reported, named in cases.py.
// All of them are legal and must give the right numbers.
//
//===------------------------------------------------------------------------------------------===//

#include "nl/nl.h"
using nl::_, nl::Chunk, nl::ds, nl::Tensor;

namespace {

Tensor like(Tensor x) { return nl::ndarray(x.shape(), x.dtype(), nl::shared_hbm); }

} // namespace

/// y[b, f] = 2 x[b, f] + 1 with x[B, F, 128, N]: the load stands inside both loops, its tile
/// outside
/// (`is_fresh` false: one buffer, no double buffering) or inside.
Tensor reload(Tensor x, bool is_fresh) {
  const auto [B, F, P, N] = x.dims<4>();
  Tensor y = like(x);
  Tensor shared = nl::ndarray({P, N}, x.dtype());
  for (int b = 0; b < B; ++b)
    for (int f = 0; f < F; ++f)
      for (Chunk n : nl::tiles(N, 100)) {
        Tensor t = is_fresh ? nl::ndarray({P, N}, x.dtype()) : shared;
        nisa::dma_copy(t(_, n), x(b, f, _, n));
        Tensor u = nl::ndarray({P, n.size}, x.dtype());
        nisa::tensor_scalar({.dst = u,
                             .data = t(_, n),
                             .op0 = nl::multiply,
                             .operand0 = 2.0f,
                             .op1 = nl::add,
                             .operand1 = 1.0f});
        nisa::dma_copy(y(b, f, _, n), u);
      }
  return y;
}
NL_KERNEL(reload, "x", "is_fresh")

/// Three matmuls into columns 0-255, 128-383 and 0-511 of one PSUM tile, none of which says whether
/// it accumulates.
Tensor overlapping_groups(Tensor lhsT, Tensor rhs) {
  const auto [K, M] = lhsT.dims<2>();
  Tensor y = nl::ndarray({M, 512}, nl::float32, nl::shared_hbm);
  Tensor a = nl::ndarray({K, M}, lhsT.dtype()), b = nl::ndarray({K, 512}, rhs.dtype());
  nisa::dma_copy(a, lhsT);
  nisa::dma_copy(b, rhs);
  Tensor acc = nl::ndarray({M, 512}, nl::float32, nl::psum);
  nisa::nc_matmul(acc(_, ds(0, 256)), a, b(_, ds(0, 256)));
  nisa::nc_matmul(acc(_, ds(128, 256)), a, b(_, ds(0, 256)));
  nisa::nc_matmul(acc, a, b);
  Tensor out = nl::ndarray({M, 512}, nl::float32);
  nisa::tensor_copy(out, acc);
  nisa::dma_copy(y, out);
  return y;
}
NL_KERNEL(overlapping_groups, "lhsT", "rhs")

/// S is loaded before the loop; every iteration reads and writes it; it is stored after the loop.
Tensor carried(Tensor x, int trips) {
  Tensor y = like(x);
  Tensor s = nl::ndarray(x.shape(), x.dtype());
  nisa::dma_copy(s, x);
  for (int i = 0; i < trips; ++i) {
    Tensor t = nl::ndarray(x.shape(), x.dtype());
    nisa::activation({.dst = t, .op = nl::copy, .data = s, .bias = 1.0f, .scale = 0.5f});
    nisa::tensor_tensor(s, s, t, nl::add);
  }
  nisa::dma_copy(y, s);
  return y;
}
NL_KERNEL(carried, "x", "trips")

/// acc = acc + product, accumulated in SBUF under two loops that do not index it.
Tensor accumulate_in_sbuf(Tensor lhsT, Tensor rhs) {
  const auto [K, M] = lhsT.dims<2>();
  const auto N = rhs.dim(1);
  Tensor y = nl::ndarray({M, N}, nl::float32, nl::shared_hbm);
  Tensor acc = nl::ndarray({M, N}, nl::float32);
  nisa::memset(acc, 0.0f);
  for (auto outer : nl::range(2))
    for (Chunk k : nl::tiles(K, 64)) {
      if (k.index % 2 != outer)
        continue;
      Tensor a = nl::ndarray({k.size, M}, lhsT.dtype()), b = nl::ndarray({k.size, N}, rhs.dtype());
      nisa::dma_copy(a, lhsT(k, _));
      nisa::dma_copy(b, rhs(k, _));
      Tensor product = nl::ndarray({M, N}, nl::float32, nl::psum);
      nisa::nc_matmul(product, a, b);
      nisa::tensor_tensor(acc, acc, product, nl::add);
    }
  nisa::dma_copy(y, acc);
  return y;
}
NL_KERNEL(accumulate_in_sbuf, "lhsT", "rhs")

/// exp of one tile: nothing lies in PSUM, no matmul runs.
Tensor exp_only(Tensor x) {
  Tensor y = like(x), t = nl::ndarray(x.shape(), x.dtype());
  nisa::dma_copy(t, x);
  nisa::activation(t, nl::exp, t);
  nisa::dma_copy(y, t);
  return y;
}
NL_KERNEL(exp_only, "x")

/// A copy inside HBM: no engine computes, nothing lies on chip.
Tensor hbm_only(Tensor x) {
  Tensor y = like(x);
  nisa::dma_copy(y, x);
  return y;
}
NL_KERNEL(hbm_only, "x")

/// RMSNorm of x[1, 128, N], no matmul.
Tensor rms(Tensor x) {
  const auto [B, P, N] = x.dims<3>();
  Tensor y = like(x);
  Tensor t = nl::ndarray({P, N}, x.dtype()), square = nl::ndarray({P, N}, nl::float32),
         sum = nl::ndarray({P, 1}, nl::float32), scale = nl::ndarray({P, 1}, nl::float32);
  nisa::dma_copy(t, x(0, _, _));
  nisa::activation({.dst = square, .op = nl::square, .data = t});
  nisa::tensor_reduce(sum, nl::add, square, 1);
  nisa::tensor_scalar({.dst = sum,
                       .data = sum,
                       .op0 = nl::multiply,
                       .operand0 = 1.0f / static_cast<float>(N),
                       .op1 = nl::add,
                       .operand1 = 1e-6f});
  nisa::activation(scale, nl::rsqrt, sum);
  nisa::tensor_scalar(t, t, nl::multiply, scale);
  nisa::dma_copy(y(0, _, _), t);
  return y;
}
NL_KERNEL(rms, "x")

/// Row sums of x[M, N] with tiles of 60 KiB in every partition, which do not fit four times.
Tensor wide_rows(Tensor x) {
  const auto [M, N] = x.dims<2>();
  Tensor y = nl::ndarray({M, 1}, nl::float32, nl::shared_hbm);
  for (Chunk m : nl::tiles(M, 128)) {
    Tensor t = nl::ndarray({m.size, N}, x.dtype());
    nisa::dma_copy(t, x(m, _));
    Tensor sum = nl::ndarray({m.size, 1}, nl::float32);
    nisa::tensor_reduce(sum, nl::add, t, 1);
    nisa::dma_copy(y(m, _), sum);
  }
  return y;
}
NL_KERNEL(wide_rows, "x")

/// y[i] = x[i] + i, where the column with i is written two iterations before the one that stores.
Tensor late_use(Tensor x, bool by_hand, int buffers) {
  const auto [M, N] = x.dims<2>();
  Tensor y = like(x);
  nl::ModuloAllocation ring({.base = 4096, .tile_bytes = 64, .num_tiles = {buffers}});
  std::vector<Tensor> indices, tiles;
  const auto rows = nl::tiles(M, 64);
  const auto store = [&](int64_t i) {
    nisa::tensor_scalar(tiles[i], tiles[i], nl::add, indices[i]);
    nisa::dma_copy(y(rows[i], _), tiles[i]);
  };
  for (Chunk m : rows) {
    Tensor index = by_hand
                       ? nl::ndarray({m.size, 1}, nl::float32, nl::sbuf, {.address = ring(m.index)})
                       : nl::ndarray({m.size, 1}, nl::float32);
    nisa::iota(index, {{0, 1}}, m.index);
    indices.push_back(index);
    Tensor t = nl::ndarray({m.size, N}, x.dtype());
    nisa::dma_copy(t, x(m, _));
    tiles.push_back(t);
    if (m.index >= 2)
      store(m.index - 2);
  }
  for (int64_t i = rows.size() < 2 ? 0 : rows.size() - 2; i < rows.size(); ++i)
    store(i);
  return y;
}
NL_KERNEL(late_use, "x", "by_hand", "buffers")

/// One copy of x at the address (0, 100 * 4000), a hundred physical tiles up.
Tensor address_beyond(Tensor x, int tiles) {
  Tensor y = like(x);
  nl::ModuloAllocation ring({.tile_bytes = 4000, .num_tiles = {tiles}});
  Tensor t = nl::ndarray(x.shape(), x.dtype(), nl::sbuf, {.name = "t", .address = ring(tiles - 1)});
  nisa::dma_copy(t, x);
  nisa::dma_copy(y, t);
  return y;
}
NL_KERNEL(address_beyond, "x", "tiles")

/// y = x + x in one instruction on tiles as wide as x.
Tensor two_wide(Tensor x) {
  Tensor y = like(x);
  Tensor a = nl::ndarray(x.shape(), x.dtype(), nl::sbuf, {.name = "a"}),
         b = nl::ndarray(x.shape(), x.dtype(), nl::sbuf, {.name = "b"});
  nisa::dma_copy(a, x);
  nisa::tensor_tensor(b, a, a, nl::add);
  nisa::dma_copy(y, b);
  return y;
}
NL_KERNEL(two_wide, "x")

/// Three tiles of 80 KiB live at once in a loop; nothing before it.
Tensor pressure_in_loop(Tensor x) {
  const auto [M, N] = x.dims<2>();
  Tensor y = like(x);
  for (Chunk m : nl::tiles(M, 128)) {
    Tensor a = nl::ndarray({m.size, N}, x.dtype()), b = nl::ndarray({m.size, N}, x.dtype()),
           c = nl::ndarray({m.size, N}, x.dtype());
    nisa::dma_copy(a, x(m, _));
    nisa::activation(b, nl::exp, a);
    nisa::activation(c, nl::tanh, a);
    nisa::tensor_tensor(c, c, b, nl::add);
    nisa::dma_copy(y(m, _), c);
  }
  return y;
}
NL_KERNEL(pressure_in_loop, "x")

/// out = lhsT^T . rhs in one instruction.
Tensor one_matmul(Tensor lhsT, Tensor rhs) {
  Tensor y = nl::ndarray({lhsT.dim(1), rhs.dim(1)}, nl::float32, nl::shared_hbm);
  Tensor a = nl::ndarray(lhsT.shape(), lhsT.dtype()), b = nl::ndarray(rhs.shape(), rhs.dtype()),
         acc = nl::ndarray({lhsT.dim(1), rhs.dim(1)}, nl::float32, nl::psum),
         out = nl::ndarray({lhsT.dim(1), rhs.dim(1)}, nl::float32);
  nisa::dma_copy(a, lhsT);
  nisa::dma_copy(b, rhs);
  nisa::nc_matmul(acc, a, b);
  nisa::tensor_copy(out, acc);
  nisa::dma_copy(y, out);
  return y;
}
NL_KERNEL(one_matmul, "lhsT", "rhs")

/// Row sums of squares of x[M, N] in tiles of 128 rows; `is_masked` loads only the rows the last
/// tile has, otherwise it computes on 128 rows of which 128 - M % 128 were never loaded.
Tensor tail(Tensor x, bool is_masked) {
  const auto [M, N] = x.dims<2>();
  Tensor y = nl::ndarray({M, 1}, nl::float32, nl::shared_hbm);
  for (Chunk m : nl::tiles(M, 128)) {
    const int64_t rows = is_masked ? m.size : 128;
    Tensor t = nl::ndarray({rows, N}, x.dtype()), sum = nl::ndarray({rows, 1}, nl::float32);
    nisa::dma_copy(t(ds(0, m.size), _), x(m, _));
    nisa::tensor_tensor(t, t, t, nl::multiply);
    nisa::tensor_reduce(sum, nl::add, t, 1);
    nisa::dma_copy(y(m, _), sum(ds(0, m.size), _));
  }
  return y;
}
NL_KERNEL(tail, "x", "is_masked")

/// Copies the tiles of x for which `stored` says so: 0 none, 1 only the last, 2 all.
Tensor forgotten(Tensor x, int stored) {
  const auto [M, N] = x.dims<2>();
  Tensor y = nl::ndarray({M, N}, x.dtype(), nl::shared_hbm, {.name = "y"});
  const auto rows = nl::tiles(M, 128);
  for (Chunk m : rows) {
    Tensor t = nl::ndarray({m.size, N}, x.dtype());
    nisa::dma_copy(t, x(m, _));
    if (stored == 2 || (stored == 1 && m.index == rows.size() - 1))
      nisa::dma_copy(y(m, _), t);
  }
  return y;
}
NL_KERNEL(forgotten, "x", "stored")

/// Assigning a handle names another tile; copying writes. `is_copy` chooses which.
Tensor rebind(Tensor x, bool is_copy) {
  Tensor y = like(x);
  Tensor t = nl::ndarray(x.shape(), x.dtype()), u = nl::ndarray(x.shape(), x.dtype());
  const Tensor first = t;
  nisa::memset(t, 7.0f);
  nisa::dma_copy(u, x);
  if (is_copy)
    nisa::tensor_copy(t, u);
  else
    t = u;
  nisa::dma_copy(y, first);
  return y;
}
NL_KERNEL(rebind, "x", "is_copy")

/// Writes the last `written` rows of y, which comes in with whatever the host put there.
void last_rows(nl::InOut y, Tensor x, int written) {
  const auto [M, N] = x.dims<2>();
  Tensor t = nl::ndarray({written, N}, x.dtype());
  nisa::dma_copy(t, x(ds(M - written, written), _));
  nisa::dma_copy(y(ds(M - written, written), _), t);
}
NL_KERNEL(last_rows, "y", "x", "written")

/// y[p, t] = a[p, t] * y[p, t - 1] + b[p, t] in pieces of `width` columns, each starting from the
/// last column of the one before. `how` is 0 for a loop of the device, 1 for a C++ loop, 2 for one
/// piece.
Tensor scan_pieces(Tensor a, Tensor b, int width, int how) {
  const auto [P, L] = a.dims<2>();
  Tensor y = like(a);
  Tensor state = nl::ndarray({P, 1}, nl::float32);
  nisa::memset(state, 0.0f);
  const auto piece = [&](auto columns, int64_t n) {
    Tensor s = nl::ndarray({P, n}, nl::float32), t = nl::ndarray({P, n}, nl::float32),
           u = nl::ndarray({P, n}, nl::float32);
    nisa::dma_copy(t, a(_, columns));
    nisa::dma_copy(u, b(_, columns));
    nisa::tensor_tensor_scan(
        {.dst = s, .data0 = t, .data1 = u, .initial = state, .op0 = nl::multiply, .op1 = nl::add});
    nisa::tensor_copy(state, s(_, ds(n - 1, 1)));
    nisa::dma_copy(y(_, columns), s);
  };
  if (how == 2)
    piece(ds(0, L), L);
  else if (how == 1)
    for (Chunk c : nl::tiles(L, width))
      piece(ds(c.start, c.size), c.size);
  else
    nl::affine_for(L / width, [&](nl::Index i) { piece(ds(i * width, width), width); });
  return y;
}
NL_KERNEL(scan_pieces, "a", "b", "width", "how")

/// `carried` as a loop of the device: S is written before the loop, read and written in it, stored
/// after it; HBM is read and written around it as well.
Tensor carried_rolled(Tensor x, int trips) {
  Tensor y = like(x);
  Tensor s = nl::ndarray(x.shape(), x.dtype());
  nisa::dma_copy(s, x);
  nisa::dma_copy(y, s);
  nl::affine_for(trips, [&](nl::Index) {
    Tensor t = nl::ndarray(x.shape(), x.dtype());
    nisa::activation({.dst = t, .op = nl::copy, .data = s, .bias = 1.0f, .scale = 0.5f});
    nisa::tensor_tensor(s, s, t, nl::add);
    nisa::dma_copy(y, s);
  });
  nisa::dma_copy(s, y);
  nisa::dma_copy(y, s);
  return y;
}
NL_KERNEL(carried_rolled, "x", "trips")
