//===- ExampleStreams.cpp - example kernels as scheduled kernels ------------------------------===//

#include "ExampleStreams.h"

#include "kiln/Conversion/TraceToNisa/TraceToNisa.h"
#include "kiln/InitAllDialects.h"
#include "kiln/Pipelines/Pipelines.h"
#include "kiln/Trace/Tracer.h"
#include "kiln/Transforms/KernelView.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"

#include <gtest/gtest.h>

// The examples register their kernels in this program; each checks itself in a main of its own.
#define main matmulMain
#include "03_matmul.cpp"
#undef main
#define main attentionMain
#include "06_attention.cpp"
#undef main

namespace kiln::test {

ScheduledKernel scheduleExample(const std::string &name, const std::vector<driver::Arg> &args) {
  ScheduledKernel result;
  for (const nl::detail::KernelEntry &entry : nl::detail::registry()) {
    if (entry.name != name)
      continue;
    const trace::TraceResult traced = trace::traceKernel(entry, args, {});
    EXPECT_TRUE(traced.ok) << (traced.diagnostics.empty() ? "" : traced.diagnostics[0].message);
    mlir::DialectRegistry registry;
    registerAllDialects(registry);
    mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
    mlir::OwningOpRef<mlir::ModuleOp> module = traceToNisa(&context, traced.trace);
    mlir::PassManager manager(&context);
    buildPipeline(manager, Level::Scheduled, {});
    EXPECT_TRUE(mlir::succeeded(manager.run(*module)));
    const KernelView view = readKernel(*module->getOps<nisa::KernelOp>().begin());
    result.kernel = view.data;
    result.placement = placementOf(view);
    return result;
  }
  ADD_FAILURE() << "no example kernel '" << name << "'";
  return result;
}

} // namespace kiln::test
