//===- Plan.cpp - from whole tensors to instructions on tiles ---------------------------------===//

#include "kiln/Analysis/MemoryMap.h"
#include "kiln/Conversion/TileGraph.h"
#include "kiln/Conversion/TileToNisa.h"
#include "kiln/Dialect/Nisa/IR/NisaInst.h"
#include "kiln/ISA/Text.h"
#include "kiln/Plan/Emit.h"
#include "kiln/Tile/Decompose.h"
#include "kiln/Transforms/KernelView.h"

#include "llvm/ADT/StringSet.h"

using namespace mlir;

namespace kiln {
#define GEN_PASS_DEF_PLANPASS
#include "kiln/Conversion/TileToNisaPasses.h.inc"

namespace {

/// What the kernel's own instructions write.
std::vector<plan::Write> writesOf(nisa::KernelOp kernel, const KernelGraph &values) {
  llvm::DenseMap<Value, uint32_t> buffers;
  for (uint32_t i = 0; i < values.allocs.size(); ++i)
    buffers[const_cast<nisa::AllocOp &>(values.allocs[i]).getBuffer()] = i;
  std::vector<plan::Write> writes;
  uint32_t position = 0;
  kernel.walk([&](nisa::InstOpInterface op) {
    const isa::InstDesc &desc = nisa::descOf(op);
    const auto operands = nisa::buffersOf(op);
    for (unsigned i = 0; i < desc.operands.size(); ++i)
      if (desc.operands[i].isOutput && operands[i])
        if (auto known = buffers.find(operands[i]); known != buffers.end())
          writes.push_back({position, known->second});
    ++position;
  });
  return writes;
}

/// The author's line of a location: of the statement itself, not of who called it.
unsigned lineOf(Location loc) {
  if (auto call = llvm::dyn_cast<CallSiteLoc>(loc))
    return lineOf(call.getCallee());
  if (auto name = llvm::dyn_cast<NameLoc>(loc))
    return lineOf(name.getChildLoc());
  if (auto fused = llvm::dyn_cast<FusedLoc>(loc))
    return fused.getLocations().empty() ? 0 : lineOf(fused.getLocations().front());
  auto file = llvm::dyn_cast<FileLineColLoc>(loc);
  return file ? file.getLine() : 0;
}

struct PlanValues : impl::PlanPassBase<PlanValues> {
  PlanSink sink;

  void runOnOperation() override {
    nisa::KernelOp kernel = getOperation();
    KernelGraph values = graphOf(kernel);
    if (values.graph.nodes.empty())
      return;
    const tile::Graph graph = tile::decompose(values.graph);
    const bool isAlone = llvm::all_of(kernel.getOps<nisa::AllocOp>(), [](nisa::AllocOp alloc) {
      return alloc.getType().getMemory() == isa::Memory::Hbm;
    });
    plan::PlanOptions options;
    int64_t held = 0; // by the kernel's own tiles where they are fullest
    if (!isAlone) {
      const analysis::Kernel own = readKernel(kernel).data;
      held = analysis::mapMemory(own, nullptr, isa::Memory::Sbuf).liveBytes;
      const int64_t banks = analysis::mapMemory(own, nullptr, isa::Memory::Psum).liveBytes /
                            isa::machine.psumBankBytesPerPartition;
      options.psumBanks = std::max<int64_t>(1, options.psumBanks - banks);
      options.sbufBytes =
          std::max<int64_t>(1, int64_t(isa::machine.sbufUsableBytesPerPartition) - held);
    }
    plan::PlanResult result = plan::makePlan(graph, writesOf(kernel, values), options);
    if (result.problem) {
      if (held > 0 && result.problem->rule == "T-07")
        result.problem->notes.push_back(
            {text("the kernel's own tiles hold ", held, " bytes where they are fullest"),
             tile::kNone});
      report(*result.problem, values);
      return signalPassFailure();
    }
    if (const std::vector<std::string> faults = plan::verify(*result.plan); !faults.empty()) {
      Diagnostic fault;
      fault.message = "internal fault: the plan does not hold together: " + faults.front();
      report(fault, kernel.getLoc());
      return signalPassFailure();
    }
    auto emitted = plan::emit(*result.plan, isAlone);
    if (auto *problem = std::get_if<Diagnostic>(&emitted)) {
      if (problem->rule != "K-12")
        problem->message =
            "internal fault: the plan breaks rule " + problem->rule + ": " + problem->message;
      report(*problem, kernel.getLoc());
      return signalPassFailure();
    }
    const auto &written = std::get<plan::Emitted>(emitted);
    if (sink) {
      std::vector<size_t> counts;
      for (size_t end : written.groupEnds)
        counts.push_back(end - (counts.empty() ? 0 : written.groupEnds[counts.size() - 1]));
      sink(kernel, {*result.plan, std::move(counts), [&](uint32_t location) {
                      return location == tile::kNone ? 0 : lineOf(values.locations[location]);
                    }});
    }
    insert(kernel, values, *result.plan, written);
  }

