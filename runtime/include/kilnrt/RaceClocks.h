//===- RaceClocks.h - races of one run --------------------------------------------------------===//
//
// Vector clocks beside a run, for programs that `prove` leaves undecided. What they find is a race;
// what they do not find in one run may still be one in another: "not proven, none seen". A proven
// program needs none of this.
//
//===------------------------------------------------------------------------------------------===//

#ifndef KILNRT_RACECLOCKS_H
#define KILNRT_RACECLOCKS_H

#include "kilnrt/Program.h"

#include <memory>

namespace kilnrt {

namespace proof {
struct Events;
}

/// What the clocks need of a program; made once, used by any number of runs at a time.
class RacePlan {
public:
  /// Of a program that `load` or `verify` has accepted.
  static Expected<RacePlan> prepare(const Program &program);
  RacePlan(RacePlan &&) noexcept;
  RacePlan &operator=(RacePlan &&) noexcept;
  ~RacePlan();

private:
  friend class RaceClocks;
  RacePlan();
  std::unique_ptr<Program> program; ///< without streams
  std::unique_ptr<proof::Events> events;
};

/// The clocks of one run. The executor tells what happens, in the order it happens.
class RaceClocks {
public:
  using Iteration = std::array<int64_t, isa::kMaxLoopDepth>;

  explicit RaceClocks(const RacePlan &plan);
  ~RaceClocks();

  /// Record `index` of a stream starts: its wait is over. A transfer is triggered by it; returns
  /// its number in its ring since the last edge of a loop, from 0. `indices` are the bytes by which
  /// registers move its operands; empty when none does.
  uint32_t start(isa::Engine engine, uint32_t index, std::span<const int64_t> indices = {});
  /// A record that is no transfer is complete.
  void complete(isa::Engine engine, uint32_t index);
  /// DMA engine `share` has moved its share of a transfer; `number` is what `start` returned.
  void moved(isa::Engine engine, uint32_t index, uint32_t number, unsigned share);
  /// All streams have met at the edge of a loop and go on in this iteration of the open loops.
  void meet(const Iteration &iteration);

  /// The first race found so far.
  const std::optional<Diagnostic> &race() const;

private:
  struct Impl;
  std::unique_ptr<Impl> impl;
};

} // namespace kilnrt

#endif // KILNRT_RACECLOCKS_H
