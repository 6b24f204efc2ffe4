//===- MemoryTest.cpp - tensors that take each other's bytes ----------------------------------===//

#include "ProofFixture.h"

using namespace kilnrt;
using namespace kilnrt::test;

namespace {

/// The loop's edges in streams that do nothing in it are written once.
std::string loopOf(const std::string &vector, int trips, const std::string &before = "",
                   const std::string &after = "") {
  return ".stream vector\n" + before + "  loop_begin trip_count=" + std::to_string(trips) +
         " #100\n" + vector + "  loop_end #200\n" + after;
}

} // namespace

//---- overlap --------------------------------------------------------------------------------===//

/// The old tensor ends as a whole: also where its own bytes are still there.
TEST(Overlap, OfATensorReadAfterAnotherTookItsPlace) {
  const auto at = [](int byte) {
    return proofOf(".tensor t sbuf 32x16xf32 at 0," + std::to_string(byte) + R"( @5
.stream vector
  memset dst=d[0+32, 0: 1x16] value=1 @10
  memset dst=t[0+32, 0: 1x16] value=2 @11
  tensor_copy dst=a[0+32, 0: 1x4] src=d[0+32, 0: 1x4] @12
)");
  };

  EXPECT_EQ(reportText(at(256)), kAllProven);
  EXPECT_EQ(reportText(at(255 / 4 * 4)), R"(races proven, deadlock proven, memory refuted

overlap M-04: tensor_copy uses 'd' after 't' was written to the same memory @ kernel.cpp:12
help: place 'd' and 't' at different addresses
note: 't' takes the bytes at instruction 1 of the vector stream, memset @ kernel.cpp:11
note: 't' was declared here @ kernel.cpp:5
)");
}

