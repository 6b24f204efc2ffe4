// Kernels of lowering.py: whole tensors where other compilers lower them wrongly or not at all, and
// the same by instructions where the fault was one of an instruction.

#include "nl/nl.h"

using nl::_, nl::Chunk, nl::ds, nl::Tensor;

//---- broadcasting, layouts, axes ----------------------------------------===//

/// o *= s along the innermost dim.
static void scale_innermost(nl::InOut o, Tensor s) { nl::store(o, o * nl::expand_dims(s, -1)); }
NL_KERNEL(scale_innermost, "o", "s")

/// The same on tiles: s is read with a stride of 0.
static void scale_tile(nl::InOut o, Tensor s) {
  Tensor t = nl::load(o), factors = nl::load(s);
  nisa::tensor_tensor(t, t, factors.expand_dim(2).broadcast(2, o.dim(2)), nl::multiply);
  nl::store(o, t);
}
NL_KERNEL(scale_tile, "o", "s")

static Tensor attention(Tensor q, Tensor k, Tensor v, float scale) {
  return nl::matmul(nl::softmax(nl::matmul(q, k, {.transpose_y = true}) * scale), v);
}
NL_KERNEL(attention, "q", "k", "v", "scale")

/// Heads of two batches put side by side, then multiplied.
static Tensor deconcat_heads(Tensor x, Tensor w) {
  Tensor heads = nl::reshape(x, {2, 2, x.dim(1), x.dim(2)});
  Tensor rows = nl::reshape(nl::transpose(heads, {0, 2, 1, 3}), {2 * x.dim(1), 2 * x.dim(2)});
  return nl::matmul(rows, w);
}
NL_KERNEL(deconcat_heads, "x", "w")

static Tensor stacked(Tensor x, Tensor y, int axis) { return nl::stack({x, y}, axis); }
NL_KERNEL(stacked, "x", "y", "axis")

/// Sums over one axis, and over the last `count` by an instruction.
static Tensor sum_axis(Tensor x, int axis) { return nl::sum(x, axis); }
NL_KERNEL(sum_axis, "x", "axis")
static Tensor sum_axes(Tensor x, int first, int second) { return nl::sum(x, {first, second}); }
NL_KERNEL(sum_axes, "x", "first", "second")
static Tensor sum_middle_of_tile(Tensor x) {
  Tensor t = nl::load(x), y = nl::ndarray({x.dim(0), x.dim(2)}, x.dtype(), nl::shared_hbm);
  Tensor sums = nl::ndarray({x.dim(0), x.dim(2)}, x.dtype());
  nisa::tensor_reduce({.dst = sums, .op = nl::add, .data = t, .axis = 1});
  nl::store(y, sums);
  return y;
}
NL_KERNEL(sum_middle_of_tile, "x")

/// Along partitions: parts that start where no engine can.
static Tensor along_partitions(Tensor x, Tensor y) { return nl::concatenate({x, y, x}, 0) * 2; }
NL_KERNEL(along_partitions, "x", "y")

/// Rows of a value, written to rows of a tile that start at partition 48.
static Tensor rows_from_48(Tensor x) {
  Tensor t = nl::zeros({64, x.dim(1)}, nl::float32);
  nl::store(t(ds(48, 8), _), nl::exp(x));
  Tensor y = nl::ndarray({64, x.dim(1)}, nl::float32, nl::shared_hbm);
  nl::store(y, t);
  return y;
}
NL_KERNEL(rows_from_48, "x")

/// Rows of `x` against columns of `w` by a broadcast product and a sum, which is a matmul.
static Tensor product_by_broadcast(Tensor x, Tensor w) {
  return nl::sum(nl::expand_dims(x, 2) * w, 1);
}
NL_KERNEL(product_by_broadcast, "x", "w")
static Tensor product_of_tiles(Tensor x, Tensor w) {
  Tensor a = nl::load(x), b = nl::load(w), y = nl::ndarray(w.shape(), w.dtype(), nl::shared_hbm);
  nisa::tensor_tensor(b, a, b, nl::multiply); // 1 partition and many
  nl::store(y, b);
  return y;
}
NL_KERNEL(product_of_tiles, "x", "w")

static Tensor doubled(Tensor x) { return x + x; }
NL_KERNEL(doubled, "x")

