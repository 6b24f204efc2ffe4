// Columns through DMA transposes, rows through a shuffle, elements through a predicate: tiles
// rotate, and every one is written in part by one engine and read by another.
#include "nl/nl.h"
using nl::Chunk, nl::Tensor;

// y[c, r] = max(x[r, c], 0) of the row before r in its group of 32; 100 where x > 3.
Tensor moving(Tensor x) {
  const auto [M, N] = x.dims<2>();
  Tensor y = nl::ndarray({M, N}, x.dtype(), nl::shared_hbm);
  std::vector<int> before(32);
  for (int i = 0; i < 32; ++i)
    before[i] = (i + 31) % 32;
  for (Chunk n : nl::tiles(N, 64)) {
    Tensor columns = nl::ndarray({n.size, M}, x.dtype()),
           rows = nl::ndarray({M, n.size}, x.dtype()), large = nl::ndarray({M, n.size}, nl::uint8),
           negative = nl::ndarray({M, n.size}, nl::bool_),
           out = nl::ndarray({M, n.size}, x.dtype());
    nisa::dma_transpose(columns, x(nl::_, n));
    nisa::dma_transpose({.dst = rows, .src = columns, .axes = {1, 0}});
    nisa::tensor_scalar(large, rows, nl::greater, 3);
    nisa::tensor_scalar(negative, rows, nl::less, 0);
    nisa::nc_stream_shuffle(out, rows, before);
    nisa::nc_stream_shuffle(negative, negative, before);
    nisa::tensor_copy_predicated(out, 0, negative);
    nisa::tensor_copy_predicated(out, 100, large);
    nisa::dma_copy(y(nl::_, n), out);
  }
  return y;
}
NL_KERNEL(moving, "x")
