//===- Reuse.cpp - tensors that take each other's bytes ---------------------------------------===//

#include "Reuse.h"

#include <algorithm>

using namespace kilnrt;
using namespace kilnrt::proof;
using isa::machine;

/// Stretch of a partition whose live tensors share one list.
static constexpr int64_t kGranuleBytes = machine.psumBankBytesPerPartition;

static bool overlap(const TensorPlace &a, const TensorPlace &b) {
  return a.partition < b.partition + b.partitions && b.partition < a.partition + a.partitions &&
         a.byte < b.byte + b.bytes && b.byte < a.byte + a.bytes;
}

ReuseWalk::ReuseWalk(const Events &events, const std::vector<std::unique_ptr<Order>> &orders,
                     const std::vector<std::vector<EventId>> &sequence, Report report)
    : events(events), orders(orders), sequence(sequence), report(std::move(report)),
      states(events.program.tensors.size()), stateEpoch(states.size()) {
  for (size_t b = 0; b < granules.size(); ++b)
    granules[b].resize(
        size_t((events.layout.blocks()[b].bytes + kGranuleBytes - 1) / kGranuleBytes));
}

void ReuseWalk::run() { walk(0, events.steps.size()); }

void ReuseWalk::walk(size_t first, size_t end) {
  for (size_t i = first; i < end; ++i) {
    const Step &step = events.steps[i];
    if (step.kind == Step::Run) {
      runEpoch(step.index);
      continue;
    }
    size_t close = i + 1; // steps of one loop nest: its own end closes it
    while (events.steps[close].kind != Step::End || events.steps[close].index != step.index)
      ++close;
    ++openLoops;
    walkLoop(events.loops[step.index], i + 1, close);
    if (--openLoops == 0)
      changes.clear();
    i = close;
  }
}

/// What an iteration makes of a tensor depends on what that tensor was and on no other, so what an
/// iteration that begins like an earlier one would report has been reported.
void ReuseWalk::walkLoop(const Loop &loop, size_t first, size_t end) {
  for (int64_t iteration = 0; iteration < loop.maxTrips; ++iteration) {
    const size_t mark = changes.size();
    startIteration(loop);
    walk(first, end);
    // Ends here, or goes on: a loop that registers decide begins each iteration as any before may
    // have left things.
    if (loop.mayRunFewer)
      mayBeAsAt(mark);
    if (isAsAt(mark))
      break;
  }
}

void ReuseWalk::startIteration(const Loop &loop) {
  for (uint32_t tensor : loop.tensors)
    if (events.layout.tensors()[tensor].block < granules.size())
      change(tensor, {});
}

void ReuseWalk::remember(uint32_t tensor) {
  if (openLoops > 0)
    changes.emplace_back(tensor, states[tensor]);
}

/// Keeps the lists of live tensors as well.
void ReuseWalk::change(uint32_t tensor, const Life &life) {
  remember(tensor);
  Life &own = states[tensor];
  if (own.isLive != life.isLive)
    for (std::vector<uint32_t> &granule : granulesOf(tensor)) {
      std::erase(granule, tensor);
      if (life.isLive)
        granule.push_back(tensor);
    }
  own = life;
}

/// What the tensors that changed since were at `mark`.
std::map<uint32_t, ReuseWalk::Life> ReuseWalk::livesAt(size_t mark) const {
  std::map<uint32_t, Life> lives;
  for (size_t i = mark; i < changes.size(); ++i)
    lives.insert(changes[i]); // the first stays
  return lives;
}

bool ReuseWalk::isAsAt(size_t mark) const {
  return std::ranges::all_of(
      livesAt(mark), [&](const auto &entry) { return states[entry.first].isAlike(entry.second); });
}

/// The iteration since `mark` may not have run.
void ReuseWalk::mayBeAsAt(size_t mark) {
  for (const auto &[tensor, before] : livesAt(mark)) {
    Life life = states[tensor];
    life.isLive |= before.isLive;
    life.isUnwritten |= before.isUnwritten;
    if (!life.isTaken()) {
      life.takenBy = before.takenBy;
      life.takenAt = before.takenAt;
    }
    if (!life.isAlike(states[tensor]))
      change(tensor, life);
  }
}

std::span<std::vector<uint32_t>> ReuseWalk::granulesOf(uint32_t tensor) {
  const TensorPlace &p = events.layout.tensors()[tensor];
  return std::span(granules[p.block])
      .subspan(size_t(p.byte / kGranuleBytes),
               size_t((p.byte + p.bytes - 1) / kGranuleBytes - p.byte / kGranuleBytes + 1));
}

/// What ended before the edge of a loop is done with.
void ReuseWalk::dropEnded() {
  for (uint32_t tensor : ended)
    if (!states[tensor].isLive)
      for (std::vector<uint32_t> &granule : granulesOf(tensor))
        std::erase(granule, tensor);
  ended.clear();
}

void ReuseWalk::runEpoch(size_t index) {
  epoch = index;
  dropEnded();
  ++visit;
  for (EventId id : sequence[index]) {
    // An instruction reads before it writes.
    for (const bool writes : {false, true})
      for (const Touch &touch : events.touchesOf(events.events[id]))
        if (touch.writes == writes && touch.place.block < granules.size())
          access(touch, id);
    // Afterwards: as the last use of a tensor that it ends, the event would hide the one before.
    for (const Touch &touch : events.touchesOf(events.events[id]))
      if (touch.place.block < granules.size())
        noteUse(touch, id);
  }
}

