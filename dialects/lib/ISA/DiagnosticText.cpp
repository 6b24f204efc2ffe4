//===- DiagnosticText.cpp - a diagnostic as people read it ------------------------------------===//

#include "kiln/ISA/DiagnosticText.h"

#include <algorithm>
#include <tuple>

namespace kiln {
namespace {

bool isPlaced(const CallChain &place) { return !place.empty() && !place.front().file.empty(); }

std::string placeText(const FileLine &at) {
  return at.line ? at.file + ":" + std::to_string(at.line) : at.file;
}

} // namespace

const char *name(Severity severity) {
  switch (severity) {
  case Severity::Error:
    return "error";
  case Severity::Warning:
    return "warning";
  case Severity::Note:
    return "note";
  }
  return "error";
}

const char *name(Fault fault) {
  switch (fault) {
  case Fault::User:
    return "user";
  case Fault::Usage:
    return "usage";
  case Fault::Check:
    return "check";
  case Fault::Limit:
    return "limit";
  case Fault::Internal:
    return "internal";
  }
  return "internal";
}

std::string toText(const Diagnostic &d) {
  std::string out = isPlaced(d.place) ? placeText(d.place.front()) : "kiln";
  out += std::string(": ") + name(d.severity);
  if (!d.rule.empty())
    out += "[" + d.rule + "]";
  out += ": " + d.message + "\n";
  for (size_t i = 1; i < d.place.size(); ++i)
    out += "  called from " + placeText(d.place[i]) + "\n";
  for (const DiagnosticNote &note : d.notes) {
    if (isPlaced(note.place))
      out += placeText(note.place.front()) + ": ";
    out += note.rule.empty() ? "note: " : "note[" + note.rule + "]: ";
    out += note.message + "\n";
  }
  if (!d.help.empty())
    out += "help: " + d.help + "\n";
  return out;
}

void sortBySource(std::vector<Diagnostic> &diagnostics) {
  const auto key = [](const Diagnostic &d) {
    const bool placed = isPlaced(d.place);
    const int group = placed ? 1 : d.severity == Severity::Note ? 2 : 0;
    return std::tuple(group, placed ? std::string_view(d.place.front().file) : std::string_view(),
                      placed ? d.place.front().line : 0u);
  };
  std::ranges::stable_sort(diagnostics, {}, key);
}

} // namespace kiln
