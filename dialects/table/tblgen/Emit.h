//===- Emit.h - what kiln-tblgen generates from the instruction table -------------------------===//
//
// One function a generator. Each reads the records and writes one file;
// `checkTable` runs before any of them and rejects contradictions at the
// record's own line.
//
//===------------------------------------------------------------------------------------------===//

#ifndef KILN_TABLE_TBLGEN_EMIT_H
#define KILN_TABLE_TBLGEN_EMIT_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/TableGen/Record.h"

#include <string>
#include <vector>

namespace kiln::tblgen {

/// Stops with an error at the line of the record that contradicts itself or
/// another one.
void checkTable(const llvm::RecordKeeper &records);

void emitEnums(llvm::raw_ostream &os,
               const llvm::RecordKeeper &records); // enum classes
void emitOpcodes(llvm::raw_ostream &os,
                 const llvm::RecordKeeper &records); // enum Opcode, capacities
void emitEnumCases(llvm::raw_ostream &os,
                   const llvm::RecordKeeper &records); // EnumCase arrays
void emitEnumTables(llvm::raw_ostream &os,
                    const llvm::RecordKeeper &records); // spellings and facts
void emitMachine(llvm::raw_ostream &os,
                 const llvm::RecordKeeper &records); // members of isa::Machine
void emitInstList(llvm::raw_ostream &os,
                  const llvm::RecordKeeper &records); // KILN_INST(...) lines
void emitInstDescs(llvm::raw_ostream &os,
                   const llvm::RecordKeeper &records); // InstDesc of each row
void emitArgs(llvm::raw_ostream &os,
              const llvm::RecordKeeper &records); // typed argument structs
void emitTileFunctions(llvm::raw_ostream &os,
                       const llvm::RecordKeeper &records); // one semantic function a row
void emitHandlers(llvm::raw_ostream &os,
                  const llvm::RecordKeeper &records); // handlers calling them
void emitRuleDecls(llvm::raw_ostream &os,
                   const llvm::RecordKeeper &records); // one function a rule
void emitRuleDispatch(llvm::raw_ostream &os,
                      const llvm::RecordKeeper &records); // rules of each row
void emitLanguage(llvm::raw_ostream &os,
                  const llvm::RecordKeeper &records); // numbers of the nl/ headers
void emitCatalogue(llvm::raw_ostream &os,
                   const llvm::RecordKeeper &records); // texts of `kiln explain`
void emitRuleKernels(llvm::raw_ostream &os,
                     const llvm::RecordKeeper &records); // its examples as one kernel file
void emitManual(llvm::raw_ostream &os,
                const llvm::RecordKeeper &records); // the reference page
void emitExamples(llvm::raw_ostream &os,
                  const llvm::RecordKeeper &records); // one example a line

/// Instruction records in opcode order.
std::vector<const llvm::Record *> instructions(const llvm::RecordKeeper &records);
/// "bitwise_and" -> "BitwiseAnd".
std::string camelCase(llvm::StringRef snake);
/// "is_transpose" -> "isTranspose".
std::string camelBack(llvm::StringRef snake);
/// The C++ enumerator of a Case record.
std::string enumerator(const llvm::Record *enumCase);
/// `text` as a C++ string literal.
std::string quoted(llvm::StringRef text);
/// The text of a `code` block: common indentation and outer blank lines
/// removed.
std::string dedent(llvm::StringRef text);
/// The case of `enumRecord` spelled `name`, or null.
const llvm::Record *findCase(const llvm::Record *enumRecord, llvm::StringRef name);

} // namespace kiln::tblgen

#endif // KILN_TABLE_TBLGEN_EMIT_H
