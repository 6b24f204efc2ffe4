//===- MatmulKernel.cpp - register-blocked fused multiply-add kernel --------------------------===//
//
// Vectors run over output columns, so every output keeps its own chain and the order of the sum is
// the scalar one. Blocks of up to 8 rows by two vectors keep the multipliers busy: each step reads
// two vectors of the moving panel and broadcasts the stationary column.
//
//===------------------------------------------------------------------------------------------===//

#include "MatmulKernel.h"

#include "kilnrt/Numerics/Convert.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "MatmulKernel.cpp"
#include "hwy/foreach_target.h" // IWYU pragma: keep

#include "Convert-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kilnrt {
namespace HWY_NAMESPACE {
namespace {
using kiln::isa::DType;

/// Vectors of a block, and its largest number of rows: the accumulators of one chain fit the
/// registers.
inline constexpr size_t kVectors = 2;
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL
inline constexpr size_t kMaxRows = 8;
#else
inline constexpr size_t kMaxRows = 4;
#endif

/// Accumulators of a block of output.
template <size_t Rows>
struct Block {
  F v[Rows][kVectors];
};

template <size_t Rows>
HWY_INLINE void setZero(Block<Rows> &block) {
  HWY_UNROLL(8)
  for (size_t r = 0; r < Rows; ++r)
    for (size_t c = 0; c < kVectors; ++c)
      block.v[r][c] = hn::Zero(DF());
}

/// block = the chain of fused multiply-adds from +0 over `steps` contraction rows, `stride` apart.
template <size_t Rows>
HWY_INLINE void chain(const float *a, const float *b, size_t stride, size_t steps,
                      Block<Rows> &block) {
  const DF d;
  const size_t lanes = hn::Lanes(d);
  Block<Rows> sum;
  setZero(sum);
  for (size_t i = 0; i < steps; ++i) {
    const F b0 = hn::LoadU(d, b), b1 = hn::LoadU(d, b + lanes);
    HWY_UNROLL(8)
    for (size_t r = 0; r < Rows; ++r) {
      const F left = hn::Set(d, a[r]);
      sum.v[r][0] = fmaF(left, b0, sum.v[r][0]);
      sum.v[r][1] = fmaF(left, b1, sum.v[r][1]);
    }
    a += stride * StationaryTile::kPanelColumns;
    b += stride * kMovingPanelColumns;
  }
  block = sum;
}

/// A block at rest. Written through a pointer the compiler must not look behind: kept in registers,
/// a finished block would crowd out the accumulators of the next chain.
template <size_t Rows>
struct StoredBlock {
  HWY_ALIGN float lanes[Rows][kVectors * kMaxFloats];

