//===- CompileApi.h - what the kiln tool asks of libkiln --------------------------------------===//
//
// The tool starts without LLVM and loads libkiln only when something is compiled; both come from
// one build, so the border is plain C++ structs behind a few C symbols. No MLIR type crosses it.
//
//===------------------------------------------------------------------------------------------===//

#ifndef KILN_DRIVER_COMPILEAPI_H
#define KILN_DRIVER_COMPILEAPI_H

#include "kiln/Driver/Activity.h"
#include "kiln/ISA/Diagnostic.h"
#include "kiln/ISA/Types.h"
#include "kiln/ISA/Warnings.h"

#include <cstddef>
#include <string>
#include <variant>
#include <vector>

namespace kiln::driver {

/// A tensor argument as the compiler sees it: no values.
struct TensorArg {
  isa::DType dtype = isa::DType::Float32;
  std::vector<int64_t> shape;
};
/// One argument of a kernel: a tensor, or a compile-time value.
using Arg = std::variant<TensorArg, int64_t, double, bool, std::string>;

/// Levels a compilation can stop at and print.
enum class Emit { Tile, Nisa, Placed, Scheduled, Streams, Program };

/// Whether a report is made, and in which form.
enum class ReportForm { None, Text, Json };

struct CompileRequest {
  std::string kernelFile; ///< a .cpp to build as a plug-in, or a .so to load
  std::string kernel;     ///< name in the file's registry; empty: the only one
  std::vector<Arg> args;
  Emit emit = Emit::Program;
  std::string stopAfter;    ///< name of a pass; empty: run them all
  WarningOptions warnings;  ///< the -W flags
  int64_t cores = 1;        ///< programs of the launch
  bool traceTwice = false;  ///< trace again and compare (K-09)
  bool useCache = true;     ///< plug-in cache
  std::string hostCompiler; ///< empty: $CXX, else g++, else clang++
  std::string includeDir;   ///< folder that holds nl/nl.h
  std::string
      reproducerDir;     ///< where a reproducer of an internal fault goes; empty: current folder
  std::string testFault; ///< name of a pass that shall fail, for the test of reproducers
  bool compactPlacement = false; ///< the smallest peak instead of the deepest rotation
  ReportForm memoryReport = ReportForm::None;
  ReportForm syncReport = ReportForm::None;
  ReportForm remarks = ReportForm::None; ///< how whole tensors are computed
  /// Kept up to date, and looked at where it can be; null: nobody wants to know. Outlives the call.
  Activity *activity = nullptr;
};

struct KernelInfo {
  std::string name;
  std::vector<std::string> parameters; ///< "lhsT: tensor", "scale: float"
  FileLine place;
};

struct CompileResult {
  bool ok = false;
  std::vector<Diagnostic> diagnostics; ///< in source order
  std::vector<std::byte> program;      ///< Emit::Program
  std::string text;                    ///< every other level
  std::string reproducer;              ///< file written on an internal fault
  std::string memoryReport;            ///< if asked for; also of a kernel that found no place
  std::string syncReport;              ///< if asked for
  std::string remarks;                 ///< if asked for
  size_t instructions = 0; ///< before loops are written out; values count as what they became
};

struct ListResult {
  bool ok = false;
  std::vector<Diagnostic> diagnostics;
  std::vector<KernelInfo> kernels;
};

} // namespace kiln::driver

extern "C" {
/// Build identity; the tool refuses a library of another build.
const char *kiln_build_id();
void kiln_compile(const kiln::driver::CompileRequest *request, kiln::driver::CompileResult *result);
/// The line the kernel's own C++ reached last, as "file.cpp:12", or null when no kernel is being
/// traced. For a signal handler: it only reads.
const char *kiln_trace_position();
/// Ends the host compiler and removes the files of a build that is not in the cache. For a signal
/// handler that ends the process.
void kiln_abandon();
void kiln_list(const kiln::driver::CompileRequest *request, kiln::driver::ListResult *result);
}

#endif // KILN_DRIVER_COMPILEAPI_H
