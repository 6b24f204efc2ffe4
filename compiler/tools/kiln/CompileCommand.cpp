//===- CompileCommand.cpp - kiln compile ------------------------------------------------------===//

#include "Commands.h"
#include "Compilation.h"

#include <fmt/format.h>

namespace kiln::tool {
namespace {

std::optional<driver::Emit> parseEmit(const std::string &text) {
  static constexpr std::pair<const char *, driver::Emit> kLevels[] = {
      {"tile", driver::Emit::Tile},       {"nisa", driver::Emit::Nisa},
      {"placed", driver::Emit::Placed},   {"scheduled", driver::Emit::Scheduled},
      {"streams", driver::Emit::Streams}, {"program", driver::Emit::Program},
  };
  for (auto [name, level] : kLevels)
    if (text == name)
      return level;
  return std::nullopt;
}

} // namespace

int compileCommand(const CompileToOptions &options, Reporter &reporter) {
  auto emit = parseEmit(options.emit);
  if (!emit) {
    reporter.report(
        kilnrt::makeError(Fault::Usage, fmt::format("there is no level '{}'", options.emit),
                          "--emit takes tile, nisa, placed, scheduled, streams or program"));
    return reporter.exitCode();
  }
  if (splitKernel(options.compile.kernel).isProgram()) {
    reporter.report(kilnrt::makeError(
        Fault::Usage, fmt::format("'{}' is compiled already", options.compile.kernel),
        "use `kiln objdump` to read a program"));
    return reporter.exitCode();
  }
  bool binary = *emit == driver::Emit::Program && options.stopAfter.empty();
  // A report is reason enough to compile.
  const bool isForReport = !options.compile.memoryReport.empty() ||
                           !options.compile.syncReport.empty() || !options.compile.remarks.empty();
  if (binary && options.output.empty() && !isForReport) {
    reporter.report(kilnrt::makeError(Fault::Usage, "a program needs a file to go to",
                                      "add -o PROG.kiln, or --emit=streams to read the streams"));
    return reporter.exitCode();
  }
  auto warnings = parseWarnings(options.compile.warnings, reporter);
  auto arguments = parseArguments(options.compile.args, reporter);
  if (!warnings || !arguments)
    return reporter.exitCode();
  auto result = compile(options.compile, *warnings, *arguments, *emit, options.stopAfter, reporter);
  if (result && !(binary && options.output.empty())) {
    std::string_view bytes = result->text;
    if (!result->program.empty())
      bytes = {reinterpret_cast<const char *>(result->program.data()), result->program.size()};
    auto status = writeFile(options.output.empty() ? "-" : options.output, bytes);
    if (!status)
      reporter.report(status.error());
  }
  if (!options.json.empty()) {
    nlohmann::ordered_json out;
    out["version"] = 1;
    out["ok"] = reporter.exitCode() == 0;
    out["kernel"] = options.compile.kernel;
    out["target"] = "trn2";
    out["emit"] = options.emit;
    if (result)
      out["instructions"] = result->instructions;
    out["diagnostics"] = nlohmann::ordered_json::array();
    for (const Diagnostic &d : reporter.all())
      out["diagnostics"].push_back(renderJson(d));
    if (auto status = writeFile(options.json, out.dump(2) + "\n"); !status)
      reporter.report(status.error());
  }
  return reporter.exitCode();
}

} // namespace kiln::tool
