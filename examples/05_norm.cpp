// 05: norms of every row of a matrix.
//
//   kiln run examples/05_norm.cpp:rmsnorm randn:9x700:float32:1 randn:1x700:float32:2 1e-5 -o y.npy
//
//   rmsnorm    y = x / sqrt(mean(x^2) + eps) * gamma
//   layernorm  y = (x - mean(x)) / sqrt(var(x) + eps) * gamma + beta
//
// Rows lie on partitions and are cut into chunks. What fits SBUF stays there between the pass that
// measures a row and the pass that scales it; the rest is loaded twice, so rows of any length work.

#include "nl/host.h"
#include "nl/nl.h"

#include <algorithm>
#include <cmath>

using nl::_, nl::Chunk, nl::ds, nl::Tensor;

namespace {

constexpr int64_t kWidth = 2048; // of a chunk
// Chunks that stay in SBUF: a sixth of it in float32, for each of up to four matrices.
constexpr size_t kKept = nl::tile_size.sbuf_fmax / 6 / kWidth;

Tensor f32_tile(int64_t rows, int64_t columns) { return nl::ndarray({rows, columns}, nl::float32); }

// Columns of a matrix in HBM as SBUF tiles, chunk by chunk.
class Columns {
public:
  explicit Columns(Tensor matrix) : matrix(matrix) {
    for (Chunk n : nl::tiles(matrix.dim(1), kWidth))
      if (kept.size() < kKept)
        kept.push_back(nl::load(matrix(_, n)));
  }
  Tensor operator()(Chunk n) const {
    return n.index < static_cast<int64_t>(kept.size()) ? kept[n.index] : nl::load(matrix(_, n));
  }

private:
  Tensor matrix;
  std::vector<Tensor> kept;
};

// Rows of x and parameters of N values, all of one dtype.
void check_inputs(Tensor x, std::initializer_list<Tensor> parameters) {
  nl::require(x.ndim() == 2, "x is a matrix, not a tensor of rank {}", x.ndim());
  const nl::Shape row{1, x.dim(1)};
  for (const Tensor &p : parameters)
    nl::require(p.shape() == row && p.dtype() == x.dtype(),
                "a parameter is {} {}: gamma and beta must be {} {}", p.shape(), p.dtype(), row,
                x.dtype());
}

// A parameter row on all lanes, for rows of x to be multiplied with: the DMA reads it once a lane.
Columns on_lanes(Tensor parameter, Tensor x) {
  return Columns(parameter.broadcast(0, std::min(x.dim(0), nl::tile_size.pmax)));
}

// The sum of each row of a tile, as a column.
Tensor sum_of(Tensor tile) {
  Tensor sum = f32_tile(tile.dim(0), 1);
  nisa::tensor_reduce({.dst = sum, .op = nl::add, .data = tile, .axis = 1});
  return sum;
}

// 1 / sqrt(mean + eps), where the mean is that of N squares and `sums` holds partial sums of them.
Tensor inverse_root_mean(Tensor sums, int64_t N, float eps) {
  Tensor result = f32_tile(sums.dim(0), 1);
  nisa::activation({.dst = result,
                    .op = nl::rsqrt,
                    .data = sum_of(sums),
                    .bias = eps,
                    .scale = 1.0f / static_cast<float>(N)});
  return result;
}

} // namespace

Tensor rmsnorm(Tensor x, Tensor gamma, float eps) {
  check_inputs(x, {gamma});
  const auto [M, N] = x.dims<2>();
  const nl::Tiles chunks = nl::tiles(N, kWidth);
  Tensor y = nl::ndarray({M, N}, x.dtype(), nl::shared_hbm, {.name = "y"});
  const Columns gammas = on_lanes(gamma, x);
  for (Chunk m : nl::tiles(M, nl::tile_size.pmax)) {
    const Columns rows(x(m, _));
    Tensor squares = f32_tile(m.size, chunks.size());
    for (Chunk n : chunks)
      nisa::activation({.dst = f32_tile(m.size, n.size),
                        .op = nl::square,
                        .data = rows(n),
                        .reduce_op = nl::add,
                        .reduce_res = squares(_, ds(n.index, 1)),
                        .reduce_cmd = nisa::reduce_cmd::reset_reduce});
    Tensor scale = inverse_root_mean(squares, N, eps);
    for (Chunk n : chunks) {
      Tensor result = nl::ndarray({m.size, n.size}, y.dtype());
      nisa::scalar_tensor_tensor({.dst = result,
                                  .data = rows(n),
                                  .op0 = nl::multiply,
                                  .operand0 = scale,
                                  .op1 = nl::multiply,
                                  .operand1 = gammas(n)(ds(0, m.size), _)});
      nisa::dma_copy({.dst = y(m, n), .src = result});
    }
  }
  return y;
}

