//===- Place.cpp - addresses of on-chip buffers -----------------------------------------------===//

#include "kiln/Analysis/Placement.h"
#include "kiln/Dialect/Tile/IR/TileNode.h"
#include "kiln/Support/Diagnostics.h"
#include "kiln/Transforms/KernelView.h"
#include "kiln/Transforms/Passes.h"

namespace kiln {
#define GEN_PASS_DEF_PLACEPASS
#include "kiln/Transforms/Passes.h.inc"

namespace {

struct Place : impl::PlacePassBase<Place> {
  using PlacePassBase::PlacePassBase;

  void runOnOperation() override {
    nisa::KernelOp kernel = getOperation();
    // Nothing behind this pass looks at values: they would be lost in silence.
    if (tile::hasValues(kernel)) {
      kernel.emitError("kiln-place needs a kernel without values; run kiln-plan before it");
      return signalPassFailure();
    }
    KernelView view = readKernel(kernel);
    analysis::PlacementOptions options;
    if (compact)
      options.strategy = analysis::PlacementStrategy::Compact;
    options.allowManualOverlap = allowManualOverlap;
    options.allowShallowRotation = allowShallowRotation;

    analysis::PlacementResult result = analysis::place(view.data, options);
    if (report(result.diagnostics) || !result.placement)
      return signalPassFailure();
    if (report(analysis::verifyPlacement(view.data, *result.placement)))
      return signalPassFailure();

    for (auto [alloc, address] : llvm::zip_equal(view.tensors, result.placement->addresses))
      if (alloc.getType().isOnChip())
        alloc.setAddress(address);
    kernel.setPlaced(true);
  }

  /// Emits all; true when one is an error.
  bool report(const std::vector<Diagnostic> &diagnostics) {
    bool failed = false;
    for (const Diagnostic &d : diagnostics) {
      emit(&getContext(), d);
      failed |= d.severity == Severity::Error;
    }
    return failed;
  }
};

} // namespace
} // namespace kiln
