//===- SyncReport.h - what synchronisation cost and what it left out --------------------------===//
//
// The picture behind `kiln compile --sync-report`: how many needs there were, what became of each,
// and how much of the kernel must run one after the other.
//
//===------------------------------------------------------------------------------------------===//

#ifndef KILN_ANALYSIS_SYNCREPORT_H
#define KILN_ANALYSIS_SYNCREPORT_H

#include "kiln/Analysis/Synchronise.h"

namespace kiln::analysis {

struct SyncReport {
  uint32_t instructions = 0;
  uint32_t waits = 0;                                   ///< records that wait
  uint32_t waitInstructions = 0;                        ///< of these, records that do nothing else
  uint32_t updates = 0;                                 ///< records that raise a semaphore
  uint32_t semaphores = 0;                              ///< in use
  uint32_t byWait = 0, byProgramOrder = 0, byKnown = 0; ///< needs by what became of them
  /// Most instructions that must run one after the other because each touches bytes of the one
  /// before, at the addresses chosen; and if every tensor had memory of its own.
  uint32_t chain = 0, chainUnlimited = 0;
  std::vector<SyncDecision> decisions; ///< in program order
};

/// Synchronises `kernel` again, with the log on. About O(n log n). Precondition: as `synchronise`.
SyncReport reportSynchronisation(const Kernel &kernel, const Placement &placement);

/// The longest chain of instructions in which each conflicts with an earlier one: read after
/// write, write after read or write after write of the same bytes. Streams order nothing here.
uint32_t longestChain(const Kernel &kernel, const Placement &placement);

/// Every on-chip tensor in bytes of its own, whatever the memory holds. For `longestChain` only:
/// such a placement fits no machine.
Placement unlimitedPlacement(const Kernel &kernel);

} // namespace kiln::analysis

#endif // KILN_ANALYSIS_SYNCREPORT_H
