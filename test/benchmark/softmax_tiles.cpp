//===- softmax_tiles.cpp - the smallest tiles a kernel would work on --------------------------===//
//
// What checks cost most on: instructions that move 8 KiB and are over in a microsecond.
//
//===------------------------------------------------------------------------------------------===//

#include "nl/nl.h"
using nl::_, nl::Chunk, nl::Tensor;

/// softmax of the rows of x[M, N], 128 rows and all columns at a time.
Tensor softmax_tiles(Tensor x) {
  const auto [M, N] = x.dims<2>();
  Tensor y = nl::ndarray({M, N}, x.dtype(), nl::shared_hbm);
  const auto column = [](Chunk m) { return nl::ndarray({m.size, 1}, nl::float32); };
  for (Chunk m : nl::tiles(M, nl::tile_size.pmax)) {
    Tensor t = nl::load(x(m, _));
    Tensor top = column(m), sum = column(m), inverse = column(m);
    nisa::tensor_reduce({.dst = top, .op = nl::maximum, .data = t, .axis = 1, .negate = true});
    Tensor e = nl::ndarray({m.size, N}, nl::float32), out = nl::ndarray({m.size, N}, x.dtype());
    nisa::activation({.dst = e,
                      .op = nl::exp,
                      .data = t,
                      .bias = top,
                      .reduce_op = nl::add,
                      .reduce_res = sum,
                      .reduce_cmd = nisa::reduce_cmd::reset_reduce});
    nisa::reciprocal(inverse, sum);
    nisa::tensor_scalar(out, e, nl::multiply, inverse);
    nisa::dma_copy(y(m, _), out);
  }
  return y;
}
NL_KERNEL(softmax_tiles, "x")
