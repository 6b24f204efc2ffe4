//===- SynchroniseOracleTest.cpp - the checker against every execution ------------------------===//
//
// Semaphores only grow, so one run per instruction decides what all executions
// do: hold back the completion of instruction a (of a transfer, its last
// increment) and let everything else run as far as it goes. What starts all the
// same is not ordered after a; what does not, is. With byte sets for the
// accesses this gives the exact verdict on small kernels, to which the checker
// is held on synchronised kernels and on every mutant of them.
//
//===------------------------------------------------------------------------------------------===//

#include "AnalysisTestSupport.h"

#include <gtest/gtest.h>
#include <set>

namespace kiln::analysis {
namespace {

//---- the oracle -----------------------------------------------------------------------------===//

/// Instructions that start although `heldBack` never completes. kNone holds
/// back nothing.
std::vector<bool> startedWithout(const Kernel &kernel, const Synchronisation &result,
                                 uint32_t heldBack) {
  std::vector<bool> started(kernel.instructions.size());
  std::array<uint64_t, isa::machine.numSemaphores> values{};
  std::array<size_t, kNumEngines> next{};
  for (bool moved = true; moved;) {
    moved = false;
    for (unsigned e = 0; e < kNumEngines; ++e)
      for (; next[e] < result.streams[e].size(); ++next[e], moved = true) {
        const ScheduledRecord &record = result.streams[e][next[e]];
        const bool isHeld = !record.isWaitOnly && record.instruction == heldBack;
        if (record.waitSemaphore != kNoSemaphore && values[record.waitSemaphore] < record.waitValue)
          break;
        const bool wasStarted = !record.isWaitOnly && started[record.instruction];
        if (!record.isWaitOnly)
          started[record.instruction] = true;
        const bool isDma = record.ring != kNoRing;
        if (isHeld && !isDma)
          break; // the engine is busy with it for ever
        if (record.updateSemaphore != kNoSemaphore && !wasStarted)
          values[record.updateSemaphore] += record.updateValue - isHeld;
      }
  }
  return started;
}

using ByteSet = std::set<std::tuple<uint32_t, int64_t, int64_t>>;

struct Footprint {
  ByteSet reads, writes;
};

Footprint footprintOf(const Kernel &kernel, const Placement &placement,
                      const isa::Instruction &inst) {
  Footprint footprint;
  for (unsigned o = 0; o < isa::kMaxOperands; ++o) {
    const Access &access = inst.operands[o];
    if (!access.present())
      continue;
    ByteSet &bytes = operandUse(inst, o).writes ? footprint.writes : footprint.reads;
    forEachByte(kernel, placement, access, [&](auto... at) { bytes.insert({at...}); });
  }
  return footprint;
}

bool meet(const ByteSet &a, const ByteSet &b) {
  auto i = a.begin();
  auto j = b.begin();
  while (i != a.end() && j != b.end()) {
    if (*i == *j)
      return true;
    *i < *j ? ++i : ++j;
  }
  return false;
}

class Oracle {
public:
  Oracle(const Kernel &kernel, const Placement &placement) : kernel(kernel) {
    std::vector<Footprint> footprints;
    for (const KernelInstruction &entry : kernel.instructions)
      footprints.push_back(footprintOf(kernel, placement, entry.inst));
    for (uint32_t b = 0; b < footprints.size(); ++b)
      for (uint32_t a = 0; a < b; ++a)
        if (meet(footprints[a].writes, footprints[b].writes) ||
            meet(footprints[a].writes, footprints[b].reads) ||
            meet(footprints[a].reads, footprints[b].writes))
          conflicts.push_back({a, b});
  }

  /// True when every execution ends and keeps all conflicting accesses in
  /// program order.
  bool isRight(const Synchronisation &result) const {
    const std::vector<bool> all = startedWithout(kernel, result, kNone);
    if (std::find(all.begin(), all.end(), false) != all.end())
      return false;
    for (size_t c = 0; c < conflicts.size();) {
      const uint32_t a = conflicts[c].first;
      const std::vector<bool> started = startedWithout(kernel, result, a);
      for (; c < conflicts.size() && conflicts[c].first == a; ++c)
        if (started[conflicts[c].second])
          return false;
    }
    return true;
  }

  void sortByFirst() { std::sort(conflicts.begin(), conflicts.end()); }

private:
  const Kernel &kernel;
  std::vector<std::pair<uint32_t, uint32_t>> conflicts;
};

//---- mutants --------------------------------------------------------------------------------===//

/// Every way to drop or weaken one wait or one update.
std::vector<Synchronisation> mutantsOf(const Synchronisation &result) {
  std::vector<Synchronisation> mutants;
  for (unsigned e = 0; e < kNumEngines; ++e)
    for (size_t r = 0; r < result.streams[e].size(); ++r) {
      const ScheduledRecord &record = result.streams[e][r];
      const auto add = [&](auto change) {
        mutants.push_back(result);
        change(mutants.back().streams[e]);
      };
      if (record.waitSemaphore != kNoSemaphore) {
        add([&](std::vector<ScheduledRecord> &stream) {
          if (record.isWaitOnly)
            stream.erase(stream.begin() + std::ptrdiff_t(r));
          else
            stream[r].waitSemaphore = kNoSemaphore;
        });
        for (const uint32_t less : {1u, 16u})
          if (record.waitValue > less)
            add([&](std::vector<ScheduledRecord> &stream) { stream[r].waitValue -= less; });
      }
      if (record.updateSemaphore != kNoSemaphore && record.ring == kNoRing)
        add([&](std::vector<ScheduledRecord> &stream) {
          stream[r].updateSemaphore = kNoSemaphore;
          stream[r].updateValue = 0;
        });
    }
  return mutants;
}

TEST(SynchroniseOracle, RandomKernelsAndAllTheirMutants) {
  size_t mutants = 0, wrong = 0, missed = 0, falseAlarms = 0;
  for (uint32_t seed = 1; seed <= 25; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Kernel kernel = randomKernel(seed, 50, /*isTiny=*/true);
    const Placement placement = placed(kernel);
    const Synchronisation result = synchronise(kernel, placement);
    Oracle oracle(kernel, placement);
    oracle.sortByFirst();
    EXPECT_TRUE(oracle.isRight(result));
    EXPECT_EQ(textOf(verifySynchronisation(kernel, placement, result)), "");
    for (const Synchronisation &mutant : mutantsOf(result)) {
      const bool isRight = oracle.isRight(mutant);
      const bool isAccepted = verifySynchronisation(kernel, placement, mutant).empty();
      ++mutants;
      wrong += !isRight;
      missed += isAccepted && !isRight;
      falseAlarms += !isAccepted && isRight;
    }
  }
  // The checker may never miss a race; on these kernels it is exact.
  EXPECT_EQ(missed, 0u);
  EXPECT_EQ(falseAlarms, 0u);
  // The mutation bites: nearly every wait is needed.
  EXPECT_GT(mutants, 1000u);
  EXPECT_GT(wrong, mutants * 8 / 10) << mutants;
}

TEST(SynchroniseOracle, LargeRandomKernelsVerify) {
  for (uint32_t seed = 100; seed < 110; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Kernel kernel = randomKernel(seed, 2000, /*isTiny=*/false);
    const Placement placement = placed(kernel);
    EXPECT_EQ(textOf(verifyPlacement(kernel, placement)), "");
    EXPECT_EQ(textOf(verifySynchronisation(kernel, placement, synchronise(kernel, placement))), "");
  }
}

} // namespace
} // namespace kiln::analysis