/// Running sums of a long row, a piece at a time; each starts where the one before ended.
static Tensor running_sums(Tensor x, int width) {
  const auto [P, N] = x.dims<2>();
  Tensor y = nl::ndarray({P, N}, nl::float32, nl::shared_hbm),
         ones = nl::ones({P, width}, nl::float32);
  Tensor last = nl::zeros({P, 1}, nl::float32);
  for (Chunk c : nl::tiles(N, width)) {
    Tensor t = nl::load(x(_, c));
    nisa::tensor_tensor_scan({.dst = t,
                              .data0 = ones(_, ds(0, c.size)),
                              .data1 = t,
                              .initial = last,
                              .op0 = nl::multiply,
                              .op1 = nl::add});
    nl::store(y(_, c), t);
    last = t(_, ds(c.size - 1, 1));
  }
  return y;
}
NL_KERNEL(running_sums, "x", "width")

//---- masks, reduction registers -----------------------------------------===//

/// Row maxima of the elements up to the diagonal.
static Tensor masked_maxima(Tensor x) {
  Tensor allowed = nl::iota(x.shape(), 1) <= nl::iota(x.shape(), 0);
  return nl::max(nl::where(allowed, x, -3e38f), 1, {.keepdims = true});
}
NL_KERNEL(masked_maxima, "x")

/// The same by one range_select, whose masked elements never win; `fill` is what they become.
static Tensor selected_maxima(Tensor x, float fill, bool is_given) {
  const auto [P, N] = x.dims<2>();
  Tensor t = nl::load(x), masked = nl::ndarray({P, N}, nl::float32);
  Tensor first = nl::zeros({P, 1}, nl::float32), end = nl::ndarray({P, 1}, nl::float32);
  nisa::iota({.dst = end, .pattern = {{0, 1}}, .offset = 0, .channel_multiplier = 1});
  Tensor maxima = nl::ndarray({P, 1}, nl::float32);
  nisa::RangeSelect select{.dst = masked,
                           .on_true_tile = t,
                           .comp_op0 = nl::greater_equal,
                           .comp_op1 = nl::less_equal,
                           .bound0 = first,
                           .bound1 = end,
                           .reduce_res = maxima};
  if (is_given)
    select.on_false_value = fill;
  nisa::range_select(select);
  Tensor y = nl::ndarray({P, 1}, nl::float32, nl::shared_hbm);
  nl::store(y, maxima);
  return y;
}
NL_KERNEL(selected_maxima, "x", "fill", "is_given")

/// Row sums in the reduction register, another activation in between, and the register read.
static Tensor register_kept(Tensor x) {
  Tensor t = nl::load(x), e = nl::ndarray(x.shape(), nl::float32);
  Tensor sums = nl::ndarray({x.dim(0), 1}, nl::float32);
  nisa::activation({.dst = e,
                    .op = nl::copy,
                    .data = t,
                    .reduce_op = nl::add,
                    .reduce_cmd = nisa::reduce_cmd::reset_reduce});
  nisa::activation({.dst = e, .op = nl::square, .data = e}); // leaves the register alone
  nisa::activation({.dst = e,
                    .op = nl::copy,
                    .data = t,
                    .reduce_op = nl::add,
                    .reduce_res = sums,
                    .reduce_cmd = nisa::reduce_cmd::reduce});
  Tensor y = nl::ndarray({x.dim(0), 1}, nl::float32, nl::shared_hbm);
  nl::store(y, sums);
  return y;
}
NL_KERNEL(register_kept, "x")

/// A matmul whose result is declared in SBUF.
static Tensor matmul_into_sbuf(Tensor a, Tensor b) {
  Tensor y = nl::ndarray({128, 420}, nl::float32, nl::shared_hbm);
  Tensor acc = nl::ndarray({128, 420}, nl::float32, nl::sbuf, {.name = "acc"});
  nisa::nc_matmul(acc, nl::load(a), nl::load(b));
  nl::store(y, acc);
  return y;
}
NL_KERNEL(matmul_into_sbuf, "a", "b")

//---- what other compilers do not lower ----------------------------------===//

static Tensor transposed(Tensor x) { return nl::transpose(x); }
NL_KERNEL(transposed, "x")
static Tensor averages(Tensor x) { return nl::mean(x, -1, {.keepdims = true}); }
NL_KERNEL(averages, "x")
static Tensor bias_add(Tensor x, Tensor bias) { return x + bias; } // bias of rank 1
NL_KERNEL(bias_add, "x", "bias")
static Tensor root_mean(Tensor x) {
  return x * nl::rsqrt(nl::mean(nl::square(x), 1, {.keepdims = true}) + 1e-6f) +
         nl::broadcast_to(nl::sqrt(nl::mean(nl::square(x), 0, {.keepdims = true})), x.shape());
}
NL_KERNEL(root_mean, "x")
static Tensor clipped(Tensor x, float low, float high) {
  return nl::minimum(nl::maximum(x, low), high);
}
NL_KERNEL(clipped, "x", "low", "high")
static Tensor multiplied(Tensor a, Tensor b) { return nl::matmul(a, b); }
NL_KERNEL(multiplied, "a", "b")

