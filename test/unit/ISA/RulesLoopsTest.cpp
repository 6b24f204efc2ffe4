//===- RulesLoopsTest.cpp - rules that hold in every iteration --------------------------------===//

#include "RulesTestSupport.h"

namespace kiln::isa::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

//---- the first and the last iteration -----------------------------------===//

Case movingCopy(std::vector<int64_t> trips, std::vector<int64_t> steps, int64_t offset = 0) {
  Case c = copy().with("src", "x", sbuf, f32, {96, 400}).inLoops(std::move(trips));
  c.access("src").num[0] = 40;
  c.access("src").offset = offset;
  return c.moving("src", std::move(steps));
}

TEST(RulesLoops, BoundsHoldInTheOuterIterations) {
  EXPECT_THAT(movingCopy({10}, {40}).faults(), IsEmpty());
  EXPECT_THAT(movingCopy({11}, {40}).faults(),
              ElementsAre("V-11: src 'x' reaches element 439, a partition of the tile holds 400 "
                          "float32 (0 to 399) | clip the access to the extent of the tensor"));
  EXPECT_THAT(movingCopy({10}, {-40}, 360).faults(), IsEmpty());
  EXPECT_THAT(movingCopy({11}, {-40}, 360).faults(),
              ElementsAre("V-11: src 'x' reaches element -40, a partition of the tile starts at "
                          "element 0 | clip the access to the extent of the tensor"));
  // Far out in one loop only while the other is near the start.
  EXPECT_THAT(movingCopy({4, 4}, {100, -100}, 0).faults(),
              ElementsAre("V-11: src 'x' reaches element -300, a partition of the tile starts at "
                          "element 0 | clip the access to the extent of the tensor"));
  EXPECT_THAT(movingCopy({1, 4}, {1000, 120}).faults(), IsEmpty());
}

TEST(RulesLoops, StepsNeedTheirLoops) {
  EXPECT_THAT(movingCopy({}, {0}).faults(), IsEmpty());
  EXPECT_THAT(movingCopy({}, {1}).faults(),
              ElementsAre("X-06: src 'x' moves with 1 loop, there are 0 around it"));
  EXPECT_THAT(movingCopy({2}, {0, 0, 1}).faults(),
              ElementsAre("X-06: src 'x' moves with 3 loops, there is 1 around it"));
  for (int64_t step : {INT64_MAX, INT64_MIN})
    EXPECT_THAT(movingCopy({3}, {step}).faults(),
                ElementsAre("V-11: the loops move src 'x' by more than 2^63 - 1 elements"));
}

//---- banks --------------------------------------------------------------===//

Case movingMatmul(std::vector<int64_t> trips, std::vector<int64_t> steps) {
  Case c = matmul(32, 64, 256).with("dst", "acc", psum, f32, {64, 1024});
  c.access("dst").num[0] = 256;
  return c.inLoops(std::move(trips)).moving("dst", std::move(steps));
}

TEST(RulesLoops, BanksAreNotCrossedInBetween) {
  EXPECT_THAT(movingMatmul({4}, {256}).faults(), IsEmpty());
  EXPECT_THAT(movingMatmul({2}, {512}).faults(), IsEmpty());
  EXPECT_THAT(movingMatmul({257}, {1}).faults(), IsEmpty());
  // 0 and 768 lie in one bank each, 384 does not.
  const std::string crossing =
      "S-03: dst 'acc' covers bytes 1536 to 2559 of each partition, which cross the PSUM bank "
      "boundary at 2048 | start at a multiple of 512 elements, or split the columns at element 512";
  EXPECT_THAT(movingMatmul({3}, {384}).faults(), ElementsAre(crossing));
  EXPECT_THAT(movingMatmul({2, 2}, {384, 384}).faults(), ElementsAre(crossing));
}

//---- transfers inside one tensor ----------------------------------------===//

/// Moves 8 elements of a 1000-element tensor to another place of it.
Case within(int64_t from, int64_t fromStep, int64_t toStep, int64_t trips) {
  Case c = Case(Opcode::DmaCopy)
               .with("dst", "h", hbm, f32, {1, 1000000})
               .with("src", "h", hbm, f32, {1, 1000000})
               .inLoops({trips});
  for (auto role : {"dst", "src"}) {
    c.access(role).tensor = 0;
    c.access(role).rowStep = 0;
    c.access(role).num[0] = 8;
  }
  c.access("src").offset = from;
  return c.moving("dst", {toStep}).moving("src", {fromStep});
}

TEST(RulesLoops, SidesOfATransferDoNotMeetOnTheWay) {
  const std::string help =
      " | copy to a second tensor first, or split the transfer so that no part reads what it "
      "writes";
  const std::string overlap =
      "V-09: dst 'h' and src overlap in one tensor: a transfer's 16 engines "
      "move their shares in no order" +
      help;
  EXPECT_THAT(within(8, 8, 8, 100).faults(), IsEmpty()) << "always side by side";
  EXPECT_THAT(within(4, 8, 8, 100).faults(), ElementsAre(overlap));
  // Towards each other: past each other between two iterations, onto each other, half over.
  EXPECT_THAT(within(72, -8, 8, 10).faults(), IsEmpty());
  EXPECT_THAT(within(64, -8, 8, 9).faults(), IsEmpty()) << "the same elements are read first";
  EXPECT_THAT(within(68, -8, 8, 9).faults(), ElementsAre(overlap));
  // So long a way is not walked; apart all along is seen at once.
  EXPECT_THAT(within(100000, -8, 8, 5000).faults(), IsEmpty());
  EXPECT_THAT(within(50000, -8, 8, 5000).faults(),
              ElementsAre("V-09: dst and src of dma_copy move differently through one tensor, and "
                          "at most 4096 can be checked one by one | let both sides move alike, or "
                          "copy to a second tensor first"));
  EXPECT_THAT(within(50000, 8, 8, 5000).faults(), IsEmpty());
}

} // namespace
} // namespace kiln::isa::test
