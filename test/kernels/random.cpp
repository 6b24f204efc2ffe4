//===- random.cpp - a legal kernel for each seed ----------------------------------------------===//
//
// While it is traced, `random_kernel` makes up a kernel: tiles of many shapes and dtypes in SBUF
// and PSUM, views of them, instructions of all engines, transfers to, from and inside memory,
// rotations and loops of the device. Only written bytes are read, and every output is written in
// full. The same seed and shapes give the same kernel on every host: all choices are integer
// arithmetic.
//
//===------------------------------------------------------------------------------------------===//

#include "nl/nl.h"

#include <algorithm>

using nl::_, nl::Chunk, nl::ds, nl::DType, nl::Op, nl::Operand, nl::Tensor;

namespace {

/// SplitMix64.
class Random {
public:
  explicit Random(uint64_t seed) : state(seed) {}
  int64_t below(int64_t n) { return static_cast<int64_t>(next() % static_cast<uint64_t>(n)); }
  /// From `low` to `high`, both included.
  int64_t between(int64_t low, int64_t high) { return low + below(high - low + 1); }
  bool chance(int64_t percent) { return below(100) < percent; }
  template <class T>
  T of(std::initializer_list<T> values) {
    return values.begin()[below(static_cast<int64_t>(values.size()))];
  }

private:
  uint64_t next() {
    uint64_t z = state += 0x9E3779B97F4A7C15;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9;
    z = (z ^ z >> 27) * 0x94D049BB133111EB;
    return z ^ z >> 31;
  }
  uint64_t state;
};

int64_t bytesOf(DType t) {
  switch (t) {
  case DType::float32:
  case DType::int32:
  case DType::uint32:
    return 4;
  case DType::uint8:
  case DType::int8:
    return 1;
  default:
    return 2;
  }
}
bool isFloat(DType t) { return t == DType::float32 || t == DType::bfloat16 || t == DType::float16; }

/// What an operand may be.
struct Want {
  bool psum = true;       ///< a tile in PSUM will do
  bool isFloat = false;   ///< only floats
  bool isFloat32 = false; ///< only float32
};

class Generator {
public:
  Generator(Tensor a, Tensor b, int seed)
      : random(0xD1B54A32D192ED03 * static_cast<uint64_t>(seed + 1)), inputs{a, b} {
    maxFree = random.of<int64_t>({8, 24, 64, 130, 300});
    liveLimit = random.between(5, 12) * maxFree * 4;
    hasWideTiles = random.chance(30);
  }

  std::vector<Tensor> make() {
    // Most kernels leave little of the memory free, so that tiles take each other's bytes.
    Tensor ballast;
    const bool isCramped = random.chance(75);
    if (isCramped) {
      // What a step declares before it lets go of older tiles fits in ten of the widest.
      const int64_t left =
          liveLimit + liveLimit / 4 + 10 * maxFree * 4 + (hasWideTiles ? 6144 : 1024);
      const int64_t bytes = nl::tile_size.sbuf_fmax_bytes - left;
      if (bytes >= 4) {
        ballast = nl::ndarray({1, bytes / 4}, nl::float32);
        nisa::memset(ballast, random.between(-3, 3));
      }
    }
    const int64_t steps = random.between(8, 40);
    for (int64_t i = 0; i < steps; ++i)
      step();
    if (ballast.rank() > 0)
      reduce(ballast);
    for (int64_t i = random.between(1, 3); i > 0; --i)
      finish();
    return outputs;
  }

private:
  Random random;
  Tensor inputs[2];
  std::vector<Tensor> tiles;   ///< written in full, SBUF and PSUM
  std::vector<Tensor> scratch; ///< written in full, HBM
  std::vector<Tensor> outputs;
  int64_t maxFree, liveLimit; ///< elements; bytes of a partition that tiles at hand may take
  bool hasWideTiles;          ///< loops may have a tile with a part for each iteration

  //---- tiles
  //----------------------------------------------------------------------------------===//

