//===- Reports.h - looks at a kernel while the passes run -------------------------------------===//

#ifndef KILN_LIB_DRIVER_REPORTS_H
#define KILN_LIB_DRIVER_REPORTS_H

#include "Compiler.h"

namespace mlir {
class PassManager;
}

namespace kiln::driver {

/// Makes the reports `options` asks for: the memory report after placement, also when that found no
/// place, and the synchronisation report before the streams are made. `result` must outlive the
/// manager's runs.
void addReports(mlir::PassManager &manager, const CompilerOptions &options, CompileResult &result);

} // namespace kiln::driver

#endif // KILN_LIB_DRIVER_REPORTS_H
