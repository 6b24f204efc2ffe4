//===- NisaText.cpp - the text of instructions ------------------------------------------------===//
//
// One printer and one parser for every row of the table:
//
//   operand-name=%buffer[access] ... field-name=value ... engine=name
//     {attributes} : types
//
// What the table gives as a default is left out. The assembler's listing uses
// the same words (runtime/lib/Program), without types.
//
//===------------------------------------------------------------------------------------------===//

#include "InstImpl.h"

#include "kiln/Dialect/Nisa/IR/RealText.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/InterleavedRange.h"

#include <charconv>
#include <cmath>

using namespace mlir;
using namespace kiln;
using namespace kiln::nisa;

static StringRef toRef(std::string_view s) { return {s.data(), s.size()}; }
static std::string_view toView(StringRef s) { return {s.data(), s.size()}; }

//===----------------------------------------------------------------------===//
// Accesses
//===----------------------------------------------------------------------===//

void instimpl::printAccess(raw_ostream &os, const isa::Access &access,
                           ArrayRef<int64_t> perIteration, bool onChip) {
  os << '[';
  // An access of the wrong kind for its memory shows what it is: the verifier's message must be
  // understood.
  bool isOneRun = access.partitionCount == 1 && access.rowStep == 0;
  if (access.partitionStart != 0 || (onChip && access.rowStep == 0))
    os << access.partitionStart << '+' << access.partitionCount << ", ";
  else if (!isOneRun)
    os << access.partitionCount << " rows of " << access.rowStep << ", ";
  os << access.offset;
  for (unsigned i = 0; i < access.rank; ++i)
    os << (i ? " " : ": ") << access.step[i] << 'x' << access.num[i];
  if (!perIteration.empty())
    os << " loop " << llvm::interleaved(perIteration, " ");
  if (access.isIndexed()) {
    os << " by ";
    if (access.indexing == isa::Indexing::Scalar)
      os << 'r' << access.indexRegister;
    else
      os << "rows";
    os << " * " << access.indexStep << " below " << access.indexExtent;
  }
  os << ']';
}

ParseResult kiln::nisa::parseNumber(AsmParser &parser, int64_t &value) {
  SMLoc place = parser.getCurrentLocation();
  APInt wide;
  OptionalParseResult parsed = parser.parseOptionalDecimalInteger(wide);
  if (!parsed.has_value())
    return parser.emitError(place, "expected a whole number");
  if (failed(*parsed))
    return failure();
  if (wide.getSignificantBits() > 64)
    return parser.emitError(place, "the number does not fit 64 bits");
  value = wide.getSExtValue();
  return success();
}

static ParseResult checkCount(AsmParser &parser, SMLoc place, int64_t value) {
  if (value >= 0 && value <= UINT32_MAX)
    return success();
  return parser.emitError(place) << "the number " << value << " is not between 0 and "
                                 << UINT32_MAX;
}

static ParseResult parseCount(AsmParser &parser, uint32_t &value) {
  SMLoc place = parser.getCurrentLocation();
  int64_t wide;
  if (parseNumber(parser, wide) || checkCount(parser, place, wide))
    return failure();
  value = uint32_t(wide);
  return success();
}

/// "stepxnum".
static ParseResult parsePair(AsmParser &parser, int64_t &step, int64_t &num) {
  return failure(failed(parseNumber(parser, step)) || failed(parser.parseXInDimensionList()) ||
                 failed(parseNumber(parser, num)));
}

/// "r12".
ParseResult kiln::nisa::parseRegister(AsmParser &parser, int64_t &number) {
  SMLoc place = parser.getCurrentLocation();
  StringRef name;
  if (parser.parseOptionalKeyword(&name) || !name.consume_front("r") ||
      name.getAsInteger(10, number) || number >= isa::kNoRegister)
    return parser.emitError(place, "expected a register, such as r0");
  return success();
}

/// Whether the next token is the ']' that ends a list; consumes it.
static bool atEnd(AsmParser &parser) { return succeeded(parser.parseOptionalRSquare()); }

/// Rows and offset: "0+128, 64", "128 rows of 4096, 64", or the offset alone.
static ParseResult parseStart(AsmParser &parser, isa::Access &access) {
  SMLoc place = parser.getCurrentLocation();
  int64_t first;
  if (parseNumber(parser, first))
    return failure();
  if (succeeded(parser.parseOptionalPlus())) {
    if (checkCount(parser, place, first) || parseCount(parser, access.partitionCount))
      return failure();
    access.partitionStart = uint32_t(first);
  } else if (succeeded(parser.parseOptionalKeyword("rows"))) {
    if (checkCount(parser, place, first) || parser.parseKeyword("of") ||
        parseNumber(parser, access.rowStep))
      return failure();
    access.partitionCount = uint32_t(first);
  } else {
    access.offset = first;
    return success();
  }
  return failure(parser.parseComma() || parseNumber(parser, access.offset));
}

