//===- Reports.cpp - looks at a kernel while the passes run -----------------------------------===//

#include "Reports.h"

#include "kiln/Report/Report.h"
#include "kiln/Transforms/KernelView.h"

#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassInstrumentation.h"
#include "mlir/Pass/PassManager.h"

using namespace mlir;

namespace kiln::driver {
namespace {

class Reports : public PassInstrumentation {
public:
  Reports(ReportForm memory, ReportForm sync, CompileResult &result)
      : memory(memory), sync(sync), result(result) {}

  void runBeforePass(Pass *pass, Operation *op) override {
    auto kernel = dyn_cast<nisa::KernelOp>(op);
    if (kernel && memory != ReportForm::None && pass->getArgument() == "kiln-place")
      unplaced = readKernel(kernel).data;
    if (!kernel || sync == ReportForm::None || pass->getArgument() != "kiln-synchronise")
      return;
    const KernelView view = readKernel(kernel);
    const analysis::SyncReport report =
        analysis::reportSynchronisation(view.data, placementOf(view));
    const auto render = sync == ReportForm::Json ? report::syncJson : report::syncText;
    result.syncReport = render(view.data, kernel.getSymName().str(), report);
  }

  void runAfterPass(Pass *pass, Operation *op) override { reportMemory(pass, op, true); }
  void runAfterPassFailed(Pass *pass, Operation *op) override { reportMemory(pass, op, false); }

private:
  void reportMemory(Pass *pass, Operation *op, bool isPlaced) {
    auto kernel = dyn_cast<nisa::KernelOp>(op);
    if (!kernel || memory == ReportForm::None || pass->getArgument() != "kiln-place")
      return;
    const analysis::Placement placement = placementOf(readKernel(kernel));
    std::vector<analysis::MemoryMap> maps;
    for (isa::Memory each : {isa::Memory::Sbuf, isa::Memory::Psum})
      maps.push_back(analysis::mapMemory(unplaced, isPlaced ? &placement : nullptr, each));
    const auto render = memory == ReportForm::Json ? report::memoryJson : report::memoryText;
    result.memoryReport = render(unplaced, kernel.getSymName().str(), maps);
  }

  ReportForm memory, sync;
  CompileResult &result;
  /// The kernel before placement: it tells addresses by hand from chosen ones.
  analysis::Kernel unplaced;
};

} // namespace

void addReports(PassManager &manager, const CompilerOptions &options, CompileResult &result) {
  if (options.memoryReport != ReportForm::None || options.syncReport != ReportForm::None)
    manager.addInstrumentation(
        std::make_unique<Reports>(options.memoryReport, options.syncReport, result));
}

PlanSink planReporter(ReportForm form, CompileResult &result) {
  return [form, &result](nisa::KernelOp kernel, const PlannedKernel &planned) {
    for (size_t count : planned.instructions)
      result.instructions += count;
    if (form == ReportForm::None)
      return;
    const auto render = form == ReportForm::Json ? report::remarksJson : report::remarksText;
    result.remarks =
        render(kernel.getSymName().str(), planned.plan, planned.instructions, planned.line);
  };
}

std::string noRemarks(ReportForm form, const std::string &name) {
  const auto render = form == ReportForm::Json ? report::remarksJson : report::remarksText;
  return render(name, plan::Plan(), {}, [](uint32_t) { return 0u; });
}

} // namespace kiln::driver
