//===- Compiler.cpp - from a trace to a program or to text ------------------------------------===//

#include "Compiler.h"

#include "Reports.h"

#include "kiln/Conversion/TraceToNisa/TraceToNisa.h"
#include "kiln/InitAllDialects.h"
#include "kiln/Lint/Lint.h"
#include "kiln/Pipelines/Pipelines.h"
#include "kiln/Support/Diagnostics.h"
#include "kiln/Target/Encode.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassInstrumentation.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CrashRecoveryContext.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/SHA256.h"
#include "llvm/Support/raw_ostream.h"

#include <fstream>

using namespace mlir;

namespace kiln::driver {
namespace {

std::string print(ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream os(text);
  module.print(os);
  text += "\n";
  return text;
}

Level levelOf(Emit emit) {
  switch (emit) {
  case Emit::Tile:
    return Level::Tile;
  case Emit::Nisa:
    return Level::Nisa;
  case Emit::Placed:
    return Level::Placed;
  case Emit::Scheduled:
    return Level::Scheduled;
  case Emit::Streams:
  case Emit::Program:
    return Level::Streams;
  }
  return Level::Streams;
}

/// Says which pass runs.
class PassNames : public PassInstrumentation {
public:
  explicit PassNames(Activity &activity) : activity(activity) {}
  void runBeforePass(Pass *pass, Operation *) override {
    // Names of passes are literals. The adaptor that runs the others has none.
    if (!pass->getArgument().empty())
      activity.begin("in pass", pass->getArgument().data());
  }

private:
  Activity &activity;
};

/// One compilation, in a context of its own: no state survives it.
class Compilation {
public:
  Compilation(const trace::Trace &trace, const CompilerOptions &options, CompileResult &result)
      : trace(trace), options(options), result(result),
        context(dialects(), MLIRContext::Threading::DISABLED) {}

  void run() {
    ScopedDiagnosticHandler collect(&context, [&](mlir::Diagnostic &d) {
      Diagnostic diagnostic = toDiagnostic(d, /*fromUser=*/false);
      if (options.warnings.apply(diagnostic))
        result.diagnostics.push_back(std::move(diagnostic));
      return success();
    });
    // A crash in a pass ends this compilation, not the process: the trace is
    // still there to make a reproducer from.
    llvm::CrashRecoveryContext::Enable();
    llvm::CrashRecoveryContext recovery;
    bool returned = recovery.RunSafely([&] { compile(); });
    llvm::CrashRecoveryContext::Disable();
    if (!returned)
      internalFault("the compiler crashed in " + phase);
    result.ok = !hasError();
    if (hasInternalFault())
      writeReproducer();
  }

private:
  static const DialectRegistry &dialects() {
    static const DialectRegistry registry = [] {
      DialectRegistry r;
      registerAllDialects(r);
      return r;
    }();
    return registry;
  }

  void compile() {
    if (options.activity)
      options.activity->begin("while compiling");
    if (!fitsHbm())
      return;
    phase = "the warnings";
    llvm::append_range(result.diagnostics, lint::lint(trace, options.warnings));
    if (hasError()) // -Werror
      return;
    phase = "conversion of the trace";
    OwningOpRef<ModuleOp> module = traceToNisa(&context, trace);
    result.instructions = trace.instructions.size();
    if (failed(mlir::verify(*module)))
      return;

    PassManager manager(&context);
    // Each phase has its own checker; MLIR's verifier between the passes would
    // cost as much as all of them together.
    manager.enableVerifier(false);
    PipelineOptions pipeline;
    pipeline.allowManualOverlap = !options.warnings.isError("M-04");
    pipeline.allowShallowRotation = !options.warnings.isError("M-05");
    pipeline.testFault = options.testFault;
    pipeline.compactPlacement = options.compactPlacement;
    if (!trace.graph.nodes.empty() || options.remarks != ReportForm::None)
      pipeline.planSink = planReporter(options.remarks, result);
    if (trace.graph.nodes.empty() && options.remarks != ReportForm::None)
      result.remarks = noRemarks(options.remarks, trace.kernel);
    if (options.stopAfter.empty()) {
      buildPipeline(manager, levelOf(options.emit), pipeline);
    } else if (!buildPipelineUntil(manager, options.stopAfter, pipeline)) {
      unknownPass();
      return;
    }
    addReports(manager, options, result);
    if (options.activity)
      manager.addInstrumentation(std::make_unique<PassNames>(*options.activity));
    phase = "the pass pipeline";
    if (failed(manager.run(*module))) {
      if (!hasError())
        internalFault("a pass failed without a message");
      return;
    }
    if (options.emit != Emit::Program || !options.stopAfter.empty()) {
      result.text = print(*module);
      return;
    }
    phase = "encoding";
    if (options.activity)
      options.activity->begin("while encoding the program");
    auto kernel = *module->getOps<nisa::KernelOp>().begin();
    kilnrt::Program program = encode(kernel);
    if (auto status = kilnrt::verify(program); !status) {
      Diagnostic d = status.error();
      d.fault = Fault::Internal;
      result.diagnostics.push_back(d);
      return;
    }
    result.program = kilnrt::serialize(program);
  }