  Tensor fresh(int64_t p, int64_t f, DType dtype, nl::Buffer buffer = nl::sbuf) {
    return nl::ndarray({p, f}, dtype, buffer);
  }

  /// Takes a tile that is written in full, and forgets others that do not fit beside it.
  Tensor keep(Tensor t) {
    tiles.push_back(t);
    int64_t live = 0, banks = 0;
    for (size_t i = tiles.size(); i-- > 0;) {
      const Tensor &tile = tiles[i];
      const bool isPsum = nl::is_psum(tile.buffer());
      live += isPsum ? 0 : tile.dim(1) * bytesOf(tile.dtype());
      banks += isPsum;
      if (live > liveLimit || banks > 2) {
        live -= isPsum ? 0 : tile.dim(1) * bytesOf(tile.dtype());
        banks -= isPsum;
        tiles.erase(tiles.begin() + static_cast<ptrdiff_t>(i));
      }
    }
    return t;
  }

  DType anyType() {
    return random.of({nl::float32, nl::float32, nl::float32, nl::bfloat16, nl::bfloat16,
                      nl::float16, nl::int32, nl::int16, nl::int8, nl::uint8, nl::uint16,
                      nl::uint32});
  }
  DType floatType() { return random.of({nl::float32, nl::bfloat16, nl::float16}); }
  int64_t anyPartitions() { return random.of<int64_t>({1, 3, 16, 32, 33, 64, 100, 128, 128}); }
  int64_t anyFree() { return random.between(1, maxFree); }
  /// A legal first partition of a view of `p`.
  int64_t anyStart(int64_t p) {
    return p <= 32   ? 32 * random.of<int64_t>({0, 0, 1, 2, 3})
           : p <= 64 ? random.of<int64_t>({0, 0, 64})
                     : 0;
  }

  DType anyType(const Want &want) {
    return want.isFloat32 ? nl::float32 : want.isFloat ? floatType() : anyType();
  }

  /// A tile [p, f] made of nothing or of an input.
  Tensor source(int64_t p, int64_t f, DType dtype) {
    Tensor t = fresh(p, f, dtype);
    const Tensor &input = inputs[random.below(2)];
    if (input.dim(0) >= p && input.dim(1) >= f && random.chance(60)) {
      const int64_t row = random.below(input.dim(0) - p + 1);
      const int64_t column = random.below(input.dim(1) - f + 1);
      if (input.dim(1) >= 2 * f && random.chance(30))
        nisa::dma_copy(t, input(ds(row, p), nl::slice(0, 2 * f, 2)));
      else
        nisa::dma_copy(t, input(ds(row, p), ds(column, f)));
    } else if (random.chance(30) && (dtype == nl::float32 || dtype == nl::int32)) {
      nisa::iota({.dst = t,
                  .pattern = {{random.between(-2, 3), f}},
                  .offset = random.between(0, 9),
                  .channel_multiplier = random.between(0, 2)});
    } else {
      nisa::memset({.dst = t,
                    .value = random.between(0, 5),
                    .engine = random.of({nisa::engine::vector, nisa::engine::gpsimd})});
    }
    return keep(t);
  }

  bool fits(const Tensor &t, int64_t start, int64_t p, int64_t f, const Want &want) {
    return t.dim(0) >= start + p && t.dim(1) >= f && (want.psum || nl::is_sbuf(t.buffer())) &&
           (!want.isFloat || isFloat(t.dtype())) && (!want.isFloat32 || t.dtype() == nl::float32);
  }

  /// A view [p, f] of `t` from partition `start` on: neighbours, every other element, or columns
  /// first.
  Tensor view(const Tensor &t, int64_t start, int64_t p, int64_t f) {
    const int64_t width = t.dim(1);
    if (width >= 2 * f && random.chance(30))
      return t(ds(start, p), nl::slice(random.below(2) * (width >= 2 * f + 1), 2 * f, 2));
    Tensor v = t(ds(start, p), ds(random.below(width - f + 1), f));
    for (const int64_t k : {2, 3})
      if (f % k == 0 && f > k && random.chance(20))
        return v.reshape({p, k, f / k}).permute({0, 2, 1});
    return v;
  }

