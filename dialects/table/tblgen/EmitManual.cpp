//===- EmitManual.cpp - the instruction reference page ----------------------------------------===//

#include "Emit.h"

#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace kiln::tblgen {
namespace {

std::string names(const std::vector<const Record *> &cases) {
  std::string out;
  for (const Record *c : cases)
    out += (out.empty() ? "" : ", ") + c->getValueAsString("name").str();
  return out;
}

/// ", 8 to 16384 elements, 2 free dims" where the operand has such limits.
std::string sizes(const Record *operand) {
  int64_t low = operand->getValueAsInt("minElements"), high = operand->getValueAsInt("maxElements"),
          dims = operand->getValueAsInt("maxDims");
  std::string out;
  if (high > 0)
    out = ", " + (low == high ? std::string() : itostr(low) + " to ") + itostr(high) + " elements";
  if (dims > 0)
    out += ", at most " + itostr(dims) + " free dims";
  return out;
}

/// ", or `imm0`" for a scalar operand.
std::string fallback(const Record *operand) {
  StringRef immediate = operand->getValueAsString("immediate");
  return immediate.empty() ? std::string() : ", or `" + immediate.str() + "`";
}

void emitInstruction(raw_ostream &os, const Record *inst) {
  os << "\n## " << inst->getValueAsString("mnemonic") << "\n\n"
     << inst->getValueAsString("summary")
     << ". Engines: " << names(inst->getValueAsListOfDefs("engines"))
     << " (the first is the default). Opcode " << inst->getValueAsInt("opcode") << ".\n\n"
     << dedent(inst->getValueAsString("description")) << "\n";
  if (auto operands = inst->getValueAsListOfDefs("operands"); !operands.empty()) {
    os << "| operand | | memory | dtypes | what |\n|---|---|---|---|---|\n";
    for (const Record *op : operands)
      os << "| `" << op->getValueAsString("name") << "` | "
         << (op->getValueAsBit("isOutput") ? "out" : "in")
         << (op->getValueAsBit("keepsOld") ? ", keeps the rest" : "")
         << (op->getValueAsBit("isOptional") ? ", optional" : "")
         << (op->getValueAsBit("isColumn") ? ", [P, 1]" : "") << fallback(op) << sizes(op) << " | "
         << names(op->getValueAsListOfDefs("memories")) << " | "
         << names(op->getValueAsListOfDefs("dtypes")) << " | " << op->getValueAsString("doc")
         << " |\n";
    os << "\n";
  }
  if (auto fields = inst->getValueAsListOfDefs("fields"); !fields.empty()) {
    os << "| field | kind | default | what |\n|---|---|---|---|\n";
    for (const Record *f : fields) {
      StringRef kind = f->getValueAsString("kind"), init = f->getValueAsString("init");
      os << "| `" << f->getValueAsString("name") << "` | "
         << (kind == "enum" ? f->getValueAsDef("enumType")->getValueAsString("cppName") : kind);
      if (int64_t words = f->getValueAsInt("words"); words > 1)
        os << " x " << words;
      os << " | " << (init.empty() ? "required" : init) << " | " << f->getValueAsString("doc");
      if (auto allowed = f->getValueAsListOfDefs("allowed"); !allowed.empty())
        os << " (of " << names(allowed) << ")";
      os << " |\n";
    }
    os << "\n";
  }
  if (auto rules = inst->getValueAsListOfDefs("rules"); !rules.empty()) {
    os << "Rules: ";
    interleave(
        rules, os,
        [&](const Record *r) {
          os << r->getValueAsString("id") << " (" << r->getValueAsString("text") << ")";
        },
        "; ");
    os << ".\n\n";
  }
  os << "| engine | issue interval, cycles | latency, cycles | source "
        "|\n|---|---|---|---|\n";
  for (const Record *c : inst->getValueAsListOfDefs("costs")) {
    std::string perElement;
    int64_t num = c->getValueAsInt("perElementNum"), den = c->getValueAsInt("perElementDen");
    if (num > 0)
      perElement = (num == den ? std::string("N")
                    : den == 1 ? itostr(num) + "N"
                               : itostr(num) + "N/" + itostr(den)) +
                   " + ";
    os << "| " << c->getValueAsString("engine") << " | max(" << c->getValueAsInt("floorCycles")
       << ", " << perElement << c->getValueAsInt("issueCycles") << ") | " << perElement
       << c->getValueAsInt("latencyCycles") << " | " << c->getValueAsString("source") << " ("
       << c->getValueAsString("confidence") << ") |\n";
  }
  if (!inst->getValueAsBit("isInternal"))
    os << "\n```mlir\n" << inst->getValueAsString("example") << "\n```\n";
}

} // namespace

void emitManual(raw_ostream &os, const RecordKeeper &records) {
  os << "# Instructions\n\nGenerated from the instruction table. N is the "
        "number of elements per partition of the "
        "main input.\n";
  for (const Record *inst : instructions(records))
    emitInstruction(os, inst);
  os << "\n## Operators\n\n| name | meaning | class | reduction "
        "|\n|---|---|---|---|\n";
  for (const Record *c : records.getDef("AluOpEnum")->getValueAsListOfDefs("cases"))
    os << "| `" << c->getValueAsString("name") << "` | " << c->getValueAsString("doc") << " | "
       << (c->getValueAsBit("isBitvec") ? "bitvec" : "arithmetic")
       << (c->getValueAsBit("isUnary") ? ", unary" : "") << " | "
       << (c->getValueAsBit("isReduction") ? "yes" : "no") << " |\n";
  os << "\n## Functions of the Scalar Engine\n\n| name | formula | valid input "
        "|\n|---|---|---|\n";
  for (const Record *c : records.getDef("ActFnEnum")->getValueAsListOfDefs("cases")) {
    StringRef low = c->getValueAsString("low");
    os << "| `" << c->getValueAsString("name") << "` | " << c->getValueAsString("doc") << " | "
       << (low.empty() ? std::string("all")
                       : "[" + low.str() + ", " + c->getValueAsString("high").str() + "]")
       << " |\n";
  }
  os << "\n## Machine\n\n| name | value | unit | what | source "
        "|\n|---|---|---|---|---|\n";
  for (const Record *r : records.getAllDerivedDefinitions("MachineConst"))
    os << "| `" << r->getValueAsString("name") << "` | " << r->getValueAsInt("value") << " | "
       << r->getValueAsString("unit") << " | " << r->getValueAsString("doc") << " | "
       << r->getValueAsString("source") << " (" << r->getValueAsString("confidence") << ") |\n";
}

} // namespace kiln::tblgen
