//===- Catalogue.cpp - the texts of `kiln explain` --------------------------------------------===//

#include "kiln/ISA/Catalogue.h"

#include <algorithm>

namespace kiln::isa {
namespace {

#include "kiln/ISA/Catalogue.cpp.inc"

} // namespace

std::span<const RuleText> catalogue() { return kCatalogue; }

const RuleText *findRule(std::string_view id) {
  auto it = std::ranges::lower_bound(kCatalogue, id, {}, &RuleText::id);
  return it != std::end(kCatalogue) && it->id == id ? &*it : nullptr;
}

} // namespace kiln::isa
