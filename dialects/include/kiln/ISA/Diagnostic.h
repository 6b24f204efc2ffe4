//===- Diagnostic.h - what every part of Kiln reports to its user -----------------------------===//
//
// One plain record for the DSL, the verifiers, the passes, the loader and the
// executor. Nothing here prints: a tool renders diagnostics as text or JSON.
//
//===------------------------------------------------------------------------------------------===//

#ifndef KILN_ISA_DIAGNOSTIC_H
#define KILN_ISA_DIAGNOSTIC_H

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace kiln {

/// One line of source. `file` is relative to the kernel file; line 0 means
/// unknown.
struct FileLine {
  std::string file;
  unsigned line = 0;
  bool operator==(const FileLine &) const = default;
};

/// The author's statement first, then the call sites that led to it, innermost
/// first.
using CallChain = std::vector<FileLine>;

enum class Severity { Error, Warning, Note };

/// What went wrong, which decides the exit code of a tool.
enum class Fault {
  User,     ///< the kernel, program or input is at fault: exit 1
  Usage,    ///< wrong command line: exit 2
  Check,    ///< it ran, but a check failed: exit 3
  Limit,    ///< steps, time or memory: exit 4
  Internal, ///< Kiln is at fault: exit 70
};

struct DiagnosticNote {
  std::string message;
  CallChain place;
  std::string rule = {}; ///< of a note that has a rule of its own, such as "P-13"
};

/// Bytes of memory a diagnostic is about, for programs that read it: in each of `partitions`
/// partitions `runs` runs of `bytes` bytes, whose beginnings are `step` bytes apart.
struct DiagnosticBytes {
  std::string what;                      ///< what they are, such as "reads", "unwritten" or "lost"
  std::string memory;                    ///< "sbuf", "psum" or "hbm"
  std::string tensor;                    ///< its name
  int64_t partition = 0, partitions = 1; ///< of the memory; HBM has one
  int64_t byte = 0;                      ///< the first, in its partition; in HBM, in the tensor
  int64_t bytes = 0, step = 0, runs = 1; ///< step is 0 when there is one run
};

/// A message: rule id, the sentence with the offending value and the limit, the
/// place, a way out.
struct Diagnostic {
  Severity severity = Severity::Error;
  Fault fault = Fault::User;
  std::string rule;    ///< id of `kiln explain`, such as "P-06"; empty when no
                       ///< rule applies
  std::string message; ///< lower-case first letter, no final period, names in
                       ///< single quotes
  std::string help;    ///< the smallest edit that works; may be empty
  CallChain place;
  std::vector<DiagnosticNote> notes;
  std::vector<DiagnosticBytes> bytes = {};
};

/// Sorts by file and line of the statement, those of one line in the order they have. Diagnostics
/// without a place come first, notes without one last.
void sortBySource(std::vector<Diagnostic> &diagnostics);

} // namespace kiln

#endif // KILN_ISA_DIAGNOSTIC_H