  /// A view [p, f] from partition `start` on of a tile there is, or of a new one.
  Tensor operand(int64_t start, int64_t p, int64_t f, const Want &want = {}) {
    for (int tries = 0; tries < 6 && !tiles.empty(); ++tries) {
      const Tensor &t =
          tiles[static_cast<size_t>(random.below(static_cast<int64_t>(tiles.size())))];
      if (fits(t, start, p, f, want))
        return view(t, start, p, f);
    }
    return view(source(start + p, f, anyType(want)), start, p, f);
  }
  Tensor column(int64_t start, int64_t p, const Want &want = {}) {
    return operand(start, p, 1, want);
  }

  /// A shape: that of a tile there is, or any.
  void anyShape(int64_t &p, int64_t &f) {
    p = anyPartitions();
    f = anyFree();
    if (tiles.empty() || random.chance(30))
      return;
    const Tensor &t = tiles[static_cast<size_t>(random.below(static_cast<int64_t>(tiles.size())))];
    p = random.chance(70) ? t.dim(0) : std::min(p, t.dim(0));
    f = random.chance(60) ? std::min(t.dim(1), maxFree)
                          : random.between(1, std::min(t.dim(1), maxFree));
  }

  //---- steps
  //----------------------------------------------------------------------------------===//

  void step() {
    switch (random.below(26)) {
    case 0:
    case 1:
      return tensorTensor();
    case 2:
    case 3:
      return tensorScalar();
    case 4:
    case 5:
      return activation();
    case 6:
      return copy();
    case 7: {
      int64_t p, f;
      anyShape(p, f);
      return reduce(operand(anyStart(p), p, f));
    }
    case 8:
    case 9:
    case 10:
      return matmul();
    case 11:
      return transpose();
    case 12:
      return fused();
    case 13:
      return scan();
    case 14:
      return vectorChain();
    case 15:
      return scalarChain();
    case 16:
      return select();
    case 17:
      return statistics();
    case 18:
      return shuffle();
    case 19:
      return transfer();
    case 20:
      return throughHbm();
    case 21:
      return dmaTranspose();
    case 22:
      return assemble();
    case 23:
      return rotation();
    default:
      return deviceLoop();
    }
  }

  /// Where an elementwise result goes: a new tile, or the operand itself.
  struct Target {
    Tensor tensor;
    bool isNew = true;
  };
  Target target(const Tensor &data, int64_t p, int64_t f) {
    if (random.chance(25))
      return {data, false};
    if (random.chance(15) && f <= nl::tile_size.psum_bank_fmax)
      return {fresh(p, f, nl::float32, nl::psum)};
    return {fresh(p, f, anyType())};
  }
  void written(const Target &target) {
    if (target.isNew)
      keep(target.tensor);
  }

  void tensorTensor() {
    int64_t p, f;
    anyShape(p, f);
    const int64_t start = anyStart(p);
    const bool onGpsimd = random.chance(25);
    const Want first{.psum = !onGpsimd, .isFloat = onGpsimd};
    Tensor data1 = operand(start, p, f, first);
    Tensor data2 = operand(start, p, f, {.psum = false, .isFloat = onGpsimd});
    if (random.chance(10) && nl::is_sbuf(data1.buffer()))
      data2 = data1;
    const Target dst = onGpsimd ? Target{fresh(p, f, floatType())} : target(data1, p, f);
    const Op op = onGpsimd ? random.of({nl::add, nl::multiply})
                           : random.of({nl::add, nl::subtract, nl::multiply, nl::maximum,
                                        nl::minimum, nl::greater});
    nisa::tensor_tensor({.dst = dst.tensor,
                         .data1 = data1,
                         .data2 = data2,
                         .op = op,
                         .engine = onGpsimd ? nisa::engine::gpsimd : nisa::engine::vector});
    written(dst);
  }

