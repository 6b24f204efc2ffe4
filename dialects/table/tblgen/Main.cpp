//===- Main.cpp - kiln-tblgen: generators over the instruction table --------------------------===//
//
// A build tool. Each run checks the table, then writes what the one generator
// named on the command line makes of it; without a generator it only checks.
//
//===------------------------------------------------------------------------------------------===//

#include "Emit.h"

#include "llvm/Support/CommandLine.h"
#include "llvm/TableGen/TableGenBackend.h"

using namespace llvm;

namespace {

using Generate = void(raw_ostream &, const RecordKeeper &);

void onlyCheck(raw_ostream &, const RecordKeeper &) {}

/// Registers `generate` as the option -`name`, behind the check.
template <Generate *generate>
struct Generator : TableGen::Emitter::Opt {
  Generator(StringRef name, StringRef help, bool byDefault = false)
      : Opt(name, TableGen::Emitter::FnT(run), help, byDefault) {}

  static void run(const RecordKeeper &records, raw_ostream &os) {
    kiln::tblgen::checkTable(records);
    generate(os, records);
  }
};

using namespace kiln::tblgen;
const Generator<onlyCheck> check("check", "Check the table, write nothing (default)", true);
const Generator<emitArgs> genArgs("gen-args", "Typed argument structs");
const Generator<emitCatalogue> genCatalogue("gen-catalogue", "Texts of kiln explain");
const Generator<emitRuleKernels> genRuleKernels("gen-rule-kernels",
                                                "Examples of kiln explain as one kernel file");
const Generator<emitEnumCases> genEnumCases("gen-enum-cases", "Arrays of enum cases");
const Generator<emitEnumTables> genEnumTables("gen-enum-tables", "Spellings and facts of enums");
const Generator<emitEnums> genEnums("gen-enums", "Enum classes");
const Generator<emitExamples> genExamples("gen-examples", "One example a line");
const Generator<emitHandlers> genHandlers("gen-handlers", "Handlers that call the tile functions");
const Generator<emitInstDescs> genInstDescs("gen-inst-descs", "Descriptors of instructions");
const Generator<emitInstList> genInstList("gen-inst-list", "List of instructions");
const Generator<emitLanguage> genLanguage("gen-language", "Numbers of the nl/ headers");
const Generator<emitMachine> genMachine("gen-machine", "Numbers of the machine");
const Generator<emitManual> genManual("gen-manual", "The reference page");
const Generator<emitOpcodes> genOpcodes("gen-opcodes", "Opcodes and capacities");
const Generator<emitRuleDecls> genRuleDecls("gen-rule-decls", "Rule declarations");
const Generator<emitRuleDispatch> genRuleDispatch("gen-rule-dispatch", "Rules of each row");
const Generator<emitTileFunctions> genTileFunctions("gen-tile-functions",
                                                    "Semantic functions, declared");

} // namespace

int main(int argc, char **argv) {
  cl::ParseCommandLineOptions(argc, argv, "Generators of the Kiln instruction table\n");
  return TableGenMain(argv[0], TableGenMainFn(nullptr));
}
