//===- Events.h - a program as events and the bytes they touch --------------------------------===//
//
// What the proof knows of a program: for each record its stream, its wait and update, its place in
// program order, and the bytes it touches. Decoded once; no data, no semantics. Private to the
// library.
//
//===------------------------------------------------------------------------------------------===//

#ifndef KILNRT_LIB_PROOF_EVENTS_H
#define KILNRT_LIB_PROOF_EVENTS_H

#include "kilnrt/Machine/Layout.h"

#include <memory>

namespace kilnrt::proof {

/// One operand of an event.
struct Touch {
  Place place;         ///< in the first iteration of the loops around it
  uint32_t motion = 0; ///< index into Events::motions
  uint8_t operand = 0;
  bool writes = false;
  /// Index into Events::bases: the run decides which bytes of `place`; kNone: all of it.
  uint32_t base = kNone;
  bool isHull() const { return base != kNone; }
  /// Operands that are state of the engine and no memory: its reduction registers, and what it has
  /// shown to the author.
  static constexpr uint8_t kRegisters = 0xFF, kShown = 0xFE;
  bool isMemory() const { return operand < kShown; }
};

/// One record. A transfer starts when its stream reaches it and completes with the last of its
/// increments; every other event completes before the next of its stream starts.
struct Event {
  uint32_t firstTouch = 0;
  uint8_t touches = 0;
  bool isTransfer = false;
  isa::Opcode opcode{};
  isa::Engine engine = isa::Engine::Unknown;
  Sync sync;
  uint32_t index = 0; ///< in its stream
  uint32_t order = 0;
  uint32_t location = kNone;

  bool waits() const { return sync.waitSemaphore != Sync::kNoSemaphore; }
  bool updates() const { return sync.updateSemaphore != Sync::kNoSemaphore; }
  /// What it adds to its semaphore, and the last increment of that.
  uint64_t amount() const {
    return isTransfer ? uint64_t(isa::machine.dmaEngines) : sync.updateValue;
  }
  uint64_t lastIncrement() const { return isTransfer ? 1 : sync.updateValue; }
};

/// Number of an event in Events::events.
using EventId = uint32_t;

/// The events between two edges of loops; those of each stream lie side by side.
struct Epoch {
  std::array<EventId, kEngineSlots> begin{}, end{};
  uint32_t size() const;
};

struct Loop {
  int64_t maxTrips = 1;     ///< INT64_MAX where registers decide
  bool mayRunFewer = false; ///< down to none: registers decide
  uint32_t location = kNone;
  std::vector<uint32_t> tensors; ///< declared in it
};

/// A program in the order it unfolds in.
struct Step {
  enum Kind : uint8_t { Run, Begin, End } kind = Run;
  uint32_t index = 0; ///< of the epoch, or of the loop
};

/// Bytes an access moves by in each iteration of the loops around it, outermost first.
using Shift = std::array<int64_t, isa::kMaxLoopDepth>;

/// Where an indexed access lies when its index is 0, in the first iteration.
struct Base {
  Place place;
  uint32_t motion = 0;
};

struct Events {
  explicit Events(const Program &program) : program(program), layout(program) {}

  const Program &program;
  Layout layout;
  std::vector<Event> events; ///< stream after stream
  std::vector<Touch> touches;
  std::vector<Base> bases;    ///< of the indexed accesses
  std::vector<Shift> motions; ///< distinct; the first is no motion
  std::vector<Epoch> epochs;
  std::vector<std::vector<int64_t>> tripCounts; ///< of each epoch: of the loops around it
  std::vector<Loop> loops;                      ///< in the order of their beginnings
  std::vector<Step> steps;
  /// By block: something is written to it. Blocks after those of the layout are the state of
  /// the engines that is no memory.
  std::vector<bool> isWritten;
  Pattern registerPattern; ///< one byte for all such state of an engine

  std::span<const Touch> touchesOf(const Event &event) const {
    return {touches.data() + event.firstTouch, event.touches};
  }
  const isa::InstDesc &descOf(const Event &event) const {
    return *isa::findInstruction(event.opcode);
  }
};

/// Decodes a verified program.
Expected<std::unique_ptr<Events>> decodeEvents(const Program &program);

} // namespace kilnrt::proof

#endif // KILNRT_LIB_PROOF_EVENTS_H
