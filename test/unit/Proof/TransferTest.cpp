//===- TransferTest.cpp - what waits prove about transfers in flight --------------------------===//

#include "ProofFixture.h"

using namespace kilnrt;
using namespace kilnrt::test;

namespace {

/// Loads of `a` and `b` on one ring, and a copy of `a` that waits for semaphore 0.
Proof twoLoads(int waits) {
  return proofOf(R"(
.stream vector
  wait s0>=)" + std::to_string(waits) +
                 R"( tensor_copy dst=c[0+32, 0: 1x16] src=a[0+32, 0: 1x16] @12 #2
.stream sync
  dma_copy dst=a[0+32, 0: 1x16] src=x[32 rows of 64, 0: 1x16] update s0+=16 @10 #0
  dma_copy dst=b[0+32, 0: 1x16] src=x[32 rows of 64, 16: 1x16] update s0+=16 @11 #1
)");
}

} // namespace

TEST(Transfer, MustBeWaitedFor) {
  const Proof proof = proofOf(R"(
.stream vector
  tensor_copy dst=b[0+32, 0: 1x16] src=a[0+32, 0: 1x16] @11 #1
.stream sync
  dma_copy dst=a[0+32, 0: 1x16] src=x[32 rows of 64, 0: 1x16] update s0+=16 @10 #0
)");

  EXPECT_EQ(reportText(proof), R"(races refuted, deadlock proven, memory proven

race X-08: race: tensor_copy reads 'a' and dma_copy writes 'a', in no order @ kernel.cpp:11
help: wait for semaphore 0 >= 16 at instruction 0 of the vector stream or before it
note: instruction 0 of the vector stream, tensor_copy: both touch sbuf partitions 0-31, bytes 0-63 @ 
note: the earlier one is instruction 0 of the sync stream, dma_copy @ kernel.cpp:10
note: instruction 0 of the vector stream starts without semaphore 0 >= 16, which proves instruction 0 of the sync stream complete @ 
sync 0  dma_copy  kernel.cpp:10
vector 0  tensor_copy  kernel.cpp:11
sync 0 -> vector 0  missing: semaphore 0 >= 16
)");
}

/// Fifteen increments leave one share in flight.
TEST(Transfer, IsCompleteWithItsLastIncrement) {
  const auto load = [](int waits) {
    return proofOf(R"(
.stream vector
  wait s0>=)" + std::to_string(waits) +
                   R"( tensor_copy dst=b[0+32, 0: 1x16] src=a[0+32, 0: 1x16] #1
.stream sync
  dma_copy dst=a[0+32, 0: 1x16] src=x[32 rows of 64, 0: 1x16] update s0+=16 #0
)");
  };

  EXPECT_EQ(reportText(load(16)), kAllProven);
  EXPECT_EQ(reportText(load(15)), R"(races refuted, deadlock proven, memory proven

race X-08: race: tensor_copy reads 'a' and dma_copy writes 'a', in no order @ 
help: wait for semaphore 0 >= 16 at instruction 0 of the vector stream or before it
note: instruction 0 of the vector stream, tensor_copy: both touch sbuf partitions 0-31, bytes 0-63 @ 
note: the earlier one is instruction 0 of the sync stream, dma_copy @ 
note: instruction 0 of the vector stream starts without semaphore 0 >= 16, which proves instruction 0 of the sync stream complete @ 
sync 0  dma_copy
vector 0  tensor_copy
sync 0 -> vector 0  missing: semaphore 0 >= 16
)");
}

