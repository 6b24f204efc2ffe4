//===- Render.cpp - diagnostics as text or JSON -----------------------------------------------===//

#include "Render.h"

#include "kiln/ISA/DiagnosticText.h"

#include <algorithm>

namespace kiln::tool {
namespace {

nlohmann::ordered_json placeJson(const CallChain &place) {
  auto frames = nlohmann::ordered_json::array();
  for (const FileLine &at : place)
    frames.push_back({{"file", at.file}, {"line", at.line}});
  return frames;
}

nlohmann::ordered_json bytesJson(const DiagnosticBytes &b) {
  return {{"what", b.what},
          {"memory", b.memory},
          {"tensor", b.tensor},
          {"partition", b.partition},
          {"partitions", b.partitions},
          {"byte", b.byte},
          {"bytes", b.bytes},
          {"step", b.step},
          {"runs", b.runs}};
}

} // namespace

nlohmann::ordered_json renderJson(const Diagnostic &d) {
  nlohmann::ordered_json out;
  out["severity"] = name(d.severity);
  out["rule"] = d.rule;
  out["message"] = d.message;
  out["help"] = d.help;
  out["fault"] = name(d.fault);
  out["place"] = placeJson(d.place);
  out["notes"] = nlohmann::ordered_json::array();
  for (const DiagnosticNote &note : d.notes)
    out["notes"].push_back(
        {{"message", note.message}, {"rule", note.rule}, {"place", placeJson(note.place)}});
  if (!d.bytes.empty()) {
    out["bytes"] = nlohmann::ordered_json::array();
    for (const DiagnosticBytes &bytes : d.bytes)
      out["bytes"].push_back(bytesJson(bytes));
  }
  return out;
}

void Reporter::report(const Diagnostic &d) {
  seen.push_back(d);
  // Texts may quote bytes of a malformed file; the replacement handler keeps
  // the output valid UTF-8.
  std::string text =
      json ? renderJson(d).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n"
           : toText(d);
  std::fwrite(text.data(), 1, text.size(), out);
}

void Reporter::report(const std::vector<Diagnostic> &diagnostics) {
  for (const Diagnostic &d : diagnostics)
    report(d);
}

void Reporter::addLines(std::string_view text) {
  if (!json)
    std::fwrite(text.data(), 1, text.size(), out);
}

int exitCodeOf(Fault fault) {
  switch (fault) {
  case Fault::User:
    return 1;
  case Fault::Usage:
    return 2;
  case Fault::Check:
    return 3;
  case Fault::Limit:
    return 4;
  case Fault::Internal:
    return 70;
  }
  return 70;
}

int Reporter::exitCode() const {
  int code = 0;
  for (const Diagnostic &d : seen)
    if (d.severity == Severity::Error)
      code = std::max(code, exitCodeOf(d.fault));
  return code;
}

} // namespace kiln::tool
