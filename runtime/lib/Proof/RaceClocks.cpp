//===- RaceClocks.cpp - races of one run ------------------------------------------------------===//
//
// A clock counts, for each stream, the records that are complete, and for each semaphore that
// transfers raise and each DMA engine, the transfers that engine is done with from the first on. A
// wait learns what those knew whose increments brought the semaphore to its value in this run; so
// the completion of a transfer is known from its own semaphore only.
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
/// The clock entry of what nothing tells complete before the next edge.
constexpr uint32_t kNeverAgent = UINT32_MAX;

/// An entry for each stream, then one for each DMA engine of each semaphore that transfers raise.
using Clock = std::vector<uint32_t>;

void join(Clock &into, const Clock &other) {
  for (size_t i = 0; i < into.size(); ++i)
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

/// A transfer since the last edge.
struct Transfer {
  Clock clock;       ///< of its stream when it was triggered
  uint32_t done = 0; ///< bit k: engine k has moved its share
};
static_assert(kShares <= 32);

/// The transfers that raise one semaphore.
struct Sequence {
  /// The oldest is number `base`; those that are complete are dropped.
  std::deque<Transfer> transfers;
  uint32_t base = 0, triggered = 0;
  std::array<uint32_t, kShares> prefix{}; ///< transfers each engine is done with, from the first on
};

struct Semaphore {
  uint64_t value = 0;
  Clock known;
  uint32_t agent = kNeverAgent; ///< clock entry of DMA engine 0; none: no transfer raises it
  Sequence sequence;
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
  void check(EventId id, Stamp stamp, const Clock &clock, std::span<const int64_t> indices);
  void raise(uint16_t semaphore, uint64_t amount);
  void restart();
  static bool isKnown(const Clock &clock, Stamp stamp);
  const Touch &here(const Touch &touch, std::span<const int64_t> indices);
  void report(const LoggedAccess &one, const LoggedAccess &other);

  const Events &events;
  AccessLog log;
  std::array<EventId, kEngineSlots> begin{};
  size_t width = kEngineSlots; ///< entries of a clock
  std::array<Clock, kEngineSlots> clocks;
  std::vector<Semaphore> semaphores{size_t(machine.numSemaphores)};
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
    if (!event.isTransfer || !event.updates())
      continue;
    if (Semaphore &own = semaphores[event.sync.updateSemaphore]; own.agent == kNeverAgent) {
      own.agent = uint32_t(width);
      width += kShares;
    }
  }
  restart();
}

void RaceClocks::Impl::restart() {
  clocks.fill(Clock(width));
  for (Semaphore &semaphore : semaphores) {
    semaphore.value = 0;
    semaphore.known.assign(width, 0);
    semaphore.sequence = {};
    semaphore.reached.clear();
  }
  log.clear();
  shiftedTouches.clear();
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
  if (stamp.agent == kNeverAgent)
    return false;
  const uint32_t *engines = clock.data() + stamp.agent;
  return std::all_of(engines, engines + kShares,
                     [&](uint32_t done) { return done >= stamp.ordinal; });
}

const Touch &RaceClocks::Impl::here(const Touch &touch, std::span<const int64_t> indices) {
  const Base own{touch.place, touch.motion};
  const Base &base = touch.isHull() ? events.bases[touch.base] : own;
  int64_t bytes = touch.isHull() && !indices.empty() ? indices[touch.operand] : 0;
  for (unsigned l = 0; l < isa::kMaxLoopDepth; ++l)
    bytes += events.motions[base.motion][l] * iteration[l];
  if (bytes == 0 && !touch.isHull())
    return touch;
  Touch &moved = shiftedTouches.emplace_back(touch);
  moved.place = shifted(base.place, bytes);
  moved.motion = base.motion;
  moved.base = kNone;
  return moved;
}

void RaceClocks::Impl::report(const LoggedAccess &one, const LoggedAccess &other) {
  SharedBytes shared;
  if (race || kilnrt::meet(one.touch->place, other.touch->place, nullptr, &shared) != Meeting::Meet)
    return;
  // Which came first in this run says nothing: the program says which has to.
  const bool isReversed = events.events[one.event].order > events.events[other.event].order;
  const LoggedAccess &earlier = isReversed ? other : one, &later = isReversed ? one : other;
  const Words words(events);
  Diagnostic d = makeError(
      Fault::Check,
      kiln::text("race: ", words.access(later), " and ", words.access(earlier), ", in no order"),
      kiln::text("let ", words.name(later.event), " wait for ", words.name(earlier.event)), "X-08");
  d.place = words.place(later.event);
  d.notes.push_back({kiln::text(words.name(later.event), ", ", words.mnemonic(later.event), ": ",
                                words.bytesText(*later.touch, shared)),
                     {}});
  d.notes.push_back({kiln::text("the earlier one is ", words.name(earlier.event), ", ",
                                words.mnemonic(earlier.event)),
                     words.place(earlier.event)});
  race = std::move(d);
}

void RaceClocks::Impl::check(EventId id, Stamp stamp, const Clock &clock,
                             std::span<const int64_t> indices) {
  const Event &event = events.events[id];
  const auto known = [&](Stamp other) { return isKnown(clock, other); };
  const auto visit = [&](const LoggedAccess &earlier, const LoggedAccess &later) {
    report(earlier, later);
  };
  for (const bool writes : {false, true})
    for (const Touch &touch : events.touchesOf(event))
      if (touch.writes == writes)
        log.add(here(touch, indices), id, stamp, known, visit);
}

RaceClocks::RaceClocks(const RacePlan &plan) : impl(std::make_unique<Impl>(*plan.events)) {}
RaceClocks::~RaceClocks() = default;

const std::optional<Diagnostic> &RaceClocks::race() const { return impl->race; }

//---- what happens -------------------------------------------------------===//

uint32_t RaceClocks::start(isa::Engine engine, uint32_t index, std::span<const int64_t> indices) {
  const EventId id = impl->idOf(engine, index);
  const Event &event = impl->events.events[id];
  Clock &clock = impl->clocks[size_t(engine)];
  impl->learn(clock, event);
  if (!event.isTransfer) {
    impl->check(id, {uint32_t(engine), index + 1}, clock, indices);
    return 0;
  }
  Stamp stamp{kNeverAgent, 0};
  if (event.updates()) {
    Semaphore &semaphore = impl->semaphores[event.sync.updateSemaphore];
    stamp = {semaphore.agent, ++semaphore.sequence.triggered};
    semaphore.sequence.transfers.push_back({clock});
  }
  impl->check(id, stamp, clock, indices);
  clock[size_t(engine)] = index + 1;
  return stamp.ordinal - 1;
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
  if (!event.updates())
    return;
  Semaphore &semaphore = impl->semaphores[event.sync.updateSemaphore];
  Sequence &sequence = semaphore.sequence;
  Transfer &transfer = sequence.transfers[number - sequence.base];
  transfer.done |= 1u << share;
  uint32_t &prefix = sequence.prefix[share];
  while (prefix < sequence.triggered &&
         sequence.transfers[prefix - sequence.base].done >> share & 1)
    ++prefix;
  join(semaphore.known, transfer.clock);
  uint32_t &entry = semaphore.known[semaphore.agent + share];
  entry = std::max(entry, prefix);
  impl->raise(event.sync.updateSemaphore, 1);
  const uint32_t all = *std::min_element(sequence.prefix.begin(), sequence.prefix.end());
  for (; sequence.base < all; ++sequence.base)
    sequence.transfers.pop_front();
}

void RaceClocks::meet(const Iteration &iteration) {
  impl->iteration = iteration;
  impl->restart();
}
