//===- fp8.cpp - matmuls of 8-bit floats ------------------------------------------------------===//
//
// Twice the contraction in one instruction: the array takes two rows of 8-bit floats from each
// partition. Operands lie in HBM as (K, M) and (K, N); row k + 128 i of a block of 256 goes to
// partition k, slot i.
//
//===------------------------------------------------------------------------------------------===//

#include "nl/nl.h"

using nl::_, nl::Chunk, nl::ds, nl::Tensor;

namespace {

constexpr auto TK = nl::tile_size.pmax;
constexpr auto TM = nl::tile_size.gemm_stationary_fmax;
constexpr auto TN = nl::tile_size.gemm_moving_fmax;

/// Rows [start, start + 2 rows) of some columns, as (rows, 2, columns).
Tensor load_double(Tensor matrix, int64_t start, int64_t rows, Chunk columns) {
  Tensor tile = nl::ndarray({rows, 2, columns.size}, matrix.dtype());
  nisa::dma_copy(
      {.dst = tile,
       .src = matrix(ds(start, 2 * rows), columns).reshape_dim(0, {2, rows}).permute({1, 0, 2})});
  return tile;
}

} // namespace

/// result = lhsT^T . rhs; K is even. `blocks` column blocks of the moving operand stay in SBUF.
Tensor matmul_double_row(Tensor lhsT, Tensor rhs, int blocks) {
  const int64_t K = lhsT.dim(0), M = lhsT.dim(1), N = rhs.dim(1);
  nl::require(K == rhs.dim(0) && K % 2 == 0, "K is {} and {}, it must be one even number", K,
              rhs.dim(0));
  Tensor result = nl::ndarray({M, N}, nl::float32, nl::shared_hbm, {.name = "result"});
  for (Chunk n : nl::tiles(N, blocks * TN)) {
    std::vector<Tensor> moving;
    for (Chunk k : nl::tiles(K, 2 * TK))
      moving.push_back(load_double(rhs, k.start, k.size / 2, n));
    for (Chunk m : nl::tiles(M, TM)) {
      std::vector<Tensor> sums;
      for (Chunk part : nl::tiles(n.size, TN))
        sums.push_back(nl::ndarray({m.size, part.size}, nl::float32, nl::psum));
      for (Chunk k : nl::tiles(K, 2 * TK)) {
        Tensor stationary = load_double(lhsT, k.start, k.size / 2, m);
        for (Chunk part : nl::tiles(n.size, TN))
          nisa::nc_matmul({.dst = sums[part.index],
                           .stationary = stationary,
                           .moving = moving[k.index](_, _, part),
                           .accumulate = k.index > 0,
                           .perf_mode = nisa::matmul_perf_mode::double_row});
      }
      for (Chunk part : nl::tiles(n.size, TN)) {
        Tensor tile = nl::ndarray({m.size, part.size}, nl::float32);
        nisa::tensor_copy(tile, sums[part.index]);
        nl::store(result(m, ds(n.start + part.start, part.size)), tile);
      }
    }
  }
  return result;
}
NL_KERNEL(matmul_double_row);

/// Four products (32, M)^T . (32, N) at once, each in its own 32 x 32 tile of the array.
Tensor matmul_tiles(Tensor lhsT, Tensor rhs) { // (4, 32, M <= 32), (4, 32, N)
  const int64_t M = lhsT.dim(2), N = rhs.dim(2);
  Tensor result = nl::ndarray({4, M, N}, nl::float32, nl::shared_hbm, {.name = "result"});
  Tensor left = nl::ndarray({128, M}, lhsT.dtype()), right = nl::ndarray({128, N}, rhs.dtype());
  nisa::dma_copy({.dst = left, .src = lhsT.reshape({128, M})});
  nisa::dma_copy({.dst = right, .src = rhs.reshape({128, N})});
  Tensor sums = nl::ndarray({128, N}, nl::float32, nl::psum);
  for (int i : {0, 1, 2, 3}) // product i: rows 32 i of the array, columns 32 (3 - i)
    nisa::nc_matmul({.dst = sums(ds(32 * (3 - i), M), _),
                     .stationary = left(ds(32 * i, 32), _),
                     .moving = right(ds(32 * i, 32), _),
                     .tile_position = {uint32_t(32 * i), uint32_t(32 * (3 - i))},
                     .tile_size = {32, 32}});
  for (int i : {0, 1, 2, 3}) {
    Tensor tile = nl::ndarray({M, N}, nl::float32);
    nisa::tensor_copy(tile, sums(ds(32 * (3 - i), M), _));
    nl::store(result(i), tile);
  }
  return result;
}
NL_KERNEL(matmul_tiles);

