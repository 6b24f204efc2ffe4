//===- DiagnoseStreams.cpp - the words of deadlocks and limits --------------------------------===//

#include "Diagnose.h"

using namespace kilnrt;

namespace {

/// What is left to raise one semaphore.
struct Raisers {
  uint64_t left = 0;                     ///< sum over operations that come before the streams meet
  bool meets = false;                    ///< the edge of a loop ended the search
  const Operation *own = nullptr;        ///< the first in the waiting stream
  std::vector<const Operation *> others; ///< the first in each other stream
};

} // namespace

static std::string streamName(const Operation &op) {
  return "the " + std::string(isa::name(op.engine)) + " stream";
}

static uint64_t amountOf(const Operation &op) {
  return op.isDma() ? uint64_t(isa::machine.dmaEngines) : op.sync.updateValue;
}

static Raisers findRaisers(const Image &image, const Positions &next, const Operation &waiting) {
  Raisers raisers;
  for (size_t s = 0; s < kEngineSlots; ++s) {
    const Operation *first = nullptr;
    for (size_t i = next[s]; i < image.streams[s].size(); ++i) {
      const Operation &op = image.streams[s][i];
      if (op.isLoopEdge()) { // semaphores restart there
        raisers.meets = true;
        break;
      }
      if (op.sync.updateSemaphore != waiting.sync.waitSemaphore)
        continue;
      raisers.left += amountOf(op);
      if (!first)
        first = &op;
    }
    if (first && first->engine == waiting.engine)
      raisers.own = first;
    else if (first)
      raisers.others.push_back(first);
  }
  return raisers;
}

/// Why the semaphore `waiting` waits for does not rise any more.
static std::string reasonText(const Image &image, const Positions &next, const Operation &waiting,
                              uint64_t value) {
  const Raisers raisers = findRaisers(image, next, waiting);
  if (raisers.left == 0)
    return raisers.meets ? "nothing raises it before the streams meet at the edge of a loop"
                         : "nothing left in any stream raises it";
  if (value + raisers.left < waiting.sync.waitValue)
    return "all that is left raises it to " + std::to_string(value + raisers.left) + " only";
  std::string text;
  for (const Operation *op : raisers.others) {
    const Operation &blocked = image.streams[size_t(op->engine)][next[size_t(op->engine)]];
    text += (text.empty() ? "" : ", and by ") + operationText(*op);
    if (op != &blocked)
      text += ", behind instruction " + std::to_string(blocked.index);
  }
  if (raisers.own)
    text += (text.empty() ? "" : ", and by ") + operationText(*raisers.own) +
            (raisers.own == &waiting ? ", which is the one that waits" : ", behind this wait");
  return "it would be raised by " + text;
}

Diagnostic kilnrt::deadlock(const Image &image, const Positions &next,
                            std::span<const uint64_t> semaphores) {
  Diagnostic d = makeError(Fault::Check, {},
                           "correct the waits and updates so that every wait is reached", "X-01");
  size_t blocked = 0;
  for (size_t s = 0; s < kEngineSlots; ++s) {
    if (next[s] == image.streams[s].size())
      continue;
    const Operation &op = image.streams[s][next[s]];
    if (op.isLoopEdge()) {
      d.notes.push_back({streamName(op) + " waits at instruction " + std::to_string(op.index) +
                             ", " + std::string(op.desc().mnemonic) + ", for the other streams",
                         image.info.chain(op.location)});
      continue;
    }
    const uint64_t value = semaphores[op.sync.waitSemaphore];
    const std::string semaphore = "semaphore " + std::to_string(op.sync.waitSemaphore);
    if (++blocked == 1)
      d.place = image.info.chain(op.location);
    d.notes.push_back({streamName(op) + " waits at instruction " + std::to_string(op.index) + ", " +
                           std::string(op.desc().mnemonic) + ", for " + semaphore +
                           " >= " + std::to_string(op.sync.waitValue) + "; it is " +
                           std::to_string(value) + ", and " + reasonText(image, next, op, value),
                       image.info.chain(op.location)});
  }
  d.message = blocked == 1 ? "deadlock: one stream waits for a semaphore that does not rise"
                           : "deadlock: " + std::to_string(blocked) +
                                 " streams wait for semaphores that do not rise";
  return d;
}

Diagnostic kilnrt::loopsDiffer(const Image &image, const Loop &loop, isa::Engine one,
                               const LoopState &a, isa::Engine other, const LoopState &b) {
  const auto says = [&](isa::Engine engine, const LoopState &state) {
    std::string text = "the " + std::string(isa::name(engine)) + " stream ";
    if (loop.control.kind == isa::LoopKind::Range)
      return text + "counts from " + std::to_string(state.next) + " to below " +
             std::to_string(state.last);
    return text + (state.last != 0 ? "enters it" : "does not");
  };
  Diagnostic d = makeError(
      Fault::Check, "the streams disagree about a loop: " + says(one, a) + ", " + says(other, b),
      "compute its registers on every engine from the same values", "X-11");
  d.place = image.info.chain(loop.location);
  return d;
}

Diagnostic kilnrt::stepLimit(const Image &image, const Positions &next, uint64_t maxSteps) {
  Diagnostic d =
      makeError(Fault::Limit, "the run was stopped after " + std::to_string(maxSteps) + " steps",
                "raise --max-steps if the program is right", "X-02");
  for (size_t s = 0; s < kEngineSlots; ++s) {
    const std::vector<Operation> &stream = image.streams[s];
    if (stream.empty())
      continue;
    d.notes.push_back({streamName(stream.front()) +
                           (image.loops.empty() ? " has executed " : " stands at instruction ") +
                           std::to_string(next[s]) + " of " + std::to_string(stream.size()) +
                           (image.loops.empty() ? " instructions" : ""),
                       {}});
  }
  return d;
}

/// Says where each stream stands. The operation that is first in program order of those that come
/// next; null when there is none.
static const Operation *addPositions(Diagnostic &d, const Image &image, const Positions &next,
                                     std::string_view verb) {
  const Operation *first = nullptr;
  for (size_t s = 0; s < kEngineSlots; ++s) {
    const std::vector<Operation> &stream = image.streams[s];
    if (stream.empty())
      continue;
    const std::string name = streamName(stream.front());
    if (next[s] == stream.size()) {
      d.notes.push_back({name + " has come to its end", {}});
      continue;
    }
    const Operation &op = stream[next[s]];
    if (!first || op.order < first->order)
      first = &op;
    d.notes.push_back({name + " " + std::string(verb) + " at instruction " +
                           std::to_string(op.index) + " of " + std::to_string(stream.size()) +
                           ", " + std::string(op.desc().mnemonic),
                       image.info.chain(op.location)});
  }
  return first;
}

// Its place is what comes next in program order: where a run in that order stood.
Diagnostic kilnrt::stopped(const Image &image, const Positions &next, uint64_t steps) {
  Diagnostic d = makeError(Fault::Limit, "the run was stopped after " + std::to_string(steps) +
                                             (steps == 1 ? " step" : " steps"));
  if (const Operation *first = addPositions(d, image, next, "stood"))
    d.place = image.info.chain(first->location);
  return d;
}

Diagnostic kilnrt::stoppedBefore(const Image &image, const Positions &next, const Operation &op) {
  Diagnostic d;
  d.severity = kiln::Severity::Note;
  d.message = "the run stopped before " + operationText(op);
  d.place = image.info.chain(op.location);
  addPositions(d, image, next, "stands");
  return d;
}