// With a mean of 1e4 and a deviation of 1e-2, a sum of the values has lost the deviation, and so
// has a sum of squares. So a first mean, good to a few digits, is subtracted from all values:
// exactly, where they are close to it. What is left is small and has the same deviation; its own
// mean is subtracted before squaring. No single value decides: an outlier anywhere does no harm.
Tensor layernorm(Tensor x, Tensor gamma, Tensor beta, float eps) {
  check_inputs(x, {gamma, beta});
  const auto [M, N] = x.dims<2>();
  const nl::Tiles chunks = nl::tiles(N, kWidth);
  Tensor y = nl::ndarray({M, N}, x.dtype(), nl::shared_hbm, {.name = "y"});
  const Columns gammas = on_lanes(gamma, x), betas = on_lanes(beta, x);
  for (Chunk m : nl::tiles(M, nl::tile_size.pmax)) {
    const auto lanes = ds(0, m.size);
    const Columns rows(x(m, _));
    Tensor rough = f32_tile(m.size, chunks.size()), minus_rough = f32_tile(m.size, 1);
    for (Chunk n : chunks)
      nisa::tensor_reduce(
          {.dst = rough(_, ds(n.index, 1)), .op = nl::add, .data = rows(n), .axis = 1});
    nisa::tensor_scalar(minus_rough, sum_of(rough), nl::multiply, -1.0f / static_cast<float>(N));
    // x - rough mean of a chunk, and its sum.
    const auto shift = [&](Chunk n, Tensor sum) {
      Tensor t = f32_tile(m.size, n.size);
      nisa::activation({.dst = t,
                        .op = nl::copy,
                        .data = rows(n),
                        .bias = minus_rough,
                        .reduce_op = nl::add,
                        .reduce_res = sum,
                        .reduce_cmd = nisa::reduce_cmd::reset_reduce});
      return t;
    };
    Tensor sums = f32_tile(m.size, chunks.size()), squares = f32_tile(m.size, chunks.size());
    std::vector<Tensor> kept;
    for (Chunk n : chunks) {
      Tensor t = shift(n, sums(_, ds(n.index, 1)));
      if (kept.size() < kKept)
        kept.push_back(t);
    }
    const auto shifted = [&](Chunk n) {
      return n.index < static_cast<int64_t>(kept.size()) ? kept[n.index]
                                                         : shift(n, f32_tile(m.size, 1));
    };

    Tensor minus_mean = f32_tile(m.size, 1);
    nisa::tensor_scalar(minus_mean, sum_of(sums), nl::multiply, -1.0f / static_cast<float>(N));
    for (Chunk n : chunks)
      nisa::activation({.dst = f32_tile(m.size, n.size),
                        .op = nl::square,
                        .data = shifted(n),
                        .bias = minus_mean,
                        .reduce_op = nl::add,
                        .reduce_res = squares(_, ds(n.index, 1)),
                        .reduce_cmd = nisa::reduce_cmd::reset_reduce});
    Tensor scale = inverse_root_mean(squares, N, eps);

    for (Chunk n : chunks) {
      Tensor scaled = f32_tile(m.size, n.size);
      Tensor result = nl::ndarray({m.size, n.size}, y.dtype());
      nisa::scalar_tensor_tensor({.dst = scaled,
                                  .data = shifted(n),
                                  .op0 = nl::add,
                                  .operand0 = minus_mean,
                                  .op1 = nl::multiply,
                                  .operand1 = gammas(n)(lanes, _)});
      nisa::scalar_tensor_tensor({.dst = result,
                                  .data = scaled,
                                  .op0 = nl::multiply,
                                  .operand0 = scale,
                                  .op1 = nl::add,
                                  .operand1 = betas(n)(lanes, _)});
      nisa::dma_copy({.dst = y(m, n), .src = result});
    }
  }
  return y;
}

NL_KERNEL(rmsnorm, "x", "gamma", "eps")
NL_KERNEL(layernorm, "x", "gamma", "beta", "eps")

// |y - norm| / |norm| in the Euclidean norm, in double. Without beta the norm is rmsnorm.
static double relative_error(const nl::Array &x, const nl::Array &gamma, const nl::Array *beta,
                             double eps, const nl::Array &y) {
  const int64_t M = x.shape()[0], N = x.shape()[1];
  double error = 0, norm = 0;
  for (int64_t m = 0; m < M; ++m) {
    double mean = 0, square = 0;
    for (int64_t n = 0; beta && n < N; ++n)
      mean += x(m, n) / static_cast<double>(N);
    for (int64_t n = 0; n < N; ++n)
      square += (x(m, n) - mean) * (x(m, n) - mean) / static_cast<double>(N);
    for (int64_t n = 0; n < N; ++n) {
      const double exact =
          (x(m, n) - mean) / std::sqrt(square + eps) * gamma[n] + (beta ? (*beta)[n] : 0);
      error += (y(m, n) - exact) * (y(m, n) - exact);
      norm += exact * exact;
    }
  }
  return std::sqrt(error / norm);
}

int main() {
  nl::SelfCheck check("05_norm");
  constexpr double eps = 1e-3f;
  struct {
    const char *name;
    double bound; // half a unit of the dtype, and room for the fp32 sums
  } dtypes[] = {{"float32", 4e-6}, {"bfloat16", 4e-3}, {"float16", 5e-4}};
  for (const char *shape : {"1x1", "300x1", "129x513", "2x2049", "3x9001"})
    for (auto [dtype, bound] : dtypes) {
      const std::string form = std::string(shape) + ":" + dtype;
      const std::string row = "randn:1" + form.substr(form.find('x'));
      const nl::Array x(("randn:" + form + ":1").c_str());
      const nl::Array gamma((row + ":2").c_str()), beta((row + ":3").c_str());
      const nl::Array rms = nl::execute("rmsnorm", {x, gamma, eps}).front();
      check.expect(relative_error(x, gamma, nullptr, eps, rms) <= bound, "rmsnorm on " + form);
      const nl::Array layer = nl::execute("layernorm", {x, gamma, beta, eps}).front();
      check.expect(relative_error(x, gamma, &beta, eps, layer) <= bound, "layernorm on " + form);
    }

  // Values that sums of squares would not tell apart.
  nl::Array x("randn:2x4096:float32:4");
  for (int64_t i = 0; i < x.size(); ++i)
    x.set(i, 1e4 + 1e-2 * x[i]);
  const nl::Array ones("ones:1x4096:float32"), zeros("zeros:1x4096:float32");
  const nl::Array y = nl::execute("layernorm", {x, ones, zeros, 0.0}).front();
  check.expect(relative_error(x, ones, &zeros, 0, y) <= 1e-4, "a mean of 1e4, a deviation of 1e-2");
  return check.finish();
}
