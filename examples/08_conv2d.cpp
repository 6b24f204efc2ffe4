// 08: convolution with bias and max pooling, fused: out[B, Co, Ho / pool, Wo / pool].
//
//   kiln run examples/08_conv2d.cpp:conv2d_maxpool x.npy w.npy bias.npy 2 -o y.npy
//
// Stride 1, no padding; rows and columns that do not fill a pool window are dropped. The Tensor
// Engine contracts over partitions, so input channels lie there, and a convolution is one matmul
// for each tap (i, j) of the filter, added up in PSUM. The image shifted by (i, j) is a view.
//
//   acc[co, h, w] += sum over ci of wT[i, j][ci, co] * x[ci, h + i, w + j]
//
// Pooling comes before the bias, where it is less work: max(values) + b is max(values + b), after
// rounding too.

#include "nl/host.h"
#include "nl/nl.h"

#include <algorithm>
#include <cmath>

using nl::_, nl::Chunk, nl::ds, nl::Tensor;

namespace {

constexpr int64_t kLanes = nl::tile_size.pmax;
constexpr int64_t kBank = nl::tile_size.psum_bank_fmax; // float32 elements one matmul may produce

int64_t round_down(int64_t n, int64_t step) { return n / step * step; }

// Sizes of one call.
struct Problem {
  int64_t B, Ci, H, W, Co, kh, kw, pool;
  nl::DType dtype;
  int64_t bytes() const { return dtype == nl::float32 ? 4 : 2; }
  int64_t channel_tiles() const { return nl::ceil_div(Ci, kLanes); }
  // What pooling leaves of the convolution's rows and columns, still unpooled.
  int64_t rows() const { return round_down(H - kh + 1, pool); }
  int64_t columns() const { return round_down(W - kw + 1, pool); }
};

Problem check_inputs(Tensor x, Tensor w, Tensor bias, int64_t pool) {
  nl::require(x.ndim() == 4 && w.ndim() == 4 && bias.ndim() == 1,
              "x[B,Ci,H,W] and w[Co,Ci,kh,kw] have rank 4, bias[Co] has rank 1");
  const auto [B, Ci, H, W] = x.dims<4>();
  const auto [Co, Ci2, kh, kw] = w.dims<4>();
  nl::require(Ci == Ci2, "x has {} channels, w takes {}", Ci, Ci2);
  nl::require(bias.dim(0) == Co, "w gives {} channels, bias has {} values", Co, bias.dim(0));
  nl::require(x.dtype() == w.dtype() && x.dtype() == bias.dtype(),
              "x is {}, w is {}, bias is {}: inputs share one dtype", x.dtype(), w.dtype(),
              bias.dtype());
  nl::require(pool >= 1 && pool * pool <= kBank, "pool is {}, it must be 1 to 22", pool);
  const Problem p{B, Ci, H, W, Co, kh, kw, pool, x.dtype()};
  nl::require(H >= kh && W >= kw && p.rows() > 0 && p.columns() > 0,
              "an image of {}x{} gives no output for a filter of {}x{} and pool {}", H, W, kh, kw,
              pool);
  return p;
}

// The filter of one group of output channels, ready to be stationary: tap (i, j) of input channel
// tile t is wT[t](_, i * kw + j), a [ci, co] matrix.
std::vector<Tensor> transposed_filter(const Problem &p, Tensor w, Chunk group) {
  std::vector<Tensor> wT;
  for (Chunk ci : nl::tiles(p.Ci, kLanes)) {
    Tensor tile = nl::ndarray({ci.size, p.kh * p.kw, group.size}, p.dtype);
    for (Chunk co : nl::tiles(group.size, kLanes)) {
      // In HBM an output channel is one run of Ci * kh * kw values: loaded as it lies, then turned.
      Tensor rows = nl::ndarray({co.size, ci.size, p.kh * p.kw}, p.dtype);
      nisa::dma_copy({.dst = rows, .src = w(ds(group.start + co.start, co.size), ci)});
      for (int64_t tap : nl::range(p.kh * p.kw)) {
        Tensor turned = nl::ndarray({ci.size, co.size}, p.dtype, nl::psum);
        nisa::nc_transpose({.dst = turned, .data = rows(_, _, tap)});
        nisa::tensor_copy({.dst = tile(_, tap, co), .src = turned});
      }
    }
    wT.push_back(tile);
  }
  return wT;
}

// How many output channels one group has: their filter fills at most a quarter of SBUF.
int64_t group_size(const Problem &p) {
  const int64_t channel = p.channel_tiles() * p.kh * p.kw * p.bytes(); // bytes of a partition
  const int64_t fit = nl::tile_size.sbuf_fmax_bytes / 4 / channel;
  nl::require(fit > 0,
              "{} input channels of {}x{} taps are too many: SBUF does not hold one filter", p.Ci,
              p.kh, p.kw);
  return fit >= kLanes ? round_down(fit, kLanes) : fit;
}

// Rows and columns of the output one block of the image gives: the input block fills at most a
// sixth of SBUF, so that the next one loads while this one is used. Columns fit a PSUM bank.
std::pair<int64_t, int64_t> block_size(const Problem &p) {
  const int64_t fit = nl::tile_size.sbuf_fmax_bytes / 6 / (p.channel_tiles() * p.bytes());
  const int64_t widest = fit / (p.pool + p.kh - 1) - (p.kw - 1);
  const int64_t columns = round_down(std::min({p.columns(), kBank / p.pool, widest}), p.pool);
  nl::require(columns > 0, "{} input channels are too many: SBUF does not hold one window of {}x{}",
              p.Ci, p.pool + p.kh - 1, p.pool + p.kw - 1);
  const int64_t rows = fit / (columns + p.kw - 1) - (p.kh - 1);
  return {round_down(std::min(p.rows(), rows), p.pool), columns};
}

// The part of image b that output rows h and columns v depend on, with the filter's overhang: one
// tile for each 128 input channels.
std::vector<Tensor> load_block(const Problem &p, Tensor x, int64_t b, Chunk h, Chunk v) {
  std::vector<Tensor> block;
  for (Chunk ci : nl::tiles(p.Ci, kLanes)) {
    const int64_t rows = h.size + p.kh - 1, columns = v.size + p.kw - 1;
    Tensor tile = nl::ndarray({ci.size, rows, columns}, p.dtype);
    nisa::dma_copy({.dst = tile, .src = x(b, ci, ds(h.start, rows), ds(v.start, columns))});
    block.push_back(tile);
  }
  return block;
}

// The convolution of rows r of a block, for output channels co of the group: [co, rows, columns] in
// PSUM.
Tensor convolve(const Problem &p, const std::vector<Tensor> &block, const std::vector<Tensor> &wT,
                Chunk co, Chunk r, int64_t columns) {
  Tensor acc = nl::ndarray({co.size, r.size, columns}, nl::float32, nl::psum);
  for (size_t t : nl::range(block.size()))
    for (int64_t i : nl::range(p.kh))
      for (int64_t j : nl::range(p.kw))
        nisa::nc_matmul({.dst = acc, .stationary = wT[t](_, i * p.kw + j, co),
                         .moving = block[t](_, ds(r.start + i, r.size), ds(j, columns))});
  return acc;
}

// result = max over windows of acc, plus the bias of the channel.
void pool_and_add(Tensor result, Tensor acc, Tensor bias, int64_t pool) {
  Tensor pooled = acc;
  if (pool > 1) {
    const auto [co, rows, columns] = acc.dims<3>();
    pooled = nl::ndarray({co, rows / pool, columns / pool}, nl::float32);
    Tensor windows =
        acc.reshape({co, rows / pool, pool, columns / pool, pool}).permute({0, 1, 3, 2, 4});
    nisa::tensor_reduce({.dst = pooled, .op = nl::maximum, .data = windows, .axis = {3, 4}});
  }
  nisa::activation({.dst = result, .op = nl::copy, .data = pooled, .bias = bias});
}

} // namespace

