//===- DiagnosticText.h - a diagnostic as people read it --------------------------------------===//

#ifndef KILN_ISA_DIAGNOSTICTEXT_H
#define KILN_ISA_DIAGNOSTICTEXT_H

#include "kiln/ISA/Diagnostic.h"

namespace kiln {

/// "file.cpp:12: error[P-06]: ..." with call chain, notes and help, one line
/// each, newline at the end.
std::string toText(const Diagnostic &diagnostic);

/// "error", "warning" or "note".
const char *name(Severity severity);
/// "user", "usage", "check", "limit" or "internal".
const char *name(Fault fault);

} // namespace kiln

#endif // KILN_ISA_DIAGNOSTICTEXT_H
