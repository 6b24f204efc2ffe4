//===- OracleTest.cpp - verdicts of the oracle that are known ---------------------------------===//

#include "Oracle.h"
#include "Samples.h"

using namespace kilnrt;
using namespace kilnrt::mutation;
using namespace kilnrt::mutation::test;

namespace {

/// "right", or the properties that do not hold and the witness.
std::string verdictOf(const Program &program) {
  const Oracle oracle(program);
  const Verdict &verdict = oracle.verdict();
  if (verdict.isRight())
    return "right";
  std::string text;
  text += verdict.isReached ? "" : "not reached, ";
  text += verdict.isOrdered ? "" : "not ordered, ";
  text += verdict.keepsRegisters ? "" : "registers, ";
  text += verdict.isReuseOrdered ? "" : "reuse, ";
  text += verdict.hasNoOverlap ? "" : "overlap, ";
  return text + verdict.witness;
}
std::string verdictOf(const std::string &tensors, const std::string &streams) {
  return verdictOf(programOf(tensors, streams));
}

/// `text` with `from`, which stands in it once, replaced.
std::string replaced(std::string text, const std::string &from, const std::string &to) {
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  EXPECT_EQ(text.find(from, at + 1), std::string::npos) << from;
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

//---- waits ----------------------------------------------------------------------------------===//

TEST(Oracle, CopyIsRight) { EXPECT_EQ(verdictOf(kCopyTensors, kCopyStreams), "right"); }

TEST(Oracle, EveryWaitOfTheCopyIsNeeded) {
  EXPECT_EQ(verdictOf(kCopyTensors, replaced(kCopyStreams, "wait s0>=16 ", "")),
            "not ordered, #1 may start before #0 is complete");
  // One increment short: the last share may be missing.
  EXPECT_EQ(verdictOf(kCopyTensors, replaced(kCopyStreams, "s0>=16", "s0>=15")),
            "not ordered, #1 may start before #0 is complete");
  EXPECT_EQ(verdictOf(kCopyTensors, replaced(kCopyStreams, "wait s1>=1 ", "")),
            "not ordered, #2 may start before #1 is complete");
}

TEST(Oracle, TransfersOnOneSemaphoreCountTogether) {
  const std::string streams = R"(.stream vector
  wait s0>=N tensor_copy dst=u[0+128, 0: 1x64] src=t[0+128, 0: 1x64] update s1+=1 #2
.stream sync
  dma_copy dst=t[0+64, 0: 1x64] src=x[64 rows of 64, 0: 1x64] update s0+=16 #0
  dma_copy dst=t[64+64, 0: 1x64] src=x[64 rows of 64, 4096: 1x64] update s0+=16 #1
  wait s1>=1 dma_copy dst=y[128 rows of 64, 0: 1x64] src=u[0+128, 0: 1x64] #3
)";
  EXPECT_EQ(verdictOf(kCopyTensors, replaced(streams, ">=N", ">=32")), "right");
  // 31 are reached with one increment of either missing, 16 with all of the second and none of the
  // first.
  for (const char *value : {">=31", ">=16"})
    EXPECT_EQ(verdictOf(kCopyTensors, replaced(streams, ">=N", value)),
              "not ordered, #2 may start before #0 is complete");
}

TEST(Oracle, TransfersOfOneRingHaveNoOrder) {
  const std::string streams = R"(.stream sync
  dma_copy dst=t[0+128, 0: 1x64] src=x[128 rows of 64, 0: 1x64] update s0+=16 #0
  WAITdma_copy dst=y[128 rows of 64, 0: 1x64] src=t[0+128, 0: 1x64] update s2+=16 #1
)";
  EXPECT_EQ(verdictOf(kCopyTensors, replaced(streams, "WAIT", "wait s0>=16 ")), "right");
  EXPECT_EQ(verdictOf(kCopyTensors, replaced(streams, "WAIT", "")),
            "not ordered, #1 may start before #0 is complete");
}

