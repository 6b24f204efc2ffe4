//===- LoopsTest.cpp - kernels with loops that stay
//---------------------------------------------===//
//
// Lives, addresses and semaphores of rolled loops. The judge of random ones is the checker for
// kernels without loops: it sees iterations one by one, with the offsets they have.
//
//===------------------------------------------------------------------------------------------===//

#include "AnalysisTestSupport.h"

#include <gmock/gmock.h>

#include <random>

namespace kiln::analysis {
namespace {

//---- lives --------------------------------------------------------------------------------===//

/// before | outer: a, inner: b, c | after; each line an instruction.
struct Nest {
  KernelBuilder b;
  uint32_t outside, carried, ofOuter, ofInner, afterwards;

  Nest() {
    outside = b.sbuf("outside", {128, 4});
    carried = b.sbuf("carried", {128, 4});
    afterwards = b.sbuf("afterwards", {128, 4});
    b.memset(Engine::Vector, b.whole(outside), 0);
    b.beginLoop(5);
    ofOuter = b.declareHere(b.sbuf("ofOuter", {128, 4}));
    b.memset(Engine::Vector, b.whole(ofOuter), 1);
    b.beginLoop(3);
    ofInner = b.declareHere(b.sbuf("ofInner", {128, 4}));
    b.copy(Engine::Vector, b.whole(ofInner), b.whole(outside), 2);
    b.copy(Engine::Vector, b.whole(carried), b.whole(ofInner), 3);
    b.copy(Engine::Vector, b.whole(ofOuter), b.whole(ofOuter), 4);
    b.endLoop();
    b.copy(Engine::Vector, b.whole(afterwards), b.whole(ofOuter), 5);
    b.endLoop();
    b.copy(Engine::Vector, b.whole(afterwards), b.whole(afterwards), 6);
  }
};

TEST(Loops, TensorsLiveThroughLoopsTheyAreNotDeclaredIn) {
  Nest nest;
  const std::vector<Lifetime> lives = computeLifetimes(nest.b.kernel);
  EXPECT_EQ(lives[nest.outside], (Lifetime{0, 6}));
  EXPECT_EQ(lives[nest.carried], (Lifetime{1, 6}));
  EXPECT_EQ(lives[nest.ofOuter], (Lifetime{1, 6}));
  EXPECT_EQ(lives[nest.ofInner], (Lifetime{2, 4}));
  EXPECT_EQ(lives[nest.afterwards], (Lifetime{1, 7}));
}

TEST(Loops, TheCheckerKnowsLivesToo) {
  Nest nest;
  const Placement good = placed(nest.b.kernel);
  EXPECT_EQ(textOf(verifyPlacement(nest.b.kernel, good)), "");
  // Apart in the text of the body, together in time.
  Placement bad = good;
  bad.addresses[nest.ofInner] = bad.addresses[nest.carried];
  EXPECT_THAT(textOf(verifyPlacement(nest.b.kernel, bad)),
              testing::HasSubstr("'ofInner' (sbuf, partitions 0 to 127, bytes "));
  bad = good;
  bad.addresses[nest.ofOuter] = bad.addresses[nest.ofInner];
  EXPECT_THAT(textOf(verifyPlacement(nest.b.kernel, bad)),
              testing::HasSubstr("while both are live"));
}

TEST(Loops, TensorsOfABodyShareAddresses) {
  // Each tile takes more than half of a partition: only turns make them fit.
  KernelBuilder b;
  b.beginLoop(1000);
  for (unsigned i = 0; i < 6; ++i)
    b.memset(Engine::Vector, b.whole(b.declareHere(b.sbuf("t" + std::to_string(i), {128, 30000}))),
             i);
  b.endLoop();
  EXPECT_EQ(textOf(verifyPlacement(b.kernel, placed(b.kernel))), "");
  // Declared outside, each of them may hold something from the last iteration.
  for (KernelTensor &tensor : b.kernel.tensors)
    tensor.loop = kNone;
  EXPECT_FALSE(place(b.kernel).placement);
}

//---- semaphores -----------------------------------------------------------------------------===//

TEST(Loops, EachEpochCountsFromZero) {
  KernelBuilder b;
  const uint32_t in = b.hbm("in", {1280, 64}), out = b.hbm("out", {1280, 64}),
                 t = b.sbuf("t", {128, 64}), u = b.sbuf("u", {128, 64});
  b.dma(b.whole(t), b.block(in, 0, 128, 0, 64), 1);
  b.copy(Engine::Vector, b.whole(u), b.whole(t), 2);
  b.beginLoop(10);
  b.dma(b.whole(t), moving(b.block(in, 0, 128, 0, 64), {128 * 64}), 3);
  b.copy(Engine::Vector, b.whole(u), b.whole(t), 4);
  b.dma(moving(b.block(out, 0, 128, 0, 64), {128 * 64}), b.whole(u), 5);
  b.endLoop();
  b.copy(Engine::Vector, b.whole(t), b.whole(u), 6);
  const Placement placement = placed(b.kernel);
  SyncLog log;
  const Synchronisation result = synchronise(b.kernel, placement, &log);
  EXPECT_EQ(textOf(verifySynchronisation(b.kernel, placement, result)), "");
  // t is written while the vector engine may still read it, and u is read by a store when it is
  // copied again: both across an edge, so nothing waits.
  EXPECT_EQ(textOf(b.kernel, result, Engine::Sync), "dma_copy 0 ring0+16\n"
                                                    "dma_copy 2 ring0+16\n"
                                                    "dma_copy 4 vector>=1 ring1+16\n");
  EXPECT_EQ(textOf(b.kernel, result, Engine::Vector), "tensor_copy 1 ring0>=16\n"
                                                      "tensor_copy 3 ring0>=16 vector+1\n"
                                                      "tensor_copy 5\n");
  ASSERT_EQ(log.decisions.size(), 3u);
  EXPECT_EQ(log.decisions[2].instruction, 4u);
  EXPECT_EQ(log.decisions[2].source, 3u);
}

TEST(Loops, TheCheckerFindsAMissingWaitOfAnEpoch) {
  KernelBuilder b;
  const uint32_t in = b.hbm("in", {1280, 64});
  b.beginLoop(10);
  const uint32_t t = b.declareHere(b.sbuf("t", {128, 64}));
  b.dma(b.whole(t), moving(b.block(in, 0, 128, 0, 64), {128 * 64}), 7);
  b.copy(Engine::Vector, b.whole(t), b.whole(t), 8);
  b.endLoop();
  const Placement placement = placed(b.kernel);
  Synchronisation result = synchronise(b.kernel, placement);
  result.streams[engineStream(Engine::Vector)][0].waitSemaphore = kNoSemaphore;
  EXPECT_THAT(textOf(verifySynchronisation(b.kernel, placement, result)),
              testing::HasSubstr("'tensor_copy' at line 8"));
}

/// Two accesses of one tensor that move differently meet in some iteration, whatever they do in the
/// first one.
TEST(Loops, WaysThatCrossAreOrdered) {
  KernelBuilder b;
  const uint32_t t = b.sbuf("t", {128, 64});
  b.beginLoop(8);
  b.memset(Engine::Vector, moving(b.part(t, 0, 128, 0, 4), {8}), 1);
  b.memset(Engine::Gpsimd, moving(b.part(t, 0, 128, 60, 4), {-8}), 2);
  b.endLoop();
  Placement placement = placed(b.kernel);
  Synchronisation result = synchronise(b.kernel, placement);
  EXPECT_EQ(textOf(b.kernel, result, Engine::Gpsimd), "memset 1 vector>=1\n");
  result.streams[engineStream(Engine::Gpsimd)][0].waitSemaphore = kNoSemaphore;
  EXPECT_NE(textOf(verifySynchronisation(b.kernel, placement, result)), "");

  // Side by side all along: no wait.
  b.kernel.instructions[1].inst.operands[0] = moving(b.part(t, 0, 128, 4, 4), {8});
  result = synchronise(b.kernel, placement);
  EXPECT_EQ(textOf(b.kernel, result, Engine::Gpsimd), "memset 1\n");
  EXPECT_EQ(textOf(verifySynchronisation(b.kernel, placement, result)), "");
}

//---- random kernels -------------------------------------------------------------------------===//

/// A loop of 1 to 3 iterations, some inside another one, over tensors of every kind.
struct RandomLoops {
  KernelBuilder b;
  std::mt19937 rng;
  std::vector<uint32_t> tiles;
  uint32_t hbm;

