// 04: softmax of every row, y[m, n] = exp(x[m, n]) / sum over n of exp(x[m, n]).
//
//   kiln run examples/04_softmax.cpp:softmax randn:300x1000:float32 -o y.npy
//
// exp overflows above 88, so the maximum of the row is subtracted first; it cancels in the
// quotient. A row may be longer than SBUF, so it is cut into chunks. A chunk subtracts its own
// maximum and waits for no other chunk; a small correction brings all of them to the maximum of the
// row:
//
//   y = exp(x - top of chunk) * exp(top of chunk - top of row) / sum
//
// The formula holds for infinities and NaN too: exp(-Inf) is 0, a row of nothing but -Inf is NaN.

#include "nl/host.h"
#include "nl/nl.h"

#include <cmath>
#include <limits>

using nl::_, nl::Chunk, nl::ds, nl::Tensor;

namespace {

constexpr int64_t kWidth = 2048; // of a chunk: work enough for one instruction
constexpr float kLargest = std::numeric_limits<float>::max();

Tensor f32_tile(int64_t rows, int64_t columns) { return nl::ndarray({rows, columns}, nl::float32); }

// -top, except that the opposite of -Inf is finite: exp(-Inf + Inf) would be NaN where 0 is meant.
Tensor negated(Tensor top) {
  Tensor minus = f32_tile(top.dim(0), 1);
  nisa::tensor_scalar({.dst = minus, .data = top, .op0 = nl::multiply, .operand0 = -1.0f,
                       .op1 = nl::minimum, .operand1 = kLargest});
  return minus;
}

// exp(x - top) of a chunk in HBM, where `top` becomes the maximum of each row and `sum` its sum.
Tensor exponentials(Tensor x, Tensor top, Tensor sum) {
  Tensor data = nl::load(x);
  nisa::tensor_reduce({.dst = top, .op = nl::maximum, .data = data, .axis = 1});
  // Subtraction, exp and the sum are one pass of the Scalar Engine, whatever the dtype of x.
  Tensor e = f32_tile(x.dim(0), x.dim(1));
  nisa::activation({.dst = e, .op = nl::exp, .data = data, .bias = negated(top),
                    .reduce_op = nl::add, .reduce_res = sum,
                    .reduce_cmd = nisa::reduce_cmd::reset_reduce});
  return e;
}

} // namespace

Tensor softmax(Tensor x) {
  nl::require(x.ndim() == 2, "x is a matrix, not a tensor of rank {}", x.ndim());
  const auto [M, N] = x.dims<2>();
  Tensor y = nl::ndarray({M, N}, x.dtype(), nl::shared_hbm, {.name = "y"});
  const nl::Tiles chunks = nl::tiles(N, kWidth);
  // A third of SBUF holds exponentials until the sum is known; beyond that they are computed again.
  constexpr size_t kKept = nl::tile_size.sbuf_fmax / 3 / kWidth;

  for (Chunk m : nl::tiles(M, nl::tile_size.pmax)) {
    Tensor tops = f32_tile(m.size, chunks.size()), sums = f32_tile(m.size, chunks.size());
    std::vector<Tensor> kept;
    for (Chunk n : chunks) {
      const auto column = ds(n.index, 1);
      Tensor e = exponentials(x(m, n), tops(_, column), sums(_, column));
      if (kept.size() < kKept)
        kept.push_back(e);
    }

    Tensor top = f32_tile(m.size, 1), total = f32_tile(m.size, 1), inverse = f32_tile(m.size, 1);
    Tensor weights = f32_tile(m.size, chunks.size()), weighted = f32_tile(m.size, chunks.size());
    nisa::tensor_reduce({.dst = top, .op = nl::maximum, .data = tops, .axis = 1});
    nisa::activation({.dst = weights, .op = nl::exp, .data = tops, .bias = negated(top)});
    nisa::tensor_tensor({.dst = weighted, .data1 = weights, .data2 = sums, .op = nl::multiply});
    nisa::tensor_reduce({.dst = total, .op = nl::add, .data = weighted, .axis = 1});
    nisa::reciprocal({.dst = inverse, .data = total});

    for (Chunk n : chunks) {
      Tensor e = n.index < static_cast<int64_t>(kept.size())
                     ? kept[n.index]
                     : exponentials(x(m, n), f32_tile(m.size, 1), f32_tile(m.size, 1));
      Tensor result = nl::ndarray({m.size, n.size}, y.dtype());
      nisa::tensor_scalar({.dst = result, .data = e, .op0 = nl::multiply,
                           .operand0 = weights(_, ds(n.index, 1)), .op1 = nl::multiply,
                           .operand1 = inverse});
      nisa::dma_copy({.dst = y(m, n), .src = result});
    }
  }
  return y;
}

NL_KERNEL(softmax, "x")

// The largest |y - softmax(x)| relative to the largest value of its row, in double.
static double relative_error(const nl::Array &x, const nl::Array &y) {
  const int64_t M = x.shape()[0], N = x.shape()[1];
  double worst = 0;
  for (int64_t m = 0; m < M; ++m) {
    double top = x(m, 0), sum = 0;
    for (int64_t n = 0; n < N; ++n)
      top = std::max(top, x(m, n));
    for (int64_t n = 0; n < N; ++n)
      sum += std::exp(x(m, n) - top);
    for (int64_t n = 0; n < N; ++n)
      worst = std::max(worst, std::abs(y(m, n) - std::exp(x(m, n) - top) / sum) * sum);
  }
  return worst;
}

int main() {
  nl::SelfCheck check("04_softmax");
  struct {
    const char *name;
    double bound; // half a unit of the dtype in the largest value, and room for the fp32 sum
  } dtypes[] = {{"float32", 4e-6}, {"bfloat16", 4e-3}, {"float16", 5e-4}};
  for (const char *shape : {"1x1", "300x1", "129x4097", "3x20011", "5x53000"})
    for (auto [dtype, bound] : dtypes) {
      const std::string form = std::string(shape) + ":" + dtype;
      const nl::Array x(("randn:" + form + ":4").c_str());
      check.expect(relative_error(x, nl::execute("softmax", {x}).front()) <= bound, form);
    }

  // Rows that go wrong without the maximum: equal values, the most negative number, +-1e4.
  nl::Array x("randn:6x9000:float32:5");
  for (int64_t n = 0; n < 9000; ++n) {
    x.set(n, -3.0);
    x.set(9000 + n, -kLargest);
    x.set(2 * 9000 + n, x(2, n) * 1e4);
    x.set(3 * 9000 + n, n % 2 ? 1e4 : -1e4);
  }
  x.set(4 * 9000 + 8999, -kLargest);
  for (int64_t n = 0; n < 4096; ++n) // two chunks are masked out
    x.set(5 * 9000 + n, -std::numeric_limits<double>::infinity());
  check.expect(relative_error(x, nl::execute("softmax", {x}).front()) <= 4e-6, "special rows");
  return check.finish();
}
