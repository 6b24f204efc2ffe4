//===- Witness.h - the findings of a proof in words and graphs --------------------------------===//
//
// Reached only when something is wrong: nothing here is fast.
//
//===------------------------------------------------------------------------------------------===//

#ifndef KILNRT_LIB_PROOF_WITNESS_H
#define KILNRT_LIB_PROOF_WITNESS_H

#include "AccessLog.h"
#include "Reuse.h"
#include "kilnrt/Machine/Overlap.h"
#include "kilnrt/Proof.h"

namespace kilnrt::proof {

/// What findings say about events and accesses.
class Words {
public:
  explicit Words(const Events &events) : events(events) {}

  std::string name(EventId event) const;     ///< "instruction 5 of the vector stream"
  std::string mnemonic(EventId event) const; ///< "nc_matmul"
  std::string tensorName(uint32_t tensor) const;
  kiln::CallChain place(EventId event) const;
  std::string access(const LoggedAccess &access) const; ///< "nc_matmul writes 'acc'"
  std::string bytesText(const Touch &touch, const SharedBytes &shared) const;

protected:
  const Events &events;
};

/// Builds the findings of one epoch.
class Witness : public Words {
public:
  Witness(const Events &events, const Epoch &epoch, const Order &order)
      : Words(events), epoch(epoch), order(order) {}

  /// Two accesses in no order; `isReversed`: in the opposite order.
  Finding race(const LoggedAccess &earlier, const LoggedAccess &later, const SharedBytes &shared,
               bool isReversed) const;
  Finding reuse(const ReuseFault &fault) const;
  /// The streams stand where the order's run ended.
  Finding deadlock() const;

private:
  void addIteration(const SharedBytes &shared, Diagnostic &d) const;
  /// What is missing between the two, in `d` and as the label of an edge.
  std::string addMissing(EventId earlier, EventId later, Diagnostic &d) const;
  std::string whyNotReached(EventId waiting, Finding &finding) const;

  const Epoch &epoch;
  const Order &order;
};

} // namespace kilnrt::proof

#endif // KILNRT_LIB_PROOF_WITNESS_H
