//===- RaceTest.cpp - accesses in no order, and in the wrong one ------------------------------===//

#include "ProofFixture.h"

using namespace kilnrt;
using namespace kilnrt::test;

//---- two engines ----------------------------------------------------------------------------===//

TEST(Race, OfTwoWritesNamesBothTheBytesAndTheWait) {
  const Proof proof = proofOf(R"(
.stream gpsimd
  tensor_copy dst=a[0+32, 4: 1x8] src=b[0+32, 0: 1x8] @20
.stream vector
  memset dst=a[0+32, 0: 1x6] value=1 update s3+=1 @10
)");

  EXPECT_EQ(reportText(proof), R"(races refuted, deadlock proven, memory proven

race X-08: race: memset writes 'a' and tensor_copy writes 'a', in no order @ kernel.cpp:10
help: let instruction 0 of the gpsimd stream update a semaphore that instruction 0 of the vector stream waits for
note: instruction 0 of the vector stream, memset: both touch sbuf partitions 0-31, bytes 16-23 @ 
note: the earlier one is instruction 0 of the gpsimd stream, tensor_copy @ kernel.cpp:20
note: instruction 0 of the vector stream cannot wait for instruction 0 of the gpsimd stream, which updates no semaphore @ 
gpsimd 0  tensor_copy  kernel.cpp:20
vector 0  memset  kernel.cpp:10
gpsimd 0 -> vector 0  missing: updates no semaphore
)");
}

TEST(Race, OfAReadAfterAWrite) {
  const Proof proof = proofOf(R"(
.stream scalar
  tensor_copy dst=b[0+32, 0: 1x16] src=a[0+32, 0: 1x16] @11 #1
.stream vector
  memset dst=a[0+32, 0: 1x16] value=1 update s0+=1 @10 #0
)");

  EXPECT_EQ(reportText(proof), R"(races refuted, deadlock proven, memory proven

race X-08: race: tensor_copy reads 'a' and memset writes 'a', in no order @ kernel.cpp:11
help: wait for semaphore 0 >= 1 at instruction 0 of the scalar stream or before it
note: instruction 0 of the scalar stream, tensor_copy: both touch sbuf partitions 0-31, bytes 0-63 @ 
note: the earlier one is instruction 0 of the vector stream, memset @ kernel.cpp:10
note: instruction 0 of the scalar stream starts without semaphore 0 >= 1, which proves instruction 0 of the vector stream complete @ 
vector 0  memset  kernel.cpp:10
scalar 0  tensor_copy  kernel.cpp:11
vector 0 -> scalar 0  missing: semaphore 0 >= 1
)");
}

TEST(Race, OfAWriteAfterARead) {
  const Proof proof = proofOf(R"(
.stream scalar
  tensor_copy dst=b[0+32, 0: 1x16] src=a[0+32, 0: 1x16] @10 #0
.stream vector
  memset dst=a[0+16, 15: 1x1] value=1 @11 #1
)");

  EXPECT_EQ(reportText(proof), R"(races refuted, deadlock proven, memory proven

race X-08: race: memset writes 'a' and tensor_copy reads 'a', in no order @ kernel.cpp:11
help: let instruction 0 of the scalar stream update a semaphore that instruction 0 of the vector stream waits for
note: instruction 0 of the vector stream, memset: both touch sbuf partitions 0-15, bytes 60-63 @ 
note: the earlier one is instruction 0 of the scalar stream, tensor_copy @ kernel.cpp:10
note: instruction 0 of the vector stream cannot wait for instruction 0 of the scalar stream, which updates no semaphore @ 
scalar 0  tensor_copy  kernel.cpp:10
vector 0  memset  kernel.cpp:11
scalar 0 -> vector 0  missing: updates no semaphore
)");
}