TEST(Oracle, WaitsThatNeedEachOtherAreNeverReached) {
  EXPECT_EQ(verdictOf(kCopyTensors, R"(.stream scalar
  wait s1>=1 semaphore_wait update s0+=1 #0
.stream vector
  wait s0>=1 semaphore_wait update s1+=1 #1
)"),
            "not reached, #0 is never reached");
}

TEST(Oracle, AnEngineWorksInTheOrderOfItsStream) {
  const std::string tensors = R"(.tensor %0 t sbuf 128x64xf32 at 0,0
.tensor %1 u sbuf 128x64xf32 at 0,256
)";
  EXPECT_EQ(verdictOf(tensors, R"(.stream vector
  memset dst=t[0+128, 0: 1x64] value=1 #0
  tensor_copy dst=u[0+128, 0: 1x64] src=t[0+128, 0: 1x64] #1
)"),
            "right");
  EXPECT_EQ(verdictOf(tensors, R"(.stream vector
  tensor_copy dst=u[0+128, 0: 1x64] src=t[0+128, 0: 1x64] #1
  memset dst=t[0+128, 0: 1x64] value=1 #0
)"),
            "not ordered, #1 may start before #0 is complete");
}

TEST(Oracle, ReachedThroughAThirdEngine) {
  const std::string streams = R"(.stream scalar
  wait s0>=1 semaphore_wait update s1+=1 #1
.stream vector
  memset dst=t[0+128, 0: 1x64] value=1 update s0+=1 #0
.stream sync
  wait s1>=1 dma_copy dst=y[128 rows of 64, 0: 1x64] src=t[0+128, 0: 1x64] #2
)";
  EXPECT_EQ(verdictOf(kCopyTensors, streams), "right");
  EXPECT_EQ(verdictOf(kCopyTensors, replaced(streams, "wait s0>=1 ", "")),
            "not ordered, #2 may start before #0 is complete");
}

//---- bytes ----------------------------------------------------------------------------------===//

/// A write of `first` and, on another engine and in no order, of `second`, both of t.
std::string twoWrites(const std::string &first, const std::string &second) {
  return verdictOf(".tensor %0 t sbuf 128x64xf32 at 0,128\n",
                   ".stream gpsimd\n  memset dst=" + second + " value=2 #1\n" +
                       ".stream vector\n  memset dst=" + first + " value=1 #0\n");
}

TEST(Oracle, OnlySharedBytesConflict) {
  const std::string race = "not ordered, #1 may start before #0 is complete";
  EXPECT_EQ(twoWrites("t[0+128, 0: 1x32]", "t[0+128, 32: 1x32]"), "right");
  EXPECT_EQ(twoWrites("t[0+128, 0: 1x33]", "t[0+128, 32: 1x32]"), race);
  EXPECT_EQ(twoWrites("t[0+64, 0: 1x64]", "t[64+64, 0: 1x64]"), "right");
  EXPECT_EQ(twoWrites("t[0+96, 0: 1x64]", "t[64+64, 0: 1x64]"), race);
  // Every other element, and those between them; from the end on as well.
  EXPECT_EQ(twoWrites("t[0+128, 0: 2x32]", "t[0+128, 1: 2x32]"), "right");
  EXPECT_EQ(twoWrites("t[0+128, 0: 2x32]", "t[0+128, 2: 2x31]"), race);
  EXPECT_EQ(twoWrites("t[0+128, 62: -2x32]", "t[0+128, 1: 2x32]"), "right");
  EXPECT_EQ(twoWrites("t[0+128, 63: -2x32]", "t[0+128, 1: 2x32]"), race);
  // Blocks of 4 of every 16, as two dims.
  EXPECT_EQ(twoWrites("t[0+128, 0: 16x4 1x4]", "t[0+128, 4: 16x4 1x12]"), "right");
  EXPECT_EQ(twoWrites("t[0+128, 0: 16x4 1x5]", "t[0+128, 4: 16x4 1x12]"), race);
  // Halves of one element.
  EXPECT_EQ(twoWrites("t[0+128, 1: 1x1]:bf16", "t[0+128, 1: 1x1]"), "right");
  EXPECT_EQ(twoWrites("t[0+128, 2: 1x1]:bf16", "t[0+128, 1: 1x1]"), race);
}

