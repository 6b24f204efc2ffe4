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

/// Positions in one program order.
struct Orders {
  std::vector<uint32_t> instructions;         ///< of the first record that belongs to each
  std::vector<uint32_t> loopBegins, loopEnds; ///< of the first queue's edge
};

/// Waits stand right before the instruction they belong to. Each of `queues` queues has its own
/// edge of every loop.
Orders orderRecords(const analysis::Kernel &kernel, const analysis::Synchronisation &sync,
                    uint32_t queues) {
  const size_t count = kernel.instructions.size();
  std::vector<uint32_t> waits(count, 0);
  for (const auto &stream : sync.streams)
    for (const analysis::ScheduledRecord &record : stream)
      waits[record.instruction] += record.isWaitOnly;
  Orders orders;
  orders.instructions.resize(count);
  orders.loopBegins.resize(kernel.loops.size());
  orders.loopEnds.resize(kernel.loops.size());
  uint32_t order = 0, loop = 0, open = analysis::kNone;
  for (uint32_t i = 0; i < count; ++i) {
    for (; loop < kernel.loops.size() && kernel.loops[loop].begin == i;
         open = loop++, order += queues)
      orders.loopBegins[loop] = order;
    orders.instructions[i] = order;
    order += waits[i] + 1;
    for (; open != analysis::kNone && kernel.loops[open].end == i + 1;
         open = kernel.loops[open].parent, order += queues)
      orders.loopEnds[open] = order;
  }
  return orders;
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
  /// in the kernel's body, which encloses every queue, once the buffers of loops
  /// have moved there too.
  void write(const KernelView &view, const analysis::Synchronisation &sync) {
    hoistBuffers(view);
    const auto queues = uint32_t(
        llvm::count_if(sync.streams, [](const auto &records) { return !records.empty(); }));
    Orders orders = orderRecords(view.data, sync, queues);
    OpBuilder builder(&getContext());
    builder.setInsertionPointToEnd(&getOperation().getBody().front());
    auto program = stream::ProgramOp::create(builder, getOperation().getLoc());
    QueueWriter writer{view, orders, builder, {}};
    for (auto [engine, records] : llvm::zip_equal(analysis::kEngines, sync.streams)) {
      if (records.empty())
        continue;
      stream::QueueOp queue = stream::getOrCreateQueue(builder, program, engine);
      writer.start(records);
      writer.write(analysis::kNone, queue.getBody().front());
      ++writer.rank;
    }
    for (nisa::ForOp loop :
         llvm::make_early_inc_range(getOperation().getBody().front().getOps<nisa::ForOp>()))
      loop.erase();
  }

  /// Declares the buffers of loops in front of the outermost loop around them.
  void hoistBuffers(const KernelView &view) {
    for (auto [alloc, tensor] : llvm::zip_equal(view.tensors, view.data.tensors)) {
      Operation *outermost = alloc->getParentOp();
      if (!llvm::isa<nisa::ForOp>(outermost))
        continue;
      while (llvm::isa<nisa::ForOp>(outermost->getParentOp()))
        outermost = outermost->getParentOp();
      alloc->moveBefore(outermost);
      if (tensor.loop != analysis::kNone)
        nisa::AllocOp(alloc).setLoop(tensor.loop);
    }
  }

  /// Writes the records of one engine after those of another.
  struct QueueWriter {
    const KernelView &view;
    Orders &orders;
    OpBuilder &builder;
    ArrayRef<analysis::ScheduledRecord> records;
    uint32_t rank = 0; ///< of the queue among all
    uint32_t loop = 0; ///< the next one to begin

    void start(ArrayRef<analysis::ScheduledRecord> all) {
      records = all;
      loop = 0;
    }

    /// Fills `body` with what lies in loop `parent`, or in none.
    void write(uint32_t parent, Block &body) {
      const std::vector<analysis::KernelLoop> &loops = view.data.loops;
      const uint32_t end =
          parent == analysis::kNone ? uint32_t(view.instructions.size()) : loops[parent].end;
      for (;;) {
        const bool isNested = loop < loops.size() && loops[loop].parent == parent;
        const uint32_t until = isNested ? loops[loop].begin : end;
        builder.setInsertionPointToEnd(&body);
        for (; !records.empty() && records.front().instruction < until;
             records = records.drop_front())
          writeRecord(view, records.front(), orders.instructions[records.front().instruction]++,
                      builder, body);
        if (!isNested)
          return;
        const uint32_t number = loop++;
        nisa::ForOp source = view.loops[number];
        auto op = stream::LoopOp::create(builder, source.getLoc(), loops[number].tripCount,
                                         orders.loopBegins[number] + rank,
                                         orders.loopEnds[number] + rank);
        op.setControlAttr(source.getControlAttr());
        write(number, op.getBody().front());
      }
    }
  };

  static void writeRecord(const KernelView &view, const analysis::ScheduledRecord &record,
                          uint32_t order, OpBuilder &builder, Block &body) {
    nisa::InstOpInterface inst = view.instructions[record.instruction];
    if (record.isWaitOnly) {
      stream::WaitOp::create(builder, inst.getLoc(), order, uint32_t(record.waitSemaphore),
                             record.waitValue);
      return;
    }
    inst->moveBefore(&body, body.end());
    if (nisa::descOf(inst).isTransfer)
      nisa::setRing(inst, record.ring);
    auto attr = stream::SyncAttr::get(builder.getContext(), order);
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
