//===- Sharing.h - equal values, and memory that is written twice -----------------------------===//

#ifndef KILN_LIB_PLAN_SHARING_H
#define KILN_LIB_PLAN_SHARING_H

#include "kiln/Plan/Movement.h"

namespace kiln::plan {

/// The graph with equal values computed, and equal places loaded, once. `buffers`: how many there
/// were before movement was lowered; what is loaded from those the program may write again.
tile::Graph shareEqual(const tile::Graph &graph, size_t buffers);

/// By buffer: whether values are stored to it and loaded from it, or stored twice to one place. Its
/// accesses are copies, which keep their order.
std::vector<bool> sharedBuffers(const tile::Graph &graph);

} // namespace kiln::plan

#endif // KILN_LIB_PLAN_SHARING_H