TEST(Oracle, RowsOfHbmTensorsInterleave) {
  const auto writes = [](const std::string &first, const std::string &second) {
    return verdictOf(kCopyTensors, ".stream vector\n  memset dst=t[0+128, 0: 1x64] value=1 "
                                   "update s0+=1 #0\n.stream sync\n  wait s0>=1 dma_copy dst=" +
                                       first + " src=t[0+64, 0: 1x32] #1\n  dma_copy dst=" +
                                       second + " src=t[0+64, 0: 1x32] #2\n");
  };
  EXPECT_EQ(writes("y[64 rows of 64, 0: 1x32]", "y[64 rows of 64, 32: 1x32]"), "right");
  EXPECT_EQ(writes("y[64 rows of 64, 1: 1x32]", "y[64 rows of 64, 32: 1x32]"),
            "not ordered, #2 may start before #1 is complete");
  EXPECT_EQ(writes("y[64 rows of 64, 0: 1x32]", "y[64 rows of 64, 4096: 1x32]"), "right");
}

//---- loops ----------------------------------------------------------------------------------===//

/// 8 iterations that write `first` and, in no order, `second` of t, 128x64.
std::string inLoop(const std::string &first, const std::string &second) {
  return verdictOf(".tensor %0 t sbuf 128x64xf32 at 0,0\n",
                   ".stream gpsimd\n  loop_begin trip_count=8 #1\n  memset dst=" + second +
                       " value=2 #3\n  loop_end #5\n" +
                       ".stream vector\n  loop_begin trip_count=8 #0\n  memset dst=" + first +
                       " value=1 #2\n  loop_end #4\n");
}

TEST(Oracle, IterationsMeetAtTheEdge) {
  const std::string race = "not ordered, #3 may start before #2 is complete";
  EXPECT_EQ(inLoop("t[0+128, 0: 1x8]", "t[0+128, 8: 1x8]"), "right");
  // The same bytes, but never in one iteration: 8 apart.
  EXPECT_EQ(inLoop("t[0+128, 0: 1x4 loop 4]", "t[0+128, 4: 1x4 loop 4]"), "right");
  EXPECT_EQ(inLoop("t[0+128, 0: 1x5 loop 4]", "t[0+128, 4: 1x4 loop 4]"), race);
  // One stands still; the other passes it in iteration 5, or just does not arrive.
  EXPECT_EQ(inLoop("t[0+128, 0: 1x4 loop 4]", "t[0+128, 20: 1x4]"), race);
  EXPECT_EQ(inLoop("t[0+128, 0: 1x4 loop 4]", "t[0+128, 32: 1x4]"), "right");
}

TEST(Oracle, SemaphoresRestartAtTheEdge) {
  // What the loop counted does not help behind it.
  const std::string streams = R"(.stream vector
  loop_begin trip_count=3 #0
  memset dst=t[0+128, 0: 1x64] value=1 update s0+=1 #2
  loop_end #3
  memset dst=t[0+128, 0: 1x64] value=2 update s0+=1 #5
.stream sync
  loop_begin trip_count=3 #1
  loop_end #4
  WAITdma_copy dst=y[128 rows of 64, 0: 1x64] src=t[0+128, 0: 1x64] #6
)";
  EXPECT_EQ(verdictOf(kCopyTensors, replaced(streams, "WAIT", "wait s0>=1 ")), "right");
  EXPECT_EQ(verdictOf(kCopyTensors, replaced(streams, "WAIT", "")),
            "not ordered, #6 may start before #5 is complete");
}

//---- tensors over each other ----------------------------------------------------------------===//

