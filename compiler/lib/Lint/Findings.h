//===- Findings.h - what the lints share ------------------------------------------------------===//
//
// The list of findings, one for each source line and rule, and names of things in messages.
//
//===------------------------------------------------------------------------------------------===//

#ifndef KILN_LIB_LINT_FINDINGS_H
#define KILN_LIB_LINT_FINDINGS_H

#include "kiln/ISA/Rules.h"
#include "kiln/ISA/Text.h"
#include "kiln/ISA/Warnings.h"
#include "kiln/Trace/Trace.h"

#include <map>
#include <span>
#include <string>
#include <tuple>

namespace kiln::lint {

/// "448 bytes", "14.7 MiB".
std::string sizeText(int64_t bytes);

/// A message on its way; the list adds its place, and its severity as the catalogue has it.
struct Finding {
  /// A tensor whose declaration the message needs, with its role for one without a name.
  struct Subject {
    uint32_t tensor;
    std::string_view role = {};
  };
  std::string message, help;
  std::vector<Subject> subjects = {};
};

/// Collects findings. The first one of a source line and rule is kept, the others are counted.
class Findings {
public:
  Findings(const trace::Trace &trace, const WarningOptions &warnings)
      : trace(trace), warnings(warnings) {}

  /// Whether findings of `rule` are shown. A lint asks before it does any work.
  bool wants(std::string_view rule) const { return warnings.isOn(rule); }

  /// Adds a finding at `location`; `build` makes it when it is the first there.
  template <class Build>
  void add(std::string_view rule, uint32_t location, Build build) {
    if (isNew(rule, location))
      insert(rule, location, build());
  }

  std::vector<Diagnostic> finish();

  //---- names
  //--------------------------------------------------------------------------------------------

  /// "'w'", or "the 128x512 float32 tile of line 33".
  std::string nameOf(uint32_t tensor) const;
  /// The instruction as the rules see it; operands carry the author's names only.
  isa::InstView viewOf(const isa::Instruction &inst) const;

  const trace::Trace &trace;

private:
  bool isNew(std::string_view rule, uint32_t location);
  void insert(std::string_view rule, uint32_t location, Finding finding);
  /// "this 128x512 float32 tile in sbuf".
  std::string declaration(uint32_t tensor) const;

  struct Entry {
    Diagnostic diagnostic;
    size_t repetitions = 0;
  };
  using Line = std::tuple<std::string_view, uint32_t, uint32_t>; // rule, file, line
  const WarningOptions &warnings;
  std::map<Line, size_t> seen; ///< index into entries
  std::vector<Entry> entries;
};

/// Whether an element of `src` is read after the instruction has written it through `dst`: both are
/// streamed in order, and the k-th element of dst is written when its share of src has been read.
/// Precondition: one tensor, on chip.
bool readsWhatItWrote(const isa::TensorView &tensor, const isa::Access &dst,
                      const isa::Access &src);

// The lints, each over the whole trace.
void lintInstructions(Findings &findings); ///< B-11, D-13, V-09, V-14, W-01, W-02, W-03, W-05
void lintTensors(Findings &findings);      ///< P-03, H-05, K-04, M-12, W-08
void lintLoops(Findings &findings);        ///< C-11
void lintWrites(Findings &findings);       ///< M-08, M-10

} // namespace kiln::lint

#endif // KILN_LIB_LINT_FINDINGS_H
