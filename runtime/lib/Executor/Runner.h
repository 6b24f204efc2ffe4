//===- Runner.h - five engines and the DMA rings, step by step --------------------------------===//
//
// An agent is an engine stream or one DMA engine of one ring. A stream waits
// for its semaphore, executes and updates; a dma_copy on it only appends the
// transfer to its ring. Each engine of a ring takes the ring's transfers in
// order, moves its share and raises the semaphore by one: nothing orders two
// engines, so two transfers in flight can raise a semaphore to the number of
// engines before the first is complete.
//
//===------------------------------------------------------------------------------------------===//

#ifndef KILNRT_LIB_EXECUTOR_RUNNER_H
#define KILNRT_LIB_EXECUTOR_RUNNER_H

#include "Core.h"
#include "Diagnose.h"

namespace kilnrt {

class Runner {
public:
  explicit Runner(Core &core) : core(core), image(core.image), options(core.options) {}

  /// Runs every stream to its end. A fault names the schedule it was found in.
  Status run();
  RunStats stats;

private:
  /// A transfer on a ring.
  struct Transfer {
    const Operation *op;
    uint32_t sharesDone = 0;
    uint32_t activations = kNone; ///< of dst when the first share was written
  };
  struct Ring {
    std::vector<Transfer> transfers;
    /// Of each engine: the transfer it takes next.
    std::array<uint32_t, isa::machine.dmaEngines> next{};
    uint32_t complete = 0; ///< transfers all engines are done with
    bool isIdle() const { return complete == transfers.size(); }
  };
  /// Streams come first, then the engines of ring 0, of ring 1, ...
  using Agent = uint32_t;
  static constexpr Agent kAgents =
      Agent(kEngineSlots + isa::machine.dmaRings * isa::machine.dmaEngines);

  const Operation *head(size_t stream) const {
    return next[stream] < image.streams[stream].size() ? &image.streams[stream][next[stream]]
                                                       : nullptr;
  }
  /// Edges of loops are passed by all streams at once: `meet`.
  bool mayExecute(const Operation &op) const { return !op.isLoopEdge() && isReached(op); }
  bool isReached(const Operation &op) const {
    return op.sync.waitSemaphore == Sync::kNoSemaphore ||
           core.semaphores[op.sync.waitSemaphore] >= op.sync.waitValue;
  }
  bool mayStep(Agent agent) const;

  /// Executes the head of a stream; `isImmediate`: a transfer is moved at once.
  Status stepStream(size_t stream, bool isImmediate);
  Status stepRing(Ring &ring, unsigned engine);
  Status step(Agent agent);
  Status countStep();
  /// All streams stand at the same edge of a loop. Precondition: no agent may step.
  bool standsAtEdge() const;
  /// Passes the edge. Precondition: all streams stand at it and no transfer is in flight.
  Status meet();
  void startIteration();
  /// No agent may step: the end, or a deadlock.
  Status finish() const;
  /// Says which iteration a fault happened in.
  void addIterations(Diagnostic &diagnostic) const;

  Status runInOrder(bool isSynchronised);
  Status runRoundRobin();
  Status runRandom();

  Core &core;
  const Image &image;
  const RunOptions &options;
  Positions next{};
  std::array<Ring, isa::machine.dmaRings> rings;
  std::vector<uint32_t> open; ///< loops, outermost first
  uint32_t begun = 0;         ///< number of the loop that begins next
};

} // namespace kilnrt

#endif // KILNRT_LIB_EXECUTOR_RUNNER_H
