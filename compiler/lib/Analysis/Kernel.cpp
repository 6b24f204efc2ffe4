//===- Kernel.cpp - what the analyses know about a kernel -------------------------------------===//
//
// Sizes, source positions, and how an instruction uses its operands.
//
//===------------------------------------------------------------------------------------------===//

#include "kiln/Analysis/Kernel.h"

#include <algorithm>

namespace kiln::analysis {

int64_t KernelTensor::bytes() const {
  int64_t total = isa::bytesOf(dtype);
  // Saturates: an absurd shape must be found too large, not wrap around to
  // something that fits.
  for (size_t i = isOnChip() ? 1 : 0; i < shape.size(); ++i)
    if (__builtin_mul_overflow(total, shape[i], &total))
      return INT64_MAX;
  return total;
}

CallChain Kernel::chain(uint32_t location) const {
  CallChain frames;
  while (location < locations.size()) {
    const KernelLocation &frame = locations[location];
    frames.push_back({frame.file < files.size() ? files[frame.file] : std::string(), frame.line});
    // Callers come first in the list; anything else would be a cycle.
    if (frame.caller >= location)
      break;
    location = frame.caller;
  }
  return frames;
}

unsigned Kernel::line(uint32_t location) const {
  return location < locations.size() ? locations[location].line : 0;
}

std::string lineText(const Kernel &kernel, uint32_t location) {
  const unsigned line = kernel.line(location);
  return line == 0 ? "an unknown line" : "line " + std::to_string(line);
}

std::string quotedName(const KernelTensor &tensor) {
  return tensor.name.empty() ? "a tensor without a name" : "'" + tensor.name + "'";
}

OperandUse operandUse(const isa::Instruction &inst, unsigned i) {
  if (i >= isa::kMaxOperands || !inst.operands[i].present())
    return {};
  const isa::InstDesc *desc = isa::findInstruction(inst.opcode);
  if (!desc || i >= desc->operands.size())
    return {};
  const bool writes = desc->operands[i].isOutput;
  return {!writes, writes};
}

} // namespace kiln::analysis
