//===- Runner.h - lets agents step to the end -------------------------------------------------===//
//
// What a step does, and what happens when no agent may step: the edge of a loop, the end, or a
// deadlock. Agents.h has who may step, Orders.h who does.
//
//===------------------------------------------------------------------------------------------===//

#ifndef KILNRT_LIB_EXECUTOR_RUNNER_H
#define KILNRT_LIB_EXECUTOR_RUNNER_H

#include "Agents.h"

namespace kilnrt {

class Runner {
public:
  explicit Runner(Core &core) : core(core), image(core.image), options(core.options), agents(core) {
    if (options.races && image.info.flags.synchronised)
      clocks.emplace(*options.races);
  }

  /// Runs every stream to its end. A fault names the schedule it was found in.
  Status run();
  RunStats stats;
  std::optional<Diagnostic> stop; ///< set when the observer ended the run, which is no fault

private:
  template <typename Order>
  Status runIn(Order order);
  Status runScheduled();

  /// Executes the head of a stream; `isImmediate`: a transfer is moved at once.
  Status stepStream(size_t stream, bool isImmediate);
  Status stepRing(Ring &ring, unsigned engine);
  /// The observer, if there is one, lets `stream` go on; else `stop` is set.
  bool mayGoOn(size_t stream);
  Status countStep();
  /// Passes the edge of a loop. Precondition: all streams stand at it and no transfer is in flight.
  Status meet();
  /// What begins or goes on behind it.
  Status passEdge(const Operation &edge);
  void startIteration();
  /// How often a loop runs, by the registers of the streams, which must agree.
  Expected<LoopState> stateOf(const Loop &loop) const;
  void setCounter(const Loop &loop, int64_t value);
  /// All streams go on behind `edges`.
  void setNext(const std::array<uint32_t, kEngineSlots> &edges);
  /// No agent may step, and no edge: the end, or a deadlock.
  Status finish() const;
  /// Says which iteration a fault happened in.
  void addIterations(Diagnostic &diagnostic) const;

  Core &core;
  const Image &image;
  const RunOptions &options;
  Agents agents;
  std::vector<uint32_t> open;                       ///< loops, outermost first
  std::array<LoopState, isa::kMaxLoopDepth> states; ///< of the open loops
  uint32_t begun = 0;                               ///< number of the loop that begins next
  std::optional<RaceClocks> clocks;
};

} // namespace kilnrt

#endif // KILNRT_LIB_EXECUTOR_RUNNER_H