/// Every element as float32, and that as `x`'s dtype again, through the engines.
std::pair<Tensor, Tensor> there_and_back(Tensor x) {
  Tensor wide = nl::ndarray(x.shape(), nl::float32, nl::shared_hbm);
  Tensor back = nl::ndarray(x.shape(), x.dtype(), nl::shared_hbm);
  Tensor t = nl::load(x), f = nl::ndarray(x.shape(), nl::float32),
         n = nl::ndarray(x.shape(), x.dtype());
  nisa::tensor_copy({.dst = f, .src = t, .engine = nisa::engine::vector});
  nisa::activation({.dst = n, .op = nl::copy, .data = f});
  nl::store(wide, f);
  nl::store(back, n);
  return {wide, back};
}
NL_KERNEL(there_and_back);

/// Bytes read as 8-bit floats, and floats rounded to them, bits out.
#define KILN_CODES(name, type)                                                                     \
  Tensor widen_##name(Tensor codes) {                                                              \
    Tensor y = nl::ndarray(codes.shape(), nl::float32, nl::shared_hbm);                            \
    Tensor f = nl::ndarray(codes.shape(), nl::float32);                                            \
    nisa::tensor_copy(f, nl::load(codes).view(type));                                              \
    nl::store(y, f);                                                                               \
    return y;                                                                                      \
  }                                                                                                \
  NL_KERNEL(widen_##name);                                                                         \
  Tensor narrow_##name(Tensor x) {                                                                 \
    Tensor y = nl::ndarray(x.shape(), nl::uint8, nl::shared_hbm);                                  \
    Tensor n = nl::ndarray(x.shape(), type);                                                       \
    nisa::tensor_copy(n, nl::load(x));                                                             \
    nl::store(y, n.view(nl::uint8));                                                               \
    return y;                                                                                      \
  }                                                                                                \
  NL_KERNEL(narrow_##name);
KILN_CODES(e4m3, nl::float8_e4m3)
KILN_CODES(e5m2, nl::float8_e5m2)

/// Floats rounded to tfloat32 by an engine, as float32.
Tensor narrow_tf32(Tensor x) {
  Tensor y = nl::ndarray(x.shape(), nl::float32, nl::shared_hbm);
  Tensor n = nl::ndarray(x.shape(), nl::tfloat32);
  nisa::tensor_copy(n, nl::load(x));
  nl::store(y, n);
  return y;
}
NL_KERNEL(narrow_tf32);

/// (K, M)^T . (K, N) of 32-bit operands read as tfloat32: the array rounds what it reads.
Tensor matmul_tf32(Tensor lhsT, Tensor rhs) {
  Tensor y = nl::ndarray({lhsT.dim(1), rhs.dim(1)}, nl::float32, nl::shared_hbm);
  Tensor acc = nl::ndarray(y.shape(), nl::float32, nl::psum);
  nisa::nc_matmul(acc, nl::load(lhsT).view(nl::tfloat32), nl::load(rhs).view(nl::tfloat32));
  Tensor t = nl::ndarray(y.shape(), nl::float32);
  nisa::tensor_copy(t, acc);
  nl::store(y, t);
  return y;
}
NL_KERNEL(matmul_tf32);

/// Bytes read as one 8-bit dtype, cast by DMA to another dtype.
Tensor dma_codes(Tensor codes, int from, int to) {
  const nl::DType dtypes[] = {nl::float8_e4m3, nl::float8_e5m2, nl::float8_e4m3fn,
                              nl::tfloat32,    nl::float16,     nl::float32};
  Tensor y = nl::ndarray(codes.shape(), dtypes[to], nl::shared_hbm);
  nisa::dma_copy(y, codes.view(dtypes[from]));
  return y;
}
NL_KERNEL(dma_codes);

/// Bytes transposed by the array as e4m3: 16-bit elements whose upper bytes are zero.
Tensor transposed_codes(Tensor codes, Tensor identity) {
  Tensor y = nl::ndarray({codes.dim(1), codes.dim(0)}, nl::uint16, nl::shared_hbm);
  Tensor turned = nl::ndarray(y.shape(), nl::bfloat16, nl::psum);
  nisa::nc_matmul({.dst = turned,
                   .stationary = nl::load(codes).view(nl::float8_e4m3),
                   .moving = nl::load(identity),
                   .is_transpose = true});
  Tensor t = nl::ndarray(y.shape(), nl::bfloat16);
  nisa::tensor_copy(t, turned);
  nl::store(y, t.view(nl::uint16));
  return y;
}
NL_KERNEL(transposed_codes);

/// Math on whole tensors: lhsT^T . rhs, and exp rounded to e5m2.
Tensor whole_matmul(Tensor lhsT, Tensor rhs) {
  return nl::matmul(lhsT, rhs, {.transpose_x = true, .dtype = nl::float32});
}
NL_KERNEL(whole_matmul);
Tensor whole_exp(Tensor x) { return nl::cast(nl::exp(x), nl::float8_e5m2); }
NL_KERNEL(whole_exp);
