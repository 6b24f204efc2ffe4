//===- EmitTypes.cpp - enums, their spellings, machine numbers, rule texts --------------------===//

#include "Emit.h"

#include <algorithm>

using namespace llvm;

namespace kiln::tblgen {
namespace {

std::string casesFunction(const Record *e) {
  StringRef name = e->getValueAsString("cppName");
  return (name == "DType" ? "dtype" : camelBack(name)) + "Cases";
}

} // namespace

void emitEnums(raw_ostream &os, const RecordKeeper &records) {
  for (const Record *e : records.getAllDerivedDefinitions("TableEnum")) {
    os << "/// " << e->getValueAsString("doc") << "\nenum class " << e->getValueAsString("cppName")
       << " : uint8_t {\n";
    for (const Record *c : e->getValueAsListOfDefs("cases"))
      os << "  " << enumerator(c) << " = " << c->getValueAsInt("value") << ", ///< "
         << c->getValueAsString("doc") << "\n";
    os << "};\n\n";
  }
}

void emitOpcodes(raw_ostream &os, const RecordKeeper &records) {
  os << "/// Instructions of the table. A released number is never "
        "reused.\nenum class Opcode : uint16_t {\n";
  size_t operands = 1;
  int64_t words = 1;
  for (const Record *inst : instructions(records)) {
    os << "  " << inst->getValueAsString("cppName") << " = " << inst->getValueAsInt("opcode")
       << ", ///< " << inst->getValueAsString("summary") << "\n";
    operands = std::max(operands, inst->getValueAsListOfDefs("operands").size());
    int64_t own = 0;
    for (const Record *f : inst->getValueAsListOfDefs("fields"))
      own += f->getValueAsInt("words");
    words = std::max(words, own);
  }
  os << "};\n\n/// Room an Instruction has, by the table's largest row.\n"
     << "inline constexpr unsigned kMaxOperands = " << operands << ";\n"
     << "inline constexpr unsigned kMaxFieldWords = " << words << ";\n";
}

void emitEnumCases(raw_ostream &os, const RecordKeeper &records) {
  for (const Record *e : records.getAllDerivedDefinitions("TableEnum")) {
    os << "static constexpr EnumCase k" << e->getValueAsString("cppName") << "Cases[] = {\n";
    for (const Record *c : e->getValueAsListOfDefs("cases"))
      os << "    {" << quoted(c->getValueAsString("name")) << ", " << c->getValueAsInt("value")
         << ", " << quoted(c->getValueAsString("doc")) << "},\n";
    os << "};\n";
  }
}

void emitEnumTables(raw_ostream &os, const RecordKeeper &records) {
  for (const Record *e : records.getAllDerivedDefinitions("TableEnum")) {
    StringRef cpp = e->getValueAsString("cppName");
    os << "EnumCases " << casesFunction(e) << "() { return k" << cpp << "Cases; }\n"
       << "std::string_view name(" << cpp << " v) { return nameOf(k" << cpp
       << "Cases, uint32_t(v)); }\n\n";
  }
  os << "static constexpr DTypeInfo kDTypes[] = {\n";
  for (const Record *c : records.getDef("DtypeEnum")->getValueAsListOfDefs("cases"))
    os << "    {" << quoted(c->getValueAsString("name")) << ", "
       << quoted(c->getValueAsString("mlirName")) << ", " << c->getValueAsInt("bytes") << ", "
       << (c->getValueAsBit("isFloat") ? "true" : "false") << ", "
       << (c->getValueAsBit("isSigned") ? "true" : "false") << "},\n";
  os << "};\n\nstatic constexpr AluOpInfo kAluOps[] = {\n";
  for (const Record *c : records.getDef("AluOpEnum")->getValueAsListOfDefs("cases"))
    os << "    {" << quoted(c->getValueAsString("name")) << ", "
       << quoted(c->getValueAsString("doc")) << ", " << c->getValueAsBit("isBitvec") << ", "
       << c->getValueAsBit("isUnary") << ", " << c->getValueAsBit("isReduction") << "},\n";
  os << "};\n\nstatic constexpr ActFnInfo kActFns[] = {\n";
  for (const Record *c : records.getDef("ActFnEnum")->getValueAsListOfDefs("cases")) {
    StringRef low = c->getValueAsString("low"), high = c->getValueAsString("high");
    os << "    {" << quoted(c->getValueAsString("name")) << ", "
       << quoted(c->getValueAsString("doc")) << ", "
       << (low.empty() ? "-std::numeric_limits<float>::infinity()" : low.str() + "f") << ", "
       << (high.empty() ? "std::numeric_limits<float>::infinity()" : high.str() + "f") << "},\n";
  }
  os << "};\n\nstatic constexpr struct {\n  Engine engine;\n  EngineInfo "
        "info;\n} kEngines[] = {\n";
  for (const Record *c : records.getAllDerivedDefinitions("EngineRec"))
    os << "    {Engine::" << enumerator(c) << ", {" << quoted(c->getValueAsString("name")) << ", "
       << quoted(c->getValueAsString("shortName")) << ", " << c->getValueAsInt("clockMHz")
       << "}},\n";
  os << "};\n";
}

void emitMachine(raw_ostream &os, const RecordKeeper &records) {
  for (const Record *r : records.getAllDerivedDefinitions("MachineConst"))
    os << "/// " << r->getValueAsString("doc") << " [" << r->getValueAsString("unit") << "; "
       << r->getValueAsString("confidence") << ": " << r->getValueAsString("source") << "]\n"
       << "static constexpr int64_t " << r->getValueAsString("name") << " = "
       << r->getValueAsInt("value") << ";\n";
}

void emitLanguage(raw_ostream &os, const RecordKeeper &records) {
  os << "// Numbers of the kernel language's headers, generated from the instruction table.\n"
     << "#ifndef NL_DETAIL_TABLE_H\n#define NL_DETAIL_TABLE_H\n\n#include <cstdint>\n\n"
     << "namespace nl::detail::table {\n\n";
  for (const Record *r : records.getAllDerivedDefinitions("MachineConst"))
    os << "inline constexpr int64_t " << r->getValueAsString("name") << " = "
       << r->getValueAsInt("value") << "; ///< " << r->getValueAsString("doc") << "\n";
  auto emitNumbers = [&](StringRef enumName, StringRef prefix) {
    os << "\n";
    for (const Record *c : records.getDef(enumName)->getValueAsListOfDefs("cases"))
      os << "inline constexpr int16_t " << prefix << enumerator(c) << " = "
         << c->getValueAsInt("value") << "; ///< " << c->getValueAsString("doc") << "\n";
  };
  emitNumbers("AluOpEnum", "alu");
  emitNumbers("ActFnEnum", "function");
  os << "\n} // namespace nl::detail::table\n\n#endif // NL_DETAIL_TABLE_H\n";
}

} // namespace kiln::tblgen
