//===- DeadlockTest.cpp - waits that are never reached ----------------------------------------===//

#include "ProofFixture.h"

using namespace kilnrt;
using namespace kilnrt::test;

namespace {

/// A loop of `body`, which has the streams' records between the edges, in all streams.
std::string inLoop(const std::string &vector, const std::string &sync, int trips = 3) {
  const std::string begin = "  loop_begin trip_count=" + std::to_string(trips) + " #";
  return ".stream vector\n" + begin + "100\n" + vector + "  loop_end #200\n.stream sync\n" + begin +
         "101\n" + sync + "  loop_end #201\n";
}

} // namespace

TEST(Deadlock, OfACycle) {
  const Proof proof = proofOf(R"(
.stream scalar
  wait s1>=1 tensor_copy dst=b[0+32, 0: 1x16] src=b[0+32, 0: 1x16] update s0+=1 @10 #0
.stream vector
  memset dst=c[0+32, 0: 1x16] value=1 @11 #1
  wait s0>=1 memset dst=a[0+32, 0: 1x16] value=1 update s1+=1 @12 #2
)");

  EXPECT_EQ(reportText(proof),
            R"(races not proven, deadlock refuted, memory not proven: streams wait for ever

deadlock X-01: deadlock: 2 streams wait for semaphores that do not rise @ kernel.cpp:10
help: correct the waits and updates so that every wait is reached
note: the scalar stream waits at instruction 0, tensor_copy, for semaphore 1 >= 1; it is 0, and it would be raised by instruction 1 of the vector stream, memset @ kernel.cpp:10
note: the vector stream waits at instruction 1, memset, for semaphore 0 >= 1; it is 0, and it would be raised by instruction 0 of the scalar stream, tensor_copy @ kernel.cpp:12
scalar 0  tensor_copy  kernel.cpp:10
vector 1  memset  kernel.cpp:12
scalar 0 -> vector 1  waits for: semaphore 1 >= 1
vector 1 -> scalar 0  waits for: semaphore 0 >= 1
)");
  ASSERT_EQ(proof.findings.size(), 1u);
  EXPECT_EQ(graphDot(proof.findings[0].graph, "deadlock"), R"(digraph "deadlock" {
  node [shape=box];
  n0 [label="scalar 0 tensor_copy\nkernel.cpp:10"];
  n1 [label="vector 1 memset\nkernel.cpp:12"];
  n0 -> n1 [label="semaphore 1 >= 1", style=dashed];
  n1 -> n0 [label="semaphore 0 >= 1", style=dashed];
}
)");
}

/// The wait stands in front of the update it needs.
TEST(Deadlock, BehindItsOwnWait) {
  EXPECT_EQ(reportText(proofOf(R"(
.stream vector
  wait s0>=2 memset dst=a[0+32, 0: 1x16] value=1 update s0+=1 @10 #0
  memset dst=b[0+32, 0: 1x16] value=1 update s0+=1 @11 #1
)")),
            R"(races not proven, deadlock refuted, memory not proven: streams wait for ever

deadlock X-01: deadlock: one stream waits for a semaphore that does not rise @ kernel.cpp:10
help: correct the waits and updates so that every wait is reached
note: the vector stream waits at instruction 0, memset, for semaphore 0 >= 2; it is 0, and it would be raised by instruction 0 of the vector stream, memset, which is the one that waits @ kernel.cpp:10
vector 0  memset  kernel.cpp:10
vector 0 -> vector 0  waits for: semaphore 0 >= 2
)");
}

/// Of what is raised in time there is too little by one; the rest is behind the wait.
TEST(Deadlock, OfASumThatIsTooLow) {
  const auto waits = [](int value) {
    return proofOf(R"(
.stream vector
  wait s0>=)" + std::to_string(value) +
                   R"( tensor_copy dst=b[0+32, 0: 1x16] src=a[0+32, 0: 1x16] @12 #2
  memset dst=c[0+32, 0: 1x16] value=1 update s0+=4 @13 #3
.stream sync
  dma_copy dst=a[0+32, 0: 1x16] src=x[32 rows of 64, 0: 1x16] update s0+=16 @10 #0
)");
  };

  EXPECT_EQ(reportText(waits(16)), kAllProven);
  EXPECT_EQ(reportText(waits(17)),
            R"(races not proven, deadlock refuted, memory not proven: streams wait for ever

deadlock X-01: deadlock: one stream waits for a semaphore that does not rise @ kernel.cpp:12
help: correct the waits and updates so that every wait is reached
note: the vector stream waits at instruction 0, tensor_copy, for semaphore 0 >= 17; it is 16, and it would be raised by instruction 1 of the vector stream, memset, behind instruction 0 @ kernel.cpp:12
vector 0  tensor_copy  kernel.cpp:12
vector 1  memset  kernel.cpp:13
vector 0 -> vector 1  waits for: semaphore 0 >= 17
vector 1 -> vector 0  waits for: behind it in the stream
)");
}

