// 10: whole tensors. Each kernel is the math and nothing else.
//
//   kiln run examples/10_whole_tensor.cpp:softmax randn:300x5000:bf16:1 -o y.npy
//
// Functions of nl:: on whole tensors make values. The compiler cuts them into tiles that fit SBUF
// and PSUM, decides which dim lies on partitions, fuses, and moves the data; `--emit=tile` shows
// what it starts from. Any shape works: no kernel below knows about 128 partitions.
//
// Arithmetic is float32 whatever the arguments are; a matmul operand is rounded to the other's
// 16-bit dtype, and a result has the dtype of the arguments.

#include "nl/host.h"
#include "nl/nl.h"

#include <cmath>
#include <functional>

using nl::_, nl::ds, nl::Tensor;

Tensor matmul(Tensor a, Tensor b) { return nl::matmul(a, b); }

Tensor matmul_bias_gelu(Tensor x, Tensor w, Tensor b) { return nl::gelu(nl::matmul(x, w) + b); }

Tensor softmax(Tensor x) { return nl::softmax(x); }

Tensor layernorm(Tensor x, Tensor gamma, Tensor beta, float eps) {
  return nl::layer_norm(x, gamma, beta, {.epsilon = eps});
}

Tensor rmsnorm_matmul(Tensor x, Tensor gamma, Tensor w, float eps) {
  return nl::matmul(nl::rms_norm(x, gamma, {.epsilon = eps}), w);
}

Tensor mlp_swiglu(Tensor x, Tensor w_gate, Tensor w_up, Tensor w_down) {
  return nl::matmul(nl::silu(nl::matmul(x, w_gate)) * nl::matmul(x, w_up), w_down);
}

// Turns the two halves of each row into each other.
Tensor rope(Tensor x, Tensor cos, Tensor sin) {
  const int64_t half = x.dim(1) / 2;
  Tensor left = x(_, ds(0, half)), right = x(_, ds(half, half));
  return nl::concatenate({left * cos - right * sin, right * cos + left * sin}, 1);
}

Tensor transpose_add(Tensor a, Tensor b) { return a + nl::transpose(b); }

NL_KERNEL(matmul, "a", "b")
NL_KERNEL(matmul_bias_gelu, "x", "w", "b")
NL_KERNEL(softmax, "x")
NL_KERNEL(layernorm, "x", "gamma", "beta", "eps")
NL_KERNEL(rmsnorm_matmul, "x", "gamma", "w", "eps")
NL_KERNEL(mlp_swiglu, "x", "w_gate", "w_up", "w_down")
NL_KERNEL(rope, "x", "cos", "sin")
NL_KERNEL(transpose_add, "a", "b")

//---- the same in double -------------------------------------------------===//

namespace {

struct Matrix {
  int64_t rows, columns;
  std::vector<double> values;

  Matrix(int64_t rows, int64_t columns) : rows(rows), columns(columns), values(rows * columns) {}
  Matrix(const nl::Array &array) : Matrix(array.shape()[0], array.shape()[1]) {
    for (int64_t i = 0; i < array.size(); ++i)
      values[i] = array[i];
  }
  double &operator()(int64_t row, int64_t column) { return values[row * columns + column]; }
  double operator()(int64_t row, int64_t column) const { return values[row * columns + column]; }
};

Matrix product(const Matrix &a, const Matrix &b) {
  Matrix c(a.rows, b.columns);
  for (int64_t m = 0; m < a.rows; ++m)
    for (int64_t k = 0; k < a.columns; ++k)
      for (int64_t n = 0; n < b.columns; ++n)
        c(m, n) += a(m, k) * b(k, n);
  return c;
}

// f of each element and its row and column.
Matrix map(Matrix x, const std::function<double(double, int64_t, int64_t)> &f) {
  for (int64_t m = 0; m < x.rows; ++m)
    for (int64_t n = 0; n < x.columns; ++n)
      x(m, n) = f(x(m, n), m, n);
  return x;
}

Matrix softmax_of(Matrix x) {
  for (int64_t m = 0; m < x.rows; ++m) {
    double largest = -INFINITY, sum = 0;
    for (int64_t n = 0; n < x.columns; ++n)
      largest = std::max(largest, x(m, n));
    for (int64_t n = 0; n < x.columns; ++n)
      sum += x(m, n) = std::exp(x(m, n) - largest);
    for (int64_t n = 0; n < x.columns; ++n)
      x(m, n) /= sum;
  }
  return x;
}

// (x - mean) / sqrt(mean((x - mean)^2) + eps) * gamma, the mean 0 unless it is `centred`.
Matrix norm_of(Matrix x, const Matrix &gamma, double eps, bool centred) {
  for (int64_t m = 0; m < x.rows; ++m) {
    double mean = 0, square = 0;
    for (int64_t n = 0; centred && n < x.columns; ++n)
      mean += x(m, n) / static_cast<double>(x.columns);
    for (int64_t n = 0; n < x.columns; ++n)
      square += (x(m, n) - mean) * (x(m, n) - mean) / static_cast<double>(x.columns);
    for (int64_t n = 0; n < x.columns; ++n)
      x(m, n) = (x(m, n) - mean) / std::sqrt(square + eps) * gamma(0, n);
  }
  return x;
}

Matrix turned(const Matrix &x, const Matrix &cos, const Matrix &sin) {
  const int64_t half = x.columns / 2;
  return map(x, [&](double value, int64_t m, int64_t n) {
    return n < half ? value * cos(m, n) - x(m, n + half) * sin(m, n)
                    : value * cos(m, n - half) + x(m, n - half) * sin(m, n - half);
  });
}

//---- the check ----------------------------------------------------------===//

struct Checker {
  nl::SelfCheck check{"10_whole_tensor"};
  std::string dtype;
  double bound = 0;
  int seed = 0;