  void tensorScalar() {
    int64_t p, f;
    anyShape(p, f);
    const int64_t start = anyStart(p);
    const int64_t kind = random.below(10);
    if (kind == 0) { // the only function of GpSimd
      Tensor data = operand(start, p, f, {.psum = false, .isFloat = true});
      Tensor dst = fresh(p, f, floatType());
      nisa::tensor_scalar(
          {.dst = dst, .data = data, .op0 = nl::rsqrt, .engine = nisa::engine::gpsimd});
      keep(dst);
      return;
    }
    Tensor data = operand(start, p, f);
    const Target dst = target(data, p, f);
    const Operand first = random.chance(40) ? Operand(column(start, p, {.isFloat32 = true}))
                                            : Operand(random.between(-3, 3));
    if (kind < 4)
      nisa::tensor_scalar({.dst = dst.tensor,
                           .data = data,
                           .op0 = nl::multiply,
                           .operand0 = first,
                           .op1 = nl::add,
                           .operand1 = 0.25f,
                           .engine = nisa::engine::scalar});
    else
      nisa::tensor_scalar({.dst = dst.tensor,
                           .data = data,
                           .op0 = random.of({nl::add, nl::multiply, nl::maximum}),
                           .operand0 = first,
                           .op1 = random.of({nl::minimum, nl::subtract}),
                           .operand1 = random.between(1, 9),
                           .engine = nisa::engine::vector});
    written(dst);
  }

  void activation() {
    int64_t p, f;
    anyShape(p, f);
    const int64_t start = anyStart(p);
    Tensor data = operand(start, p, f);
    const Target dst = target(data, p, f);
    const Op op =
        random.of({nl::copy, nl::square, nl::relu, nl::sigmoid, nl::tanh, nl::exp, nl::gelu});
    const Operand bias = random.chance(40) ? Operand(column(start, p)) : Operand(0.5f);
    const Operand scale =
        random.chance(25) ? Operand(column(start, p, {.isFloat32 = true})) : Operand(0.125f);
    nisa::activation({.dst = dst.tensor, .op = op, .data = data, .bias = bias, .scale = scale});
    written(dst);
  }

  void copy() {
    int64_t p, f;
    anyShape(p, f);
    const nisa::engine engine =
        random.of({nisa::engine::vector, nisa::engine::scalar, nisa::engine::gpsimd});
    Tensor src = operand(anyStart(p), p, f, {.psum = engine != nisa::engine::gpsimd});
    Tensor dst = fresh(p, f, anyType());
    nisa::tensor_copy({.dst = dst, .src = src, .engine = engine});
    keep(dst);
    if (random.chance(40)) {
      Tensor inverse = fresh(p, f, floatType());
      nisa::reciprocal({.dst = inverse, .data = dst});
      keep(inverse);
    }
  }

  void reduce(const Tensor &data) {
    Tensor dst = fresh(data.dim(0), 1, nl::float32);
    nisa::tensor_reduce({.dst = dst,
                         .op = random.of({nl::add, nl::maximum, nl::minimum}),
                         .data = data,
                         .axis = data.rank() == 3 ? nl::Axes{1, 2} : nl::Axes(1)});
    keep(dst);
  }

  void matmul() {
    const int64_t k = anyPartitions(), m = random.between(1, std::min<int64_t>(128, maxFree));
    const int64_t n = random.between(1, std::min<int64_t>(512, maxFree));
    const int64_t groups = random.between(1, 4);
    Tensor acc = fresh(m, n, nl::float32, nl::psum);
    for (int64_t i = 0; i < groups; ++i) {
      const bool isWide = random.chance(40);
      const int64_t start = anyStart(k);
      Tensor stationary = narrowed(start, k, m, isWide), moving = narrowed(start, k, n, isWide);
      nisa::nc_matmul({.dst = acc, .stationary = stationary, .moving = moving});
    }
    keep(acc);
    if (random.chance(60)) {
      Tensor out = fresh(m, n, floatType());
      nisa::tensor_copy({.dst = out,
                         .src = acc,
                         .engine = random.of({nisa::engine::vector, nisa::engine::scalar})});
      keep(out);
    }
  }

