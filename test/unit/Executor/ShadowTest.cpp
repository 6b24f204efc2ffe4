//===- ShadowTest.cpp - bit sets over memory --------------------------------------------------===//

#include "kilnrt/Machine/Shadow.h"

#include <gtest/gtest.h>

using namespace kilnrt;

TEST(PartitionMask, HoldsExactlyTheRangeAcrossItsWords) {
  for (auto [first, count] : {std::pair{0u, 1u},
                              {63u, 2u},
                              {64u, 64u},
                              {5u, 120u},
                              {127u, 1u},
                              {0u, 128u},
                              {0u, 64u},
                              {17u, 0u}}) {
    const PartitionMask mask = PartitionMask::range(first, count);
    for (uint32_t p = 0; p < 128; ++p)
      EXPECT_EQ(mask.words[p / 64] >> (p % 64) & 1, p >= first && p < first + count)
          << first << "+" << count << " at " << p;
  }
}

TEST(ColumnBits, SetAndClearTouchOnlyTheirRectangle) {
  ColumnBits bits(10);

  bits.set(PartitionMask::range(60, 10), 3, 4);

  for (uint32_t p = 0; p < 128; ++p)
    for (int64_t c = 0; c < 10; ++c)
      ASSERT_EQ(bits.get(p, c), p >= 60 && p < 70 && c >= 3 && c < 7) << p << " " << c;
  EXPECT_TRUE(bits.all(PartitionMask::range(60, 10), 3, 4));
  EXPECT_FALSE(bits.all(PartitionMask::range(59, 11), 3, 4));
  EXPECT_FALSE(bits.all(PartitionMask::range(60, 11), 3, 4));
  EXPECT_FALSE(bits.all(PartitionMask::range(60, 10), 2, 5));
  EXPECT_FALSE(bits.all(PartitionMask::range(60, 10), 3, 5));
  EXPECT_TRUE(bits.any(PartitionMask::range(69, 20), 6, 4));
  EXPECT_FALSE(bits.any(PartitionMask::range(70, 20), 0, 10));
  EXPECT_FALSE(bits.any(PartitionMask::range(0, 128), 7, 3));

  bits.clear(PartitionMask::range(64, 1), 5, 1);

  EXPECT_FALSE(bits.all(PartitionMask::range(60, 10), 3, 4));
  EXPECT_TRUE(bits.all(PartitionMask::range(60, 4), 3, 4));
  EXPECT_FALSE(bits.get(64, 5));
  EXPECT_TRUE(bits.get(65, 5));
}

TEST(LinearBits, RangesMeetWordBordersExactly) {
  for (auto [first, count] : {std::pair{0, 1}, {63, 1}, {63, 2}, {64, 64}, {1, 190}, {130, 70}}) {
    LinearBits bits(200);
    bits.set(first, count);
    for (int64_t i = 0; i < 200; ++i)
      ASSERT_EQ(bits.get(i), i >= first && i < first + count) << first << "+" << count;
    EXPECT_TRUE(bits.all(first, count));
    if (first > 0) {
      EXPECT_FALSE(bits.all(first - 1, count + 1));
    }
    if (first + count < 200) {
      EXPECT_FALSE(bits.all(first, count + 1));
    }
  }
}
