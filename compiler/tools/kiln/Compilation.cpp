//===- Compilation.cpp - from a command line to a program -------------------------------------===//

#include "Compilation.h"

#include "CompilerLibrary.h"
#include "CrashHandler.h"
#include "Progress.h"
#include "StopSignals.h"
#include "kilnrt/HostData/File.h"

#include <cerrno>
#include <cstring>
#include <span>
#include <unistd.h>

namespace kiln::tool {
namespace {

/// What a kernel prints while it is traced goes to stderr: stdout is for results.
class KernelOutput {
public:
  KernelOutput() {
    std::fflush(stdout);
    saved = dup(STDOUT_FILENO);
    dup2(STDERR_FILENO, STDOUT_FILENO);
  }
  ~KernelOutput() {
    std::fflush(stdout);
    dup2(saved, STDOUT_FILENO);
    close(saved);
  }
  KernelOutput(const KernelOutput &) = delete;
  KernelOutput &operator=(const KernelOutput &) = delete;

private:
  int saved = -1;
};

driver::Arg compileArgument(const kilnrt::Argument &argument) {
  return std::visit(
      [](const auto &value) -> driver::Arg {
        if constexpr (std::is_same_v<std::decay_t<decltype(value)>, kilnrt::TensorArgument>)
          return driver::TensorArg{value.dtype, value.shape};
        else
          return value;
      },
      argument.value);
}

} // namespace

bool KernelName::isProgram() const { return file.ends_with(".kiln"); }

KernelName splitKernel(const std::string &text) {
  size_t colon = text.rfind(':');
  // A colon before a slash belongs to the path.
  if (colon == std::string::npos || text.find('/', colon) != std::string::npos)
    return {text, ""};
  return {text.substr(0, colon), text.substr(colon + 1)};
}

std::optional<std::vector<kilnrt::Argument>> parseArguments(const std::vector<std::string> &texts,
                                                            Reporter &reporter) {
  std::vector<kilnrt::Argument> arguments;
  bool ok = true;
  for (const std::string &text : texts) {
    kilnrt::ArgumentOptions options;
    options.position = uint32_t(arguments.size());
    auto argument = kilnrt::parseArgument(text, options);
    if (!argument) {
      reporter.report(argument.error());
      ok = false;
      continue;
    }
    reporter.report(argument->notes);
    arguments.push_back(std::move(*argument));
  }
  if (!ok)
    return std::nullopt;
  return arguments;
}

std::optional<WarningOptions> parseWarnings(const std::vector<std::string> &flags,
                                            Reporter &reporter) {
  WarningOptions warnings;
  bool ok = true;
  for (const std::string &flag : flags)
    if (auto problem = warnings.add(flag)) {
      reporter.report(*problem);
      ok = false;
    }
  if (!ok)
    return std::nullopt;
  return warnings;
}

namespace {

driver::ReportForm reportForm(const std::string &where) {
  if (where.empty())
    return driver::ReportForm::None;
  return where == "json" || where.ends_with(".json") ? driver::ReportForm::Json
                                                     : driver::ReportForm::Text;
}

/// A compilation that ended before there was anything to report leaves `text` empty.
void writeReport(const std::string &where, const std::string &text, Reporter &reporter) {
  if (where.empty() || text.empty())
    return;
  const bool isStdout = where == "text" || where == "json";
  if (auto status = writeFile(isStdout ? "-" : where, text); !status)
    reporter.report(status.error());
}

} // namespace

std::optional<driver::CompileResult> compile(const CompileOptions &options,
                                             const WarningOptions &warnings,
                                             const std::vector<kilnrt::Argument> &arguments,
                                             driver::Emit emit, const std::string &stopAfter,
                                             Reporter &reporter) {
  auto library = loadCompiler();
  if (!library) {
    reporter.report(library.error());
    return std::nullopt;
  }
  KernelName kernel = splitKernel(options.kernel);
  driver::CompileRequest request;
  request.kernelFile = kernel.file;
  request.kernel = kernel.name;
  for (const kilnrt::Argument &argument : arguments)
    request.args.push_back(compileArgument(argument));
  request.emit = emit;
  request.stopAfter = stopAfter;
  request.warnings = warnings;
  request.cores = options.cores;
  request.traceTwice = options.traceTwice;
  request.useCache = !options.noCache;
  request.hostCompiler = options.hostCompiler;
  request.includeDir = includeFolder();
  request.testFault = options.testFault;
  request.compactPlacement = options.placement == "compact";
  request.memoryReport = reportForm(options.memoryReport);
  request.syncReport = reportForm(options.syncReport);
  request.remarks = reportForm(options.remarks);
  request.activity = &activity();

  driver::CompileResult result;
  {
    Progress progress("compiling " + options.kernel);
    KernelOutput output;
    CrashHandler handler(*library);
    library->compile(&request, &result);
  }
  reporter.report(naming(std::move(result.diagnostics)));
  writeReport(options.memoryReport, result.memoryReport, reporter);
  writeReport(options.syncReport, result.syncReport, reporter);
  writeReport(options.remarks, result.remarks, reporter);
  if (!result.ok)
    return std::nullopt;
  return result;
}

nlohmann::ordered_json startReport(const CompileOptions &options) {
  return {{"version", 1}, {"kernel", options.kernel}, {"target", "trn2"}};
}

kilnrt::Status finishReport(const std::string &file, nlohmann::ordered_json &json,
                            const Reporter &reporter) {
  if (file.empty())
    return kilnrt::Status::ok();
  json["ok"] = reporter.exitCode() == 0;
  json["diagnostics"] = nlohmann::ordered_json::array();
  for (const Diagnostic &d : reporter.all())
    json["diagnostics"].push_back(renderJson(d));
  return writeFile(
      file, json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n");
}

kilnrt::Status writeFile(const std::string &path, std::string_view bytes) {
  if (path != "-")
    return kilnrt::replaceFile(path, {std::as_bytes(std::span(bytes))});
  bool written = std::fwrite(bytes.data(), 1, bytes.size(), stdout) == bytes.size();
  if (std::fflush(stdout) == 0 && written)
    return kilnrt::Status::ok();
  return kilnrt::makeError(Fault::User,
                           std::string("cannot write to standard output: ") + std::strerror(errno),
                           "check what reads it");
}

} // namespace kiln::tool
