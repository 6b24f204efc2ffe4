//===- Reduce.cpp - folds along the free dimensions -------------------------------------------===//
//
// All folds of a block run side by side; each is left to right in itself.
//
//===------------------------------------------------------------------------------------------===//

#include "kilnrt/Semantics/Reduce.h"

#include "BitStream.h"
#include "FloatStream.h"
#include "kilnrt/Numerics/Fold.h"
#include "kilnrt/Semantics/Rows.h"

#include <vector>

using namespace kilnrt;

/// Folds `groups` groups of `n` floats, `stride` apart, into acc from the start.
static void foldGroups(AluOp op, const float *data, int64_t stride, int64_t groups, int64_t n,
                       float *acc) {
  if (op == AluOp::Subtract) {
    for (int64_t g = 0; g < groups; ++g)
      acc[g] = canonicalNan(data[g * stride]);
    foldRows(op, data + 1, stride, size_t(groups), size_t(n - 1), acc);
    return;
  }
  std::fill(acc, acc + groups, foldIdentity(op));
  foldRows(op, data, stride, size_t(groups), size_t(n), acc);
}

/// Elements a block of rows may have: what is loaded at once.
static constexpr int64_t kBlockElements = 16384;

void kilnrt::tensorReduce(AluOp op, const ConstTile &data, int64_t groupElements, bool isNegated,
                          const Tile &dst) {
  const int64_t groups = dst.elements; // of a row
  std::vector<float> acc(size_t(dst.rows * groups));
  if (data.dtype == DType::Float32 && data.isContiguous() && groups == 1) {
    foldGroups(op, reinterpret_cast<const float *>(data.base), data.rowStep / 4, data.rows,
               groupElements, acc.data());
  } else {
    const int64_t rowsAtOnce = std::max<int64_t>(1, kBlockElements / data.elements);
    std::vector<float> block(size_t(std::min<int64_t>(rowsAtOnce, data.rows) * data.elements));
    FloatReader reader(data);
    for (int64_t r = 0; r < data.rows; r += rowsAtOnce) {
      const int64_t rows = std::min<int64_t>(rowsAtOnce, data.rows - r);
      const float *values = reader.read(block.data(), rows * data.elements);
      foldGroups(op, values, groupElements, rows * groups, groupElements, acc.data() + r * groups);
    }
  }
  if (isNegated)
    for (float &value : acc)
      value = canonicalNan(-value);
  FloatWriter(dst).write(acc.data(), int64_t(acc.size()));
}

void kilnrt::tensorReduceBits(AluOp op, const ConstTile &data, int64_t groupElements,
                              const Tile &dst) {
  const int64_t groups = dst.elements, width = dst.elementBytes();
  std::vector<std::byte> row(size_t(data.elements * width));
  std::vector<std::byte> folds(size_t(int64_t(dst.rows) * groups * width));
  BitReader reader(data);
  for (int64_t g = 0; g < int64_t(dst.rows) * groups; ++g) {
    const std::byte *values = reader.read(row.data(), groupElements);
    const uint32_t fold = foldBitvec(op, unsigned(width), values, width, size_t(groupElements),
                                     bitvecFoldIdentity(op, unsigned(width)));
    std::memcpy(folds.data() + g * width, &fold, size_t(width));
  }
  BitWriter(dst).write(folds.data(), int64_t(dst.rows) * groups);
}
