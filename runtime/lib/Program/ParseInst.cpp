//===- ParseInst.cpp - one instruction from text ----------------------------------------------===//
//
// The inverse of Print.cpp, driven by the same descriptors.
//
//===------------------------------------------------------------------------------------------===//

#include "Cursor.h"
#include "Layout.h"
#include "kilnrt/Asm.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <limits>

namespace kilnrt {
namespace {

//---- accesses -----------------------------------------------------------===//

Status parsePair(Cursor &cursor, int64_t &step, int64_t &num, std::string_view first) {
  if (Status status = cursor.readInt(step, first); !status)
    return status;
  if (!cursor.acceptAdjacent('x'))
    return cursor.expected("'x' between the step and the count of a dim");
  return cursor.readInt(num, "a count after 'x'");
}

/// The number before a comma: rows if '+' or "rows" follows, else the offset.
Status parseRows(Cursor &cursor, isa::Access &access) {
  int64_t first = 0;
  if (Status status = cursor.readInt(first, "an offset or rows"); !status)
    return status;
  const bool hasStart = cursor.acceptAdjacent('+');
  if (!hasStart && cursor.peekWord() != "rows") {
    access.offset = first;
    return Status::ok();
  }
  if (first < 0 || first > int64_t{UINT32_MAX})
    return makeError(Fault::User, fmt::format("{} {} is out of range, 0 to {} "
                                              "fit",
                                              hasStart ? "start" : "row count", first, UINT32_MAX));
  if (hasStart) {
    access.partitionStart = uint32_t(first);
    if (Status status = cursor.readInt(access.partitionCount, "a count after '+'"); !status)
      return status;
  } else {
    access.partitionCount = uint32_t(first);
  }
  if (cursor.acceptWord("rows")) {
    if (!cursor.acceptWord("of"))
      return cursor.expected("'of' after 'rows'");
    if (Status status = cursor.readInt(access.rowStep, "a row step"); !status)
      return status;
  }
  if (Status status = cursor.expect(',', "between rows and offset"); !status)
    return status;
  return cursor.readInt(access.offset, "an offset");
}

/// "loop 65536 512": steps of the loops around the access, outermost first.
Status parseLoopSteps(Cursor &cursor, isa::Access &access) {
  unsigned count = 0;
  do {
    if (count == isa::kMaxLoopDepth)
      return makeError(Fault::User,
                       fmt::format("more than {} loop steps in one access", isa::kMaxLoopDepth));
    if (Status status = cursor.readInt(access.loopStep[count++], "a loop step"); !status)
      return status;
  } while (!cursor.atEnd() && cursor.remaining()[0] != ']' && cursor.peekWord() != "by");
  return Status::ok();
}

/// "r12"; false when something else stands there.
bool readRegister(Cursor &cursor, uint16_t &number) {
  const std::string_view name = cursor.peekWord();
  const char *end = name.data() + name.size();
  if (name.size() < 2 || name[0] != 'r' ||
      std::from_chars(name.data() + 1, end, number).ptr != end || number == isa::kNoRegister)
    return false;
  cursor.acceptWord(name);
  return true;
}

/// "r3*512 below 4096" or "rows*512 below 4096".
Status parseIndex(Cursor &cursor, isa::Access &access) {
  if (cursor.acceptWord("rows"))
    access.indexing = isa::Indexing::Vector;
  else if (readRegister(cursor, access.indexRegister))
    access.indexing = isa::Indexing::Scalar;
  else
    return cursor.expected("a register such as r0, or 'rows', after 'by'");
  if (Status status = cursor.expect('*', "after the index"); !status)
    return status;
  if (Status status = cursor.readInt(access.indexStep, "the step of an index"); !status)
    return status;
  if (!cursor.acceptWord("below"))
    return cursor.expected("'below' and the extent of the indexed dim");
  return cursor.readInt(access.indexExtent, "the extent of the indexed dim");
}

Status parseAccessInto(Cursor &cursor, isa::Access &access) {
  if (Status status = cursor.expect('[', "before an access"); !status)
    return status;
  if (Status status = parseRows(cursor, access); !status)
    return status;
  if (cursor.accept(':')) {
    do {
      if (access.rank == isa::kMaxFreeDims)
        return makeError(Fault::User,
                         fmt::format("more than {} free dims in one access", isa::kMaxFreeDims));
      if (Status status = parsePair(cursor, access.step[access.rank], access.num[access.rank],
                                    "a free dim such as 1x512");
          !status)
        return status;
      ++access.rank;
    } while (!cursor.atEnd() && cursor.remaining()[0] != ']' && cursor.peekWord() != "loop" &&
             cursor.peekWord() != "by");
  }
  if (cursor.acceptWord("loop"))
    if (Status status = parseLoopSteps(cursor, access); !status)
      return status;
  if (cursor.acceptWord("by"))
    if (Status status = parseIndex(cursor, access); !status)
      return status;
  if (!cursor.accept(']'))
    return cursor.expected("':' and free dims, or ']'");
  if (cursor.acceptAdjacent(':'))
    return cursor.readDType(access.dtype);
  return Status::ok();
}

//---- values -------------------------------------------------------------===//

/// A float or double in decimal, "inf", "nan", or "nan:0x<bits>".
template <typename Float, typename Bits>
Status parseReal(std::string_view token, std::string_view field, Bits &bits) {
  const char *end = token.data() + token.size();
  auto fault = [&](std::string_view what) {
    return makeError(Fault::User,
                     fmt::format("field '{}': {} {}", field, text::quoted(token), what));
  };
  constexpr std::string_view kNaNBits = "nan:0x";
  if (token.starts_with(kNaNBits)) {
    auto result = std::from_chars(token.data() + kNaNBits.size(), end, bits, 16);
    if (result.ec != std::errc{} || result.ptr != end || !std::isnan(std::bit_cast<Float>(bits)))
      return fault("is not the bits of a NaN");
    return Status::ok();
  }
  Float value = 0;
  auto result = std::from_chars(token.data(), end, value);
  if (result.ec == std::errc::result_out_of_range)
    return fault(fmt::format("is out of range, float{} holds {} to {}", 8 * sizeof(Float),
                             std::numeric_limits<Float>::denorm_min(),
                             std::numeric_limits<Float>::max()));
  if (result.ec != std::errc{} || result.ptr != end)
    return fault("is not a number");
  bits = std::bit_cast<Bits>(value);
  return Status::ok();
}

Status parseValue(Cursor &cursor, const isa::FieldDesc &field, int64_t &word) {
  auto what = [&](std::string_view kind) {
    return fmt::format("{} for field '{}'", kind, field.name);
  };
  switch (field.kind) {
  case isa::FieldKind::Bool:
    word = cursor.peekWord() == "true";
    if (cursor.acceptWord("true") || cursor.acceptWord("false"))
      return Status::ok();
    return cursor.expected(what("true or false"));
  case isa::FieldKind::Enum: {
    uint32_t value = 0;
    Status status =
        cursor.readEnum(value, field.cases, "value", fmt::format(" of field '{}'", field.name));
    word = value;
    return status;
  }
  case isa::FieldKind::I32: {
    int32_t value = 0;
    Status status = cursor.readInt(value, what("an integer"));
    word = value;
    return status;
  }
  case isa::FieldKind::U32: {
    uint32_t value = 0;
    Status status = cursor.readInt(value, what("an integer from 0 up"));
    word = value;
    return status;
  }
  case isa::FieldKind::Register: {
    uint16_t number = 0;
    if (!readRegister(cursor, number))
      return cursor.expected(what("a register such as r0"));
    word = number;
    return Status::ok();
  }
  case isa::FieldKind::F32:
  case isa::FieldKind::F64:
    break;
  }
  std::string_view token = cursor.run("]");
  if (token.empty())
    return cursor.expected(what("a number"));
  if (field.kind == isa::FieldKind::F32) {
    uint32_t bits = 0;
    Status status = parseReal<float>(token, field.name, bits);
    word = layout::widenBits(bits);
    return status;
  }
  uint64_t bits = 0;
  Status status = parseReal<double>(token, field.name, bits);
  word = std::bit_cast<int64_t>(bits);
  return status;
}

Status parsePairs(Cursor &cursor, const isa::FieldDesc &field, int64_t *words) {
  unsigned count = 0;
  while (!cursor.accept(']')) {
    if (count == field.words)
      return makeError(Fault::User, fmt::format("field '{}' holds at most {} pairs", field.name,
                                                field.words / 2));
    if (Status status =
            parsePair(cursor, words[count], words[count + 1], "a pair such as 1x512, or ']'");
        !status)
      return status;
    for (unsigned i : {count, count + 1})
      if (words[i] != int32_t(words[i]))
        return makeError(Fault::User, fmt::format("field '{}' holds {}, which does not fit "
                                                  "32 bits",
                                                  field.name, words[i]));
    count += 2;
  }
  if (count == 0)
    return makeError(Fault::User, fmt::format("field '{}' needs a pair such as 1x512", field.name));
  for (; count < field.words; count += 2) {
    words[count] = 0;
    words[count + 1] = 1;
  }
  return Status::ok();
}

//---- instructions -------------------------------------------------------===//

/// Reads "key=value" items into `inst` while they last.
class InstParser {
public:
  InstParser(Cursor &cursor, const OperandResolver &resolve) : cursor(cursor), resolve(resolve) {}

