// 06: attention of one head, out[S, d] = softmax(scale * q . k^T) . v, without an S x T matrix.
//
//   kiln run examples/06_attention.cpp:attention_fwd q.npy k.npy v.npy 0.0883883 -o o.npy
//
// Queries and keys come with the head dim first, qT[d, S] and kT[d, T], since the Tensor Engine
// contracts over partitions. A tile of 128 queries walks over the keys, 512 at a time, and keeps
// three things: the largest score so far, the sum of exp(score - largest), and the sum of
// exp(score - largest) * v. When a larger score turns up, both sums shrink by
// exp(old largest - new largest). Their quotient is the result.
//
// Scores, sums and corrections are float32 for every dtype. Only what a matmul reads is as narrow
// as the inputs: q, k, v, and the exponentials, which lie in [0, 1] and are summed before they are
// rounded.

#include "nl/host.h"
#include "nl/nl.h"

#include <algorithm>
#include <cmath>

using nl::_, nl::Chunk, nl::ds, nl::Tensor;

namespace {

constexpr auto kQueries = nl::tile_size.pmax;          // of a tile: they lie on partitions
constexpr auto kKeys = nl::tile_size.gemm_moving_fmax; // of a tile: their scores fill a PSUM bank
constexpr auto kRows = nl::tile_size.pmax;             // keys that one matmul with v contracts

Tensor f32_tile(int64_t rows, int64_t columns) { return nl::ndarray({rows, columns}, nl::float32); }

void check_inputs(Tensor qT, Tensor kT, Tensor v, float scale) {
  nl::require(qT.ndim() == 2 && kT.ndim() == 2 && v.ndim() == 2, "qT, kT and v are matrices");
  nl::require(qT.dim(0) == kT.dim(0), "qT has head dim {}, kT has {}", qT.dim(0), kT.dim(0));
  nl::require(kT.dim(1) == v.dim(0), "kT has {} keys, v has {} values", kT.dim(1), v.dim(0));
  nl::require(qT.dtype() == kT.dtype() && qT.dtype() == v.dtype(),
              "qT is {}, kT is {}, v is {}: inputs share one dtype", qT.dtype(), kT.dtype(),
              v.dtype());
  nl::require(qT.dim(0) <= nl::tile_size.pmax && v.dim(1) <= nl::tile_size.pmax,
              "head dims are {} and {}, at most {} fit the partitions", qT.dim(0), v.dim(1),
              nl::tile_size.pmax);
  nl::require(scale > 0, "scale is {}: it must be positive", scale);
}

// A tile of keys, [d, keys], and their values, kRows at a time.
struct Keys {
  Tensor k;
  std::vector<Tensor> v;
};

// All keys, tile by tile. Every tile of queries needs them, so they are loaded once and stay in a
// half of SBUF; those that do not fit it are loaded again wherever they are used.
class KeyStore {
public:
  KeyStore(Tensor kT, Tensor v) : kT(kT), v(v) {
    const int64_t bytes = (kKeys + kKeys / kRows * v.dim(1)) * (v.dtype() == nl::float32 ? 4 : 2);
    const size_t fit = nl::tile_size.sbuf_fmax_bytes / 2 / bytes;
    for (Chunk j : nl::tiles(v.dim(0), kKeys))
      if (kept.size() < fit)
        kept.push_back(load(j));
  }
  // The tile of keys j, which may end early.
  Keys operator()(Chunk j) const {
    if (j.index >= static_cast<int64_t>(kept.size()))
      return load(j);
    const Keys &whole = kept[j.index];
    return {whole.k(_, ds(0, j.size)), whole.v};
  }

private:
  Keys load(Chunk j) const {
    Keys keys{nl::load(kT(_, j)), {}};
    for (Chunk c : nl::tiles(j.size, kRows))
      keys.v.push_back(nl::load(v(ds(j.start + c.start, c.size), _)));
    return keys;
  }
  Tensor kT, v;
  std::vector<Keys> kept;
};

// q . k^T, unscaled, in PSUM: [queries, keys].
Tensor multiply(Tensor q, const Keys &keys) {
  Tensor scores = nl::ndarray({q.dim(1), keys.k.dim(1)}, nl::float32, nl::psum);
  nisa::nc_matmul({.dst = scores, .stationary = q, .moving = keys.k});
  return scores;
}

// The transpose of p[queries, keys]: kRows keys a piece, pT(keys, piece) -> queries. The sum over
// keys needs them on partitions.
Tensor transposed(Tensor p) {
  const auto [P, N] = p.dims<2>();
  const int64_t whole = N / kRows, rest = N % kRows;
  const nl::Shape shape{kRows, whole + (rest > 0), P};
  Tensor turned = nl::ndarray(shape, p.dtype(), nl::psum), pT = nl::ndarray(shape, p.dtype());
  for (Chunk c : nl::tiles(N, kRows))
    nisa::nc_transpose({.dst = turned(ds(0, c.size), c.index), .data = p(_, c)});
  if (whole > 0)
    nisa::tensor_copy(pT(_, ds(0, whole)), turned(_, ds(0, whole)));
  if (rest > 0)
    nisa::tensor_copy(pT(ds(0, rest), whole), turned(ds(0, rest), whole));
  return pT;
}

// p . v, in PSUM: [queries, d].
Tensor weigh(Tensor pT, int64_t keys, const std::vector<Tensor> &v) {
  Tensor sum = nl::ndarray({pT.dim(2), v[0].dim(1)}, nl::float32, nl::psum);
  for (Chunk c : nl::tiles(keys, kRows)) {
    const auto rows = ds(0, c.size);
    nisa::nc_matmul({.dst = sum, .stationary = pT(rows, c.index), .moving = v[c.index](rows, _)});
  }
  return sum;
}

// Scores of a tile of queries and the largest of each query.
struct Scores {
  Tensor all, top;
};

Scores with_top(Tensor scores) {
  Tensor top = f32_tile(scores.dim(0), 1);
  nisa::tensor_reduce({.dst = top, .op = nl::maximum, .data = scores, .axis = 1});
  return {scores, top};
}

// The same where query p sees the keys up to number last[p]; the scores are those of keys from
// `first` on. The others become the most negative number, so that exp gives 0.
Scores masked(Tensor scores, Tensor last, int64_t first) {
  const auto [P, N] = scores.dims<2>();
  Scores out{f32_tile(P, N), f32_tile(P, 1)};
  nisa::range_select({.dst = out.all, .on_true_tile = scores, .comp_op0 = nl::less_equal,
                      .comp_op1 = nl::less_equal, .bound0 = last, .bound1 = last,
                      .reduce_res = out.top, .range_start = first});
  return out;
}

// What a tile of queries knows after some keys. Fresh tiles at every step, so that no step waits
// for the readers of an earlier one.
struct Running {
  Tensor minus_top; // [P, 1] what exp adds: the largest score so far, scaled and negated
  Tensor sum;       // [P, 1] of exp(score - top)
  Tensor out;       // [P, d] of exp(score - top) * v
  bool empty() const { return sum.rank() == 0; }
};

// The exponentials p of one tile of keys, with the top they are relative to and their sum.
struct Exponentials {
  Tensor p, minus_top, sum;
};

Exponentials exponentials(Scores scores, const Running &old, float scale, nl::DType dtype) {
  const auto [P, N] = scores.all.dims<2>();
  Exponentials e{nl::ndarray({P, N}, dtype), f32_tile(P, 1), f32_tile(P, 1)};
  if (old.empty())
    nisa::tensor_scalar(e.minus_top, scores.top, nl::multiply, -scale);
  else
    nisa::tensor_scalar({.dst = e.minus_top, .data = scores.top, .op0 = nl::multiply,
                         .operand0 = -scale, .op1 = nl::minimum, .operand1 = old.minus_top});
  // One pass of the Scalar Engine: exp(scale * score - top) and its sum, before rounding.
  nisa::activation({.dst = e.p, .op = nl::exp, .data = scores.all, .bias = e.minus_top,
                    .scale = scale, .reduce_op = nl::add, .reduce_res = e.sum,
                    .reduce_cmd = nisa::reduce_cmd::reset_reduce});
  return e;
}

// old and the keys of e together, where product is e.p . v.
Running combined(const Running &old, const Exponentials &e, Tensor product) {
  const auto [P, d] = product.dims<2>();
  Running now{e.minus_top, f32_tile(P, 1), f32_tile(P, d)};
  if (old.empty()) {
    now.sum = e.sum;
    nisa::tensor_copy(now.out, product);
    return now;
  }
  Tensor shrink = f32_tile(P, 1); // exp(old top - new top)
  nisa::activation(
      {.dst = shrink, .op = nl::exp, .data = old.minus_top, .bias = e.minus_top, .scale = -1.0f});
  nisa::scalar_tensor_tensor({.dst = now.sum, .data = old.sum, .op0 = nl::multiply,
                              .operand0 = shrink, .op1 = nl::add, .operand1 = e.sum});
  nisa::scalar_tensor_tensor({.dst = now.out, .data = old.out, .op0 = nl::multiply,
                              .operand0 = shrink, .op1 = nl::add, .operand1 = product});
  return now;
}

// out = attention of the tile of queries q[d, P] over the first `seen` keys. With `causal` query p
// sees keys 0 to p + seen - P only: the last query sees all of them.
void attend(Tensor out, Tensor q, const KeyStore &store, int64_t seen, float scale, bool causal) {
  const int64_t P = q.dim(1), last_of_first = seen - P;
  Tensor last;
  if (causal) {
    last = f32_tile(P, 1);
    nisa::iota(
        {.dst = last, .pattern = {{0, 1}}, .offset = last_of_first, .channel_multiplier = 1});
  }

  struct Step {
    Keys keys;
    Tensor scores;
  };
  const auto start = [&](Chunk j) {
    const Keys keys = store(j);
    return Step{keys, multiply(q, keys)};
  };
  const nl::Tiles tiles = nl::tiles(seen, kKeys);
  Running running;
  Step next = start(tiles[0]);
  for (Chunk j : tiles) {
    const Step now = next;
    const bool all_see_all = !causal || j.end() <= last_of_first + 1;
    const Scores scores = all_see_all ? with_top(now.scores) : masked(now.scores, last, j.start);
    const Exponentials e = exponentials(scores, running, scale, q.dtype());
    Tensor pT = transposed(e.p);
    // The Tensor Engine works in program order. It goes ahead with the next scores while pT leaves
    // PSUM, and the other engines turn those into exponentials while it multiplies pT and v.
    if (j.index + 1 < tiles.size())
      next = start(tiles[j.index + 1]);
    running = combined(running, e, weigh(pT, j.size, now.keys.v));
  }

  Tensor inverse = f32_tile(P, 1), result = nl::ndarray(out.shape(), out.dtype());
  nisa::reciprocal({.dst = inverse, .data = running.sum});
  nisa::tensor_scalar(
      {.dst = result, .data = running.out, .op0 = nl::multiply, .operand0 = inverse});
  nisa::dma_copy({.dst = out, .src = result});
}

} // namespace

