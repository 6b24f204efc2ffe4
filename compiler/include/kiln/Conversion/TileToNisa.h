//===- TileToNisa.h - from whole tensors to instructions on tiles -----------------------------===//

#ifndef KILN_CONVERSION_TILETONISA_H
#define KILN_CONVERSION_TILETONISA_H

#include "kiln/Dialect/Tile/IR/Tile.h"

#include "kiln/Plan/Plan.h"

#include "mlir/Pass/Pass.h"

namespace kiln {

/// A plan that became instructions, as `-kiln-plan` shows it to whoever asked. Lives for the call.
struct PlannedKernel {
  const plan::Plan &plan;
  std::vector<size_t> instructions;       ///< by group
  std::function<unsigned(uint32_t)> line; ///< of a location of the plan; 0: unknown
};
using PlanSink = std::function<void(nisa::KernelOp, const PlannedKernel &)>;

#define GEN_PASS_DECL
#include "kiln/Conversion/TileToNisaPasses.h.inc"

/// The pass with somebody who wants to see the plan.
std::unique_ptr<mlir::Pass> createPlanPass(PlanSink sink);

#define GEN_PASS_REGISTRATION
#include "kiln/Conversion/TileToNisaPasses.h.inc"

} // namespace kiln

#endif // KILN_CONVERSION_TILETONISA_H