Tensor conv2d_maxpool(Tensor x, Tensor w, Tensor bias, int64_t pool) {
  const Problem p = check_inputs(x, w, bias, pool);
  Tensor out = nl::ndarray({p.B, p.Co, p.rows() / pool, p.columns() / pool}, p.dtype,
                           nl::shared_hbm, {.name = "out"});
  const auto [block_rows, block_columns] = block_size(p);
  for (Chunk group : nl::tiles(p.Co, group_size(p))) {
    const std::vector<Tensor> wT = transposed_filter(p, w, group);
    std::vector<Tensor> biases;
    for (Chunk co : nl::tiles(group.size, kLanes))
      biases.push_back(nl::load(bias(ds(group.start + co.start, co.size)).reshape({co.size, 1})));

    for (int64_t b : nl::range(p.B))
      for (Chunk h : nl::tiles(p.rows(), block_rows))
        for (Chunk v : nl::tiles(p.columns(), block_columns)) {
          const std::vector<Tensor> block = load_block(p, x, b, h, v);
          for (Chunk co : nl::tiles(group.size, kLanes)) {
            Tensor result = nl::ndarray({co.size, h.size / pool, v.size / pool}, p.dtype);
            // As many whole windows as a PSUM bank takes.
            for (Chunk r : nl::tiles(h.size, round_down(kBank / v.size, pool))) {
              Tensor acc = convolve(p, block, wT, co, r, v.size);
              pool_and_add(result(_, ds(r.start / pool, r.size / pool)), acc, biases[co.index],
                           pool);
            }
            const auto rows = ds(h.start / pool, h.size / pool);
            const auto columns = ds(v.start / pool, v.size / pool);
            nl::store(out(b, ds(group.start + co.start, co.size), rows, columns), result);
          }
        }
  }
  return out;
}

