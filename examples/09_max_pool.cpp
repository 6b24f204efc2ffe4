// 09: max pooling with stride 1: out[h, w] = max of the k x k window of x that begins at (h, w).
//
//   kiln run examples/09_max_pool.cpp:max_pool x.npy 3 -o y.npy
//
// Windows overlap, and both overlaps are access patterns. Output rows lie on partitions, and each
// needs k rows of the image: row h + i is loaded into partition h for every i < k, with a pattern
// whose rows overlap (the halo). Inside a partition a second pattern reads column w + j for every
// j < k, as if the row had been copied k times.
//
//   tile[h, i, w]  = x[h + i, w]                      pattern of HBM: [W, rows] [W, k] [1, columns]
//   columns[h, w]  = max over i of tile[h, i, w]      k values each
//   out[h, w]      = max over j of columns[h, w + j]  k values each: 2 k, not k * k
//
// A maximum rounds nothing, so the result is exact in every dtype.

#include "nl/host.h"
#include "nl/nl.h"

#include <algorithm>
#include <cmath>

using nl::_, nl::Chunk, nl::ds, nl::Tensor;

Tensor max_pool(Tensor x, int64_t k) {
  const auto [H, W] = x.dims<2>();
  nl::require(k >= 1 && k <= H && k <= W, "a window of {}x{} does not fit an image of {}x{}", k, k,
              H, W);
  Tensor out = nl::ndarray({H - k + 1, W - k + 1}, x.dtype(), nl::shared_hbm, {.name = "out"});
  // The k rows of a partition fill at most an eighth of SBUF, so that loads and stores overlap.
  const int64_t widest = nl::tile_size.sbuf_fmax / 8 / k - (k - 1);
  nl::require(widest > 0, "a window of {} rows is too high for SBUF", k);
  for (Chunk h : nl::tiles(H - k + 1, nl::tile_size.pmax))
    for (Chunk w : nl::tiles(W - k + 1, widest)) {
      const int64_t width = w.size + k - 1;
      Tensor tile = nl::ndarray({h.size, k, width}, x.dtype());
      nisa::dma_copy(
          {.dst = tile,
           .src = x.ap({{W, h.size}, {W, k}, {1, width}}, {.offset = h.start * W + w.start})});
      Tensor columns = nl::ndarray({h.size, width}, x.dtype());
      nisa::tensor_reduce(
          {.dst = columns, .op = nl::maximum, .data = tile.permute({0, 2, 1}), .axis = 2});
      Tensor result = nl::ndarray({h.size, w.size}, x.dtype());
      nisa::tensor_reduce({.dst = result,
                           .op = nl::maximum,
                           .data = columns.ap({{width, h.size}, {1, w.size}, {1, k}}),
                           .axis = 2});
      nl::store(out(h, w), result);
    }
  return out;
}
NL_KERNEL(max_pool, "x", "k")

int main() {
  nl::SelfCheck check("09_max_pool");
  struct {
    const char *shape;
    int64_t k;
  } cases[] = {{"1x1", 1}, {"5x7", 1}, {"5x7", 5}, {"130x9", 3}, {"131x9", 3}, {"4x7000", 3}};
  for (auto [shape, k] : cases)
    for (const char *dtype : {"float32", "bfloat16", "float16"}) {
      const nl::Array x(("randn:" + std::string(shape) + ":" + dtype + ":1").c_str());
      const int64_t H = x.shape()[0], W = x.shape()[1];
      const nl::Array out = nl::execute("max_pool", {x, k}).front();
      bool same = out.size() == (H - k + 1) * (W - k + 1);
      for (int64_t h = 0; same && h < H - k + 1; ++h)
        for (int64_t w = 0; w < W - k + 1; ++w) {
          double best = -INFINITY;
          for (int64_t i = 0; i < k * k; ++i)
            best = std::max<double>(best, x[(h + i / k) * W + w + i % k]);
          same = same && out[h * (W - k + 1) + w] == best;
        }
      check.expect(same, std::string(shape) + " window " + std::to_string(k) + " " + dtype);
    }
  return check.finish();
}
