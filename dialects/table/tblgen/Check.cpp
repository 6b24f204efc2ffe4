//===- Check.cpp - contradictions in the table, reported at the record's line -----------------===//
//
// Everything a generator or a reader of the generated code takes for granted is
// established here, so that a wrong record is named once, where it stands, and
// not by a compiler error in generated C++.
//
//===------------------------------------------------------------------------------------------===//

#include "Emit.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/ADT/Twine.h"
#include "llvm/TableGen/Error.h"

#include <map>

using namespace llvm;

namespace kiln::tblgen {
namespace {

/// Opcodes are two bytes, enum values one.
constexpr int64_t kMaxOpcode = 0xFFFF, kMaxEnumValue = 0xFF;

/// The cases a field takes are bits of one word.
constexpr int64_t kMaxAllowedValue = 63;

void checkEnum(const Record *e) {
  std::map<int64_t, StringRef> byValue;
  StringSet<> names;
  for (const Record *c : e->getValueAsListOfDefs("cases")) {
    StringRef name = c->getValueAsString("name");
    int64_t value = c->getValueAsInt("value");
    if (value < 0 || value > kMaxEnumValue)
      PrintFatalError(e->getLoc(), "enum '" + e->getValueAsString("cppName") + "' value " +
                                       Twine(value) + " of '" + name + "' does not fit one byte");
    if (!names.insert(name).second)
      PrintFatalError(e->getLoc(), "enum '" + e->getValueAsString("cppName") +
                                       "' has two cases named '" + name + "'");
    auto [old, isNew] = byValue.try_emplace(value, name);
    if (!isNew)
      PrintFatalError(e->getLoc(), "enum '" + e->getValueAsString("cppName") + "': '" +
                                       old->second + "' and '" + name + "' share value " +
                                       Twine(value));
  }
}

std::string title(const Record *inst) {
  return ("instruction '" + inst->getValueAsString("mnemonic") + "'").str();
}

void checkOperands(const Record *inst, StringSet<> &names) {
  for (const Record *op : inst->getValueAsListOfDefs("operands")) {
    StringRef name = op->getValueAsString("name");
    if (!names.insert(name).second)
      PrintFatalError(inst->getLoc(),
                      title(inst) + " has two operands or fields named '" + name + "'");
    if (op->getValueAsListOfDefs("memories").empty())
      PrintFatalError(inst->getLoc(), title(inst) + ": operand '" + name + "' lies in no memory");
    if (op->getValueAsListOfDefs("dtypes").empty())
      PrintFatalError(inst->getLoc(), title(inst) + ": operand '" + name + "' has no dtype");
    int64_t low = op->getValueAsInt("minElements"), high = op->getValueAsInt("maxElements");
    if (low < 0 || high < low || op->getValueAsInt("maxDims") < 0)
      PrintFatalError(inst->getLoc(), title(inst) + ": operand '" + name + "' takes " + Twine(low) +
                                          " to " + Twine(high) + " elements");
  }
}

bool hasNumberField(const Record *inst, StringRef name) {
  return any_of(inst->getValueAsListOfDefs("fields"), [&](const Record *f) {
    return f->getValueAsString("name") == name && f->getValueAsString("kind") == "u32" &&
           f->getValueAsInt("words") == 1;
  });
}

/// What only some kinds of rows may have.
void checkKind(const Record *inst) {
  const bool isTransfer = inst->getValueAsBit("isTransfer");
  const bool isObserver = inst->getValueAsBit("isObserver");
  for (const Record *op : inst->getValueAsListOfDefs("operands")) {
    std::string where = title(inst) + ": operand '" + op->getValueAsString("name").str() + "'";
    if (op->getValueAsBit("keepsOld") && !op->getValueAsBit("isOutput"))
      PrintFatalError(inst->getLoc(), where + " keeps old elements but is no output");
    if (op->getValueAsBit("keepsOld") && inst->getValueAsBit("isTileFunction"))
      PrintFatalError(inst->getLoc(),
                      where + " keeps old elements: its handler, not a tile function, says which");
    for (const Record *memory : op->getValueAsListOfDefs("memories"))
      if (memory->getName() == "Hbm" && !isTransfer && !isObserver &&
          !inst->getValueAsBit("isSequencer"))
        PrintFatalError(inst->getLoc(), where + " lies in HBM, which only a transfer reaches");
    if (isObserver && op->getValueAsBit("isOutput"))
      PrintFatalError(inst->getLoc(), where + " is an output of a row that only looks");
  }
  if (isTransfer && !hasNumberField(inst, "ring"))
    PrintFatalError(inst->getLoc(), title(inst) + " is a transfer without a u32 field 'ring'");
  if (isObserver && (isTransfer || inst->getValueAsListOfDefs("engines").size() != 1))
    PrintFatalError(inst->getLoc(),
                    title(inst) + " only looks: one engine runs it, or there would be two orders");
  if (isObserver && !hasNumberField(inst, "text"))
    PrintFatalError(inst->getLoc(), title(inst) + " only looks, without a u32 field 'text'");
}

/// A scalar operand is an optional column with a real field to fall back on.
void checkImmediates(const Record *inst) {
  std::map<StringRef, StringRef> owners; ///< operand of each immediate
  for (const Record *op : inst->getValueAsListOfDefs("operands")) {
    StringRef immediate = op->getValueAsString("immediate"), name = op->getValueAsString("name");
    if (immediate.empty())
      continue;
    std::string where = title(inst) + ": operand '" + name.str() + "'";
    if (!op->getValueAsBit("isOptional") || op->getValueAsBit("isOutput"))
      PrintFatalError(inst->getLoc(), where + " has an immediate but is no optional input");
    if (!op->getValueAsBit("isColumn") && inst->getValueAsBit("isTileFunction"))
      PrintFatalError(inst->getLoc(),
                      where + " is a tile or a number, which no tile function takes");
    const Record *field = nullptr;
    for (const Record *f : inst->getValueAsListOfDefs("fields"))
      if (f->getValueAsString("name") == immediate)
        field = f;
    if (!field)
      PrintFatalError(inst->getLoc(),
                      where + " falls back on '" + immediate + "', which is no field");
    StringRef kind = field->getValueAsString("kind");
    if ((kind != "f32" && kind != "f64") || field->getValueAsInt("words") != 1)
      PrintFatalError(inst->getLoc(),
                      where + " falls back on '" + immediate + "', which is not one real number");
    auto [owner, isNew] = owners.try_emplace(immediate, name);
    if (!isNew)
      PrintFatalError(inst->getLoc(), where + " falls back on '" + immediate + "' of operand '" +
                                          owner->second + "'");
  }
}

/// The cases a row takes are some of its enum's, and the default is one of them.
void checkAllowed(const Record *inst, const Record *field, const std::string &where) {
  std::vector<const Record *> allowed = field->getValueAsListOfDefs("allowed");
  if (allowed.empty())
    return;
  const Record *e = field->getValueAsDef("enumType");
  StringRef init = field->getValueAsString("init");
  bool isInitAllowed = init.empty();
  for (const Record *c : allowed) {
    StringRef name = c->getValueAsString("name");
    if (findCase(e, name) != c)
      PrintFatalError(inst->getLoc(), where + " takes '" + name + "', which is not a case of '" +
                                          e->getValueAsString("cppName") + "'");
    if (c->getValueAsInt("value") > kMaxAllowedValue)
      PrintFatalError(inst->getLoc(), where + " takes '" + name + "', whose value " +
                                          Twine(c->getValueAsInt("value")) + " is above " +
                                          Twine(kMaxAllowedValue));
    isInitAllowed |= name == init;
  }
  if (!isInitAllowed)
    PrintFatalError(inst->getLoc(), where + " does not take its default '" + init + "'");
}

/// The accumulators' command is a field of the row, or the one command it always is; and the row
/// runs on one engine, or a chain could be torn apart.
void checkAccumulators(const Record *inst, const RecordKeeper &records) {
  StringRef command = inst->getValueAsString("accumulators");
  if (command.empty())
    return;
  if (inst->getValueAsListOfDefs("engines").size() != 1)
    PrintFatalError(inst->getLoc(), title(inst) + " has accumulators, it must run on one engine");
  const Record *commands = records.getDef("ReduceCmdEnum");
  bool isFound = findCase(commands, command) != nullptr;
  for (const Record *f : inst->getValueAsListOfDefs("fields"))
    isFound |= f->getValueAsString("name") == command && f->getValueAsString("kind") == "enum" &&
               f->getValueAsDef("enumType") == commands;
  if (!isFound)
    PrintFatalError(inst->getLoc(),
                    title(inst) + ": accumulators '" + command +
                        "' is neither a field with a reduction command nor a command");
}

void checkField(const Record *inst, const Record *field) {
  StringRef name = field->getValueAsString("name"), kind = field->getValueAsString("kind"),
            init = field->getValueAsString("init");
  std::string where = title(inst) + ": field '" + name.str() + "'";
  bool known = StringSwitch<bool>(kind)
                   .Cases({"bool", "enum", "i32", "u32", "f32", "f64", "reg"}, true)
                   .Default(false);
  if (!known)
    PrintFatalError(inst->getLoc(), where + " has the unknown kind '" + kind + "'");
  if (field->getValueAsInt("words") < 1)
    PrintFatalError(inst->getLoc(), where + " has no words");
  if (kind == "enum") {
    if (field->isValueUnset("enumType"))
      PrintFatalError(inst->getLoc(), where + " names no enum");
    const Record *e = field->getValueAsDef("enumType");
    if (!init.empty() && !findCase(e, init))
      PrintFatalError(inst->getLoc(), where + " default '" + init + "' is not a case of '" +
                                          e->getValueAsString("cppName") + "'");
    checkAllowed(inst, field, where);
    return;
  }
  if (init.empty())
    return;
  int64_t whole;
  double real;
  bool ok = StringSwitch<bool>(kind)
                .Case("bool", init == "true" || init == "false")
                .Cases({"i32", "u32", "reg"},
                       !init.getAsInteger(10, whole) && (kind == "i32" || whole >= 0))
                .Default(!init.getAsDouble(real));
  if (!ok)
    PrintFatalError(inst->getLoc(),
                    where + " default '" + init + "' is not a value of kind '" + kind + "'");
}

void checkRules(const Record *inst, const StringSet<> &catalogue) {
  StringSet<> seen;
  for (const Record *field : inst->getValueAsListOfDefs("fields")) {
    StringRef id = field->getValueAsString("allowedRule");
    if (!field->getValueAsListOfDefs("allowed").empty() && !catalogue.contains(id))
      PrintFatalError(inst->getLoc(),
                      title(inst) + ": rule id '" + id + "' is not in the rule catalogue");
  }
  for (const Record *rule : inst->getValueAsListOfDefs("rules")) {
    StringRef id = rule->getValueAsString("id"), check = rule->getValueAsString("check");
    if (!catalogue.contains(id))
      PrintFatalError(inst->getLoc(),
                      title(inst) + ": rule id '" + id + "' is not in the rule catalogue");
    if (!seen.insert(check).second)
      PrintFatalError(inst->getLoc(), title(inst) + " runs rule '" + check + "' twice");
  }
}

void checkCosts(const Record *inst) {
  StringSet<> legal, priced;
  for (const Record *e : inst->getValueAsListOfDefs("engines"))
    if (!legal.insert(e->getValueAsString("name")).second)
      PrintFatalError(inst->getLoc(),
                      title(inst) + " lists engine '" + e->getValueAsString("name") + "' twice");
  if (legal.empty())
    PrintFatalError(inst->getLoc(), title(inst) + " runs on no engine");
  for (const Record *cost : inst->getValueAsListOfDefs("costs")) {
    StringRef engine = cost->getValueAsString("engine");
    if (!legal.contains(engine))
      PrintFatalError(inst->getLoc(), title(inst) + " has a cost for engine '" + engine +
                                          "', which does not run it");
    if (!priced.insert(engine).second)
      PrintFatalError(inst->getLoc(), title(inst) + " has two costs for engine '" + engine + "'");
    if (cost->getValueAsInt("perElementDen") <= 0 || cost->getValueAsInt("perElementNum") < 0)
      PrintFatalError(inst->getLoc(), title(inst) + ": the cost per element on engine '" + engine +
                                          "' is not a positive fraction");
  }
  for (const Record *e : inst->getValueAsListOfDefs("engines"))
    if (!priced.contains(e->getValueAsString("name")))
      PrintFatalError(inst->getLoc(), title(inst) + " has no cost for engine '" +
                                          e->getValueAsString("name") + "'");
}

void checkRuleText(const Record *rule) {
  StringRef severity = rule->getValueAsString("severity");
  auto fault = [&](const Twine &text) {
    PrintFatalError(rule->getLoc(), "rule '" + rule->getValueAsString("id") + "' " + text);
  };
  if (severity != "error" && severity != "warning" && severity != "note")
    fault("has severity '" + severity + "', it is error, warning or note");
  StringRef form = rule->getValueAsString("form");
  if (!StringSet<>({"kernel", "host", "alone", "unregistered", "run", "asm", "none"})
           .contains(form))
    fault("has examples of form '" + form + "'");
  for (StringRef part : {"wrong", "right"}) {
    StringRef code = rule->getValueAsString(part);
    if (code.trim().empty() != (form == "none"))
      fault(form == "none" ? "has a " + part + " example of form none"
                           : "has no " + part + " example");
    if (form != "asm" && form != "none" && !code.contains(" kernel("))
      fault("has a " + part + " example without a function 'kernel'");
  }
  if (rule->getValueAsBit("isPerformance") && severity != "warning")
    fault("is no warning, so -Wperf cannot turn it on");
  if (rule->getValueAsBit("isDemotable") && severity != "error")
    fault("is no error, so -Wno-error has nothing to turn into a warning");
}

} // namespace

void checkTable(const RecordKeeper &records) {
  for (const Record *e : records.getAllDerivedDefinitions("TableEnum"))
    checkEnum(e);

  StringSet<> catalogue;
  for (const Record *r : records.getAllDerivedDefinitions("RuleText")) {
    if (!catalogue.insert(r->getValueAsString("id")).second)
      PrintFatalError(r->getLoc(),
                      "rule '" + r->getValueAsString("id") + "' stands twice in the catalogue");
    checkRuleText(r);
  }

  std::map<int64_t, StringRef> opcodes;
  StringSet<> mnemonics, cppNames;
  for (const Record *inst : records.getAllDerivedDefinitions("Inst")) {
    StringRef mnemonic = inst->getValueAsString("mnemonic");
    int64_t opcode = inst->getValueAsInt("opcode");
    if (opcode < 1 || opcode > kMaxOpcode)
      PrintFatalError(inst->getLoc(), title(inst) + ": opcode " + Twine(opcode) +
                                          " is outside 1 to " + Twine(kMaxOpcode));
    auto [old, isNew] = opcodes.try_emplace(opcode, mnemonic);
    if (!isNew)
      PrintFatalError(inst->getLoc(),
                      title(inst) + " uses opcode " + Twine(opcode) + " of '" + old->second + "'");
    if (!mnemonics.insert(mnemonic).second)
      PrintFatalError(inst->getLoc(), title(inst) + " is defined twice");
    if (!cppNames.insert(inst->getValueAsString("cppName")).second)
      PrintFatalError(inst->getLoc(), title(inst) + " uses the C++ name '" +
                                          inst->getValueAsString("cppName") + "' of another one");
    StringSet<> names;
    checkOperands(inst, names);
    for (const Record *field : inst->getValueAsListOfDefs("fields")) {
      if (!names.insert(field->getValueAsString("name")).second)
        PrintFatalError(inst->getLoc(), title(inst) + " has two operands or fields named '" +
                                            field->getValueAsString("name") + "'");
      checkField(inst, field);
    }
    checkImmediates(inst);
    checkAccumulators(inst, records);
    checkKind(inst);
    checkRules(inst, catalogue);
    checkCosts(inst);
  }
}

} // namespace kiln::tblgen
