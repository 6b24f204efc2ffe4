//===- Fold.cpp - left-to-right folds of many rows side by side -------------------------------===//
//
// One lane per row: blocks of four columns are transposed in registers, so each step of every row's
// chain is one vector operation, and the order within a row is untouched. Two groups of rows run
// interleaved to hide the latency of the chain.
//
//===------------------------------------------------------------------------------------------===//

#include "kilnrt/Numerics/Fold.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "Fold.cpp"
#include "hwy/foreach_target.h" // IWYU pragma: keep

#include "AluOps-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kilnrt {
namespace HWY_NAMESPACE {
namespace {
using kiln::isa::AluOp;

/// Vectors of at most eight lanes: with sixteen, putting the columns together costs more than it
/// gains.
using DFold = hn::CappedTag<float, 8>;
using VFold = hn::Vec<DFold>;
inline constexpr size_t kFoldLanes = hn::MaxLanes(DFold());

/// Groups of kFoldLanes rows folded at a time.
inline constexpr size_t kFoldGroups = 2;

#if HWY_TARGET != HWY_SCALAR
/// Four floats at rows[0], rows[4], rows[8], ... + column, side by side in blocks of 128 bits.
template <class D>
HWY_INLINE hn::Vec<D> loadBlocks(D d, const float *const *rows, size_t column) {
  if constexpr (hn::MaxLanes(D()) == 4) {
    return hn::LoadU(d, rows[0] + column);
  } else {
    const hn::Half<D> half;
    return hn::Combine(d, loadBlocks(half, rows + hn::MaxLanes(D()) / 2, column),
                       loadBlocks(half, rows, column));
  }
}

/// Folds four columns of Lanes rows into acc, left to right.
template <class Op>
HWY_INLINE VFold foldFourColumns(VFold acc, const float *const *rows, size_t column) {
  const DFold d;
  const VFold r0 = loadBlocks(d, rows, column), r1 = loadBlocks(d, rows + 1, column);
  const VFold r2 = loadBlocks(d, rows + 2, column), r3 = loadBlocks(d, rows + 3, column);
  const VFold even0 = hn::InterleaveLower(d, r0, r2), odd0 = hn::InterleaveLower(d, r1, r3);
  const VFold even1 = hn::InterleaveUpper(d, r0, r2), odd1 = hn::InterleaveUpper(d, r1, r3);
  acc = Op::apply(acc, hn::InterleaveLower(d, even0, odd0));
  acc = Op::apply(acc, hn::InterleaveUpper(d, even0, odd0));
  acc = Op::apply(acc, hn::InterleaveLower(d, even1, odd1));
  return Op::apply(acc, hn::InterleaveUpper(d, even1, odd1));
}
#endif

/// Folds column `column` of Lanes rows into acc.
template <class Op>
HWY_INLINE VFold foldColumn(VFold acc, const float *const *rows, size_t column) {
  const DFold d;
  HWY_ALIGN float lanes[kFoldLanes];
  for (size_t i = 0; i < hn::Lanes(d); ++i)
    lanes[i] = rows[i][column];
  return Op::apply(acc, hn::Load(d, lanes));
}

/// Folds kFoldGroups * Lanes rows; acc has room for that many.
template <class Op>
HWY_INLINE void foldBatch(const float *const *rows, size_t n, float *acc) {
  const DFold d;
  const size_t lanes = hn::Lanes(d);
  VFold first = hn::Load(d, acc), second = hn::Load(d, acc + lanes);
  size_t column = 0;
#if HWY_TARGET != HWY_SCALAR
  for (; column + 4 <= n; column += 4) {
    first = foldFourColumns<Op>(first, rows, column);
    second = foldFourColumns<Op>(second, rows + lanes, column);
  }
#endif
  for (; column < n; ++column) {
    first = foldColumn<Op>(first, rows, column);
    second = foldColumn<Op>(second, rows + lanes, column);
  }
  hn::Store(canonicalF(first), d, acc);
  hn::Store(canonicalF(second), d, acc + lanes);
}

template <class Op>
HWY_INLINE void foldAll(const float *data, ptrdiff_t rowStride, size_t rows, size_t n, float *acc) {
  const size_t batch = kFoldGroups * hn::Lanes(DFold());
  for (size_t r = 0; r < rows; r += batch) {
    const size_t count = rows - r < batch ? rows - r : batch;
    const float *pointers[kFoldGroups * kFoldLanes];
    HWY_ALIGN float sums[kFoldGroups * kFoldLanes];
    for (size_t i = 0; i < batch; ++i) {
      // Missing rows repeat the last one; their sums are dropped.
      const size_t row = r + (i < count ? i : count - 1);
      pointers[i] = data + ptrdiff_t(row) * rowStride;
      sums[i] = acc[row];
    }
    foldBatch<Op>(pointers, n, sums);
    for (size_t i = 0; i < count; ++i)
      acc[r + i] = sums[i];
  }
}

void fold(AluOp op, const float *data, ptrdiff_t rowStride, size_t rows, size_t n, float *acc) {
  switch (op) {
#define KILNRT_FOLD_CASE(name)                                                                     \
  case AluOp::name:                                                                                \
    return foldAll<op::name>(data, rowStride, rows, n, acc);
    KILNRT_FOLD_CASE(Add)
    KILNRT_FOLD_CASE(Subtract)
    KILNRT_FOLD_CASE(Multiply)
    KILNRT_FOLD_CASE(Maximum)
    KILNRT_FOLD_CASE(Minimum)
    KILNRT_FOLD_CASE(LogicalAnd)
    KILNRT_FOLD_CASE(LogicalOr)
    KILNRT_FOLD_CASE(LogicalXor)
#undef KILNRT_FOLD_CASE
  default:
    break;
  }
}

} // namespace
} // namespace HWY_NAMESPACE
} // namespace kilnrt
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <cassert>

namespace kilnrt {
HWY_EXPORT(fold);

float foldIdentity(kiln::isa::AluOp op) {
  switch (op) {
  case kiln::isa::AluOp::Multiply:
  case kiln::isa::AluOp::LogicalAnd:
    return 1.0f;
  case kiln::isa::AluOp::Maximum:
    return -__builtin_inff();
  case kiln::isa::AluOp::Minimum:
    return __builtin_inff();
  default:
    return 0.0f;
  }
}

void foldRows(kiln::isa::AluOp op, const float *data, ptrdiff_t rowStride, size_t rows, size_t n,
              float *acc) {
  assert(kiln::isa::info(op).isReduction && !kiln::isa::info(op).isBitvec &&
         "not a fold of floats");
  if (n != 0)
    HWY_DYNAMIC_DISPATCH(fold)(op, data, rowStride, rows, n, acc);
}
} // namespace kilnrt
#endif // HWY_ONCE
