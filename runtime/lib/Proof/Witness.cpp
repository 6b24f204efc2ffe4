//===- Witness.cpp - the findings of a proof in words -----------------------------------------===//

#include "Witness.h"

#include "HeldRun.h"
#include "WitnessGraph.h"
#include "kiln/ISA/Text.h"

#include <algorithm>

using namespace kilnrt;
using namespace kilnrt::proof;
using kiln::counted;
using kiln::text;

//---- parts of sentences -------------------------------------------------===//

std::string Words::name(EventId id) const {
  const Event &event = events.events[id];
  return text("instruction ", event.index, " of the ", isa::name(event.engine), " stream");
}

std::string Words::mnemonic(EventId id) const {
  return std::string(events.descOf(events.events[id]).mnemonic);
}

std::string Words::tensorName(uint32_t tensor) const {
  if (tensor == kNone)
    return "another tensor";
  const std::string &name = events.program.tensors[tensor].name;
  return "'" + (name.empty() ? text("tensor ", tensor) : name) + "'";
}

kiln::CallChain Words::place(EventId id) const {
  return events.program.chain(events.events[id].location);
}

std::string Words::access(const LoggedAccess &access) const {
  const std::string who = mnemonic(access.event);
  if (access.touch->operand == Touch::kRegisters)
    return who + " uses the reduction registers";
  if (access.touch->operand == Touch::kShown)
    return who + " shows a tensor";
  return who + (access.touch->writes ? " writes " : " reads ") +
         tensorName(access.touch->place.tensor);
}

static std::string span(int64_t first, int64_t end) {
  return end - first == 1 ? std::to_string(first) : text(first, "-", end - 1);
}

std::string Words::bytesText(const Touch &touch, const SharedBytes &shared) const {
  if (touch.operand == Touch::kRegisters)
    return "both go through the reduction registers of the engine";
  if (touch.operand == Touch::kShown)
    return "both are shown to the author";
  const TensorInfo &info = events.program.tensors[touch.place.tensor];
  const TensorPlace &where = events.layout.tensors()[touch.place.tensor];
  int64_t shift = 0; // to where the iteration has them
  for (unsigned l = 0; l < isa::kMaxLoopDepth; ++l)
    shift += events.motions[touch.motion][l] * shared.iteration[l];
  if (!touch.place.onChip)
    return text("both touch bytes ", span(shared.first + shift, shared.end + shift), " of ",
                tensorName(touch.place.tensor), " in hbm");
  // A tensor that is not placed has a block of its own.
  const int64_t row = int64_t(info.partition) - where.partition + shared.firstPartition;
  shift += int64_t(info.byte) - where.byte;
  return text("both touch ", isa::name(info.memory), " partition",
              shared.partitions > 1 ? "s " : " ", span(row, row + shared.partitions), ", bytes ",
              span(shared.first + shift, shared.end + shift));
}

/// Where accesses move apart: when they meet.
void Witness::addIteration(const SharedBytes &shared, Diagnostic &d) const {
  const std::vector<int64_t> &trips = events.tripCounts[size_t(&epoch - events.epochs.data())];
  for (size_t l = trips.size(); l-- > 0;)
    d.notes.push_back({text("in iteration ", shared.iteration[l], " of a loop of ", trips[l],
                            " iterations, counted from 0"),
                       {}});
}

std::string Witness::addMissing(EventId earlier, EventId later, Diagnostic &d) const {
  const auto note = [&](std::string text) { d.notes.push_back({std::move(text), {}}); };
  d.notes.push_back(
      {text("the earlier one is ", name(earlier), ", ", mnemonic(earlier)), place(earlier)});
  const Sync &sync = events.events[earlier].sync;
  if (!events.events[earlier].updates()) {
    note(text(name(later), " cannot wait for ", name(earlier), ", which updates no semaphore"));
    d.help = text("let ", name(earlier), " update a semaphore that ", name(later), " waits for");
    return "updates no semaphore";
  }
  const std::optional<uint64_t> value = HeldRun(events, epoch).valueProving(earlier, later);
  if (!value) {
    note(text("no value of semaphore ", sync.updateSemaphore, " proves ", name(earlier),
              " complete to ", name(later)));
    d.help = text("let ", name(earlier), " update a semaphore of its own that ", name(later),
                  " waits for");
    return text("no value of semaphore ", sync.updateSemaphore, " proves it");
  }
  std::string wait = text("semaphore ", sync.updateSemaphore, " >= ", *value);
  note(text(name(later), " starts without ", wait, ", which proves ", name(earlier), " complete"));
  d.help = text("wait for ", wait, " at ", name(later), " or before it");
  return wait;
}

//---- findings -----------------------------------------------------------===//