TEST(Transfer, ThatReadsKeepsItsSource) {
  const Proof proof = proofOf(R"(
.stream vector
  memset dst=a[0+32, 0: 1x16] value=1 update s0+=1 @10 #0
  memset dst=a[0+32, 0: 1x16] value=2 @12 #2
.stream sync
  wait s0>=1 dma_copy dst=y[32 rows of 64, 0: 1x16] src=a[0+32, 0: 1x16] @11 #1
)");

  EXPECT_EQ(reportText(proof), R"(races refuted, deadlock proven, memory proven

race X-08: race: memset writes 'a' and dma_copy reads 'a', in no order @ kernel.cpp:12
help: let instruction 0 of the sync stream update a semaphore that instruction 1 of the vector stream waits for
note: instruction 1 of the vector stream, memset: both touch sbuf partitions 0-31, bytes 0-63 @ 
note: the earlier one is instruction 0 of the sync stream, dma_copy @ kernel.cpp:11
note: instruction 1 of the vector stream cannot wait for instruction 0 of the sync stream, which updates no semaphore @ 
sync 0  dma_copy  kernel.cpp:11
vector 1  memset  kernel.cpp:12
vector 0  memset  kernel.cpp:10
vector 0 -> sync 0  waits: semaphore 0 >= 1
vector 0 -> vector 1  program order
sync 0 -> vector 1  missing: updates no semaphore
)");
}

/// Its stream only triggers a transfer: what follows on the stream is not ordered after it.
TEST(Transfer, IsNotOrderedByItsOwnStream) {
  const Proof proof = proofOf(R"(
.stream gpsimd
  dma_copy dst=a[0+32, 0: 1x16] src=x[32 rows of 64, 0: 1x16] dge_mode=swdge update s0+=16 @10 #0
  tensor_copy dst=b[0+32, 0: 1x16] src=a[0+32, 0: 1x16] @11 #1
)");

  EXPECT_EQ(reportText(proof), R"(races refuted, deadlock proven, memory proven

race X-08: race: tensor_copy reads 'a' and dma_copy writes 'a', in no order @ kernel.cpp:11
help: wait for semaphore 0 >= 16 at instruction 1 of the gpsimd stream or before it
note: instruction 1 of the gpsimd stream, tensor_copy: both touch sbuf partitions 0-31, bytes 0-63 @ 
note: the earlier one is instruction 0 of the gpsimd stream, dma_copy @ kernel.cpp:10
note: instruction 1 of the gpsimd stream starts without semaphore 0 >= 16, which proves instruction 0 of the gpsimd stream complete @ 
gpsimd 0  dma_copy  kernel.cpp:10
gpsimd 1  tensor_copy  kernel.cpp:11
gpsimd 0 -> gpsimd 1  program order
gpsimd 0 -> gpsimd 1  missing: semaphore 0 >= 16
)");
}

TEST(Transfer, OfOneRingOrdersNothing) {
  const Proof proof = proofOf(R"(
.stream sync
  dma_copy dst=a[0+32, 0: 1x16] src=x[32 rows of 64, 0: 1x16] ring=2 update s0+=16 @10 #0
  dma_copy dst=y[32 rows of 64, 0: 1x16] src=a[0+32, 0: 1x16] ring=2 update s1+=16 @11 #1
)");

  EXPECT_EQ(reportText(proof), R"(races refuted, deadlock proven, memory proven

race X-08: race: dma_copy reads 'a' and dma_copy writes 'a', in no order @ kernel.cpp:11
help: wait for semaphore 0 >= 16 at instruction 1 of the sync stream or before it
note: instruction 1 of the sync stream, dma_copy: both touch sbuf partitions 0-31, bytes 0-63 @ 
note: the earlier one is instruction 0 of the sync stream, dma_copy @ kernel.cpp:10
note: instruction 1 of the sync stream starts without semaphore 0 >= 16, which proves instruction 0 of the sync stream complete @ 
sync 0  dma_copy  kernel.cpp:10
sync 1  dma_copy  kernel.cpp:11
sync 0 -> sync 1  program order
sync 0 -> sync 1  missing: semaphore 0 >= 16
)");
}

