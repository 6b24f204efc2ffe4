//===- KernelView.h - a nisa kernel as the plain data analyses take ---------------------------===//
//
// Analyses know no IR. A pass reads its kernel once into an analysis::Kernel,
// decides there, and writes the decision back through the ops kept here.
//
//===------------------------------------------------------------------------------------------===//

#ifndef KILN_TRANSFORMS_KERNELVIEW_H
#define KILN_TRANSFORMS_KERNELVIEW_H

#include "kiln/Analysis/Placement.h"
#include "kiln/Dialect/Nisa/IR/NisaInst.h"

#include <vector>

namespace kiln {

/// `data` and the ops its tensors, instructions and loops came from, same positions. Loops without
/// an instruction are left out.
struct KernelView {
  analysis::Kernel data;
  std::vector<nisa::AllocOp> tensors;
  std::vector<nisa::InstOpInterface> instructions;
  std::vector<nisa::ForOp> loops;
};

/// Reads `kernel`. Precondition: no streams inside.
KernelView readKernel(nisa::KernelOp kernel);

/// The addresses `-kiln-place` wrote; {0, 0} for HBM tensors and what has none yet.
analysis::Placement placementOf(const KernelView &view);

} // namespace kiln

#endif // KILN_TRANSFORMS_KERNELVIEW_H
