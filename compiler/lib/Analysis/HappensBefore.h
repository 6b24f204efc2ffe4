//===- HappensBefore.h - the order that records alone enforce ---------------------------------===//
//
// Reads streams of records and computes, for every instruction, which others
// are complete before it starts in every execution. Knows program order and
// semaphores; knows nothing of dependences or of how the records came about.
// Private to the checker.
//
// The rule for a wait (s >= v). Let p1 .. pm be the records that update s, in
// program order, and let back(j) be the largest b such that p1 .. pb are known
// complete when pj starts. While pi lacks its last increment, only records that
// need not come after pi can have added anything: those with back(j) < i. So
// the wait proves pi complete when v exceeds their sum without that last
// increment. An engine adds its value at once; a transfer adds 1 from each DMA
// engine, so all but 1 may have been added.
//
// back depends on what waits prove, and what waits prove on back. The largest
// consistent solution is sound: each claim about a moment only uses claims
// about earlier ones. It is found from above.
//
//===------------------------------------------------------------------------------------------===//

#ifndef KILN_LIB_ANALYSIS_HAPPENSBEFORE_H
#define KILN_LIB_ANALYSIS_HAPPENSBEFORE_H

#include "kiln/Analysis/Synchronise.h"

namespace kiln::analysis {

class HappensBefore {
public:
  /// Precondition of everything below: `structuralFaults` of the same arguments
  /// is empty.
  HappensBefore(const Kernel &kernel, const Synchronisation &result);

  /// Faults in the form of the records: instructions missing, doubled, out of
  /// order or on the wrong engine; updates and waits that no machine could
  /// execute.
  static std::vector<Diagnostic> structuralFaults(const Kernel &kernel,
                                                  const Synchronisation &result);

  /// Solves. Returns one fault for each engine that blocks forever.
  std::vector<Diagnostic> run();

  /// True when instruction `earlier` is complete before `later` starts, in
  /// every execution.
  bool isOrdered(uint32_t earlier, uint32_t later) const {
    return starts[size_t(later) * width + agents[earlier]] >= ordinals[earlier];
  }
  /// Completion of a later instruction of an agent implies that of its earlier
  /// ones.
  uint32_t agent(uint32_t instruction) const { return agents[instruction]; }

private:
  /// The records that update one semaphore.
  struct Semaphore {
    std::vector<uint32_t> producers; ///< instructions, in program order
    std::vector<uint64_t> sums;      ///< sums[i]: what the first i add
    std::vector<uint32_t> back;      ///< assumed, for producer i + 1
    std::vector<uint64_t> proofs;    ///< proofs[i]: the value that proves the first i + 1 complete
    uint64_t now = 0;                ///< value in the run at hand
  };

  void assumeChains();
  void computeProofs(Semaphore &semaphore);
  /// Runs all streams as far as they go; false when an assumption was too good.
  bool simulate();
  bool step(unsigned engine);
  void prove(std::vector<uint32_t> &clock, uint32_t semaphore, uint64_t value);
  void mergeCompletion(std::vector<uint32_t> &clock, uint32_t instruction);

  const Kernel &kernel;
  const Synchronisation &result;
  std::vector<Semaphore> semaphores;
  std::vector<uint32_t> slots;      ///< clock index of each semaphore
  unsigned width = kNumEngines;     ///< entries of a clock: engines, then semaphores in use
  std::vector<uint32_t> agents;     ///< of each instruction: the clock entry that counts it
  std::vector<uint32_t> ordinals;   ///< and its number there, from 1
  std::vector<uint32_t> updates;    ///< semaphore an instruction updates, or kNone
  std::vector<uint32_t> updateRank; ///< its number among the producers of that semaphore, from 1
  std::vector<uint32_t> starts; ///< clocks at the start of each instruction, `width` entries each
  std::vector<bool> isDone;
  std::array<std::vector<uint32_t>, kNumEngines> clocks;
  std::array<size_t, kNumEngines> next{};
  bool assumptionsHold = true;
};

} // namespace kiln::analysis

#endif // KILN_LIB_ANALYSIS_HAPPENSBEFORE_H
