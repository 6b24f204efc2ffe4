// Kernels of whole_tensors.py: each function of nl/math.h, and values that meet memory.

#include "nl/nl.h"

#include <map>

using nl::_, nl::Chunk, nl::ds, nl::Tensor;

//---- one function each --------------------------------------------------===//

static Tensor unary(Tensor x, std::string name) {
  static const std::map<std::string, nl::Op> functions{
      {"exp", nl::exp},         {"log", nl::log},           {"sqrt", nl::sqrt},
      {"rsqrt", nl::rsqrt},     {"abs", nl::abs},           {"square", nl::square},
      {"sign", nl::sign},       {"relu", nl::relu},         {"tanh", nl::tanh},
      {"sigmoid", nl::sigmoid}, {"silu", nl::silu},         {"gelu", nl::gelu},
      {"erf", nl::erf},         {"sin", nl::sin},           {"copy", nl::copy},
      {"arctan", nl::arctan},   {"softplus", nl::softplus}, {"reciprocal", nl::reciprocal}};
  if (name == "negative")
    return -x;
  if (name == "not")
    return nl::logical_not(x);
  return functions.at(name)(x);
}
NL_KERNEL(unary, "x", "name")

static Tensor binary(Tensor x, Tensor y, std::string name) {
  if (name == "+")
    return x + y;
  if (name == "-")
    return x - y;
  if (name == "*")
    return x * y;
  if (name == "/")
    return x / y;
  if (name == "<")
    return x < y;
  if (name == "<=")
    return x <= y;
  if (name == ">")
    return x > y;
  if (name == ">=")
    return x >= y;
  if (name == "==")
    return x == y;
  if (name == "!=")
    return x != y;
  static const std::map<std::string, nl::Op> functions{{"maximum", nl::maximum},
                                                       {"minimum", nl::minimum},
                                                       {"and", nl::logical_and},
                                                       {"or", nl::logical_or},
                                                       {"xor", nl::logical_xor}};
  return functions.at(name)(x, y);
}
NL_KERNEL(binary, "x", "y", "name")

/// Numbers on either side.
static Tensor numbers(Tensor x, int which) {
  switch (which) {
  case 0:
    return 3 - x * 0.5f;
  case 1:
    return x / 7;
  case 2:
    return 7 / x;
  case 3:
    return nl::where(x > 0, x, 0.1f * x);
  default: // clipped to -1 ... 1
    return nl::minimum(nl::maximum(x, -1), 1);
  }
}
NL_KERNEL(numbers, "x", "which")

static Tensor choose(Tensor cond, Tensor x, Tensor y) { return nl::where(cond, x, y); }
NL_KERNEL(choose, "cond", "x", "y")

static Tensor reduce(Tensor x, std::string name, int axis, bool keepdims) {
  const nl::ReduceOptions options{.keepdims = keepdims};
  if (name == "sum")
    return nl::sum(x, axis, options);
  if (name == "prod")
    return nl::prod(x, axis, options);
  if (name == "max")
    return nl::max(x, axis, options);
  if (name == "min")
    return nl::min(x, axis, options);
  if (name == "mean")
    return nl::mean(x, axis, options);
  if (name == "var")
    return nl::var(x, axis, options);
  if (name == "all")
    return nl::all(x, axis, options);
  nl::require(name == "softmax", "no reduction");
  return nl::softmax(x, axis);
}
NL_KERNEL(reduce, "x", "name", "axis", "keepdims")

static Tensor reduce_two(Tensor x, int first, int second) { return nl::sum(x, {first, second}); }
NL_KERNEL(reduce_two, "x", "first", "second")
static Tensor reduce_all(Tensor x) { return nl::mean(x, {0, 1, 2}); }
NL_KERNEL(reduce_all, "x")

static Tensor product(Tensor x, Tensor y, bool transpose_x, bool transpose_y) {
  return nl::matmul(x, y, {.transpose_x = transpose_x, .transpose_y = transpose_y});
}
NL_KERNEL(product, "x", "y", "transpose_x", "transpose_y")

/// More products at once than PSUM has banks.
static Tensor sum_of_products(Tensor x, Tensor y) {
  Tensor sum = nl::matmul(x(0), y(0));
  for (int64_t i = 1; i < x.dim(0); ++i)
    sum = sum + nl::matmul(x(i), y(i));
  return sum;
}
NL_KERNEL(sum_of_products, "x", "y")

