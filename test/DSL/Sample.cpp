//===- Sample.cpp - a kernel file as an author writes it ------------------===//
//
// Compiled by every supported host compiler with warnings as errors, loaded, and traced.
//
//===----------------------------------------------------------------------===//

#include "nl/nl.h"

using nl::Tensor, nl::Chunk, nl::ds, nl::_;

/// result[M, N] = lhsT^T . rhs, with lhsT stored [K, M] and rhs stored [K, N].
Tensor matmul_tiled(Tensor lhsT, Tensor rhs) {
  const auto [K, M] = lhsT.dims<2>();
  const auto [K2, N] = rhs.dims<2>();
  nl::require(K == K2, "lhsT and rhs disagree on the contraction length: {} and {}", K, K2);

  constexpr auto TK = nl::tile_size.pmax;
  constexpr auto TM = nl::tile_size.gemm_stationary_fmax;
  constexpr auto TN = nl::tile_size.gemm_moving_fmax;
  const int cores = nl::num_programs(), me = nl::program_id();

  Tensor result = nl::ndarray({M, N}, lhsT.dtype(), nl::shared_hbm, {.name = "result"});
  for (Chunk m : nl::tiles(M, TM)) {
    if (m.index % cores != me)
      continue;
    std::vector<Tensor> panel;
    for (Chunk k : nl::tiles(K, TK)) {
      Tensor a = nl::ndarray({k.size, m.size}, lhsT.dtype());
      nisa::dma_copy({.dst = a, .src = lhsT(k, m)});
      panel.push_back(a);
    }
    for (Chunk n : nl::tiles(N, TN)) {
      Tensor acc = nl::ndarray({m.size, n.size}, nl::float32, nl::psum);
      for (Chunk k : nl::tiles(K, TK)) {
        Tensor b = nl::ndarray({k.size, n.size}, rhs.dtype());
        nisa::dma_copy({.dst = b, .src = rhs(k, n)});
        nisa::nc_matmul(
            {.dst = acc, .stationary = panel[k.index], .moving = b, .accumulate = k.index > 0});
      }
      Tensor out = nl::ndarray({m.size, n.size}, result.dtype());
      nisa::tensor_copy(out, acc);
      nisa::dma_copy({.dst = result(m, n), .src = out});
    }
  }
  return result;
}
NL_KERNEL(matmul_tiled, "lhsT", "rhs")

/// y = softmax(scale * x) by rows, and the row sums; every instruction once.
std::pair<Tensor, Tensor> softmax(Tensor x, float scale) {
  const auto [rows, columns] = x.dims<2>();
  Tensor y = nl::ndarray({rows, columns}, x.dtype(), nl::shared_hbm);
  Tensor sums = nl::ndarray({rows, 1}, nl::float32, nl::shared_hbm);
  for (Chunk r : nl::tiles(rows, 128)) {
    Tensor t = nl::load(x(r, _));
    Tensor low = nl::ndarray({r.size, 1}, nl::float32), sum = nl::ndarray({r.size, 1}, nl::float32);
    Tensor inverse = nl::ndarray({r.size, 1}, nl::float32),
           e = nl::ndarray({r.size, columns}, nl::bfloat16);
    nisa::tensor_reduce({.dst = low, .op = nl::maximum, .data = t, .axis = 1});
    nisa::tensor_scalar({.dst = low, .data = low, .op0 = nl::multiply, .operand0 = -scale});
    nisa::activation({.dst = e,
                      .op = nl::exp,
                      .data = t,
                      .bias = low,
                      .scale = scale,
                      .reduce_op = nl::add,
                      .reduce_res = sum,
                      .reduce_cmd = nisa::reduce_cmd::reset_reduce});
    nisa::reciprocal(inverse, sum);
    Tensor out = nl::zeros({r.size, columns}, x.dtype());
    nisa::tensor_scalar({.dst = out, .data = e, .op0 = nl::multiply, .operand0 = inverse});
    nl::store(y(r, _), out);
    nl::store(sums(r, _), sum);
  }
  return {y, sums};
}
NL_KERNEL(softmax, "x", "scale")