TEST(Transfer, OfTwoRingsOrdersNothing) {
  const Proof proof = proofOf(R"(
.stream scalar
  dma_copy dst=y[16 rows of 64, 0: 1x16] src=a[0+16, 0: 1x16] dge_mode=hwdge ring=0 update s0+=16 @10 #0
.stream sync
  dma_copy dst=y[16 rows of 64, 976: 1x16] src=b[0+16, 0: 1x16] ring=1 update s1+=16 @11 #1
)");

  EXPECT_EQ(reportText(proof), kAllProven);
  EXPECT_EQ(reportText(proofOf(R"(
.stream scalar
  dma_copy dst=y[16 rows of 64, 0: 1x16] src=a[0+16, 0: 1x16] dge_mode=hwdge ring=0 update s0+=16 @10 #0
.stream sync
  dma_copy dst=y[16 rows of 64, 975: 1x16] src=b[0+16, 0: 1x16] ring=1 update s1+=16 @11 #1
)")),
            R"(races refuted, deadlock proven, memory proven

race X-08: race: dma_copy writes 'y' and dma_copy writes 'y', in no order @ kernel.cpp:11
help: wait for semaphore 0 >= 16 at instruction 0 of the sync stream or before it
note: instruction 0 of the sync stream, dma_copy: both touch bytes 3900-3903 of 'y' in hbm @ 
note: the earlier one is instruction 0 of the scalar stream, dma_copy @ kernel.cpp:10
note: instruction 0 of the sync stream starts without semaphore 0 >= 16, which proves instruction 0 of the scalar stream complete @ 
scalar 0  dma_copy  kernel.cpp:10
sync 0  dma_copy  kernel.cpp:11
scalar 0 -> sync 0  missing: semaphore 0 >= 16
)");
}

//---- several in flight ----------------------------------------------------------------------===//

/// Sixteen may be eight shares of each.
TEST(Transfer, SixteenOfTwoAreNotTheFirst) {
  EXPECT_EQ(reportText(twoLoads(16)), R"(races refuted, deadlock proven, memory proven

race X-08: race: tensor_copy reads 'a' and dma_copy writes 'a', in no order @ kernel.cpp:12
help: wait for semaphore 0 >= 32 at instruction 0 of the vector stream or before it
note: instruction 0 of the vector stream, tensor_copy: both touch sbuf partitions 0-31, bytes 0-63 @ 
note: the earlier one is instruction 0 of the sync stream, dma_copy @ kernel.cpp:10
note: instruction 0 of the vector stream starts without semaphore 0 >= 32, which proves instruction 0 of the sync stream complete @ 
sync 0  dma_copy  kernel.cpp:10
vector 0  tensor_copy  kernel.cpp:12
sync 0 -> vector 0  missing: semaphore 0 >= 32
)");
}

TEST(Transfer, ThirtyTwoOfTwoAreBoth) {
  EXPECT_EQ(reportText(twoLoads(32)), kAllProven);
  EXPECT_EQ(
      answersText(twoLoads(31)),
      "races refuted, deadlock proven, memory proven\n"); // the last share may be of the first
}

/// The second is triggered when the first is complete: sixteen are the first again.
TEST(Transfer, TriggeredAfterAWaitDoesNotCount) {
  EXPECT_EQ(reportText(proofOf(R"(
.stream vector
  wait s0>=16 tensor_copy dst=c[0+32, 0: 1x16] src=a[0+32, 0: 1x16] #2
.stream sync
  dma_copy dst=a[0+32, 0: 1x16] src=x[32 rows of 64, 0: 1x16] update s0+=16 #0
  wait s0>=16 dma_copy dst=b[0+32, 0: 1x16] src=x[32 rows of 64, 16: 1x16] update s0+=16 #1
)")),
            kAllProven);
}

/// A second batch on the semaphore before anybody has waited for the first: thirty-two may come
/// from three.
TEST(Transfer, OfALaterBatchCountsForAnEarlierOne) {
  const auto batches = [](int waits) {
    return proofOf(R"(
.stream vector
  wait s0>=)" + std::to_string(waits) +
                   R"( tensor_copy dst=c[0+32, 0: 1x16] src=a[0+32, 0: 1x16] @13 #3
.stream sync
  dma_copy dst=a[0+32, 0: 1x16] src=x[32 rows of 64, 0: 1x16] update s0+=16 @10 #0
  dma_copy dst=b[0+32, 0: 1x16] src=x[32 rows of 64, 16: 1x16] update s0+=16 @11 #1
  dma_copy dst=d[0+32, 0: 1x16] src=x[32 rows of 64, 32: 1x16] update s0+=16 @12 #2
)");
  };

  EXPECT_EQ(reportText(batches(32)), R"(races refuted, deadlock proven, memory proven

race X-08: race: tensor_copy reads 'a' and dma_copy writes 'a', in no order @ kernel.cpp:13
help: wait for semaphore 0 >= 48 at instruction 0 of the vector stream or before it
note: instruction 0 of the vector stream, tensor_copy: both touch sbuf partitions 0-31, bytes 0-63 @ 
note: the earlier one is instruction 0 of the sync stream, dma_copy @ kernel.cpp:10
note: instruction 0 of the vector stream starts without semaphore 0 >= 48, which proves instruction 0 of the sync stream complete @ 
sync 0  dma_copy  kernel.cpp:10
vector 0  tensor_copy  kernel.cpp:13
sync 0 -> vector 0  missing: semaphore 0 >= 48
)");
  EXPECT_EQ(answersText(batches(47)), "races refuted, deadlock proven, memory proven\n");
  EXPECT_EQ(reportText(batches(48)), kAllProven);
}

/// The same with the batches apart: the second is triggered when its stream has seen the first.
TEST(Transfer, OfALaterBatchBehindAWaitDoesNot) {
  const auto batches = [](int waits) {
    return proofOf(R"(
.stream vector
  wait s0>=)" + std::to_string(waits) +
                   R"( tensor_copy dst=c[0+32, 0: 1x16] src=b[0+32, 0: 1x16] @13 #3
.stream sync
  dma_copy dst=a[0+32, 0: 1x16] src=x[32 rows of 64, 0: 1x16] update s0+=16 @10 #0
  dma_copy dst=b[0+32, 0: 1x16] src=x[32 rows of 64, 16: 1x16] update s0+=16 @11 #1
  wait s0>=32 dma_copy dst=d[0+32, 0: 1x16] src=x[32 rows of 64, 32: 1x16] update s0+=16 @12 #2
)");
  };

  EXPECT_EQ(reportText(batches(32)), kAllProven);
  EXPECT_EQ(answersText(batches(31)), "races refuted, deadlock proven, memory proven\n");
}

