//===- Emitter.h - one instruction on its way into the trace ----------------------------------===//
//
// A builder names the row, sets fields, adds operands and records. Checks of handles happen as
// operands come in, rules of the table when the instruction is complete.
//
//===------------------------------------------------------------------------------------------===//

#ifndef KILN_LIB_DSL_EMITTER_H
#define KILN_LIB_DSL_EMITTER_H

#include "Fold.h"
#include "TraceState.h"
#include "nl/isa.h"

namespace kiln::trace {

/// A row of the table with all fields at their defaults, made once.
struct Row {
  explicit Row(isa::Opcode opcode)
      : desc(*isa::findInstruction(opcode)), blank(isa::makeInstruction(opcode)) {}
  /// First word of a field. Precondition: the row has it.
  unsigned word(std::string_view field) const { return desc.field(field)->word; }

  const isa::InstDesc &desc;
  isa::Instruction blank;
};

class Emitter {
public:
  /// Begins an instruction of `row` at `loc`. Outside a kernel the emitter reports K-07 and ignores
  /// the rest.
  Emitter(const Row &row, const nl::SrcLoc &loc);

  /// False when the instruction will not be recorded, because of an earlier, reported error.
  bool usable() const { return state && !broken; }

  void word(unsigned index, int64_t value) { inst.fields[index] = value; }
  /// A real field; rounded to float32 where the table says so.
  void real(unsigned index, double value) { inst.fields[index] = isa::bitsOf(value); }
  void real32(unsigned index, double value) { real(index, static_cast<float>(value)); }
  template <class E>
  void engine(E engine) {
    inst.engine = static_cast<isa::Engine>(engine);
  }
  /// Stores an ALU operator (absent: none when `optional`) or a function of the Scalar Engine.
  void aluOp(unsigned index, const nl::Op &op, std::string_view field, bool optional = false);
  void function(unsigned index, const nl::Op &op, std::string_view field);

  /// Operand `index` of the row. An empty handle leaves an optional operand out.
  void operand(unsigned index, const nl::Tensor &tensor, FreeDims dims = FreeDims::Merge);
  /// Stores the number of a register; `field` is what messages call it. A register that counts an
  /// open loop is not written (C-03).
  void readRegister(unsigned index, std::string_view field, const nl::Reg &reg);
  void writeRegister(unsigned index, std::string_view field, const nl::Reg &reg);
  /// Stores the number of a text that the program keeps.
  void label(unsigned index, std::string_view label);
  /// Stores how many loops are open, in `loops`, and that each counts by one, from `step` on.
  void loopNumbers(unsigned loops, unsigned step);
  /// A DMA side: HBM views are cut into as many rows as the on-chip side `other` has partitions.
  void transferOperand(unsigned index, const nl::Tensor &tensor, const nl::Tensor &other);

  /// A fault of the instruction that the table's rules cannot see.
  void fault(std::string_view rule, std::string message, std::string help = {});
  /// What `operand` is called in messages: "data 'x'", or "data".
  std::string describe(unsigned operand) const;

  /// Checks the rules and records the instruction.
  void record();

private:
  bool admit(unsigned index, const nl::Tensor &tensor);
  /// `tensor`, or the tile that holds it for instructions when it is a value. Nothing after a
  /// report.
  std::optional<nl::Tensor> inMemory(unsigned index, const nl::Tensor &tensor);
  /// `view`; where a tensor says its place, by a register loaded here.
  nl::detail::View placed(const nl::detail::View &view);
  std::vector<DiagnosticLog::Note> operandNotes(int first) const;

  const Row &row;
  TraceState *state;
  nl::SrcLoc loc;
  Place place = 0;
  bool broken = false;
  int subject = 100; ///< of the next fault(); operands use their own number
  /// Views in which an index chose a partition, for the note that explains their shape.
  std::vector<nl::detail::View> partitionViews;
  isa::Instruction inst;
};

} // namespace kiln::trace

#endif // KILN_LIB_DSL_EMITTER_H