/// "r3 * 512 below 4096]" or "rows * 512 below 4096]", behind "by".
static ParseResult parseIndex(AsmParser &parser, isa::Access &access) {
  if (succeeded(parser.parseOptionalKeyword("rows"))) {
    access.indexing = isa::Indexing::Vector;
  } else {
    int64_t number;
    if (parseRegister(parser, number))
      return failure();
    access.indexing = isa::Indexing::Scalar;
    access.indexRegister = uint16_t(number);
  }
  return failure(parser.parseStar() || parseNumber(parser, access.indexStep) ||
                 parser.parseKeyword("below") || parseNumber(parser, access.indexExtent) ||
                 parser.parseRSquare());
}

ParseResult instimpl::parseAccess(AsmParser &parser, isa::Access &access,
                                  SmallVectorImpl<int64_t> &perIteration) {
  if (parser.parseLSquare() || parseStart(parser, access))
    return failure();
  bool hasDims = succeeded(parser.parseOptionalColon());
  if (atEnd(parser))
    return success();
  while (hasDims && failed(parser.parseOptionalKeyword("loop"))) {
    if (succeeded(parser.parseOptionalKeyword("by")))
      return parseIndex(parser, access);
    if (access.rank == isa::kMaxFreeDims)
      return parser.emitError(parser.getCurrentLocation())
             << "an access has at most " << isa::kMaxFreeDims << " free dims";
    if (parsePair(parser, access.step[access.rank], access.num[access.rank]))
      return failure();
    ++access.rank;
    if (atEnd(parser))
      return success();
  }
  if (!hasDims && succeeded(parser.parseOptionalKeyword("by")))
    return parseIndex(parser, access);
  if (!hasDims && parser.parseKeyword("loop"))
    return failure();
  do {
    if (parseNumber(parser, perIteration.emplace_back()))
      return failure();
    if (succeeded(parser.parseOptionalKeyword("by")))
      return parseIndex(parser, access);
  } while (!atEnd(parser));
  return success();
}

//===----------------------------------------------------------------------===//
// Field values
//===----------------------------------------------------------------------===//

void kiln::nisa::printReal(raw_ostream &os, double value, bool single) {
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
  if (std::isnan(value)) {
    os << "nan";
    if (isa::bitsOf(value) != isa::bitsOf(kNaN))
      os << "(0x" << llvm::utohexstr(uint64_t(isa::bitsOf(value))) << ')';
    return;
  }
  if (std::signbit(value))
    os << '-';
  value = std::fabs(value);
  if (std::isinf(value)) {
    os << "inf";
    return;
  }
  // Whole numbers below 2^53 are exact and read best without a point.
  if (value == std::floor(value) && value < 0x1p53) {
    os << uint64_t(value);
    return;
  }
  char buffer[32];
  bool isSingle = single && double(float(value)) == value;
  char *end = isSingle ? std::to_chars(buffer, std::end(buffer), float(value)).ptr
                       : std::to_chars(buffer, std::end(buffer), value).ptr;
  StringRef text(buffer, end - buffer);
  auto [mantissa, exponent] = text.split('e');
  os << mantissa << (mantissa.contains('.') ? "" : ".0");
  if (!exponent.empty())
    os << 'e' << exponent;
}

static ParseResult parseNaN(AsmParser &parser, double &value) {
  value = std::numeric_limits<double>::quiet_NaN();
  if (failed(parser.parseOptionalLParen()))
    return success();
  SMLoc place = parser.getCurrentLocation();
  uint64_t bits;
  if (parser.parseInteger(bits) || parser.parseRParen())
    return failure();
  value = isa::realOf(int64_t(bits));
  if (!std::isnan(value))
    return parser.emitError(place, "these are not the bits of a NaN");
  return success();
}

