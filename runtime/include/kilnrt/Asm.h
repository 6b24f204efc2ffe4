//===- Asm.h - the text of one instruction, printed and parsed --------------------------------===//
//
// The pieces the assembler and the disassembler are made of, for others that
// show or read instructions. The grammar of a whole file is in
// docs/ProgramFile.md; this is its core:
//
//   instruction := mnemonic { operand-name '=' operand | field-name '=' value |
//   'engine' '=' name } operand     := spelling '[' [rows ','] offset [':' pair
//   { pair }] ']' [':' dtype] rows        := start '+' count | count 'rows'
//   'of' step | start '+' count 'rows' 'of' step pair        := step 'x' num
//   outermost first, elements value       := true | false | integer | real |
//   enumerator | '[' values ']'
//
// `spelling` is whatever stands before the bracket: the caller's printer and
// resolver agree on it, so "acc", "%acc" and "t%7" all work. Fields at their
// default are not printed; the dtype is printed when it differs from the
// tensor's.
//
//===------------------------------------------------------------------------------------------===//

#ifndef KILNRT_ASM_H
#define KILNRT_ASM_H

#include "kiln/ISA/Instruction.h"
#include "kilnrt/Expected.h"

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace kilnrt {

namespace isa = kiln::isa;

//---- printing
//----------------------------------------------------------------------------------===//

/// What a printer knows about the tensor of an operand.
struct OperandText {
  std::string_view name;             ///< printed as it stands
  std::optional<isa::Memory> memory; ///< HBM prints rows and steps; unknown: by the access alone
  std::optional<isa::DType> dtype;   ///< an access of another dtype says so; unknown: it never does
};

/// Appends "acc[0+64, 0: 1x512]".
void printAccess(std::string &out, const isa::Access &access, const OperandText &text);
/// Appends the field's value alone: "overwrite", "1.5", "[1x512]".
void printFieldValue(std::string &out, const isa::FieldDesc &field, const isa::Instruction &inst);
/// Whether every word of the field equals the default; never for a required
/// field.
bool isDefaultField(const isa::FieldDesc &field, const isa::Instruction &inst);
/// Appends the instruction. `operands` is indexed like Instruction::operands.
/// The engine is printed unless it is `impliedEngine`.
void printInstruction(std::string &out, const isa::Instruction &inst,
                      std::span<const OperandText> operands,
                      isa::Engine impliedEngine = isa::Engine::Unknown);

//---- parsing
//-----------------------------------------------------------------------------------===//

/// What a spelling stands for: the index to store in Access::tensor, and the
/// tensor's dtype.
struct OperandTensor {
  uint32_t tensor = isa::kNoTensor;
  isa::DType dtype = isa::DType::Float32;
};
/// Looks a spelling up. `operand` is the index of the operand it was given for.
using OperandResolver =
    std::function<Expected<OperandTensor>(std::string_view spelling, unsigned operand)>;

/// Parses the instruction at the start of `text` and advances past it: up to
/// the end, or to the first word that is not "name=". Text of
/// `printInstruction` gives the same instruction back when the resolver inverts
/// the printer's names and `impliedEngine` is the same. Operands may be missing
/// (the rules report them), required fields may not. Errors have no place: the
/// caller knows it.
Expected<isa::Instruction> parseInstruction(std::string_view &text, const OperandResolver &resolve,
                                            isa::Engine impliedEngine = isa::Engine::Unknown);
/// Parses "[...]" and an optional ":dtype" of an operand whose tensor is
/// `tensor`.
Expected<isa::Access> parseAccess(std::string_view &text, const OperandTensor &tensor);
/// Parses a value of `field` into its words of `inst`.
Status parseFieldValue(std::string_view &text, const isa::FieldDesc &field, isa::Instruction &inst);

} // namespace kilnrt

#endif // KILNRT_ASM_H
