//===- images.cpp - moving and averaging inside a partition -----------------------------------===//
//
// Kernels whose work is the access pattern: a transposition of free dims, and an average over
// windows of an image. Channels lie on partitions.
//
//===------------------------------------------------------------------------------------------===//

#include "nl/nl.h"

using nl::_, nl::Chunk, nl::Tensor;

/// out[p, j, i] = in[p, i, j], where in[P, F1 * F2] and out[P, F2 * F1] are matrices.
Tensor transpose_free(Tensor in, int64_t f1, int64_t f2) {
  const auto [P, F] = in.dims<2>();
  nl::require(F == f1 * f2, "in has {} columns, {} by {} are {}", F, f1, f2, f1 * f2);
  Tensor out = nl::ndarray({P, F}, in.dtype(), nl::shared_hbm, {.name = "out"});
  for (Chunk p : nl::tiles(P, nl::tile_size.pmax)) {
    Tensor tile = nl::load(in(p, _));
    Tensor turned = nl::ndarray({p.size, F}, in.dtype());
    nisa::tensor_copy({.dst = turned, .src = tile.reshape({p.size, f1, f2}).permute({0, 2, 1})});
    nl::store(out(p, _), turned);
  }
  return out;
}

/// The mean of every pool x pool window of x[C, H, W]; what does not fill a window is dropped.
Tensor average_pool(Tensor x, int64_t pool) {
  const auto [C, H, W] = x.dims<3>();
  const int64_t h = H / pool, w = W / pool;
  Tensor out = nl::ndarray({C, h, w}, x.dtype(), nl::shared_hbm, {.name = "out"});
  for (Chunk c : nl::tiles(C, nl::tile_size.pmax)) {
    Tensor image = nl::load(x(c, nl::ds(0, h * pool), nl::ds(0, w * pool)));
    Tensor windows = image.reshape({c.size, h, pool, w, pool}).permute({0, 1, 3, 2, 4});
    Tensor sum = nl::ndarray({c.size, h, w}, nl::float32);
    nisa::tensor_reduce({.dst = sum, .op = nl::add, .data = windows, .axis = {3, 4}});
    Tensor mean = nl::ndarray({c.size, h, w}, x.dtype());
    nisa::tensor_scalar({.dst = mean, .data = sum, .op0 = nl::multiply,
                         .operand0 = 1.0f / static_cast<float>(pool * pool)});
    nl::store(out(c, _, _), mean);
  }
  return out;
}

NL_KERNEL(transpose_free, "in", "f1", "f2")
NL_KERNEL(average_pool, "x", "pool")