TEST(Race, InPsumCountsPartitionsAndBytesOfPsum) {
  const Proof proof = proofOf(R"(
.stream tensor
  nc_matmul dst=q[0+16, 0: 1x16] stationary=a[0+32, 0: 1x16] moving=b[0+32, 0: 1x16] accumulate=overwrite update s0+=1 @10 #0
.stream vector
  tensor_copy dst=c[0+32, 0: 1x16] src=q[0+32, 0: 1x16] @11 #1
)");

  EXPECT_EQ(reportText(proof), R"(races refuted, deadlock proven, memory proven

race X-08: race: tensor_copy reads 'q' and nc_matmul writes 'q', in no order @ kernel.cpp:11
help: wait for semaphore 0 >= 1 at instruction 0 of the vector stream or before it
note: instruction 0 of the vector stream, tensor_copy: both touch psum partitions 0-15, bytes 2048-2111 @ 
note: the earlier one is instruction 0 of the tensor stream, nc_matmul @ kernel.cpp:10
note: instruction 0 of the vector stream starts without semaphore 0 >= 1, which proves instruction 0 of the tensor stream complete @ 
tensor 0  nc_matmul  kernel.cpp:10
vector 0  tensor_copy  kernel.cpp:11
tensor 0 -> vector 0  missing: semaphore 0 >= 1
)");
}

/// The wait that is there comes too early: the graph shows it, and the two ways from what both
/// come after.
TEST(Race, GraphShowsTheOrdersThereAre) {
  const Proof proof = proofOf(R"(
.stream scalar
  wait s0>=1 tensor_copy dst=c[0+32, 0: 1x16] src=a[0+32, 0: 1x16] @11 #1
  tensor_copy dst=d[0+32, 0: 1x16] src=c[0+32, 0: 1x16] @13 #3
  tensor_copy dst=b[0+32, 0: 1x16] src=d[0+32, 0: 1x16] @14 #4
.stream vector
  memset dst=a[0+32, 0: 1x16] value=1 update s0+=1 @10 #0
  memset dst=b[0+32, 0: 1x16] value=1 update s0+=1 @12 #2
)");

  EXPECT_EQ(reportText(proof), R"(races refuted, deadlock proven, memory proven

race X-08: race: tensor_copy writes 'b' and memset writes 'b', in no order @ kernel.cpp:14
help: wait for semaphore 0 >= 2 at instruction 2 of the scalar stream or before it
note: instruction 2 of the scalar stream, tensor_copy: both touch sbuf partitions 0-31, bytes 64-127 @ 
note: the earlier one is instruction 1 of the vector stream, memset @ kernel.cpp:12
note: instruction 2 of the scalar stream starts without semaphore 0 >= 2, which proves instruction 1 of the vector stream complete @ 
vector 1  memset  kernel.cpp:12
scalar 2  tensor_copy  kernel.cpp:14
vector 0  memset  kernel.cpp:10
scalar 0  tensor_copy  kernel.cpp:11
vector 0 -> vector 1  program order
vector 0 -> scalar 0  waits: semaphore 0 >= 1
scalar 0 -> scalar 2  program order
vector 1 -> scalar 2  missing: semaphore 0 >= 2
)");
  ASSERT_EQ(proof.findings.size(), 1u);
  EXPECT_EQ(graphDot(proof.findings[0].graph, "finding \"1\""), R"(digraph "finding \"1\"" {
  node [shape=box];
  n0 [label="vector 1 memset\nkernel.cpp:12"];
  n1 [label="scalar 2 tensor_copy\nkernel.cpp:14"];
  n2 [label="vector 0 memset\nkernel.cpp:10"];
  n3 [label="scalar 0 tensor_copy\nkernel.cpp:11"];
  n2 -> n0 [style=bold];
  n2 -> n3 [label="semaphore 0 >= 1", style=solid];
  n3 -> n1 [style=bold];
  n0 -> n1 [label="semaphore 0 >= 2", style=dashed, color=red, fontcolor=red, constraint=false];
}
)");
}