  /// An operand of a matmul: float32 meets only float32, and the view is plain.
  Tensor narrowed(int64_t start, int64_t k, int64_t free, bool isWide) {
    Tensor data = operand(start, k, free, {.psum = false, .isFloat = true, .isFloat32 = isWide});
    if (!isWide && data.dtype() == nl::float32) {
      Tensor t = fresh(start + k, free, random.of({nl::bfloat16, nl::float16}));
      // Partitions in front of the data are written as well: the tile may be read as a whole later.
      if (start > 0)
        nisa::memset({.dst = t, .value = 1});
      nisa::tensor_copy({.dst = t(ds(start, k), _), .src = data});
      keep(t);
      return t(ds(start, k), _);
    }
    return data;
  }

  void transpose() {
    const bool onVector = random.chance(40);
    const int64_t limit = onVector ? 32 : 128;
    const int64_t p = std::min(anyPartitions(), limit), f = std::min(anyFree(), limit);
    const int64_t start = anyStart(p);
    Tensor data = operand(start, p, f, {.psum = onVector, .isFloat = true});
    Tensor dst = onVector ? fresh(f, p, data.dtype()) : fresh(f, p, data.dtype(), nl::psum);
    nisa::nc_transpose({.dst = dst,
                        .data = data,
                        .engine = onVector ? nisa::engine::vector : nisa::engine::tensor});
    keep(dst);
  }

  void fused() {
    int64_t p, f;
    anyShape(p, f);
    const int64_t start = anyStart(p);
    Tensor data = operand(start, p, f), other = operand(start, p, f, {.psum = false});
    const Target dst = target(data, p, f);
    const Operand first = random.chance(50) ? Operand(column(start, p)) : Operand(1.5f);
    nisa::scalar_tensor_tensor({.dst = dst.tensor,
                                .data = data,
                                .op0 = random.of({nl::multiply, nl::subtract}),
                                .operand0 = first,
                                .op1 = random.of({nl::add, nl::maximum}),
                                .operand1 = other});
    written(dst);
  }

  void scan() {
    int64_t p, f;
    anyShape(p, f);
    const int64_t start = anyStart(p);
    Tensor data0 = operand(start, p, f), data1 = operand(start, p, f, {.psum = false});
    Tensor dst = fresh(p, f, floatType());
    nisa::tensor_tensor_scan({.dst = dst,
                              .data0 = data0,
                              .data1 = data1,
                              .initial = random.chance(50) ? Operand(column(start, p)) : Operand(0),
                              .op0 = nl::multiply,
                              .op1 = nl::add});
    keep(dst);
  }

  /// A chain through the registers of the Vector Engine.
  void vectorChain() {
    int64_t p, f;
    anyShape(p, f);
    const int64_t start = anyStart(p);
    const int64_t links = random.between(1, 3);
    Tensor result = fresh(p, 1, nl::float32);
    for (int64_t i = 0; i < links; ++i) {
      Tensor data = operand(start, p, f);
      Tensor dst = fresh(p, f, floatType());
      const bool isLast = i + 1 == links;
      nisa::tensor_scalar_reduce(
          {.dst = dst,
           .data = data,
           .op0 = nl::multiply,
           .operand0 = 2,
           .reduce_op = nl::maximum,
           .reduce_res = isLast ? result : Tensor(),
           .reduce_cmd = i == 0 ? nisa::reduce_cmd::reset_reduce : nisa::reduce_cmd::reduce});
      keep(dst);
    }
    keep(result);
  }

