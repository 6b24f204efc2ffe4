//===- Agents.h - who may step ----------------------------------------------------------------===//
//
// An agent is an engine stream or one DMA engine of one ring. A stream waits
// for its semaphore, executes and updates; a transfer on it is only appended to
// its ring. Each engine of a ring takes the ring's transfers in order, moves
// its share and raises the semaphore by one: nothing orders two engines, so two
// transfers in flight can raise a semaphore to the number of engines before
// the first is complete. Here is where each agent stands; an order picks one
// of those that may step, and the runner lets it.
//
//===------------------------------------------------------------------------------------------===//

#ifndef KILNRT_LIB_EXECUTOR_AGENTS_H
#define KILNRT_LIB_EXECUTOR_AGENTS_H

#include "Core.h"
#include "Diagnose.h"

namespace kilnrt {

/// Streams come first, then the engines of ring 0, of ring 1, ...
using Agent = uint32_t;
inline constexpr Agent kEnginesOfRing = Agent(isa::machine.dmaEngines);
inline constexpr Agent kAgents = Agent(kEngineSlots + isa::machine.dmaRings * kEnginesOfRing);
inline constexpr Agent kNoAgent = kNone;

constexpr bool isStream(Agent agent) { return agent < kEngineSlots; }
constexpr size_t ringOf(Agent agent) { return (agent - kEngineSlots) / kEnginesOfRing; }
constexpr unsigned engineOf(Agent agent) { return (agent - kEngineSlots) % kEnginesOfRing; }
constexpr Agent agentOf(size_t ring, unsigned engine) {
  return Agent(kEngineSlots + ring * kEnginesOfRing + engine);
}

/// A transfer on a ring.
struct Transfer {
  const Operation *op;
  uint32_t sharesDone = 0;
  uint32_t activations = kNone; ///< of dst when the first share was written
  uint32_t number = 0;          ///< as the race clocks count it
  /// As the registers were when the stream triggered it.
  IndexBytes indices{};
  bool isSkipped = false; ///< an index is out of range, and nothing is moved
};

/// The transfers of one ring since the last edge of a loop.
class Ring {
public:
  bool isIdle() const { return complete == transfers.size(); }
  Transfer &push(const Operation &op, uint32_t number) {
    return transfers.emplace_back(Transfer{.op = &op, .number = number});
  }
  bool mayStep(unsigned engine) const {
    if (newestFirst)
      return !transfers.empty() && engine == lastEngineLeft(transfers.back());
    return next[engine] < transfers.size();
  }
  /// What `engine` moves its share of next. Precondition: mayStep(engine).
  Transfer &current(unsigned engine) {
    return newestFirst ? transfers.back() : transfers[next[engine]];
  }
  /// Precondition: there is one.
  const Transfer &newest() const { return transfers.back(); }
  /// `engine` has moved its share of the current transfer.
  void advance(unsigned engine);
  void clear();
  /// Moves each transfer before those that wait already, its last share first. Nothing promises
  /// that it does not happen: transfers without a wait between them are not ordered.
  void reverse() { newestFirst = true; }
  /// Of a reversed ring: the engine that has to move its share of `transfer` next.
  static unsigned lastEngineLeft(const Transfer &transfer) {
    return unsigned(isa::machine.dmaEngines) - 1 - transfer.sharesDone;
  }

private:
  std::vector<Transfer> transfers; ///< reversed: only those that are not complete
  /// Of each engine: the transfer it takes next. Not used when reversed.
  std::array<uint32_t, isa::machine.dmaEngines> next{};
  uint32_t complete = 0; ///< transfers in `transfers` that all engines are done with
  bool newestFirst = false;
};

/// Where the streams and rings of a run stand.
class Agents {
public:
  explicit Agents(const Core &core) : core(core), image(core.image) {}

  Positions next{}; ///< of each stream
  std::array<Ring, isa::machine.dmaRings> rings;

  /// What a stream executes next; null at its end.
  const Operation *head(size_t stream) const {
    return next[stream] < image.streams[stream].size() ? &image.streams[stream][next[stream]]
                                                       : nullptr;
  }
  bool isReached(const Operation &op) const {
    return op.sync.waitSemaphore == Sync::kNoSemaphore ||
           core.semaphores[op.sync.waitSemaphore] >= op.sync.waitValue;
  }
  /// Edges of loops are passed by all streams at once, never by one.
  bool mayStep(Agent agent) const {
    if (!isStream(agent))
      return rings[ringOf(agent)].mayStep(engineOf(agent));
    const Operation *op = head(agent);
    return op && !op->isLoopEdge() && isReached(*op);
  }
  /// The first agent in [from, end) that may step; `end` when none may.
  Agent firstReady(Agent from, Agent end) const;
  /// All streams stand at the same edge of a loop. Precondition: no agent may step.
  bool standAtEdge() const;

private:
  const Core &core;
  const Image &image;
};

} // namespace kilnrt

#endif // KILNRT_LIB_EXECUTOR_AGENTS_H
