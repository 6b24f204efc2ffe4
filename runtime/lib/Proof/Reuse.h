//===- Reuse.h - tensors that take each other's bytes -----------------------------------------===//
//
// The first write through a tensor, and the first after another one took its bytes, ends every live
// tensor it overlaps as a whole. So in program order nothing may read the old tensor any more, and
// in every schedule all accesses of the old one come before all of the new.
//
// Walks the program in program order. A tensor has never been written, is live, or has been taken;
// where registers decide how often a loop runs it may be several of these, and counts as each. A
// loop is walked until an iteration begins as one before it did: the second, but where what an
// iteration leaves depends on loops inside that may run no iteration.
//
//===------------------------------------------------------------------------------------------===//

#ifndef KILNRT_LIB_PROOF_REUSE_H
#define KILNRT_LIB_PROOF_REUSE_H

#include "Order.h"

#include <functional>
#include <map>

namespace kilnrt::proof {

/// A violation: `later` uses `newTensor`, which lies where `oldTensor` lies, and `earlier` uses
/// that.
struct ReuseFault {
  bool isOverlap = false;      ///< `later` uses the old tensor, after `earlier` wrote the new one
  bool dependsOnLoops = false; ///< only when loops that registers decide run so often
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
  /// What a tensor may be.
  struct Life {
    bool isLive = false;
    bool isUnwritten = true;
    uint32_t takenBy = kNone; ///< kNone: it is not taken
    EventId takenAt = kNone;

    bool isTaken() const { return takenBy != kNone; }
    bool isSurelyLive() const { return isLive && !isUnwritten && !isTaken(); }
    bool isAlike(const Life &other) const {
      return isLive == other.isLive && isUnwritten == other.isUnwritten &&
             isTaken() == other.isTaken();
    }
  };
  struct TensorState : Life {
    /// In the epoch at hand: the last use by each agent since it became live, and what its
    /// predecessors did last.
    std::vector<Use> uses, before;
    /// Since it became live: it did whatever the loops did.
    bool isSureStart = true;
    /// Since it ended: the tensors that took some of its bytes.
    std::vector<uint32_t> takers;
    /// By engine: the first of its stream that has used it since; kNone: none.
    std::array<EventId, kEngineSlots> started{};
  };

  void walk(size_t first, size_t end);
  void walkLoop(const Loop &loop, size_t first, size_t end);
  void startIteration(const Loop &loop);
  void remember(uint32_t tensor);
  void change(uint32_t tensor, const Life &life);
  std::map<uint32_t, Life> livesAt(size_t mark) const;
  bool isAsAt(size_t mark) const;
  void mayBeAsAt(size_t mark);
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
  /// What tensors were before each change since the outermost open loop began.
  std::vector<std::pair<uint32_t, Life>> changes;
  unsigned openLoops = 0;
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