// Every query sees every key.
Tensor attention_fwd(Tensor qT, Tensor kT, Tensor v, float scale) {
  check_inputs(qT, kT, v, scale);
  Tensor out = nl::ndarray({qT.dim(1), v.dim(1)}, qT.dtype(), nl::shared_hbm, {.name = "out"});
  const KeyStore store(kT, v);
  for (Chunk i : nl::tiles(qT.dim(1), kQueries))
    attend(out(i, _), nl::load(qT(_, i)), store, v.dim(0), scale, false);
  return out;
}

// Query i sees key j when j <= i + T - S: the last query sees all keys, and when there are more
// queries than keys the first S - T see none. Their result is zeros, the sum over no keys.
Tensor attention_fwd_causal(Tensor qT, Tensor kT, Tensor v, float scale) {
  check_inputs(qT, kT, v, scale);
  const int64_t S = qT.dim(1), T = v.dim(0), blind = std::max<int64_t>(S - T, 0);
  Tensor out = nl::ndarray({S, v.dim(1)}, qT.dtype(), nl::shared_hbm, {.name = "out"});
  for (Chunk i : nl::tiles(blind, kQueries))
    nl::store(out(i, _), nl::zeros({i.size, v.dim(1)}, out.dtype()));
  const KeyStore store(kT, v);
  for (Chunk c : nl::tiles(S - blind, kQueries)) {
    const auto i = ds(blind + c.start, c.size);
    // Keys after those the last query of the tile sees are left out; tiles of keys around the
    // diagonal are masked; earlier ones are seen by all.
    attend(out(i, _), nl::load(qT(_, i)), store, blind + c.end() + T - S, scale, true);
  }
  return out;
}

