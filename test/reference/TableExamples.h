//===- TableExamples.h - the example of each row of the table ---------------------------------===//
//
// Read from the file that is generated beside the table (KILN_TABLE_EXAMPLES).
//
//===------------------------------------------------------------------------------------------===//

#ifndef KILN_TEST_REFERENCE_TABLEEXAMPLES_H
#define KILN_TEST_REFERENCE_TABLEEXAMPLES_H

#include "kiln/ISA/Instruction.h"

#include <fstream>
#include <map>
#include <string>

namespace kiln::reference {

/// The table's example of `desc`, without "nisa."; empty when it has none.
inline std::string exampleOf(const isa::InstDesc &desc) {
  static const std::map<std::string, std::string> examples = [] {
    std::map<std::string, std::string> read;
    std::ifstream file(KILN_TABLE_EXAMPLES);
    for (std::string line; std::getline(file, line);)
      if (line.starts_with("nisa."))
        read[line.substr(5, line.find(' ') - 5)] = line.substr(5);
    return read;
  }();
  auto it = examples.find(std::string(desc.mnemonic));
  return it == examples.end() ? std::string() : it->second;
}

} // namespace kiln::reference

#endif // KILN_TEST_REFERENCE_TABLEEXAMPLES_H
