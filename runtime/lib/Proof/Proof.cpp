//===- Proof.cpp - the static checks of a program ---------------------------------------------===//

#include "kilnrt/Proof.h"

#include "AccessLog.h"
#include "Events.h"
#include "HeldRun.h"
#include "Order.h"
#include "Reuse.h"
#include "Witness.h"
#include "kilnrt/Machine/Overlap.h"

#include <algorithm>
#include <new>
#include <set>
#include <unordered_set>

using namespace kilnrt;
using namespace kilnrt::proof;

std::string_view kilnrt::answerText(Answer answer) {
  switch (answer) {
  case Answer::Proven:
    return "proven";
  case Answer::Refuted:
    return "refuted";
  case Answer::NotProven:
    return "not proven";
  case Answer::NotApplicable:
    return "not applicable";
  }
  return "";
}

std::string_view kilnrt::kindText(Finding::Kind kind) {
  switch (kind) {
  case Finding::Kind::Race:
    return "race";
  case Finding::Kind::Order:
    return "order";
  case Finding::Kind::Overlap:
    return "overlap";
  case Finding::Kind::Reuse:
    return "reuse";
  case Finding::Kind::Deadlock:
    return "deadlock";
  }
  return "";
}

namespace {

class Prover {
public:
  Prover(const Events &events, const ProofOptions &options) : events(events), options(options) {}

  Proof run();

private:
  bool isStopped() const { return options.stop && options.stop->load(std::memory_order_relaxed); }
  bool isFull() const { return proof.findings.size() >= options.maxFindings; }
  void giveUp(Answer &answer, std::string reason);
  void solveOrders();
  void orderEvents();
  void findRaces();
  void checkPair(HeldRun &held, const LoggedAccess &earlier, const LoggedAccess &later);
  bool isAccepted(const ReuseFault &fault) const;
  void findReuse();

  const Events &events;
  const ProofOptions &options;
  Proof proof;
  size_t epoch = 0;
  uint64_t work = 0; ///< of comparing patterns, and of the held runs of earlier epochs
  /// What the access at hand was compared with, pattern by pattern.
  const Touch *comparedWith = nullptr;
  std::unordered_set<const Touch *> compared;
  std::vector<std::unique_ptr<Order>> orders;
  std::vector<std::vector<EventId>> sequence;    ///< the events of each epoch in program order
  std::set<std::pair<EventId, EventId>> decided; ///< pairs that share bytes
  std::set<std::pair<EventId, EventId>> raced;   ///< those of them that are findings
};

} // namespace

void Prover::giveUp(Answer &answer, std::string reason) {
  if (answer == Answer::Proven)
    answer = Answer::NotProven;
  if (proof.reason.empty())
    proof.reason = std::move(reason);
}

/// Ends with the first epoch whose waits are not all reached: nothing after it ever runs.
void Prover::solveOrders() {
  for (const Epoch &e : events.epochs) {
    if (isStopped())
      return giveUp(proof.deadlock, "the proof was stopped");
    orders.push_back(std::make_unique<Order>(events, e));
    if (orders.back()->isComplete())
      continue;
    proof.deadlock = Answer::Refuted;
    proof.findings.push_back(Witness(events, e, *orders.back()).deadlock());
    orders.pop_back();
    return;
  }
}

void Prover::orderEvents() {
  sequence.resize(orders.size());
  for (size_t e = 0; e < orders.size(); ++e) {
    const Epoch &range = events.epochs[e];
    std::vector<EventId> &list = sequence[e];
    list.reserve(range.size());
    // Streams usually keep the program's order: merging is a sort of sorted parts.
    for (size_t s = 0; s < kEngineSlots; ++s)
      for (EventId id = range.begin[s]; id < range.end[s]; ++id)
        list.push_back(id);
    std::sort(list.begin(), list.end(), [&](EventId a, EventId b) {
      return events.events[a].order < events.events[b].order;
    });
  }
}

/// How far `a` moves against `b` in the loops around both.
static Motion motionBetween(const Events &events, size_t epoch, const Touch &a, const Touch &b) {
  Motion motion;
  const std::vector<int64_t> &trips = events.tripCounts[epoch];
  for (size_t l = 0; l < trips.size(); ++l) {
    motion.step[l] = events.motions[a.motion][l] - events.motions[b.motion][l];
    motion.num[l] = trips[l];
  }
  return motion;
}

