//===- InitAllDialects.h - every dialect, registered in one place -----------------------------===//
//
// Tools never list dialects; they call this.
//
//===------------------------------------------------------------------------------------------===//

#ifndef KILN_INITALLDIALECTS_H
#define KILN_INITALLDIALECTS_H

#include "kiln/Dialect/Nisa/IR/Nisa.h"
#include "kiln/Dialect/Stream/IR/Stream.h"

namespace kiln {

inline void registerAllDialects(mlir::DialectRegistry &registry) {
  registry.insert<nisa::NisaDialect, stream::StreamDialect>();
}

} // namespace kiln

#endif // KILN_INITALLDIALECTS_H
