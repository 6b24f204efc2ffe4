//===- Support.cpp - names and texts shared by the generators ---------------------------------===//

#include "Emit.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace kiln::tblgen {

std::vector<const Record *> instructions(const RecordKeeper &records) {
  ArrayRef<const Record *> all = records.getAllDerivedDefinitions("Inst");
  std::vector<const Record *> sorted(all.begin(), all.end());
  llvm::stable_sort(sorted, [](const Record *a, const Record *b) {
    return a->getValueAsInt("opcode") < b->getValueAsInt("opcode");
  });
  return sorted;
}

std::string camelCase(StringRef snake) {
  std::string out;
  bool upper = true;
  for (char c : snake) {
    if (c == '_') {
      upper = true;
      continue;
    }
    out += upper ? toUpper(c) : c;
    upper = false;
  }
  return out;
}

std::string camelBack(StringRef snake) {
  std::string out = camelCase(snake);
  out[0] = toLower(out[0]);
  return out;
}

std::string enumerator(const Record *enumCase) {
  StringRef given = enumCase->getValueAsString("cppName");
  return given.empty() ? camelCase(enumCase->getValueAsString("name")) : given.str();
}

std::string quoted(StringRef text) {
  std::string out;
  raw_string_ostream os(out);
  os << '"';
  printEscapedString(text, os);
  os << '"';
  return out;
}

std::string dedent(StringRef text) {
  SmallVector<StringRef> lines;
  text.split(lines, '\n');
  while (!lines.empty() && lines.front().trim().empty())
    lines.erase(lines.begin());
  while (!lines.empty() && lines.back().trim().empty())
    lines.pop_back();
  size_t indent = StringRef::npos;
  for (StringRef line : lines)
    if (!line.trim().empty())
      indent = std::min(indent, line.find_first_not_of(' '));
  std::string out;
  for (StringRef line : lines)
    out += (line.trim().empty() ? StringRef() : line.drop_front(indent).rtrim()).str() + "\n";
  return out;
}

const Record *findCase(const Record *enumRecord, StringRef name) {
  for (const Record *c : enumRecord->getValueAsListOfDefs("cases"))
    if (c->getValueAsString("name") == name)
      return c;
  return nullptr;
}

} // namespace kiln::tblgen