  explicit RandomLoops(uint32_t seed) : rng(seed) {
    hbm = b.hbm("h", {64, 64});
    for (unsigned i = 0; i < 2; ++i)
      tiles.push_back(b.sbuf("o" + std::to_string(i), {128, 64}));
    fill(2, 0);
    for (unsigned loop = 0; loop < 2; ++loop) {
      b.beginLoop(1 + pick(3));
      const size_t outer = tiles.size();
      tiles.push_back(b.declareHere(b.sbuf("a" + std::to_string(loop), {128, 64})));
      tiles.push_back(b.declareHere(b.sbuf("b" + std::to_string(loop), {128, 64})));
      fill(3 + pick(4), 1);
      if (pick(2)) {
        b.beginLoop(1 + pick(3));
        const size_t inner = tiles.size();
        tiles.push_back(b.declareHere(b.sbuf("c" + std::to_string(loop), {128, 64})));
        fill(3 + pick(4), 2);
        tiles.resize(inner);
        b.endLoop();
        fill(1 + pick(3), 1);
      }
      tiles.resize(outer);
      b.endLoop();
      fill(1 + pick(3), 0);
    }
  }

  unsigned pick(unsigned n) { return unsigned(rng() % n); }

  /// At most 2 iterations more in each of two loops, so that steps of 4 stay inside.
  Access tile(unsigned depth) {
    Access access = b.part(tiles[pick(unsigned(tiles.size()))], 0, 128, 24 + 4 * pick(2), 4);
    for (unsigned l = 0; l < depth; ++l)
      access.loopStep[l] = (int64_t(pick(3)) - 1) * (pick(2) ? 4 : 2);
    return access;
  }
  Access block(unsigned depth) {
    Access access = b.block(hbm, 24, 4, 16, 4);
    for (unsigned l = 0; l < depth; ++l)
      access.loopStep[l] = (int64_t(pick(3)) - 1) * (pick(2) ? 4 * 64 : 4);
    return access;
  }

