//===- InitAllDialects.h - every dialect, registered in one place -----------------------------===//
//
// Tools never list dialects; they call this.
//
//===------------------------------------------------------------------------------------------===//

#ifndef KILN_INITALLDIALECTS_H
#define KILN_INITALLDIALECTS_H

#include "kiln/Dialect/Nisa/IR/Nisa.h"
#include "kiln/Dialect/Stream/IR/Stream.h"
#include "kiln/Dialect/Tile/IR/Tile.h"

namespace kiln {

inline void registerAllDialects(mlir::DialectRegistry &registry) {
  registry.insert<nisa::NisaDialect, stream::StreamDialect, tile::TileDialect>();
}

} // namespace kiln

#endif // KILN_INITALLDIALECTS_H