Finding Witness::race(const LoggedAccess &earlier, const LoggedAccess &later,
                      const SharedBytes &shared, bool isReversed) const {
  Finding finding;
  finding.kind = isReversed ? Finding::Kind::Order : Finding::Kind::Race;
  Diagnostic &d = finding.diagnostic;
  d = makeError(
      Fault::Check,
      isReversed
          ? text(access(later), " before ", access(earlier), ", which comes first in program order")
          : text("race: ", access(later), " and ", access(earlier), ", in no order"),
      {}, "X-08");
  d.place = place(later.event);
  d.notes.push_back(
      {text(name(later.event), ", ", mnemonic(later.event), ": ", bytesText(*later.touch, shared)),
       {}});
  if (earlier.touch->motion != later.touch->motion)
    addIteration(shared, d);
  std::string missing = "comes first in program order";
  if (isReversed) {
    d.notes.push_back(
        {text("first in program order is ", name(earlier.event), ", ", mnemonic(earlier.event)),
         place(earlier.event)});
    d.help = "keep accesses to the same bytes in program order";
  } else {
    missing = addMissing(earlier.event, later.event, d);
  }
  finding.graph = witnessGraph(events, epoch, order, earlier.event, later.event, missing);
  return finding;
}

Finding Witness::reuse(const ReuseFault &fault) const {
  Finding finding;
  finding.kind = fault.isOverlap ? Finding::Kind::Overlap : Finding::Kind::Reuse;
  Diagnostic &d = finding.diagnostic;
  const std::string oldName = tensorName(fault.oldTensor), newName = tensorName(fault.newTensor);
  if (fault.isOverlap) {
    d = makeError(Fault::Check,
                  text(mnemonic(fault.later), " uses ", oldName, " after ", newName,
                       " was written to the same memory"),
                  text("place ", oldName, " and ", newName, " at different addresses"), "M-04");
    d.notes.push_back(
        {text(newName, " takes the bytes at ", name(fault.earlier), ", ", mnemonic(fault.earlier)),
         place(fault.earlier)});
  } else {
    d = makeError(Fault::Check,
                  text(mnemonic(fault.later), " uses ", newName, ", which takes the place of ",
                       oldName, ", and ", mnemonic(fault.earlier), " may still use that"),
                  {}, "X-09");
    finding.graph = witnessGraph(events, epoch, order, fault.earlier, fault.later,
                                 addMissing(fault.earlier, fault.later, d));
  }
  if (fault.dependsOnLoops)
    d.notes.push_back({"it depends on how often loops run that registers decide", {}});
  d.place = place(fault.later);
  for (uint32_t tensor : {fault.oldTensor, fault.newTensor})
    if (tensor != kNone)
      if (kiln::CallChain chain = events.program.chain(events.program.tensors[tensor].location);
          !chain.empty())
        d.notes.push_back({tensorName(tensor) + " was declared here", std::move(chain)});
  return finding;
}

//---- deadlock -----------------------------------------------------------===//

/// Why the semaphore that `waiting` waits for does not rise; adds who could raise it to the graph.
/// Somebody could: a verified wait asks for no more than all updates of its epoch add up to.
std::string Witness::whyNotReached(EventId waiting, Finding &finding) const {
  const Event &wait = events.events[waiting];
  std::vector<EventId> raisers; // the first in each stream
  for (size_t s = 0; s < kEngineSlots; ++s) {
    EventId id = order.front()[s];
    while (id < epoch.end[s] && events.events[id].sync.updateSemaphore != wait.sync.waitSemaphore)
      ++id;
    if (id < epoch.end[s])
      raisers.push_back(id);
  }
  for (EventId raiser : raisers)
    addWaitsFor(events, waiting, raiser, order.front()[size_t(events.events[raiser].engine)],
                finding.graph);
  std::string raised;
  for (EventId raiser : raisers) {
    const EventId blocked = order.front()[size_t(events.events[raiser].engine)];
    raised += text(raised.empty() ? "" : ", and by ", name(raiser), ", ", mnemonic(raiser));
    if (raiser == waiting)
      raised += ", which is the one that waits";
    else if (raiser != blocked)
      raised += text(", behind instruction ", events.events[blocked].index);
  }
  return "it would be raised by " + raised;
}

Finding Witness::deadlock() const {
  Finding finding;
  finding.kind = Finding::Kind::Deadlock;
  Diagnostic &d = finding.diagnostic;
  d = makeError(Fault::Check, {}, "correct the waits and updates so that every wait is reached",
                "X-01");
  uint32_t blocked = 0;
  for (size_t s = 0; s < kEngineSlots; ++s) {
    if (order.front()[s] == epoch.end[s])
      continue;
    const EventId id = order.front()[s];
    const Event &event = events.events[id];
    if (++blocked == 1)
      d.place = place(id);
    d.notes.push_back(
        {text("the ", isa::name(event.engine), " stream waits at instruction ", event.index, ", ",
              mnemonic(id), ", for semaphore ", event.sync.waitSemaphore,
              " >= ", event.sync.waitValue, "; it is ", order.values()[event.sync.waitSemaphore],
              ", and ", whyNotReached(id, finding)),
         place(id)});
  }
  d.message = blocked == 1
                  ? "deadlock: one stream waits for a semaphore that does not rise"
                  : text("deadlock: ", blocked, " streams wait for semaphores that do not rise");
  return finding;
}
