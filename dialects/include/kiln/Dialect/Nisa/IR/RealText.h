//===- RealText.h - numbers in the text of ops ------------------------------------------------===//

#ifndef KILN_DIALECT_NISA_IR_REALTEXT_H
#define KILN_DIALECT_NISA_IR_REALTEXT_H

#include "mlir/IR/OpImplementation.h"

namespace kiln::nisa {

/// The shortest decimal that reads back as `value` (as a float32 where `single` says so), with a
/// point wherever MLIR's lexer needs one; "inf", "nan", and the bits of a NaN other than the usual
/// one.
void printReal(llvm::raw_ostream &os, double value, bool single);
/// A signed decimal that fits 64 bits. "0x4" is the number 0 and an 'x', not a hexadecimal.
mlir::ParseResult parseNumber(mlir::AsmParser &parser, int64_t &value);
/// Parses a register: "r12".
mlir::ParseResult parseRegister(mlir::AsmParser &parser, int64_t &number);
/// Parses what `printReal` prints.
mlir::ParseResult parseReal(mlir::AsmParser &parser, double &value, bool single);

} // namespace kiln::nisa

#endif // KILN_DIALECT_NISA_IR_REALTEXT_H