TEST(Oracle, BytesAreTakenAfterTheLastUse) {
  const std::string tensors = std::string(kCopyTensors) + ".tensor %4 v sbuf 128x32xf32 at 0,0\n";
  const std::string streams = R"(.stream gpsimd
  WAITmemset dst=v[0+128, 0: 1x32] value=1 #3
.stream vector
  wait s0>=16 tensor_copy dst=u[0+128, 0: 1x64] src=t[0+128, 0: 1x64] update s1+=1 #1
.stream sync
  dma_copy dst=t[0+128, 0: 1x64] src=x[128 rows of 64, 0: 1x64] update s0+=16 #0
  wait s1>=1 dma_copy dst=y[128 rows of 64, 0: 1x64] src=u[0+128, 0: 1x64] update s2+=16 #2
)";
  EXPECT_EQ(verdictOf(tensors, replaced(streams, "WAIT", "wait s1>=1 ")), "right");
  // After the load, but not after the copy that reads it.
  EXPECT_EQ(verdictOf(tensors, replaced(streams, "WAIT", "wait s0>=16 ")),
            "reuse, #3 may start before #1 is complete");
}

TEST(Oracle, TensorsTakeWholeRangesNotBytes) {
  // t and v share bytes 128 to 255 of each partition, but no access touches those of t.
  EXPECT_EQ(
      verdictOf(".tensor %0 t sbuf 128x64xf32 at 0,0\n.tensor %1 v sbuf 128x64xf32 at 0,128\n",
                ".stream gpsimd\n  memset dst=v[0+128, 0: 1x64] value=1 #1\n"
                ".stream vector\n  memset dst=t[0+128, 0: 1x8] value=1 #0\n"),
      "reuse, #1 may start before #0 is complete");
}

TEST(Oracle, NoTensorIsUsedAfterItsBytesWereTaken) {
  const std::string streams = R"(.stream vector
  memset dst=t[0+128, 0: 1x64] value=1 #0
  memset dst=v[0+128, 0: 1x64] value=2 #1
  tensor_copy dst=w[0+128, 0: 1x64] src=t[0+128, 0: 1x64] #2
)";
  const std::string tensors = ".tensor %0 t sbuf 128x64xf32 at 0,0\n"
                              ".tensor %1 w sbuf 128x64xf32 at 0,1024\n";
  EXPECT_EQ(verdictOf(tensors + ".tensor %2 v sbuf 128x64xf32 at 0,256\n", streams), "right");
  EXPECT_EQ(verdictOf(tensors + ".tensor %2 v sbuf 128x64xf32 at 0,252\n", streams),
            "overlap, 't' and 'v' overlap while both are in use");
}

TEST(Oracle, ALoopComesBackToTensorsDeclaredOutside) {
  const auto loop = [](const std::string &scope) {
    return verdictOf(".tensor %0 t sbuf 128x64xf32 at 0,0" + scope +
                         "\n.tensor %1 v sbuf 128x64xf32 at 0,0" + scope + "\n",
                     ".stream vector\n  loop_begin trip_count=2 #0\n"
                     "  memset dst=t[0+128, 0: 1x64] value=1 #1\n"
                     "  memset dst=v[0+128, 0: 1x64] value=2 #2\n  loop_end #3\n");
  };
  EXPECT_EQ(loop(" in loop 0"), "right");
  EXPECT_EQ(loop(""), "overlap, 't' and 'v' overlap while both are in use");
}

