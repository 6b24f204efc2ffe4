//===- Catalogue.h - what each rule id means --------------------------------------------------===//
//
// Generated from dialects/table/RuleCatalogue.td; `kiln explain` prints it.
//
//===------------------------------------------------------------------------------------------===//

#ifndef KILN_ISA_CATALOGUE_H
#define KILN_ISA_CATALOGUE_H

#include "kiln/ISA/Diagnostic.h"

#include <span>
#include <string_view>
#include <vector>

namespace kiln::isa {

/// What the examples of a rule are, and where the wrong one is found out.
enum class ExampleForm : uint8_t {
  Kernel,       ///< a kernel file; while it is traced and compiled
  Host,         ///< a kernel file; by the host compiler
  Alone,        ///< the same, but it would spoil a file it shares with other examples
  Unregistered, ///< a kernel file that lacks its NL_KERNEL
  Run,          ///< a kernel file; by the executor
  Asm,          ///< assembler text; when it is read or run
  None,         ///< there is no example: no instruction there is can break the rule
};

struct RuleText {
  std::string_view id;
  std::string_view title;  ///< the rule in one sentence
  std::string_view why;    ///< what in the machine or the language makes it so
  std::string_view wayOut; ///< what to write instead
  Severity severity;       ///< of its messages, before -W flags
  bool isPerformance;      ///< a warning that is off unless -Wperf or -WID asks for it
  bool isDemotable;        ///< an error that -Wno-error=ID turns into a warning

  ExampleForm form;
  std::string_view wrong, right;   ///< whole files
  std::string_view arguments;      ///< of the examples, on the command line
  std::string_view wrongArguments; ///< of the wrong one, where they are the mistake
  std::string_view flags;          ///< of the wrong one

  /// Whether -W flags may name it.
  bool isControlled() const { return severity == Severity::Warning || isDemotable; }
};

/// All rules, sorted by id.
std::span<const RuleText> catalogue();
/// The rule with that id, or null.
const RuleText *findRule(std::string_view id);
/// Ids that `text` may have meant, in any case: a few typing mistakes away, else the ids of its
/// family. Nearest first, at most `limit`, none when nothing is near.
std::vector<std::string_view> nearestRules(std::string_view text, size_t limit = 4);

} // namespace kiln::isa

#endif // KILN_ISA_CATALOGUE_H
