//===- Render.cpp - diagnostics as text or JSON
//----------------------------------------------------------===//

#include "Render.h"

#include <fmt/format.h>

#include <algorithm>

namespace kiln::tool {
namespace {

std::string placeText(const FileLine &at) {
  return at.line ? fmt::format("{}:{}", at.file, at.line) : at.file;
}

/// "a.cpp:3: " or, without a place, "kiln: ".
std::string prefix(const CallChain &place) {
  return place.empty() || place.front().file.empty()
             ? "kiln: "
             : placeText(place.front()) + ": ";
}

std::string callers(const CallChain &place) {
  std::string out;
  for (size_t i = 1; i < place.size(); ++i)
    out += fmt::format("  called from {}\n", placeText(place[i]));
  return out;
}

const char *severityName(Severity s) {
  switch (s) {
  case Severity::Error:
    return "error";
  case Severity::Warning:
    return "warning";
  case Severity::Note:
    return "note";
  }
  return "error";
}

const char *faultName(Fault f) {
  switch (f) {
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

nlohmann::ordered_json placeJson(const CallChain &place) {
  auto frames = nlohmann::ordered_json::array();
  for (const FileLine &at : place)
    frames.push_back({{"file", at.file}, {"line", at.line}});
  return frames;
}

} // namespace

std::string renderText(const Diagnostic &d) {
  std::string rule = d.rule.empty() ? "" : "[" + d.rule + "]";
  std::string out = fmt::format("{}{}{}: {}\n", prefix(d.place),
                                severityName(d.severity), rule, d.message);
  out += callers(d.place);
  for (const DiagnosticNote &note : d.notes) {
    bool placed = !note.place.empty() && !note.place.front().file.empty();
    out += fmt::format("{}note: {}\n",
                       placed ? placeText(note.place.front()) + ": " : "",
                       note.message);
  }
  if (!d.help.empty())
    out += fmt::format("help: {}\n", d.help);
  return out;
}

nlohmann::ordered_json renderJson(const Diagnostic &d) {
  nlohmann::ordered_json out;
  out["severity"] = severityName(d.severity);
  out["rule"] = d.rule;
  out["message"] = d.message;
  out["help"] = d.help;
  out["fault"] = faultName(d.fault);
  out["place"] = placeJson(d.place);
  out["notes"] = nlohmann::ordered_json::array();
  for (const DiagnosticNote &note : d.notes)
    out["notes"].push_back(
        {{"message", note.message}, {"place", placeJson(note.place)}});
  return out;
}

void Reporter::report(const Diagnostic &d) {
  seen.push_back(d);
  // Texts may quote bytes of a malformed file; the replacement handler keeps
  // the output valid UTF-8.
  std::string text =
      json ? renderJson(d).dump(-1, ' ', false,
                                nlohmann::json::error_handler_t::replace) +
                 "\n"
           : renderText(d);
  std::fwrite(text.data(), 1, text.size(), out);
}

void Reporter::report(const std::vector<Diagnostic> &diagnostics) {
  for (const Diagnostic &d : diagnostics)
    report(d);
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
