//===- Select.cpp - affine_select, tensor_copy_predicated -------------------------------------===//
//
// Both work row by row on bits of dst's dtype: what is selected is known before a value is looked
// at, so a NaN that is not selected has no part in the result.
//
//===------------------------------------------------------------------------------------------===//

#include "kilnrt/Semantics/Select.h"

#include "BitStream.h"
#include "FloatStream.h"
#include "GenerateSupport.h"
#include "kilnrt/Numerics/Convert.h"
#include "kilnrt/Semantics/Rows.h"

#include <cassert>
#include <vector>

using namespace kilnrt;
using kiln::isa::AluOp;

namespace {

/// The elements of a tile, row by row, as the bits of another dtype.
class ConvertingReader {
public:
  ConvertingReader(const ConstTile &tile, DType as)
      : as(as), elements(tile.elements), bits(tile), floats(tile), row(size_t(tile.elements)),
        isSame(tile.dtype == as) {}

  /// The next row, in `out`.
  void read(std::byte *out) {
    if (!isSame) {
      storeRow(as, floats.read(row.data(), elements), out, kiln::isa::bytesOf(as),
               size_t(elements));
      return;
    }
    const std::byte *found = bits.read(out, elements);
    if (found != out)
      std::memcpy(out, found, size_t(elements * kiln::isa::bytesOf(as)));
  }

private:
  DType as;
  int64_t elements;
  BitReader bits;
  FloatReader floats;
  std::vector<float> row;
  bool isSame;
};

bool compare(AluOp op, int32_t x) {
  switch (op) {
  case AluOp::Equal:
    return x == 0;
  case AluOp::NotEqual:
    return x != 0;
  case AluOp::GreaterEqual:
    return x >= 0;
  case AluOp::Greater:
    return x > 0;
  case AluOp::LessEqual:
    return x <= 0;
  case AluOp::Less:
    return x < 0;
  default:
    assert(false && "no comparison");
    return false;
  }
}

} // namespace

//---- affine_select ------------------------------------------------------===//

void kilnrt::affineSelect(const std::array<int32_t, 8> &pattern, int32_t channelMultiplier,
                          float onFalseValue, AluOp cmpOp, int32_t offset,
                          const ConstTile &onTrueTile, const Tile &dst) {
  const std::vector<uint32_t> values = patternValues(pattern, dst.elements);
  const size_t width = size_t(dst.elementBytes());
  const uint32_t onFalse = encodeValue(dst.dtype, onFalseValue);
  std::vector<std::byte> row(size_t(dst.elements) * width);
  ConvertingReader reader(onTrueTile, dst.dtype);
  BitWriter writer(dst);
  for (uint32_t p = 0; p < dst.rows; ++p) {
    const uint32_t start = uint32_t(offset) + p * uint32_t(channelMultiplier);
    reader.read(row.data());
    for (size_t f = 0; f < values.size(); ++f)
      if (!compare(cmpOp, int32_t(start + values[f])))
        std::memcpy(row.data() + f * width, &onFalse, width);
    writer.write(row.data(), dst.elements);
  }
}

//---- tensor_copy_predicated ---------------------------------------------===//

std::vector<bool> kilnrt::selectedElements(const ConstTile &predicate, bool isReversed) {
  std::vector<bool> selected;
  selected.reserve(size_t(predicate.rows) * size_t(predicate.elements));
  for (uint32_t r = 0; r < predicate.rows; ++r)
    forEachRun(predicate, predicate.row(r), [&](const std::byte *at, int64_t n, int64_t step) {
      for (int64_t i = 0; i < n; ++i)
        selected.push_back((loadInteger(predicate.dtype, at + i * step) != 0) != isReversed);
    });
  return selected;
}

void kilnrt::copySelected(const std::vector<bool> &selected, const ConstTile *src, double value,
                          const Tile &dst) {
  const size_t width = size_t(dst.elementBytes());
  const uint32_t bits = src ? 0 : encodeValue(dst.dtype, value);
  std::vector<std::byte> row(size_t(dst.elements) * width);
  size_t next = 0;
  for (uint32_t r = 0; r < dst.rows; ++r) {
    if (src) {
      BitReader reader(rowOf(*src, r));
      const std::byte *found = reader.read(row.data(), dst.elements);
      if (found != row.data())
        std::memcpy(row.data(), found, row.size());
    }
    const std::byte *from = src ? row.data() : reinterpret_cast<const std::byte *>(&bits);
    forEachRun(dst, dst.row(r), [&](std::byte *at, int64_t n, int64_t step) {
      for (int64_t i = 0; i < n; ++i, ++next) {
        if (selected[next])
          std::memcpy(at + i * step, from, width);
        from += src ? width : 0;
      }
    });
  }
}
