// 07: the selective scan of a Mamba layer. For channel c, state s and time t
//
//   h[c, s] = exp(delta[c, t] * A[c, s]) * h[c, s] + delta[c, t] * u[c, t] * B[s, t]
//   y[c, t] = sum over s of C[s, t] * h[c, s]
//
//   kiln run examples/07_mamba.cpp:mamba_scan delta.npy u.npy a.npy b.npy c.npy -o y.npy
//
// Channels lie on partitions and time in the free dim, where tensor_tensor_scan runs the
// recurrence: one instruction for 512 steps of 128 channels. Time is cut into pieces; the state at
// the end of a piece is where the next one starts, so L has no limit. The state is float32 for
// every dtype of the inputs.

#include "nl/host.h"
#include "nl/nl.h"

#include <algorithm>
#include <cmath>

using nl::_, nl::Chunk, nl::ds, nl::Tensor;

namespace {

constexpr auto kLanes = nl::tile_size.pmax;
constexpr int64_t kSteps = 512; // of a piece of time, unless the states are very many

void check_inputs(Tensor delta, Tensor u, Tensor A, Tensor B, Tensor C) {
  for (const Tensor &t : {delta, u, A, B, C})
    nl::require(t.ndim() == 2 && t.dtype() == delta.dtype(),
                "delta, u, A, B and C are matrices of one dtype");
  const auto [D, L] = delta.dims<2>();
  const int64_t S = A.dim(1);
  nl::require(u.shape() == delta.shape(), "delta is {}, u is {}: they must be equal", delta.shape(),
              u.shape());
  nl::require(A.dim(0) == D, "delta has {} channels, A has {}", D, A.dim(0));
  const nl::Shape by_time{S, L};
  nl::require(B.shape() == by_time && C.shape() == by_time, "B is {}, C is {}: both must be {}",
              B.shape(), C.shape(), by_time);
}

Tensor f32_tile(int64_t rows, int64_t columns) { return nl::ndarray({rows, columns}, nl::float32); }

// Piece t of every row of a matrix [S, L], on all lanes: [lanes, S, steps]. The DMA reads the piece
// once a lane.
Tensor broadcast_rows(Tensor matrix, Chunk t, int64_t lanes) {
  return nl::load(matrix(_, t).expand_dim(0).broadcast(0, lanes));
}

// A tile of channels and what lasts from one piece of time to the next.
struct Channels {
  Chunk c;
  Tensor A;     // [channels, S], float32: scale factors of activation are
  Tensor state; // [channels, S]
};

// The two factors of a recurrence over a piece of time: h = decay * h + input.
struct Recurrence {
  Tensor decay, input;
};

Recurrence prepare(const Channels &ch, int64_t s, Tensor delta, Tensor du, Tensor b) {
  const auto [P, steps] = du.dims<2>();
  Recurrence r{f32_tile(P, steps), f32_tile(P, steps)};
  nisa::activation({.dst = r.decay, .op = nl::exp, .data = delta, .scale = ch.A(_, ds(s, 1))});
  // GpSimd is free: the Vector Engine has the scan and the product with C to do.
  nisa::tensor_tensor({.dst = r.input, .data1 = du, .data2 = b, .op = nl::multiply,
                       .engine = nisa::engine::gpsimd});
  return r;
}

// h[c, s] over a piece of time, from and to the state.
Tensor scan(const Channels &ch, int64_t s, const Recurrence &r) {
  const auto [P, steps] = r.input.dims<2>();
  Tensor h = f32_tile(P, steps), state = ch.state(_, ds(s, 1));
  nisa::tensor_tensor_scan({.dst = h, .data0 = r.decay, .data1 = r.input, .initial = state,
                            .op0 = nl::multiply, .op1 = nl::add});
  nisa::tensor_copy(state, h(_, ds(steps - 1, 1)));
  return h;
}

// result = the sum over states of C * h, for a piece of time of some channels; b and c are
// [lanes, S, steps].
void scan_states(Tensor result, const Channels &ch, Tensor delta, Tensor u, Tensor b, Tensor c) {
  const auto [P, steps] = delta.dims<2>();
  const int64_t S = b.dim(1);
  const auto rows = ds(0, P);
  Tensor du = f32_tile(P, steps), sum;
  nisa::tensor_tensor(du, delta, u, nl::multiply);
  Recurrence ahead = prepare(ch, 0, delta, du, b(rows, 0));
  for (int64_t s : nl::range(S)) {
    const Recurrence now = ahead;
    // GpSimd works in program order: the next product comes before the sum, which has to wait.
    if (s + 1 < S)
      ahead = prepare(ch, s + 1, delta, du, b(rows, s + 1));
    Tensor h = scan(ch, s, now);
    // Sums are float32; the last one is the result and has its dtype.
    Tensor next = s == S - 1 ? result : f32_tile(P, steps);
    Tensor term = s == 0 ? next : f32_tile(P, steps);
    nisa::tensor_tensor(term, h, c(rows, s), nl::multiply);
    if (s > 0)
      nisa::tensor_tensor({.dst = next, .data1 = sum, .data2 = term, .op = nl::add,
                           .engine = nisa::engine::gpsimd});
    sum = next;
  }
}

} // namespace

