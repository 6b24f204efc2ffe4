//===- Locations.h - call chains as MLIR locations, and back ----------------------------------===//
//
// A position in a kernel is the author's statement and the calls that led to
// it: a FileLineColLoc (column 0: not every host compiler has columns) inside
// a chain of CallSiteLocs.
//
//===------------------------------------------------------------------------------------------===//

#ifndef KILN_DIALECT_NISA_IR_LOCATIONS_H
#define KILN_DIALECT_NISA_IR_LOCATIONS_H

#include "kiln/ISA/Diagnostic.h"

#include "mlir/IR/Location.h"

namespace kiln::nisa {

/// One line as a location.
mlir::Location toLoc(mlir::MLIRContext *context, llvm::StringRef file, unsigned line);
/// `chain`, innermost first; an unknown location when it is empty.
mlir::Location toLoc(mlir::MLIRContext *context, const CallChain &chain);
/// The chain of `loc`, innermost first; empty when nothing in it names a file.
/// A fused location stands for its first part that has a chain.
CallChain chainOf(mlir::Location loc);

} // namespace kiln::nisa

#endif // KILN_DIALECT_NISA_IR_LOCATIONS_H