  void fill(unsigned count, unsigned depth) {
    for (unsigned i = 0; i < count; ++i) {
      Access dst = tile(depth), src = tile(depth);
      switch (pick(4)) {
      case 0:
        dst.partitionCount = 4;
        b.dma(dst, block(depth), 1);
        break;
      case 1:
        src.partitionCount = 4;
        b.dma(block(depth), src, 2);
        break;
      default:
        b.copy(std::array{Engine::Vector, Engine::Scalar, Engine::Gpsimd}[pick(3)], dst, src, 3);
      }
    }
  }
};

/// Calls `visit(begin, end, iterations)` for each stretch between two edges, in the order they run.
template <typename Visit>
void run(const Kernel &kernel, uint32_t begin, uint32_t end, uint32_t parent,
         std::vector<int64_t> &iterations, const Visit &visit) {
  uint32_t at = begin;
  for (uint32_t l = 0; l < kernel.loops.size(); ++l) {
    const KernelLoop &loop = kernel.loops[l];
    if (loop.parent != parent || loop.begin < begin || loop.end > end)
      continue;
    visit(at, loop.begin, iterations);
    for (int64_t i = 0; i < loop.tripCount; ++i) {
      iterations.push_back(i);
      run(kernel, loop.begin, loop.end, l, iterations, visit);
      iterations.pop_back();
    }
    at = loop.end;
  }
  visit(at, end, iterations);
}

KernelInstruction atIteration(KernelInstruction instruction, const std::vector<int64_t> &numbers) {
  for (Access &access : instruction.inst.operands) {
    for (size_t l = 0; l < numbers.size(); ++l)
      access.offset += access.loopStep[l] * numbers[l];
    access.loopStep.fill(0);
  }
  return instruction;
}

TEST(Loops, EveryIterationOfRandomLoopsIsInOrder) {
  size_t epochs = 0, waits = 0;
  for (uint32_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    const RandomLoops random(seed);
    const Kernel &kernel = random.b.kernel;
    const Placement placement = placed(
        kernel, {.strategy = seed % 2 ? PlacementStrategy::Compact : PlacementStrategy::Rotation});
    const Synchronisation result = synchronise(kernel, placement);
    ASSERT_EQ(textOf(verifySynchronisation(kernel, placement, result)), "");
    std::vector<int64_t> iterations;
    run(kernel, 0, uint32_t(kernel.instructions.size()), kNone, iterations,
        [&](uint32_t begin, uint32_t end, const std::vector<int64_t> &numbers) {
          if (begin == end)
            return;
          Kernel now = kernel;
          now.loops.clear();
          now.instructions.clear();
          for (uint32_t i = begin; i < end; ++i)
            now.instructions.push_back(atIteration(kernel.instructions[i], numbers));
          Synchronisation records;
          for (unsigned e = 0; e < kNumEngines; ++e)
            for (ScheduledRecord record : result.streams[e])
              if (record.instruction >= begin && record.instruction < end) {
                record.instruction -= begin;
                records.streams[e].push_back(record);
                waits += record.waitSemaphore != kNoSemaphore;
              }
          ++epochs;
          ASSERT_EQ(textOf(verifySynchronisation(now, placement, records)), "");
        });
  }
  EXPECT_GT(epochs, 3000u);
  EXPECT_GT(waits, 3000u);
}

/// The iterations one after another, each with tensors of its own at the addresses of the loop's.
TEST(Loops, EveryIterationOfRandomLoopsIsPlaced) {
  for (uint32_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    const RandomLoops random(seed);
    const Kernel &kernel = random.b.kernel;
    const Placement placement = placed(
        kernel, {.strategy = seed % 2 ? PlacementStrategy::Compact : PlacementStrategy::Rotation});
    Kernel written;
    Placement addresses;
    std::map<std::pair<uint32_t, std::vector<int64_t>>, uint32_t> numbers;
    const auto depthOf = [&](uint32_t loop) {
      size_t depth = 0;
      for (; loop != kNone; loop = kernel.loops[loop].parent)
        ++depth;
      return depth;
    };
    std::vector<int64_t> iterations;
    run(kernel, 0, uint32_t(kernel.instructions.size()), kNone, iterations,
        [&](uint32_t begin, uint32_t end, const std::vector<int64_t> &now) {
          for (uint32_t i = begin; i < end; ++i) {
            KernelInstruction instruction = atIteration(kernel.instructions[i], now);
            for (Access &access : instruction.inst.operands) {
              if (!access.present())
                continue;
              std::vector<int64_t> scope = now;
              scope.resize(depthOf(kernel.tensors[access.tensor].loop));
              auto [it, isNew] =
                  numbers.try_emplace({access.tensor, scope}, uint32_t(written.tensors.size()));
              if (isNew) {
                written.tensors.push_back(kernel.tensors[access.tensor]);
                written.tensors.back().loop = kNone;
                addresses.addresses.push_back(placement.addresses[access.tensor]);
              }
              access.tensor = it->second;
            }
            written.instructions.push_back(instruction);
          }
        });
    ASSERT_EQ(textOf(verifyPlacement(written, addresses)), "");
  }
}

} // namespace
} // namespace kiln::analysis