static Tensor multiplied_by_columns(Tensor a, Tensor b) {
  return nl::matmul(a, b, {.transpose_x = true});
}
NL_KERNEL(multiplied_by_columns, "a", "b")

/// Rotary embedding of x[d, heads * S], halves of d against each other, for every head.
static Tensor rope(Tensor x, Tensor cos, Tensor sin) {
  const int64_t half = cos.dim(0), S = cos.dim(1);
  Tensor heads = nl::reshape(x, {2 * half, -1, S});
  Tensor low = heads(ds(0, half)), high = heads(ds(half, half));
  Tensor c = nl::expand_dims(cos, 1), s = nl::expand_dims(sin, 1);
  return nl::reshape(nl::concatenate({low * c - high * s, high * c + low * s}, 0), x.shape());
}
NL_KERNEL(rope, "x", "cos", "sin")

/// The windows of a square convolution of x[Ci, H, W], as rows: [Ci * K * K, OH * OW].
static Tensor windows(Tensor x, int64_t K, int stride, int pad, int64_t OH, int64_t OW) {
  Tensor padded = nl::pad(x, {{0, 0}, {pad, pad}, {pad, pad}});
  std::vector<Tensor> taps;
  for (int64_t i = 0; i < K; ++i)
    for (int64_t j = 0; j < K; ++j)
      taps.push_back(nl::reshape(padded(_, nl::slice(i, i + stride * (OH - 1) + 1, stride),
                                        nl::slice(j, j + stride * (OW - 1) + 1, stride)),
                                 {x.dim(0), OH * OW}));
  return nl::reshape(nl::stack(taps, 1), {-1, OH * OW});
}

/// y[Co, OH, OW] of x[Ci, H, W] and w[Co, Ci, K, K].
static Tensor conv2d(Tensor x, Tensor w, int stride, int pad) {
  const auto [Co, Ci, K, K2] = w.dims<4>();
  const int64_t OH = (x.dim(1) + 2 * pad - K) / stride + 1,
                OW = (x.dim(2) + 2 * pad - K2) / stride + 1;
  Tensor rows = windows(x, K, stride, pad, OH, OW);
  return nl::reshape(nl::matmul(nl::reshape(w, {Co, -1}), rows), {Co, OH, OW});
}
NL_KERNEL(conv2d, "x", "w", "stride", "pad")

/// The gradient of its weights, [Co, Ci, K, K], for dy[Co, OH, OW].
static Tensor conv2d_weights(Tensor x, Tensor dy, int K, int stride, int pad) {
  const auto [Co, OH, OW] = dy.dims<3>();
  Tensor rows = windows(x, K, stride, pad, OH, OW);
  return nl::reshape(nl::matmul(nl::reshape(dy, {Co, -1}), rows, {.transpose_y = true}),
                     {Co, x.dim(0), K, K});
}
NL_KERNEL(conv2d_weights, "x", "dy", "K", "stride", "pad")

//---- loops --------------------------------------------------------------===//

/// Loops of the device inside one another, with a sum carried through both.
static Tensor carried_through_two(Tensor x, int outer, int inner) {
  Tensor y = nl::ndarray({x.dim(0), x.dim(1)}, nl::float32, nl::shared_hbm);
  Tensor t = nl::load(x), sum = nl::zeros({x.dim(0), x.dim(1)}, nl::float32);
  nl::affine_for(outer, [&](nl::Index) {
    nisa::tensor_scalar(sum, sum, nl::multiply, 0.5f);
    nl::affine_for(inner, [&](nl::Index) { nisa::tensor_tensor(sum, sum, t, nl::add); });
  });
  nl::store(y, sum);
  return y;
}
NL_KERNEL(carried_through_two, "x", "outer", "inner")

/// A convolution as an element loop: every product an instruction of its own.
static Tensor naive_conv(Tensor x, int size) {
  Tensor y = nl::ndarray({1, size}, nl::float32, nl::shared_hbm);
  Tensor t = nl::load(x(ds(0, 1), ds(0, 9))), sum = nl::zeros({1, size}, nl::float32);
  for (int row = 0; row < size; ++row)
    for (int column = 0; column < size; ++column)
      for (int tap = 0; tap < 9; ++tap)
        for (int channel = 0; channel < 16; ++channel)
          nisa::tensor_tensor(sum(_, ds(column, 1)), sum(_, ds(column, 1)), t(_, ds(tap, 1)),
                              nl::add);
  nl::store(y, sum);
  return y;
}
NL_KERNEL(naive_conv, "x", "size")
