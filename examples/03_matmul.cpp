// 03: multiply two matrices, result[M, N] = lhsT^T . rhs.
//
//   kiln run examples/03_matmul.cpp:matmul_blocked rand:512x300:bf16:1 rand:512x700:bf16:2 -o c.npy
//
// The Tensor Engine contracts over partitions, so both operands come with K first: lhsT[K, M], rhs[K, N].
// One instruction multiplies [K<=128, M<=128] by [K<=128, N<=512] into one PSUM bank; a longer K adds up
// in PSUM, in fp32, over several instructions. The three kernels give equal bits, since each result is the
// same sum in the same order. They differ in how often they load the same data.

#include "nl/host.h"
#include "nl/nl.h"

#include <cmath>

using nl::Chunk, nl::Tensor;

namespace {

constexpr auto TK = nl::tile_size.pmax;                 // contraction: partitions of both operands
constexpr auto TM = nl::tile_size.gemm_stationary_fmax; // columns the array holds
constexpr auto TN = nl::tile_size.gemm_moving_fmax;     // one PSUM bank of fp32

// Checks the operands and declares the result, in their dtype.
Tensor declare_result(Tensor lhsT, Tensor rhs) {
  nl::require(lhsT.ndim() == 2 && rhs.ndim() == 2, "lhsT and rhs are matrices");
  nl::require(lhsT.dim(0) == rhs.dim(0), "lhsT has {} rows, rhs has {}: both are the contraction length",
              lhsT.dim(0), rhs.dim(0));
  nl::require(lhsT.dtype() == rhs.dtype(), "lhsT is {}, rhs is {}: inputs share one dtype", lhsT.dtype(),
              rhs.dtype());
  return nl::ndarray({lhsT.dim(1), rhs.dim(1)}, lhsT.dtype(), nl::shared_hbm, {.name = "result"});
}

// A fresh SBUF tile with a block of an HBM matrix.
Tensor load(Tensor matrix, Chunk rows, Chunk columns) {
  Tensor tile = nl::ndarray({rows.size, columns.size}, matrix.dtype());
  nisa::dma_copy({.dst = tile, .src = matrix(rows, columns)});
  return tile;
}

// PSUM -> SBUF, rounding fp32 to the result's dtype -> HBM.
void store(Tensor result, Chunk m, Chunk n, Tensor accumulator) {
  Tensor tile = nl::ndarray({m.size, n.size}, result.dtype());
  nisa::tensor_copy({.dst = tile, .src = accumulator});
  nisa::dma_copy({.dst = result(m, n), .src = tile});
}

} // namespace

// Loads both operands of every instruction.
Tensor matmul_tiled(Tensor lhsT, Tensor rhs) {
  Tensor result = declare_result(lhsT, rhs);
  const auto [K, M] = lhsT.dims<2>();
  const auto N = rhs.dim(1);
  for (Chunk m : nl::tiles(M, TM))
    for (Chunk n : nl::tiles(N, TN)) {
      Tensor acc = nl::ndarray({m.size, n.size}, nl::float32, nl::psum);
      for (Chunk k : nl::tiles(K, TK))
        nisa::nc_matmul({.dst = acc, .stationary = load(lhsT, k, m), .moving = load(rhs, k, n)});
      store(result, m, n, acc);
    }
  return result;
}

// Loads the panel lhsT[:, m] once for all n: it is the same for every block of a row. A panel too long for
// a quarter of SBUF is kept as far as it fits; the rest is loaded where it is used.
Tensor matmul_hoisted(Tensor lhsT, Tensor rhs) {
  constexpr int64_t kTileBytes = TM * 4; // of one partition, at most
  constexpr size_t kKept = nl::tile_size.sbuf_fmax_bytes / 4 / kTileBytes;
  Tensor result = declare_result(lhsT, rhs);
  const auto [K, M] = lhsT.dims<2>();
  const auto N = rhs.dim(1);
  for (Chunk m : nl::tiles(M, TM)) {
    std::vector<Tensor> panel;
    for (Chunk k : nl::tiles(K, TK))
      if (panel.size() < kKept)
        panel.push_back(load(lhsT, k, m));
    for (Chunk n : nl::tiles(N, TN)) {
      Tensor acc = nl::ndarray({m.size, n.size}, nl::float32, nl::psum);
      for (Chunk k : nl::tiles(K, TK)) {
        const size_t i = k.index;
        Tensor left = i < panel.size() ? panel[i] : load(lhsT, k, m);
        nisa::nc_matmul({.dst = acc, .stationary = left, .moving = load(rhs, k, n)});
      }
      store(result, m, n, acc);
    }
  }
  return result;
}

