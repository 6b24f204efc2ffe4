//===- OverlapTest.cpp - do the engines of real kernels overlap? ------------------------------===//
//
// Structure, not time: how much of a kernel must run one after the other, and whether every wait of
// its streams is there for a reason.
//
//===------------------------------------------------------------------------------------------===//

#include "ExampleStreams.h"

#include "kiln/Analysis/SyncReport.h"

#include <gtest/gtest.h>

namespace kiln::test {
namespace {

using driver::Arg, driver::TensorArg;
using isa::DType;

std::vector<Arg> attentionArgs(int64_t d, int64_t queries, int64_t keys, DType dtype) {
  return {TensorArg{dtype, {d, queries}}, TensorArg{dtype, {d, keys}}, TensorArg{dtype, {keys, d}},
          0.25};
}
std::vector<Arg> matmulArgs(int64_t m, int64_t k, int64_t n) {
  return {TensorArg{DType::BFloat16, {k, m}}, TensorArg{DType::BFloat16, {k, n}}};
}

//---- chains ---------------------------------------------------------------------------------===//

TEST(Overlap, AttentionIsNoChain) {
  const ScheduledKernel k =
      scheduleExample("attention_fwd", attentionArgs(128, 4096, 4096, DType::Float32));
  const uint32_t instructions = uint32_t(k.kernel.instructions.size());
  ASSERT_GT(instructions, 4000u);
  const uint32_t unlimited =
      analysis::longestChain(k.kernel, analysis::unlimitedPlacement(k.kernel));
  EXPECT_LE(4 * unlimited, instructions) << unlimited << " of " << instructions;
  // Eight banks of PSUM are a resource that attention is short of; SBUF is not.
  const uint32_t placed = analysis::longestChain(k.kernel, k.placement);
  EXPECT_LE(3 * placed, instructions) << placed << " of " << instructions;
  RecordProperty("chain", int(unlimited));
}

TEST(Overlap, MatmulIsNoChain) {
  for (const char *name : {"matmul_tiled", "matmul_hoisted", "matmul_blocked"}) {
    SCOPED_TRACE(name);
    const ScheduledKernel k = scheduleExample(name, matmulArgs(1024, 1000, 2048));
    const uint32_t instructions = uint32_t(k.kernel.instructions.size());
    EXPECT_LE(4 * analysis::longestChain(k.kernel, analysis::unlimitedPlacement(k.kernel)),
              instructions);
    EXPECT_LE(4 * analysis::longestChain(k.kernel, k.placement), instructions);
  }
}

//---- waits ----------------------------------------------------------------------------------===//

/// Removes each wait in turn; the checker must miss it. Returns how many there were.
size_t expectEveryWaitNeeded(const ScheduledKernel &k) {
  const analysis::Synchronisation result = analysis::synchronise(k.kernel, k.placement);
  EXPECT_TRUE(analysis::verifySynchronisation(k.kernel, k.placement, result).empty());
  size_t waits = 0;
  for (unsigned e = 0; e < analysis::kNumEngines; ++e)
    for (size_t r = 0; r < result.streams[e].size(); ++r) {
      if (result.streams[e][r].waitSemaphore == analysis::kNoSemaphore)
        continue;
      ++waits;
      analysis::Synchronisation mutant = result;
      auto &stream = mutant.streams[e];
      if (stream[r].isWaitOnly)
        stream.erase(stream.begin() + std::ptrdiff_t(r));
      else
        stream[r].waitSemaphore = analysis::kNoSemaphore;
      EXPECT_FALSE(analysis::verifySynchronisation(k.kernel, k.placement, mutant).empty())
          << isa::name(analysis::kEngines[e]) << " record " << r << ", "
          << analysis::lineText(k.kernel,
                                k.kernel.instructions[result.streams[e][r].instruction].location);
    }
  return waits;
}

TEST(Overlap, EveryWaitOfAttentionIsNeeded) {
  EXPECT_GT(expectEveryWaitNeeded(
                scheduleExample("attention_fwd", attentionArgs(80, 600, 1100, DType::BFloat16))),
            100u);
}

TEST(Overlap, EveryWaitOfMatmulIsNeeded) {
  for (const char *name : {"matmul_tiled", "matmul_hoisted", "matmul_blocked"}) {
    SCOPED_TRACE(name);
    EXPECT_GT(expectEveryWaitNeeded(scheduleExample(name, matmulArgs(300, 400, 1100))), 20u);
  }
}

} // namespace
} // namespace kiln::test
