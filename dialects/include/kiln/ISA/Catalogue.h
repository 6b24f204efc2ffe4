//===- Catalogue.h - what each rule id means --------------------------------------------------===//
//
// Generated from dialects/table/RuleCatalogue.td; `kiln explain` prints it.
//
//===------------------------------------------------------------------------------------------===//

#ifndef KILN_ISA_CATALOGUE_H
#define KILN_ISA_CATALOGUE_H

#include <span>
#include <string_view>

namespace kiln::isa {

struct RuleText {
  std::string_view id;
  std::string_view title;  ///< the rule in one sentence
  std::string_view why;    ///< what in the machine or the language makes it so
  std::string_view wayOut; ///< what to write instead
};

/// All rules, sorted by id.
std::span<const RuleText> catalogue();
/// The rule with that id, or null.
const RuleText *findRule(std::string_view id);

} // namespace kiln::isa

#endif // KILN_ISA_CATALOGUE_H
