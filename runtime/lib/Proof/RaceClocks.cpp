//===- RaceClocks.cpp - races of one run ------------------------------------------------------===//
//
// A clock counts, for each stream, the records that are complete, and for each DMA engine of each
// ring, the transfers it is done with from the first on. A wait learns what those knew whose
// increments brought the semaphore to its value in this run.
//
//===------------------------------------------------------------------------------------------===//

#include "kilnrt/RaceClocks.h"

#include "AccessLog.h"
#include "Events.h"
#include "Witness.h"
#include "kiln/ISA/Text.h"
#include "kilnrt/Machine/Overlap.h"

#include <algorithm>
#include <deque>
#include <map>

using namespace kilnrt;
using namespace kilnrt::proof;
using isa::machine;

namespace {

constexpr size_t kShares = size_t(machine.dmaEngines);
constexpr size_t kClockEntries = kEngineSlots + size_t(machine.dmaRings) * kShares;

using Clock = std::array<uint32_t, kClockEntries>;

void join(Clock &into, const Clock &other) {
  for (size_t i = 0; i < kClockEntries; ++i)
    into[i] = std::max(into[i], other[i]);
}

} // namespace

RacePlan::RacePlan() = default;
RacePlan::RacePlan(RacePlan &&) noexcept = default;
RacePlan &RacePlan::operator=(RacePlan &&) noexcept = default;
RacePlan::~RacePlan() = default;

Expected<RacePlan> RacePlan::prepare(const Program &program) {
  RacePlan plan;
  // Events name tensors and locations of their program: they outlive the caller's.
  plan.program = std::make_unique<Program>(program);
  Expected<std::unique_ptr<Events>> events = decodeEvents(*plan.program);
  if (!events)
    return events.error();
  plan.program->streams.clear();
  plan.events = std::move(*events);
  return plan;
}

namespace {

/// A transfer of a ring since the last edge.
struct Transfer {
  Clock clock;       ///< of its stream when it was triggered
  uint32_t done = 0; ///< bit k: engine k has moved its share
};
static_assert(kShares <= 32);

struct Ring {
  /// The oldest is number `base`; those that are complete are dropped.
  std::deque<Transfer> transfers;
  uint32_t base = 0, triggered = 0;
  std::array<uint32_t, kShares> prefix{}; ///< transfers each engine is done with, from the first on
};

struct Semaphore {
  uint64_t value = 0;
  Clock known{};
  struct Reached {
    Clock clock;
    uint32_t waits = 0; ///< that have used it
  };
  /// By value: what was known when the semaphore reached it. Only values that something waits for.
  std::map<uint64_t, Reached> reached;
  std::map<uint64_t, uint32_t> waits; ///< of the program, by value
};

} // namespace

struct RaceClocks::Impl {
  explicit Impl(const Events &events);

  EventId idOf(isa::Engine engine, uint32_t index) const { return begin[size_t(engine)] + index; }
  void learn(Clock &clock, const Event &event);
  void check(EventId id, Stamp stamp, const Clock &clock);
  void raise(uint16_t semaphore, uint64_t amount);
  static bool isKnown(const Clock &clock, Stamp stamp);
  const Touch &here(const Touch &touch);
  void report(const LoggedAccess &earlier, const LoggedAccess &later);

  const Events &events;
  AccessLog log;
  std::array<EventId, kEngineSlots> begin{};
  std::array<Clock, kEngineSlots> clocks{};
  std::vector<Semaphore> semaphores{size_t(machine.numSemaphores)};
  std::array<Ring, machine.dmaRings> rings;
  Iteration iteration{};
  std::deque<Touch> shiftedTouches; ///< of this iteration, where it is not the first
  std::optional<Diagnostic> race;
};

RaceClocks::Impl::Impl(const Events &events) : events(events), log(events) {
  for (EventId id = EventId(events.events.size()); id-- > 0;) {
    const Event &event = events.events[id];
    begin[size_t(event.engine)] = id;
    if (event.waits())
      ++semaphores[event.sync.waitSemaphore].waits[event.sync.waitValue];
  }
}

void RaceClocks::Impl::learn(Clock &clock, const Event &event) {
  if (!event.waits())
    return;
  Semaphore &semaphore = semaphores[event.sync.waitSemaphore];
  auto found = semaphore.reached.find(event.sync.waitValue);
  if (found == semaphore.reached.end())
    return;
  join(clock, found->second.clock);
  if (++found->second.waits == semaphore.waits[event.sync.waitValue])
    semaphore.reached.erase(found);
}

/// `known` of the semaphore has been raised already.
void RaceClocks::Impl::raise(uint16_t number, uint64_t amount) {
  Semaphore &semaphore = semaphores[number];
  auto first = semaphore.waits.upper_bound(semaphore.value);
  semaphore.value += amount;
  for (; first != semaphore.waits.end() && first->first <= semaphore.value; ++first)
    semaphore.reached[first->first] = {semaphore.known};
}

