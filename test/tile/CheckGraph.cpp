//===- CheckGraph.cpp - graphs through the compiler and the executor --------------------------===//

#include "CheckGraph.h"

#include "kiln/Conversion/TileGraph.h"
#include "kiln/Conversion/TraceToNisa/TraceToNisa.h"
#include "kiln/ISA/Text.h"
#include "kiln/InitAllDialects.h"
#include "kiln/Pipelines/Pipelines.h"
#include "kiln/Plan/Plan.h"
#include "kiln/Support/Diagnostics.h"
#include "kiln/Target/Encode.h"
#include "kiln/Tile/Decompose.h"
#include "kilnrt/Debug.h"
#include "kilnrt/Executor.h"
#include "kilnrt/Numerics/Convert.h"
#include "kilnrt/Proof.h"

#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"

#include <map>
#include <tuple>

using namespace kiln;
using namespace kiln::tile;
using namespace kiln::tile::test;

namespace {

Verdict wrong(std::string_view step, std::string what) {
  return {Verdict::Kind::Wrong, {}, text(step, ": ", what), 0, false};
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
        // What a right graph may be refused for: it does not fit, or a hint cannot be kept to. All
        // other rules are about instructions, and those the planner wrote.
        if (!d.rule.starts_with("T-") || d.fault == Fault::Internal)
          return wrong(step, text(d.rule, " ", d.message));
        return {Verdict::Kind::Refused, d.rule, d.message, 0, false};
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

/// How long a sum is, and of how many.
std::tuple<Op, isa::AluOp, int64_t, int64_t> kindOf(const Graph &graph, const Node &node) {
  const Node &x = graph[node.operands[0]];
  const int64_t length = node.op == Op::Reduce ? x.elements() / node.elements()
                         : node.transposeX     ? x.shape[x.shape.size() - 2]
                                               : x.shape.back();
  return {node.op, node.alu, length, node.elements()};
}

/// Sums of `graph` get the orders that sums of their kind have in `planned`, which may stand
/// elsewhere and be more; false when there is none of a kind, or they disagree.
bool takeOrders(Graph &graph, const Graph &planned) {
  std::map<std::tuple<Op, isa::AluOp, int64_t, int64_t>, std::optional<Order>> orders;
  const auto isSum = [](const Node &node) { // the largest of some is that in every order
    return node.op == Op::Matmul || (node.op == Op::Reduce && (node.alu == isa::AluOp::Add ||
                                                               node.alu == isa::AluOp::Multiply));
  };
  for (const Node &node : planned.nodes)
    if (isSum(node)) {
      const auto [it, isNew] = orders.try_emplace(kindOf(planned, node), node.order);
      if (!isNew && it->second != node.order)
        it->second.reset();
    }
  for (Node &node : graph.nodes)
    if (isSum(node)) {
      const auto it = orders.find(kindOf(graph, node));
      if (it == orders.end() || !it->second)
        return false;
      node.order = *it->second;
    }
  return true;
}

/// What a run touches.
struct Touched final : kilnrt::RunObserver {
  int64_t readBytes = 0, writtenBytes = 0; ///< of HBM, repeated elements each time
  int64_t sbufBytes = 0;                   ///< of a partition, up to the highest byte
  uint64_t instructions = 0;

  void starts(const kilnrt::RunView &view) override { program = &view.program; }
  void reads(const kilnrt::RunStep &, unsigned, const kilnrt::Place &place) override {
    readBytes += touch(place);
  }
  void writes(const kilnrt::RunStep &, unsigned, const kilnrt::Place &place) override {
    writtenBytes += touch(place);
  }

private:
  /// Bytes of HBM.
  int64_t touch(const kilnrt::Place &place) {
    const kilnrt::TensorInfo &tensor = program->tensors[place.tensor];
    if (tensor.memory == isa::Memory::Sbuf)
      sbufBytes = std::max(sbufBytes, place.endByte);
    if (tensor.memory != isa::Memory::Hbm)
      return 0;
    return int64_t(place.shape().rows) * place.shape().elements * place.shape().elementBytes();
  }
  const kilnrt::Program *program = nullptr;
};

/// What a run touches beyond what its plan claims, in words; empty when nothing. A claim of 0 bytes
/// of HBM is none.
std::string beyond(const plan::Plan &plan, const Touched &touched) {
  if (touched.sbufBytes > plan.sbufBytes)
    return text(touched.sbufBytes, " bytes of a partition are used, the plan claims ",
                plan.sbufBytes);
  if (plan.readBytes != 0 && touched.readBytes > plan.readBytes)
    return text(touched.readBytes, " bytes are read, the plan claims ", plan.readBytes);
  if (plan.writtenBytes != 0 && touched.writtenBytes > plan.writtenBytes)
    return text(touched.writtenBytes, " bytes are written, the plan claims ", plan.writtenBytes);
  return {};
}

/// Runs a program after every proof; `outputs` by result number.
std::optional<Verdict> runProgram(const kilnrt::Program &program, std::span<const Value> arguments,
                                  std::vector<Value> &outputs, Touched &touched) {
  if (const auto status = kilnrt::verify(program); !status)
    return wrong("the program", status.error().message);
  const auto proof = kilnrt::prove(program);
  if (!proof)
    return wrong("the proof", proof.error().message);
  if (!proof->isProven())
    return wrong("the proof",
                 proof->findings.empty() ? proof->reason : proof->findings[0].diagnostic.message);
  const auto executable = kilnrt::Executable::prepare(program);
  if (!executable)
    return wrong("the run", executable.error().message);
  std::vector<kilnrt::HostArray> inputs;
  for (const Value &value : arguments)
    inputs.push_back({value.dtype, value.shape, value.bytes});
  kilnrt::RunOptions options;
  options.observer = &touched;
  auto result = executable->run(inputs, options);
  if (!result)
    return wrong("the run", result.error().message);
  touched.instructions = result->stats.instructions;
  for (kilnrt::HostArray &array : result->outputs)
    outputs.push_back({array.dtype, array.shape, std::move(array.data)});
  return std::nullopt;
}

} // namespace

Verdict test::checkGraph(const Graph &graph, std::span<const Value> data,
                         std::vector<Value> *results) {
  const std::vector<Value> arguments = argumentsOf(graph, data);
  std::vector<Value> expected, found;
  if (const auto fault = outputsOf(graph, arguments, expected))
    return wrong("the graph", fault->message);

  // Simplified: what the author wrote, sums in double on both sides.
  Kernel kernel(graph);
  if (!kernel.verifies())
    return kernel.failure("conversion");
  if (!kernel.runTo(Level::Tile))
    return kernel.failure("simplification");
  const Graph simple = graphOf(kernel.op()).graph;
  if (const auto fault = outputsOf(simple, arguments, found))
    return wrong("the simplified graph", fault->message);
  if (std::string what = difference(found, expected); !what.empty())
    return wrong("simplification", text(what, "\n", print(simple)));

  // Planned: the graph of the plan means what the simplified one means in its orders.
  Graph primitive = decompose(simple);
  bool isComparedWithSource = false;
  const plan::PlanResult planned = plan::makePlan(primitive, {});
  if (!planned.plan && !planned.problem)
    return wrong("planning", "no plan and no diagnostic");
  if (planned.plan) {
    if (const auto fault = outputsOf(planned.plan->graph, arguments, expected))
      return wrong("the planned graph", text(fault->message, "\n", print(planned.plan->graph)));
    if (takeOrders(primitive, planned.plan->graph)) {
      isComparedWithSource = true;
      if (const auto fault = outputsOf(primitive, arguments, found))
        return wrong("the simplified graph", fault->message);
      if (std::string what = difference(expected, found); !what.empty())
        return wrong("planning", text(what, "\n", print(planned.plan->graph)));
    }
  }

  // Compiled and run: the planned graph, bit for bit.
  if (!kernel.runTo(Level::Streams))
    return kernel.failure("compilation");
  if (!planned.plan)
    return wrong("planning", "the compiler found a plan, makePlan did not");
  const kilnrt::Program program = encode(kernel.op());
  found.clear();
  Touched touched;
  if (auto fault = runProgram(program, arguments, found, touched))
    return *fault;
  if (std::string what = difference(found, expected); !what.empty())
    return wrong("the result", text(what, "\n", print(planned.plan->graph)));
  if (std::string what = beyond(*planned.plan, touched); !what.empty())
    return wrong("the claim", what);
  if (Kernel again(graph); !again.runTo(Level::Streams) || encode(again.op()) != program)
    return wrong("repetition", "the same graph gives another program");
  if (results)
    *results = std::move(found);
  return {Verdict::Kind::Right, {}, {}, touched.instructions, isComparedWithSource};
}

std::string test::printAsKernel(const Graph &graph) { return Kernel(graph).print(); }
