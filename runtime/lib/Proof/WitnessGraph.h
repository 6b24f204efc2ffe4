//===- WitnessGraph.h - the smallest part of a program that shows a finding -------------------===//

#ifndef KILNRT_LIB_PROOF_WITNESSGRAPH_H
#define KILNRT_LIB_PROOF_WITNESSGRAPH_H

#include "Order.h"
#include "kilnrt/Proof.h"

namespace kilnrt::proof {

/// The nearest event that comes before both, the orders that lead from it to each of them, and the
/// edge between them that is missing, labelled `missing`. Without a common event the two alone.
Graph witnessGraph(const Events &events, const Epoch &epoch, const Order &order, EventId earlier,
                   EventId later, const std::string &missing);

/// Adds that `waiting` waits for `raiser`, which stands behind `blocked` in its stream.
void addWaitsFor(const Events &events, EventId waiting, EventId raiser, EventId blocked,
                 Graph &graph);

} // namespace kilnrt::proof

#endif // KILNRT_LIB_PROOF_WITNESSGRAPH_H
