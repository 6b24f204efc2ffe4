//===- Cursor.cpp - reads assembler text from left to right -----------------------------------===//

#include "Cursor.h"

#include <fmt/format.h>

#include <charconv>
#include <limits>

namespace kilnrt {
namespace {

bool isWordChar(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '.';
}

size_t wordLength(std::string_view s) {
  size_t n = 0;
  while (n < s.size() && isWordChar(s[n]))
    ++n;
  return n;
}

/// Bytes of the quoted string `s` starts with; 0 without a closing quote.
size_t quotedLength(std::string_view s) {
  if (s.empty() || s[0] != '"')
    return 0;
  for (size_t i = 1; i < s.size(); ++i) {
    if (s[i] == '\\')
      ++i;
    else if (s[i] == '"')
      return i + 1;
  }
  return 0;
}

int hexDigit(char c) {
  if (c >= '0' && c <= '9')
    return c - '0';
  if (c >= 'a' && c <= 'f')
    return c - 'a' + 10;
  if (c >= 'A' && c <= 'F')
    return c - 'A' + 10;
  return -1;
}

} // namespace

void Cursor::skipBlanks() {
  size_t n = rest.find_first_not_of(" \t\r");
  rest.remove_prefix(n == std::string_view::npos ? rest.size() : n);
}

bool Cursor::atEnd() {
  skipBlanks();
  return rest.empty();
}

bool Cursor::acceptAdjacent(char c) {
  if (rest.empty() || rest[0] != c)
    return false;
  rest.remove_prefix(1);
  return true;
}

bool Cursor::accept(char c) {
  skipBlanks();
  return acceptAdjacent(c);
}

bool Cursor::acceptWord(std::string_view expectedWord) {
  if (peekWord() != expectedWord)
    return false;
  rest.remove_prefix(expectedWord.size());
  return true;
}

Status Cursor::expect(char c, std::string_view context) {
  if (accept(c))
    return Status::ok();
  return expected(fmt::format("'{}' {}", c, context));
}

std::string_view Cursor::peekWord() {
  skipBlanks();
  return rest.substr(0, wordLength(rest));
}

std::string_view Cursor::word() {
  std::string_view found = peekWord();
  rest.remove_prefix(found.size());
  return found;
}

std::string_view Cursor::run(std::string_view stops) {
  skipBlanks();
  size_t n = 0;
  while (n < rest.size() && rest[n] != ' ' && rest[n] != '\t' && rest[n] != '\r' &&
         stops.find(rest[n]) == std::string_view::npos)
    ++n;
  std::string_view found = rest.substr(0, n);
  rest.remove_prefix(n);
  return found;
}

template <typename T>
Status Cursor::readNumber(T &value, std::string_view what) {
  skipBlanks();
  auto result = std::from_chars(rest.data(), rest.data() + rest.size(), value);
  if (result.ec == std::errc::invalid_argument)
    return expected(what);
  const auto length = size_t(result.ptr - rest.data());
  if (result.ec == std::errc::result_out_of_range)
    return makeError(Fault::User,
                     fmt::format("expected {}, found {}, which is out of range ({} to {})", what,
                                 text::quoted(rest.substr(0, length)),
                                 std::numeric_limits<T>::min(), std::numeric_limits<T>::max()));
  rest.remove_prefix(length);
  return Status::ok();
}

Status Cursor::readInt(int64_t &value, std::string_view what) { return readNumber(value, what); }
Status Cursor::readInt(uint64_t &value, std::string_view what) { return readNumber(value, what); }
Status Cursor::readInt(uint32_t &value, std::string_view what) { return readNumber(value, what); }
Status Cursor::readInt(int32_t &value, std::string_view what) { return readNumber(value, what); }
Status Cursor::readInt(uint16_t &value, std::string_view what) { return readNumber(value, what); }
Status Cursor::readInt(uint8_t &value, std::string_view what) { return readNumber(value, what); }

Status Cursor::readEscape(char &value) {
  const char c = rest.empty() ? '\0' : rest[0];
  if (c == 'x' && rest.size() >= 3 && hexDigit(rest[1]) >= 0 && hexDigit(rest[2]) >= 0) {
    value = char(hexDigit(rest[1]) * 16 + hexDigit(rest[2]));
    rest.remove_prefix(3);
    return Status::ok();
  }
  if (c != 'n' && c != 't' && c != '\\' && c != '"')
    return makeError(
        Fault::User,
        fmt::format("unknown escape '\\{}' in a string", text::shown(std::string_view(&c, 1))),
        R"(known: \n, \t, \\, \" and \xNN)");
  value = c == 'n' ? '\n' : c == 't' ? '\t' : c;
  rest.remove_prefix(1);
  return Status::ok();
}

Status Cursor::readString(std::string &value, std::string_view what) {
  skipBlanks();
  if (!acceptAdjacent('"'))
    return expected(fmt::format("{} in double quotes", what));
  value.clear();
  while (!acceptAdjacent('"')) {
    if (rest.empty())
      return makeError(Fault::User, fmt::format("{} has no closing quote", what));
    char c = rest[0];
    rest.remove_prefix(1);
    if (c == '\\')
      if (Status status = readEscape(c); !status)
        return status;
    value += c;
  }
  return Status::ok();
}

std::string_view Cursor::rawString() {
  skipBlanks();
  std::string_view found = rest.substr(0, quotedLength(rest));
  rest.remove_prefix(found.size());
  return found;
}

Status Cursor::readEnum(uint32_t &value, isa::EnumCases cases, std::string_view what,
                        std::string_view owner) {
  std::string_view name = peekWord();
  if (name.empty())
    return expected(fmt::format("the name of the {}{}", what, owner));
  std::optional<uint32_t> found = isa::valueOf(cases, name);
  if (!found) {
    Diagnostic error = unknown(what, name, text::namesOf(cases));
    error.message += owner;
    return error;
  }
  value = *found;
  rest.remove_prefix(name.size());
  return Status::ok();
}

Status Cursor::readDType(isa::DType &value) {
  std::string_view name = peekWord();
  if (name.empty())
    return expected("a dtype");
  std::optional<isa::DType> found = isa::parseDType(name);
  if (!found) {
    std::vector<std::string_view> names;
    for (const isa::EnumCase &c : isa::dtypeCases())
      names.push_back(isa::info(isa::DType(c.value)).shortName);
    return unknown("dtype", name, names);
  }
  value = *found;
  rest.remove_prefix(name.size());
  return Status::ok();
}

Diagnostic Cursor::expected(std::string_view what, std::string help) {
  skipBlanks();
  std::string found = "the end of the line";
  if (!rest.empty()) {
    std::string_view next = rest;
    size_t n = std::max<size_t>(wordLength(next), 1);
    found = text::quoted(next.substr(0, n));
  }
  return makeError(Fault::User, fmt::format("expected {}, found {}", what, found), std::move(help));
}

Diagnostic Cursor::unknown(std::string_view what, std::string_view word,
                           const std::vector<std::string_view> &names) {
  return makeError(Fault::User, fmt::format("unknown {} {}", what, text::quoted(word)),
                   text::suggest(word, names));
}

} // namespace kilnrt