  /// A chain through those of the Scalar Engine.
  void scalarChain() {
    int64_t p, f;
    anyShape(p, f);
    const int64_t start = anyStart(p);
    if (random.chance(30)) {
      Tensor dst = fresh(p, f, floatType()), sums = fresh(p, 1, nl::float32);
      nisa::activation_reduce({.dst = dst,
                               .op = nl::square,
                               .data = operand(start, p, f),
                               .reduce_op = nl::add,
                               .reduce_res = sums});
      keep(dst);
      keep(sums);
      return;
    }
    const int64_t links = random.between(1, 3);
    Tensor result = fresh(p, 1, nl::float32);
    for (int64_t i = 0; i < links; ++i) {
      Tensor data = operand(start, p, f);
      Tensor dst = fresh(p, f, floatType());
      const bool isLast = i + 1 == links;
      nisa::activation(
          {.dst = dst,
           .op = nl::sigmoid,
           .data = data,
           .reduce_op = nl::add,
           .reduce_res = isLast ? result : Tensor(),
           .reduce_cmd = i == 0 ? nisa::reduce_cmd::reset_reduce : nisa::reduce_cmd::reduce});
      keep(dst);
    }
    keep(result);
  }

  void select() {
    int64_t p, f;
    anyShape(p, f);
    const int64_t start = anyStart(p);
    const int64_t kind = random.below(4);
    if (kind == 0) {
      Tensor on = operand(start, p, f, {.psum = false});
      Tensor dst = fresh(p, f, floatType());
      nisa::affine_select({.dst = dst,
                           .pattern = {{-1, f}},
                           .channel_multiplier = 1,
                           .on_true_tile = on,
                           .on_false_value = -2,
                           .cmp_op = nl::greater_equal});
      keep(dst);
      return;
    }
    if (kind == 1) {
      Tensor on = operand(start, p, f, {.isFloat = true});
      Tensor low = column(start, p, {.isFloat32 = true}),
             high = column(start, p, {.isFloat32 = true});
      Tensor dst = fresh(p, f, floatType()), maxima = fresh(p, 1, nl::float32);
      nisa::range_select({.dst = dst,
                          .on_true_tile = on,
                          .comp_op0 = nl::greater_equal,
                          .comp_op1 = nl::less,
                          .bound0 = low,
                          .bound1 = high,
                          .reduce_res = maxima});
      keep(dst);
      keep(maxima);
      return;
    }
    Tensor predicate = fresh(start + p, f, nl::uint8);
    nisa::tensor_scalar(predicate, operand(0, start + p, f), nl::greater, 0.25f);
    keep(predicate);
    Tensor chosen = predicate(ds(start, p), _);
    Tensor on = operand(start, p, f, {.psum = false, .isFloat = true});
    if (kind == 2) {
      Tensor dst = fresh(p, f, floatType());
      nisa::select_reduce({.dst = dst, .predicate = chosen, .on_true = on, .on_false = -1});
      keep(dst);
      return;
    }
    Tensor dst = fresh(p, f, on.dtype());
    nisa::memset(dst, 0);
    nisa::tensor_copy_predicated({.dst = dst, .src = on, .predicate = chosen});
    keep(dst);
  }

  void statistics() {
    const int64_t p = anyPartitions(), f = anyFree(), start = anyStart(p);
    Tensor data = operand(start, p, f);
    Tensor stats = fresh(p, 6, nl::float32), both = fresh(p, 2, nl::float32);
    nisa::bn_stats(stats, data);
    nisa::bn_aggr(both, stats);
    keep(both);
    if (f < 8)
      return;
    Tensor largest = fresh(p, 8, nl::float32);
    nisa::max8(largest, operand(start, p, f));
    keep(largest);
  }

  void shuffle() {
    const int64_t p = random.of<int64_t>({32, 64, 128}), f = anyFree();
    Tensor src = operand(0, p, f);
    Tensor dst = fresh(p, f, src.dtype());
    std::vector<int64_t> mask;
    for (int64_t i = 0; i < 32; ++i)
      mask.push_back(random.below(32));
    nisa::nc_stream_shuffle({.dst = dst, .src = src, .shuffle_mask = mask});
    keep(dst);
  }

  /// Inside SBUF: other partitions, and perhaps another dtype. Shown to the author now and then.
  void transfer() {
    const int64_t p = anyPartitions(), f = anyFree(), start = anyStart(p);
    Tensor src = operand(start, p, f, {.psum = false});
    if (random.chance(20))
      nl::device_print("moved", src);
    Tensor dst = fresh(p, f, random.chance(70) ? src.dtype() : floatType());
    if (dst.dtype() == src.dtype() && random.chance(40))
      nisa::dma_copy({.dst = dst,
                      .src = src,
                      .dge_mode = nisa::dge_mode::hwdge,
                      .engine = nisa::engine::scalar});
    else
      nisa::dma_copy(dst, src);
    keep(dst);
  }

