//===- Orders.h - the next agent, by each schedule --------------------------------------------===//
//
// An order has one function: which of the agents that may step does. The runner asks it before
// every step; orders know nothing of what a step does.
//
//===------------------------------------------------------------------------------------------===//

#ifndef KILNRT_LIB_EXECUTOR_ORDERS_H
#define KILNRT_LIB_EXECUTOR_ORDERS_H

#include "Agents.h"
#include "kilnrt/Machine/SplitMix.h"

#include <bitset>

namespace kilnrt {

/// The runnable stream whose next operation is first in program order; with `waits` off, whatever
/// the semaphores say. Transfers are moved as a whole by the stream that triggers them, so rings
/// have nothing to do.
class ProgramOrder {
public:
  static constexpr bool movesAtOnce = true;
  explicit ProgramOrder(bool waits) : waits(waits) {}

  // Here, because a plain run consists of this and the instructions.
  Agent pick(const Agents &agents) {
    const Operation *first = nullptr;
    for (size_t s = 0; s < kEngineSlots; ++s) {
      const Operation *op = agents.head(s);
      if (op && !op->isLoopEdge() && (!waits || agents.isReached(*op)) &&
          (!first || op->order < first->order))
        first = op;
    }
    return first ? Agent(first->engine) : kNoAgent;
  }

private:
  bool waits;
};

/// Agents in turn; those of `held` only when no other may step.
class TurnOrder {
public:
  using Set = std::bitset<kAgents>;
  static constexpr bool movesAtOnce = false;
  explicit TurnOrder(const Set &held = {}) : held(held) {}
  Agent pick(const Agents &agents);

private:
  Set held;
  Agent turn = 0; ///< the agent after the one that stepped last
};

/// Agents by weights that a seed draws anew now and then, so that it also tries
/// what a fair choice hardly ever does: one engine far ahead of the others, or
/// one DMA engine far behind.
class RandomOrder {
public:
  static constexpr bool movesAtOnce = false;
  explicit RandomOrder(uint64_t seed) : random(seed) {}
  Agent pick(const Agents &agents);

private:
  void drawWeights();

  SplitMix random;
  std::array<uint32_t, kAgents> weight{};
  uint32_t phaseLeft = 0; ///< steps until new weights are drawn
  std::vector<Agent> ready;
};

/// Streams in turn as far as they come, then a share of the newest transfer there is. The rings are
/// reversed.
class NewestFirstOrder {
public:
  static constexpr bool movesAtOnce = false;
  Agent pick(const Agents &agents);

private:
  Agent turn = 0; ///< the stream after the one that stepped last
};

/// What each adversarial schedule holds back.
TurnOrder::Set heldBy(const Schedule &schedule);

} // namespace kilnrt

#endif // KILNRT_LIB_EXECUTOR_ORDERS_H
