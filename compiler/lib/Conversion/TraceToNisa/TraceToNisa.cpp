//===- TraceToNisa.cpp - from a finished trace to the nisa dialect ----------------------------===//
//
// On the compiler's hot path: one pass over the trace, no lookups by name.
//
//===------------------------------------------------------------------------------------------===//

#include "kiln/Conversion/TraceToNisa/TraceToNisa.h"

#include "kiln/Dialect/Nisa/IR/Locations.h"
#include "kiln/Dialect/Nisa/IR/NisaInst.h"

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

} // namespace

OwningOpRef<ModuleOp> traceToNisa(MLIRContext *context, const trace::Trace &trace) {
  context->loadDialect<nisa::NisaDialect>();
  Location unknown = UnknownLoc::get(context);
  std::vector<Location> locations = makeLocations(context, trace);
  auto locOf = [&](uint32_t index) { return index == trace::kNone ? unknown : locations[index]; };

  OpBuilder builder(context);
  OwningOpRef<ModuleOp> module = ModuleOp::create(unknown);
  builder.setInsertionPointToEnd(module->getBody());
  auto kernel = nisa::KernelOp::create(builder, unknown, trace.kernel);
  builder.setInsertionPointToEnd(&kernel.getBody().front());

  std::vector<Value> buffers;
  buffers.reserve(trace.tensors.size());
  for (const trace::Tensor &tensor : trace.tensors)
    buffers.push_back(makeAlloc(builder, locOf(tensor.location), tensor).getBuffer());
  for (const trace::Instruction &instruction : trace.instructions)
    nisa::buildInstruction(builder, locOf(instruction.location), instruction.inst, buffers);
  return module;
}

} // namespace kiln
