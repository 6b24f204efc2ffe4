//===- SyncReport.cpp - what synchronisation cost and what it left out ------------------------===//

#include "kiln/Analysis/SyncReport.h"

#include <algorithm>
#include <set>

namespace kiln::analysis {

uint32_t longestChain(const Kernel &kernel, const Placement &placement) {
  DependenceTracker tracker(kernel, placement);
  uint32_t longest = 0;
  for (uint32_t i = 0; i < kernel.instructions.size(); ++i) {
    const uint32_t depth = tracker.depthBefore(i) + 1;
    longest = std::max(longest, depth);
    tracker.record(i, /*stream=*/0, depth);
  }
  return longest;
}

Placement unlimitedPlacement(const Kernel &kernel) {
  Placement placement;
  uint64_t next = 0;
  for (const KernelTensor &tensor : kernel.tensors) {
    placement.addresses.push_back({0, next});
    if (tensor.isOnChip())
      next += uint64_t(tensor.bytes());
  }
  return placement;
}

SyncReport reportSynchronisation(const Kernel &kernel, const Placement &placement) {
  SyncLog log;
  const Synchronisation result = synchronise(kernel, placement, &log);
  SyncReport report;
  report.instructions = uint32_t(kernel.instructions.size());
  std::set<uint16_t> semaphores;
  for (const std::vector<ScheduledRecord> &stream : result.streams)
    for (const ScheduledRecord &record : stream) {
      report.waits += record.waitSemaphore != kNoSemaphore;
      report.waitInstructions += record.isWaitOnly;
      if (record.updateSemaphore == kNoSemaphore)
        continue;
      ++report.updates;
      semaphores.insert(record.updateSemaphore);
    }
  report.semaphores = uint32_t(semaphores.size());
  for (const SyncDecision &decision : log.decisions)
    switch (decision.means) {
    case SyncMeans::Wait:
      ++report.byWait;
      break;
    case SyncMeans::ProgramOrder:
      ++report.byProgramOrder;
      break;
    case SyncMeans::Known:
      ++report.byKnown;
      break;
    }
  report.chain = longestChain(kernel, placement);
  report.chainUnlimited = longestChain(kernel, unlimitedPlacement(kernel));
  report.decisions = std::move(log.decisions);
  return report;
}

} // namespace kiln::analysis
