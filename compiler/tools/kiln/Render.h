//===- Render.h - diagnostics as text or JSON -------------------------------------------------===//
//
// The only place that turns a Diagnostic into what a user reads. Libraries
// return records; this prints.
//
//===------------------------------------------------------------------------------------------===//

#ifndef KILN_TOOLS_KILN_RENDER_H
#define KILN_TOOLS_KILN_RENDER_H

#include "kiln/ISA/Diagnostic.h"

#include <nlohmann/json.hpp>

#include <cstdio>
#include <string>
#include <vector>

namespace kiln::tool {

/// The diagnostic as one JSON object.
nlohmann::ordered_json renderJson(const Diagnostic &diagnostic);

/// Where and how diagnostics of this run go.
class Reporter {
public:
  Reporter(FILE *out, bool json) : out(out), json(json) {}

  /// Writes one diagnostic; JSON form is one object a line.
  void report(const Diagnostic &diagnostic);
  void report(const std::vector<Diagnostic> &diagnostics);
  /// Writes lines that belong to what was reported last; nothing in JSON form.
  void addLines(std::string_view text);
  /// Everything reported so far, for `--json`.
  const std::vector<Diagnostic> &all() const { return seen; }
  bool isJson() const { return json; }
  /// Exit code of the worst error reported: 0 when there was none.
  int exitCode() const;

private:
  FILE *out;
  bool json;
  std::vector<Diagnostic> seen;
};

/// Exit code of a class of faults (documented in `kiln --help`).
int exitCodeOf(Fault fault);

} // namespace kiln::tool

#endif // KILN_TOOLS_KILN_RENDER_H