TEST(Oracle, OneInstructionMayHandBytesOver) {
  const std::string tensors = ".tensor %0 t sbuf 128x64xf32 at 0,0\n"
                              ".tensor %1 v sbuf 128x64xf32 at 0,0\n"
                              ".tensor %2 y hbm 128x64xf32 output 0\n";
  EXPECT_EQ(verdictOf(tensors, R"(.stream vector
  memset dst=t[0+128, 0: 1x64] value=1 #0
  tensor_copy dst=v[0+128, 0: 1x64] src=t[0+128, 0: 1x64] update s0+=1 #1
.stream sync
  wait s0>=1 dma_copy dst=y[128 rows of 64, 0: 1x64] src=v[0+128, 0: 1x64] #2
)"),
            "right");
  // The shares of a transfer read and write in any order.
  EXPECT_EQ(verdictOf(tensors, R"(.stream vector
  memset dst=t[0+128, 0: 1x64] value=1 update s0+=1 #0
.stream sync
  wait s0>=1 dma_copy dst=v[0+128, 0: 1x64] src=t[0+128, 0: 1x64] update s1+=16 #1
  wait s1>=16 dma_copy dst=y[128 rows of 64, 0: 1x64] src=v[0+128, 0: 1x64] #2
)"),
            "overlap, 't' and 'v' overlap while both are in use");
}

//---- registers ------------------------------------------------------------------------------===//

TEST(Oracle, ChainsThroughRegistersKeepTheirOrder) {
  const std::string tensors = ".tensor %0 t sbuf 128x64xf32 at 0,0\n"
                              ".tensor %1 a sbuf 128x32xf32 at 0,256\n"
                              ".tensor %2 b sbuf 128x32xf32 at 0,512\n"
                              ".tensor %3 s sbuf 128x1xf32 at 0,1024\n";
  const std::string start = ".stream vector\n  memset dst=t[0+128, 0: 1x64] value=1 #0\n";
  const std::string first =
      "  tensor_scalar_reduce dst=a[0+128, 0: 1x32] data=t[0+128, 0: 1x32] op0=multiply imm0=2 "
      "reduce_op=add #1\n";
  const std::string second =
      "  tensor_scalar_reduce dst=b[0+128, 0: 1x32] data=t[0+128, 32: 1x32] reduce_res=s[0+128, "
      "0: 1x1] op0=multiply imm0=2 reduce_op=add reduce_cmd=reduce #2\n";
  EXPECT_EQ(verdictOf(tensors, start + first + second), "right");
  EXPECT_EQ(verdictOf(tensors, start + second + first),
            "registers, #2 may start before #1 is complete");
}

TEST(Oracle, PrintsKeepTheirOrder) {
  const auto prints = [](const std::string &first, const std::string &second) {
    return verdictOf(std::string(".text 0 \"a\"\n") + kCopyTensors,
                     ".stream sync\n  " + first + "\n  " + second + "\n");
  };
  const std::string first = "device_print data=x[128 rows of 64, 0: 1x64] text=0 #0";
  const std::string second = "device_print data=x[1 rows of 64, 0: 1x64] text=0 #1";
  EXPECT_EQ(prints(first, second), "right");
  EXPECT_EQ(prints(second, first), "registers, #1 may start before #0 is complete");
}

//---- another program ------------------------------------------------------------------------===//

TEST(Oracle, JudgesOtherSynchronisationOfTheSameInstructions) {
  const Oracle oracle(programOf(kCopyTensors, kCopyStreams));
  EXPECT_TRUE(oracle.judge(programOf(kCopyTensors, kCopyStreams)).isRight());
  EXPECT_FALSE(
      oracle.judge(programOf(kCopyTensors, replaced(kCopyStreams, "s0>=16", "s0>=15"))).isRight());
}

TEST(Oracle, JudgesOtherAddresses) {
  const std::string tensors = ".tensor %0 t sbuf 128x64xf32 at 0,0\n"
                              ".tensor %1 v sbuf 128x64xf32 at 0,256\n";
  const std::string streams = ".stream gpsimd\n  memset dst=v[0+128, 0: 1x64] value=1 #1\n"
                              ".stream vector\n  memset dst=t[0+128, 0: 1x64] value=1 #0\n";
  const Oracle oracle(programOf(tensors, streams));
  EXPECT_TRUE(oracle.verdict().isRight());
  EXPECT_EQ(oracle.judge(programOf(replaced(tensors, "at 0,256", "at 0,252"), streams)).witness,
            "#1 may start before #0 is complete");
}

} // namespace
