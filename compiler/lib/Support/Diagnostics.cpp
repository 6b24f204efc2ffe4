//===- Diagnostics.cpp - Kiln's diagnostics through MLIR's ------------------------------------===//

#include "kiln/Support/Diagnostics.h"

#include "kiln/Dialect/Nisa/IR/Locations.h"

using namespace mlir;

namespace kiln {
namespace {

constexpr llvm::StringLiteral kInternal = "internal fault: ";
constexpr llvm::StringLiteral kHelp = "help: ";

DiagnosticSeverity severityOf(Severity severity) {
  switch (severity) {
  case Severity::Error:
    return DiagnosticSeverity::Error;
  case Severity::Warning:
    return DiagnosticSeverity::Warning;
  case Severity::Note:
    return DiagnosticSeverity::Remark;
  }
  return DiagnosticSeverity::Error;
}

Severity severityOf(DiagnosticSeverity severity) {
  switch (severity) {
  case DiagnosticSeverity::Error:
    return Severity::Error;
  case DiagnosticSeverity::Warning:
    return Severity::Warning;
  case DiagnosticSeverity::Note:
  case DiagnosticSeverity::Remark:
    return Severity::Note;
  }
  return Severity::Error;
}

/// Splits "[P-06] message" into its rule and the rest.
std::pair<llvm::StringRef, llvm::StringRef> splitRule(llvm::StringRef text) {
  if (!text.consume_front("["))
    return {"", text};
  auto [rule, rest] = text.split("] ");
  return {rule, rest};
}

} // namespace

void emit(MLIRContext *context, const Diagnostic &d) {
  InFlightDiagnostic out =
      context->getDiagEngine().emit(nisa::toLoc(context, d.place), severityOf(d.severity));
  if (d.fault == Fault::Internal)
    out << kInternal;
  if (!d.rule.empty())
    out << "[" << d.rule << "] ";
  out << d.message;
  for (const DiagnosticNote &note : d.notes)
    out.attachNote(nisa::toLoc(context, note.place)) << note.message;
  if (!d.help.empty())
    out.attachNote(nisa::toLoc(context, d.place)) << kHelp << d.help;
}

Diagnostic toDiagnostic(mlir::Diagnostic &diagnostic, bool fromUser) {
  Diagnostic d;
  d.severity = severityOf(diagnostic.getSeverity());
  d.place = nisa::chainOf(diagnostic.getLocation());
  std::string text = diagnostic.str();
  llvm::StringRef rest = text;
  bool internal = rest.consume_front(kInternal);
  auto [rule, message] = splitRule(rest);
  d.rule = rule.str();
  d.message = message.str();
  d.fault = internal || (rule.empty() && !fromUser) ? Fault::Internal : Fault::User;
  for (mlir::Diagnostic &note : diagnostic.getNotes()) {
    std::string noteText = note.str();
    llvm::StringRef help = noteText;
    if (help.consume_front(kHelp) && d.help.empty())
      d.help = help.str();
    else
      d.notes.push_back({noteText, nisa::chainOf(note.getLocation())});
  }
  return d;
}

} // namespace kiln