//---- semaphores of several streams ----------------------------------------------------------===//

/// Two streams load for a third on one semaphore.
TEST(SharedSemaphore, ProvesAllWhenAllHaveCome) {
  const auto loads = [](int waits) {
    return proofOf(
        R"(
.stream scalar
  dma_copy dst=a[0+32, 0: 1x16] src=x[32 rows of 64, 0: 1x16] dge_mode=hwdge ring=1 update s0+=16 @10 #0
.stream vector
  wait s0>=)" +
        std::to_string(waits) +
        R"( tensor_tensor dst=c[0+32, 0: 1x16] data1=a[0+32, 0: 1x16] data2=b[0+32, 0: 1x16] op=add @12 #2
.stream sync
  dma_copy dst=b[0+32, 0: 1x16] src=x[32 rows of 64, 16: 1x16] update s0+=16 @11 #1
)");
  };

  EXPECT_EQ(reportText(loads(32)), kAllProven);
  EXPECT_EQ(reportText(loads(31)), R"(races refuted, deadlock proven, memory proven

race X-08: race: tensor_tensor reads 'a' and dma_copy writes 'a', in no order @ kernel.cpp:12
help: wait for semaphore 0 >= 32 at instruction 0 of the vector stream or before it
note: instruction 0 of the vector stream, tensor_tensor: both touch sbuf partitions 0-31, bytes 0-63 @ 
note: the earlier one is instruction 0 of the scalar stream, dma_copy @ kernel.cpp:10
note: instruction 0 of the vector stream starts without semaphore 0 >= 32, which proves instruction 0 of the scalar stream complete @ 
scalar 0  dma_copy  kernel.cpp:10
vector 0  tensor_tensor  kernel.cpp:12
scalar 0 -> vector 0  missing: semaphore 0 >= 32

race X-08: race: tensor_tensor reads 'b' and dma_copy writes 'b', in no order @ kernel.cpp:12
help: wait for semaphore 0 >= 32 at instruction 0 of the vector stream or before it
note: instruction 0 of the vector stream, tensor_tensor: both touch sbuf partitions 0-31, bytes 64-127 @ 
note: the earlier one is instruction 0 of the sync stream, dma_copy @ kernel.cpp:11
note: instruction 0 of the vector stream starts without semaphore 0 >= 32, which proves instruction 0 of the sync stream complete @ 
sync 0  dma_copy  kernel.cpp:11
vector 0  tensor_tensor  kernel.cpp:12
sync 0 -> vector 0  missing: semaphore 0 >= 32
)");
}