/// Written again, the old tensor is a new one.
TEST(Overlap, IsNoneForATensorWrittenAnew) {
  EXPECT_EQ(reportText(proofOf(R"(
.tensor t sbuf 32x16xf32 at 0,0
.stream vector
  memset dst=a[0+32, 0: 1x16] value=1
  memset dst=t[0+32, 0: 1x16] value=2
  memset dst=a[0+32, 0: 1x16] value=3
  tensor_copy dst=b[0+32, 0: 1x16] src=a[0+32, 0: 1x16]
)")),
            kAllProven);
}

/// The last instruction that reads a tensor may write the next one over it.
TEST(Overlap, IsNoneInPlace) {
  EXPECT_EQ(reportText(proofOf(R"(
.tensor t sbuf 32x16xf32 at 0,0
.stream vector
  memset dst=a[0+32, 0: 1x16] value=1
  tensor_copy dst=t[0+32, 0: 1x16] src=a[0+32, 0: 1x16]
)")),
            kAllProven);
}

TEST(Overlap, IsNoneOnOtherPartitionsAndInOtherMemories) {
  EXPECT_EQ(reportText(proofOf(R"(
.tensor t sbuf 32x16xf32 at 32,0
.stream vector
  memset dst=a[0+32, 0: 1x16] value=1
  memset dst=t[0+32, 0: 1x16] value=2
  memset dst=p[0+32, 0: 1x16] value=3
  tensor_copy dst=b[0+32, 0: 1x16] src=a[0+32, 0: 1x16]
)")),
            kAllProven);
}

/// A tensor from before the loop is overwritten at the end of the body and read at its beginning:
/// the second iteration reads what is gone. One iteration does not.
TEST(Overlap, InTheSecondIterationOfALoop) {
  const auto loop = [](int trips) {
    return proofOf(".tensor t sbuf 32x16xf32 at 0,32 @5\n" +
                   loopOf(R"(  tensor_copy dst=d[0+32, 0: 1x16] src=a[0+32, 0: 1x16] @11 #101
  memset dst=t[0+32, 0: 1x16] value=2 @12 #102
)",
                          trips, "  memset dst=a[0+32, 0: 1x16] value=1 @10 #0\n"));
  };

  EXPECT_EQ(reportText(loop(1)), kAllProven);
  EXPECT_EQ(reportText(loop(2)), R"(races proven, deadlock proven, memory refuted

overlap M-04: tensor_copy uses 'a' after 't' was written to the same memory @ kernel.cpp:11
help: place 'a' and 't' at different addresses
note: 't' takes the bytes at instruction 3 of the vector stream, memset @ kernel.cpp:12
note: 't' was declared here @ kernel.cpp:5
)");
}

/// Tensors of the loop that share a place: one after the other is right, in each iteration afresh.
TEST(Overlap, OfTensorsOfALoop) {
  const auto loop = [](const char *source) {
    return proofOf(".tensor t sbuf 32x16xf32 at 0,256 in loop 0 @5\n"
                   ".tensor u sbuf 32x16xf32 at 0,256 in loop 0 @6\n" +
                   loopOf("  memset dst=t[0+32, 0: 1x16] value=1 @10 #101\n"
                          "  tensor_copy dst=a[0+32, 0: 1x16] src=t[0+32, 0: 1x16] @11 #102\n"
                          "  memset dst=u[0+32, 0: 1x16] value=2 @12 #103\n"
                          "  tensor_copy dst=b[0+32, 0: 1x16] src=" +
                              std::string(source) + "[0+32, 0: 1x16] @13 #104\n",
                          4));
  };

  EXPECT_EQ(reportText(loop("u")), kAllProven);
  EXPECT_EQ(reportText(loop("t")), R"(races proven, deadlock proven, memory refuted

overlap M-04: tensor_copy uses 't' after 'u' was written to the same memory @ kernel.cpp:13
help: place 't' and 'u' at different addresses
note: 'u' takes the bytes at instruction 3 of the vector stream, memset @ kernel.cpp:12
note: 't' was declared here @ kernel.cpp:5
note: 'u' was declared here @ kernel.cpp:6
)");
}

/// An iteration finds the tensors of its loop never written, not taken by what an earlier one
/// wrote: that `t` is read too early is the executor's to tell, the same in every schedule.
TEST(Overlap, IsNoneFromOneIterationToTheNext) {
  EXPECT_EQ(
      reportText(proofOf(".tensor t sbuf 32x16xf32 at 0,256 in loop 0\n"
                         ".tensor u sbuf 32x16xf32 at 0,256 in loop 0\n" +
                         loopOf("  tensor_copy dst=a[0+32, 0: 1x16] src=t[0+32, 0: 1x16] #101\n"
                                "  memset dst=t[0+32, 0: 1x16] value=1 #102\n"
                                "  memset dst=u[0+32, 0: 1x16] value=2 #103\n",
                                4))),
      kAllProven);
}

/// What a loop leaves behind is still taken after it.
TEST(Overlap, AfterALoop) {
  EXPECT_EQ(reportText(proofOf(
                ".tensor t sbuf 32x16xf32 at 0,0 in loop 0 @5\n" +
                loopOf("  memset dst=t[0+32, 0: 1x16] value=1 @11 #101\n", 1,
                       "  memset dst=a[0+32, 0: 1x16] value=1 @10 #0\n",
                       "  tensor_copy dst=b[0+32, 0: 1x16] src=a[0+32, 0: 1x16] @12 #201\n"))),
            R"(races proven, deadlock proven, memory refuted

overlap M-04: tensor_copy uses 'a' after 't' was written to the same memory @ kernel.cpp:12
help: place 'a' and 't' at different addresses
note: 't' takes the bytes at instruction 2 of the vector stream, memset @ kernel.cpp:11
note: 't' was declared here @ kernel.cpp:5
)");
}

//---- reuse ----------------------------------------------------------------------------------===//

/// No byte is touched by both, and yet a run could tell: the executor ends the old tensor as a
/// whole.
TEST(Reuse, OfATensorThatMayStillBeInUse) {
  const auto store = [](const char *wait) {
    return proofOf(std::string(R"(
.tensor t sbuf 32x16xf32 at 0,32 @5
.stream vector
  memset dst=a[0+32, 0: 1x16] value=1 update s0+=1 @10 #0
  )") + wait + R"(memset dst=t[0+32, 8: 1x8] value=2 @12 #2
.stream sync
  wait s0>=1 dma_copy dst=y[32 rows of 64, 0: 1x16] src=a[0+32, 0: 1x16] update s1+=16 @11 #1
)");
  };

  EXPECT_EQ(reportText(store("wait s1>=16 ")), kAllProven);
  EXPECT_EQ(reportText(store("wait s1>=15 ")), R"(races proven, deadlock proven, memory refuted

reuse X-09: memset uses 't', which takes the place of 'a', and dma_copy may still use that @ kernel.cpp:12
help: wait for semaphore 1 >= 16 at instruction 1 of the vector stream or before it
note: the earlier one is instruction 0 of the sync stream, dma_copy @ kernel.cpp:11
note: instruction 1 of the vector stream starts without semaphore 1 >= 16, which proves instruction 0 of the sync stream complete @ 
note: 't' was declared here @ kernel.cpp:5
sync 0  dma_copy  kernel.cpp:11
vector 1  memset  kernel.cpp:12
vector 0  memset  kernel.cpp:10
vector 0 -> sync 0  waits: semaphore 0 >= 1
vector 0 -> vector 1  program order
sync 0 -> vector 1  missing: semaphore 1 >= 16
)");
}

TEST(Reuse, OfATensorThatNothingSignalsTheEndOf) {
  EXPECT_EQ(reportText(proofOf(R"(
.tensor t sbuf 32x16xf32 at 0,32 @5
.stream scalar
  tensor_copy dst=d[0+32, 0: 1x16] src=d[0+32, 0: 1x16] @8 #0
  tensor_copy dst=a[0+32, 0: 1x4] src=d[0+32, 0: 1x4] @10 #1
.stream vector
  memset dst=t[0+32, 8: 1x8] value=2 @12 #2
)")),
            R"(races proven, deadlock proven, memory refuted

reuse X-09: memset uses 't', which takes the place of 'a', and tensor_copy may still use that @ kernel.cpp:12
help: let instruction 1 of the scalar stream update a semaphore that instruction 0 of the vector stream waits for
note: the earlier one is instruction 1 of the scalar stream, tensor_copy @ kernel.cpp:10
note: instruction 0 of the vector stream cannot wait for instruction 1 of the scalar stream, which updates no semaphore @ 
note: 't' was declared here @ kernel.cpp:5
scalar 1  tensor_copy  kernel.cpp:10
vector 0  memset  kernel.cpp:12
scalar 1 -> vector 0  missing: updates no semaphore
)");
}

/// Every engine's first use is asked, not only the write that takes the place.
TEST(Reuse, ByAnEngineThatDidNotWait) {
  const auto second = [](const char *wait) {
    return proofOf(std::string(R"(
.tensor t sbuf 32x16xf32 at 0,32 @5
.stream scalar
  tensor_copy dst=a[0+32, 0: 1x4] src=d[0+32, 0: 1x4] update s0+=1 @10 #0
.stream gpsimd
  )") + wait + R"(tensor_copy dst=t[0+32, 12: 1x4] src=c[0+32, 0: 1x4] @12 #2
.stream vector
  wait s0>=1 memset dst=t[0+32, 8: 1x4] value=2 update s1+=1 @11 #1
)");
  };

  EXPECT_EQ(reportText(second("wait s1>=1 ")), kAllProven);
  EXPECT_EQ(reportText(second("")), R"(races proven, deadlock proven, memory refuted

reuse X-09: tensor_copy uses 't', which takes the place of 'a', and tensor_copy may still use that @ kernel.cpp:12
help: wait for semaphore 0 >= 1 at instruction 0 of the gpsimd stream or before it
note: the earlier one is instruction 0 of the scalar stream, tensor_copy @ kernel.cpp:10
note: instruction 0 of the gpsimd stream starts without semaphore 0 >= 1, which proves instruction 0 of the scalar stream complete @ 
note: 't' was declared here @ kernel.cpp:5
scalar 0  tensor_copy  kernel.cpp:10
gpsimd 0  tensor_copy  kernel.cpp:12
scalar 0 -> gpsimd 0  missing: semaphore 0 >= 1
)");
}

/// A stream may use the new tensor first where the program does so later.
TEST(Reuse, ByTheFirstOfAStreamInAnotherOrder) {
  EXPECT_EQ(reportText(proofOf(R"(
.tensor t sbuf 32x16xf32 at 0,32 @5
.stream scalar
  tensor_copy dst=a[0+32, 0: 1x4] src=d[0+32, 0: 1x4] update s0+=1 @10 #0
.stream vector
  memset dst=t[0+32, 12: 1x4] value=2 @12 #2
  wait s0>=1 memset dst=t[0+32, 8: 1x4] value=2 @11 #1
)")),
            R"(races proven, deadlock proven, memory refuted

reuse X-09: memset uses 't', which takes the place of 'a', and tensor_copy may still use that @ kernel.cpp:12
help: wait for semaphore 0 >= 1 at instruction 0 of the vector stream or before it
note: the earlier one is instruction 0 of the scalar stream, tensor_copy @ kernel.cpp:10
note: instruction 0 of the vector stream starts without semaphore 0 >= 1, which proves instruction 0 of the scalar stream complete @ 
note: 't' was declared here @ kernel.cpp:5
scalar 0  tensor_copy  kernel.cpp:10
vector 0  memset  kernel.cpp:12
scalar 0 -> vector 0  missing: semaphore 0 >= 1
)");
}

/// The last use is the last of its stream, which the program may have earlier.
TEST(Reuse, OfATensorWhoseStreamUsesItInAnotherOrder) {
  EXPECT_EQ(reportText(proofOf(R"(
.tensor t sbuf 32x16xf32 at 0,32 @5
.stream gpsimd
  wait s1>=1 tensor_copy dst=c[0+32, 0: 1x4] src=a[0+32, 0: 1x4] update s0+=1 @12 #2
  tensor_copy dst=d[0+32, 0: 1x4] src=a[0+32, 0: 1x4] @11 #1
.stream vector
  memset dst=a[0+32, 0: 1x4] value=1 update s1+=1 @10 #0
  wait s0>=1 memset dst=t[0+32, 8: 1x8] value=2 @13 #3
)")),
            R"(races proven, deadlock proven, memory refuted

reuse X-09: memset uses 't', which takes the place of 'a', and tensor_copy may still use that @ kernel.cpp:13
help: let instruction 1 of the gpsimd stream update a semaphore that instruction 1 of the vector stream waits for
note: the earlier one is instruction 1 of the gpsimd stream, tensor_copy @ kernel.cpp:11
note: instruction 1 of the vector stream cannot wait for instruction 1 of the gpsimd stream, which updates no semaphore @ 
note: 't' was declared here @ kernel.cpp:5
gpsimd 1  tensor_copy  kernel.cpp:11
vector 1  memset  kernel.cpp:13
gpsimd 0  tensor_copy  kernel.cpp:12
gpsimd 0 -> gpsimd 1  program order
gpsimd 0 -> vector 1  waits: semaphore 0 >= 1
gpsimd 1 -> vector 1  missing: updates no semaphore
)");
}

/// The transfer that takes the place reads the old tensor itself: the one before it does not
/// vanish behind that.
TEST(Reuse, ByATransferBetweenTheTwo) {
  EXPECT_EQ(reportText(proofOf(R"(
.tensor t sbuf 32x16xf32 at 0,32 @5
.stream vector
  memset dst=a[0+32, 0: 1x16] value=1 update s1+=1 @10 #0
.stream sync
  wait s1>=1 dma_copy dst=y[32 rows of 64, 0: 1x4] src=a[0+32, 0: 1x4] update s0+=16 @11 #1
  dma_copy dst=t[0+32, 8: 1x4] src=a[0+32, 0: 1x4] update s0+=16 @12 #2
)")),
            R"(races proven, deadlock proven, memory refuted

overlap M-04: dma_copy uses 'a' after 't' was written to the same memory @ kernel.cpp:12
help: place 'a' and 't' at different addresses
note: 't' takes the bytes at instruction 1 of the sync stream, dma_copy @ kernel.cpp:12
note: 't' was declared here @ kernel.cpp:5

reuse X-09: dma_copy uses 't', which takes the place of 'a', and dma_copy may still use that @ kernel.cpp:12
help: wait for semaphore 0 >= 16 at instruction 1 of the sync stream or before it
note: the earlier one is instruction 0 of the sync stream, dma_copy @ kernel.cpp:11
note: instruction 1 of the sync stream starts without semaphore 0 >= 16, which proves instruction 0 of the sync stream complete @ 
note: 't' was declared here @ kernel.cpp:5
sync 0  dma_copy  kernel.cpp:11
sync 1  dma_copy  kernel.cpp:12
sync 0 -> sync 1  program order
sync 0 -> sync 1  missing: semaphore 0 >= 16
)");
}

/// One pair of uses is in order, by a run of its own; another of the same tensors is not.
TEST(Reuse, OfTwoTensorsIsAskedForEveryPair) {
  EXPECT_EQ(reportText(proofOf(R"(
.tensor t sbuf 32x16xf32 at 0,32 @5
.stream scalar
  dma_copy dst=y[32 rows of 64, 16: 1x4] src=d[0+32, 0: 1x4] dge_mode=hwdge update s0+=16 @9 #0
  wait s0>=100 tensor_copy dst=c[0+32, 0: 1x4] src=a[0+32, 0: 1x4] @11 #2
.stream gpsimd
  tensor_copy dst=a[0+32, 0: 1x4] src=d[0+32, 0: 1x4] update s0+=100 @10 #1
.stream vector
  wait s0>=100 memset dst=t[0+32, 8: 1x8] value=2 update s1+=1 @12 #3
)")),
            R"(races proven, deadlock proven, memory refuted

reuse X-09: memset uses 't', which takes the place of 'a', and tensor_copy may still use that @ kernel.cpp:12
help: let instruction 1 of the scalar stream update a semaphore that instruction 0 of the vector stream waits for
note: the earlier one is instruction 1 of the scalar stream, tensor_copy @ kernel.cpp:11
note: instruction 0 of the vector stream cannot wait for instruction 1 of the scalar stream, which updates no semaphore @ 
note: 't' was declared here @ kernel.cpp:5
scalar 1  tensor_copy  kernel.cpp:11
vector 0  memset  kernel.cpp:12
scalar 1 -> vector 0  missing: updates no semaphore
)");
}

/// The edge of a loop orders everything.
TEST(Reuse, IsNoneAcrossTheEdgeOfALoop) {
  EXPECT_EQ(reportText(proofOf(R"(
.tensor t sbuf 32x16xf32 at 0,32
.stream vector
  memset dst=a[0+32, 0: 1x16] value=1 update s0+=1 #0
  loop_begin trip_count=2 #100
  memset dst=t[0+32, 8: 1x8] value=2 #102
  loop_end #200
.stream sync
  wait s0>=1 dma_copy dst=y[32 rows of 64, 0: 1x16] src=a[0+32, 0: 1x16] #1
  loop_begin trip_count=2 #101
  loop_end #201
)")),
            kAllProven);
}

/// A race on the shared bytes is told once, as a race; the memory is no more proven for that.
TEST(Reuse, WithSharedBytesIsTheRace) {
  EXPECT_EQ(reportText(proofOf(R"(
.tensor t sbuf 32x16xf32 at 0,32 @5
.stream vector
  memset dst=a[0+32, 0: 1x16] value=1 update s0+=1 @10 #0
  memset dst=t[0+32, 0: 1x8] value=2 @12 #2
.stream sync
  wait s0>=1 dma_copy dst=y[32 rows of 64, 0: 1x16] src=a[0+32, 0: 1x16] update s1+=16 @11 #1
)")),
            R"(races refuted, deadlock proven, memory refuted

race X-08: race: memset writes 't' and dma_copy reads 'a', in no order @ kernel.cpp:12
help: wait for semaphore 1 >= 16 at instruction 1 of the vector stream or before it
note: instruction 1 of the vector stream, memset: both touch sbuf partitions 0-31, bytes 32-63 @ 
note: the earlier one is instruction 0 of the sync stream, dma_copy @ kernel.cpp:11
note: instruction 1 of the vector stream starts without semaphore 1 >= 16, which proves instruction 0 of the sync stream complete @ 
sync 0  dma_copy  kernel.cpp:11
vector 1  memset  kernel.cpp:12
vector 0  memset  kernel.cpp:10
vector 0 -> sync 0  waits: semaphore 0 >= 1
vector 0 -> vector 1  program order
sync 0 -> vector 1  missing: semaphore 1 >= 16
)");
}

/// The first successor takes some bytes of the old tensor and waits; the second takes others.
TEST(Reuse, ByTheSecondWhoTakesOtherBytes) {
  const auto second = [](const std::string &wait) {
    return proofOf(std::string(R"(
.tensor t sbuf 32x4xf32 at 0,32 @5
.tensor u sbuf 32x4xf32 at 0,48 @6
.stream scalar
  tensor_copy dst=a[0+32, 0: 1x4] src=d[0+32, 0: 1x4] update s0+=1 @10 #0
.stream gpsimd
  wait s0>=1 memset dst=t[0+32, 0: 1x4] value=1 @11 #1
.stream vector
  )") + wait + R"(memset dst=u[0+32, 0: 1x4] value=2 @12 #2
)");
  };
  EXPECT_EQ(reportText(second("wait s0>=1 ")), kAllProven);
  EXPECT_EQ(reportText(second("")), R"(races proven, deadlock proven, memory refuted

reuse X-09: memset uses 'u', which takes the place of 'a', and tensor_copy may still use that @ kernel.cpp:12
help: wait for semaphore 0 >= 1 at instruction 0 of the vector stream or before it
note: the earlier one is instruction 0 of the scalar stream, tensor_copy @ kernel.cpp:10
note: instruction 0 of the vector stream starts without semaphore 0 >= 1, which proves instruction 0 of the scalar stream complete @ 
note: 'u' was declared here @ kernel.cpp:6
scalar 0  tensor_copy  kernel.cpp:10
vector 0  memset  kernel.cpp:12
scalar 0 -> vector 0  missing: semaphore 0 >= 1
)");
}