//---- movement -----------------------------------------------------------===//

static Tensor move(Tensor x, std::string name) {
  if (name == "transpose")
    return nl::transpose(x);
  if (name == "permute")
    return nl::transpose(x, {1, 2, 0});
  if (name == "reshape")
    return nl::reshape(x, {x.dim(1), -1});
  if (name == "slice")
    return nl::exp(x)(nl::slice(1, _, 2), _, nl::slice(0, -1));
  if (name == "element")
    return nl::exp(x)(-1, _, 2);
  if (name == "view") // of the parameter, before it becomes a value
    return x.permute({2, 0, 1})(ds(1, 2)) + 0;
  if (name == "concatenate")
    return nl::concatenate({x, x(ds(0, 1)), x}, 0);
  if (name == "concatenate last")
    return nl::concatenate({x, x(_, _, ds(1, 2))}, -1);
  if (name == "stack first")
    return nl::stack({x(0), x(1)});
  if (name == "stack last")
    return nl::stack({x(0), x(1)}, -1);
  if (name == "pad")
    return nl::pad(x, {{1, 0}, {0, 2}, {3, 1}}, -2.5);
  if (name == "broadcast")
    return nl::broadcast_to(nl::expand_dims(x(0), 1), {x.dim(1), 3, x.dim(2)});
  nl::require(name == "split", "no movement"); // a long dim cut and put together again
  return nl::reshape(nl::transpose(nl::reshape(x, {2, 2, x.dim(1), x.dim(2)}), {0, 2, 1, 3}),
                     {2 * x.dim(1), 2 * x.dim(2)});
}
NL_KERNEL(move, "x", "name")

static Tensor causal(Tensor x) {
  Tensor row = nl::iota(x.shape(), 0), column = nl::iota(x.shape(), -1);
  return nl::where(column <= row, x, -1e30f);
}
NL_KERNEL(causal, "x")

/// Integers: exact where the dtype is theirs.
static Tensor integers(Tensor x, Tensor y, std::string name) {
  if (name == "add")
    return nl::add(x, y, {.dtype = x.dtype()});
  if (name == "one more")
    return nl::add(x, 1, {.dtype = x.dtype()});
  if (name == "and")
    return nl::bitwise_and(x, y);
  if (name == "invert")
    return nl::invert(x);
  return nl::left_shift(x, 3);
}
NL_KERNEL(integers, "x", "y", "name")

static Tensor to_int8(Tensor x) { return nl::cast(x, nl::int8); }
NL_KERNEL(to_int8, "x")
static Tensor said(Tensor x) { return nl::exp(x, {.dtype = nl::bfloat16}) + 0; }
NL_KERNEL(said, "x")

//---- values and memory --------------------------------------------------===//

/// y = 3 y + old y: two stores to what the values were computed from.
static void twice_in_place(nl::InOut y) {
  Tensor old = nl::copy(y);
  nl::store(y, y * 3);
  nl::store(y, y + old);
}
NL_KERNEL(twice_in_place, "y")

/// A snapshot of a tile that instructions write again.
static Tensor snapshots(Tensor x) {
  Tensor t = nl::ndarray(x.shape(), nl::float32);
  nisa::dma_copy(t, x);
  Tensor before = t * 10;
  nisa::tensor_scalar(t, t, nl::add, 1);
  Tensor after = nl::copy(t);
  nisa::memset(t, 0);
  return before + after + t;
}
NL_KERNEL(snapshots, "x")

/// By hand and by the compiler in turns: row sums of |x| by an instruction on a value, the rest
/// not.
static Tensor soft_sign_rows(Tensor x) {
  const auto [M, N] = x.dims<2>();
  Tensor sums = nl::ndarray({M, 1}, nl::float32, nl::hbm);
  for (Chunk m : nl::tiles(M, nl::tile_size.pmax)) {
    Tensor sum = nl::ndarray({m.size, 1}, nl::float32);
    nisa::tensor_reduce({.dst = sum, .op = nl::add, .data = nl::abs(x(m, _)), .axis = 1});
    nl::store(sums(m, _), sum);
  }
  return x / (1 + sums);
}
NL_KERNEL(soft_sign_rows, "x")

