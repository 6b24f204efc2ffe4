//===- Order.cpp - the order that an epoch enforces -------------------------------------------===//

#include "Order.h"

#include <algorithm>

using namespace kilnrt;
using namespace kilnrt::proof;

/// Clock entries computed before assumptions that fail are replaced by the weakest one. That ends
/// the rounds, and often takes everything with it: far fewer rounds than this are the rule, also
/// where many waits are wrong.
static constexpr uint64_t kPatience = uint64_t(1) << 30;
/// The clock entry of what nothing proves complete before the epoch ends.
static constexpr uint32_t kNeverAgent = kEngineSlots;

Order::Order(const Events &events, const Epoch &epoch)
    : events(events), epoch(epoch), semaphores(isa::machine.numSemaphores) {
  size_t count = 0;
  for (size_t s = 0; s < kEngineSlots; ++s) {
    offset[s] = count;
    count += epoch.end[s] - epoch.begin[s];
  }
  run.reserve(count);
  ranks.resize(count);
  runToEnd();
  if (!reachedAll)
    return;
  assignAgents();
  starts.resize(count * width);
  for (uint16_t s : used)
    computeProofs(semaphores[s]);
  for (uint64_t spent = 0; !computeClocks(spent < kPatience); spent += count * width)
    for (uint16_t s : used)
      if (semaphores[s].agent != kNone)
        computeProofs(semaphores[s]);
}

void Order::runToEnd() {
  next = epoch.begin;
  for (bool hasMoved = true; hasMoved;) {
    hasMoved = false;
    for (size_t s = 0; s < kEngineSlots; ++s)
      for (; next[s] < epoch.end[s]; ++next[s], hasMoved = true) {
        const Event &event = events.events[next[s]];
        if (event.waits() && now[event.sync.waitSemaphore] < event.sync.waitValue)
          break;
        run.push_back(next[s]);
        if (!event.updates())
          continue;
        Semaphore &semaphore = semaphores[event.sync.updateSemaphore];
        if (semaphore.producers.empty())
          used.push_back(event.sync.updateSemaphore);
        else if (events.events[semaphore.producers.back()].engine != event.engine)
          semaphore.hasOneStream = false;
        ranks[local(next[s])] = uint32_t(semaphore.producers.size());
        semaphore.producers.push_back(next[s]);
        now[event.sync.updateSemaphore] += event.amount();
      }
  }
  reachedAll = next == epoch.end;
}

/// An engine's own events are counted by the engine. The producers of a semaphore need an entry of
/// their own when one is a transfer, or when they are of several streams.
void Order::assignAgents() {
  std::sort(used.begin(), used.end());
  for (uint16_t s : used) {
    Semaphore &semaphore = semaphores[s];
    const bool hasTransfers = std::any_of(semaphore.producers.begin(), semaphore.producers.end(),
                                          [&](EventId p) { return events.events[p].isTransfer; });
    if (hasTransfers || !semaphore.hasOneStream) {
      semaphore.agent = width++;
      semaphore.back.resize(semaphore.producers.size());
      for (uint32_t i = 0; i < semaphore.back.size(); ++i)
        semaphore.back[i] = i;
    }
  }
  for (uint16_t s : used)
    if (Semaphore &semaphore = semaphores[s]; !semaphore.hasOneStream)
      semaphore.joins.resize(semaphore.producers.size() * width);
  stamps.resize(run.size());
  for (EventId id : run) {
    const Event &event = events.events[id];
    Stamp &stamp = stamps[local(id)];
    if (!event.isTransfer)
      stamp = {uint32_t(event.engine), uint32_t(id - epoch.begin[size_t(event.engine)] + 1)};
    else if (event.updates())
      stamp = {semaphores[event.sync.updateSemaphore].agent, ranks[local(id)] + 1};
    else
      stamp = {kNeverAgent, 1};
  }
}