  /// Out to HBM, in one piece or two, and back, in other pieces.
  void throughHbm() {
    int64_t p, f;
    anyShape(p, f);
    Tensor src = operand(0, p, f, {.psum = false});
    Tensor memory = nl::ndarray({p, f}, src.dtype(), nl::private_hbm);
    if (f >= 2 && random.chance(50)) {
      const int64_t cut = random.between(1, f - 1);
      Tensor other = operand(0, p, f - cut, {.psum = false});
      Tensor flat = fresh(p, f, src.dtype());
      nisa::tensor_copy(flat, src);
      nisa::dma_copy(memory(_, ds(0, cut)), flat(_, ds(0, cut)));
      nisa::dma_copy(memory(_, ds(cut, f - cut)), other);
      keep(flat);
    } else {
      nisa::dma_copy(memory, src);
    }
    if (p >= 2 && random.chance(40)) { // overwritten in part
      const int64_t rows = random.between(1, p - 1);
      nisa::dma_copy(memory(ds(0, rows), _), operand(0, rows, f, {.psum = false}));
    }
    const int64_t rows = random.between(1, p), width = random.between(1, f);
    Tensor back = fresh(rows, width, src.dtype());
    nisa::dma_copy(back, memory(ds(p - rows, rows), ds(f - width, width)));
    keep(back);
    scratch.push_back(memory);
    if (random.chance(30)) {
      const Tensor &old =
          scratch[static_cast<size_t>(random.below(static_cast<int64_t>(scratch.size())))];
      Tensor again = fresh(old.dim(0), old.dim(1), old.dtype());
      nisa::dma_copy(again, old);
      keep(again);
    }
  }

  void dmaTranspose() {
    const int64_t p = std::min<int64_t>(anyPartitions(), maxFree),
                  f = std::min<int64_t>(anyFree(), 128);
    Tensor src = operand(0, p, f, {.psum = false, .isFloat = true});
    Tensor dst = fresh(f, p, src.dtype());
    if (src.rank() != 2) // a transpose takes the permuted shape, which dst does not have
      src = source(p, f, src.dtype());
    nisa::dma_transpose({.dst = dst, .src = src});
    keep(dst);
  }

  /// A tile written in pieces by different engines, then read as a whole.
  void assemble() {
    const int64_t p = anyPartitions(), f = std::max<int64_t>(anyFree(), 2);
    const int64_t cut = random.between(1, f - 1);
    Tensor t = fresh(p, f, nl::float32);
    nisa::tensor_copy({.dst = t(_, ds(0, cut)),
                       .src = operand(0, p, cut, {.psum = false}),
                       .engine = random.of({nisa::engine::vector, nisa::engine::gpsimd})});
    if (random.chance(50))
      nisa::activation(
          {.dst = t(_, ds(cut, f - cut)), .op = nl::relu, .data = operand(0, p, f - cut)});
    else
      nisa::dma_copy(t(_, ds(cut, f - cut)), operand(0, p, f - cut, {.psum = false}));
    keep(t);
    reduce(t);
  }