/// Every stream that waits is told, and those it waits for, one line a stream.
TEST(Deadlock, NamesEveryStreamThatWaits) {
  EXPECT_EQ(reportText(proofOf(R"(
.stream scalar
  wait s2>=1 tensor_copy dst=b[0+32, 0: 1x16] src=b[0+32, 0: 1x16] update s0+=1 @10 #0
.stream gpsimd
  wait s0>=1 tensor_copy dst=c[0+32, 0: 1x16] src=c[0+32, 0: 1x16] update s1+=1 @11 #1
.stream vector
  wait s1>=17 memset dst=a[0+32, 0: 1x16] value=1 update s2+=1 @12 #2
.stream sync
  wait s2>=1 dma_copy dst=y[32 rows of 64, 0: 1x16] src=a[0+32, 0: 1x16] update s1+=16 @13 #3
)")),
            R"(races not proven, deadlock refuted, memory not proven: streams wait for ever

deadlock X-01: deadlock: 4 streams wait for semaphores that do not rise @ kernel.cpp:10
help: correct the waits and updates so that every wait is reached
note: the scalar stream waits at instruction 0, tensor_copy, for semaphore 2 >= 1; it is 0, and it would be raised by instruction 0 of the vector stream, memset @ kernel.cpp:10
note: the gpsimd stream waits at instruction 0, tensor_copy, for semaphore 0 >= 1; it is 0, and it would be raised by instruction 0 of the scalar stream, tensor_copy @ kernel.cpp:11
note: the vector stream waits at instruction 0, memset, for semaphore 1 >= 17; it is 0, and it would be raised by instruction 0 of the gpsimd stream, tensor_copy, and by instruction 0 of the sync stream, dma_copy @ kernel.cpp:12
note: the sync stream waits at instruction 0, dma_copy, for semaphore 2 >= 1; it is 0, and it would be raised by instruction 0 of the vector stream, memset @ kernel.cpp:13
scalar 0  tensor_copy  kernel.cpp:10
vector 0  memset  kernel.cpp:12
gpsimd 0  tensor_copy  kernel.cpp:11
sync 0  dma_copy  kernel.cpp:13
scalar 0 -> vector 0  waits for: semaphore 2 >= 1
gpsimd 0 -> scalar 0  waits for: semaphore 0 >= 1
vector 0 -> gpsimd 0  waits for: semaphore 1 >= 17
vector 0 -> sync 0  waits for: semaphore 1 >= 17
sync 0 -> vector 0  waits for: semaphore 2 >= 1
)");
}

/// The values of a semaphore do not last beyond the edge of a loop.
TEST(Deadlock, InTheEpochOfALoop) {
  const auto body = [](const char *wait) {
    return proofOf(inLoop("  memset dst=a[0+32, 0: 1x16] value=1 update s0+=1 @10 #102\n",
                          std::string("  wait ") + wait +
                              " dma_copy dst=y[32 rows of 64, 0: 1x16] src=a[0+32, 0: 1x16] "
                              "update s1+=16 @11 #103\n"));
  };

  EXPECT_EQ(reportText(body("s0>=1")), kAllProven);
  EXPECT_EQ(reportText(body("s1>=1")),
            R"(races not proven, deadlock refuted, memory not proven: streams wait for ever

deadlock X-01: deadlock: one stream waits for a semaphore that does not rise @ kernel.cpp:11
help: correct the waits and updates so that every wait is reached
note: the sync stream waits at instruction 1, dma_copy, for semaphore 1 >= 1; it is 0, and it would be raised by instruction 1 of the sync stream, dma_copy, which is the one that waits @ kernel.cpp:11
sync 1  dma_copy  kernel.cpp:11
sync 1 -> sync 1  waits for: semaphore 1 >= 1
)");
}

/// A race before the deadlock is told as well; nothing behind it is proven.
TEST(Deadlock, AtTheSecondEpochLeavesTheFirstJudged) {
  const std::string before = "  memset dst=a[0+32, 0: 1x16] value=1 @10 #102\n";
  const std::string store =
      "  dma_copy dst=y[32 rows of 64, 0: 1x16] src=a[0+32, 0: 1x16] @11 #103\n";
  const std::string end =
      "  wait s0>=2 memset dst=b[0+32, 0: 1x16] value=1 update s0+=2 @12 #300\n";

  std::string text = inLoop(before, store);
  text.replace(text.find(".stream sync"), 0, end);
  EXPECT_EQ(reportText(proofOf(text)),
            R"(races refuted, deadlock refuted, memory not proven: streams wait for ever

deadlock X-01: deadlock: one stream waits for a semaphore that does not rise @ kernel.cpp:12
help: correct the waits and updates so that every wait is reached
note: the vector stream waits at instruction 3, memset, for semaphore 0 >= 2; it is 0, and it would be raised by instruction 3 of the vector stream, memset, which is the one that waits @ kernel.cpp:12
vector 3  memset  kernel.cpp:12
vector 3 -> vector 3  waits for: semaphore 0 >= 2

race X-08: race: dma_copy reads 'a' and memset writes 'a', in no order @ kernel.cpp:11
help: let instruction 1 of the vector stream update a semaphore that instruction 1 of the sync stream waits for
note: instruction 1 of the sync stream, dma_copy: both touch sbuf partitions 0-31, bytes 0-63 @ 
note: the earlier one is instruction 1 of the vector stream, memset @ kernel.cpp:10
note: instruction 1 of the sync stream cannot wait for instruction 1 of the vector stream, which updates no semaphore @ 
vector 1  memset  kernel.cpp:10
sync 1  dma_copy  kernel.cpp:11
vector 1 -> sync 1  missing: updates no semaphore
)");
}
