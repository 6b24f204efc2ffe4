//===- matmul.cpp - the ends of the matmul ladder ---------------------------------------------===//
//
// examples/03_matmul.cpp holds the middle rungs: tiled, hoisted, blocked. Here are the first one, a
// single instruction, and two more that reuse what they loaded further: blocks of tiles in both
// free dims, and blocks whose whole contraction comes in a few large transfers. All sum each
// element over K in the same order, so all give equal bits.
//
//===------------------------------------------------------------------------------------------===//

#include "nl/nl.h"

using nl::_, nl::Chunk, nl::ds, nl::Tensor;

namespace {

constexpr auto TK = nl::tile_size.pmax;
constexpr auto TM = nl::tile_size.gemm_stationary_fmax;
constexpr auto TN = nl::tile_size.gemm_moving_fmax;

Tensor declare_result(Tensor lhsT, Tensor rhs) {
  nl::require(lhsT.dim(0) == rhs.dim(0), "lhsT has {} rows, rhs has {}", lhsT.dim(0), rhs.dim(0));
  return nl::ndarray({lhsT.dim(1), rhs.dim(1)}, lhsT.dtype(), nl::shared_hbm, {.name = "result"});
}

// A chunk inside another one, counted in the whole dim.
Chunk within(Chunk outer, Chunk inner) {
  return {inner.index, outer.start + inner.start, inner.size};
}

void store_rounded(Tensor result, Tensor acc) {
  Tensor tile = nl::ndarray(acc.shape(), result.dtype());
  nisa::tensor_copy({.dst = tile, .src = acc});
  nl::store(result, tile);
}

// Rows and columns of a matrix in HBM as one tile for each 128 rows; `whole` rows of a multiple of
// 128 come in a single transfer.
std::vector<Tensor> load_panel(Tensor matrix, Chunk columns) {
  const int64_t K = matrix.dim(0), full = K / TK;
  std::vector<Tensor> panel;
  if (full > 0) {
    Tensor tile = nl::ndarray({TK, full, columns.size}, matrix.dtype());
    nisa::dma_copy(
        {.dst = tile,
         .src = matrix(ds(0, full * TK), columns).reshape_dim(0, {full, TK}).permute({1, 0, 2})});
    for (int64_t k : nl::range(full))
      panel.push_back(tile(_, k));
  }
  if (K % TK)
    panel.push_back(nl::load(matrix(ds(full * TK, K % TK), columns)));
  return panel;
}

} // namespace

/// One instruction: K and M at most 128, N at most 512.
Tensor matmul_basic(Tensor lhsT, Tensor rhs) {
  Tensor result = declare_result(lhsT, rhs);
  Tensor acc = nl::ndarray(result.shape(), nl::float32, nl::psum);
  nisa::nc_matmul({.dst = acc, .stationary = nl::load(lhsT), .moving = nl::load(rhs)});
  store_rounded(result, acc);
  return result;
}

/// Blocks of 2 x 2 tiles: every loaded tile serves two results.
Tensor matmul_block_free(Tensor lhsT, Tensor rhs) {
  Tensor result = declare_result(lhsT, rhs);
  const auto [K, M] = lhsT.dims<2>();
  for (Chunk mm : nl::tiles(M, 2 * TM))
    for (Chunk nn : nl::tiles(rhs.dim(1), 2 * TN)) {
      std::vector<std::vector<Tensor>> acc;
      for (Chunk m : nl::tiles(mm.size, TM)) {
        acc.emplace_back();
        for (Chunk n : nl::tiles(nn.size, TN))
          acc.back().push_back(nl::ndarray({m.size, n.size}, nl::float32, nl::psum));
      }
      for (Chunk k : nl::tiles(K, TK)) {
        Tensor left = nl::load(lhsT(k, mm)), right = nl::load(rhs(k, nn));
        for (Chunk m : nl::tiles(mm.size, TM))
          for (Chunk n : nl::tiles(nn.size, TN))
            nisa::nc_matmul(
                {.dst = acc[m.index][n.index], .stationary = left(_, m), .moving = right(_, n)});
      }
      for (Chunk m : nl::tiles(mm.size, TM))
        for (Chunk n : nl::tiles(nn.size, TN))
          store_rounded(result(within(mm, m), within(nn, n)), acc[m.index][n.index]);
    }
  return result;
}

/// Panels of all of K for 2 x 1 tiles of the result, each in one transfer; K at most about 8000.
Tensor matmul_optimised(Tensor lhsT, Tensor rhs) {
  Tensor result = declare_result(lhsT, rhs);
  const int64_t M = lhsT.dim(1);
  for (Chunk n : nl::tiles(rhs.dim(1), TN)) {
    const std::vector<Tensor> right = load_panel(rhs, n);
    for (Chunk mm : nl::tiles(M, 2 * TM)) {
      const std::vector<Tensor> left = load_panel(lhsT, mm);
      for (Chunk m : nl::tiles(mm.size, TM)) {
        Tensor acc = nl::ndarray({m.size, n.size}, nl::float32, nl::psum);
        for (size_t k : nl::range(left.size()))
          nisa::nc_matmul({.dst = acc, .stationary = left[k](_, m), .moving = right[k]});
        store_rounded(result(within(mm, m), n), acc);
      }
    }
  }
  return result;
}

NL_KERNEL(matmul_basic, "lhsT", "rhs")
NL_KERNEL(matmul_block_free, "lhsT", "rhs")
NL_KERNEL(matmul_optimised, "lhsT", "rhs")
