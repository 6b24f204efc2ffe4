//===- Statistics.cpp - max8, bn_stats, bn_aggr -----------------------------------------------===//
//
// A few numbers from each row. Sums run from left to right in fp32.
//
//===------------------------------------------------------------------------------------------===//

#include "FloatStream.h"
#include "kilnrt/Numerics/Convert.h"
#include "kilnrt/Semantics/Rows.h"

#include <algorithm>
#include <array>
#include <limits>
#include <vector>

using namespace kilnrt;

//---- max8 ---------------------------------------------------------------===//

/// a > b, with NaN above everything else.
static bool ranksAbove(float a, float b) { return a != a ? b == b : a > b; }

/// Keeps `largest` the first `count` of all values seen, in rank order.
static void insertRanked(float value, int64_t seen, std::vector<float> &largest) {
  const int64_t count = int64_t(largest.size());
  int64_t slot = std::min(seen, count);
  if (slot == count && !ranksAbove(value, largest[size_t(--slot)]))
    return;
  for (; slot > 0 && ranksAbove(value, largest[size_t(slot - 1)]); --slot)
    largest[size_t(slot)] = largest[size_t(slot - 1)];
  largest[size_t(slot)] = value;
}

void kilnrt::max8(const ConstTile &src, const Tile &dst) {
  std::vector<float> row(size_t(src.elements)), largest(size_t(dst.elements));
  FloatReader reader(src);
  FloatWriter writer(dst);
  for (uint32_t r = 0; r < src.rows; ++r) {
    const float *values = reader.read(row.data(), src.elements);
    for (int64_t i = 0; i < src.elements; ++i)
      insertRanked(values[i], i, largest);
    writer.write(largest.data(), dst.elements);
  }
}

//---- bn_stats -----------------------------------------------------------===//

/// Count, mean and squared deviations of every second value from `first` on.
static std::array<float, 3> statisticsOf(const float *values, int64_t first, int64_t end) {
  if (first >= end)
    return {0, 0, 0};
  const float count = float((end - first + 1) / 2);
  float sum = 0;
  for (int64_t i = first; i < end; i += 2)
    sum += values[i];
  const float mean = sum / count;
  float squares = 0;
  for (int64_t i = first; i < end; i += 2) {
    const float deviation = values[i] - mean;
    squares += deviation * deviation;
  }
  return {count, canonicalNan(mean), canonicalNan(squares)};
}

void kilnrt::bnStats(const ConstTile &data, const Tile &dst) {
  std::vector<float> row(size_t(data.elements));
  FloatReader reader(data);
  FloatWriter writer(dst);
  for (uint32_t r = 0; r < data.rows; ++r) {
    const float *values = reader.read(row.data(), data.elements);
    // Both before either is written: dst may be data.
    const std::array<float, 3> even = statisticsOf(values, 0, data.elements);
    const std::array<float, 3> odd = statisticsOf(values, 1, data.elements);
    writer.write(even.data(), int64_t(even.size()));
    writer.write(odd.data(), int64_t(odd.size()));
  }
}

//---- bn_aggr ------------------------------------------------------------===//

/// Mean and variance of `count` triples (count, mean, squared deviations).
static std::array<float, 2> join(const float *triples, int64_t count) {
  float total = 0, weighted = 0, within = 0, between = 0;
  for (int64_t i = 0; i < count; ++i) {
    total += triples[3 * i];
    weighted += triples[3 * i] * triples[3 * i + 1];
  }
  // Counts that cancel count nothing either, whatever their means add up to.
  const float mean = total == 0 ? std::numeric_limits<float>::quiet_NaN() : weighted / total;
  for (int64_t i = 0; i < count; ++i) {
    const float deviation = triples[3 * i + 1] - mean;
    within += triples[3 * i + 2];
    between += triples[3 * i] * (deviation * deviation);
  }
  return {canonicalNan(mean), canonicalNan((within + between) / total)};
}

void kilnrt::bnAggr(const ConstTile &data, const Tile &dst) {
  std::vector<float> row(size_t(data.elements));
  FloatReader reader(data);
  FloatWriter writer(dst);
  for (uint32_t r = 0; r < data.rows; ++r)
    writer.write(join(reader.read(row.data(), data.elements), data.elements / 3).data(), 2);
}
