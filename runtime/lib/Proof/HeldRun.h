//===- HeldRun.h - what may start before one event is complete --------------------------------===//
//
// Semaphores only grow and waits are thresholds, so holding back is monotone: what starts in the
// run that holds back the completion of one event and lets everything else go as far as it can, may
// start before that event is complete; what does not, never does. This decides every pair of
// events exactly, in one run over the epoch; Order.h knows most pairs without it.
//
//===------------------------------------------------------------------------------------------===//

#ifndef KILNRT_LIB_PROOF_HELDRUN_H
#define KILNRT_LIB_PROOF_HELDRUN_H

#include "Order.h"

namespace kilnrt::proof {

class HeldRun {
public:
  HeldRun(const Events &events, const Epoch &epoch) : events(events), epoch(epoch) {}

  /// Whether `event` may start while `held` is not complete.
  bool mayStart(EventId event, EventId held);
  /// The smallest value of its semaphore that proves `earlier` complete to a wait in front of
  /// `later`. Nothing when it updates none, and when what proves it is not reached without `later`.
  std::optional<uint64_t> valueProving(EventId earlier, EventId later);
  /// Events looked at so far.
  uint64_t work() const { return visited; }

private:
  /// Goes as far as it can without the last increment of `held` and without `blocked`.
  SemaphoreValues run(EventId held, EventId blocked);

  const Events &events;
  const Epoch &epoch;
  EventId current = kNone; ///< held in the run that `front` is of
  Front front{};           ///< the first event of each stream that does not start
  uint64_t visited = 0;
};

} // namespace kilnrt::proof

#endif // KILNRT_LIB_PROOF_HELDRUN_H
