//===- MatmulKernel.cpp - products of packed panels -------------------------------------------===//

#include "MatmulKernel.h"

#include "kiln/ISA/Types.h"

#include <algorithm>
#include <cmath>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "MatmulKernel.cpp"
#include "hwy/foreach_target.h" // IWYU pragma: keep
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace kiln::tile {
namespace HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

using DF = hn::CappedTag<float, kPanelColumns / 2>;
using F = hn::Vec<DF>;
using DD = hn::CappedTag<double, kPanelColumns / 4>;
using D = hn::Vec<DD>;

/// Vectors of a block. With kPanelRows rows that is as many chains as hide the latency of a fused
/// multiply-add, and as fit the registers of the smaller instruction sets.
inline constexpr size_t kVectors = 2;

/// a * b + c, rounded once.
HWY_INLINE F multiplyAdd(F a, F b, F c) {
#if HWY_NATIVE_FMA
  return hn::MulAdd(a, b, c);
#else
  // The C library's fma never rounds twice, whatever the host has.
  HWY_ALIGN float x[kPanelColumns], y[kPanelColumns], z[kPanelColumns];
  hn::Store(a, DF(), x);
  hn::Store(b, DF(), y);
  hn::Store(c, DF(), z);
  for (size_t i = 0; i < hn::Lanes(DF()); ++i)
    x[i] = std::fma(x[i], y[i], z[i]);
  return hn::Load(DF(), x);
#endif
}

struct Block {
  F v[kPanelRows][kVectors];
};

HWY_INLINE void setZero(Block &block) {
  HWY_UNROLL(4)
  for (size_t r = 0; r < kPanelRows; ++r)
    for (size_t c = 0; c < kVectors; ++c)
      block.v[r][c] = hn::Zero(DF());
}

/// block = the chain over rows first, first + stride, ... below `end` of the contraction, from +0.
HWY_INLINE void chain(const float *x, const float *y, size_t first, size_t end, size_t stride,
                      Block &block) {
  const DF d;
  const size_t lanes = hn::Lanes(d);
  Block sum;
  setZero(sum);
  for (size_t k = first; k < end; k += stride) {
    const float *row = y + k * kPanelColumns, *column = x + k * kPanelRows;
    const F y0 = hn::LoadU(d, row), y1 = hn::LoadU(d, row + lanes);
    HWY_UNROLL(4)
    for (size_t r = 0; r < kPanelRows; ++r) {
      const F left = hn::Set(d, column[r]);
      sum.v[r][0] = multiplyAdd(left, y0, sum.v[r][0]);
      sum.v[r][1] = multiplyAdd(left, y1, sum.v[r][1]);
    }
  }
  block = sum;
}

HWY_INLINE void add(Block &to, const Block &x) {
  for (size_t r = 0; r < kPanelRows; ++r)
    for (size_t c = 0; c < kVectors; ++c)
      to.v[r][c] = hn::Add(to.v[r][c], x.v[r][c]);
}

/// The sum of one chunk. A short last block would be padded with zeros; products of zeros change no
/// more than a -0 of a chain into +0, and the running sum, which begins with +0, never is -0 nor
/// tells them apart.
HWY_INLINE void sumBlocked(const float *x, const float *y, size_t first, size_t end, Block &sum) {
  constexpr size_t blockRows = size_t(isa::machine.matmulSumBlock);
  setZero(sum);
  for (size_t begin = first; begin < end; begin += blockRows) {
    const size_t stop = std::min(begin + blockRows, end);
    Block even, odd;
    chain(x, y, begin, stop, 2, even);
    chain(x, y, begin + 1, stop, 2, odd);
    add(even, odd);
    add(sum, even);
  }
}

void inChunks(const PanelProduct &product, size_t chunk, bool isBlocked, float *out) {
  const DF d;
  const size_t lanes = hn::Lanes(d);
  for (size_t column = 0; column < kPanelColumns; column += kVectors * lanes) {
    Block total, sum;
    setZero(total);
    for (size_t first = 0; first < product.k;) {
      const size_t end = product.k - first > chunk ? first + chunk : product.k;
      if (isBlocked)
        sumBlocked(product.x, product.y + column, first, end, sum);
      else
        chain(product.x, product.y + column, first, end, 1, sum);
      if (first == 0)
        total = sum;
      else
        add(total, sum);
      first = end;
    }
    for (size_t r = 0; r < kPanelRows; ++r)
      for (size_t c = 0; c < kVectors; ++c)
        hn::StoreU(total.v[r][c], d, out + r * kPanelColumns + column + c * lanes);
  }
}

void inDouble(const PanelProduct &product, double *out) {
  const DD d;
  const hn::Rebind<float, DD> df;
  const size_t lanes = hn::Lanes(d);
  for (size_t column = 0; column < kPanelColumns; column += kVectors * lanes) {
    D sum[kPanelRows][kVectors];
    for (size_t r = 0; r < kPanelRows; ++r)
      for (size_t c = 0; c < kVectors; ++c)
        sum[r][c] = hn::Zero(d);
    for (size_t k = 0; k < product.k; ++k) {
      const float *row = product.y + k * kPanelColumns + column;
      const D y0 = hn::PromoteTo(d, hn::LoadU(df, row));
      const D y1 = hn::PromoteTo(d, hn::LoadU(df, row + lanes));
      HWY_UNROLL(4)
      for (size_t r = 0; r < kPanelRows; ++r) {
        // The product is exact, so it does not matter whether the addition is fused with it.
        const D left = hn::Set(d, double(product.x[k * kPanelRows + r]));
        sum[r][0] = hn::MulAdd(left, y0, sum[r][0]);
        sum[r][1] = hn::MulAdd(left, y1, sum[r][1]);
      }
    }
    for (size_t r = 0; r < kPanelRows; ++r)
      for (size_t c = 0; c < kVectors; ++c)
        hn::StoreU(sum[r][c], d, out + r * kPanelColumns + column + c * lanes);
  }
}

} // namespace
} // namespace HWY_NAMESPACE
} // namespace kiln::tile
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kiln::tile {
HWY_EXPORT(inChunks);
HWY_EXPORT(inDouble);
void multiplyInChunks(const PanelProduct &product, size_t chunk, bool isBlocked, float *out) {
  HWY_DYNAMIC_DISPATCH(inChunks)(product, chunk, isBlocked, out);
}
void multiplyInDouble(const PanelProduct &product, double *out) {
  HWY_DYNAMIC_DISPATCH(inDouble)(product, out);
}
} // namespace kiln::tile
#endif // HWY_ONCE