ParseResult kiln::nisa::parseReal(AsmParser &parser, double &value, bool single) {
  const llvm::fltSemantics &semantics =
      single ? llvm::APFloat::IEEEsingle() : llvm::APFloat::IEEEdouble();
  bool negative = succeeded(parser.parseOptionalMinus());
  SMLoc place = parser.getCurrentLocation();
  APInt whole;
  APFloat real(semantics);
  if (succeeded(parser.parseOptionalKeyword("inf"))) {
    value = std::numeric_limits<double>::infinity();
  } else if (succeeded(parser.parseOptionalKeyword("nan"))) {
    if (parseNaN(parser, value))
      return failure();
  } else if (OptionalParseResult parsed = parser.parseOptionalDecimalInteger(whole);
             parsed.has_value()) {
    if (failed(*parsed))
      return failure();
    if (whole.getActiveBits() > 53)
      return parser.emitError(place, "whole numbers end at 2^53; write a number with a point");
    value = double(whole.getZExtValue());
    if (single)
      value = double(float(value));
  } else {
    if (parser.parseFloat(semantics, real))
      return failure();
    value = real.convertToDouble();
    if (std::isinf(value))
      return parser.emitError(place) << "the number is too large for float" << (single ? 32 : 64);
  }
  if (negative)
    value = -value;
  return success();
}

/// Several words of one field are [step, num] pairs. Trailing [0, 1] pairs are
/// unused dims and stay out of the text; one pair always stays.
static void printPairs(raw_ostream &os, ArrayRef<int64_t> words) {
  while (words.size() > 2 && words.take_back(2) == ArrayRef<int64_t>{0, 1})
    words = words.drop_back(2);
  os << '[';
  for (unsigned i = 0; i + 1 < words.size(); i += 2)
    os << (i ? " " : "") << words[i] << 'x' << words[i + 1];
  os << ']';
}

static ParseResult parsePairs(AsmParser &parser, MutableArrayRef<int64_t> words) {
  for (unsigned i = 0; i + 1 < words.size(); i += 2) {
    words[i] = 0;
    words[i + 1] = 1;
  }
  if (parser.parseLSquare())
    return failure();
  for (unsigned i = 0; !atEnd(parser); i += 2) {
    if (i + 1 >= words.size())
      return parser.emitError(parser.getCurrentLocation())
             << "a pattern has at most " << words.size() / 2 << " pairs";
    if (parsePair(parser, words[i], words[i + 1]))
      return failure();
  }
  return success();
}

static void printValue(raw_ostream &os, const isa::FieldDesc &field, int64_t word) {
  switch (field.kind) {
  case isa::FieldKind::Bool:
    os << (word ? "true" : "false");
    return;
  case isa::FieldKind::Enum:
    os << toRef(isa::nameOf(field.cases, uint32_t(word)));
    return;
  case isa::FieldKind::I32:
  case isa::FieldKind::U32:
    os << word;
    return;
  case isa::FieldKind::Register:
    os << 'r' << word;
    return;
  case isa::FieldKind::F32:
  case isa::FieldKind::F64:
    printReal(os, isa::realOf(word), field.kind == isa::FieldKind::F32);
    return;
  }
}

static void printField(raw_ostream &os, const isa::FieldDesc &field, ArrayRef<int64_t> words) {
  if (field.words == 1)
    return printValue(os, field, words[0]);
  if (field.isPattern())
    return printPairs(os, words);
  os << '[';
  for (auto [i, word] : llvm::enumerate(words)) {
    os << (i ? " " : "");
    printValue(os, field, word);
  }
  os << ']';
}

static ParseResult parseEnum(AsmParser &parser, StringRef field, isa::EnumCases cases,
                             int64_t &value) {
  SMLoc place = parser.getCurrentLocation();
  StringRef name;
  if (parser.parseKeyword(&name))
    return failure();
  auto found = isa::valueOf(cases, toView(name));
  if (!found)
    return parser.emitError(place) << "'" << field << "' has no value '" << name << "'";
  value = *found;
  return success();
}

static ParseResult parseBool(AsmParser &parser, int64_t &value) {
  SMLoc place = parser.getCurrentLocation();
  StringRef name;
  if (parser.parseOptionalKeyword(&name) || (name != "true" && name != "false"))
    return parser.emitError(place, "expected true or false");
  value = name == "true";
  return success();
}

