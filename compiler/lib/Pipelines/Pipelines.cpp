//===- Pipelines.cpp - the ordered lists of passes --------------------------------------------===//
//
// Traced instructions become streams. Each phase ends with a check that shares
// nothing with the work it checks; those checks run inside the passes, because
// they need the plain data the decision was made on.
//
//===------------------------------------------------------------------------------------------===//

#include "kiln/Pipelines/Pipelines.h"

#include "kiln/Conversion/NisaToStream.h"
#include "kiln/Conversion/TileToNisa.h"
#include "kiln/Dialect/Nisa/Transforms/Passes.h"
#include "kiln/Dialect/Tile/Transforms/Passes.h"
#include "kiln/Transforms/Passes.h"

#include "mlir/Pass/PassRegistry.h"

#include <chrono>
#include <functional>
#include <thread>

using namespace mlir;

namespace kiln {
namespace {

/// Loops that come to more instructions stay loops: a record takes about 200 bytes of the program.
constexpr uint64_t kFullyUnrolled = 1024;

/// Fails on purpose. Only the test of reproducers asks for it.
struct FaultPass : PassWrapper<FaultPass, OperationPass<nisa::KernelOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(FaultPass)
  StringRef getArgument() const override { return "kiln-test-fault"; }
  void runOnOperation() override {
    getOperation().emitError("internal fault: this pass fails on purpose");
    signalPassFailure();
  }
};

/// Never ends. Only the test of stop requests asks for it.
struct HangPass : PassWrapper<HangPass, OperationPass<nisa::KernelOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(HangPass)
  StringRef getArgument() const override { return "kiln-test-hang"; }
  void runOnOperation() override {
    for (;;)
      std::this_thread::sleep_for(std::chrono::hours(1));
  }
};

struct Step {
  Level level;
  const char *name;
  std::function<std::unique_ptr<Pass>(const PipelineOptions &)> create;
};

const std::vector<Step> &steps() {
  using Options = const PipelineOptions &;
  static const std::vector<Step> list = {
      //---- values ---------------------------------------------------------//
      // What is equal is computed once, and the planner meets one form of each value.
      {Level::Tile, "tile-simplify", [](Options) { return tile::createSimplifyPass(); }},
      // What it makes are instructions like an author's.
      {Level::Nisa, "kiln-plan", [](Options options) { return createPlanPass(options.planSink); }},
      //---- one form of instruction ----------------------------------------//
      // Loops first: placement and synchronisation want copies that may overlap.
      {Level::Placed, "nisa-unroll",
       [](Options) {
         nisa::UnrollPassOptions unroll;
         unroll.fullLimit = kFullyUnrolled;
         return nisa::createUnrollPass(unroll);
       }},
      // Before the transposes, whose form depends on the engine.
      {Level::Placed, "kiln-resolve-engines", [](Options) { return createResolveEnginesPass(); }},
      // Once it is known which engines there are, and before tensors are placed by their uses.
      {Level::Placed, "kiln-registers", [](Options) { return createRegistersPass(); }},
      // Before placement: it declares the identity, which needs an address.
      {Level::Placed, "kiln-legalize-transpose",
       [](Options) { return createLegalizeTransposePass(); }},
      //---- addresses
      //---------------------------------------------------------//
      {Level::Placed, "kiln-place",
       [](Options options) {
         PlacePassOptions place;
         place.compact = options.compactPlacement;
         place.allowManualOverlap = options.allowManualOverlap;
         place.allowShallowRotation = options.allowShallowRotation;
         return createPlacePass(place);
       }},
      //---- order
      //---------------------------------------------------------------//
      {Level::Scheduled, "kiln-schedule", [](Options) { return createSchedulePass(); }},
      //---- streams
      //-------------------------------------------------------------//
      // Last: dependences are those of the final addresses in the final order.
      {Level::Streams, "kiln-synchronise", [](Options) { return createSynchronisePass(); }},
  };
  return list;
}

void add(OpPassManager &manager, const Step &step, const PipelineOptions &options) {
  if (options.testFault == step.name)
    manager.addNestedPass<nisa::KernelOp>(std::make_unique<FaultPass>());
  if (options.testFault == "hang:" + std::string(step.name))
    manager.addNestedPass<nisa::KernelOp>(std::make_unique<HangPass>());
  manager.addNestedPass<nisa::KernelOp>(step.create(options));
}

} // namespace

void buildPipeline(OpPassManager &manager, Level level, const PipelineOptions &options) {
  for (const Step &step : steps())
    if (step.level <= level)
      add(manager, step, options);
}

bool buildPipelineUntil(OpPassManager &manager, StringRef pass, const PipelineOptions &options) {
  if (llvm::none_of(steps(), [&](const Step &s) { return s.name == pass; }))
    return false;
  for (const Step &step : steps()) {
    add(manager, step, options);
    if (step.name == pass)
      break;
  }
  return true;
}

std::vector<std::string> pipelinePasses() {
  std::vector<std::string> names;
  for (const Step &step : steps())
    names.push_back(step.name);
  return names;
}

void registerPipelines() {
  PassRegistration<FaultPass>();
  PassPipelineRegistration<>(
      "kiln-to-streams", "Everything from traced instructions to streams",
      [](OpPassManager &manager) { buildPipeline(manager, Level::Streams, {}); });
}

} // namespace kiln
