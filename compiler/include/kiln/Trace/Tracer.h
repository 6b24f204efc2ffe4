//===- Tracer.h - running a kernel function and keeping what it recorded ----------------------===//
//
// The library side of the kernel language. A kernel file is loaded elsewhere; `traceKernel` checks
// the arguments against the kernel's signature, calls the function once and returns the finished
// trace or the diagnostics. No state survives a trace; traces may run in several threads, one each.
//
//===------------------------------------------------------------------------------------------===//

#ifndef KILN_TRACE_TRACER_H
#define KILN_TRACE_TRACER_H

#include "kiln/Driver/CompileApi.h"
#include "kiln/Trace/Trace.h"
#include "nl/detail/plugin.h"

#include <functional>
#include <span>
#include <variant>

namespace kiln::trace {

/// Source line of the instruction that holds `address` (an address inside a call instruction of the
/// kernel file, in this process). An empty file or line 0 means unknown. Called once for each
/// distinct address, after the kernel has returned.
using AddressResolver = std::function<FileLine(uint64_t address)>;

/// Addresses [begin, end) that hold code of the kernel file.
struct TextRange {
  uint64_t begin = 0, end = 0;
};

struct TraceOptions {
  std::string kernelFile; ///< places are given relative to its folder
  std::string includeDir; ///< folder that holds nl/nl.h; frames inside its nl/ are not the author's
  AddressResolver resolver;
  std::vector<TextRange> text;
  size_t maxDiagnostics = 20; ///< more are counted, not kept
  /// Instructions and tensors a kernel may make; more stop it (K-12), since a loop without an end
  /// would take all memory.
  size_t maxStatements = 2'000'000;
};

struct TraceResult {
  bool ok = false;
  Trace trace;                         ///< empty unless ok
  std::vector<Diagnostic> diagnostics; ///< in source order
};

/// Traces `kernel` for `args`. Whatever the kernel's own C++ throws becomes a diagnostic.
TraceResult traceKernel(const nl::detail::KernelEntry &kernel, std::span<const driver::Arg> args,
                        const TraceOptions &options);

/// Why libkiln cannot use a kernel file: it has no kiln_plugin (`info` is null), or was compiled
/// with the headers of another version.
std::optional<Diagnostic> checkPlugin(const nl::detail::PluginInfo *info,
                                      const std::string &kernelFile);

/// The kernel called `name`; an empty name means the only one.
std::variant<const nl::detail::KernelEntry *, Diagnostic>
findKernel(const nl::detail::PluginInfo &info, std::string_view name,
           const std::string &kernelFile);

/// Name, "name: kind" of each parameter, and place, for `kiln list`.
driver::KernelInfo describeKernel(const nl::detail::KernelEntry &kernel,
                                  const std::string &kernelFile);

/// `path` relative to the folder of `kernelFile` where that is possible.
std::string relativeToKernel(const std::string &path, const std::string &kernelFile);

/// Ends the trace of this thread, if there is one, with K-06: a kernel does not launch `kernel`.
void refuseLaunchInKernel(std::string_view kernel, const nl::SrcLoc &loc);

/// Why a kernel cannot run on so many cores (K-05).
std::optional<Diagnostic> checkLaunch(std::string_view kernel, int64_t cores);

/// Where two traces of one kernel with the same arguments differ (K-09), the first difference only.
std::optional<Diagnostic> compareTraces(const Trace &first, const Trace &second);

/// The place this thread's trace recorded last, for the report of a crash in the author's own C++;
/// line 0 outside a trace. Safe in a signal handler.
nl::SrcLoc lastTracedLine();

} // namespace kiln::trace

#endif // KILN_TRACE_TRACER_H
