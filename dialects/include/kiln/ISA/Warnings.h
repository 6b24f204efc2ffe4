//===- Warnings.h - which warnings a user wants, and which are errors -------------------------===//
//
// The `-W` flags of every command that compiles. They act on rules the catalogue calls warnings,
// and on the few errors it calls demotable (M-04); all others stay what they are.
//
//   -WID, -Wno-ID             show the rule's warnings, or not
//   -Wperf, -Wno-perf         all performance warnings, which are off by themselves
//   -Werror, -Wno-error       all warnings are errors, or none is
//   -Werror=ID, -Wno-error=ID the same for one rule
//
// A flag that names a rule wins over one that does not, and the later of two over the earlier.
//
//===------------------------------------------------------------------------------------------===//

#ifndef KILN_ISA_WARNINGS_H
#define KILN_ISA_WARNINGS_H

#include "kiln/ISA/Diagnostic.h"

#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace kiln {

class WarningOptions {
public:
  /// Applies the flag `-W<flag>`: "no-P-03", "error=P-03", "perf", ... Returns what is wrong with
  /// it (a fault of class Usage), or nothing.
  std::optional<Diagnostic> add(std::string_view flag);

  /// Whether breaking `rule`, a warning or demotable error, is reported at all.
  bool isOn(std::string_view rule) const;
  /// Whether breaking `rule` is an error under these flags.
  bool isError(std::string_view rule) const;

  /// Gives `diagnostic` the severity these flags ask for. False: it is not shown. Diagnostics
  /// without a rule and of other rules stay as they are.
  bool apply(Diagnostic &diagnostic) const;

private:
  /// What flags said about one rule; empty: nothing.
  struct Wish {
    std::optional<bool> on, error;
  };
  const Wish *wishOf(std::string_view rule) const;

  std::map<std::string, Wish, std::less<>> wishes;
  bool performance = false;
  bool allErrors = false;
};

} // namespace kiln

#endif // KILN_ISA_WARNINGS_H