  // A matrix of normal numbers, divided by `scale`.
  nl::Array normal(int64_t rows, int64_t columns, double scale = 1) {
    const std::string argument = "randn:" + std::to_string(rows) + "x" + std::to_string(columns) +
                                 ":" + dtype + ":" + std::to_string(++seed);
    nl::Array array(argument.c_str());
    for (int64_t i = 0; scale != 1 && i < array.size(); ++i)
      array.set(i, array[i] / scale);
    return array;
  }

  void expect(const char *kernel, const std::vector<nl::Value> &args, const Matrix &exact) {
    const nl::Array found = nl::execute(kernel, args).front();
    std::string what = std::string(kernel) + " " + dtype + " -> " + std::to_string(exact.rows) +
                       "x" + std::to_string(exact.columns);
    if (found.shape() != std::vector<int64_t>{exact.rows, exact.columns})
      return check.expect(false, what + ": another shape");
    double error = 0, norm = 0;
    for (int64_t i = 0; i < found.size(); ++i) {
      error += (found[i] - exact.values[i]) * (found[i] - exact.values[i]);
      norm += exact.values[i] * exact.values[i];
    }
    // The errors of many elements average out; one alone may be rounded badly at each step.
    const double limit = exact.values.size() == 1 ? 3 * bound : bound;
    char digits[32];
    std::snprintf(digits, sizeof digits, "%.2e", std::sqrt(error / norm));
    check.expect(std::sqrt(error / norm) <= limit, what + ": relative error " + digits);
  }

  void matmuls(int64_t M, int64_t K, int64_t N) {
    const double root = std::sqrt(static_cast<double>(K)); // keeps products near 1
    const nl::Array x = normal(M, K), w = normal(K, N, root), b = normal(1, N);
    expect("matmul", {x, w}, product(x, w));
    const Matrix bias(b);
    expect("matmul_bias_gelu", {x, w, b}, map(product(x, w), [&](double v, int64_t, int64_t n) {
             v += bias(0, n);
             return v / 2 * std::erfc(-v / std::sqrt(2.0));
           }));
    const nl::Array gamma = normal(1, K);
    constexpr double eps = 1e-3f;
    expect("rmsnorm_matmul", {x, gamma, w, eps}, product(norm_of(x, gamma, eps, false), w));
    const nl::Array up = normal(K, N, root), down = normal(N, K, std::sqrt(double(N)));
    const Matrix gates = product(x, w), ups = product(x, up);
    expect("mlp_swiglu", {x, w, up, down},
           product(map(gates, [&](double v, int64_t m,
                                  int64_t n) { return v / (1 + std::exp(-v)) * ups(m, n); }),
                   down));
  }

  void rows(int64_t M, int64_t N) {
    const nl::Array x = normal(M, N), y = normal(N, M), gamma = normal(1, N), beta = normal(1, N);
    constexpr double eps = 1e-3f;
    expect("softmax", {x}, softmax_of(x));
    const Matrix shift(beta), other(y);
    expect("layernorm", {x, gamma, beta, eps},
           map(norm_of(x, gamma, eps, true),
               [&](double v, int64_t, int64_t n) { return v + shift(0, n); }));
    expect("transpose_add", {x, y},
           map(x, [&](double v, int64_t m, int64_t n) { return v + other(n, m); }));
    const nl::Array pairs = normal(M, 2 * N), cos = normal(M, N), sin = normal(M, N);
    expect("rope", {pairs, cos, sin}, turned(pairs, cos, sin));
  }
};

} // namespace

int main() {
  Checker checker;
  struct {
    const char *dtype;
    double bound; // L2-relative, of float64: sums in float32, and two roundings to the dtype
  } dtypes[] = {{"float32", 2e-6}, {"bfloat16", 3e-3}, {"float16", 4e-4}};
  for (auto [dtype, bound] : dtypes) {
    checker.dtype = dtype;
    checker.bound = bound;
    checker.matmuls(1, 1, 1);
    checker.matmuls(200, 300, 130);
    checker.matmuls(64, 129, 513);
    checker.rows(1, 1);
    checker.rows(129, 1);
    checker.rows(300, 513);
    checker.rows(3, 5000);
  }
  return checker.check.finish();
}
