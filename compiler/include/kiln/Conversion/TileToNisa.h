//===- TileToNisa.h - from whole tensors to instructions on tiles -----------------------------===//

#ifndef KILN_CONVERSION_TILETONISA_H
#define KILN_CONVERSION_TILETONISA_H

#include "kiln/Dialect/Tile/IR/Tile.h"

#include "mlir/Pass/Pass.h"

namespace kiln {

#define GEN_PASS_DECL
#include "kiln/Conversion/TileToNisaPasses.h.inc"

#define GEN_PASS_REGISTRATION
#include "kiln/Conversion/TileToNisaPasses.h.inc"

} // namespace kiln

#endif // KILN_CONVERSION_TILETONISA_H