NL_KERNEL(conv2d_maxpool, "x", "w", "bias", "pool")

// Pooled convolution in double, by the definition.
static std::vector<double> reference(const nl::Array &x, const nl::Array &w, const nl::Array &bias,
                                     int64_t pool, const std::vector<int64_t> &shape) {
  const auto &X = x.shape(), &F = w.shape();
  const int64_t Ci = X[1], H = X[2], W = X[3], kh = F[2], kw = F[3];
  std::vector<double> out;
  for (int64_t b = 0; b < shape[0]; ++b)
    for (int64_t co = 0; co < shape[1]; ++co)
      for (int64_t h = 0; h < shape[2]; ++h)
        for (int64_t v = 0; v < shape[3]; ++v) {
          double best = -INFINITY;
          for (int64_t window = 0; window < pool * pool; ++window) {
            const int64_t row = h * pool + window / pool, column = v * pool + window % pool;
            double sum = 0;
            for (int64_t ci = 0; ci < Ci; ++ci)
              for (int64_t i = 0; i < kh; ++i)
                for (int64_t j = 0; j < kw; ++j)
                  sum += w[((co * Ci + ci) * kh + i) * kw + j] *
                         x[((b * Ci + ci) * H + row + i) * W + column + j];
            best = std::max(best, sum);
          }
          out.push_back(best + bias[co]);
        }
  return out;
}

int main() {
  nl::SelfCheck check("08_conv2d");
  struct {
    const char *x, *w;
    int64_t pool;
  } cases[] = {{"1x1x1x1", "1x1x1x1", 1},   {"2x3x13x11", "5x3x3x2", 1},
               {"2x3x13x11", "5x3x3x2", 2}, {"1x130x6x7", "129x130x2x3", 2},
               {"1x2x5x700", "3x2x1x1", 1}, {"1x2x7x1200", "3x2x3x5", 3}};
  struct {
    const char *name;
    double bound; // half a unit of the dtype, with room for the fp32 sum
  } dtypes[] = {{"float32", 1e-6}, {"bfloat16", 4e-3}, {"float16", 5e-4}};
  for (auto [xs, ws, pool] : cases)
    for (auto [dtype, bound] : dtypes) {
      const std::string channels = std::string(ws).substr(0, std::string(ws).find('x'));
      const nl::Array x(("randn:" + std::string(xs) + ":" + dtype + ":1").c_str());
      const nl::Array w(("randn:" + std::string(ws) + ":" + dtype + ":2").c_str());
      const nl::Array bias(("randn:" + channels + ":" + dtype + ":3").c_str());
      const nl::Array out = nl::execute("conv2d_maxpool", {x, w, bias, pool}).front();
      const std::vector<double> exact = reference(x, w, bias, pool, out.shape());
      double error = 0, norm = 0;
      for (int64_t i = 0; i < out.size(); ++i) {
        error += (out[i] - exact[i]) * (out[i] - exact[i]);
        norm += exact[i] * exact[i];
      }
      check.expect(std::sqrt(error / norm) <= bound, std::string(xs) + " with " + ws + " " + dtype);
    }
  return check.finish();
}
