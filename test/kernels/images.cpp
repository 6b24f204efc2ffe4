//===- images.cpp - moving and averaging inside a partition -----------------------------------===//
//
// Kernels whose work is the access pattern: a transposition of free dims, averages over windows of
// an image, equal or not, and an image in another size. Channels lie on partitions.
//
//===------------------------------------------------------------------------------------------===//

#include "nl/nl.h"

using nl::_, nl::Chunk, nl::ds, nl::Tensor;

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
    nisa::tensor_scalar({.dst = mean,
                         .data = sum,
                         .op0 = nl::multiply,
                         .operand0 = 1.0f / static_cast<float>(pool * pool)});
    nl::store(out(c, _, _), mean);
  }
  return out;
}

namespace {

// Output i of a dim of `out` elements averages inputs floor(i * in / out) to ceil((i + 1) * in /
// out), the last one excluded: windows of different sizes, which may overlap.
Chunk window(int64_t i, int64_t in, int64_t out) {
  const int64_t start = i * in / out;
  return {i, start, nl::ceil_div((i + 1) * in, out) - start};
}

// The outputs of a dim that take input i of `in` when the dim gets `out` elements: those whose
// floor(o * in / out) is i.
Chunk copies(int64_t i, int64_t in, int64_t out) {
  const int64_t start = nl::ceil_div(i * out, in);
  return {i, start, nl::ceil_div((i + 1) * out, in) - start};
}

} // namespace

/// x[N, C, H, W] averaged to out[N, C, rows, columns], with windows as equal as they can be. Rows
/// are added first, then columns of these sums, so that a window of h x w takes h + w additions for
/// each of its columns, not h * w.
Tensor adaptive_average_pool(Tensor x, int64_t rows, int64_t columns) {
  const auto [N, C, H, W] = x.dims<4>();
  nl::require(rows >= 1 && columns >= 1, "an output of {}x{} has no element", rows, columns);
  Tensor out = nl::ndarray({N, C, rows, columns}, x.dtype(), nl::shared_hbm, {.name = "out"});
  // Images and channels are alike: together they fill the partitions.
  Tensor images = x.reshape({N * C, H, W}), results = out.reshape({N * C, rows, columns});
  for (Chunk c : nl::tiles(N * C, nl::tile_size.pmax)) {
    Tensor image = nl::load(images(c, _, _));
    Tensor means = nl::ndarray({c.size, rows, W}, nl::float32);
    for (int64_t i : nl::range(rows)) {
      const Chunk h = window(i, H, rows);
      Tensor sum = nl::ndarray({c.size, W}, nl::float32);
      nisa::tensor_reduce(
          {.dst = sum, .op = nl::add, .data = image(_, h, _).permute({0, 2, 1}), .axis = 2});
      nisa::tensor_scalar(means(_, i, _), sum, nl::multiply, 1.0f / static_cast<float>(h.size));
    }
    Tensor result = nl::ndarray({c.size, rows, columns}, x.dtype());
    for (int64_t j : nl::range(columns)) {
      const Chunk w = window(j, W, columns);
      Tensor sum = nl::ndarray({c.size, rows}, nl::float32);
      nisa::tensor_reduce({.dst = sum, .op = nl::add, .data = means(_, _, w), .axis = 2});
      nisa::tensor_scalar(result(_, _, j), sum, nl::multiply, 1.0f / static_cast<float>(w.size));
    }
    nl::store(results(c, _, _), result);
  }
  return out;
}

/// out[b, h, w, :] = x[b, floor(h * H / rows), floor(w * W / columns), :], by DMA alone: one
/// transfer for each pixel of x, which goes to the block of outputs that repeat it.
Tensor nearest_resize(Tensor x, int64_t rows, int64_t columns) {
  const auto [B, H, W, C] = x.dims<4>();
  nl::require(rows >= 1 && columns >= 1, "an output of {}x{} has no element", rows, columns);
  Tensor out = nl::ndarray({B, rows, columns, C}, x.dtype(), nl::shared_hbm, {.name = "out"});
  for (int64_t i : nl::range(H))
    for (int64_t j : nl::range(W)) {
      const Chunk h = copies(i, H, rows), w = copies(j, W, columns);
      if (h.size == 0 || w.size == 0) // an image that shrinks skips pixels
        continue;
      Tensor pixel = x(_, ds(i, 1), ds(j, 1), _).broadcast(1, h.size).broadcast(2, w.size);
      nisa::dma_copy({.dst = out(_, h, w, _), .src = pixel});
    }
  return out;
}

NL_KERNEL(transpose_free, "in", "f1", "f2")
NL_KERNEL(average_pool, "x", "pool")
NL_KERNEL(adaptive_average_pool, "x", "rows", "columns")
NL_KERNEL(nearest_resize, "x", "rows", "columns")