static ParseResult parseValue(AsmParser &parser, const isa::FieldDesc &field, int64_t &word) {
  SMLoc place = parser.getCurrentLocation();
  switch (field.kind) {
  case isa::FieldKind::Bool:
    return parseBool(parser, word);
  case isa::FieldKind::Enum:
    return parseEnum(parser, toRef(field.name), field.cases, word);
  case isa::FieldKind::I32:
    if (parseNumber(parser, word))
      return failure();
    if (!llvm::isInt<32>(word))
      return parser.emitError(place) << "the number " << word << " does not fit 32 bits";
    return success();
  case isa::FieldKind::U32: {
    uint32_t value;
    if (parseCount(parser, value))
      return failure();
    word = value;
    return success();
  }
  case isa::FieldKind::Register:
    return parseRegister(parser, word);
  case isa::FieldKind::F32:
  case isa::FieldKind::F64: {
    double value;
    if (parseReal(parser, value, field.kind == isa::FieldKind::F32))
      return failure();
    word = isa::bitsOf(value);
    return success();
  }
  }
  llvm_unreachable("a field kind without a parser");
}

static ParseResult parseField(AsmParser &parser, const isa::FieldDesc &field,
                              MutableArrayRef<int64_t> words) {
  if (field.words == 1)
    return parseValue(parser, field, words[0]);
  if (field.isPattern())
    return parsePairs(parser, words);
  if (parser.parseLSquare())
    return failure();
  for (int64_t &word : words)
    if (parseValue(parser, field, word))
      return failure();
  return parser.parseRSquare();
}

//===----------------------------------------------------------------------===//
// Instructions
//===----------------------------------------------------------------------===//

static ArrayRef<int64_t> wordsOf(const isa::Instruction &inst, const isa::FieldDesc &field) {
  return ArrayRef<int64_t>(inst.fields).slice(field.word, field.words);
}

void instimpl::printInst(InstOpInterface op, OpAsmPrinter &printer) {
  const isa::InstDesc &desc = descOf(op);
  isa::Instruction inst = toInstruction(op);
  auto buffers = buffersOf(op);
  auto accesses = accessesOf(op);

  for (auto [i, operand] : llvm::enumerate(desc.operands)) {
    if (!accesses[i] || !buffers[i])
      continue;
    auto type = cast<BufType>(buffers[i].getType());
    const isa::Access &access = accesses[i].getAccess();
    printer << ' ' << toRef(operand.name) << '=' << buffers[i];
    printAccess(printer.getStream(), access, accesses[i].getPerIteration(), type.isOnChip());
    if (access.dtype != type.getDtype())
      printer << ':' << toRef(isa::info(access.dtype).shortName);
  }
  for (const isa::FieldDesc &field : desc.fields) {
    ArrayRef<int64_t> words = wordsOf(inst, field);
    if (!field.required && llvm::all_equal(words) && words[0] == field.init)
      continue;
    printer << ' ' << toRef(field.name) << '=';
    printField(printer.getStream(), field, words);
  }
  if (inst.engine != isa::Engine::Unknown)
    printer << " engine=" << toRef(isa::name(inst.engine));

  printer.printOptionalAttrDict(llvm::to_vector(op->getDiscardableAttrs()));
  if (op->getNumOperands())
    printer << " : " << op->getOperandTypes();
}

namespace {
/// The state of one parse; each part of the text is a method.
class InstParser {
public:
  InstParser(OpAsmParser &parser, const isa::InstDesc &desc)
      : parser(parser), desc(desc), inst(isa::makeInstruction(desc.opcode)) {}

  ParseResult parse(OperationState &state, instimpl::InstAttrs &attrs);

private:
  struct Operand {
    bool given = false, namesDtype = false;
    OpAsmParser::UnresolvedOperand buffer;
    SmallVector<int64_t> perIteration;
  };

  ParseResult parseItem(StringRef name, SMLoc place);
  ParseResult parseOperand(unsigned index);
  ParseResult parseTypes(OperationState &state);
  ParseResult checkComplete(SMLoc place);
  InFlightDiagnostic twice(SMLoc place, StringRef name) {
    return parser.emitError(place) << "'" << name << "' is given twice";
  }

  OpAsmParser &parser;
  const isa::InstDesc &desc;
  isa::Instruction inst;
  std::array<Operand, isa::kMaxOperands> operands;
  llvm::SmallDenseSet<StringRef> fieldsGiven;
  bool engineGiven = false, typesColonSeen = false;
};
} // namespace

ParseResult InstParser::parseOperand(unsigned index) {
  Operand &operand = operands[index];
  isa::Access &access = inst.operands[index];
  operand.given = true;
  access.tensor = index;
  if (parser.parseOperand(operand.buffer) ||
      instimpl::parseAccess(parser, access, operand.perIteration))
    return failure();
  if (failed(parser.parseOptionalColon()))
    return success();
  // A colon is followed by the access's element type, or by the types of all
  // operands when nothing else stands between.
  SMLoc place = parser.getCurrentLocation();
  StringRef dtype;
  if (failed(parser.parseOptionalKeyword(&dtype))) {
    typesColonSeen = true;
    return success();
  }
  auto value = isa::parseDType(toView(dtype));
  if (!value)
    return parser.emitError(place) << "no element type is called '" << dtype << "'";
  access.dtype = *value;
  operand.namesDtype = true;
  return success();
}

