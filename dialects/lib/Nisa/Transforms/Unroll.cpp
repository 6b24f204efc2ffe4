//===- Unroll.cpp - write the iterations of loops out -----------------------------------------===//
//
// Purely mechanical: the offset of each access is affine in the iteration
// numbers, so a copy needs its offset added up and nothing else.
//
//===------------------------------------------------------------------------------------------===//

#include "kiln/Dialect/Nisa/IR/NisaInst.h"
#include "kiln/Dialect/Nisa/Transforms/Passes.h"

namespace kiln::nisa {

#define GEN_PASS_DEF_UNROLLPASS
#include "kiln/Dialect/Nisa/Transforms/Passes.h.inc"

namespace {

using namespace mlir;

/// Instructions of `block` once its loops are written out, saturating.
uint64_t unrolledSize(Block &block) {
  uint64_t size = 0;
  for (Operation &op : block) {
    uint64_t here = llvm::isa<InstOpInterface>(op) ? 1 : 0;
    if (auto loop = dyn_cast<ForOp>(op))
      here = llvm::SaturatingMultiply(uint64_t(loop.getTripCount()),
                                      unrolledSize(loop.getBody().front()));
    size = llvm::SaturatingAdd(size, here);
  }
  return size;
}

/// Replaces the loop coefficients of `op` by the offset they add up to.
void fixOffsets(InstOpInterface op, ArrayRef<int64_t> iteration) {
  for (auto [i, access] : llvm::enumerate(accessesOf(op))) {
    if (!access || access.getPerIteration().empty())
      continue;
    isa::Access fixed = access.getAccess();
    for (auto [coefficient, number] : llvm::zip_equal(access.getPerIteration(), iteration))
      fixed.offset += coefficient * number;
    setAccess(op, unsigned(i), AccessAttr::get(op->getContext(), fixed));
  }
}

/// Writes one run of `block` at the builder's place; `iteration` holds the
/// iteration numbers of the loops around it, outermost first.
void writeBlock(OpBuilder &builder, Block &block, SmallVectorImpl<int64_t> &iteration) {
  for (Operation &op : block) {
    if (auto loop = dyn_cast<ForOp>(op)) {
      for (int64_t i = 0, e = loop.getTripCount(); i < e; ++i) {
        iteration.push_back(i);
        writeBlock(builder, loop.getBody().front(), iteration);
        iteration.pop_back();
      }
      continue;
    }
    fixOffsets(cast<InstOpInterface>(builder.clone(op)), iteration);
  }
}

struct UnrollPass : impl::UnrollPassBase<UnrollPass> {
  using UnrollPassBase::UnrollPassBase;

  void runOnOperation() override {
    KernelOp kernel = getOperation();
    Block &body = kernel.getBody().front();
    if (uint64_t size = unrolledSize(body); size > maxInstructions) {
      InFlightDiagnostic diag = kernel.emitError()
                                << "[K-12] writing the loops out gives " << size
                                << " instructions, more than " << maxInstructions.getValue();
      diag.attachNote() << "help: let one instruction do more: a larger tile, "
                           "or more free dims in an access";
      return signalPassFailure();
    }
    for (ForOp loop : llvm::make_early_inc_range(body.getOps<ForOp>())) {
      OpBuilder builder(loop);
      SmallVector<int64_t> iteration;
      for (int64_t i = 0, e = loop.getTripCount(); i < e; ++i) {
        iteration.assign(1, i);
        writeBlock(builder, loop.getBody().front(), iteration);
      }
      loop.erase();
    }
  }
};

} // namespace
} // namespace kiln::nisa
