//===- InstImpl.h - what the generated instruction ops call -----------------------------------===//
//
// Private. The ops of NisaOps.td are thin: each generated method forwards to
// one of these with its opcode, so that the code of an op does not grow with
// the table.
//
//===------------------------------------------------------------------------------------------===//

#ifndef KILN_LIB_NISA_IR_INSTIMPL_H
#define KILN_LIB_NISA_IR_INSTIMPL_H

#include "kiln/Dialect/Nisa/IR/NisaInst.h"

namespace kiln::nisa::instimpl {

/// Attributes of one instruction: accesses, fields, engine.
inline constexpr unsigned kMaxAttrs = isa::kMaxOperands + isa::kMaxFieldWords + 1;
using InstAttrs = std::array<mlir::Attribute, kMaxAttrs>;

/// The attributes of `inst` in the order of `eachAttr`; it stands inside `loops` loops.
InstAttrs attrsOf(mlir::MLIRContext *context, const isa::InstDesc &desc,
                  const isa::Instruction &inst, unsigned loops);
/// The number of loops around what `builder` inserts.
unsigned loopsAround(const mlir::OpBuilder &builder);
/// Buffers of present operands, in operand order.
llvm::SmallVector<mlir::Value, isa::kMaxOperands>
presentBuffers(const isa::InstDesc &desc, const isa::Instruction &inst,
               llvm::ArrayRef<mlir::Value> tensors);

/// Writes `attrs` into the properties of an op. Setting the struct directly is
/// several times faster than a dictionary of named attributes.
template <typename OpT>
void assign(typename OpT::Properties &properties, const InstAttrs &attrs) {
  unsigned next = 0;
  OpT::eachAttr(properties, [&](auto &slot) {
    slot = llvm::cast_if_present<std::remove_reference_t<decltype(slot)>>(attrs[next++]);
  });
  if constexpr (requires { properties.operandSegmentSizes; })
    for (auto [i, size] : llvm::enumerate(properties.operandSegmentSizes))
      size = attrs[i] ? 1 : 0;
}

/// Body of the ops' builders.
template <typename OpT>
void fillState(mlir::OpBuilder &builder, mlir::OperationState &state, const isa::Instruction &inst,
               llvm::ArrayRef<mlir::Value> tensors) {
  const isa::InstDesc &desc = *isa::findInstruction(OpT::kOpcode);
  state.addOperands(presentBuffers(desc, inst, tensors));
  assign<OpT>(state.getOrAddProperties<typename OpT::Properties>(),
              attrsOf(state.getContext(), desc, inst, loopsAround(builder)));
}

/// Checks what relates op and row, then every rule of the row, in all iterations
/// of enclosing loops.
llvm::LogicalResult verifyInst(InstOpInterface op);

/// Inputs read, outputs write; a matmul that may accumulate reads its output.
void getInstEffects(InstOpInterface op,
                    llvm::SmallVectorImpl<mlir::MemoryEffects::EffectInstance> &effects);

void printInst(InstOpInterface op, mlir::OpAsmPrinter &printer);
/// Parses everything behind the op's name into `state`, except for the
/// properties, which it leaves in `attrs`.
mlir::ParseResult parseInst(mlir::OpAsmParser &parser, mlir::OperationState &state,
                            const isa::InstDesc &desc, InstAttrs &attrs);
template <typename OpT>
mlir::ParseResult parseInst(mlir::OpAsmParser &parser, mlir::OperationState &state) {
  InstAttrs attrs;
  if (failed(parseInst(parser, state, *isa::findInstruction(OpT::kOpcode), attrs)))
    return mlir::failure();
  assign<OpT>(state.getOrAddProperties<typename OpT::Properties>(), attrs);
  return mlir::success();
}

/// Appends "[0+128, 0: 1x512]"; `onChip` decides between partitions and rows where the access does
/// not.
void printAccess(llvm::raw_ostream &os, const isa::Access &access,
                 llvm::ArrayRef<int64_t> perIteration, bool onChip);
/// Parses what `printAccess` prints; the element type is left alone.
mlir::ParseResult parseAccess(mlir::AsmParser &parser, isa::Access &access,
                              llvm::SmallVectorImpl<int64_t> &perIteration);

} // namespace kiln::nisa::instimpl

#endif // KILN_LIB_NISA_IR_INSTIMPL_H