  /// What a program file may ask of a host is bounded; the author hears of it at the largest
  /// tensor.
  bool fitsHbm() {
    double total = 0, most = 0;
    const trace::Tensor *largest = nullptr;
    for (const trace::Tensor &tensor : trace.tensors) {
      if (tensor.memory != isa::Memory::Hbm)
        continue;
      double bytes = isa::bytesOf(tensor.dtype);
      for (int64_t extent : tensor.shape)
        bytes *= double(extent);
      total += bytes;
      if (bytes > most) {
        most = bytes;
        largest = &tensor;
      }
    }
    if (total <= double(kilnrt::Limits::hbmBytes))
      return true;
    auto gib = [](double bytes) {
      llvm::SmallString<16> text;
      llvm::raw_svector_ostream(text) << llvm::format("%.1f GiB", bytes / double(1 << 30));
      return text.str().str();
    };
    Diagnostic d;
    d.fault = Fault::Limit;
    d.message = "the kernel's HBM tensors take " + gib(total) + ", a run may use " +
                gib(double(kilnrt::Limits::hbmBytes)) + "; the largest is '" + largest->name +
                "' of " + gib(most);
    d.help = "run the kernel on a smaller shape";
    d.place = trace.chain(largest->location);
    result.diagnostics.push_back(std::move(d));
    return false;
  }

  void unknownPass() {
    Diagnostic d;
    d.fault = Fault::Usage;
    d.message = "there is no pass '" + options.stopAfter + "'";
    d.help = "--stop-after takes one of " + llvm::join(pipelinePasses(), ", ");
    result.diagnostics.push_back(std::move(d));
  }

  void internalFault(std::string message) {
    Diagnostic d;
    d.fault = Fault::Internal;
    d.message = std::move(message);
    result.diagnostics.push_back(std::move(d));
  }

  bool hasError() {
    return llvm::any_of(result.diagnostics,
                        [](const Diagnostic &d) { return d.severity == Severity::Error; });
  }

  bool hasInternalFault() {
    return llvm::any_of(result.diagnostics, [](const Diagnostic &d) {
      return d.fault == Fault::Internal && d.severity == Severity::Error;
    });
  }

  /// IR, pipeline and versions in one file that kiln-opt takes as it is. The IR
  /// is made from the trace again: a failed pass leaves it half changed.
  void writeReproducer() {
    MLIRContext fresh(dialects(), MLIRContext::Threading::DISABLED);
    OwningOpRef<ModuleOp> module = traceToNisa(&fresh, trace);
    std::string text = "// Kiln " KILN_BUILD_ID ", MLIR " KILN_MLIR_VERSION "\n// Passes: " +
                       llvm::join(pipelinePasses(), ", ") +
                       "\n// Run: kiln-opt -kiln-to-streams THIS_FILE\n" + print(*module);
    auto digest = llvm::SHA256::hash(
        llvm::ArrayRef(reinterpret_cast<const uint8_t *>(text.data()), text.size()));
    std::string name = "kiln-reproducer-" +
                       llvm::toHex(llvm::ArrayRef(digest).take_front(4), /*LowerCase=*/true) +
                       ".mlir";
    std::string path = options.reproducerDir.empty() ? name : options.reproducerDir + "/" + name;
    std::ofstream file(path, std::ios::binary);
    file << text;
    file.close();
    std::string message = file ? "wrote the reproducer '" + path + "': please report it"
                               : "cannot write the reproducer '" + path + "'";
    if (file)
      result.reproducer = path;
    result.diagnostics.back().notes.push_back({message, {}});
  }

  const trace::Trace &trace;
  const CompilerOptions &options;
  CompileResult &result;
  MLIRContext context;
  std::string phase = "start-up";
};

} // namespace

void compileTrace(const trace::Trace &trace, const CompilerOptions &options,
                  CompileResult &result) {
  Compilation(trace, options, result).run();
}

} // namespace kiln::driver
