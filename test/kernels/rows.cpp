//===- rows.cpp - one operation on every row of a matrix --------------------------------------===//
//
// The first rungs of a ladder of kernels: an element-wise function, a sum and a maximum of each
// row. Rows lie on partitions.
//
//===------------------------------------------------------------------------------------------===//

#include "nl/nl.h"

using nl::_, nl::Chunk, nl::ds, nl::Op, nl::Tensor;

namespace {

// out[m, 0] = x[m, 0] op x[m, 1] op ..., for rows that fit a partition.
Tensor reduce_rows(Tensor x, Op op) {
  const auto [M, N] = x.dims<2>();
  Tensor out = nl::ndarray({M, 1}, x.dtype(), nl::shared_hbm, {.name = "out"});
  for (Chunk m : nl::tiles(M, nl::tile_size.pmax)) {
    Tensor result = nl::ndarray({m.size, 1}, x.dtype());
    nisa::tensor_reduce({.dst = result, .op = op, .data = nl::load(x(m, _)), .axis = 1});
    nl::store(out(m, _), result);
  }
  return out;
}

} // namespace

/// max(a * x + b, 0), on the Scalar Engine.
Tensor relu_axb(Tensor x, float a, float b) {
  const auto [M, N] = x.dims<2>();
  Tensor y = nl::ndarray({M, N}, x.dtype(), nl::shared_hbm, {.name = "y"});
  for (Chunk m : nl::tiles(M, nl::tile_size.pmax)) {
    Tensor result = nl::ndarray({m.size, N}, x.dtype());
    nisa::activation(
        {.dst = result, .op = nl::relu, .data = nl::load(x(m, _)), .bias = b, .scale = a});
    nl::store(y(m, _), result);
  }
  return y;
}

/// Sums, strictly left to right in float32.
Tensor row_sum(Tensor x) { return reduce_rows(x, nl::add); }

/// Maxima.
Tensor row_max(Tensor x) { return reduce_rows(x, nl::maximum); }

NL_KERNEL(relu_axb, "x", "a", "b")
NL_KERNEL(row_sum, "x")
NL_KERNEL(row_max, "x")
