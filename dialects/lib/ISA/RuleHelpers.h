//===- RuleHelpers.h - shared by the rule functions of the instruction table ------------------===//
//
// Text building, names of things in messages, and checked arithmetic.
// Everything that builds a string runs only when a rule is broken: an
// instruction without faults must not allocate.
//
//===------------------------------------------------------------------------------------------===//

#ifndef KILN_LIB_ISA_RULEHELPERS_H
#define KILN_LIB_ISA_RULEHELPERS_H

#include "kiln/ISA/Rules.h"
#include "kiln/ISA/Text.h"

namespace kiln::isa {

/// Runs every rule of the instruction's record (generated from the table).
/// Precondition: checkOperands and checkFields returned true, so every number a
/// rule reads is sane and products of counts do not overflow.
void runInstructionRules(const InstView &view, const RuleSink &sink);

namespace rules {

// One function for each `check` of the table.
#include "kiln/ISA/RuleFunctions.h.inc"

/// Id of faults that only a malformed record can have: a missing operand, a
/// field out of its range.
inline constexpr std::string_view kMalformed = "X-06";

//---- text
//----------------------------------------------------------------------------------------===//

/// "vector, scalar or gpsimd".
std::string joinOr(std::span<const std::string_view> names);

inline void report(const RuleSink &sink, std::string_view id, int operand, std::string message,
                   std::string help = {}) {
  sink({id, std::move(message), std::move(help), operand});
}

/// "the Vector Engine", "GpSimd", as sentences name them.
std::string_view title(Engine engine);
/// "SBUF", "PSUM", "HBM".
std::string_view title(Memory memory);

/// The author's name in quotes, or the operand's role when it has none:
/// "'acc'", "dst".
std::string quoted(const InstView &view, unsigned operand);

/// "(128, 4, 512)": the access as partitions and free dims.
std::string shapeOf(const Access &access);

//---- facts of an instruction
//---------------------------------------------------------------------===//

inline unsigned mainInput(const InstView &view) { return mainInput(view.desc); }

/// The value of a field by name; 0 when the record has none.
int64_t fieldOf(const InstView &view, std::string_view name, unsigned word = 0);
inline AluOp aluField(const InstView &view, std::string_view name) {
  return AluOp(fieldOf(view, name));
}
inline bool isAluOp(AluOp op) { return size_t(op) < aluOpCases().size(); }

/// Engine the instruction runs on: the author's, or the one chooseEngine picks.
inline Engine engineOf(const InstView &view) {
  return view.inst.engine == Engine::Unknown ? chooseEngine(view) : view.inst.engine;
}

/// True for instructions whose operands the DMA rings touch, not an engine's
/// access port: start partition and access-pattern limits do not hold for them.
/// Only they reach HBM.
bool isTransfer(const InstDesc &desc);

inline Memory memoryOf(const InstView &view, unsigned operand) {
  return view.tensors[operand].memory;
}
inline bool isOnChip(Memory memory) { return memory != Memory::Hbm; }

/// Physical first partition of an on-chip access.
inline int64_t physicalStart(const InstView &view, unsigned operand) {
  return int64_t(view.tensors[operand].partitionBase) + view.access(operand).partitionStart;
}

//---- saturating arithmetic: program files may hold any number
//--------------------------------------===//

inline int64_t addSaturated(int64_t a, int64_t b) {
  int64_t r;
  if (!__builtin_add_overflow(a, b, &r))
    return r;
  return a < 0 ? INT64_MIN : INT64_MAX;
}
inline int64_t mulSaturated(int64_t a, int64_t b) {
  int64_t r;
  if (!__builtin_mul_overflow(a, b, &r))
    return r;
  return (a < 0) == (b < 0) ? INT64_MAX : INT64_MIN;
}

/// Elements of one row of an access. Precondition: nums >= 1.
int64_t freeElementsSaturated(const Access &access);

/// Smallest and largest element index an access touches, as elementRange, for
/// any numbers.
ElementRange elementRangeSaturated(const Access &access);

//---- generic checks
//--------------------------------------------------------------------------------===//

/// Checks what the operand descriptors state. False when the record's rules
/// cannot be evaluated: an operand is missing or its shape makes no sense.
bool checkOperands(const InstView &view, const RuleSink &sink);
/// Checks that every field holds a value of its kind. False when one does not.
bool checkFields(const InstView &view, const RuleSink &sink);

//---- legal start partitions
//------------------------------------------------------------------------===//

/// "33 to 64 partitions must start at 0 or 64": the row of the start partition
/// table for `count`.
std::string startRuleFor(uint32_t count);

} // namespace rules
} // namespace kiln::isa

#endif // KILN_LIB_ISA_RULEHELPERS_H