Tensor mamba_scan(Tensor delta, Tensor u, Tensor A, Tensor B, Tensor C) {
  check_inputs(delta, u, A, B, C);
  const auto [D, L] = delta.dims<2>();
  const int64_t S = A.dim(1), lanes = std::min(D, kLanes);
  Tensor y = nl::ndarray({D, L}, delta.dtype(), nl::shared_hbm, {.name = "y"});
  // Rows of B and C on all lanes fill at most a quarter of SBUF.
  const int64_t steps = std::min(kSteps, nl::tile_size.sbuf_fmax / 4 / (2 * S));
  nl::require(steps > 0, "{} states are too many for SBUF", S);

  std::vector<Channels> tiles;
  for (Chunk c : nl::tiles(D, kLanes))
    tiles.push_back({c, nl::load(A(c, _), nl::float32), nl::zeros({c.size, S}, nl::float32)});

  for (Chunk t : nl::tiles(L, steps)) {
    const Tensor b = broadcast_rows(B, t, lanes), c = broadcast_rows(C, t, lanes);
    for (const Channels &ch : tiles) {
      Tensor result = nl::ndarray({ch.c.size, t.size}, y.dtype());
      Tensor dt = nl::load(delta(ch.c, t)), x = nl::load(u(ch.c, t));
      scan_states(result, ch, dt, x, b, c);
      nisa::dma_copy({.dst = y(ch.c, t), .src = result});
    }
  }
  return y;
}

NL_KERNEL(mamba_scan, "delta", "u", "A", "B", "C")

// |y - scan| / |scan| in the Euclidean norm, in double.
static double relative_error(const nl::Array &delta, const nl::Array &u, const nl::Array &A,
                             const nl::Array &B, const nl::Array &C, const nl::Array &y) {
  const int64_t D = delta.shape()[0], L = delta.shape()[1], S = A.shape()[1];
  double error = 0, norm = 0;
  for (int64_t c = 0; c < D; ++c) {
    std::vector<double> h(S, 0.0);
    for (int64_t t = 0; t < L; ++t) {
      double sum = 0;
      for (int64_t s = 0; s < S; ++s) {
        h[s] = std::exp(delta(c, t) * A(c, s)) * h[s] + delta(c, t) * u(c, t) * B(s, t);
        sum += C(s, t) * h[s];
      }
      error += (y(c, t) - sum) * (y(c, t) - sum);
      norm += sum * sum;
    }
  }
  return std::sqrt(error / norm);
}

int main() {
  nl::SelfCheck check("07_mamba");
  struct {
    int64_t D, S, L;
  } sizes[] = {{1, 1, 1}, {130, 3, 1025}, {7, 16, 513}, {128, 60, 300}};
  struct {
    const char *name;
    double bound; // half a unit of the dtype, with room for the recurrence
  } dtypes[] = {{"float32", 2e-6}, {"bfloat16", 4e-3}, {"float16", 5e-4}};
  for (auto [D, S, L] : sizes)
    for (auto [dtype, bound] : dtypes) {
      const auto make = [dtype = dtype](const char *kind, int64_t rows, int64_t columns, int seed) {
        return nl::Array((std::string(kind) + ":" + std::to_string(rows) + "x" +
                          std::to_string(columns) + ":" + dtype + ":" + std::to_string(seed))
                             .c_str());
      };
      const nl::Array delta = make("rand", D, L, 1), u = make("randn", D, L, 2);
      nl::Array A = make("rand", D, S, 3);
      const nl::Array B = make("randn", S, L, 4), C = make("randn", S, L, 5);
      for (int64_t i = 0; i < A.size(); ++i) // states decay
        A.set(i, -A[i]);
      const nl::Array y = nl::execute("mamba_scan", {delta, u, A, B, C}).front();
      check.expect(relative_error(delta, u, A, B, C, y) <= bound,
                   std::to_string(D) + "x" + std::to_string(L) + " with " + std::to_string(S) +
                       " states " + dtype);
    }
  return check.finish();
}