/// Parts of a result from values, tiles and instructions, in several views of it.
static Tensor parts(Tensor x) {
  const auto [M, N] = x.dims<2>();
  Tensor y = nl::ndarray({3, N, M}, nl::bfloat16, nl::shared_hbm), v = nl::transpose(x);
  nl::store(y(0), v);
  nl::store(y(1).permute({1, 0}), x * 2);
  Tensor t = nl::ndarray({N, M}, nl::float32);
  nl::store(t, v * 3);
  nisa::dma_copy(y(2), t);
  return y;
}
NL_KERNEL(parts, "x")

/// A result used by itself, by another result, and by an instruction.
static std::vector<Tensor> shared(Tensor x) {
  Tensor e = nl::exp(x), y = nl::ndarray(x.shape(), nl::float32, nl::shared_hbm);
  nisa::dma_copy(y, e);
  return {e, e * e, y, nl::sum(e, -1, {.keepdims = true})};
}
NL_KERNEL(shared, "x")

/// Snapshots of parts of tiles: from a partition on, strided, of three dims, in PSUM.
static std::vector<Tensor> from_tiles(Tensor x) { // 128x4x32
  Tensor t = nl::load(x), product = nl::ndarray({32, 32}, nl::float32, nl::psum);
  nisa::nc_matmul(product, t(_, 0), t(_, 3));
  return {t(ds(32, 32), _, nl::slice(1, _, 3)) * 2, nl::transpose(t(ds(64, 64), 2)) + 0,
          nl::max(t, 0), product * 0.5f, nl::exp(t(96, 1, 5))};
}
NL_KERNEL(from_tiles, "x")

/// Stores to parts of tiles, which instructions have written and read.
static Tensor to_tiles(Tensor x) { // 128x32
  Tensor t = nl::full({128, 3, 32}, -1, nl::float32);
  nl::store(t(ds(32, 32), 0), x(ds(0, 32)) + 1);
  nl::store(t(ds(64, 64), 1, nl::slice(0, _, 4)), x(ds(0, 64), ds(0, 8)) * 2);
  nl::store(t(_, 2, ds(5, 1)), nl::sum(x, 1, {.keepdims = true}));
  Tensor p = nl::ndarray({32, 128}, nl::float32, nl::psum);
  nl::store(p, nl::transpose(x));
  nisa::tensor_copy(t(ds(0, 32), 2, _), p(_, ds(0, 32)));
  Tensor y = nl::ndarray({128, 3, 32}, nl::float32, nl::shared_hbm);
  nl::store(y, t);
  return y;
}
NL_KERNEL(to_tiles, "x")

/// Views of HBM on both sides: repeated, strided, permuted.
static Tensor hbm_views(Tensor x) { // 4x30x10
  Tensor y = nl::ndarray({30, 2, 40}, nl::float32, nl::shared_hbm);
  nl::store(y, nl::zeros({30, 80}, nl::float32)); // a tile
  nl::store(y(_, 0, nl::slice(0, _, 4)), x(0) + x(1));
  nl::store(y(_, 0).permute({1, 0})(nl::slice(1, _, 4), _), nl::transpose(x(2)));
  nl::store(y(nl::dots, nl::slice(2, _, 4)), x(ds(3, 1)).broadcast(0, 2).permute({1, 0, 2}) +
                                                 x(nl::slice(0, 4, 2)).permute({1, 0, 2}));
  nl::store(y(_, nl::dots, nl::slice(3, _, 4)), nl::full({30, 20}, 7, nl::float32));
  return y;
}
NL_KERNEL(hbm_views, "x")

/// A value of three dims in 16 bits, read by instructions as a tile.
static Tensor narrow_tile(Tensor x) { // 100x2x7
  Tensor v = nl::exp(x, {.dtype = nl::bfloat16}), t = nl::ndarray({100, 14}, nl::float32);
  nisa::tensor_scalar(t, v, nl::multiply, 4.0f);
  Tensor y = nl::ndarray({100, 14}, nl::float32, nl::shared_hbm);
  nisa::dma_copy(y, t);
  return y;
}
NL_KERNEL(narrow_tile, "x")