  Status parse(isa::Instruction &result, isa::Engine impliedEngine) {
    std::string_view mnemonic = cursor.peekWord();
    if (mnemonic.empty())
      return cursor.expected("an instruction");
    desc = isa::findInstruction(mnemonic);
    if (!desc)
      return Cursor::unknown("instruction", mnemonic, mnemonics());
    cursor.word();
    inst = isa::makeInstruction(desc->opcode);
    inst.engine = impliedEngine;
    while (true) {
      Cursor ahead = cursor;
      std::string_view key = ahead.word();
      if (key.empty() || !ahead.accept('='))
        break;
      cursor = ahead;
      if (Status status = parseItem(key); !status)
        return status;
    }
    if (Status status = checkRequired(); !status)
      return status;
    result = inst;
    return Status::ok();
  }

private:
  static std::vector<std::string_view> mnemonics() {
    std::vector<std::string_view> names;
    for (const isa::InstDesc &row : isa::instructions())
      names.push_back(row.mnemonic);
    return names;
  }

  Status parseItem(std::string_view key) {
    if (hasSeen(key))
      return makeError(Fault::User, fmt::format("'{}': '{}' is given twice", desc->mnemonic, key));
    if (int operand = desc->operandIndex(key); operand >= 0)
      return parseOperand(unsigned(operand));
    if (const isa::FieldDesc *field = desc->field(key))
      return parseFieldInto(*field);
    if (key == "engine")
      return parseEngine();
    std::vector<std::string_view> names;
    for (const isa::OperandDesc &operand : desc->operands)
      names.push_back(operand.name);
    for (const isa::FieldDesc &field : desc->fields)
      names.push_back(field.name);
    names.push_back("engine");
    Diagnostic error = Cursor::unknown("operand or field", key, names);
    error.message += fmt::format(" of '{}'", desc->mnemonic);
    return error;
  }

