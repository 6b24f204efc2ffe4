//===- Registers.cpp - registers of the kernel to registers of the engines --------------------===//
//
// Every engine decides loops and addresses by registers of its own, so each gets a copy of what
// computes those it needs. Which they are, and which numbers they get, is decided on the kernel in
// the order it is written, with loops as they stand.
//
//===------------------------------------------------------------------------------------------===//

#include "kiln/Analysis/Registers.h"
#include "kiln/Analysis/Kernel.h"
#include "kiln/Dialect/Nisa/IR/NisaInst.h"
#include "kiln/ISA/Args.h"
#include "kiln/Transforms/Passes.h"

using namespace mlir;

namespace kiln {
#define GEN_PASS_DEF_REGISTERSPASS
#include "kiln/Transforms/Passes.h.inc"

namespace {

using analysis::RegisterUse;
using isa::Engine;

struct Registers : impl::RegistersPassBase<Registers> {
  /// The ops behind the uses, in the same order; a loop has one at its beginning and one at its
  /// end.
  SmallVector<Operation *> ops;
  std::vector<RegisterUse> uses;

  void runOnOperation() override {
    ops.clear();
    uses.clear();
    collect(getOperation().getBody().front());
    if (llvm::none_of(uses, [](const RegisterUse &use) { return use.any(); }))
      return;
    const analysis::RegisterPlan plan = analysis::planRegisters(uses);
    if (plan.tooMany) {
      InFlightDiagnostic diag = mlir::emitError(ops[plan.at]->getLoc())
                                << "[C-14] " << plan.tooMany
                                << " registers are live here, an engine has "
                                << isa::machine.maxSequencerRegisters;
      diag.attachNote() << "help: keep numbers in a tensor and load them where they are used";
      return signalPassFailure();
    }
    for (auto [i, op] : llvm::enumerate(ops))
      rewrite(op, uses[i], plan);
  }

  void collect(Block &block) {
    for (Operation &op : block) {
      if (auto inst = dyn_cast<nisa::InstOpInterface>(op)) {
        ops.push_back(&op);
        uses.push_back(useOf(inst));
      } else if (auto loop = dyn_cast<nisa::ForOp>(op)) {
        ops.push_back(&op);
        uses.push_back(useOf(nisa::controlOf(loop)));
        uses.back().edge = RegisterUse::Begin;
        collect(loop.getBody().front());
        ops.push_back(&op);
        uses.emplace_back().edge = RegisterUse::End;
      }
    }
  }

  static RegisterUse useOf(nisa::InstOpInterface op) {
    RegisterUse use;
    const isa::Instruction inst = nisa::toInstruction(op);
    const isa::InstDesc &desc = inst.desc();
    use.engine = inst.engine;
    use.isSequencer = desc.isSequencer;
    for (const isa::FieldDesc &field : desc.fields) {
      if (field.kind != isa::FieldKind::Register || inst.fields[field.word] == isa::kNoRegister)
        continue;
      const auto number = uint16_t(inst.fields[field.word]);
      // The row says which by the field's name: dst is set, the others are read.
      if (field.name == "dst")
        use.sets = number;
      else
        use.reads.push_back(number);
    }
    for (const isa::Access &access : inst.operands)
      if (access.present() && access.indexing == isa::Indexing::Scalar)
        use.reads.push_back(access.indexRegister);
    return use;
  }

  static RegisterUse useOf(const isa::LoopControl &control) {
    RegisterUse use;
    for (uint16_t number : {control.firstRegister, control.lastRegister})
      if (number != isa::kNoRegister)
        use.reads.push_back(number);
    if (control.kind == isa::LoopKind::Range)
      use.sets = control.reg;
    else if (!control.isCounted())
      use.reads.push_back(control.reg);
    return use;
  }

  void rewrite(Operation *op, const RegisterUse &use, const analysis::RegisterPlan &plan) {
    const auto renumber = [&](uint16_t number) {
      return number == isa::kNoRegister ? number : plan.numbers.at(number);
    };
    if (auto loop = dyn_cast<nisa::ForOp>(op)) {
      if (use.edge != RegisterUse::Begin)
        return;
      isa::LoopControl control = nisa::controlOf(loop);
      control.firstRegister = renumber(control.firstRegister);
      control.lastRegister = renumber(control.lastRegister);
      control.reg = renumber(control.reg);
      nisa::setControl(loop, control);
      return;
    }
    if (!use.any())
      return;
    auto inst = cast<nisa::InstOpInterface>(op);
    isa::Instruction data = nisa::toInstruction(inst);
    for (const isa::FieldDesc &field : data.desc().fields)
      if (field.kind == isa::FieldKind::Register)
        data.fields[field.word] = renumber(uint16_t(data.fields[field.word]));
    for (isa::Access &access : data.operands)
      access.indexRegister = renumber(access.indexRegister);
    // What each engine is to run: sequencer instructions on all that need the result.
    const std::vector<Engine> engines =
        use.isSequencer ? plan.enginesOf(use) : std::vector{use.engine};
    OpBuilder builder(op);
    for (Engine engine : engines) {
      data.engine = engine;
      SmallVector<Value> buffers;
      for (auto [i, buffer] : llvm::enumerate(nisa::buffersOf(inst)))
        if (buffer) {
          data.operands[i].tensor = uint32_t(buffers.size());
          buffers.push_back(buffer);
        }
      nisa::buildInstruction(builder, op->getLoc(), data, buffers);
    }
    op->erase();
  }
};

} // namespace
} // namespace kiln
