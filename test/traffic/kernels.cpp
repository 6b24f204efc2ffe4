// Kernels whose HBM traffic is counted: each is the math and nothing else.

#include "nl/nl.h"

using nl::_, nl::ds, nl::Tensor;

Tensor matmul(Tensor a, Tensor b) { return nl::matmul(a, b); }

Tensor softmax(Tensor x) { return nl::softmax(x); }

Tensor rms_norm(Tensor x, Tensor gamma) { return nl::rms_norm(x, gamma, {.epsilon = 1e-3f}); }

Tensor layer_norm(Tensor x, Tensor gamma, Tensor beta) {
  return nl::layer_norm(x, gamma, beta, {.epsilon = 1e-3f});
}

// Six operations; row[1, N] and column[M, 1] broadcast.
Tensor chain(Tensor x, Tensor row, Tensor column) {
  return nl::exp(nl::tanh(x * column + row) * 0.5f - column) * row;
}

// Turns the two halves of each row into each other.
Tensor rope(Tensor x, Tensor cos, Tensor sin) {
  const int64_t half = x.dim(1) / 2;
  Tensor left = x(_, ds(0, half)), right = x(_, ds(half, half));
  return nl::concatenate({left * cos - right * sin, right * cos + left * sin}, 1);
}

Tensor transpose_add(Tensor a, Tensor b) { return a + nl::transpose(b); }

NL_KERNEL(matmul, "a", "b")
NL_KERNEL(softmax, "x")
NL_KERNEL(rms_norm, "x", "gamma")
NL_KERNEL(layer_norm, "x", "gamma", "beta")
NL_KERNEL(chain, "x", "row", "column")
NL_KERNEL(rope, "x", "cos", "sin")
NL_KERNEL(transpose_add, "a", "b")
