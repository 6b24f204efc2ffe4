//===- Session.cpp - a trace that the compiler itself writes ----------------------------------===//

#include "kiln/Trace/Session.h"

#include "TraceState.h"

namespace kiln::trace {

struct Session::State {
  explicit State(std::string kernelName) : name(std::move(kernelName)), trace(entry(), options) {}

  const nl::detail::KernelEntry &entry() {
    kernel.name = name.c_str();
    return kernel;
  }

  std::string name;
  nl::detail::KernelEntry kernel;
  TraceOptions options;
  TraceState trace;
};

Session::Session(std::string kernel) : state(std::make_unique<State>(std::move(kernel))) { at(0); }
Session::~Session() = default;

nl::Tensor Session::declare(const Tensor &tensor) {
  TensorRecord record;
  record.name = tensor.name;
  switch (tensor.memory) {
  case isa::Memory::Sbuf:
    record.buffer = nl::sbuf;
    break;
  case isa::Memory::Psum:
    record.buffer = nl::psum;
    break;
  case isa::Memory::Hbm:
    record.buffer = tensor.isShared ? nl::shared_hbm : nl::private_hbm;
    break;
  }
  record.dtype = static_cast<nl::DType>(tensor.dtype);
  record.role = tensor.role;
  record.shape = nl::Shape(tensor.shape);
  record.index = tensor.index;
  if (tensor.address)
    record.address = nl::Address{int64_t(tensor.address->first), int64_t(tensor.address->second)};
  record.place = tensor.location;
  record.written = true;
  return state->trace.declare(std::move(record));
}

void Session::at(uint32_t location) { state->trace.locations.pin(location); }

std::optional<Diagnostic> Session::run(const std::function<void()> &write) {
  try {
    write();
  } catch (const Abort &) {
    // Reported where it was thrown.
  }
  if (!state->trace.log.hasErrors())
    return std::nullopt;
  std::vector<Diagnostic> all = state->trace.log.finish();
  return all.empty() ? Diagnostic{} : all.front();
}

size_t Session::instructionCount() const { return state->trace.instructions.size(); }

std::vector<Tensor> Session::tensors() const {
  std::vector<Tensor> out;
  out.reserve(state->trace.tensors.size());
  for (const TensorRecord &record : state->trace.tensors) {
    Tensor tensor;
    tensor.name = record.name;
    tensor.isNamed = !record.name.empty();
    tensor.isShared = record.buffer == nl::shared_hbm;
    tensor.memory = toIsa(record.buffer);
    tensor.dtype = toIsa(record.dtype);
    tensor.role = record.role;
    tensor.shape.assign(record.shape.begin(), record.shape.end());
    tensor.index = record.index;
    if (record.address)
      tensor.address = {static_cast<uint32_t>(record.address->partition),
                        static_cast<uint64_t>(record.address->byte)};
    tensor.location = record.place;
    out.push_back(std::move(tensor));
  }
  return out;
}

const std::vector<Instruction> &Session::instructions() const { return state->trace.instructions; }

} // namespace kiln::trace
