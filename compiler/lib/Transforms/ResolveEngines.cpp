//===- ResolveEngines.cpp - engines the author left to the compiler ---------------------------===//

#include "kiln/Dialect/Nisa/IR/NisaInst.h"
#include "kiln/Transforms/Passes.h"

namespace kiln {
#define GEN_PASS_DEF_RESOLVEENGINESPASS
#include "kiln/Transforms/Passes.h.inc"

namespace {

struct ResolveEngines : impl::ResolveEnginesPassBase<ResolveEngines> {
  void runOnOperation() override {
    getOperation().walk([](nisa::InstOpInterface op) {
      // Which engines need a register is not the row's to say: kiln-registers looks.
      if (nisa::engineOf(op) != isa::Engine::Unknown || nisa::descOf(op).isSequencer)
        return;
      isa::Instruction inst = nisa::toInstruction(op);
      isa::InstView view{inst, nisa::descOf(op), {}};
      auto buffers = nisa::buffersOf(op);
      for (unsigned i = 0; i < buffers.size(); ++i)
        if (buffers[i])
          view.tensors[i] = nisa::viewOf(buffers[i]);
      nisa::setEngine(op, isa::chooseEngine(view));
    });
  }
};

} // namespace
} // namespace kiln
