//===- TraceToNisa.cpp - from a finished trace to the nisa dialect ----------------------------===//
//
// On the compiler's hot path: one pass over the trace, no lookups by name.
//
//===------------------------------------------------------------------------------------------===//

#include "kiln/Conversion/TraceToNisa/TraceToNisa.h"

#include "kiln/Dialect/Nisa/IR/Locations.h"
#include "kiln/Dialect/Nisa/IR/NisaInst.h"
#include "kiln/Dialect/Tile/IR/TileNode.h"

using namespace mlir;

namespace kiln {
namespace {

/// MLIR's form of the trace's location table; entry i is location i.
std::vector<Location> makeLocations(MLIRContext *context, const trace::Trace &trace) {
  std::vector<Location> locations;
  locations.reserve(trace.locations.size());
  for (const trace::Location &location : trace.locations) {
    Location frame = nisa::toLoc(context, trace.files[location.file], location.line);
    // A caller stands before the places it calls, so it is known already.
    locations.push_back(location.caller == trace::kNone
                            ? frame
                            : Location(CallSiteLoc::get(frame, locations[location.caller])));
  }
  return locations;
}

nisa::AllocOp makeAlloc(OpBuilder &builder, Location loc, const trace::Tensor &tensor) {
  auto type = nisa::BufType::get(builder.getContext(), tensor.memory, tensor.shape, tensor.dtype);
  auto alloc = nisa::AllocOp::create(builder, loc, type, tensor.name);
  switch (tensor.role) {
  case trace::TensorRole::Internal:
    break;
  case trace::TensorRole::Input:
    alloc.setInput(tensor.index);
    break;
  case trace::TensorRole::Output:
    alloc.setOutput(tensor.index);
    break;
  }
  if (tensor.address)
    alloc.setAddress({tensor.address->first, tensor.address->second});
  return alloc;
}

/// Builds the nodes of a trace's graph where they belong between its instructions.
class ValueBuilder {
public:
  ValueBuilder(const tile::Graph &graph, OpBuilder &builder, const std::vector<Value> &buffers,
               function_ref<Location(uint32_t)> locOf)
      : graph(graph), builder(builder), buffers(buffers), locOf(locOf), values(graph.nodes.size()) {
  }

  /// Builds the nodes that stand behind `instructions` instructions at the latest. Those that touch
  /// no memory follow the ones in front of them.
  void buildUpTo(uint32_t instructions) {
    for (; next < graph.nodes.size(); ++next) {
      const tile::Node &node = graph.nodes[next];
      const bool isBorder = node.op == tile::Op::Load || node.isEffect();
      if (isBorder && node.position > instructions)
        return;
      build(node, isBorder ? buffers[node.view.buffer] : Value());
    }
  }

private:
  void build(const tile::Node &node, Value buffer) {
    SmallVector<Value, 3> operands;
    for (tile::NodeId id : node.operands)
      operands.push_back(values[id]);
    LocationAttr hintPlace;
    if (node.hint.location != tile::kNone)
      hintPlace = locOf(node.hint.location);
    Operation *op =
        tile::buildNode(builder, locOf(node.location), node, operands, buffer, hintPlace);
    if (!node.isEffect())
      values[next] = op->getResult(0);
  }

  const tile::Graph &graph;
  OpBuilder &builder;
  const std::vector<Value> &buffers;
  function_ref<Location(uint32_t)> locOf;
  std::vector<Value> values; ///< of the nodes built so far; null for effects
  size_t next = 0;
};

} // namespace

OwningOpRef<ModuleOp> traceToNisa(MLIRContext *context, const trace::Trace &trace) {
  context->loadDialect<nisa::NisaDialect, tile::TileDialect>();
  Location unknown = UnknownLoc::get(context);
  std::vector<Location> locations = makeLocations(context, trace);
  auto locOf = [&](uint32_t index) { return index == trace::kNone ? unknown : locations[index]; };

  OpBuilder builder(context);
  OwningOpRef<ModuleOp> module = ModuleOp::create(unknown);
  builder.setInsertionPointToEnd(module->getBody());
  auto kernel = nisa::KernelOp::create(builder, unknown, trace.kernel);
  builder.setInsertionPointToEnd(&kernel.getBody().front());
  if (!trace.texts.empty())
    kernel.setTextsAttr(builder.getStrArrayAttr(llvm::to_vector_of<StringRef>(trace.texts)));

  // Buffers stand at the top of the kernel or of the loop they were declared in, in their order.
  std::vector<std::vector<uint32_t>> inLoop(trace.loops.size());
  std::vector<Value> buffers(trace.tensors.size());
  auto declare = [&](uint32_t t) {
    buffers[t] = makeAlloc(builder, locOf(trace.tensors[t].location), trace.tensors[t]).getBuffer();
  };
  for (uint32_t t = 0; t < trace.tensors.size(); ++t) {
    if (uint32_t loop = trace.tensors[t].loop; loop != trace::kNone)
      inLoop[loop].push_back(t);
    else
      declare(t);
  }
  ValueBuilder values(trace.graph, builder, buffers, locOf);
  uint32_t next = 0, open = trace::kNone; // loops
  for (uint32_t i = 0; i < trace.instructions.size(); ++i) {
    values.buildUpTo(i);
    for (; next < trace.loops.size() && trace.loops[next].begin == i; open = next++) {
      const trace::Loop &loop = trace.loops[next];
      auto op = nisa::ForOp::create(builder, locOf(loop.location), loop.control);
      builder.setInsertionPointToEnd(&op.getBody().front());
      llvm::for_each(inLoop[next], declare);
    }
    const trace::Instruction &instruction = trace.instructions[i];
    nisa::buildInstruction(builder, locOf(instruction.location), instruction.inst, buffers);
    for (; open != trace::kNone && trace.loops[open].end == i + 1; open = trace.loops[open].parent)
      builder.setInsertionPointAfter(builder.getInsertionBlock()->getParentOp());
  }
  values.buildUpTo(uint32_t(trace.instructions.size()));
  return module;
}

} // namespace kiln
