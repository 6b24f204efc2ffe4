//===- Stream.h - the stream dialect ----------------------------------------------------------===//
//
// The single include for users of the dialect: sync attribute and ops.
//
//===------------------------------------------------------------------------------------------===//

#ifndef KILN_DIALECT_STREAM_IR_STREAM_H
#define KILN_DIALECT_STREAM_IR_STREAM_H

#include "kiln/Dialect/Nisa/IR/Nisa.h"

#include "kiln/Dialect/Stream/IR/StreamDialect.h.inc"

#define GET_ATTRDEF_CLASSES
#include "kiln/Dialect/Stream/IR/StreamAttrs.h.inc"

#define GET_OP_CLASSES
#include "kiln/Dialect/Stream/IR/StreamOps.h.inc"

namespace kiln::stream {

/// Name of the discardable attribute that holds an instruction's SyncAttr.
inline constexpr llvm::StringLiteral kSyncAttrName = "stream.sync";

/// The synchronisation of `op`, null when it has none.
SyncAttr syncOf(mlir::Operation *op);
void setSync(mlir::Operation *op, SyncAttr sync);

/// How much the completion of an instruction raises a semaphore that it
/// updates by `updateValue`: a DMA raises it once for each of its engines.
uint64_t raiseOf(isa::Opcode opcode, uint32_t updateValue);

/// The queue of `engine`, created at its place in the order of engines when
/// there is none.
QueueOp getOrCreateQueue(mlir::OpBuilder &builder, ProgramOp program, isa::Engine engine);

} // namespace kiln::stream

#endif // KILN_DIALECT_STREAM_IR_STREAM_H
