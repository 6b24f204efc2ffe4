//===- refusals.cpp - kernels at the edge of what is legal ------------------------------------===//
//
// Each is the recipe of something that compilers refused without a reason, accepted without a word
// or got wrong at a limit, named in refusals.py, which compares the messages.
//
//===------------------------------------------------------------------------------------------===//

#include "nl/nl.h"

using nl::_, nl::ds, nl::Tensor;

namespace {

Tensor filled(nl::Shape shape, nl::DType dtype, nl::SrcLoc loc = nl::SrcLoc::current()) {
  Tensor t = nl::ndarray(shape, dtype, nl::sbuf, {}, loc);
  nisa::memset(t, 1, loc);
  return t;
}

Tensor like(Tensor x, nl::DType dtype) { return nl::ndarray(x.shape(), dtype, nl::shared_hbm); }

} // namespace

/// One instruction that trn2 does not have.
void illegal(nl::InOut, int which) {
  Tensor f = filled({32, 16}, nl::float32), b = filled({32, 16}, nl::bfloat16),
         i = filled({32, 16}, nl::int32), column = filled({32, 1}, nl::bfloat16);
  Tensor acc = nl::ndarray({16, 16}, nl::float32, nl::psum);
  if (which == 1)
    nisa::tensor_tensor(f, f, f, nl::bitwise_and); // bits of floats
  if (which == 2)
    nisa::tensor_scalar({.dst = i,
                         .data = i,
                         .op0 = nl::bitwise_and,
                         .operand0 = 1,
                         .op1 = nl::add,
                         .operand1 = 1}); // bits, then arithmetic
  if (which == 3)
    nisa::tensor_scalar(b, b, nl::left_shift, 1); // a shifted bfloat16
  if (which == 4)
    nisa::tensor_scalar(f, f, nl::multiply, column); // a bfloat16 column
  if (which == 5)
    nisa::memset(i, 2.0); // a floating fill
  if (which == 6)
    nisa::tensor_scalar({.dst = f,
                         .data = f,
                         .op0 = nl::subtract,
                         .operand0 = 1.0f,
                         .engine = nisa::engine::scalar}); // not on this engine
  if (which == 7)
    nisa::activation_reduce({.dst = f, .op = nl::square, .data = f, .reduce_op = nl::maximum});
  if (which == 8)
    nisa::nc_transpose({.dst = acc,
                        .data = f(_, ds(0, 16)),
                        .engine = nisa::engine::gpsimd}); // no transposition there
}
NL_KERNEL(illegal, "y", "which")

/// Returns a tile, or a private tensor, instead of an output.
Tensor wrong_result(Tensor x, bool is_tile) {
  Tensor t = nl::ndarray(x.shape(), x.dtype(), is_tile ? nl::sbuf : nl::hbm, {.name = "t"});
  nisa::dma_copy(t, x);
  return t;
}
NL_KERNEL(wrong_result, "x", "is_tile")

/// x through a view of [rows, -1], however many rows that is: HBM has no partitions.
Tensor reshaped(Tensor x, int rows) {
  Tensor y = like(x, x.dtype());
  nisa::dma_copy(y.reshape({rows, -1}), x.reshape({rows, -1}));
  return y;
}
NL_KERNEL(reshaped, "x", "rows")

/// x in bfloat16: by tensor_copy, tensor_tensor, or DMA.
Tensor narrowed(Tensor x, int which) {
  Tensor y = like(x, nl::bfloat16);
  Tensor t = nl::load(x), u = nl::ndarray(x.shape(), nl::bfloat16);
  if (which == 0)
    nisa::tensor_copy(u, t);
  if (which == 1)
    nisa::tensor_tensor(u, t, filled(x.shape(), nl::bfloat16), nl::multiply);
  nisa::dma_copy({.dst = y,
                  .src = which == 2 ? t : u,
                  .dge_mode = which == 2 ? nisa::dge_mode::swdge : nisa::dge_mode::unknown});
  return y;
}
NL_KERNEL(narrowed, "x", "which")

/// Copies x in pieces whose number the author computes as N / (chunk - 1).
Tensor pieces(Tensor x, int chunk) {
  Tensor y = like(x, x.dtype());
  Tensor t = nl::load(x);
  const int count = static_cast<int>(x.dim(1)) / (chunk - 1);
  for (int i = 0; i < count; ++i)
    nl::store(y(_, ds(i * (chunk - 1), chunk - 1)), t(_, ds(i * (chunk - 1), chunk - 1)));
  return y;
}
NL_KERNEL(pieces, "x", "chunk")

/// Masked softmax of scores that leave PSUM as they are, or as scores + 1 where they are visible.
Tensor masked_softmax(Tensor q, Tensor k, Tensor mask, bool is_added) {
  const int64_t S = q.dim(1), T = k.dim(1);
  Tensor y = nl::ndarray({S, T}, nl::float32, nl::shared_hbm);
  Tensor scores = nl::ndarray({S, T}, nl::float32, nl::psum);
  nisa::nc_matmul(scores, nl::load(q), nl::load(k));
  Tensor t = nl::ndarray({S, T}, nl::float32), top = nl::ndarray({S, 1}, nl::float32);
  nisa::tensor_scalar(t, scores, is_added ? nl::add : nl::multiply, 1.0f);
  nisa::tensor_tensor(t, t, nl::load(mask), nl::multiply);
  nisa::tensor_reduce({.dst = top, .op = nl::maximum, .data = t, .axis = 1, .negate = true});
  nisa::activation({.dst = t, .op = nl::exp, .data = t, .bias = top});
  nisa::tensor_reduce(top, nl::add, t, 1);
  nisa::reciprocal(top, top);
  nisa::tensor_scalar(t, t, nl::multiply, top);
  nl::store(y, t);
  return y;
}
NL_KERNEL(masked_softmax, "q", "k", "mask", "is_added")
