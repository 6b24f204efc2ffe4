//===- Rules.h - one implementation of each instruction rule ----------------------------------===//
//
// The DSL builder, the op verifier and the stream checker all call
// `checkInstruction`: same rule, same sentence, wherever the instruction came
// from. Rules see an instruction with the tensors it names and report through a
// callback; they know nothing of IR, streams or files.
//
//===------------------------------------------------------------------------------------------===//

#ifndef KILN_ISA_RULES_H
#define KILN_ISA_RULES_H

#include "kiln/ISA/Diagnostic.h"
#include "kiln/ISA/Instruction.h"

#include <functional>
#include <string>

namespace kiln::isa {

/// What a rule may know about the tensor of an operand.
struct TensorView {
  std::string_view name; ///< the author's name; may be empty
  Memory memory = Memory::Sbuf;
  DType dtype = DType::Float32;
  std::span<const int64_t> shape; ///< HBM rank >= 1; on chip rank >= 2, dim 0 = partitions
  uint32_t partitionBase = 0;     ///< physical first partition; 0 for tensors placed automatically
  /// Elements of one partition (on chip) or of the tensor (HBM), in `dtype`.
  int64_t freeElements() const;
};

/// An instruction together with the tensors of its operands (indexed like
/// Instruction::operands).
struct InstView {
  const Instruction &inst;
  const InstDesc &desc;
  std::array<TensorView, kMaxOperands> tensors;
  /// Iterations of each loop around the instruction, outermost first, each at least 1.
  std::span<const int64_t> tripCounts = {};

  const Access &access(unsigned i) const { return inst.operands[i]; }
  /// "moving 'b'" - the operand's role and, when it has one, the author's name.
  std::string describe(unsigned operand) const;
};

/// One broken rule. `operand` is the operand at fault, -1 for the whole
/// instruction.
struct Violation {
  std::string_view rule;
  std::string message, help;
  int operand = -1;
};
using RuleSink = std::function<void(Violation)>;

/// Checks everything the table states about `view`: presence, memories, dtypes
/// and shapes of operands, partition and access-pattern limits, bounds inside
/// the tensor, field values, and the record's rules. An instruction inside loops
/// obeys them in every iteration. Returns true when nothing was reported.
bool checkInstruction(const InstView &view, const RuleSink &sink);

/// Checks a tensor declaration: partition count, rank, bytes a partition,
/// address if `address` is given (first partition, byte inside the usable part
/// of the partition).
struct TensorAddress {
  uint32_t partition = 0;
  uint64_t byte = 0;
};
bool checkTensor(const TensorView &tensor, const std::optional<TensorAddress> &address,
                 const RuleSink &sink);

/// The engine an instruction runs on when the author named none: the first
/// legal one in the table's order that the rules of the instruction allow for
/// its operands.
Engine chooseEngine(const InstView &view);

/// The smallest legal start partition rule: true when `count` partitions may
/// start at `start`.
bool isLegalStartPartition(uint32_t start, uint32_t count);

} // namespace kiln::isa

#endif // KILN_ISA_RULES_H