ParseResult InstParser::parseItem(StringRef name, SMLoc place) {
  if (name == "engine") {
    if (std::exchange(engineGiven, true))
      return twice(place, name);
    int64_t value = 0;
    if (parseEnum(parser, name, isa::engineCases(), value))
      return failure();
    inst.engine = isa::Engine(value);
    return success();
  }
  if (int index = desc.operandIndex(toView(name)); index >= 0) {
    if (operands[index].given)
      return twice(place, name);
    return parseOperand(unsigned(index));
  }
  if (const isa::FieldDesc *field = desc.field(toView(name))) {
    if (!fieldsGiven.insert(toRef(field->name)).second)
      return twice(place, name);
    return parseField(parser, *field,
                      MutableArrayRef<int64_t>(inst.fields).slice(field->word, field->words));
  }
  return parser.emitError(place) << "'" << toRef(desc.mnemonic) << "' has no operand or field '"
                                 << name << "'";
}

/// "name=" stands at `place`. Behind an instruction without buffers no colon says that its items
/// are over, and the next op begins with a keyword too.
static bool isItem(SMLoc place) {
  const char *at = place.getPointer(); // the buffer ends with a 0
  while (llvm::isAlnum(*at) || *at == '_')
    ++at;
  while (*at == ' ')
    ++at;
  return *at == '=';
}

ParseResult InstParser::checkComplete(SMLoc place) {
  for (auto [i, operand] : llvm::enumerate(desc.operands))
    if (!operand.isOptional && !operands[i].given)
      return parser.emitError(place)
             << "'" << toRef(desc.mnemonic) << "' needs operand '" << toRef(operand.name) << "'";
  for (const isa::FieldDesc &field : desc.fields)
    if (field.required && !fieldsGiven.contains(toRef(field.name)))
      return parser.emitError(place)
             << "'" << toRef(desc.mnemonic) << "' needs field '" << toRef(field.name) << "'";
  return success();
}

ParseResult InstParser::parseTypes(OperationState &state) {
  if (!typesColonSeen && parser.parseColon())
    return failure();
  bool first = true;
  for (auto [i, operand] : llvm::enumerate(operands)) {
    if (!operand.given)
      continue;
    if (!std::exchange(first, false) && parser.parseComma())
      return failure();
    BufType type;
    if (parser.parseType(type) || parser.resolveOperand(operand.buffer, type, state.operands))
      return failure();
    if (!operand.namesDtype)
      inst.operands[i].dtype = type.getDtype();
  }
  return success();
}

ParseResult InstParser::parse(OperationState &state, instimpl::InstAttrs &attrs) {
  SMLoc start = parser.getCurrentLocation();
  while (!typesColonSeen) {
    SMLoc place = parser.getCurrentLocation();
    StringRef name;
    if (desc.operands.empty() && !isItem(place))
      break;
    if (failed(parser.parseOptionalKeyword(&name)))
      break;
    if (parser.parseEqual() || parseItem(name, place))
      return failure();
  }
  if (checkComplete(start))
    return failure();
  if (!typesColonSeen && parser.parseOptionalAttrDict(state.attributes))
    return failure();
  if (llvm::any_of(operands, [](const Operand &o) { return o.given; }) && parseTypes(state))
    return failure();

  // Accesses come last and checked: text may hold what no attribute can.
  isa::Instruction withoutAccesses = inst;
  withoutAccesses.operands.fill({});
  attrs = instimpl::attrsOf(parser.getContext(), desc, withoutAccesses, /*loops=*/0);
  for (auto [i, operand] : llvm::enumerate(operands)) {
    if (!operand.given)
      continue;
    attrs[i] = AccessAttr::getChecked([&] { return parser.emitError(start); }, parser.getContext(),
                                      inst.operands[i], ArrayRef<int64_t>(operand.perIteration));
    if (!attrs[i])
      return failure();
  }
  return success();
}

ParseResult instimpl::parseInst(OpAsmParser &parser, OperationState &state,
                                const isa::InstDesc &desc, InstAttrs &attrs) {
  return InstParser(parser, desc).parse(state, attrs);
}