void Prover::checkPair(HeldRun &held, const LoggedAccess &earlier, const LoggedAccess &later) {
  if (isFull() || decided.contains({earlier.event, later.event}))
    return;
  // A pair comes once for each cell that both are in.
  if (later.touch != comparedWith) {
    comparedWith = later.touch;
    compared.clear();
  }
  if (!compared.insert(earlier.touch).second)
    return;
  if (work + held.work() > options.maxWork)
    return giveUp(proof.races, "too many pairs of accesses need work of their own");
  SharedBytes shared;
  const Motion motion = motionBetween(events, epoch, *earlier.touch, *later.touch);
  const bool movesApart = earlier.touch->motion != later.touch->motion;
  switch (meet(earlier.touch->place, later.touch->place, movesApart ? &motion : nullptr, &shared,
               &work)) {
  case Meeting::Apart:
    return;
  case Meeting::Unknown:
    return giveUp(proof.races, "two access patterns are too intricate to compare");
  case Meeting::Meet:
    break;
  }
  if (isStopped())
    return giveUp(proof.races, "the proof was stopped");
  ++proof.stats.pairsDecided;
  if (earlier.touch->isHull() || later.touch->isHull()) {
    // In one run they may share bytes, in another they do not: no witness holds for all.
    if (held.mayStart(later.event, earlier.event))
      giveUp(proof.races, "two accesses that nothing orders lie where the run decides");
    return;
  }
  decided.insert({earlier.event, later.event});
  if (!held.mayStart(later.event, earlier.event))
    return;
  const bool isReversed = !held.mayStart(earlier.event, later.event);
  proof.races = Answer::Refuted;
  raced.insert({earlier.event, later.event});
  proof.findings.push_back(Witness(events, events.epochs[epoch], *orders[epoch])
                               .race(earlier, later, shared, isReversed));
}

void Prover::findRaces() {
  AccessLog log(events);
  for (epoch = 0; epoch < orders.size() && !isFull(); ++epoch) {
    const Order &order = *orders[epoch];
    HeldRun held(events, events.epochs[epoch]);
    log.startEpoch(epoch);
    uint32_t count = 0;
    for (EventId id : sequence[epoch]) {
      if (++count % 1024 == 0 && isStopped())
        return giveUp(proof.races, "the proof was stopped");
      const auto isKnown = [clock = order.clockAt(id)](Stamp stamp) {
        return clock[stamp.agent] >= stamp.ordinal;
      };
      // Reads first: a result on its own operand replaces it in the log.
      for (const bool writes : {false, true})
        for (const Touch &touch : events.touchesOf(events.events[id]))
          if (touch.writes == writes)
            log.add(touch, id, order.stampOf(id), isKnown,
                    [&](const LoggedAccess &earlier, const LoggedAccess &later) {
                      checkPair(held, earlier, later);
                    });
    }
    work += held.work();
  }
  proof.stats.comparisons = log.comparisons;
}

bool Prover::isAccepted(const ReuseFault &fault) const {
  return options.acceptsOverlaps &&
         (fault.isOverlap || events.program.tensors[fault.newTensor].memory != isa::Memory::Psum);
}

void Prover::findReuse() {
  std::set<std::tuple<bool, uint32_t, uint32_t>> seen; // one report a pair of tensors
  std::unique_ptr<HeldRun> held;
  size_t heldEpoch = 0;
  ReuseWalk walk(events, orders, sequence, [&](const ReuseFault &fault) {
    const std::tuple key{fault.isOverlap, fault.oldTensor, fault.newTensor};
    if (isFull() || seen.contains(key) || isAccepted(fault))
      return;
    if (!fault.isOverlap) {
      if (!held || heldEpoch != fault.epoch) {
        work += held ? held->work() : 0;
        held = std::make_unique<HeldRun>(events, events.epochs[fault.epoch]);
        heldEpoch = fault.epoch;
      }
      if (isStopped())
        return giveUp(proof.memory, "the proof was stopped");
      if (work + held->work() > options.maxWork)
        return giveUp(proof.memory, "too many pairs of tensors need a run of their own");
      ++proof.stats.pairsDecided;
      if (!held->mayStart(fault.later, fault.earlier))
        return;
    }
    proof.memory = Answer::Refuted;
    if (!fault.isOverlap && raced.contains({fault.earlier, fault.later}))
      return; // told already, with the bytes
    seen.insert(key);
    proof.findings.push_back(
        Witness(events, events.epochs[fault.epoch], *orders[fault.epoch]).reuse(fault));
  });
  walk.run();
}

Proof Prover::run() {
  proof.stats.instructions = events.events.size();
  proof.stats.epochs = events.epochs.size();
  solveOrders();
  orderEvents();
  findRaces();
  if (orders.size() < events.epochs.size()) {
    giveUp(proof.races, "streams wait for ever");
    giveUp(proof.memory, "streams wait for ever");
  } else if (isStopped()) { // nobody has looked at the memory
    giveUp(proof.memory, "the proof was stopped");
  } else if (events.program.flags.placed && !isFull()) {
    findReuse();
  }
  if (options.acceptsOverlaps && proof.memory == Answer::Proven)
    proof.memory = Answer::NotApplicable;
  if (isFull()) {
    giveUp(proof.races, "the proof ended with its last finding");
    giveUp(proof.memory, "the proof ended with its last finding");
  }
  return std::move(proof);
}

Expected<Proof> kilnrt::prove(const Program &program, const ProofOptions &options) {
  if (!program.flags.synchronised) {
    Proof proof;
    proof.races = proof.deadlock = proof.memory = Answer::NotApplicable;
    return proof;
  }
  try { // the only exception the standard library has for us here
    Expected<std::unique_ptr<Events>> events = decodeEvents(program);
    if (!events)
      return events.error();
    return Prover(**events, options).run();
  } catch (const std::bad_alloc &) {
    return makeError(Fault::Limit, "the proof needs more memory than the host gives",
                     "prove a smaller program", "X-02");
  }
}