/// Whoever waits for the second of three writers is ordered after the first only where the second
/// replaced what that wrote: `middle` does not, though it reaches around it.
TEST(Race, WithWhatALaterAccessReachesAroundAndDoesNotReplace) {
  const auto afterMiddle = [](const std::string &first, const std::string &middle) {
    return proofOf(".tensor t sbuf 64x16xf32 at 0,256\n"
                   ".stream scalar\n"
                   "  tensor_copy dst=t[" +
                   first + "] src=t[" + first +
                   "] @10 #0\n"
                   ".stream gpsimd\n"
                   "  wait s0>=1 tensor_copy dst=t[" +
                   first + "] src=t[" + first +
                   "] @12 #2\n"
                   ".stream vector\n"
                   "  memset dst=t[" +
                   middle + "] value=1 update s0+=1 @11 #1\n");
  };
  constexpr const char *kRace = "races refuted, deadlock proven, memory proven\n";

  for (const auto &[first, middle] : std::vector<std::pair<std::string, std::string>>{
           {"0+32, 2: 2x6", "0+32, 1: 2x8"},    // the columns between its columns
           {"0+32, 0: 1x16", "32+32, 0: 1x16"}, // other partitions
           {"32+32, 0: 1x16", "0+32, 0: 1x16"},
           {"0+32, 0: 1x8", "0+32, 8: 1x8"}, // other bytes
           {"0+32, 8: 1x8", "0+32, 0: 1x8"}}) {
    const Proof proof = afterMiddle(first, middle);
    EXPECT_EQ(answersText(proof), kRace) << first;
    ASSERT_EQ(proof.findings.size(), 1u) << first;
    EXPECT_EQ(proof.findings[0].diagnostic.message,
              "race: tensor_copy reads 't' and tensor_copy writes 't', in no order");
  }
}

//---- no race --------------------------------------------------------------------------------===//

