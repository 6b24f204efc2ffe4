//===- memory_faults.cpp - kernels that use memory which is not theirs ------------------------===//
//
// Line numbers count: memory_faults.py compares whole messages.
//
//===------------------------------------------------------------------------------------------===//

#include "nl/nl.h"
using nl::_, nl::ds, nl::Tensor;

/// The tile of a scope is read after the scope has closed and another tile took its bytes.
Tensor after_scope(Tensor x) {
  Tensor y = nl::ndarray(x.shape(), x.dtype(), nl::shared_hbm);
  nl::SbufArena arena;
  Tensor t;
  {
    auto scope = arena.scope();
    t = arena.alloc_stack(x.shape(), x.dtype());
    nisa::dma_copy(t, x);
  }
  Tensor u = arena.alloc_stack({64, 7}, nl::float32);
  nisa::memset(u, 0.0f);
  nisa::dma_copy(y, t);
  return y;
}
NL_KERNEL(after_scope)

/// The first of three sections that rotate over two addresses is read behind them.
Tensor after_rotation(Tensor x) {
  Tensor y = nl::ndarray(x.shape(), x.dtype(), nl::shared_hbm);
  nl::SbufArena arena;
  auto section = arena.scope({.buffers = 2});
  std::vector<Tensor> all;
  for (int i = 0; i < 3; ++i) {
    all.push_back(arena.alloc_stack(x.shape(), x.dtype()));
    nisa::dma_copy(all.back(), x);
    section.next();
  }
  nisa::tensor_tensor(all[2], all[0], all[1], nl::add);
  nisa::dma_copy(y, all[2]);
  return y;
}
NL_KERNEL(after_rotation)

/// A tile of one iteration is read in the next, before that has written its own.
Tensor of_the_last_iteration(Tensor x) {
  Tensor y = nl::ndarray(x.shape(), x.dtype(), nl::shared_hbm);
  nl::affine_for(5, [&](nl::Index i) {
    Tensor t = nl::ndarray({x.dim(0), 8}, x.dtype()), u = nl::ndarray({x.dim(0), 8}, x.dtype());
    nisa::tensor_copy(u, t);
    nisa::dma_copy(t, x(_, ds(i * 8, 8)));
    nisa::dma_copy(y(_, ds(i * 8, 8)), u);
  });
  return y;
}
NL_KERNEL(of_the_last_iteration)

namespace {

/// Row sums of all of t.
Tensor sum_of(Tensor t) {
  Tensor sum = nl::ndarray({t.dim(0), 1}, nl::float32);
  nisa::tensor_reduce(sum, nl::add, t, 1);
  return sum;
}

} // namespace

/// Tiles of 16 columns, of which `columns` are loaded.
Tensor partly_loaded(Tensor x, int columns) {
  const auto [P, N] = x.dims<2>();
  Tensor y = nl::ndarray({P, 3}, nl::float32, nl::shared_hbm);
  for (int64_t i = 0; i < 3; ++i) {
    Tensor t = nl::ndarray({P, 16}, x.dtype(), nl::sbuf, {.name = i ? "" : "t"});
    nisa::dma_copy(t(_, ds(0, columns)), x(_, ds(16 * i, columns)));
    nisa::dma_copy(y(_, ds(i, 1)), sum_of(t));
  }
  return y;
}
NL_KERNEL(partly_loaded)
