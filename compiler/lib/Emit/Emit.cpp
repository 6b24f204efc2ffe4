//===- Emit.cpp - from a plan to instructions -------------------------------------------------===//

#include "kiln/Plan/Emit.h"

#include "Writer.h"

namespace kiln::plan {

namespace {

trace::Tensor tensorOf(const tile::Buffer &buffer) {
  trace::Tensor tensor;
  tensor.name = buffer.name;
  tensor.memory = buffer.memory;
  tensor.dtype = buffer.dtype;
  tensor.shape = buffer.shape;
  tensor.index = buffer.index;
  tensor.isNamed = true;
  tensor.location = buffer.location;
  switch (buffer.role) {
  case tile::Buffer::Role::Internal:
    break;
  case tile::Buffer::Role::Input:
    tensor.role = trace::TensorRole::Input;
    break;
  case tile::Buffer::Role::Output:
    tensor.role = trace::TensorRole::Output;
    break;
  }
  return tensor;
}

} // namespace

std::variant<Emitted, Diagnostic> emit(const Plan &plan, bool isAlone) {
  trace::Session session("plan");
  std::vector<nl::Tensor> buffers;
  for (const tile::Buffer &buffer : plan.graph.buffers)
    buffers.push_back(session.declare(tensorOf(buffer)));
  Emitted out;
  const kiln::emit::Context context{session, plan, buffers, isAlone};
  for (const Group &group : plan.groups) {
    if (group.isInlined) {
      out.groupEnds.push_back(session.instructionCount());
      continue;
    }
    session.at(group.location);
    std::optional<Diagnostic> problem = session.run([&] {
      switch (group.skeleton) {
      case Skeleton::Copy:
        return kiln::emit::writeCopy(context, group);
      case Skeleton::Rows:
        return kiln::emit::writeRows(context, group);
      case Skeleton::Contraction:
        return kiln::emit::writeContraction(context, group);
      }
    });
    if (problem)
      return *problem;
    out.groupEnds.push_back(session.instructionCount());
  }
  out.tensors = session.tensors();
  out.instructions = session.instructions();
  return out;
}

} // namespace kiln::plan
