//===- Catalogue.cpp - the texts of `kiln explain` --------------------------------------------===//

#include "kiln/ISA/Catalogue.h"

#include <algorithm>
#include <string>

namespace kiln::isa {
namespace {

#include "kiln/ISA/Catalogue.cpp.inc"

} // namespace

std::span<const RuleText> catalogue() { return kCatalogue; }

const RuleText *findRule(std::string_view id) {
  auto it = std::ranges::lower_bound(kCatalogue, id, {}, &RuleText::id);
  return it != std::end(kCatalogue) && it->id == id ? &*it : nullptr;
}

namespace {

/// Insertions, deletions and replacements that turn `a` into `b`.
size_t editDistance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j)
    row[j] = j;
  for (size_t i = 0; i < a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i + 1;
    for (size_t j = 0; j < b.size(); ++j) {
      const size_t replaced = diagonal + (a[i] != b[j]);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

/// "p6" and "P-6" are P-06: letters in upper case, then a hyphen and two digits.
std::string canonical(std::string_view text) {
  std::string letters, digits;
  for (char c : text) {
    if (c >= '0' && c <= '9')
      digits += c;
    else if (c >= 'a' && c <= 'z')
      letters += char(c - 'a' + 'A');
    else if (c >= 'A' && c <= 'Z')
      letters += c;
  }
  while (digits.size() < 2)
    digits.insert(digits.begin(), '0');
  return letters + "-" + digits;
}

} // namespace

std::vector<std::string_view> nearestRules(std::string_view text, size_t limit) {
  constexpr size_t kMaxLength = 16; // ids have four characters; longer texts are no slips of them
  if (text.empty() || text.size() > kMaxLength)
    return {};
  const std::string wanted = canonical(text);
  size_t nearest = 2; // more slips leave no likeness
  std::vector<std::string_view> ids;
  for (const RuleText &rule : catalogue()) {
    const size_t distance = editDistance(wanted, rule.id);
    if (distance > nearest)
      continue;
    if (distance < nearest)
      ids.clear();
    nearest = distance;
    ids.push_back(rule.id);
  }
  // The number is mistaken more often than the family.
  std::ranges::stable_partition(ids, [&](std::string_view id) { return id[0] == wanted[0]; });
  ids.resize(std::min(ids.size(), limit));
  return ids;
}

} // namespace kiln::isa
