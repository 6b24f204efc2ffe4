//===- Synchronise.cpp - from one program order to streams ------------------------------------===//

#include "kiln/Analysis/Synchronise.h"
#include "kiln/Conversion/NisaToStream.h"
#include "kiln/ISA/Args.h"
#include "kiln/Support/Diagnostics.h"
#include "kiln/Transforms/KernelView.h"

using namespace mlir;

namespace kiln {
#define GEN_PASS_DEF_SYNCHRONISEPASS
#include "kiln/Conversion/NisaToStreamPasses.h.inc"

namespace {

/// Positions of all records in one program order: waits stand right before
/// the instruction they belong to.
std::vector<std::vector<uint32_t>> orderRecords(const analysis::Synchronisation &sync,
                                                size_t instructions) {
  // How many wait records stand before each instruction.
  std::vector<uint32_t> waits(instructions, 0);
  for (const auto &stream : sync.streams)
    for (const analysis::ScheduledRecord &record : stream)
      waits[record.instruction] += record.isWaitOnly;
  std::vector<uint32_t> first(instructions, 0);
  uint32_t next = 0;
  for (size_t i = 0; i < instructions; ++i) {
    first[i] = next;
    next += waits[i] + 1;
  }
  std::vector<std::vector<uint32_t>> orders(sync.streams.size());
  for (auto [stream, order] : llvm::zip_equal(sync.streams, orders))
    for (const analysis::ScheduledRecord &record : stream)
      order.push_back(first[record.instruction]++);
  return orders;
}

void setRing(nisa::DmaCopyOp op, uint32_t ring) {
  op.setRingAttr(IntegerAttr::get(IntegerType::get(op.getContext(), 32), ring));
}

struct Synchronise : impl::SynchronisePassBase<Synchronise> {
  void runOnOperation() override {
    nisa::KernelOp kernel = getOperation();
    if (!kernel.getPlaced() || !kernel.getScheduled()) {
      kernel.emitError("kiln-synchronise needs a placed and scheduled kernel; run "
                       "kiln-place and kiln-schedule before it");
      return signalPassFailure();
    }
    KernelView view = readKernel(kernel);
    analysis::Placement placement = placementOf(view);
    analysis::Synchronisation sync = analysis::synchronise(view.data, placement);
    std::vector<Diagnostic> faults = analysis::verifySynchronisation(view.data, placement, sync);
    for (const Diagnostic &fault : faults)
      emit(&getContext(), fault);
    if (!faults.empty())
      return signalPassFailure();
    write(view, sync);
  }

  /// Builds the queues. Ops are moved, not cloned: their operands are declared
  /// in the kernel's body, which encloses every queue.
  void write(const KernelView &view, const analysis::Synchronisation &sync) {
    auto orders = orderRecords(sync, view.instructions.size());
    OpBuilder builder(&getContext());
    builder.setInsertionPointToEnd(&getOperation().getBody().front());
    auto program = stream::ProgramOp::create(builder, getOperation().getLoc());
    for (auto [engine, records, order] :
         llvm::zip_equal(analysis::kEngines, sync.streams, orders)) {
      if (records.empty())
        continue;
      stream::QueueOp queue = stream::getOrCreateQueue(builder, program, engine);
      Block &body = queue.getBody().front();
      builder.setInsertionPointToEnd(&body);
      for (auto [record, position] : llvm::zip_equal(records, order))
        writeRecord(view, record, position, builder, body);
    }
  }

  void writeRecord(const KernelView &view, const analysis::ScheduledRecord &record, uint32_t order,
                   OpBuilder &builder, Block &body) {
    nisa::InstOpInterface inst = view.instructions[record.instruction];
    if (record.isWaitOnly) {
      stream::WaitOp::create(builder, inst.getLoc(), order, uint32_t(record.waitSemaphore),
                             record.waitValue);
      return;
    }
    inst->moveBefore(&body, body.end());
    if (auto dma = dyn_cast<nisa::DmaCopyOp>(inst.getOperation()))
      setRing(dma, record.ring);
    auto attr = stream::SyncAttr::get(&getContext(), order);
    if (record.waitSemaphore != analysis::kNoSemaphore)
      attr = attr.withWait(record.waitSemaphore, record.waitValue);
    if (record.updateSemaphore != analysis::kNoSemaphore) {
      // The attribute counts what one completion signal adds; a DMA sends one
      // from each of its engines.
      isa::Opcode opcode = nisa::descOf(inst).opcode;
      uint32_t signals = uint32_t(stream::raiseOf(opcode, 1));
      attr = attr.withUpdate(record.updateSemaphore, record.updateValue / signals);
    }
    stream::setSync(inst, attr);
  }
};

} // namespace
} // namespace kiln
