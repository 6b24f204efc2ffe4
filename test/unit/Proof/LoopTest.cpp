//===- LoopTest.cpp - accesses that move with loops -------------------------------------------===//

#include "ProofFixture.h"

using namespace kilnrt;
using namespace kilnrt::test;

namespace {

/// A store of 8 elements of y and another one, in no order, in `loops` loops; `first` and `second`
/// are their offsets and steps.
Proof stores(const std::vector<int> &trips, const std::string &first, const std::string &second) {
  std::string begins[2], ends[2];
  int order = 10;
  for (int trip : trips)
    for (std::string &begin : begins)
      begin +=
          "  loop_begin trip_count=" + std::to_string(trip) + " #" + std::to_string(order++) + "\n";
  order = 30;
  for (size_t l = 0; l < trips.size(); ++l)
    for (std::string &end : ends)
      end += "  loop_end #" + std::to_string(order++) + "\n";
  const auto store = [](const std::string &where, const char *source, const char *mode, int order) {
    const size_t space = where.find(' ');
    return "  dma_copy dst=y[" + where.substr(0, space) + ": 1x8" +
           (space == std::string::npos ? "" : " loop" + where.substr(space)) + "] src=" + source +
           "[0+1, 0: 1x8]" + mode + " update s0+=16 @" + std::to_string(order) + " #" +
           std::to_string(order) + "\n";
  };
  return proofOf(".stream scalar\n" + begins[0] + store(first, "a", " dge_mode=hwdge", 20) +
                 ends[0] + ".stream sync\n" + begins[1] + store(second, "b", "", 21) + ends[1]);
}

constexpr const char *kRace = "races refuted, deadlock proven, memory proven\n";

} // namespace

TEST(Loop, AccessesThatMoveAlikeKeepTheirDistance) {
  EXPECT_EQ(reportText(stores({5}, "0 8", "8 8")), kAllProven);
  EXPECT_EQ(answersText(stores({5}, "0 8", "7 8")), kRace);
}

/// Iterations are ordered by the edge between them: what the first writes now, the second may
/// write in the next one.
TEST(Loop, AccessesOfDifferentIterationsMayMeet) {
  EXPECT_EQ(reportText(stores({5}, "8 8", "0 8")), kAllProven);
}

/// One stays, one comes: they meet in the last iteration or, one iteration shorter, never.
TEST(Loop, AccessesThatMeetInTheLastIteration) {
  EXPECT_EQ(reportText(stores({10}, "100", "20 8")), kAllProven); // 92 to 99 at the end
  EXPECT_EQ(reportText(stores({11}, "100", "20 8")),
            R"(races refuted, deadlock proven, memory proven

race X-08: race: dma_copy writes 'y' and dma_copy writes 'y', in no order @ kernel.cpp:21
help: wait for semaphore 0 >= 16 at instruction 1 of the sync stream or before it
note: instruction 1 of the sync stream, dma_copy: both touch bytes 400-431 of 'y' in hbm @ 
note: in iteration 10 of a loop of 11 iterations, counted from 0 @ 
note: the earlier one is instruction 1 of the scalar stream, dma_copy @ kernel.cpp:20
note: instruction 1 of the sync stream starts without semaphore 0 >= 16, which proves instruction 1 of the scalar stream complete @ 
scalar 1  dma_copy  kernel.cpp:20
sync 1  dma_copy  kernel.cpp:21
scalar 1 -> sync 1  missing: semaphore 0 >= 16
)");
  EXPECT_EQ(answersText(stores({11}, "20 8", "100")), kRace);
}

TEST(Loop, AccessesThatMoveApart) {
  EXPECT_EQ(reportText(stores({20}, "72 3", "64 -3")), kAllProven);
  EXPECT_EQ(answersText(stores({20}, "71 3", "64 -3")), kRace);
}

/// They pass each other without ever lying in one place at a time.
TEST(Loop, AccessesThatJumpOverEachOther) {
  EXPECT_EQ(reportText(stores({30}, "496 -16", "8 16")), kAllProven); // 488 - 32 * 15 is 8
  EXPECT_EQ(answersText(stores({30}, "495 -16", "8 16")), kRace);
}

/// Two loops: the distance is 60 - 20i - 7j.
TEST(Loop, AccessesInLoopsInsideLoops) {
  EXPECT_EQ(reportText(stores({2, 5}, "60", "0 20 7")), kAllProven); // 12 is the least
  EXPECT_EQ(reportText(stores({3, 2}, "60", "0 20 7")), kAllProven); // 13
  const Proof proof = stores({3, 3}, "60", "0 20 7");                // 6
  EXPECT_EQ(answersText(proof), kRace);
  ASSERT_EQ(proof.findings.size(), 1u);
  EXPECT_EQ(
      findingText(proof.findings[0]),
      R"(race X-08: race: dma_copy writes 'y' and dma_copy writes 'y', in no order @ kernel.cpp:21
help: wait for semaphore 0 >= 16 at instruction 2 of the sync stream or before it
note: instruction 2 of the sync stream, dma_copy: both touch bytes 240-247 of 'y' in hbm @ 
note: in iteration 2 of a loop of 3 iterations, counted from 0 @ 
note: in iteration 2 of a loop of 3 iterations, counted from 0 @ 
note: the earlier one is instruction 2 of the scalar stream, dma_copy @ kernel.cpp:20
note: instruction 2 of the sync stream starts without semaphore 0 >= 16, which proves instruction 2 of the scalar stream complete @ 
)");
}

TEST(Loop, IsJudgedOnceForAllItsIterations) {
  const Proof few = stores({2}, "0 8", "8 8"), many = stores({200}, "0 8", "8 8");

  EXPECT_EQ(reportText(many), kAllProven);
  EXPECT_EQ(many.stats.comparisons, few.stats.comparisons);
  EXPECT_EQ(many.stats.epochs, 3u);
  EXPECT_EQ(many.stats.instructions, 6u); // the edges as well
}
