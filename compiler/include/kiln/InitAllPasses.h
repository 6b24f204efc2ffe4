//===- InitAllPasses.h - every pass and pipeline, registered in one place ---------------------===//
//
// Tools never list passes; they call this. CSE and canonicalisation come along:
// tests use them to show that memory effects are declared right.
//
//===------------------------------------------------------------------------------------------===//

#ifndef KILN_INITALLPASSES_H
#define KILN_INITALLPASSES_H

#include "kiln/Conversion/NisaToStream.h"
#include "kiln/Conversion/TileToNisa.h"
#include "kiln/Dialect/Nisa/Transforms/Passes.h"
#include "kiln/Dialect/Tile/Transforms/Passes.h"
#include "kiln/Pipelines/Pipelines.h"
#include "kiln/Transforms/Passes.h"

#include "mlir/Transforms/Passes.h"

namespace kiln {

inline void registerAllPasses() {
  mlir::registerCanonicalizerPass();
  mlir::registerCSEPass();
  nisa::registerNisaPasses();
  tile::registerTilePasses();
  registerKilnTransformsPasses();
  registerKilnTileToNisaPasses();
  registerKilnNisaToStreamPasses();
  registerPipelines();
}

} // namespace kiln

#endif // KILN_INITALLPASSES_H