/// Uses of earlier epochs are complete: streams have met since.
ReuseWalk::TensorState &ReuseWalk::fresh(uint32_t tensor) {
  TensorState &state = states[tensor];
  if (stateEpoch[tensor] != visit) {
    stateEpoch[tensor] = visit;
    state.uses.clear();
    state.before.clear();
    state.takers.clear();
    state.started.fill(kNone);
  }
  return state;
}

void ReuseWalk::note(std::vector<Use> &uses, Use use) {
  for (Use &old : uses)
    if (old.agent == use.agent) {
      if (old.ordinal <= use.ordinal)
        old = use;
      return;
    }
  uses.push_back(use);
}

static bool isInside(const TensorPlace &inner, const TensorPlace &outer) {
  return outer.partition <= inner.partition &&
         inner.partition + inner.partitions <= outer.partition + outer.partitions &&
         outer.byte <= inner.byte && inner.byte + inner.bytes <= outer.byte + outer.bytes;
}

/// What two places share, which is something.
static TensorPlace intersection(const TensorPlace &a, const TensorPlace &b) {
  TensorPlace shared = a;
  shared.partition = std::max(a.partition, b.partition);
  shared.partitions =
      std::min(a.partition + a.partitions, b.partition + b.partitions) - shared.partition;
  shared.byte = std::max(a.byte, b.byte);
  shared.bytes = std::min(a.byte + a.bytes, b.byte + b.bytes) - shared.byte;
  return shared;
}

/// Some tensor took all that the two share since the old one ended: the new one comes after that,
/// and that after the old one.
bool ReuseWalk::isBetween(uint32_t oldTensor, uint32_t newTensor) const {
  const auto &places = events.layout.tensors();
  const TensorPlace shared = intersection(places[oldTensor], places[newTensor]);
  return std::ranges::any_of(states[oldTensor].takers,
                             [&](uint32_t taker) { return isInside(shared, places[taker]); });
}

void ReuseWalk::activate(uint32_t tensor, EventId event) {
  TensorState &state = fresh(tensor);
  const TensorPlace &place = events.layout.tensors()[tensor];
  std::vector<uint32_t> victims;
  int64_t first = place.byte / kGranuleBytes * kGranuleBytes;
  for (std::vector<uint32_t> &granule : granulesOf(tensor)) {
    std::erase_if(granule, [&](uint32_t other) {
      const TensorPlace &where = events.layout.tensors()[other];
      if (other == tensor || !overlap(place, where))
        return other == tensor;
      if (std::find(victims.begin(), victims.end(), other) == victims.end())
        victims.push_back(other);
      TensorPlace here = where;
      here.byte = std::max(where.byte, first);
      here.bytes = std::min(where.byte + where.bytes, first + kGranuleBytes) - here.byte;
      return isInside(here, place);
    });
    granule.push_back(tensor);
    first += kGranuleBytes;
  }
  std::vector<Use> before;
  for (uint32_t victim : victims) {
    TensorState &old = fresh(victim);
    if (old.isLive || !isBetween(victim, tensor))
      for (const Use &use : old.uses)
        note(before, use);
    old.takers.push_back(tensor);
    if (!old.isLive)
      continue;
    const bool isSure = old.isSurelyLive() && !state.isLive;
    // Shares of a transfer have no order: one writes what another has yet to read.
    if (events.events[event].isTransfer)
      for (const Touch &touch : events.touchesOf(events.events[event]))
        if (touch.place.tensor == victim)
          report({true, !isSure, victim, tensor, event, event, epoch});
    remember(victim);
    old.isLive = false;
    old.takenBy = tensor;
    old.takenAt = event;
    ended.push_back(victim);
  }
  remember(tensor);
  state.isSureStart = !state.isLive;
  static_cast<Life &>(state) = {.isLive = true, .isUnwritten = false};
  state.started.fill(kNone);
  state.before = std::move(before);
  state.uses.clear();
  state.takers.clear();
}

/// The first use of a live tensor by an engine comes after all uses of its predecessors; later ones
/// of its stream follow. The stream may have them in another order than the program.
void ReuseWalk::checkStart(uint32_t tensor, EventId event) {
  TensorState &state = states[tensor];
  EventId &first = state.started[size_t(events.events[event].engine)];
  if (first <= event)
    return;
  first = event;
  const uint32_t *clock = orders[epoch]->clockAt(event);
  for (const Use &use : state.before)
    if (use.event != event && clock[use.agent] < use.ordinal)
      report({false, !state.isSureStart, use.tensor, tensor, use.event, event, epoch});
}

void ReuseWalk::access(const Touch &touch, EventId event) {
  const uint32_t tensor = touch.place.tensor;
  TensorState &state = fresh(tensor);
  if (touch.writes && !state.isSurelyLive())
    activate(tensor, event);
  else if (state.isTaken())
    report({true, state.isLive || state.isUnwritten, tensor, state.takenBy, state.takenAt, event,
            epoch});
  if (state.isLive)
    checkStart(tensor, event);
}

void ReuseWalk::noteUse(const Touch &touch, EventId event) {
  const Stamp stamp = orders[epoch]->stampOf(event);
  const Use use{stamp.agent, stamp.ordinal, event, touch.place.tensor};
  TensorState &state = states[touch.place.tensor];
  note(state.uses, use);
  if (state.isTaken() && state.takenAt == event)
    note(states[state.takenBy].before, use);
}
