//===- Nisa.h - the nisa dialect --------------------------------------------------------------===//
//
// The single include for users of the dialect: type, access attribute,
// interface, ops. Conversion between ops and isa::Instruction is in NisaInst.h.
//
//===------------------------------------------------------------------------------------------===//

#ifndef KILN_DIALECT_NISA_IR_NISA_H
#define KILN_DIALECT_NISA_IR_NISA_H

#include "kiln/ISA/Instruction.h"
#include "kiln/ISA/Rules.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace kiln::isa {
/// Found by argument-dependent lookup when an access attribute is uniqued.
llvm::hash_code hash_value(const Access &access);
} // namespace kiln::isa

namespace kiln::nisa {

/// One memory of the core, as a resource of memory effects. Buffers in
/// different memories never alias.
struct SbufResource : mlir::SideEffects::Resource::Base<SbufResource> {
  llvm::StringRef getName() final { return "sbuf"; }
};
struct PsumResource : mlir::SideEffects::Resource::Base<PsumResource> {
  llvm::StringRef getName() final { return "psum"; }
};
struct HbmResource : mlir::SideEffects::Resource::Base<HbmResource> {
  llvm::StringRef getName() final { return "hbm"; }
};
/// The reduction registers of the engines: what one instruction leaves there, a later one reads.
struct AccumulatorResource : mlir::SideEffects::Resource::Base<AccumulatorResource> {
  llvm::StringRef getName() final { return "accumulators"; }
};
/// What whoever runs the program gets to see, in the order it is shown.
struct HostResource : mlir::SideEffects::Resource::Base<HostResource> {
  llvm::StringRef getName() final { return "host"; }
};
/// The resource of `memory`.
mlir::SideEffects::Resource *resourceOf(isa::Memory memory);

} // namespace kiln::nisa

#include "kiln/Dialect/Nisa/IR/NisaDialect.h.inc"

#define GET_TYPEDEF_CLASSES
#include "kiln/Dialect/Nisa/IR/NisaTypes.h.inc"

#define GET_ATTRDEF_CLASSES
#include "kiln/Dialect/Nisa/IR/NisaAttrs.h.inc"

#include "kiln/Dialect/Nisa/IR/NisaInterfaces.h.inc"

#define GET_OP_CLASSES
#include "kiln/Dialect/Nisa/IR/NisaOps.h.inc"

#endif // KILN_DIALECT_NISA_IR_NISA_H
