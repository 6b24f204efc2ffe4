//===- Compiler.h - from a trace to a program or to text --------------------------------------===//

#ifndef KILN_LIB_DRIVER_COMPILER_H
#define KILN_LIB_DRIVER_COMPILER_H

#include "kiln/Driver/CompileApi.h"
#include "kiln/Trace/Trace.h"

namespace kiln::driver {

struct CompilerOptions {
  Emit emit = Emit::Program;
  WarningOptions warnings;   ///< the -W flags
  std::string stopAfter;     ///< print the IR after this pass
  std::string reproducerDir; ///< empty: current folder
  std::string testFault;     ///< a pass that shall fail
  bool compactPlacement = false;
  ReportForm memoryReport = ReportForm::None;
  ReportForm syncReport = ReportForm::None;
  ReportForm remarks = ReportForm::None;
  Activity *activity = nullptr; ///< told of each pass; null: nobody wants to know
};

/// Compiles `trace` and appends to `result`. A crash or failure of a pass
/// becomes a diagnostic of class Internal, with a reproducer on disk.
void compileTrace(const trace::Trace &trace, const CompilerOptions &options, CompileResult &result);

} // namespace kiln::driver

#endif // KILN_LIB_DRIVER_COMPILER_H
