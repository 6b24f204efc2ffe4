//===- TraceToNisa.h - from a finished trace to the nisa dialect ------------------------------===//
//
// The border between plain data and IR. The trace is trusted: the tracer has
// checked every rule, and the verifier checks them again.
//
//===------------------------------------------------------------------------------------------===//

#ifndef KILN_CONVERSION_TRACETONISA_TRACETONISA_H
#define KILN_CONVERSION_TRACETONISA_TRACETONISA_H

#include "kiln/Trace/Trace.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace kiln {

/// A module with one nisa.kernel: an allocation for each tensor in the trace's
/// order, then an op for each instruction and each node of its graph, in program
/// order. Locations of the trace become call
/// chains, one MLIR location each however often it is used. Loads the dialects
/// into `context`. Preconditions: indices are in range, instructions
/// are not internal ones.
mlir::OwningOpRef<mlir::ModuleOp> traceToNisa(mlir::MLIRContext *context,
                                              const trace::Trace &trace);

} // namespace kiln

#endif // KILN_CONVERSION_TRACETONISA_TRACETONISA_H
