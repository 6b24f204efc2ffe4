//===- ByteSetTest.cpp - bytes as rectangles and as elements ----------------------------------===//

#include "kilnrt/Machine/ByteSet.h"

#include <gtest/gtest.h>

#include <set>

using namespace kilnrt;

namespace {

using Intervals = std::vector<ByteInterval>;

std::string boxText(const ElementBox &box) {
  std::string text = std::to_string(box.elements) + (box.isExact ? " fill" : " within");
  for (size_t d = 0; d < box.first.size(); ++d)
    text += " " + std::to_string(box.first[d]) + ".." + std::to_string(box.last[d]);
  return text;
}

/// Set of the bytes of `rows`, one list for each partition from `first` on.
ByteSet setOf(uint32_t first, const std::vector<Intervals> &rows) {
  ByteSet set;
  for (const Intervals &row : rows)
    set.add(first++, row);
  return set;
}

} // namespace

TEST(ByteSet, MergesWhatOverlapsOrTouchesInAnyOrder) {
  EXPECT_EQ(merged({{8, 12}, {0, 4}, {4, 6}, {10, 11}, {20, 20}, {11, 13}}),
            (Intervals{{0, 6}, {8, 13}}));
  EXPECT_EQ(merged({}), Intervals());
}

TEST(ByteSet, EqualNeighboursAreOneRectangle) {
  const ByteSet set = setOf(3, {{{0, 4}}, {{0, 4}}, {}, {{0, 4}}, {{0, 8}}});
  EXPECT_EQ(set.rectangles(), (std::vector<ByteRectangle>{
                                  {3, 2, 0, 4, 0, 1}, {6, 1, 0, 4, 0, 1}, {7, 1, 0, 8, 0, 1}}));
  EXPECT_EQ(set.bytes(), 20);
}

TEST(ByteSet, ThreeRunsAtOneDistanceAreOneRectangleAndTwoAreNot) {
  EXPECT_EQ(
      setOf(0, {{{0, 2}, {8, 10}, {16, 18}, {24, 26}, {40, 44}, {48, 50}}}).rectangles(),
      (std::vector<ByteRectangle>{{0, 1, 0, 2, 8, 4}, {0, 1, 40, 4, 0, 1}, {0, 1, 48, 2, 0, 1}}));
  EXPECT_EQ(setOf(0, {{{0, 2}, {8, 10}}}).rectangles(),
            (std::vector<ByteRectangle>{{0, 1, 0, 2, 0, 1}, {0, 1, 8, 2, 0, 1}}));
}

TEST(ByteSet, ElementsThatFillABoxSaySo) {
  const std::vector<int64_t> shape = {64, 4, 16};
  // Columns 13 to 15 of row 2, 2 bytes each: 45 to 47 of a partition.
  EXPECT_EQ(boxText(setOf(32, {{{90, 96}}, {{90, 96}}}).elements(shape, 2, true)),
            "6 fill 32..33 2..2 13..15");
  // Rows 1 and 2 as a whole are one run.
  EXPECT_EQ(boxText(setOf(0, {{{32, 96}}}).elements(shape, 2, true)), "32 fill 0..0 1..2 0..15");
  // From the end of one row to the begin of the next.
  EXPECT_EQ(boxText(setOf(0, {{{28, 36}}}).elements(shape, 2, true)), "4 within 0..0 0..1 0..15");
  EXPECT_EQ(boxText(setOf(5, {{{0, 2}}, {{2, 4}}}).elements(shape, 2, true)),
            "2 within 5..6 0..0 0..1");
}

TEST(ByteSet, AnElementCountsOnceHoweverManyOfItsBytesAreMeant) {
  const std::vector<int64_t> shape = {1, 4};
  EXPECT_EQ(boxText(setOf(0, {{{1, 2}, {3, 5}}}).elements(shape, 4, true)), "2 fill 0..0 0..1");
}

TEST(ByteSet, HbmHasAllDimsInOnePartition) {
  const std::vector<int64_t> shape = {6, 5};
  EXPECT_EQ(boxText(setOf(0, {{{80, 100}}}).elements(shape, 4, false)), "5 fill 4..4 0..4");
  EXPECT_EQ(boxText(setOf(0, {{{12, 16}, {32, 36}, {52, 56}}}).elements(shape, 4, false)),
            "3 fill 0..2 3..3");
}

TEST(ByteSet, BoxesHoldExactlyWhatASetOfElementsSays) {
  uint32_t state = 7;
  const auto random = [&](uint32_t bound) {
    state = state * 1664525 + 1013904223;
    return (state >> 8) % bound;
  };
  for (int round = 0; round < 500; ++round) {
    const std::vector<int64_t> shape = {1 + random(3), 1 + random(3), 1 + random(4)};
    const int64_t count = shape[0] * shape[1] * shape[2];
    Intervals bytes;
    for (uint32_t i = 0; i <= random(4); ++i) {
      const int64_t first = random(uint32_t(2 * count));
      bytes.push_back({first, std::min<int64_t>(2 * count, first + 1 + random(9))});
    }
    bytes = merged(bytes);
    std::set<int64_t> elements;
    for (const ByteInterval &i : bytes)
      for (int64_t b = i.first; b < i.end; ++b)
        elements.insert(b / 2);
    ElementBox expected{shape, {-1, -1, -1}, int64_t(elements.size()), false};
    for (int64_t e : elements) {
      const int64_t index[] = {e / (shape[1] * shape[2]), e / shape[2] % shape[1], e % shape[2]};
      for (int d = 0; d < 3; ++d) {
        expected.first[d] = std::min(expected.first[d], index[d]);
        expected.last[d] = std::max(expected.last[d], index[d]);
      }
    }
    int64_t volume = 1;
    for (int d = 0; d < 3; ++d)
      volume *= expected.last[d] - expected.first[d] + 1;
    expected.isExact = volume == expected.elements;

    EXPECT_EQ(boxText(setOf(0, {bytes}).elements(shape, 2, false)), boxText(expected))
        << "round " << round;
  }
}
