//===- Diagnostics.h - Kiln's diagnostics through MLIR's --------------------------------------===//
//
// Passes report through MLIR's diagnostics, so that kiln-opt and lit see them;
// the driver turns them back into records. The border is a convention on the
// text: "[P-06] message", help as a note "help: ...", Kiln's own faults with
// the prefix "internal fault: ".
//
//===------------------------------------------------------------------------------------------===//

#ifndef KILN_SUPPORT_DIAGNOSTICS_H
#define KILN_SUPPORT_DIAGNOSTICS_H

#include "kiln/ISA/Diagnostic.h"

#include "mlir/IR/Diagnostics.h"

namespace kiln {

/// Emits `diagnostic` at its place, with its notes and its help.
void emit(mlir::MLIRContext *context, const Diagnostic &diagnostic);

/// The record that `emit` or an op verifier put into `diagnostic`. Messages
/// without a rule and without the internal prefix are faults of Kiln when
/// `fromUser` is false.
Diagnostic toDiagnostic(mlir::Diagnostic &diagnostic, bool fromUser);

} // namespace kiln

#endif // KILN_SUPPORT_DIAGNOSTICS_H
