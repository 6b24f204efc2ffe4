//===- Api.cpp - the entry points of libkiln --------------------------------------------------===//

#include "BuildId.h"
#include "Compiler.h"
#include "Leftovers.h"
#include "Plugin.h"
#include "PluginBuilder.h"

#include "llvm/ADT/STLExtras.h"

#include <atomic>
#include <cstring>
#include <filesystem>

namespace fs = std::filesystem;

namespace kiln::driver {
namespace {

/// Set while the author's own C++ runs: loading a kernel file and tracing it.
std::atomic<bool> authorRuns{false};

struct AuthorRuns {
  AuthorRuns() { authorRuns = true; }
  ~AuthorRuns() { authorRuns = false; }
};

/// The kernel file as a loaded plug-in, and what keeps it on disk.
struct OpenedFile {
  std::optional<BuiltPlugin> built;
  std::optional<Plugin> plugin;
};

/// What the request's observer is told.
void begin(const CompileRequest &request, const char *what) {
  if (request.activity)
    request.activity->begin(what);
}

/// Builds the kernel file, looking at the request's `stop` all the time.
std::variant<BuiltPlugin, std::vector<Diagnostic>> buildFile(const CompileRequest &request,
                                                             const BuildOptions &options) {
  begin(request, "while the host compiler was building the kernel file");
  if (!request.activity)
    return buildPlugin(request.kernelFile, options);
  auto built = [&] {
    Heeding guard(*request.activity);
    return buildPlugin(request.kernelFile, options);
  }();
  // Asked between two looks: the build is complete, what comes next would not hear of it.
  if (request.activity->stop && std::holds_alternative<BuiltPlugin>(built)) {
    Diagnostic d;
    d.fault = Fault::Limit;
    d.message = "the build of the kernel file was stopped";
    return std::vector{d};
  }
  return built;
}

std::variant<OpenedFile, std::vector<Diagnostic>> openFile(const CompileRequest &request) {
  OpenedFile opened;
  if (request.kernelFile.ends_with(".so")) {
    begin(request, "while loading the kernel file");
    AuthorRuns guard; // static constructors are the author's code too
    auto loaded = loadPlugin(request.kernelFile, request.kernelFile);
    if (auto *problem = std::get_if<Diagnostic>(&loaded))
      return std::vector{*problem};
    opened.plugin.emplace(std::move(std::get<Plugin>(loaded)));
    return opened;
  }
  BuildOptions options;
  options.hostCompiler = request.hostCompiler;
  options.includeDir = request.includeDir;
  options.buildId = ownBuildId();
  options.useCache = request.useCache;
  options.activity = request.activity;
  for (;;) {
    auto built = buildFile(request, options);
    if (auto *problems = std::get_if<std::vector<Diagnostic>>(&built))
      return std::move(*problems);
    BuiltPlugin &plugin = std::get<BuiltPlugin>(built);
    begin(request, "while loading the kernel file");
    AuthorRuns guard;
    auto loaded = loadPlugin(plugin.path, request.kernelFile);
    if (auto *found = std::get_if<Plugin>(&loaded)) {
      opened.built.emplace(std::move(plugin));
      opened.plugin.emplace(std::move(*found));
      return opened;
    }
    // A damaged file in the cache is built anew, once.
    if (!plugin.fromCache)
      return std::vector{std::get<Diagnostic>(loaded)};
    options.rebuild = true;
  }
}

/// Diagnostics name files relative to the folder of this one.
std::string absolute(const std::string &file) {
  std::error_code problem;
  fs::path path = fs::absolute(file, problem);
  return problem ? file : path.lexically_normal().string();
}

void compile(const CompileRequest &request, CompileResult &result) {
  auto opened = openFile(request);
  if (auto *problems = std::get_if<std::vector<Diagnostic>>(&opened)) {
    result.diagnostics = std::move(*problems);
    return;
  }
  if (auto &built = std::get<OpenedFile>(opened).built; built && !built->cacheProblem.empty()) {
    Diagnostic d;
    d.severity = Severity::Warning;
    d.message = built->cacheProblem;
    d.help = "chmod 700 it, or let Kiln make it";
    result.diagnostics.push_back(std::move(d));
  }
  Plugin &plugin = *std::get<OpenedFile>(opened).plugin;
  auto kernel = trace::findKernel(*plugin.info, request.kernel, request.kernelFile);
  if (auto *problem = std::get_if<Diagnostic>(&kernel)) {
    result.diagnostics.push_back(*problem);
    return;
  }
  trace::TraceOptions options;
  options.kernelFile = absolute(request.kernelFile);
  options.includeDir = request.includeDir;
  options.text = plugin.code.text;
  options.resolver = [&plugin](uint64_t address) { return plugin.code.resolve(address); };
  const auto &entry = *std::get<const nl::detail::KernelEntry *>(kernel);
  if (auto problem = trace::checkLaunch(entry.name, request.cores)) {
    result.diagnostics.push_back(*problem);
    return;
  }
  const auto traceOnce = [&] {
    begin(request, "while tracing the kernel");
    AuthorRuns guard;
    return trace::traceKernel(entry, request.args, options);
  };
  trace::TraceResult traced = traceOnce();
  llvm::append_range(result.diagnostics, traced.diagnostics);
  if (!traced.ok)
    return;
  if (request.traceTwice) {
    trace::TraceResult again = traceOnce();
    llvm::append_range(result.diagnostics, again.diagnostics);
    if (!again.ok)
      return;
    if (auto problem = trace::compareTraces(traced.trace, again.trace)) {
      result.diagnostics.push_back(*problem);
      return;
    }
  }
  CompilerOptions compiler;
  compiler.warnings = request.warnings;
  compiler.emit = request.emit;
  compiler.stopAfter = request.stopAfter;
  compiler.reproducerDir = request.reproducerDir;
  compiler.testFault = request.testFault;
  compiler.compactPlacement = request.compactPlacement;
  compiler.memoryReport = request.memoryReport;
  compiler.syncReport = request.syncReport;
  compiler.remarks = request.remarks;
  compiler.activity = request.activity;
  compileTrace(traced.trace, compiler, result);
  sortBySource(result.diagnostics);
}

void list(const CompileRequest &request, ListResult &result) {
  auto opened = openFile(request);
  if (auto *problems = std::get_if<std::vector<Diagnostic>>(&opened)) {
    result.diagnostics = std::move(*problems);
    return;
  }
  const nl::detail::PluginInfo &info = *std::get<OpenedFile>(opened).plugin->info;
  std::string file = absolute(request.kernelFile);
  for (uint32_t i = 0; i < info.kernelCount; ++i)
    result.kernels.push_back(trace::describeKernel(info.kernels[i], file));
  result.ok = true;
}

/// Appends decimal digits without allocating.
char *appendNumber(char *out, unsigned value) {
  char digits[10];
  int n = 0;
  do
    digits[n++] = char('0' + value % 10);
  while (value /= 10);
  while (n)
    *out++ = digits[--n];
  return out;
}

} // namespace
} // namespace kiln::driver

using namespace kiln::driver;

extern "C" {

const char *kiln_build_id() { return KILN_BUILD_ID; }

void kiln_compile(const CompileRequest *request, CompileResult *result) {
  compile(*request, *result);
}

void kiln_list(const CompileRequest *request, ListResult *result) { list(*request, *result); }

void kiln_abandon() { abandonBuild(); }

const char *kiln_trace_position() {
  if (!authorRuns)
    return nullptr;
  // Called from a signal handler: fixed storage, no library calls that lock.
  static char text[1024];
  nl::SrcLoc at = kiln::trace::lastTracedLine();
  if (at.line == 0)
    return "";
  const char *slash = std::strrchr(at.file, '/');
  const char *name = slash ? slash + 1 : at.file;
  size_t length = std::min(std::strlen(name), sizeof(text) - 16);
  std::memcpy(text, name, length);
  char *end = text + length;
  *end++ = ':';
  *appendNumber(end, at.line) = '\0';
  return text;
}
}
