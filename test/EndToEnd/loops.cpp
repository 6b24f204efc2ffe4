//===- loops.cpp - kernels of the loops test --------------------------------------------------===//

#include "nl/nl.h"

using nl::Tensor, nl::Index, nl::ds, nl::_;

/// a + b, one row in each iteration.
Tensor add_rows(Tensor a, Tensor b) {
  const auto [rows, columns] = a.dims<2>();
  Tensor y = nl::ndarray({rows, columns}, a.dtype(), nl::shared_hbm, {.name = "y"});
  nl::affine_for(rows, [&, columns = columns](Index i) {
    Tensor ta = nl::ndarray({1, columns}, a.dtype()), tb = nl::ndarray({1, columns}, a.dtype());
    Tensor sum = nl::ndarray({1, columns}, a.dtype());
    nisa::dma_copy({.dst = ta, .src = a(ds(i, 1), _)});
    nisa::dma_copy({.dst = tb, .src = b(ds(i, 1), _)});
    nisa::tensor_tensor({.dst = sum, .data1 = ta, .data2 = tb, .op = nl::add});
    nisa::dma_copy({.dst = y(ds(i, 1), _), .src = sum});
  });
  return y;
}
NL_KERNEL(add_rows, "a", "b")

/// The largest of the four rows of every block of x[blocks * 4, columns], kept in a tile that the
/// outer loop owns.
Tensor block_max(Tensor x) {
  const auto [rows, columns] = x.dims<2>();
  Tensor y = nl::ndarray({rows / 4, columns}, nl::float32, nl::shared_hbm, {.name = "y"});
  nl::affine_for(rows / 4, [&, columns = columns](Index block) {
    Tensor best = nl::load(x(ds(block * 4, 1), _));
    nl::affine_for(3, [&](Index row) {
      Tensor t = nl::load(x(ds(block * 4 + row + 1, 1), _));
      nisa::tensor_tensor({.dst = best, .data1 = best, .data2 = t, .op = nl::maximum});
    });
    nl::store(y(ds(block, 1), _), best);
  });
  return y;
}
NL_KERNEL(block_max, "x")

/// Reads past the end in the last iteration.
Tensor one_too_many(Tensor x) {
  Tensor y = nl::ndarray({1, 4}, nl::float32, nl::shared_hbm, {.name = "y"});
  nl::affine_for(x.dim(0), [&](Index i) { nl::store(y, nl::load(x(ds(i + 1, 1), _))); });
  return y;
}
NL_KERNEL(one_too_many, "x")
