//===- Passes.h - passes that need nothing but the nisa dialect -------------------------------===//

#ifndef KILN_DIALECT_NISA_TRANSFORMS_PASSES_H
#define KILN_DIALECT_NISA_TRANSFORMS_PASSES_H

#include "kiln/Dialect/Nisa/IR/Nisa.h"

#include "mlir/Pass/Pass.h"

namespace kiln::nisa {

#define GEN_PASS_DECL
#include "kiln/Dialect/Nisa/Transforms/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "kiln/Dialect/Nisa/Transforms/Passes.h.inc"

} // namespace kiln::nisa

#endif // KILN_DIALECT_NISA_TRANSFORMS_PASSES_H
