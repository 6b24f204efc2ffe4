//===- Road.cpp - a graph compiled, run and interpreted, for tests ----------------------------===//

#include "Road.h"

#include "kiln/Conversion/TraceToNisa/TraceToNisa.h"
#include "kiln/InitAllDialects.h"
#include "kiln/Pipelines/Pipelines.h"
#include "kiln/Support/Diagnostics.h"
#include "kiln/Target/Encode.h"
#include "kiln/Tile/Decompose.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"

namespace kiln::test {
namespace {

trace::Trace traceOf(const tile::Graph &graph) {
  trace::Trace trace;
  trace.kernel = "graph";
  trace.graph = graph;
  for (const tile::Buffer &buffer : graph.buffers) {
    trace::Tensor tensor;
    tensor.name = buffer.name;
    tensor.memory = buffer.memory;
    tensor.dtype = buffer.dtype;
    tensor.shape = buffer.shape;
    tensor.index = buffer.index;
    tensor.isNamed = true;
    tensor.role = buffer.role == tile::Buffer::Role::Input    ? trace::TensorRole::Input
                  : buffer.role == tile::Buffer::Role::Output ? trace::TensorRole::Output
                                                              : trace::TensorRole::Internal;
    trace.tensors.push_back(std::move(tensor));
  }
  return trace;
}

} // namespace

Compiled compileGraph(const tile::Graph &graph) {
  Compiled out;
  plan::PlanResult planned = plan::makePlan(tile::decompose(graph), {});
  out.plan = std::move(planned.plan);
  mlir::DialectRegistry registry;
  registerAllDialects(registry);
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  mlir::ScopedDiagnosticHandler collect(&context, [&](mlir::Diagnostic &d) {
    out.diagnostics.push_back(toDiagnostic(d, /*fromUser=*/false));
    return mlir::success();
  });
  mlir::OwningOpRef<mlir::ModuleOp> module = traceToNisa(&context, traceOf(graph));
  if (failed(mlir::verify(*module)))
    return out;
  mlir::PassManager manager(&context);
  manager.enableVerifier(false);
  buildPipeline(manager, Level::Streams, {});
  if (failed(manager.run(*module)))
    return out;
  kilnrt::Program program = encode(*module->getOps<nisa::KernelOp>().begin());
  if (auto status = kilnrt::verify(program); !status)
    out.diagnostics.push_back(status.error());
  else
    out.program = std::move(program);
  return out;
}

namespace {

std::vector<const tile::Buffer *> inOrder(const tile::Graph &graph, tile::Buffer::Role role) {
  std::vector<const tile::Buffer *> list;
  for (const tile::Buffer &buffer : graph.buffers)
    if (buffer.role == role)
      list.push_back(&buffer);
  std::sort(list.begin(), list.end(), [](auto *a, auto *b) { return a->index < b->index; });
  return list;
}

} // namespace

std::variant<std::vector<tile::Value>, Diagnostic>
interpret(const tile::Graph &graph, const std::vector<tile::Value> &inputs) {
  std::vector<tile::Value> buffers(graph.buffers.size());
  for (const tile::Buffer *input : inOrder(graph, tile::Buffer::Role::Input))
    buffers[size_t(input - graph.buffers.data())] = inputs[input->index];
  if (auto problem = tile::evaluate(graph, buffers))
    return *problem;
  std::vector<tile::Value> out;
  for (const tile::Buffer *output : inOrder(graph, tile::Buffer::Role::Output))
    out.push_back(std::move(buffers[size_t(output - graph.buffers.data())]));
  return out;
}

std::variant<std::vector<tile::Value>, Diagnostic> execute(const kilnrt::Program &program,
                                                           const std::vector<tile::Value> &inputs) {
  auto executable = kilnrt::Executable::prepare(program);
  if (!executable)
    return executable.error();
  std::vector<kilnrt::HostArray> arguments;
  for (const tile::Value &value : inputs)
    arguments.push_back({value.dtype, value.shape, value.bytes});
  auto result = executable->run(arguments);
  if (!result)
    return result.error();
  std::vector<tile::Value> out;
  for (kilnrt::HostArray &array : result->outputs)
    out.push_back({array.dtype, array.shape, std::move(array.data)});
  return out;
}

} // namespace kiln::test