  HWY_INLINE void store(const Block<Rows> &block) {
    HWY_UNROLL(8)
    for (size_t r = 0; r < Rows; ++r)
      for (size_t c = 0; c < kVectors; ++c)
        hn::Store(block.v[r][c], DF(), lanes[r] + c * kMaxFloats);
#if HWY_TARGET != HWY_AVX3 && HWY_TARGET != HWY_AVX3_DL
    __asm__ volatile("" : : "r"(this) : "memory");
#endif
  }
  HWY_INLINE F load(size_t r, size_t c) const { return hn::Load(DF(), lanes[r] + c * kMaxFloats); }
};

/// The sum in blocks of 32 contraction rows. A chain shorter than 16 ends in multiplications of
/// zeros, which do no more than turn -0 into +0: one addition of +0.
template <size_t Rows>
HWY_INLINE void blockedSum(const float *a, const float *b, size_t k, Block<Rows> &result) {
  constexpr size_t blockRows = size_t(kiln::isa::machine.matmulSumBlock);
  StoredBlock<Rows> sum, even;
  Block<Rows> block;
  setZero(block);
  sum.store(block);
  for (size_t first = 0; first < k; first += blockRows) {
    const size_t rows = k - first < blockRows ? k - first : blockRows;
    const float *aBlock = a + first * StationaryTile::kPanelColumns;
    const float *bBlock = b + first * kMovingPanelColumns;
    chain(aBlock, bBlock, 2, (rows + 1) / 2, block);
    even.store(block);
    chain(aBlock + StationaryTile::kPanelColumns, bBlock + kMovingPanelColumns, 2, rows / 2, block);
    const F zero = hn::Zero(DF());
    HWY_UNROLL(8)
    for (size_t r = 0; r < Rows; ++r)
      for (size_t c = 0; c < kVectors; ++c) {
        F e = even.load(r, c), o = block.v[r][c];
        if (rows != blockRows) {
          e = hn::Add(e, zero);
          o = hn::Add(o, zero);
        }
        block.v[r][c] = hn::Add(sum.load(r, c), hn::Add(e, o));
      }
    sum.store(block);
  }
  result = block;
}

/// One vector of results to memory; `count` columns exist.
HWY_INLINE void writeVector(F sum, float *out, size_t count, MatmulWrite write) {
  const DF d;
  if (count >= hn::Lanes(d)) {
    const F value = write == MatmulWrite::Add ? hn::Add(hn::LoadU(d, out), sum) : sum;
    hn::StoreU(canonicalF(value), d, out);
  } else if (count != 0) {
    const F value = write == MatmulWrite::Add ? hn::Add(loadSome(out, count), sum) : sum;
    storeSome(canonicalF(value), out, count);
  }
}

/// Rows output rows from `row` on, kVectors vectors of columns from `column` on.
template <size_t Rows>
HWY_INLINE void multiplyBlock(const PanelJob &job, size_t row, size_t column) {
  constexpr size_t panelColumns = StationaryTile::kPanelColumns;
  const size_t lanes = hn::Lanes(DF());
  const float *a = job.stationary + row / panelColumns * panelColumns * job.k + row % panelColumns;
  const float *b = job.moving + column;
  Block<Rows> sum;
  if (job.order == SumOrder::Blocked)
    blockedSum(a, b, job.k, sum);
  else
    chain(a, b, 1, job.k, sum);
  for (size_t r = 0; r < Rows; ++r) {
    float *out = reinterpret_cast<float *>(job.out + int64_t(row + r) * job.outRowStrideBytes);
    for (size_t c = 0; c < kVectors; ++c) {
      const size_t at = column + c * lanes;
      writeVector(sum.v[r][c], out + at, job.n > at ? job.n - at : 0, job.write);
    }
  }
}

void multiply(const PanelJob &job) {
  const size_t step = kVectors * hn::Lanes(DF());
  for (size_t column = 0; column < job.n; column += step) {
    size_t row = 0;
    for (; row + kMaxRows <= job.m; row += kMaxRows)
      multiplyBlock<kMaxRows>(job, row, column);
    if constexpr (kMaxRows > 4)
      if (row + 4 <= job.m) {
        multiplyBlock<4>(job, row, column);
        row += 4;
      }
    for (; row + 2 <= job.m; row += 2)
      multiplyBlock<2>(job, row, column);
    if (row < job.m)
      multiplyBlock<1>(job, row, column);
  }
}

//---- packing
//-----------------------------------------------------------------------------------===//

struct WidenBf16 {
  using Element = uint16_t;
  static HWY_INLINE F load(const Element *src) {
    const DFU du;
    return hn::BitCast(DF(), hn::ShiftLeft<16>(hn::PromoteTo(du, hn::LoadU(DU16(), src))));
  }
};
struct WidenFp16 {
  using Element = uint16_t;
  static HWY_INLINE F load(const Element *src) { return widenFp16(hn::LoadU(DU16(), src)); }
};
struct RoundTf32 {
  using Element = float;
  static HWY_INLINE F load(const Element *src) { return roundTf32(hn::LoadU(DF(), src)); }
};
struct WidenFp32 {
  using Element = float;
  static HWY_INLINE F load(const Element *src) { return hn::LoadU(DF(), src); }
};

/// Dense rows of one full panel.
template <class Widen>
HWY_INLINE void packFull(const std::byte *src, int64_t rowStrideBytes, size_t k, float *panel) {
  const DF d;
  const size_t lanes = hn::Lanes(d);
  for (size_t row = 0; row < k; ++row) {
    const auto *elements =
        reinterpret_cast<const typename Widen::Element *>(src + int64_t(row) * rowStrideBytes);
    for (size_t c = 0; c < kMovingPanelColumns; c += lanes)
      hn::Store(Widen::load(elements + c), d, panel + row * kMovingPanelColumns + c);
  }
}

void packPanel(DType type, const std::byte *src, int64_t rowStrideBytes, size_t k, float *panel) {
  switch (type) {
  case DType::BFloat16:
    return packFull<WidenBf16>(src, rowStrideBytes, k, panel);
  case DType::Float16:
    return packFull<WidenFp16>(src, rowStrideBytes, k, panel);
  case DType::TFloat32:
    return packFull<RoundTf32>(src, rowStrideBytes, k, panel);
  case DType::Float8E4M3:
  case DType::Float8E5M2:
    for (size_t row = 0; row < k; ++row)
      loadRow(type, src + int64_t(row) * rowStrideBytes, 1, kMovingPanelColumns,
              panel + row * kMovingPanelColumns);
    return;
  default:
    return packFull<WidenFp32>(src, rowStrideBytes, k, panel);
  }
}

} // namespace
} // namespace HWY_NAMESPACE
} // namespace kilnrt
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kilnrt {
HWY_EXPORT(multiply);
HWY_EXPORT(packPanel);
void multiplyPanel(const PanelJob &job) { HWY_DYNAMIC_DISPATCH(multiply)(job); }
void packFullPanel(kiln::isa::DType type, const std::byte *src, int64_t rowStrideBytes, size_t k,
                   float *panel) {
  HWY_DYNAMIC_DISPATCH(packPanel)(type, src, rowStrideBytes, k, panel);
}
} // namespace kilnrt
#endif // HWY_ONCE
