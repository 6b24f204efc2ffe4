//===- Print.cpp - one instruction as text ----------------------------------------------------===//
//
// Appends to a string the caller owns. Numbers are printed in the shortest
// form that reads back as the same bits.
//
//===------------------------------------------------------------------------------------------===//

#include "Layout.h"
#include "kilnrt/Asm.h"
#include "kilnrt/Program.h"

#include <fmt/format.h>

#include <bit>
#include <charconv>
#include <cmath>
#include <iterator>

namespace kilnrt {
namespace {

void appendInt(std::string &out, int64_t value) {
  char buffer[24];
  auto result = std::to_chars(buffer, buffer + sizeof(buffer), value);
  out.append(buffer, result.ptr);
}

/// A NaN other than the default one shows all its bits.
template <typename Float, typename Bits>
void appendReal(std::string &out, Float value, Bits defaultNaN) {
  const auto bits = std::bit_cast<Bits>(value);
  if (std::isnan(value) && bits != defaultNaN) {
    fmt::format_to(std::back_inserter(out), "nan:{:#x}", bits);
    return;
  }
  char buffer[40];
  auto result = std::to_chars(buffer, buffer + sizeof(buffer), value);
  out.append(buffer, result.ptr);
}

void appendValue(std::string &out, const isa::FieldDesc &field, int64_t word) {
  switch (field.kind) {
  case isa::FieldKind::Bool:
    if (word == 0 || word == 1) {
      out += word ? "true" : "false";
      return;
    }
    break;
  case isa::FieldKind::Enum:
    for (const isa::EnumCase &c : field.cases)
      if (int64_t{c.value} == word) {
        out += c.name;
        return;
      }
    break;
  case isa::FieldKind::F32:
    if (std::optional<uint32_t> bits = layout::narrowBits(word))
      return appendReal(out, std::bit_cast<float>(*bits), 0x7FC00000u);
    [[fallthrough]]; // no float has the value: the double says what it is
  case isa::FieldKind::F64:
    return appendReal(out, isa::realOf(word), uint64_t{0x7FF8} << 48);
  case isa::FieldKind::Register:
    out += 'r';
    break;
  case isa::FieldKind::I32:
  case isa::FieldKind::U32:
    break;
  }
  appendInt(out, word);
}

/// Pairs of step and num, as in accesses. Trailing [0, 1] pairs say nothing
/// and are left out, but one pair always stays.
void appendPairs(std::string &out, const int64_t *words, unsigned count) {
  while (count > 2 && words[count - 2] == 0 && words[count - 1] == 1)
    count -= 2;
  for (unsigned i = 0; i < count; i += 2) {
    if (i)
      out += ' ';
    appendInt(out, words[i]);
    out += 'x';
    appendInt(out, words[i + 1]);
  }
}

/// The rows of the access: none for a single run of HBM elements.
void appendRows(std::string &out, const isa::Access &access, std::optional<isa::Memory> memory) {
  const bool isOneRun =
      access.partitionStart == 0 && access.partitionCount == 1 && access.rowStep == 0;
  if (isOneRun && memory == isa::Memory::Hbm)
    return;
  const bool showStep = access.rowStep != 0 || memory == isa::Memory::Hbm;
  if (access.partitionStart != 0 || !showStep) {
    appendInt(out, access.partitionStart);
    out += '+';
  }
  appendInt(out, access.partitionCount);
  if (showStep) {
    out += " rows of ";
    appendInt(out, access.rowStep);
  }
  out += ", ";
}

} // namespace

void printAccess(std::string &out, const isa::Access &access, const OperandText &text) {
  out += text.name;
  out += '[';
  appendRows(out, access, text.memory);
  appendInt(out, access.offset);
  for (unsigned i = 0; i < access.rank && i < isa::kMaxFreeDims; ++i) {
    out += i ? " " : ": ";
    appendInt(out, access.step[i]);
    out += 'x';
    appendInt(out, access.num[i]);
  }
  for (unsigned l = 0; l < access.loopSteps(); ++l) {
    out += l ? " " : " loop ";
    appendInt(out, access.loopStep[l]);
  }
  if (access.isIndexed()) {
    out += " by ";
    if (access.indexing == isa::Indexing::Scalar) {
      out += 'r';
      appendInt(out, access.indexRegister);
    } else {
      out += "rows";
    }
    out += '*';
    appendInt(out, access.indexStep);
    out += " below ";
    appendInt(out, access.indexExtent);
  }
  out += ']';
  if (text.dtype && *text.dtype != access.dtype) {
    out += ':';
    out += isa::info(access.dtype).shortName;
  }
}

void printFieldValue(std::string &out, const isa::FieldDesc &field, const isa::Instruction &inst) {
  const int64_t *words = inst.fields.data() + field.word;
  if (field.words == 1)
    return appendValue(out, field, *words);
  out += '[';
  if (field.isPattern()) {
    appendPairs(out, words, field.words);
  } else {
    for (unsigned i = 0; i < field.words; ++i) {
      if (i)
        out += ' ';
      appendValue(out, field, words[i]);
    }
  }
  out += ']';
}

bool isDefaultField(const isa::FieldDesc &field, const isa::Instruction &inst) {
  if (field.required)
    return false;
  for (unsigned i = 0; i < field.words; ++i)
    if (inst.fields[field.word + i] != field.init)
      return false;
  return true;
}

void printInstruction(std::string &out, const isa::Instruction &inst,
                      std::span<const OperandText> operands, isa::Engine impliedEngine) {
  const isa::InstDesc &desc = inst.desc();
  out += desc.mnemonic;
  for (size_t i = 0; i < desc.operands.size(); ++i) {
    if (!inst.operands[i].present())
      continue;
    (out += ' ') += desc.operands[i].name;
    out += '=';
    printAccess(out, inst.operands[i], operands[i]);
  }
  for (const isa::FieldDesc &field : desc.fields) {
    if (isDefaultField(field, inst))
      continue;
    (out += ' ') += field.name;
    out += '=';
    printFieldValue(out, field, inst);
  }
  if (inst.engine != impliedEngine)
    (out += " engine=") += isa::name(inst.engine);
}

std::string printInstruction(const isa::Instruction &inst,
                             std::span<const std::string> tensorNames) {
  std::array<OperandText, isa::kMaxOperands> operands;
  for (unsigned i = 0; i < isa::kMaxOperands; ++i) {
    const uint32_t tensor = inst.operands[i].tensor;
    operands[i].name = tensor < tensorNames.size() ? std::string_view(tensorNames[tensor]) : "?";
  }
  std::string out;
  printInstruction(out, inst, operands);
  return out;
}

} // namespace kilnrt
