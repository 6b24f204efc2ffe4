//===- Cursor.h - reads assembler text from left to right -------------------------------------===//
//
// Private to the library: a view of the rest of a line with the few readers
// the grammar needs. Blanks separate words and are otherwise skipped. Readers
// that fail say what they found and what they expected.
//
//===------------------------------------------------------------------------------------------===//

#ifndef KILNRT_LIB_PROGRAM_CURSOR_H
#define KILNRT_LIB_PROGRAM_CURSOR_H

#include "Text.h"
#include "kilnrt/Expected.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kilnrt {

class Cursor {
public:
  explicit Cursor(std::string_view line) : rest(line) {}

  std::string_view remaining() const { return rest; }
  void skipBlanks();
  /// Nothing but blanks is left.
  bool atEnd();

  /// Takes `c` after blanks, if it is next.
  bool accept(char c);
  /// Takes `c` only if it is next without a blank before it.
  bool acceptAdjacent(char c);
  /// Takes the whole word `word` after blanks, if it is next.
  bool acceptWord(std::string_view word);
  /// Takes `c`, or says that it is missing after `context`.
  Status expect(char c, std::string_view context);

  /// The longest run of letters, digits, '_' and '.' after blanks, taken or
  /// only looked at; empty when something else is next.
  std::string_view word();
  std::string_view peekWord();
  /// A run of any characters up to a blank or one of `stops`.
  std::string_view run(std::string_view stops);

  /// An integer in decimal; `what` names it in messages. Reports a value that
  /// does not fit.
  Status readInt(int64_t &value, std::string_view what);
  Status readInt(uint64_t &value, std::string_view what);
  Status readInt(uint32_t &value, std::string_view what);
  Status readInt(int32_t &value, std::string_view what);
  Status readInt(uint16_t &value, std::string_view what);
  Status readInt(uint8_t &value, std::string_view what);
  /// A string in double quotes, escapes undone.
  Status readString(std::string &value, std::string_view what);
  /// Takes a quoted string as it stands, quotes included, with the grammar of
  /// readString but without its checks; empty when none is next.
  std::string_view rawString();
  /// One of `cases`, by name. Messages say "<what> ...<owner>", as in "value 'x' of field 'op'".
  Status readEnum(uint32_t &value, isa::EnumCases cases, std::string_view what,
                  std::string_view owner = {});
  /// A dtype by either name.
  Status readDType(isa::DType &value);

  /// "expected <what>, found <what comes next>".
  Diagnostic expected(std::string_view what, std::string help = {});
  /// "unknown <what> 'word'" with the nearest of `names` as help.
  static Diagnostic unknown(std::string_view what, std::string_view word,
                            const std::vector<std::string_view> &names);

private:
  template <typename T>
  Status readNumber(T &value, std::string_view what);
  Status readEscape(char &value);

  std::string_view rest;
};

} // namespace kilnrt

#endif // KILNRT_LIB_PROGRAM_CURSOR_H
