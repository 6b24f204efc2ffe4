//===- ReferenceWriter.h - programs that fill tensors, run instructions and read them out -----===//

#ifndef KILN_TEST_REFERENCE_REFERENCEWRITER_H
#define KILN_TEST_REFERENCE_REFERENCEWRITER_H

#include "RandomInstruction.h"
#include "ReferenceMachine.h"

namespace kiln::reference {

/// A program in the making, neither placed nor synchronised.
class ProgramWriter {
public:
  ProgramWriter();
  /// A tensor that holds `data` once what was added so far has run.
  uint32_t tensorWith(const InstanceTensor &tensor, Bytes data);
  /// Appends `inst`, whose accesses name the program's tensors.
  void add(const isa::Instruction &inst);
  /// Copies every byte of `tensor` to an output.
  void readOut(uint32_t tensor);
  /// All of a tensor as one access.
  isa::Access whole(uint32_t tensor) const;
  size_t outputs() const { return outputCount; }
  size_t texts() const { return program.texts.size(); }
  kilnrt::Program take() { return std::move(program); }

private:
  uint32_t addTensor(isa::Memory memory, isa::DType dtype, const std::vector<int64_t> &shape);
  void copy(isa::Opcode opcode, isa::Engine engine, uint32_t to, uint32_t from);

  kilnrt::Program program;
  uint32_t order = 0;
  uint64_t nextByte[2] = {}; ///< SBUF and PSUM: where the next tensor has its private bytes
  size_t outputCount = 0;
};

} // namespace kiln::reference

#endif // KILN_TEST_REFERENCE_REFERENCEWRITER_H