NL_KERNEL(attention_fwd, "qT", "kT", "v", "scale")
NL_KERNEL(attention_fwd_causal, "qT", "kT", "v", "scale")

// |out - attention| / |attention| in the Euclidean norm, in double.
static double relative_error(const nl::Array &qT, const nl::Array &kT, const nl::Array &v,
                             float scale, bool causal, const nl::Array &out) {
  const int64_t d = qT.shape()[0], S = qT.shape()[1], T = kT.shape()[1], dv = v.shape()[1];
  double error = 0, norm = 0;
  std::vector<double> p(T), row(dv);
  for (int64_t i = 0; i < S; ++i) {
    const int64_t seen = causal ? std::clamp<int64_t>(i + T - S + 1, 0, T) : T;
    double top = -INFINITY, sum = 0;
    for (int64_t j = 0; j < seen; ++j) {
      p[j] = 0;
      for (int64_t k = 0; k < d; ++k)
        p[j] += scale * qT(k, i) * kT(k, j);
      top = std::max(top, p[j]);
    }
    std::fill(row.begin(), row.end(), 0.0);
    for (int64_t j = 0; j < seen; ++j) {
      p[j] = std::exp(p[j] - top);
      sum += p[j];
      for (int64_t k = 0; k < dv; ++k)
        row[k] += p[j] * v(j, k);
    }
    for (int64_t k = 0; k < dv; ++k) {
      const double exact = seen ? row[k] / sum : 0;
      error += (out(i, k) - exact) * (out(i, k) - exact);
      norm += exact * exact;
    }
  }
  return std::sqrt(error / norm);
}

