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
  /// Events looked at so far.
  uint64_t work() const { return visited; }

private:
  void run(EventId held);

  const Events &events;
  const Epoch &epoch;
  EventId current = kNone;
  Front front{}; ///< the first event of each stream that does not start
  uint64_t visited = 0;
};

} // namespace kilnrt::proof

#endif // KILNRT_LIB_PROOF_HELDRUN_H