  bool hasSeen(std::string_view key) {
    for (std::string_view other : seen)
      if (other == key)
        return true;
    seen.push_back(key);
    return false;
  }

  /// A spelling holds no blank and no bracket outside quotes.
  Status parseOperand(unsigned operand) {
    cursor.skipBlanks();
    const std::string_view start = cursor.remaining();
    cursor.rawString();
    cursor.run("[");
    std::string_view spelling = start.substr(0, start.size() - cursor.remaining().size());
    if (spelling.empty())
      return cursor.expected(
          fmt::format("a tensor for operand '{}'", desc->operands[operand].name));
    Expected<OperandTensor> tensor = resolve(spelling, operand);
    if (!tensor)
      return tensor.error();
    isa::Access access;
    access.tensor = tensor->tensor;
    access.dtype = tensor->dtype;
    if (Status status = parseAccessInto(cursor, access); !status)
      return status;
    inst.operands[operand] = access;
    return Status::ok();
  }

  Status parseFieldInto(const isa::FieldDesc &field) {
    std::string_view rest = cursor.remaining();
    Status status = parseFieldValue(rest, field, inst);
    cursor = Cursor(rest);
    return status;
  }

  Status parseEngine() {
    uint32_t engine = 0;
    Status status = cursor.readEnum(engine, isa::engineCases(), "engine");
    inst.engine = isa::Engine(engine);
    return status;
  }

  Status checkRequired() {
    for (const isa::FieldDesc &field : desc->fields)
      if (field.required && std::find(seen.begin(), seen.end(), field.name) == seen.end())
        return makeError(Fault::User,
                         fmt::format("'{}' lacks the field '{}'", desc->mnemonic, field.name),
                         fmt::format("add {}=..., {}", field.name, field.doc));
    return Status::ok();
  }

  Cursor &cursor;
  const OperandResolver &resolve;
  const isa::InstDesc *desc = nullptr;
  isa::Instruction inst;
  std::vector<std::string_view> seen;
};

} // namespace

Expected<isa::Access> parseAccess(std::string_view &text, const OperandTensor &tensor) {
  Cursor cursor(text);
  isa::Access access;
  access.tensor = tensor.tensor;
  access.dtype = tensor.dtype;
  if (Status status = parseAccessInto(cursor, access); !status)
    return status.error();
  text = cursor.remaining();
  return access;
}

Status parseFieldValue(std::string_view &text, const isa::FieldDesc &field,
                       isa::Instruction &inst) {
  Cursor cursor(text);
  int64_t *words = inst.fields.data() + field.word;
  Status status;
  if (field.words == 1) {
    status = parseValue(cursor, field, *words);
  } else {
    status = cursor.expect('[', fmt::format("before the values of field '{}'", field.name));
    if (status && field.isPattern()) {
      status = parsePairs(cursor, field, words);
    } else {
      for (unsigned i = 0; status && i < field.words; ++i)
        status = parseValue(cursor, field, words[i]);
      if (status)
        status = cursor.expect(']', fmt::format("after the values of field '{}'", field.name));
    }
  }
  if (status)
    text = cursor.remaining();
  return status;
}

Expected<isa::Instruction> parseInstruction(std::string_view &text, const OperandResolver &resolve,
                                            isa::Engine impliedEngine) {
  Cursor cursor(text);
  isa::Instruction inst;
  InstParser parser(cursor, resolve);
  if (Status status = parser.parse(inst, impliedEngine); !status)
    return status.error();
  text = cursor.remaining();
  return inst;
}

} // namespace kilnrt