bool RaceClocks::Impl::isKnown(const Clock &clock, Stamp stamp) {
  if (stamp.agent < kEngineSlots)
    return clock[stamp.agent] >= stamp.ordinal;
  const uint32_t *engines = clock.data() + kEngineSlots + (stamp.agent - kEngineSlots) * kShares;
  return std::all_of(engines, engines + kShares,
                     [&](uint32_t done) { return done >= stamp.ordinal; });
}

const Touch &RaceClocks::Impl::here(const Touch &touch) {
  int64_t bytes = 0;
  for (unsigned l = 0; l < isa::kMaxLoopDepth; ++l)
    bytes += events.motions[touch.motion][l] * iteration[l];
  if (bytes == 0)
    return touch;
  Touch &moved = shiftedTouches.emplace_back(touch);
  moved.place = shifted(touch.place, bytes);
  return moved;
}

void RaceClocks::Impl::report(const LoggedAccess &earlier, const LoggedAccess &later) {
  SharedBytes shared;
  if (race ||
      kilnrt::meet(earlier.touch->place, later.touch->place, nullptr, &shared) != Meeting::Meet)
    return;
  const Words words(events);
  Diagnostic d = makeError(
      Fault::Check,
      kiln::text("race: ", words.access(later), " and ", words.access(earlier), ", in no order"),
      kiln::text("let ", words.name(later.event), " wait for ", words.name(earlier.event)), "X-08");
  d.place = words.place(later.event);
  d.notes.push_back({kiln::text(words.name(later.event), ", ", words.mnemonic(later.event), ": ",
                                words.bytesText(*later.touch, shared)),
                     {}});
  d.notes.push_back({kiln::text("the other one is ", words.name(earlier.event), ", ",
                                words.mnemonic(earlier.event)),
                     words.place(earlier.event)});
  race = std::move(d);
}

void RaceClocks::Impl::check(EventId id, Stamp stamp, const Clock &clock) {
  const Event &event = events.events[id];
  const auto known = [&](Stamp other) { return isKnown(clock, other); };
  const auto visit = [&](const LoggedAccess &earlier, const LoggedAccess &later) {
    report(earlier, later);
  };
  for (const bool writes : {false, true})
    for (const Touch &touch : events.touchesOf(event))
      if (touch.writes == writes)
        log.add(here(touch), id, stamp, known, visit);
}

RaceClocks::RaceClocks(const RacePlan &plan) : impl(std::make_unique<Impl>(*plan.events)) {}
RaceClocks::~RaceClocks() = default;

const std::optional<Diagnostic> &RaceClocks::race() const { return impl->race; }

//---- what happens -------------------------------------------------------===//

uint32_t RaceClocks::start(isa::Engine engine, uint32_t index) {
  const EventId id = impl->idOf(engine, index);
  const Event &event = impl->events.events[id];
  Clock &clock = impl->clocks[size_t(engine)];
  impl->learn(clock, event);
  if (!event.isTransfer) {
    impl->check(id, {uint32_t(engine), index + 1}, clock);
    return 0;
  }
  Ring &ring = impl->rings[event.ring];
  impl->check(id, {uint32_t(kEngineSlots + event.ring), ++ring.triggered}, clock);
  ring.transfers.push_back({clock});
  clock[size_t(engine)] = index + 1;
  return ring.triggered - 1;
}

void RaceClocks::complete(isa::Engine engine, uint32_t index) {
  const Event &event = impl->events.events[impl->idOf(engine, index)];
  Clock &clock = impl->clocks[size_t(engine)];
  clock[size_t(engine)] = index + 1;
  if (!event.updates())
    return;
  join(impl->semaphores[event.sync.updateSemaphore].known, clock);
  impl->raise(event.sync.updateSemaphore, event.amount());
}

void RaceClocks::moved(isa::Engine engine, uint32_t index, uint32_t number, unsigned share) {
  const Event &event = impl->events.events[impl->idOf(engine, index)];
  Ring &ring = impl->rings[event.ring];
  Transfer &transfer = ring.transfers[number - ring.base];
  transfer.done |= 1u << share;
  uint32_t &prefix = ring.prefix[share];
  while (prefix < ring.triggered && ring.transfers[prefix - ring.base].done >> share & 1)
    ++prefix;
  if (event.updates()) {
    Semaphore &semaphore = impl->semaphores[event.sync.updateSemaphore];
    join(semaphore.known, transfer.clock);
    uint32_t &entry = semaphore.known[kEngineSlots + event.ring * kShares + share];
    entry = std::max(entry, prefix);
    impl->raise(event.sync.updateSemaphore, 1);
  }
  const uint32_t all = *std::min_element(ring.prefix.begin(), ring.prefix.end());
  for (; ring.base < all; ++ring.base)
    ring.transfers.pop_front();
}

void RaceClocks::meet(const Iteration &iteration) {
  impl->iteration = iteration;
  impl->clocks.fill({});
  for (Semaphore &semaphore : impl->semaphores) {
    semaphore.value = 0;
    semaphore.known = {};
    semaphore.reached.clear();
  }
  impl->rings.fill({});
  impl->log.clear();
  impl->shiftedTouches.clear();
}
