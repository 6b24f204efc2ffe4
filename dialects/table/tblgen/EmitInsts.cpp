//===- EmitInsts.cpp - descriptors, argument structs and rule lists of the rows ---------------===//

#include "Emit.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

#include <set>

using namespace llvm;

namespace kiln::tblgen {
namespace {

std::string bits(const Record *operand, StringRef list) {
  uint64_t mask = 0;
  for (const Record *c : operand->getValueAsListOfDefs(list))
    mask |= uint64_t(1) << c->getValueAsInt("value");
  return utostr(mask) + "u";
}

std::string enumCpp(const Record *field) {
  return field->getValueAsDef("enumType")->getValueAsString("cppName").str();
}

/// The default as an expression of the representation in Instruction::fields.
std::string initExpr(const Record *field) {
  StringRef kind = field->getValueAsString("kind"), init = field->getValueAsString("init");
  if (init.empty())
    return "0";
  if (kind == "bool")
    return init == "true" ? "1" : "0";
  if (kind == "enum")
    return itostr(findCase(field->getValueAsDef("enumType"), init)->getValueAsInt("value"));
  if (kind == "f32" || kind == "f64")
    return "__builtin_bit_cast(int64_t, double(" + init.str() + "))";
  return init.str();
}

std::string kindExpr(StringRef kind) {
  return StringSwitch<std::string>(kind)
      .Case("bool", "FieldKind::Bool")
      .Case("enum", "FieldKind::Enum")
      .Case("i32", "FieldKind::I32")
      .Case("u32", "FieldKind::U32")
      .Case("f32", "FieldKind::F32")
      .Case("reg", "FieldKind::Register")
      .Default("FieldKind::F64");
}

std::string flag(const Record *r, StringRef name) {
  return r->getValueAsBit(name) ? "true" : "false";
}

/// The field a scalar operand falls back on, or -1.
int64_t immediateIndex(const Record *inst, const Record *operand) {
  StringRef immediate = operand->getValueAsString("immediate");
  if (immediate.empty())
    return -1;
  int64_t index = 0;
  for (const Record *f : inst->getValueAsListOfDefs("fields")) {
    if (f->getValueAsString("name") == immediate)
      return index;
    ++index;
  }
  return -1;
}

/// The field belongs to a scalar operand.
bool isImmediate(const Record *inst, const Record *field) {
  for (const Record *op : inst->getValueAsListOfDefs("operands"))
    if (op->getValueAsString("immediate") == field->getValueAsString("name"))
      return true;
  return false;
}

void emitOperandDescs(raw_ostream &os, const Record *inst) {
  StringRef cpp = inst->getValueAsString("cppName");
  auto operands = inst->getValueAsListOfDefs("operands");
  if (operands.empty())
    return;
  os << "static constexpr OperandDesc k" << cpp << "Operands[] = {\n";
  for (const Record *op : operands)
    os << "    {" << quoted(op->getValueAsString("name")) << ", " << flag(op, "isOutput") << ", "
       << flag(op, "isOptional") << ", " << flag(op, "isColumn") << ", " << flag(op, "keepsOld")
       << ", " << bits(op, "memories") << ", " << bits(op, "dtypes") << ", "
       << op->getValueAsInt("minElements") << ", " << op->getValueAsInt("maxElements") << ", "
       << op->getValueAsInt("maxDims") << ", " << immediateIndex(inst, op) << ", "
       << quoted(op->getValueAsString("doc")) << "},\n";
  os << "};\n";
}

/// The cases a field takes, as bits.
std::string allowedBits(const Record *field) {
  uint64_t mask = 0;
  for (const Record *c : field->getValueAsListOfDefs("allowed"))
    mask |= uint64_t(1) << c->getValueAsInt("value");
  return mask == 0 ? "~uint64_t(0)" : utostr(mask) + "u";
}

void emitFieldDescs(raw_ostream &os, const Record *inst) {
  auto fields = inst->getValueAsListOfDefs("fields");
  if (fields.empty())
    return;
  os << "static constexpr FieldDesc k" << inst->getValueAsString("cppName") << "Fields[] = {\n";
  int64_t word = 0;
  for (const Record *f : fields) {
    StringRef kind = f->getValueAsString("kind");
    os << "    {" << quoted(f->getValueAsString("name")) << ", " << kindExpr(kind) << ", " << word
       << ", " << f->getValueAsInt("words") << ", "
       << (f->getValueAsString("init").empty() ? "true" : "false") << ", " << initExpr(f) << ", "
       << (kind == "enum" ? "EnumCases(k" + enumCpp(f) + "Cases)" : std::string("EnumCases()"))
       << ", " << allowedBits(f) << ", " << quoted(f->getValueAsString("allowedRule")) << ", "
       << quoted(f->getValueAsString("doc")) << "},\n";
    word += f->getValueAsInt("words");
  }
  os << "};\n";
}

void emitRuleAndCostDescs(raw_ostream &os, const Record *inst) {
  StringRef cpp = inst->getValueAsString("cppName");
  os << "static constexpr Engine k" << cpp << "Engines[] = {";
  interleaveComma(inst->getValueAsListOfDefs("engines"), os,
                  [&](const Record *e) { os << "Engine::" << enumerator(e); });
  os << "};\n";
  if (auto rules = inst->getValueAsListOfDefs("rules"); !rules.empty()) {
    os << "static constexpr RuleDesc k" << cpp << "Rules[] = {\n";
    for (const Record *r : rules)
      os << "    {" << quoted(r->getValueAsString("id")) << ", "
         << quoted(r->getValueAsString("text")) << "},\n";
    os << "};\n";
  }
  os << "static constexpr CostDesc k" << cpp << "Costs[] = {\n";
  for (const Record *c : inst->getValueAsListOfDefs("costs"))
    os << "    {Engine::" << camelCase(c->getValueAsString("engine")) << ", "
       << c->getValueAsInt("perElementNum") << ", " << c->getValueAsInt("perElementDen") << ", "
       << c->getValueAsInt("issueCycles") << ", " << c->getValueAsInt("latencyCycles") << ", "
       << c->getValueAsInt("floorCycles") << ", " << quoted(c->getValueAsString("source")) << ", "
       << quoted(c->getValueAsString("confidence")) << "},\n";
  os << "};\n";
}

std::string spanOf(const Record *inst, StringRef list, StringRef suffix) {
  if (inst->getValueAsListOfDefs(list).empty())
    return "{}";
  return ("k" + inst->getValueAsString("cppName") + suffix).str();
}

/// What the row does to the accumulators, as an AccumulatorDesc.
std::string accumulatorExpr(const Record *inst, const RecordKeeper &records) {
  StringRef command = inst->getValueAsString("accumulators");
  if (command.empty())
    return "{false, -1, ReduceCmd::Idle, false}";
  int64_t index = 0, field = -1;
  for (const Record *f : inst->getValueAsListOfDefs("fields")) {
    if (f->getValueAsString("name") == command)
      field = index;
    ++index;
  }
  const Record *fixed = field < 0 ? findCase(records.getDef("ReduceCmdEnum"), command) : nullptr;
  return "{true, " + itostr(field) + ", ReduceCmd::" + (fixed ? enumerator(fixed) : "Idle") + ", " +
         flag(inst, "idleLosesAccumulators") + "}";
}

std::string memberType(const Record *field) {
  return StringSwitch<std::string>(field->getValueAsString("kind"))
      .Case("bool", "bool")
      .Case("enum", "")
      .Case("i32", "int32_t")
      .Case("u32", "uint32_t")
      .Case("f32", "float")
      .Case("reg", "uint16_t")
      .Default("double");
}

void emitArgsStruct(raw_ostream &os, const Record *inst) {
  StringRef cpp = inst->getValueAsString("cppName");
  os << "/// Fields of " << inst->getValueAsString("mnemonic")
     << ", and the places of its operands.\nstruct " << cpp
     << "Args {\n  static constexpr Opcode opcode = Opcode::" << cpp << ";\n";
  unsigned index = 0;
  for (const Record *op : inst->getValueAsListOfDefs("operands"))
    os << "  static constexpr unsigned " << camelBack(op->getValueAsString("name")) << " = "
       << index++ << "; ///< " << op->getValueAsString("doc") << "\n";
  std::string assigns;
  int64_t word = 0;
  for (const Record *f : inst->getValueAsListOfDefs("fields")) {
    StringRef kind = f->getValueAsString("kind");
    std::string type = kind == "enum" ? enumCpp(f) : memberType(f),
                name = camelBack(f->getValueAsString("name"));
    int64_t words = f->getValueAsInt("words");
    auto value = [&](const Twine &w) -> std::string {
      std::string raw = ("inst.fields[" + w + "]").str();
      return kind == "f32" || kind == "f64" ? type + "(realOf(" + raw + "))"
                                            : type + "(" + raw + ")";
    };
    if (words == 1) {
      os << "  " << type << " " << name << "; ///< " << f->getValueAsString("doc") << "\n";
      assigns += "    " + name + " = " + value(Twine(word)) + ";\n";
    } else {
      os << "  std::array<" << type << ", " << words << "> " << name << "; ///< "
         << f->getValueAsString("doc") << "\n";
      for (int64_t w = 0; w < words; ++w)
        assigns += "    " + name + "[" + itostr(w) + "] = " + value(Twine(word + w)) + ";\n";
    }
    word += words;
  }
  os << "  explicit " << cpp << "Args([[maybe_unused]] const Instruction &inst) {\n"
     << assigns << "  }\n};\n\n";
}

/// The function of runtime/lib/Semantics that a row's handler calls.
std::string tileFunction(const Record *inst) {
  return camelBack(inst->getValueAsString("cppName"));
}

/// How a tile function takes an operand.
std::string parameterType(const Record *operand, bool isOutput) {
  if (!operand->getValueAsString("immediate").empty())
    return "const Scalar &";
  return std::string(isOutput ? "const Tile " : "const ConstTile ") +
         (operand->getValueAsBit("isOptional") ? "*" : "&");
}

/// How a tile function takes a field.
std::string parameterType(const Record *field) {
  bool isEnum = field->getValueAsString("kind") == "enum";
  std::string type = isEnum ? "kiln::isa::" + enumCpp(field) : memberType(field);
  if (int64_t words = field->getValueAsInt("words"); words > 1)
    return "const std::array<" + type + ", " + itostr(words) + "> &";
  return type;
}

} // namespace

void emitInstList(raw_ostream &os, const RecordKeeper &records) {
  for (const Record *inst : instructions(records))
    os << "KILN_INST(" << inst->getValueAsString("cppName") << ", "
       << inst->getValueAsString("mnemonic") << ", " << inst->getValueAsInt("opcode") << ")\n";
}

void emitInstDescs(raw_ostream &os, const RecordKeeper &records) {
  for (const Record *inst : instructions(records)) {
    emitOperandDescs(os, inst);
    emitFieldDescs(os, inst);
    emitRuleAndCostDescs(os, inst);
    os << "\n";
  }
  os << "static constexpr InstDesc kInstructions[] = {\n";
  for (const Record *inst : instructions(records))
    os << "    {Opcode::" << inst->getValueAsString("cppName") << ", "
       << quoted(inst->getValueAsString("mnemonic")) << ", "
       << quoted(inst->getValueAsString("summary")) << ", " << spanOf(inst, "engines", "Engines")
       << ", " << spanOf(inst, "operands", "Operands") << ", " << spanOf(inst, "fields", "Fields")
       << ", " << spanOf(inst, "rules", "Rules") << ", " << spanOf(inst, "costs", "Costs") << ", "
       << quoted(inst->getValueAsString("spec")) << ", " << flag(inst, "isInternal") << ", "
       << accumulatorExpr(inst, records) << ", " << flag(inst, "isTransfer") << ", "
       << flag(inst, "isObserver") << ", " << flag(inst, "isSequencer") << ", "
       << flag(inst, "crossesPartitions") << "},\n";
  os << "};\n";
}

void emitArgs(raw_ostream &os, const RecordKeeper &records) {
  for (const Record *inst : instructions(records))
    emitArgsStruct(os, inst);
}

void emitTileFunctions(raw_ostream &os, const RecordKeeper &records) {
  for (const Record *inst : instructions(records)) {
    if (!inst->getValueAsBit("isTileFunction"))
      continue;
    SmallVector<std::string> parameters;
    for (const Record *f : inst->getValueAsListOfDefs("fields"))
      if (!isImmediate(inst, f))
        parameters.push_back(parameterType(f) + " " + camelBack(f->getValueAsString("name")));
    for (bool output : {false, true})
      for (const Record *op : inst->getValueAsListOfDefs("operands"))
        if (op->getValueAsBit("isOutput") == output)
          parameters.push_back(parameterType(op, output) + camelBack(op->getValueAsString("name")));
    os << "/// " << inst->getValueAsString("summary") << ".\nvoid " << tileFunction(inst) << "("
       << join(parameters, ", ") << ");\n";
  }
}

void emitHandlers(raw_ostream &os, const RecordKeeper &records) {
  for (const Record *inst : instructions(records)) {
    if (!inst->getValueAsBit("isTileFunction"))
      continue;
    StringRef cpp = inst->getValueAsString("cppName");
    os << "Status kilnrt::exec" << cpp << "(Core &core, const Operation &op, const isa::" << cpp
       << "Args &args) {\n";
    SmallVector<std::string> values;
    for (const Record *f : inst->getValueAsListOfDefs("fields"))
      if (!isImmediate(inst, f))
        values.push_back("args." + camelBack(f->getValueAsString("name")));
    for (bool output : {false, true})
      for (const Record *op : inst->getValueAsListOfDefs("operands")) {
        if (op->getValueAsBit("isOutput") != output)
          continue;
        std::string name = camelBack(op->getValueAsString("name"));
        std::string tile =
            std::string("core.") + (output ? "output" : "input") + "(op, args." + name + ")";
        if (!op->getValueAsBit("isOptional")) {
          values.push_back(tile);
          continue;
        }
        os << "  " << (output ? "Tile " : "ConstTile ") << name << "Tile;\n  if (core.has(op, args."
           << name << "))\n    " << name << "Tile = " << tile << ";\n";
        if (StringRef immediate = op->getValueAsString("immediate"); !immediate.empty()) {
          values.push_back("Scalar{args." + camelBack(immediate) + ", core.has(op, args." + name +
                           ") ? &" + name + "Tile : nullptr}");
          continue;
        }
        values.push_back("core.has(op, args." + name + ") ? &" + name + "Tile : nullptr");
      }
    os << "  " << tileFunction(inst) << "(" << join(values, ", ")
       << ");\n  return Status::ok();\n}\n\n";
  }
}

void emitRuleDecls(raw_ostream &os, const RecordKeeper &records) {
  std::set<std::string> names;
  for (const Record *inst : instructions(records))
    for (const Record *r : inst->getValueAsListOfDefs("rules"))
      names.insert(r->getValueAsString("check").str());
  for (const std::string &name : names)
    os << "void " << name
       << "(const InstView &view, std::string_view id, const RuleSink "
          "&sink);\n";
}

void emitRuleDispatch(raw_ostream &os, const RecordKeeper &records) {
  os << "switch (view.inst.opcode) {\n";
  for (const Record *inst : instructions(records)) {
    os << "case Opcode::" << inst->getValueAsString("cppName") << ":\n";
    for (const Record *r : inst->getValueAsListOfDefs("rules"))
      os << "  rules::" << r->getValueAsString("check") << "(view, "
         << quoted(r->getValueAsString("id")) << ", sink);\n";
    os << "  break;\n";
  }
  os << "}\n";
}

void emitExamples(raw_ostream &os, const RecordKeeper &records) {
  for (const Record *inst : instructions(records))
    if (!inst->getValueAsBit("isInternal"))
      os << inst->getValueAsString("example") << "\n";
}

} // namespace kiln::tblgen
