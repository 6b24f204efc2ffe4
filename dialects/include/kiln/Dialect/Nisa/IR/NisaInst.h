//===- NisaInst.h - instruction ops as isa::Instruction, and back -----------------------------===//
//
// Generic code reads and writes instruction ops through the neutral form of
// kiln/ISA/Instruction.h, so it never names one of them. Both directions are
// on the compiler's hot path.
//
//===------------------------------------------------------------------------------------------===//

#ifndef KILN_DIALECT_NISA_IR_NISAINST_H
#define KILN_DIALECT_NISA_IR_NISAINST_H

#include "kiln/Dialect/Nisa/IR/Nisa.h"

namespace kiln::nisa {

/// The table's row of `op`.
const isa::InstDesc &descOf(InstOpInterface op);

/// The DMA ring of a transfer. Precondition: descOf(op).isTransfer.
uint32_t ringOf(InstOpInterface op);
void setRing(InstOpInterface op, uint32_t ring);

/// `op` as a value. `tensorIndex` numbers the buffers; accesses carry their
/// element types, the offsets of the first iteration of enclosing loops, and
/// their steps.
isa::Instruction toInstruction(InstOpInterface op,
                               llvm::function_ref<uint32_t(mlir::Value)> tensorIndex);
/// The same, with present operands numbered by their place in the row.
isa::Instruction toInstruction(InstOpInterface op);

/// Inserts the op of `inst` at the builder's place. `tensors` is what the
/// accesses' tensor numbers index. Preconditions: the opcode is not internal,
/// every number is in range, and accesses move only with loops around the place.
mlir::Operation *buildInstruction(mlir::OpBuilder &builder, mlir::Location loc,
                                  const isa::Instruction &inst,
                                  llvm::ArrayRef<mlir::Value> tensors);

/// The buffer of each operand of the row, null where the operand is absent.
std::array<mlir::Value, isa::kMaxOperands> buffersOf(InstOpInterface op);
/// The access of each operand of the row, null where the operand is absent.
std::array<AccessAttr, isa::kMaxOperands> accessesOf(InstOpInterface op);
/// Replaces the access of an operand that is present.
void setAccess(InstOpInterface op, unsigned operand, AccessAttr access);

/// The engine of an instruction; may be Unknown.
isa::Engine engineOf(InstOpInterface op);
void setEngine(InstOpInterface op, isa::Engine engine);

/// What the rules may know of `buffer`. The strings and shapes it points to
/// live as long as the IR.
isa::TensorView viewOf(mlir::Value buffer);

/// The number of loops around `op`.
unsigned loopDepth(mlir::Operation *op);

/// What decides how often a loop runs; of a nisa.for, and of any op with its two attributes.
isa::LoopControl controlOf(ForOp loop);
isa::LoopControl controlOf(int64_t tripCount, mlir::DenseI64ArrayAttr control);
void setControl(ForOp loop, const isa::LoopControl &control);
/// The attribute beside the trip count; null for a counted loop.
mlir::DenseI64ArrayAttr controlAttr(mlir::MLIRContext *context, const isa::LoopControl &control);

} // namespace kiln::nisa

#endif // KILN_DIALECT_NISA_IR_NISAINST_H
