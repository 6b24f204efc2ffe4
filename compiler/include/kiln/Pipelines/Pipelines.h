//===- Pipelines.h - the ordered lists of passes ----------------------------------------------===//

#ifndef KILN_PIPELINES_PIPELINES_H
#define KILN_PIPELINES_PIPELINES_H

#include "kiln/Conversion/TileToNisa.h"

#include "mlir/Pass/PassManager.h"

#include <string>

namespace kiln {

/// Options of the whole compilation.
struct PipelineOptions {
  bool compactPlacement = false;
  bool allowManualOverlap = false;   ///< M-04 is a warning
  bool allowShallowRotation = false; ///< M-05 is a warning
  PlanSink planSink;                 ///< is shown the plan of a kernel that has values
  std::string testFault; ///< a pass that shall fail or, after "hang:", never end; for tests
};

/// How far to go; each level includes the ones before it.
enum class Level { Tile, Nisa, Placed, Scheduled, Streams };

/// Adds the passes from traced instructions to `level`.
void buildPipeline(mlir::OpPassManager &manager, Level level, const PipelineOptions &options);

/// The same, cut after the pass named `pass` ("kiln-place"); false when the
/// full pipeline has no such pass.
bool buildPipelineUntil(mlir::OpPassManager &manager, llvm::StringRef pass,
                        const PipelineOptions &options);

/// Names of the passes of the full pipeline, in order.
std::vector<std::string> pipelinePasses();

/// Registers -kiln-to-streams for kiln-opt.
void registerPipelines();

} // namespace kiln

#endif // KILN_PIPELINES_PIPELINES_H
