//===- SynchroniseTest.cpp - waits and updates of small kernels -------------------------------===//
//
// Exact records for kernels one can follow by hand, and the checker's sentences
// for records that were damaged by hand.
//
//===------------------------------------------------------------------------------------------===//

#include "AnalysisTestSupport.h"

#include <gmock/gmock.h>

namespace kiln::analysis {
namespace {

struct Case {
  KernelBuilder b;
  Placement placement;
  Synchronisation result;

  void run() {
    placement = placed(b.kernel);
    result = synchronise(b.kernel, placement);
    EXPECT_EQ(verdict(), "");
  }
  std::string verdict() const { return textOf(verifySynchronisation(b.kernel, placement, result)); }
  std::string text(Engine engine) const { return textOf(b.kernel, result, engine); }
  std::vector<ScheduledRecord> &stream(Engine engine) {
    return result.streams[engineStream(engine)];
  }
};

//---- records --------------------------------------------------------------------------------===//

TEST(Synchronise, LoadComputeStore) {
  Case c;
  KernelBuilder &b = c.b;
  const uint32_t in = b.hbm("in", {128, 64}), out = b.hbm("out", {128, 64}),
                 t = b.sbuf("t", {128, 64}), u = b.sbuf("u", {128, 64});
  b.dma(b.whole(t), b.block(in, 0, 128, 0, 64), 1);
  b.copy(Engine::Vector, b.whole(u), b.whole(t), 2);
  b.dma(b.block(out, 0, 128, 0, 64), b.whole(u), 3);
  c.run();

  EXPECT_EQ(c.text(Engine::Sync), "dma_copy 0 ring0+16\n"
                                  "dma_copy 2 vector>=1 ring1+16\n");
  EXPECT_EQ(c.text(Engine::Vector), "tensor_copy 1 ring0>=16 vector+1\n");
  EXPECT_EQ(c.text(Engine::Tensor), "");
}

TEST(Synchronise, SecondWaitIsARecordOfItsOwn) {
  Case c;
  KernelBuilder &b = c.b;
  const uint32_t in = b.hbm("in", {128, 256}), x = b.sbuf("x", {128, 128}),
                 y = b.sbuf("y", {128, 128}), acc = b.psum("acc", {128, 128});
  b.dma(b.whole(x), b.block(in, 0, 128, 0, 128), 1);
  b.dma(b.whole(y), b.block(in, 0, 128, 128, 128), 2);
  b.matmul(b.whole(acc), b.whole(x), b.whole(y), 3);
  b.matmul(b.whole(acc), b.whole(x), b.whole(y), 4);
  b.copy(Engine::Scalar, b.whole(x), b.whole(acc), 5);
  c.run();

  // The second matmul knows what the first one waited for; only it is awaited.
  EXPECT_EQ(c.text(Engine::Tensor), "wait 2 ring1>=16\n"
                                    "nc_matmul 2 ring0>=16\n"
                                    "nc_matmul 3 tensor+1\n");
  EXPECT_EQ(c.text(Engine::Scalar), "tensor_copy 4 tensor>=1\n");
}

TEST(Synchronise, WaitsTeachWhatTheProducerKnew) {
  Case c;
  KernelBuilder &b = c.b;
  const uint32_t in = b.hbm("in", {128, 64}), t = b.sbuf("t", {128, 64}),
                 u = b.sbuf("u", {128, 64}), v = b.sbuf("v", {128, 64});
  b.dma(b.whole(t), b.block(in, 0, 128, 0, 64), 1);
  b.copy(Engine::Vector, b.whole(u), b.whole(t), 2);
  // Needs the load and the copy; the copy knows about the load.
  b.add(Opcode::TensorTensor, Engine::Gpsimd, {b.whole(v), b.whole(t), b.whole(u)}, 3);
  c.run();

  EXPECT_EQ(c.text(Engine::Gpsimd), "tensor_tensor 2 vector>=1\n");
}

TEST(Synchronise, SameEngineNeedsNoWait) {
  Case c;
  KernelBuilder &b = c.b;
  const uint32_t t = b.sbuf("t", {128, 64});
  b.memset(Engine::Vector, b.whole(t), 1);
  b.copy(Engine::Vector, b.whole(t), b.whole(t), 2);
  c.run();

  EXPECT_EQ(c.text(Engine::Vector), "memset 0\ntensor_copy 1\n");
}

// A transfer runs beside the engine that triggers it.
TEST(Synchronise, OwnTransferIsWaitedFor) {
  Case c;
  KernelBuilder &b = c.b;
  const uint32_t in = b.hbm("in", {128, 64}), t = b.sbuf("t", {128, 64});
  b.dma(b.whole(t), b.block(in, 0, 128, 0, 64), 1, Engine::Scalar);
  b.copy(Engine::Scalar, b.whole(t), b.whole(t), 2);
  c.run();

  EXPECT_EQ(c.text(Engine::Scalar), "dma_copy 0 ring0+16\n"
                                    "tensor_copy 1 ring0>=16\n");
}

// Eight rings. The ninth transfer shares the first one's ring, and who needs either waits for both.
TEST(Synchronise, NinthTransferJoinsAnOpenBatch) {
  Case c;
  KernelBuilder &b = c.b;
  const uint32_t in = b.hbm("in", {128, 640});
  std::vector<uint32_t> tiles;
  for (int i = 0; i < 9; ++i)
    b.dma(b.whole(tiles.emplace_back(b.sbuf("t", {128, 64}))), b.block(in, 0, 128, 64 * i, 64), 1);
  b.copy(Engine::Vector, b.whole(b.sbuf("u", {128, 64})), b.whole(tiles[0]), 2);
  c.run();

  EXPECT_EQ(c.text(Engine::Sync), "dma_copy 0 ring0+16\n"
                                  "dma_copy 1 ring1+16\n"
                                  "dma_copy 2 ring2+16\n"
                                  "dma_copy 3 ring3+16\n"
                                  "dma_copy 4 ring4+16\n"
                                  "dma_copy 5 ring5+16\n"
                                  "dma_copy 6 ring6+16\n"
                                  "dma_copy 7 ring7+16\n"
                                  "dma_copy 8 ring0+16\n");
  EXPECT_EQ(c.text(Engine::Vector), "tensor_copy 9 ring0>=32\n");
}

// Every transfer was waited for: the ninth one's increments must not answer the wait for the first.
TEST(Synchronise, NinthTransferWaitsForAClosedBatch) {
  Case c;
  KernelBuilder &b = c.b;
  const uint32_t in = b.hbm("in", {128, 640});
  for (int i = 0; i < 9; ++i) {
    const uint32_t tile = b.sbuf("t", {128, 64});
    b.dma(b.whole(tile), b.block(in, 0, 128, 64 * i, 64), 1);
    b.copy(Engine::Vector, b.whole(b.sbuf("u", {128, 64})), b.whole(tile), 2);
  }
  c.run();

  EXPECT_EQ(c.text(Engine::Sync), "dma_copy 0 ring0+16\n"
                                  "dma_copy 2 ring1+16\n"
                                  "dma_copy 4 ring2+16\n"
                                  "dma_copy 6 ring3+16\n"
                                  "dma_copy 8 ring4+16\n"
                                  "dma_copy 10 ring5+16\n"
                                  "dma_copy 12 ring6+16\n"
                                  "dma_copy 14 ring7+16\n"
                                  "dma_copy 16 ring0>=16 ring0+16\n");
}

// An engine that does not know the closed batch complete may not join the open one: here the
// transfer of the Scalar Engine, which would raise ring 0 past 16 while transfer 0 is under way.
TEST(Synchronise, JoiningNeedsTheClosedBatchComplete) {
  Case c;
  KernelBuilder &b = c.b;
  const uint32_t in = b.hbm("in", {128, 1280}), out = b.hbm("out", {128, 640});
  std::vector<uint32_t> tiles;
  for (int i = 0; i < 8; ++i) {
    b.dma(b.whole(tiles.emplace_back(b.sbuf("t", {128, 64}))), b.block(in, 0, 128, 64 * i, 64), 1);
    b.copy(Engine::Vector, b.whole(b.sbuf("u", {128, 64})), b.whole(tiles[size_t(i)]), 2);
  }
  for (int i = 0; i < 8; ++i) // by now Sync knows all eight
    b.dma(b.block(out, 0, 128, 64 * i, 64), b.whole(tiles[size_t(i)]), 3);
  b.dma(b.whole(b.sbuf("v", {128, 64})), b.block(in, 0, 128, 640, 64), 4, Engine::Scalar);
  c.run();

  EXPECT_EQ(c.text(Engine::Scalar), "dma_copy 24 ring0>=16 ring0+16\n");
}

TEST(Synchronise, PrefersARingKnownToBeFree) {
  Case c;
  KernelBuilder &b = c.b;
  const uint32_t in = b.hbm("in", {128, 640}), out = b.hbm("out", {128, 64});
  std::vector<uint32_t> tiles;
  for (int i = 0; i < 8; ++i)
    b.dma(b.whole(tiles.emplace_back(b.sbuf("t", {128, 64}))), b.block(in, 0, 128, 64 * i, 64), 1);
  // Storing the sixth tile needs its load complete: its ring is free then.
  b.dma(b.block(out, 0, 128, 0, 64), b.whole(tiles[5]), 2);
  c.run();

  EXPECT_EQ(c.stream(Engine::Sync).back().ring, 5);
  EXPECT_EQ(c.stream(Engine::Sync).back().waitValue, 16u);
}

TEST(Synchronise, ValuesCountOnlyAwaitedInstructions) {
  Case c;
  KernelBuilder &b = c.b;
  const uint32_t t = b.sbuf("t", {128, 64}), u = b.sbuf("u", {128, 64}), v = b.sbuf("v", {128, 64}),
                 w = b.sbuf("w", {128, 64});
  b.memset(Engine::Vector, b.whole(v), 1);
  b.memset(Engine::Vector, b.whole(t), 2);
  b.copy(Engine::Gpsimd, b.whole(u), b.whole(t), 3);
  b.memset(Engine::Vector, b.whole(v), 4);
  b.memset(Engine::Vector, b.whole(t), 5);
  b.copy(Engine::Scalar, b.whole(w), b.whole(t), 6);
  c.run();

  EXPECT_EQ(c.text(Engine::Vector), "memset 0\n"
                                    "memset 1 vector+1\n"
                                    "memset 3\n"
                                    "memset 4 gpsimd>=1 vector+1\n");
  EXPECT_EQ(c.text(Engine::Scalar), "tensor_copy 5 vector>=2\n");
}

//---- the checker ----------------------------------------------------------------------------===//

/// Load, copy, store.
Case makeChain() {
  Case c;
  KernelBuilder &b = c.b;
  const uint32_t in = b.hbm("in", {128, 64}), out = b.hbm("out", {128, 64}),
                 t = b.sbuf("t", {128, 64}), u = b.sbuf("u", {128, 64});
  b.dma(b.whole(t), b.block(in, 0, 128, 0, 64), 1);
  b.copy(Engine::Vector, b.whole(u), b.part(t, 0, 64, 8, 4), 2);
  b.dma(b.block(out, 0, 128, 0, 64), b.whole(u), 3);
  c.run();
  return c;
}

TEST(VerifySynchronisation, NamesBothEndsOfAMissingEdge) {
  Case c = makeChain();
  c.stream(Engine::Vector)[0].waitSemaphore = kNoSemaphore;

  const std::vector<Diagnostic> faults = verifySynchronisation(c.b.kernel, c.placement, c.result);

  ASSERT_EQ(faults.size(), 1u);
  EXPECT_EQ(faults[0].message, "'tensor_copy' at line 2 reads 't' and 'dma_copy' at line 1 writes "
                               "'t', both in bytes 32 to 47, partitions 0 to 63 of sbuf; no "
                               "program order and no semaphore keeps them in order");
  EXPECT_EQ(faults[0].fault, Fault::Internal);
  EXPECT_EQ(faults[0].place, (CallChain{{"k.cpp", 2}}));
  ASSERT_EQ(faults[0].notes.size(), 1u);
  EXPECT_EQ(faults[0].notes[0].place, (CallChain{{"k.cpp", 1}}));
}

// Sixteen increments, and 15 of them prove nothing.
TEST(VerifySynchronisation, FifteenIncrementsAreNotEnough) {
  Case c = makeChain();
  c.stream(Engine::Vector)[0].waitValue = 15;
  EXPECT_NE(c.verdict(), "");
}

/// Two loads of one ring, both consumed by one copy each.
Case makeTwoOnOneRing(uint32_t firstWait, uint32_t secondWait) {
  Case c;
  KernelBuilder &b = c.b;
  const uint32_t in = b.hbm("in", {128, 128}), t = b.sbuf("t", {128, 64}),
                 u = b.sbuf("u", {128, 64}), v = b.sbuf("v", {128, 64});
  b.dma(b.whole(t), b.block(in, 0, 128, 0, 64), 1);
  b.dma(b.whole(u), b.block(in, 0, 128, 64, 64), 2);
  b.copy(Engine::Vector, b.whole(v), b.whole(t), 3);
  b.copy(Engine::Vector, b.whole(v), b.whole(u), 4);
  c.run();
  ScheduledRecord &second = c.stream(Engine::Sync)[1];
  second.ring = 0;
  second.updateSemaphore = uint16_t(ringStream(0));
  std::vector<ScheduledRecord> &vector = c.stream(Engine::Vector);
  vector[0].waitSemaphore = vector[1].waitSemaphore = uint16_t(ringStream(0));
  vector[0].waitValue = firstWait;
  vector[1].waitValue = secondWait;
  return c;
}

// With two transfers in flight on one semaphore, 16 may be a bit of both.
TEST(VerifySynchronisation, SixteenOfTwoInFlightProvesNeither) {
  EXPECT_EQ(makeTwoOnOneRing(16, 32).verdict(),
            "[] 'tensor_copy' at line 3 reads 't' and 'dma_copy' at line 1 "
            "writes 't', both in bytes 0 to 255, partitions 0 to 127 of sbuf; "
            "no program order and no semaphore keeps them in order\n");
  EXPECT_NE(makeTwoOnOneRing(31, 32).verdict(), "");
}

TEST(VerifySynchronisation, TheFullTotalProvesBoth) {
  EXPECT_EQ(makeTwoOnOneRing(32, 32).verdict(), "");
}

// The second transfer is triggered when the first is known complete.
TEST(VerifySynchronisation, OneInFlightAtATimeProvesEach) {
  Case c = makeTwoOnOneRing(16, 32);
  ScheduledRecord &second = c.stream(Engine::Sync)[1];
  second.waitSemaphore = uint16_t(ringStream(0));
  second.waitValue = 16;
  EXPECT_EQ(c.verdict(), "");
  second.waitValue = 15;
  EXPECT_NE(c.verdict(), "");
}

/// Two memsets on two engines and a copy of what both wrote, all three on one
/// semaphore that no engine owns.
Case makeShared(uint32_t firstAdds, uint32_t secondAdds, uint32_t waitValue) {
  Case c;
  KernelBuilder &b = c.b;
  const uint32_t t = b.sbuf("t", {128, 64}), u = b.sbuf("u", {128, 64});
  b.memset(Engine::Gpsimd, b.part(t, 0, 64, 0, 64), 1);
  b.memset(Engine::Scalar, b.part(t, 64, 64, 0, 64), 2);
  b.copy(Engine::Vector, b.whole(u), b.whole(t), 3);
  c.run();
  for (const Engine engine : {Engine::Gpsimd, Engine::Scalar})
    c.stream(engine)[0].updateSemaphore = 200;
  c.stream(Engine::Gpsimd)[0].updateValue = firstAdds;
  c.stream(Engine::Scalar)[0].updateValue = secondAdds;
  std::vector<ScheduledRecord> &vector = c.stream(Engine::Vector);
  vector.erase(vector.begin());
  vector[0].waitSemaphore = 200;
  vector[0].waitValue = waitValue;
  return c;
}

// Who updates a semaphore first is open; only the sum of both proves both.
TEST(VerifySynchronisation, SemaphoreOfTwoEngines) {
  const auto faults = [](uint32_t first, uint32_t second, uint32_t value) {
    const Case c = makeShared(first, second, value);
    return verifySynchronisation(c.b.kernel, c.placement, c.result).size();
  };
  EXPECT_EQ(faults(1, 1, 2), 0u);
  EXPECT_EQ(faults(1, 1, 1), 2u);
  EXPECT_EQ(faults(2, 3, 5), 0u);
  EXPECT_EQ(faults(2, 3, 2), 2u);
}

TEST(VerifySynchronisation, WaitThatIsNeverMet) {
  Case c = makeChain();
  c.stream(Engine::Sync)[1].waitValue = 2;
  EXPECT_EQ(c.verdict(), "[] 'dma_copy' at line 3 waits forever: semaphore 3 "
                         "never reaches 2, only 1\n");
}

TEST(VerifySynchronisation, CircularWaits) {
  Case c = makeChain();
  c.stream(Engine::Sync)[0].waitSemaphore = uint16_t(engineStream(Engine::Vector));
  c.stream(Engine::Sync)[0].waitValue = 1;
  EXPECT_EQ(c.verdict(), "[] 'tensor_copy' at line 2 waits forever: semaphore 5 never "
                         "reaches 16, only 0\n"
                         "[] 'dma_copy' at line 1 waits forever: semaphore 3 never reaches "
                         "1, only 0\n");
}

TEST(VerifySynchronisation, FormOfTheRecords) {
  const auto verdictOf = [](auto damage) {
    Case c = makeChain();
    damage(c);
    return c.verdict();
  };
  EXPECT_EQ(verdictOf([](Case &c) { c.stream(Engine::Vector).clear(); }),
            "[] 'tensor_copy' at line 2 is in no stream\n");
  EXPECT_EQ(
      verdictOf([](Case &c) { std::swap(c.stream(Engine::Sync)[0], c.stream(Engine::Sync)[1]); }),
      "[] 'dma_copy' at line 1 is out of program order in the stream of "
      "engine sync\n");
  EXPECT_EQ(verdictOf([](Case &c) { c.stream(Engine::Gpsimd).swap(c.stream(Engine::Vector)); }),
            "[] 'tensor_copy' at line 2 is in the stream of engine gpsimd\n");
  EXPECT_EQ(verdictOf([](Case &c) { c.stream(Engine::Sync)[0].updateValue = 1; }),
            "[] 'dma_copy' at line 1 does not count its 16 DMA engines\n");
  EXPECT_EQ(verdictOf([](Case &c) { c.stream(Engine::Sync)[0].ring = 8; }),
            "[] 'dma_copy' at line 1 has no DMA ring\n");
  EXPECT_EQ(verdictOf([](Case &c) { c.stream(Engine::Vector)[0].ring = 0; }),
            "[] 'tensor_copy' at line 2 has a DMA ring without being a "
            "transfer\n");
  EXPECT_EQ(verdictOf([](Case &c) { c.stream(Engine::Vector)[0].updateValue = 0; }),
            "[] 'tensor_copy' at line 2 updates a semaphore by 0\n");
  EXPECT_EQ(verdictOf([](Case &c) { c.stream(Engine::Vector)[0].waitSemaphore = 256; }),
            "[] 'tensor_copy' at line 2 names a semaphore the core does not "
            "have\n");
  EXPECT_EQ(verdictOf([](Case &c) { c.stream(Engine::Vector)[0].instruction = 9; }),
            "[] a record names instruction 9 of 3\n"
            "[] 'tensor_copy' at line 2 is in no stream\n");
  EXPECT_EQ(
      verdictOf([](Case &c) { c.stream(Engine::Vector).push_back(c.stream(Engine::Vector)[0]); }),
      "[] 'tensor_copy' at line 2 is in the streams more than once\n");
}

TEST(VerifySynchronisation, ReportsAreBounded) {
  Case c;
  c.b.kernel = randomKernel(3, 400, /*isTiny=*/false);
  c.run();
  for (std::vector<ScheduledRecord> &stream : c.result.streams)
    for (ScheduledRecord &record : stream)
      if (!record.isWaitOnly)
        record.waitSemaphore = kNoSemaphore;
  EXPECT_EQ(verifySynchronisation(c.b.kernel, c.placement, c.result).size(), 20u);
}

// A quadratic step would run into the time limit.
TEST(Synchronise, ManyInstructions) {
  Case c;
  c.b.kernel = matmulKernel(100'000 / 26, 8);
  c.run();
}

TEST(Synchronise, IsDeterministic) {
  const Kernel kernel = randomKernel(11, 500, /*isTiny=*/false);
  const Placement placement = placed(kernel);
  EXPECT_EQ(synchronise(kernel, placement).streams, synchronise(kernel, placement).streams);
}

} // namespace
} // namespace kiln::analysis
