//===- MinimalityTest.cpp - no wait without a need --------------------------------------------===//
//
// The checker is the judge: without any one wait it must find a fault. What the log says of the
// waits that were left out is compared with what the records do.
//
//===------------------------------------------------------------------------------------------===//

#include "AnalysisTestSupport.h"

#include <gmock/gmock.h>

namespace kiln::analysis {
namespace {

/// The waits of `result` without which the checker still accepts it, as "engine record".
std::vector<std::string> needlessWaits(const Kernel &kernel, const Placement &placement,
                                       const Synchronisation &result, size_t &waits) {
  std::vector<std::string> needless;
  for (unsigned e = 0; e < kNumEngines; ++e)
    for (size_t r = 0; r < result.streams[e].size(); ++r) {
      if (result.streams[e][r].waitSemaphore == kNoSemaphore)
        continue;
      ++waits;
      Synchronisation mutant = result;
      std::vector<ScheduledRecord> &stream = mutant.streams[e];
      if (stream[r].isWaitOnly)
        stream.erase(stream.begin() + std::ptrdiff_t(r));
      else
        stream[r].waitSemaphore = kNoSemaphore;
      if (verifySynchronisation(kernel, placement, mutant).empty())
        needless.push_back(std::string(isa::name(kEngines[e])) + " " + std::to_string(r));
    }
  return needless;
}

TEST(Minimality, EveryWaitOfAMatmulIsNeeded) {
  for (const auto strategy : {PlacementStrategy::Rotation, PlacementStrategy::Compact}) {
    const Kernel kernel = matmulKernel(/*blocks=*/14, /*depth=*/5);
    const Placement placement = placed(kernel, {.strategy = strategy});
    size_t waits = 0;
    EXPECT_THAT(needlessWaits(kernel, placement, synchronise(kernel, placement), waits),
                testing::IsEmpty());
    EXPECT_GT(waits, 150u);
  }
}

TEST(Minimality, RingWaitAnswersForTheRest) {
  // The ninth transfer needs the first one's ring and what the first one wrote: one wait is both.
  KernelBuilder b;
  const uint32_t in = b.hbm("in", {128, 64}), t = b.sbuf("t", {128, 64});
  std::vector<uint32_t> others;
  for (unsigned i = 0; i < 7; ++i)
    others.push_back(b.sbuf("u" + std::to_string(i), {128, 64}));
  b.dma(b.whole(t), b.block(in, 0, 128, 0, 64), 1);
  b.copy(Engine::Vector, b.whole(b.sbuf("v", {128, 64})), b.whole(t), 2);
  for (uint32_t other : others)
    b.dma(b.whole(other), b.block(in, 0, 128, 0, 64), 3);
  b.dma(b.whole(t), b.block(in, 0, 128, 0, 64), 4);
  const Placement placement = placed(b.kernel);
  const Synchronisation result = synchronise(b.kernel, placement);
  EXPECT_EQ(textOf(verifySynchronisation(b.kernel, placement, result)), "");
  EXPECT_EQ(textOf(b.kernel, result, Engine::Sync), "dma_copy 0 ring0+16\n"
                                                    "dma_copy 2 ring1+16\n"
                                                    "dma_copy 3 ring2+16\n"
                                                    "dma_copy 4 ring3+16\n"
                                                    "dma_copy 5 ring4+16\n"
                                                    "dma_copy 6 ring5+16\n"
                                                    "dma_copy 7 ring6+16\n"
                                                    "dma_copy 8 ring7+16\n"
                                                    "dma_copy 9 vector>=1 ring0+16\n");
}

//---- whole tensors --------------------------------------------------------------------------===//

/// 'a' is read at its end, 'b' takes its place and is used at its start only: no byte is shared.
struct DisjointTakeover {
  KernelBuilder b;
  Placement placement;
  Synchronisation result;
  DisjointTakeover() {
    const uint32_t a = b.sbuf("a", {128, 64}, 1), t = b.sbuf("t", {128, 64}, 2),
                   c = b.sbuf("b", {128, 64}, 3);
    b.setAddress(a, 0, 0);
    b.setAddress(c, 0, 0);
    b.setAddress(t, 0, 1024);
    b.memset(Engine::Gpsimd, b.part(a, 0, 128, 32, 32), 4);
    b.copy(Engine::Vector, b.part(t, 0, 128, 0, 32), b.part(a, 0, 128, 32, 32), 5);
    b.memset(Engine::Gpsimd, b.part(c, 0, 128, 0, 32), 6);
    placement = placed(b.kernel);
    result = synchronise(b.kernel, placement);
  }
};

TEST(Takeover, WholeTensorsAreKeptInOrder) {
  DisjointTakeover c;
  EXPECT_EQ(textOf(c.b.kernel, c.result, Engine::Gpsimd), "memset 0 gpsimd+1\n"
                                                          "memset 2 vector>=1\n");
  EXPECT_EQ(textOf(verifySynchronisation(c.b.kernel, c.placement, c.result)), "");
}

TEST(Takeover, CheckerFindsAMissingEdge) {
  DisjointTakeover c;
  c.result.streams[engineStream(Engine::Gpsimd)][1].waitSemaphore = kNoSemaphore;
  EXPECT_EQ(textOf(verifySynchronisation(c.b.kernel, c.placement, c.result)),
            "[] 'memset' at line 6 uses 'b', which takes the place of 'a', and 'tensor_copy' at line "
            "5 still uses that; no program order and no semaphore keeps them in order\n");
}

//---- the log --------------------------------------------------------------------------------===//

TEST(SyncLog, SaysWhyAWaitIsMissing) {
  KernelBuilder b;
  const uint32_t in = b.hbm("in", {128, 64}), x = b.sbuf("x", {128, 64}),
                 y = b.sbuf("y", {128, 64}), z = b.sbuf("z", {128, 64});
  b.dma(b.whole(x), b.block(in, 0, 128, 0, 64), 1);  // 0
  b.copy(Engine::Vector, b.whole(y), b.whole(x), 2); // 1 waits for 0
  b.copy(Engine::Scalar, b.whole(z), b.whole(y), 3); // 2 waits for 1, which knew 0
  b.copy(Engine::Scalar, b.whole(y), b.whole(x), 4); // 3 needs 0, 1 and its own 2
  const Placement placement = placed(b.kernel);
  SyncLog log;
  synchronise(b.kernel, placement, &log);
  const auto decision = [](uint32_t instruction, uint32_t source, SyncMeans means,
                           uint32_t learnedAt = kNone, uint32_t through = kNone) {
    return SyncDecision{instruction, source, SyncNeed::Bytes, means, learnedAt, through};
  };
  // In the order of the streams: tensor, scalar, gpsimd, vector, sync, rings.
  EXPECT_THAT(log.decisions, testing::ElementsAre(decision(1, 0, SyncMeans::Wait),         //
                                                  decision(2, 1, SyncMeans::Wait),         //
                                                  decision(3, 2, SyncMeans::ProgramOrder), //
                                                  decision(3, 1, SyncMeans::Known, 2, 1),  //
                                                  decision(3, 0, SyncMeans::Known, 2, 1)));
}

TEST(SyncLog, EveryWaitOfTheRecordsIsInTheLog) {
  for (uint32_t seed = 1; seed <= 10; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Kernel kernel = randomKernel(seed, 300, /*isTiny=*/false);
    const Placement placement = placed(kernel);
    SyncLog log;
    const Synchronisation result = synchronise(kernel, placement, &log);
    EXPECT_EQ(result.streams, synchronise(kernel, placement).streams);
    size_t waits = 0, decided = 0;
    for (const std::vector<ScheduledRecord> &stream : result.streams)
      for (const ScheduledRecord &record : stream)
        waits += record.waitSemaphore != kNoSemaphore;
    for (const SyncDecision &decision : log.decisions) {
      decided += decision.means == SyncMeans::Wait;
      EXPECT_LT(decision.source, decision.instruction);
      if (decision.means == SyncMeans::Known) {
        EXPECT_LE(decision.learnedAt, decision.instruction);
        EXPECT_LE(decision.source, decision.through);
        EXPECT_LT(decision.through, decision.learnedAt);
      }
    }
    EXPECT_EQ(waits, decided);
    EXPECT_GT(log.decisions.size(), waits);
  }
}

} // namespace
} // namespace kiln::analysis
