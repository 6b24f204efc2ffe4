//===- Epochs.h - a kernel cut at the edges of its loops --------------------------------------===//
//
// Streams meet at the edges of loops with nothing in flight, so no dependence crosses one: each
// stretch between two edges is synchronised as a kernel of its own, and so checked. Private to the
// analyses.
//
//===------------------------------------------------------------------------------------------===//

#ifndef KILN_LIB_ANALYSIS_EPOCHS_H
#define KILN_LIB_ANALYSIS_EPOCHS_H

#include "kiln/Analysis/Placement.h"

namespace kiln::analysis {

/// Instructions [begin, end) between two edges of loops.
struct Epoch {
  uint32_t begin = 0, end = 0;
  uint32_t loop = kNone; ///< the innermost around them
};

/// The epochs of `kernel` that hold instructions, in program order; the whole kernel where it has
/// no loops.
std::vector<Epoch> findEpochs(const Kernel &kernel);

/// An epoch as a kernel: its instructions with the tensors they name, and, as `loops`, the loops
/// around all of them, outermost first. Locations are left out unless asked for, because they are
/// those of the whole kernel.
struct EpochKernel {
  EpochKernel(const Kernel &whole, const Placement &placement, const Epoch &epoch,
              bool withLocations);
  Kernel kernel;
  Placement placement;
};

/// Replaces accesses that move with loops by such that stay, so that two of them share bytes if
/// they do in some iteration: accesses of one tensor that all move alike keep their distances and
/// lose their steps, others grow to all they touch on their way.
void holdStill(Kernel &epoch);

} // namespace kiln::analysis

#endif // KILN_LIB_ANALYSIS_EPOCHS_H