// Works on blocks of four by one tiles: each rhs tile is loaded once for four results, which accumulate in
// four PSUM banks; the four lhsT tiles come in one DMA. The other four banks are free for the next block.
Tensor matmul_blocked(Tensor lhsT, Tensor rhs) {
  constexpr int64_t kRowsOfTiles = 4;
  Tensor result = declare_result(lhsT, rhs);
  const auto [K, M] = lhsT.dims<2>();
  const auto N = rhs.dim(1);
  for (Chunk block : nl::tiles(M, kRowsOfTiles * TM))
    for (Chunk n : nl::tiles(N, TN)) {
      std::vector<Tensor> acc;
      for (Chunk m : nl::tiles(block.size, TM))
        acc.push_back(nl::ndarray({m.size, n.size}, nl::float32, nl::psum));
      for (Chunk k : nl::tiles(K, TK)) {
        Tensor left = load(lhsT, k, block); // [K, 512]: the four stationary tiles side by side
        Tensor right = load(rhs, k, n);
        for (Chunk m : nl::tiles(block.size, TM))
          nisa::nc_matmul({.dst = acc[m.index], .stationary = left(nl::_, m), .moving = right});
      }
      for (Chunk m : nl::tiles(block.size, TM))
        store(result, {m.index, block.start + m.start, m.size}, n, acc[m.index]);
    }
  return result;
}

NL_KERNEL(matmul_tiled, "lhsT", "rhs")
NL_KERNEL(matmul_hoisted, "lhsT", "rhs")
NL_KERNEL(matmul_blocked, "lhsT", "rhs")

// |result - product| / |product| in the Euclidean norm, against the product in double.
static double relative_error(const nl::Array &lhsT, const nl::Array &rhs, const nl::Array &result) {
  const int64_t K = lhsT.shape()[0], M = lhsT.shape()[1], N = rhs.shape()[1];
  std::vector<double> left(lhsT.size()), right(rhs.size());
  for (int64_t i = 0; i < lhsT.size(); ++i)
    left[i] = lhsT[i];
  for (int64_t i = 0; i < rhs.size(); ++i)
    right[i] = rhs[i];
  double error = 0, norm = 0;
  std::vector<double> row(N);
  for (int64_t m = 0; m < M; ++m) {
    std::fill(row.begin(), row.end(), 0.0);
    for (int64_t k = 0; k < K; ++k)
      for (int64_t n = 0; n < N; ++n)
        row[n] += left[k * M + m] * right[k * N + n];
    for (int64_t n = 0; n < N; ++n) {
      const double difference = result(m, n) - row[n];
      error += difference * difference;
      norm += row[n] * row[n];
    }
  }
  return std::sqrt(error / norm);
}

int main() {
  nl::SelfCheck check("03_matmul");
  struct {
    const char *lhsT, *rhs;
  } shapes[] = {{"1x1", "1x1"}, {"128x128", "128x512"}, {"300x129", "300x513"}, {"64x700", "64x96"}};
  struct {
    const char *name;
    double bound; // what rounding the result costs, with room for the fp32 sum
  } dtypes[] = {{"float32", 1e-6}, {"bfloat16", 3e-3}, {"float16", 4e-4}};
  for (auto [left, right] : shapes)
    for (auto [dtype, bound] : dtypes) {
      const std::string form = std::string(left) + " and " + right + " " + dtype;
      const nl::Array lhsT(("randn:" + std::string(left) + ":" + dtype + ":1").c_str());
      const nl::Array rhs(("randn:" + std::string(right) + ":" + dtype + ":2").c_str());
      const nl::Array tiled = nl::execute("matmul_tiled", {lhsT, rhs}).front();
      check.expect(relative_error(lhsT, rhs, tiled) <= bound, "matmul_tiled on " + form);
      for (const char *kernel : {"matmul_hoisted", "matmul_blocked"})
        check.expect(nl::execute(kernel, {lhsT, rhs}).front().sameBits(tiled), kernel + (" on " + form));
    }
  return check.finish();
}
