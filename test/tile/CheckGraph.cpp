//===- CheckGraph.cpp - graphs through the compiler and the executor --------------------------===//

#include "CheckGraph.h"

#include "kiln/Conversion/TileGraph.h"
#include "kiln/Conversion/TraceToNisa/TraceToNisa.h"
#include "kiln/ISA/Text.h"
#include "kiln/InitAllDialects.h"
#include "kiln/Pipelines/Pipelines.h"
#include "kiln/Support/Diagnostics.h"
#include "kilnrt/Numerics/Convert.h"

#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"

using namespace kiln;
using namespace kiln::tile;
using namespace kiln::tile::test;

namespace {

Verdict wrong(std::string_view step, std::string what) {
  return {Verdict::Kind::Wrong, {}, text(step, ": ", what), 0};
}

/// A trace as if a kernel had said the graph: buffer i is tensor i.
trace::Trace traceOf(const Graph &graph) {
  trace::Trace out;
  out.kernel = "graph";
  for (const Buffer &buffer : graph.buffers) {
    trace::Tensor tensor;
    tensor.name = buffer.name;
    tensor.memory = buffer.memory;
    tensor.dtype = buffer.dtype;
    tensor.role = trace::TensorRole(buffer.role);
    tensor.index = buffer.index;
    tensor.shape = buffer.shape;
    tensor.isShared = buffer.role == Buffer::Role::Output;
    out.tensors.push_back(std::move(tensor));
  }
  out.graph = graph;
  return out;
}

/// The results of a graph by output number, or what is wrong with it.
std::optional<Diagnostic> outputsOf(const Graph &graph, std::span<const Value> data,
                                    std::vector<Value> &outputs) {
  std::vector<Value> buffers(graph.buffers.size());
  for (size_t i = 0; i < buffers.size(); ++i)
    if (const Buffer &buffer = graph.buffers[i]; buffer.role == Buffer::Role::Input)
      buffers[i] = data[buffer.index];
  if (std::optional<Diagnostic> fault = evaluate(graph, buffers))
    return fault;
  outputs.clear();
  for (size_t i = 0; i < buffers.size(); ++i)
    if (const Buffer &buffer = graph.buffers[i]; buffer.role == Buffer::Role::Output) {
      outputs.resize(std::max<size_t>(outputs.size(), buffer.index + 1));
      outputs[buffer.index] = std::move(buffers[i]);
    }
  return std::nullopt;
}

/// The first element that differs, in words; empty when there is none.
std::string difference(const std::vector<Value> &found, const std::vector<Value> &expected) {
  if (found.size() != expected.size())
    return text(found.size(), " results, expected ", expected.size());
  for (size_t i = 0; i < found.size(); ++i) {
    const Value &a = found[i], &b = expected[i];
    if (a.shape != b.shape || a.dtype != b.dtype || a.bytes.size() != b.bytes.size())
      return text("result ", i, " is ", shapeText(a.shape), " ", isa::name(a.dtype), ", expected ",
                  shapeText(b.shape), " ", isa::name(b.dtype));
    const size_t width = isa::bytesOf(a.dtype);
    size_t count = 0, first = 0;
    for (size_t at = a.bytes.size(); at > 0; at -= width)
      if (!std::equal(a.bytes.begin() + int64_t(at - width), a.bytes.begin() + int64_t(at),
                      b.bytes.begin() + int64_t(at - width))) {
        ++count;
        first = at - width;
      }
    if (count != 0)
      return text(count, " of ", a.bytes.size() / width, " elements of result ", i,
                  " differ, the first is number ", first / width, ": ",
                  double(kilnrt::loadElement(a.dtype, a.bytes.data() + first)), ", expected ",
                  double(kilnrt::loadElement(b.dtype, b.bytes.data() + first)));
  }
  return {};
}

/// One kernel in a context of its own.
class Kernel {
public:
  explicit Kernel(const Graph &graph)
      : context(dialects(), mlir::MLIRContext::Threading::DISABLED),
        handler(&context,
                [this](mlir::Diagnostic &d) {
                  diagnostics.push_back(toDiagnostic(d, /*fromUser=*/false));
                  return mlir::success();
                }),
        module(traceToNisa(&context, traceOf(graph))) {}

  bool verifies() { return mlir::succeeded(mlir::verify(*module)); }
  /// Runs the pipeline from where it stands.
  bool runTo(Level level) {
    mlir::PassManager manager(&context);
    buildPipeline(manager, level, {});
    return mlir::succeeded(manager.run(*module));
  }
  nisa::KernelOp op() { return *module->getOps<nisa::KernelOp>().begin(); }
  std::string print() {
    std::string out;
    llvm::raw_string_ostream(out) << *module;
    return out;
  }

  /// The verdict after a step failed.
  Verdict failure(std::string_view step) const {
    for (const Diagnostic &d : diagnostics)
      if (d.severity == Severity::Error) {
        if (d.rule.empty() || d.fault == Fault::Internal)
          return wrong(step, d.message);
        return {Verdict::Kind::Refused, d.rule, d.message, 0};
      }
    return wrong(step, "failed without a message");
  }

private:
  static const mlir::DialectRegistry &dialects() {
    static const mlir::DialectRegistry registry = [] {
      mlir::DialectRegistry r;
      registerAllDialects(r);
      return r;
    }();
    return registry;
  }

  std::vector<Diagnostic> diagnostics;
  mlir::MLIRContext context;
  mlir::ScopedDiagnosticHandler handler;
  mlir::OwningOpRef<mlir::ModuleOp> module;
};

/// Inputs by argument number.
std::vector<Value> argumentsOf(const Graph &graph, std::span<const Value> data) {
  std::vector<Value> out;
  for (size_t i = 0; i < graph.buffers.size(); ++i)
    if (const Buffer &buffer = graph.buffers[i]; buffer.role == Buffer::Role::Input) {
      out.resize(std::max<size_t>(out.size(), buffer.index + 1));
      out[buffer.index] = data[i];
    }
  return out;
}

} // namespace

Verdict test::checkGraph(const Graph &graph, std::span<const Value> data) {
  const std::vector<Value> arguments = argumentsOf(graph, data);
  std::vector<Value> expected, simplified;
  if (const auto fault = outputsOf(graph, arguments, expected))
    return wrong("the graph", fault->message);

  Kernel kernel(graph);
  if (!kernel.verifies())
    return kernel.failure("conversion");
  if (!kernel.runTo(Level::Tile))
    return kernel.failure("simplification");
  const Graph simple = graphOf(kernel.op()).graph;
  if (const auto fault = outputsOf(simple, arguments, simplified))
    return wrong("the simplified graph", fault->message);
  if (std::string what = difference(simplified, expected); !what.empty())
    return wrong("simplification", text(what, "\n", print(simple)));
  return {};
}

std::string test::printAsKernel(const Graph &graph) { return Kernel(graph).print(); }
