//===- pointwise.cpp - one value of each operand at a time ------------------------------------===//
//
// A function of every element, one step of an optimiser, and rotary embeddings: little work for
// each element, so what counts is that all partitions work and that no tile is read twice.
//
//===------------------------------------------------------------------------------------------===//

#include "nl/nl.h"

#include <cmath>

using nl::_, nl::Chunk, nl::ds, nl::Tensor;

/// x / (1 + exp(-x)), for a matrix of any size.
Tensor silu(Tensor x) {
  const auto [M, N] = x.dims<2>();
  Tensor y = nl::ndarray({M, N}, x.dtype(), nl::shared_hbm, {.name = "y"});
  for (Chunk m : nl::tiles(M, nl::tile_size.pmax))
    for (Chunk n : nl::tiles(N, 4096)) {
      Tensor result = nl::ndarray({m.size, n.size}, x.dtype());
      nisa::activation(result, nl::silu, nl::load(x(m, n)));
      nl::store(y(m, n), result);
    }
  return y;
}

/// Step `step` (from 1) of AdamW: the parameters, first and second moments after it.
///
///   m' = beta1 * m + (1 - beta1) * g,  v' = beta2 * v + (1 - beta2) * g^2
///   p' = p * (1 - rate * decay) - rate * (m' / (1 - beta1^step)) / (sqrt(v' / (1 - beta2^step)) +
///        eps)
std::tuple<Tensor, Tensor, Tensor> adamw(Tensor p, Tensor g, Tensor m, Tensor v, double rate,
                                         double beta1, double beta2, double eps, double decay,
                                         int step) {
  const auto [M, N] = p.dims<2>();
  const double correction1 = 1 - std::pow(beta1, step), correction2 = 1 - std::pow(beta2, step);
  const auto result = [&](const char *name) {
    return nl::ndarray({M, N}, p.dtype(), nl::shared_hbm, {.name = name});
  };
  Tensor p_next = result("p_next"), m_next = result("m_next"), v_next = result("v_next");
  for (Chunk rows : nl::tiles(M, nl::tile_size.pmax))
    for (Chunk columns : nl::tiles(N, 2048)) {
      const auto scratch = [&] { return nl::ndarray({rows.size, columns.size}, nl::float32); };
      Tensor grad = nl::load(g(rows, columns));
      Tensor m1 = scratch(), v1 = scratch(), p1 = scratch(), part = scratch(), square = scratch(),
             root = scratch();
      nisa::tensor_scalar(part, grad, nl::multiply, 1 - beta1);
      nisa::scalar_tensor_tensor({.dst = m1,
                                  .data = nl::load(m(rows, columns)),
                                  .op0 = nl::multiply,
                                  .operand0 = beta1,
                                  .op1 = nl::add,
                                  .operand1 = part});
      nisa::scalar_tensor_tensor({.dst = square,
                                  .data = grad,
                                  .op0 = nl::multiply,
                                  .operand0 = 1 - beta2,
                                  .op1 = nl::multiply,
                                  .operand1 = grad});
      nisa::scalar_tensor_tensor({.dst = v1,
                                  .data = nl::load(v(rows, columns)),
                                  .op0 = nl::multiply,
                                  .operand0 = beta2,
                                  .op1 = nl::add,
                                  .operand1 = square});
      nisa::activation(
          {.dst = root, .op = nl::sqrt, .data = v1, .scale = static_cast<float>(1 / correction2)});
      nisa::tensor_scalar(root, root, nl::add, eps);
      nisa::reciprocal(root, root);
      nisa::scalar_tensor_tensor({.dst = part,
                                  .data = m1,
                                  .op0 = nl::multiply,
                                  .operand0 = -rate / correction1,
                                  .op1 = nl::multiply,
                                  .operand1 = root});
      nisa::scalar_tensor_tensor({.dst = p1,
                                  .data = nl::load(p(rows, columns)),
                                  .op0 = nl::multiply,
                                  .operand0 = 1 - rate * decay,
                                  .op1 = nl::add,
                                  .operand1 = part});
      nl::store(p_next(rows, columns), p1);
      nl::store(m_next(rows, columns), m1);
      nl::store(v_next(rows, columns), v1);
    }
  return {p_next, m_next, v_next};
}

/// Rotary embeddings: x[d, B, heads, S] turned by angles whose cos and sin are [d / 2, B, S].
///
///   out[:d/2] = x[:d/2] * cos - x[d/2:] * sin,  out[d/2:] = x[d/2:] * cos + x[:d/2] * sin
///
/// The halves of d lie on different partitions, and engines do not reach across. DMA does: x is
/// loaded twice, the second time with its halves exchanged, and with [cos; cos] and [-sin; sin] all
/// d partitions do the same, x * cos2 + exchanged * sin2.
Tensor rope_halves(Tensor x, Tensor cos, Tensor sin) {
  const auto [d, B, heads, S] = x.dims<4>();
  const int64_t half = d / 2;
  nl::require(d % 2 == 0 && d <= nl::tile_size.pmax, "d is {}, it must be even and at most {}", d,
              nl::tile_size.pmax);
  Tensor out = nl::ndarray({d, B, heads, S}, x.dtype(), nl::shared_hbm, {.name = "out"});
  const auto low = ds(0, half), high = ds(half, half);
  for (int64_t b : nl::range(B))
    for (Chunk s : nl::tiles(S, 1024)) {
      Tensor cos2 = nl::ndarray({d, s.size}, cos.dtype());
      Tensor sin2 = nl::ndarray({d, s.size}, sin.dtype());
      for (const auto &rows : {low, high}) {
        nisa::dma_copy(cos2(rows, _), cos(_, b, s));
        nisa::dma_copy(sin2(rows, _), sin(_, b, s));
      }
      nisa::tensor_scalar(sin2(low, _), sin2(low, _), nl::multiply, -1.0f);
      for (Chunk h : nl::tiles(heads, 4)) {
        Tensor here = nl::load(x(_, b, h, s));
        Tensor there = nl::ndarray({d, h.size, s.size}, x.dtype());
        nisa::dma_copy(there(low, _, _), x(high, b, h, s));
        nisa::dma_copy(there(high, _, _), x(low, b, h, s));
        const auto all_heads = [&](Tensor t) { return t.expand_dim(1).broadcast(1, h.size); };
        Tensor first = nl::ndarray({d, h.size, s.size}, nl::float32);
        Tensor second = nl::ndarray({d, h.size, s.size}, nl::float32);
        Tensor result = nl::ndarray({d, h.size, s.size}, x.dtype());
        nisa::tensor_tensor(first, here, all_heads(cos2), nl::multiply);
        nisa::tensor_tensor(second, there, all_heads(sin2), nl::multiply);
        nisa::tensor_tensor(result, first, second, nl::add);
        nl::store(out(_, b, h, s), result);
      }
    }
  return out;
}

NL_KERNEL(silu, "x")
NL_KERNEL(adamw, "p", "g", "m", "v", "rate", "beta1", "beta2", "eps", "decay", "step")
NL_KERNEL(rope_halves, "x", "cos", "sin")
