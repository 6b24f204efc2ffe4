//===- Layout.h - where the parts of an encoded record lie ------------------------------------===//
//
// Private to the library. A record is a header, the field words, one slot for
// each operand of the row, the loop steps of operands that have some, and the indices of those that
// are indexed. The
// page docs/ProgramFile.md draws it.
//
//===------------------------------------------------------------------------------------------===//

#ifndef KILNRT_LIB_PROGRAM_LAYOUT_H
#define KILNRT_LIB_PROGRAM_LAYOUT_H

#include "kiln/ISA/Instruction.h"

#include <cstddef>
#include <optional>

namespace kilnrt::layout {

namespace isa = kiln::isa;

inline constexpr size_t kHeaderBytes = 24;
/// tensor, dtype, rank, number of loop steps, indexing, start, count; rowStep, offset; steps;
/// nums.
inline constexpr size_t kAccessBytes = 16 + 16 + 2 * 8 * isa::kMaxFreeDims;

/// One loop step.
inline constexpr size_t kLoopStepBytes = 8;

/// How the run moves an access: register, six zero bytes, step, extent.
inline constexpr size_t kIndexBytes = 8 + 8 + 8;

/// Bytes of one value: its natural size, and its alignment inside the record.
constexpr size_t valueBytes(isa::FieldKind kind) {
  switch (kind) {
  case isa::FieldKind::Bool:
  case isa::FieldKind::Enum:
    return 1;
  case isa::FieldKind::Register:
    return 2;
  case isa::FieldKind::I32:
  case isa::FieldKind::U32:
  case isa::FieldKind::F32:
    return 4;
  case isa::FieldKind::F64:
    break;
  }
  return 8;
}

constexpr size_t alignUp(size_t n, size_t to) { return (n + to - 1) / to * to; }

/// Calls visit(field, first byte of its values) for each field, in table
/// order; returns the byte where the operand slots start.
template <typename Visit>
size_t visitFields(const isa::InstDesc &desc, Visit visit) {
  size_t at = kHeaderBytes;
  for (const isa::FieldDesc &field : desc.fields) {
    const size_t bytes = valueBytes(field.kind);
    at = alignUp(at, bytes);
    visit(field, at);
    at += bytes * field.words;
  }
  return alignUp(at, 8);
}

/// Bytes of a record without loop steps and indices.
inline size_t recordBytes(const isa::InstDesc &desc) {
  size_t slots = visitFields(desc, [](const isa::FieldDesc &, size_t) {});
  return slots + desc.operands.size() * kAccessBytes;
}

/// The bits of the float that equals the double `bits`, NaNs by payload; none
/// when no float does. Not by conversion: that would quiet a NaN.
std::optional<uint32_t> narrowBits(int64_t bits);
/// The bits of the double that equals the float `bits`; inverts narrowBits.
int64_t widenBits(uint32_t bits);

} // namespace kilnrt::layout

#endif // KILNRT_LIB_PROGRAM_LAYOUT_H
