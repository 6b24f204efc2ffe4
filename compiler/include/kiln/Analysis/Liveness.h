//===- Liveness.h - when a tensor is needed ---------------------------------------------------===//
//
// The life of a tensor is the span from its first to its last access in program
// order. Both ends count: an instruction's result never takes the memory of its
// own operands. An access inside a loop that the tensor was not declared in
// counts for the whole loop: other iterations need what it holds.
//
//===------------------------------------------------------------------------------------------===//

#ifndef KILN_ANALYSIS_LIVENESS_H
#define KILN_ANALYSIS_LIVENESS_H

#include "kiln/Analysis/Kernel.h"

namespace kiln::analysis {

/// Positions in Kernel::instructions at which a tensor is live: [begin, end).
/// Empty when never accessed.
struct Lifetime {
  uint32_t begin = 0, end = 0;

  bool empty() const { return begin == end; }
  uint32_t length() const { return end - begin; }
  bool overlaps(const Lifetime &other) const { return begin < other.end && other.begin < end; }
  bool operator==(const Lifetime &) const = default;
};

/// Life of every tensor, in the order of Kernel::tensors; HBM tensors too. One
/// pass over the operands; each access looks at the loops around it.
std::vector<Lifetime> computeLifetimes(const Kernel &kernel);

} // namespace kiln::analysis

#endif // KILN_ANALYSIS_LIVENESS_H
