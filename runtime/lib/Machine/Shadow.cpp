//===- Shadow.cpp - bit sets over partitioned and linear memory -------------------------------===//
//
// The column loops carry no branch, so that compilers turn each into a few
// vector instructions a column.
//
//===------------------------------------------------------------------------------------------===//

#include "kilnrt/Machine/Shadow.h"

#include <algorithm>

using namespace kilnrt;

PartitionMask PartitionMask::range(uint32_t first, uint32_t count) {
  PartitionMask mask;
  for (unsigned w = 0; w < kMaskWords; ++w) {
    uint32_t begin = std::clamp(first, w * 64, w * 64 + 64) - w * 64;
    uint32_t end = std::clamp(first + count, w * 64, w * 64 + 64) - w * 64;
    uint64_t below = end == 64 ? ~uint64_t{0} : (uint64_t{1} << end) - 1;
    if (begin < end)
      mask.words[w] = below & ~((uint64_t{1} << begin) - 1);
  }
  return mask;
}

ColumnBits::ColumnBits(int64_t columns) : bits(columns) {}

void ColumnBits::set(const PartitionMask &mask, int64_t first, int64_t count) {
  const auto words = mask.words;
  for (Column *c = bits.data() + first, *end = c + count; c != end; ++c)
    for (unsigned w = 0; w < kMaskWords; ++w)
      (*c)[w] |= words[w];
}

void ColumnBits::clear(const PartitionMask &mask, int64_t first, int64_t count) {
  const auto words = mask.words;
  for (Column *c = bits.data() + first, *end = c + count; c != end; ++c)
    for (unsigned w = 0; w < kMaskWords; ++w)
      (*c)[w] &= ~words[w];
}

bool ColumnBits::all(const PartitionMask &mask, int64_t first, int64_t count) const {
  Column common;
  common.fill(~uint64_t{0});
  for (const Column *c = bits.data() + first, *end = c + count; c != end; ++c)
    for (unsigned w = 0; w < kMaskWords; ++w)
      common[w] &= (*c)[w];
  for (unsigned w = 0; w < kMaskWords; ++w)
    if (mask.words[w] & ~common[w])
      return false;
  return true;
}

bool ColumnBits::any(const PartitionMask &mask, int64_t first, int64_t count) const {
  Column found{};
  for (const Column *c = bits.data() + first, *end = c + count; c != end; ++c)
    for (unsigned w = 0; w < kMaskWords; ++w)
      found[w] |= (*c)[w];
  for (unsigned w = 0; w < kMaskWords; ++w)
    if (mask.words[w] & found[w])
      return true;
  return false;
}

/// The bits of word `word` that lie in [first, first + count).
static uint64_t wordMask(int64_t word, int64_t first, int64_t count) {
  int64_t begin = std::max<int64_t>(first - word * 64, 0);
  int64_t end = std::min<int64_t>(first + count - word * 64, 64);
  uint64_t below = end == 64 ? ~uint64_t{0} : (uint64_t{1} << end) - 1;
  return below & ~((uint64_t{1} << begin) - 1);
}

void LinearBits::set(int64_t first, int64_t count) {
  if (count <= 0)
    return;
  int64_t low = first / 64, high = (first + count - 1) / 64;
  words[low] |= wordMask(low, first, count);
  if (low == high)
    return;
  std::fill(words.begin() + low + 1, words.begin() + high, ~uint64_t{0});
  words[high] |= wordMask(high, first, count);
}

bool LinearBits::all(int64_t first, int64_t count) const {
  if (count <= 0)
    return true;
  int64_t low = first / 64, high = (first + count - 1) / 64;
  uint64_t missing = wordMask(low, first, count) & ~words[low];
  if (low == high)
    return !missing;
  missing |= wordMask(high, first, count) & ~words[high];
  for (int64_t w = low + 1; w < high; ++w)
    missing |= ~words[w];
  return !missing;
}