  /// A C++ loop that declares its tiles anew in every iteration.
  void rotation() {
    const int64_t p = anyPartitions(), f = std::max<int64_t>(anyFree() / 2, 1);
    const int64_t count = random.between(2, 6);
    const bool hasMatmul = random.chance(40) && f <= 128;
    Tensor memory = nl::ndarray({count, p, f}, nl::float32, nl::private_hbm);
    Tensor shared = operand(0, p, f, {.psum = false, .isFloat32 = true});
    for (int64_t i = 0; i < count; ++i) {
      Tensor t = fresh(p, f, nl::float32), u = fresh(p, f, nl::float32);
      nisa::dma_copy(t, shared);
      nisa::activation({.dst = u, .op = nl::square, .data = t, .bias = static_cast<float>(i)});
      if (random.chance(50))
        nisa::tensor_tensor(u, u, shared, nl::add);
      if (hasMatmul) {
        Tensor acc = fresh(f, f, nl::float32, nl::psum), out = fresh(f, f, nl::float32);
        nisa::nc_matmul(acc, t, u);
        nisa::tensor_copy(out, acc);
        keep(out);
      }
      nisa::dma_copy(memory(i, _, _), u);
    }
    Tensor back = fresh(p, f, nl::float32);
    nisa::dma_copy(back, memory(random.below(count), _, _));
    keep(back);
  }

  /// A loop of the device: moving accesses in HBM and on chip, a tile carried through it. The
  /// compiler writes short ones out, of one this long a few iterations into its body.
  void deviceLoop() {
    const bool isLong = random.chance(50);
    const int64_t p = isLong ? random.between(1, 5) : anyPartitions();
    const int64_t f = isLong ? 1 : std::max<int64_t>(anyFree() / 4, 1);
    const int64_t count = isLong ? random.between(1025, 1050) : random.between(2, 4);
    const bool movesOnChip = (hasWideTiles || !isLong) && random.chance(60),
               isNested = random.chance(25);
    Tensor memory = nl::ndarray({count * p, f}, nl::float32, nl::private_hbm);
    Tensor sum = fresh(p, f, nl::float32), wide;
    nisa::memset(sum, 0);
    if (movesOnChip) {
      wide = fresh(p, f * count, nl::float32);
      nisa::memset({.dst = wide, .value = 3, .engine = nisa::engine::gpsimd});
    }
    Tensor shared = operand(0, p, f, {.psum = false, .isFloat32 = true});
    nl::affine_for(count, [&](nl::Index i) {
      Tensor t = fresh(p, f, nl::float32);
      nisa::activation({.dst = t, .op = nl::tanh, .data = shared, .bias = 0.5f});
      if (movesOnChip) {
        nisa::tensor_tensor(t, t, wide(_, ds(i * f, f)), nl::add);
        nisa::tensor_scalar(wide(_, ds(i * f, f)), t, nl::multiply, 2);
      }
      nisa::tensor_tensor(sum, sum, t, nl::add);
      if (isNested)
        nl::affine_for(2, [&](nl::Index j) {
          Tensor u = fresh(p, f, nl::float32);
          nisa::dma_copy(u, t);
          if (movesOnChip)
            nisa::tensor_tensor(u, u, wide(_, ds(j * f, f)), nl::maximum);
          nisa::dma_copy(memory(ds(i * p, p), _), u);
        });
      nisa::dma_copy(memory(ds(i * p, p), _), sum);
    });
    keep(sum);
    if (movesOnChip)
      keep(wide);
    Tensor back = fresh(p, f, nl::float32);
    nisa::dma_copy(back, memory(ds(random.below(count) * p, p), _));
    keep(back);
  }

  /// An output, in one piece or row by row.
  void finish() {
    int64_t p, f;
    anyShape(p, f);
    Tensor result = operand(0, p, f, {.psum = false});
    Tensor flat = fresh(p, f, result.dtype());
    nisa::tensor_copy(flat, result);
    Tensor out = nl::ndarray({p, f}, result.dtype(), nl::shared_hbm);
    if (p > 32 && random.chance(50)) {
      nisa::dma_copy(out(ds(0, 32), _), flat(ds(0, 32), _));
      nisa::dma_copy(out(ds(32, p - 32), _), flat(ds(32, p - 32), _));
    } else {
      nisa::dma_copy(out, flat);
    }
    outputs.push_back(out);
  }
};

} // namespace

/// The kernel of `seed`. Any tensors of two dims will do as inputs.
std::vector<Tensor> random_kernel(Tensor a, Tensor b, int seed) {
  return Generator(a, b, seed).make();
}
NL_KERNEL(random_kernel, "a", "b", "seed")
