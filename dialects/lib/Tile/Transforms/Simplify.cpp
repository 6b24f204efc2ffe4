//===- Simplify.cpp - the canonical form of a kernel's values ---------------------------------===//
//
// The patterns are the ops' own (TileFolds.cpp); this pass keeps them away from instructions.
//
//===------------------------------------------------------------------------------------------===//

#include "kiln/Dialect/Tile/Transforms/Passes.h"

#include "kiln/Dialect/Tile/IR/TileNode.h"

#include "mlir/IR/Dominance.h"
#include "mlir/Transforms/CSE.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;

namespace kiln::tile {

#define GEN_PASS_DEF_SIMPLIFYPASS
#include "kiln/Dialect/Tile/Transforms/Passes.h.inc"

namespace {

struct SimplifyPass : impl::SimplifyPassBase<SimplifyPass> {
  LogicalResult initialize(MLIRContext *context) override {
    RewritePatternSet all(context);
    for (RegisteredOperationName op : context->getRegisteredOperations())
      if (op.getDialectNamespace() == TileDialect::getDialectNamespace())
        op.getCanonicalizationPatterns(all, context);
    patterns = std::move(all);
    return success();
  }

  void runOnOperation() override {
    nisa::KernelOp kernel = getOperation();
    if (!hasValues(kernel))
      return;

    // Merged values make new pairs for the patterns, so the two take turns until neither has
    // anything to do.
    DominanceInfo dominance;
    for (bool isMerged = true; isMerged;) {
      GreedyRewriteConfig config;
      config.setStrictness(GreedyRewriteStrictness::ExistingAndNewOps);
      config.setMaxIterations(GreedyRewriteConfig::kNoLimit);
      if (failed(applyOpPatternsGreedily(values(kernel), patterns, config)))
        return signalPassFailure();
      IRRewriter rewriter(kernel.getContext());
      eliminateCommonSubExpressions(rewriter, dominance, kernel, &isMerged);
    }
  }

private:
  static SmallVector<Operation *> values(nisa::KernelOp kernel) {
    SmallVector<Operation *> ops;
    for (Operation &op : kernel.getBody().front())
      if (llvm::isa<NodeOpInterface>(op))
        ops.push_back(&op);
    return ops;
  }

  FrozenRewritePatternSet patterns;
};

} // namespace
} // namespace kiln::tile