int main() {
  nl::SelfCheck check("06_attention");
  struct {
    int64_t S, T, d;
  } sizes[] = {{1, 1, 1}, {130, 517, 80}, {300, 129, 128}};
  struct {
    const char *name;
    double bound;
  } dtypes[] = {{"float32", 2e-5}, {"bfloat16", 5e-3}, {"float16", 1e-3}};
  for (auto [S, T, d] : sizes)
    for (auto [dtype, bound] : dtypes) {
      const auto make = [dtype = dtype](int64_t rows, int64_t columns, int seed) {
        return nl::Array(("randn:" + std::to_string(rows) + "x" + std::to_string(columns) + ":" +
                          dtype + ":" + std::to_string(seed))
                             .c_str());
      };
      const nl::Array qT = make(d, S, 1), kT = make(d, T, 2), v = make(T, d, 3);
      const float scale = 1 / std::sqrt(static_cast<float>(d));
      for (bool causal : {false, true}) {
        const char *kernel = causal ? "attention_fwd_causal" : "attention_fwd";
        const nl::Array out = nl::execute(kernel, {qT, kT, v, static_cast<double>(scale)}).front();
        check.expect(relative_error(qT, kT, v, scale, causal, out) <= bound,
                     std::string(kernel) + " of " + std::to_string(S) + " queries, " +
                         std::to_string(T) + " keys " + dtype);
      }
    }
  return check.finish();
}