TEST(Race, IsNoneWithTheWait) {
  EXPECT_EQ(reportText(proofOf(R"(
.stream scalar
  wait s0>=1 tensor_copy dst=b[0+32, 0: 1x16] src=a[0+32, 0: 1x16] update s1+=1 #1
.stream vector
  memset dst=a[0+32, 0: 1x16] value=1 update s0+=1 #0
  wait s1>=1 memset dst=a[0+32, 0: 1x16] value=2 #2
)")),
            kAllProven);
}

TEST(Race, IsNoneBetweenReads) {
  EXPECT_EQ(reportText(proofOf(R"(
.stream scalar
  tensor_copy dst=b[0+32, 0: 1x16] src=a[0+32, 0: 1x16]
.stream vector
  tensor_copy dst=c[0+32, 0: 1x16] src=a[0+32, 0: 1x16] #1
.stream sync
  dma_copy dst=y[32 rows of 64, 0: 1x16] src=a[0+32, 0: 1x16] #2
)")),
            kAllProven);
}

/// Columns of one tensor, in each other's gaps: bounding boxes meet, no byte does. The pair at the
/// boundary: one element to the left they do.
TEST(Race, IsNoneBetweenInterleavedColumns) {
  const auto columns = [](int first) {
    return proofOf(R"(
.stream scalar
  tensor_copy dst=a[0+32, 0: 2x8] src=b[0+32, 0: 1x8] update s0+=1
.stream vector
  memset dst=a[0+32, )" +
                   std::to_string(first) + ": 2x7] value=1 #1\n");
  };

  EXPECT_EQ(reportText(columns(1)), kAllProven);
  EXPECT_EQ(reportText(columns(2)), R"(races refuted, deadlock proven, memory proven

race X-08: race: memset writes 'a' and tensor_copy writes 'a', in no order @ 
help: wait for semaphore 0 >= 1 at instruction 0 of the vector stream or before it
note: instruction 0 of the vector stream, memset: both touch sbuf partitions 0-31, bytes 8-11 @ 
note: the earlier one is instruction 0 of the scalar stream, tensor_copy @ 
note: instruction 0 of the vector stream starts without semaphore 0 >= 1, which proves instruction 0 of the scalar stream complete @ 
scalar 0  tensor_copy
vector 0  memset
scalar 0 -> vector 0  missing: semaphore 0 >= 1
)");
}

/// Blocks of a matrix in HBM: their runs of bytes interleave, their rectangles are apart.
TEST(Race, IsNoneBetweenBlocksOfAMatrix) {
  const auto blocks = [](int column) {
    return proofOf(R"(
.stream scalar
  dma_copy dst=y[32 rows of 64, 0: 1x16] src=a[0+32, 0: 1x16] dge_mode=hwdge ring=1 update s0+=16
.stream sync
  dma_copy dst=y[32 rows of 64, )" +
                   std::to_string(column) + ": 1x16] src=b[0+32, 0: 1x16] #1\n");
  };

  EXPECT_EQ(reportText(blocks(16)), kAllProven);
  EXPECT_EQ(reportText(blocks(15)), R"(races refuted, deadlock proven, memory proven

race X-08: race: dma_copy writes 'y' and dma_copy writes 'y', in no order @ 
help: wait for semaphore 0 >= 16 at instruction 0 of the sync stream or before it
note: instruction 0 of the sync stream, dma_copy: both touch bytes 60-63 of 'y' in hbm @ 
note: the earlier one is instruction 0 of the scalar stream, dma_copy @ 
note: instruction 0 of the sync stream starts without semaphore 0 >= 16, which proves instruction 0 of the scalar stream complete @ 
scalar 0  dma_copy
sync 0  dma_copy
scalar 0 -> sync 0  missing: semaphore 0 >= 16
)");
}

TEST(Race, IsNoneBetweenPartitions) {
  const auto partitions = [](int count) {
    return proofOf(".tensor t sbuf 64x16xf32 at 64,0\n.stream scalar\n"
                   "  tensor_copy dst=t[0+" +
                   std::to_string(count) + ", 0: 1x16] src=t[0+" + std::to_string(count) +
                   R"(, 0: 1x16] update s0+=1
.stream vector
  memset dst=t[32+32, 0: 1x16] value=1 #1
)");
  };

  EXPECT_EQ(reportText(partitions(32)), kAllProven);
  EXPECT_EQ(reportText(partitions(33)), R"(races refuted, deadlock proven, memory proven

race X-08: race: memset writes 't' and tensor_copy writes 't', in no order @ 
help: wait for semaphore 0 >= 1 at instruction 0 of the vector stream or before it
note: instruction 0 of the vector stream, memset: both touch sbuf partition 96, bytes 0-63 @ 
note: the earlier one is instruction 0 of the scalar stream, tensor_copy @ 
note: instruction 0 of the vector stream starts without semaphore 0 >= 1, which proves instruction 0 of the scalar stream complete @ 
scalar 0  tensor_copy
vector 0  memset
scalar 0 -> vector 0  missing: semaphore 0 >= 1
)");
}

//---- the order of the program ---------------------------------------------------------------===//

TEST(Order, OfNeighboursSwappedOnAnEngine) {
  const Proof proof = proofOf(R"(
.stream vector
  tensor_copy dst=b[0+32, 0: 1x16] src=a[0+32, 0: 1x16] @11 #1
  memset dst=a[0+32, 0: 1x16] value=1 @10 #0
)");

  EXPECT_EQ(reportText(proof), R"(races refuted, deadlock proven, memory proven

order X-08: tensor_copy reads 'a' before memset writes 'a', which comes first in program order @ kernel.cpp:11
help: keep accesses to the same bytes in program order
note: instruction 0 of the vector stream, tensor_copy: both touch sbuf partitions 0-31, bytes 0-63 @ 
note: first in program order is instruction 1 of the vector stream, memset @ kernel.cpp:10
vector 1  memset  kernel.cpp:10
vector 0  tensor_copy  kernel.cpp:11
vector 0 -> vector 1  program order
vector 1 -> vector 0  missing: comes first in program order
)");
}

/// A wait enforces the opposite of the program's order between two engines.
TEST(Order, OfTwoEnginesThatWaitTheOtherWayRound) {
  const Proof proof = proofOf(R"(
.stream scalar
  tensor_copy dst=b[0+32, 0: 1x16] src=a[0+32, 0: 1x16] update s0+=1 @11 #1
.stream vector
  wait s0>=1 memset dst=a[0+32, 0: 1x16] value=1 @10 #0
)");

  EXPECT_EQ(reportText(proof), R"(races refuted, deadlock proven, memory proven

order X-08: tensor_copy reads 'a' before memset writes 'a', which comes first in program order @ kernel.cpp:11
help: keep accesses to the same bytes in program order
note: instruction 0 of the scalar stream, tensor_copy: both touch sbuf partitions 0-31, bytes 0-63 @ 
note: first in program order is instruction 0 of the vector stream, memset @ kernel.cpp:10
vector 0  memset  kernel.cpp:10
scalar 0  tensor_copy  kernel.cpp:11
scalar 0 -> vector 0  waits: semaphore 0 >= 1
vector 0 -> scalar 0  missing: comes first in program order
)");
}

/// Independent neighbours may change places.
TEST(Order, IsFreeWhereNoBytesAreShared) {
  EXPECT_EQ(reportText(proofOf(R"(
.stream vector
  memset dst=b[0+32, 0: 1x16] value=1 #1
  memset dst=a[0+32, 0: 1x16] value=1 #0
)")),
            kAllProven);
}

/// Chains through the reduction registers of an engine share no tensor and must not pass.
TEST(Order, OfChainsThroughReductionRegisters) {
  const char *chains = R"(
.tensor s sbuf 32x1xf32 at 0,256
.tensor t sbuf 32x1xf32 at 0,260
.stream scalar
  activation dst=b[0+32, 0: 1x16] data=a[0+32, 0: 1x16] reduce_res=s[0+32, 0: 1x1] op=exp reduce_op=add reduce_cmd=reset_reduce @10 #)";
  const std::string second = R"(
  activation dst=d[0+32, 0: 1x16] data=c[0+32, 0: 1x16] reduce_res=t[0+32, 0: 1x1] op=exp reduce_op=add reduce_cmd=reset_reduce @11 #)";

  EXPECT_EQ(reportText(proofOf(chains + ("0" + second + "1\n"))), kAllProven);
  EXPECT_EQ(reportText(proofOf(chains + ("1" + second + "0\n"))),
            R"(races refuted, deadlock proven, memory proven

order X-08: activation uses the reduction registers before activation uses the reduction registers, which comes first in program order @ kernel.cpp:10
help: keep accesses to the same bytes in program order
note: instruction 0 of the scalar stream, activation: both go through the reduction registers of the engine @ 
note: first in program order is instruction 1 of the scalar stream, activation @ kernel.cpp:11
scalar 1  activation  kernel.cpp:11
scalar 0  activation  kernel.cpp:10
scalar 0 -> scalar 1  program order
scalar 1 -> scalar 0  missing: comes first in program order
)");
}

/// A read replaces an older one of its engine only where the stream makes it later: here the one
/// in place comes first, and the copy behind it reads what it wrote.
TEST(Order, OfAReadAndAnInstructionInPlace) {
  const Proof proof = proofOf(R"(
.stream vector
  tensor_copy dst=a[0+32, 0: 1x16] src=a[0+32, 0: 1x16] @12 #2
  tensor_copy dst=b[0+32, 0: 1x16] src=a[0+32, 0: 1x16] @11 #1
)");

  EXPECT_EQ(reportText(proof), R"(races refuted, deadlock proven, memory proven

order X-08: tensor_copy writes 'a' before tensor_copy reads 'a', which comes first in program order @ kernel.cpp:12
help: keep accesses to the same bytes in program order
note: instruction 0 of the vector stream, tensor_copy: both touch sbuf partitions 0-31, bytes 0-63 @ 
note: first in program order is instruction 1 of the vector stream, tensor_copy @ kernel.cpp:11
vector 1  tensor_copy  kernel.cpp:11
vector 0  tensor_copy  kernel.cpp:12
vector 0 -> vector 1  program order
vector 1 -> vector 0  missing: comes first in program order
)");
}
