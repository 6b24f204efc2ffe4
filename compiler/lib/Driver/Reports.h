//===- Reports.h - looks at a kernel while the passes run -------------------------------------===//

#ifndef KILN_LIB_DRIVER_REPORTS_H
#define KILN_LIB_DRIVER_REPORTS_H

#include "Compiler.h"

#include "kiln/Conversion/TileToNisa.h"

namespace mlir {
class PassManager;
}

namespace kiln::driver {

/// Makes the reports `options` asks for: the memory report after placement, also when that found no
/// place, and the synchronisation report before the streams are made. `result` must outlive the
/// manager's runs.
void addReports(mlir::PassManager &manager, const CompilerOptions &options, CompileResult &result);

/// Renders the plan of a kernel into `result` in the form asked for, and counts what its values
/// became among the instructions. `result` must outlive the pipeline.
PlanSink planReporter(ReportForm form, CompileResult &result);

/// The remarks about the kernel `name`, which has no whole tensors.
std::string noRemarks(ReportForm form, const std::string &name);

} // namespace kiln::driver

#endif // KILN_LIB_DRIVER_REPORTS_H