  static Location locationOf(const KernelGraph &values, uint32_t index) {
    return index == tile::kNone ? UnknownLoc::get(values.ops.front()->getContext())
                                : values.locations[index];
  }

  static void report(const plan::PlanProblem &problem, const KernelGraph &values) {
    InFlightDiagnostic out = mlir::emitError(locationOf(values, problem.location));
    out << "[" << problem.rule << "] " << problem.message;
    for (const auto &[message, location] : problem.notes)
      out.attachNote(locationOf(values, location)) << message;
    if (!problem.help.empty())
      out.attachNote() << "help: " << problem.help;
  }

  static void report(const Diagnostic &diagnostic, Location loc) {
    InFlightDiagnostic out = mlir::emitError(loc);
    if (!diagnostic.rule.empty() && !StringRef(diagnostic.message).starts_with("internal fault"))
      out << "[" << diagnostic.rule << "] ";
    out << diagnostic.message;
    if (!diagnostic.help.empty())
      out.attachNote() << "help: " << diagnostic.help;
  }

  /// Declares what the plan needs and puts each group where it belongs; the tile ops go.
  static void insert(nisa::KernelOp kernel, KernelGraph &values, const plan::Plan &plan,
                     const plan::Emitted &emitted) {
    Block &body = kernel.getBody().front();
    MLIRContext *context = kernel.getContext();
    llvm::StringSet<> names;
    std::vector<Value> buffers;
    for (nisa::AllocOp alloc : values.allocs) {
      names.insert(alloc.getTensorName());
      buffers.push_back(alloc.getBuffer());
    }
    kernel.walk([&](nisa::AllocOp alloc) { names.insert(alloc.getTensorName()); });
    std::vector<Operation *> top;
    for (Operation &op : body)
      top.push_back(&op);
    Operation *firstWork = nullptr;
    for (Operation *op : top)
      if (!llvm::isa<nisa::AllocOp>(op)) {
        firstWork = op;
        break;
      }
    std::vector<bool> isUsed(emitted.tensors.size(), false);
    for (const trace::Instruction &inst : emitted.instructions)
      for (const isa::Access &access : inst.inst.operands)
        if (access.present())
          isUsed[access.tensor] = true;
    OpBuilder builder(context);
    builder.setInsertionPoint(firstWork);
    size_t number = 0;
    for (size_t i = buffers.size(); i < emitted.tensors.size(); ++i) {
      const trace::Tensor &tensor = emitted.tensors[i];
      if (!isUsed[i]) { // a value that turned out to need no memory
        buffers.push_back({});
        continue;
      }
      std::string name = tensor.name;
      while (name.empty() || !names.insert(name).second)
        name = "t" + std::to_string(number++);
      auto type = nisa::BufType::get(context, tensor.memory, tensor.shape, tensor.dtype);
      auto alloc = nisa::AllocOp::create(builder, locationOf(values, tensor.location), type, name);
      if (tensor.address)
        alloc.setAddress({tensor.address->first, tensor.address->second});
      buffers.push_back(alloc.getBuffer());
    }
    size_t group = 0, instruction = 0;
    const auto emitUpTo = [&](uint32_t position, Operation *before) {
      if (before)
        builder.setInsertionPoint(before);
      else
        builder.setInsertionPointToEnd(&body);
      for (; group < plan.groups.size() && plan.groups[group].position <= position; ++group)
        for (; instruction < emitted.groupEnds[group]; ++instruction) {
          const trace::Instruction &inst = emitted.instructions[instruction];
          nisa::buildInstruction(builder, locationOf(values, inst.location), inst.inst, buffers);
        }
    };
    uint32_t position = 0;
    for (Operation *op : top) {
      uint32_t inside = 0;
      op->walk([&](nisa::InstOpInterface) { ++inside; });
      if (inside == 0)
        continue;
      emitUpTo(position, op);
      position += inside;
    }
    emitUpTo(UINT32_MAX, nullptr);
    for (Operation *op : llvm::reverse(values.ops))
      op->erase();
  }
};

} // namespace

std::unique_ptr<Pass> createPlanPass(PlanSink sink) {
  auto pass = std::make_unique<PlanValues>();
  pass->sink = std::move(sink);
  return pass;
}

} // namespace kiln