void Order::computeProofs(Semaphore &semaphore) const {
  const size_t count = semaphore.producers.size();
  semaphore.proofs.assign(count, 0);
  // others[i]: what producers after i may add while i is incomplete, as differences.
  std::vector<uint64_t> others(count + 1);
  if (semaphore.agent != kNone)
    for (size_t j = 0; j < count; ++j) {
      const uint64_t amount = events.events[semaphore.producers[j]].amount();
      others[semaphore.back[j]] += amount; // wraps; the sums do not
      others[j] -= amount;
    }
  uint64_t before = 0, after = 0, highest = 0;
  for (size_t i = 0; i < count; ++i) {
    const Event &event = events.events[semaphore.producers[i]];
    after += others[i];
    highest = std::max(highest, before + event.amount() - event.lastIncrement() + after + 1);
    semaphore.proofs[i] = highest;
    before += event.amount();
  }
}

/// Raises `clock` to what is complete once semaphore is at least `value`.
void Order::learn(uint32_t *clock, Semaphore &semaphore, uint64_t value, uint32_t executed) {
  auto last = std::upper_bound(semaphore.proofs.begin(), semaphore.proofs.end(), value);
  // An assumption that is too good may prove what has not run yet.
  const size_t proven = std::min<size_t>(size_t(last - semaphore.proofs.begin()), executed);
  if (proven == 0)
    return;
  const EventId id = semaphore.producers[proven - 1];
  const uint32_t *known =
      semaphore.hasOneStream ? clockAt(id) : semaphore.joins.data() + (proven - 1) * width;
  for (uint32_t a = 0; a < width; ++a)
    clock[a] = std::max(clock[a], known[a]);
  if (!events.events[id].isTransfer)
    clock[stamps[local(id)].agent] =
        std::max(clock[stamps[local(id)].agent], stamps[local(id)].ordinal);
  if (semaphore.agent != kNone)
    clock[semaphore.agent] = std::max(clock[semaphore.agent], uint32_t(proven));
}

/// Compares what was assumed of a producer with what is known when it starts.
bool Order::settle(Semaphore &semaphore, uint32_t rank, uint32_t known, bool isPatient) {
  if (known >= semaphore.back[rank])
    return true;
  semaphore.back[rank] = isPatient ? known : 0;
  return false;
}

bool Order::computeClocks(bool isPatient) {
  bool holds = true;
  std::array<std::vector<uint32_t>, kEngineSlots> clocks;
  clocks.fill(std::vector<uint32_t>(width));
  std::vector<uint32_t> executed(semaphores.size());
  for (EventId id : run) {
    const Event &event = events.events[id];
    std::vector<uint32_t> &clock = clocks[size_t(event.engine)];
    if (event.waits())
      learn(clock.data(), semaphores[event.sync.waitSemaphore], event.sync.waitValue,
            executed[event.sync.waitSemaphore]);
    std::copy(clock.begin(), clock.end(), starts.begin() + ptrdiff_t(local(id) * width));
    const uint32_t ordinal = uint32_t(id - epoch.begin[size_t(event.engine)] + 1);
    if (event.updates()) {
      Semaphore &semaphore = semaphores[event.sync.updateSemaphore];
      const uint32_t rank = executed[event.sync.updateSemaphore]++;
      if (semaphore.agent != kNone)
        holds &= settle(semaphore, rank, clock[semaphore.agent], isPatient);
      if (!semaphore.hasOneStream) {
        uint32_t *join = semaphore.joins.data() + size_t(rank) * width;
        std::copy(clock.begin(), clock.end(), join);
        for (uint32_t a = 0; rank > 0 && a < width; ++a)
          join[a] = std::max(join[a], (join - width)[a]);
        if (!event.isTransfer)
          join[size_t(event.engine)] = std::max(join[size_t(event.engine)], ordinal);
      }
    }
    // A stream goes on past a transfer that is only triggered.
    clock[size_t(event.engine)] = ordinal;
  }
  return holds;
}

EventId Order::provenBy(EventId id) const {
  const Event &event = events.events[id];
  if (!event.waits())
    return kNone;
  const Semaphore &semaphore = semaphores[event.sync.waitSemaphore];
  auto last = std::upper_bound(semaphore.proofs.begin(), semaphore.proofs.end(),
                               uint64_t(event.sync.waitValue));
  return last == semaphore.proofs.begin()
             ? kNone
             : semaphore.producers[size_t(last - semaphore.proofs.begin()) - 1];
}