/// What one producer adds outweighs all others: 100 prove it complete, and not the transfer that
/// has been triggered before it. No prefix of the producers says so; a run of its own does.
TEST(SharedSemaphore, ProvesAHeavyProducerAlone) {
  const std::string streams = R"(
.stream scalar
  dma_copy dst=a[0+32, 0: 1x16] src=x[32 rows of 64, 0: 1x16] dge_mode=hwdge update s0+=16 @10 #0
.stream gpsimd
  tensor_copy dst=b[0+32, 0: 1x16] src=b[0+32, 0: 1x16] update s0+=100 @11 #1
.stream vector
  wait s0>=100 tensor_copy dst=c[0+32, 0: 1x16] src=SOURCE[0+32, 0: 1x16] @12 #2
)";
  const auto from = [&](const char *source) {
    std::string text = streams;
    return proofOf(text.replace(text.find("SOURCE"), 6, source));
  };

  const Proof heavy = from("b");
  EXPECT_EQ(reportText(heavy), kAllProven);
  EXPECT_EQ(heavy.stats.pairsDecided, 1u);
  EXPECT_EQ(reportText(from("a")), R"(races refuted, deadlock proven, memory proven

race X-08: race: tensor_copy reads 'a' and dma_copy writes 'a', in no order @ kernel.cpp:12
help: wait for semaphore 0 >= 116 at instruction 0 of the vector stream or before it
note: instruction 0 of the vector stream, tensor_copy: both touch sbuf partitions 0-31, bytes 0-63 @ 
note: the earlier one is instruction 0 of the scalar stream, dma_copy @ kernel.cpp:10
note: instruction 0 of the vector stream starts without semaphore 0 >= 116, which proves instruction 0 of the scalar stream complete @ 
scalar 0  dma_copy  kernel.cpp:10
vector 0  tensor_copy  kernel.cpp:12
scalar 0 -> vector 0  missing: semaphore 0 >= 116
)");
}

/// What a wait for two engines teaches is what both have done; no pair needs a run of its own.
TEST(SharedSemaphore, TeachesWhatEachProducerKnew) {
  const Proof proof = proofOf(R"(
.stream scalar
  tensor_copy dst=a[0+32, 0: 1x16] src=a[0+32, 0: 1x16] #0
  tensor_copy dst=b[0+32, 0: 1x16] src=a[0+32, 0: 1x16] update s0+=1 #1
.stream gpsimd
  tensor_copy dst=c[0+32, 0: 1x16] src=c[0+32, 0: 1x16] update s0+=1 #2
.stream vector
  wait s0>=2 tensor_tensor dst=a[0+32, 0: 1x16] data1=b[0+32, 0: 1x16] data2=c[0+32, 0: 1x16] op=add #3
)");

  EXPECT_EQ(reportText(proof), kAllProven);
  EXPECT_EQ(proof.stats.pairsDecided, 0u);
}

/// Each stream raises the semaphore twice, waiting for the other in between.
TEST(SharedSemaphore, IsFollowedThroughItsStreams) {
  const Proof proof = proofOf(R"(
.stream gpsimd
  wait s0>=1 tensor_copy dst=b[0+32, 0: 1x16] src=a[0+32, 0: 1x16] update s0+=1 #1
  wait s0>=3 tensor_copy dst=d[0+32, 0: 1x16] src=c[0+32, 0: 1x16] update s0+=1 #3
.stream vector
  memset dst=a[0+32, 0: 1x16] value=1 update s0+=1 #0
  wait s0>=2 tensor_copy dst=c[0+32, 0: 1x16] src=b[0+32, 0: 1x16] update s0+=1 #2
  wait s0>=4 tensor_copy dst=a[0+32, 0: 1x16] src=d[0+32, 0: 1x16] #4
)");

  EXPECT_EQ(reportText(proof), kAllProven);
  EXPECT_EQ(proof.stats.pairsDecided, 0u); // the rule knows them all
}
