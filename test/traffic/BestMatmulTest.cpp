//===- BestMatmulTest.cpp - the count of a blocked matmul's traffic ---------------------------===//

#include "BestMatmul.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <algorithm>
#include <random>

using namespace kiln::test;

namespace {

// Formula and walk agree on every order, level and space left, with ragged last blocks. Where loops
// turn they are equal; where K is repeated a walk may have one tile more of each pass.
TEST(BestMatmul, CountsWhatTheLoopsMove) {
  constexpr unsigned kSeed = 7;
  std::mt19937 random(kSeed);
  const auto below = [&](unsigned n) { return int64_t(random() % n); };
  int repeated = 0, equal = 0;
  for (int i = 0; i < 2000; ++i) {
    MatmulShape shape;
    Blocking blocking;
    for (Dim d : {M, K, N}) {
      shape.extent[d] = 1 + below(20);
      blocking.block[d] =
          1 + std::max<int64_t>(shape.extent[d] / 6, below(unsigned(shape.extent[d])));
    }
    shape.bytes = i % 2 ? 2 : 4;
    for (int64_t turns = below(6); turns > 0; --turns)
      std::next_permutation(blocking.order.begin(), blocking.order.end());
    for (Operand o : {A, B, C})
      blocking.level[o] = unsigned(below(4));
    const Spare spare{{below(3) == 0 ? 0 : below(500), below(3) == 0 ? 0 : below(500)}};
    const int64_t walked = walkedTraffic(shape, blocking, spare);
    repeated += walked > walkedTraffic(shape, {}, {{1 << 20, 1 << 20}});
    const int64_t counted = trafficOf(shape, blocking, spare);
    const bool kTurns = blocking.block[K] == shape.extent[K] || blocking.order[0] == K;
    equal += counted == walked;
    ASSERT_TRUE(kTurns ? counted == walked : counted >= walked)
        << counted << ", walked " << walked << ": " << shape.extent[0] << "x" << shape.extent[1]
        << "x" << shape.extent[2] << ", seed " << kSeed << ", case " << i << ": "
        << toText({0, 0, blocking, spare});
  }
  EXPECT_GT(equal, 1500);
  EXPECT_GT(repeated, 200);
}

// m outermost by 2 blocks of 4, A stays; B[6, 10] comes twice. 4 bytes an element.
TEST(BestMatmul, CountsByHand) {
  const MatmulShape shape{{8, 6, 10}, 4};
  const Blocking blocking{{M, N, K}, {4, 6, 5}, {1, 2, 2}};
  const int64_t once = 4 * (8 * 6 + 6 * 10 + 8 * 10);
  // At the turn the block B[6, 5] is there already.
  EXPECT_EQ(trafficOf(shape, blocking, {}), once + 4 * (6 * 5));
  // Partial sums of two blocks of K, outermost: C[8, 10] but its last block is written and read.
  const Blocking sums{{K, M, N}, {4, 3, 5}, {2, 3, 3}};
  EXPECT_EQ(trafficOf(shape, sums, {}), once + 2 * 4 * (8 * 10 - 4 * 5) + 4 * (6 * 10 - 2 * 3 * 5));
}

TEST(BestMatmul, KeepsWhatFits) {
  // Three rows of blocks of 128 of A's K, columns of M: 3 * 300 elements; B 3 * 200; a tile of C.
  const MatmulShape shape{{300, 384, 200}, 2};
  EXPECT_EQ(residentBytes(shape, {{M, N, K}, {300, 384, 200}, {0, 0, 0}}),
            2 * (3 * 300 + 3 * 200 + 200));
  // Sums of blocks along K: 3 rows of tiles of 200 columns fit PSUM.
  EXPECT_EQ(residentBytes(shape, {{K, M, N}, {300, 128, 200}, {1, 1, 0}}), 2 * (300 + 200 + 200));
  // 9 rows of tiles of 513 columns do not, nor do 5 of 1100: they lie in SBUF as float32.
  EXPECT_EQ(residentBytes({{1100, 384, 513}, 2}, {{K, M, N}, {1100, 128, 513}, {1, 1, 0}}),
            2 * (1100 + 513 + 512) + 4 * 9 * 513);
}

TEST(BestMatmul, FindsCompulsoryTrafficWhenAllFits) {
  const MatmulShape shape{{300, 384, 200}, 2};
  EXPECT_EQ(bestMatmul(shape, {6000}).traffic, 2 * (300 * 384 + 384 * 200 + 300 * 200));
}

} // namespace
