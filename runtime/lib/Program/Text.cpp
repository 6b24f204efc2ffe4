//===- Text.cpp - names and values as they appear in messages ---------------------------------===//

#include "Text.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

namespace kilnrt::text {
namespace {

bool isPrintable(char c) { return c >= 0x20 && c < 0x7f; }

void appendEscaped(std::string &out, std::string_view s, char quote) {
  for (char c : s) {
    if (c == '\n')
      out += "\\n";
    else if (c == '\t')
      out += "\\t";
    else if (c == '\\' || c == quote)
      (out += '\\') += c;
    else if (isPrintable(c))
      out += c;
    else
      fmt::format_to(std::back_inserter(out), "\\x{:02x}", uint8_t(c));
  }
}

/// Insertions, deletions, replacements and swaps of neighbours from `a` to `b`.
size_t editDistance(std::string_view a, std::string_view b) {
  std::vector<size_t> before, last, row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    before = std::exchange(last, row);
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replaced = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({replaced, row[j - 1] + 1, last[j] + 1});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], before[j - 2] + 1);
    }
  }
  return row.back();
}

} // namespace

std::string shown(std::string_view s) {
  constexpr size_t kLongest = 60;
  std::string out;
  appendEscaped(out, s.substr(0, kLongest), '\'');
  if (s.size() > kLongest)
    out += "...";
  return out;
}

std::string quoted(std::string_view s) { return "'" + shown(s) + "'"; }

void appendString(std::string &out, std::string_view s) {
  out += '"';
  appendEscaped(out, s, '"');
  out += '"';
}

bool isIdentifier(std::string_view s) {
  auto isStart = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '.';
  };
  auto isRest = [&](char c) { return isStart(c) || (c >= '0' && c <= '9'); };
  return !s.empty() && isStart(s[0]) && std::all_of(s.begin(), s.end(), isRest);
}

std::string_view nearest(std::string_view word, const std::vector<std::string_view> &names) {
  // Any short name is near a word of one or two letters, and none is near a
  // word too long for any; the table of distances stays small as well.
  constexpr size_t kShortestWord = 3, kLongestWord = 64;
  if (word.size() < kShortestWord || word.size() > kLongestWord)
    return {};
  size_t best = word.size() / 3 + 1;
  std::string_view found;
  for (std::string_view name : names)
    if (name.size() <= kLongestWord)
      if (size_t distance = editDistance(word, name); distance < best) {
        best = distance;
        found = name;
      }
  return found;
}

std::string suggest(std::string_view word, const std::vector<std::string_view> &names) {
  if (std::string_view near = nearest(word, names); !near.empty())
    return fmt::format("did you mean {}?", quoted(near));
  if (names.empty())
    return {};
  constexpr size_t kShown = 30;
  std::string list;
  for (size_t i = 0; i < names.size() && i < kShown; ++i)
    list += fmt::format("{}{}", i ? ", " : "", shown(names[i]));
  if (names.size() > kShown)
    list += fmt::format(" and {} more", names.size() - kShown);
  return "known: " + list;
}

std::vector<std::string_view> namesOf(isa::EnumCases cases) {
  std::vector<std::string_view> names;
  for (const isa::EnumCase &c : cases)
    names.push_back(c.name);
  return names;
}

bool hasCase(isa::EnumCases cases, uint32_t value) {
  return std::any_of(cases.begin(), cases.end(),
                     [&](const isa::EnumCase &c) { return c.value == value; });
}

std::string placeInStream(isa::Engine engine, size_t record, std::string_view mnemonic) {
  std::string place = fmt::format("record {} of the {} stream", record, isa::name(engine));
  if (!mnemonic.empty())
    place += fmt::format(", '{}'", mnemonic);
  return place;
}

} // namespace kilnrt::text
