//===- Order.h - the order that an epoch enforces ---------------------------------------------===//
//
// For every event of an epoch: which others are complete before it starts, in every schedule.
// Program order of a stream and the semaphores decide that, nothing else; no order is assumed
// between transfers, nor between the increments of one.
//
// Semaphores only grow and a wait is a threshold, so running every stream as far as it goes meets
// every event that any schedule can reach: one run decides whether all waits are reached.
//
// What a wait teaches is a rule. Let p1 .. pm be the events that update semaphore s, in the order
// of that run, and let back(j) be the largest b such that p1 .. pb are known complete when pj
// starts. While pi lacks its last increment, only the pj with back(j) < i can have added anything.
// So "s is at least v" proves pi complete when v exceeds the sum of those without that increment.
// back depends on what waits prove and the other way round; the largest consistent solution is
// sound, because each claim about a moment uses claims about earlier ones only. It is found from
// above.
//
// The rule proves prefixes p1 .. pi, which is exact where one stream updates a semaphore. For
// others HeldRun.h decides single pairs.
//
//===------------------------------------------------------------------------------------------===//

#ifndef KILNRT_LIB_PROOF_ORDER_H
#define KILNRT_LIB_PROOF_ORDER_H

#include "Events.h"

namespace kilnrt::proof {

/// Where the streams stand: the next event of each.
using Front = std::array<EventId, kEngineSlots>;
using SemaphoreValues = std::array<uint64_t, isa::machine.numSemaphores>;

/// Who completes an event, and as which one: a clock knows it complete when its entry `agent` is
/// at least `ordinal`.
struct Stamp {
  uint32_t agent = 0;
  uint32_t ordinal = 0;
};

class Order {
public:
  /// Solves. About O(events * clock entries).
  Order(const Events &events, const Epoch &epoch);

  /// Every wait is reached.
  bool isComplete() const { return reachedAll; }
  /// Where the run ended; the ends of the streams when it is complete.
  const Front &front() const { return next; }
  const SemaphoreValues &values() const { return now; }

  // Below: precondition isComplete().

  Stamp stampOf(EventId event) const { return stamps[local(event)]; }
  /// What is complete before `event` starts, by agent.
  const uint32_t *clockAt(EventId event) const { return starts.data() + local(event) * width; }
  bool isOrdered(EventId earlier, EventId later) const {
    const Stamp stamp = stampOf(earlier);
    return clockAt(later)[stamp.agent] >= stamp.ordinal;
  }
  /// Agents of this epoch.
  uint32_t agents() const { return width; }
  /// The last of the events that the wait of `event` proves complete; kNone when it proves none.
  EventId provenBy(EventId event) const;

private:
  struct Semaphore {
    std::vector<EventId> producers; ///< in the order of the run
    std::vector<uint64_t> proofs;   ///< proofs[i]: the value that proves the first i + 1 complete
    std::vector<uint32_t> back;     ///< assumed for each producer
    uint32_t agent = kNone;         ///< kNone: one stream's own, its events prove themselves
    bool hasOneStream = true;
    /// Several streams: joins[i]: what is complete once the first i + 1 are. `agents` each.
    std::vector<uint32_t> joins;
  };
  static constexpr size_t kEngines = kEngineSlots;

  size_t local(EventId event) const {
    const size_t stream = size_t(events.events[event].engine);
    return offset[stream] + (event - epoch.begin[stream]);
  }
  void runToEnd();
  void assignAgents();
  void computeProofs(Semaphore &semaphore) const;
  /// Computes all clocks under the assumptions; false when one was too good, which then is lower.
  bool computeClocks(bool isPatient);
  bool settle(Semaphore &semaphore, uint32_t rank, uint32_t known, bool isPatient);
  void learn(uint32_t *clock, Semaphore &semaphore, uint64_t value, uint32_t executed);

  const Events &events;
  const Epoch &epoch;
  std::array<size_t, kEngineSlots> offset{};
  bool reachedAll = false;
  Front next{};
  SemaphoreValues now{};
  std::vector<EventId> run; ///< in the order of the run
  std::vector<Semaphore> semaphores;
  std::vector<uint16_t> used; ///< semaphores that something updates
  uint32_t width = kEngines + 1;
  std::vector<Stamp> stamps;
  std::vector<uint32_t> ranks; ///< of each event that updates: its number among the producers
  std::vector<uint32_t> starts;
};

} // namespace kilnrt::proof

#endif // KILNRT_LIB_PROOF_ORDER_H
