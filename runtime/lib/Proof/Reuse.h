//===- Reuse.h - tensors that take each other's bytes -----------------------------------------===//
//
// The first write through a tensor, and the first after another one took its bytes, ends every live
// tensor it overlaps as a whole. So in program order nothing may read the old tensor any more, and
// in every schedule all accesses of the old one come before all of the new.
//
// Walks the program in program order, each loop twice: what is live at the end of an iteration does
// not depend on its beginning, so a third would find nothing new.
//
//===------------------------------------------------------------------------------------------===//

#ifndef KILNRT_LIB_PROOF_REUSE_H
#define KILNRT_LIB_PROOF_REUSE_H

#include "Order.h"

#include <functional>

namespace kilnrt::proof {

/// A violation: `later` uses `newTensor`, which lies where `oldTensor` lies, and `earlier` uses
/// that.
struct ReuseFault {
  bool isOverlap = false; ///< `later` uses the old tensor, after `earlier` wrote the new one
  uint32_t oldTensor = kNone, newTensor = kNone;
  EventId earlier = kNone, later = kNone;
  size_t epoch = 0; ///< of `later`
};

class ReuseWalk {
public:
  using Report = std::function<void(const ReuseFault &)>;

  /// `orders` holds the order of each epoch, `sequence` its events in program order.
  ReuseWalk(const Events &events, const std::vector<std::unique_ptr<Order>> &orders,
            const std::vector<std::vector<EventId>> &sequence, Report report);

  void run();

private:
  struct Use {
    uint32_t agent, ordinal;
    EventId event;
    uint32_t tensor;
  };
  struct TensorState {
    bool isLive = false;
    uint32_t takenBy = kNone;
    EventId takenAt = kNone;
    /// In the epoch at hand: the last use by each agent since it became live, and what its
    /// predecessors did last.
    std::vector<Use> uses, before;
    /// Since it ended: the tensors that took some of its bytes.
    std::vector<uint32_t> takers;
    /// By engine: the first of its stream that has used it since; kNone: none.
    std::array<EventId, kEngineSlots> started{};
  };

  void walk(size_t first, size_t end);
  void startIteration(const Loop &loop);
  void dropEnded();
  void runEpoch(size_t index);
  void access(const Touch &touch, EventId event);
  void activate(uint32_t tensor, EventId event);
  bool isBetween(uint32_t oldTensor, uint32_t newTensor) const;
  void checkStart(uint32_t tensor, EventId event);
  void noteUse(const Touch &touch, EventId event);
  void note(std::vector<Use> &uses, Use use);
  TensorState &fresh(uint32_t tensor);
  std::span<std::vector<uint32_t>> granulesOf(uint32_t tensor);

  const Events &events;
  const std::vector<std::unique_ptr<Order>> &orders;
  const std::vector<std::vector<EventId>> &sequence;
  Report report;
  std::vector<TensorState> states;
  std::vector<uint32_t> stateEpoch; ///< by tensor: the visit its uses belong to
  uint32_t visit = 0;               ///< epochs visited
  size_t epoch = 0;
  /// By stretch of memory: live tensors, and those that ended in this epoch where nothing has taken
  /// all of their bytes of the stretch: whoever takes the rest comes after their uses too.
  std::array<std::vector<std::vector<uint32_t>>, 2> granules;
  std::vector<uint32_t> ended; ///< tensors that ended in this epoch
};

} // namespace kilnrt::proof

#endif // KILNRT_LIB_PROOF_REUSE_H
