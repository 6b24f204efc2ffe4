//===- RunCommand.cpp - kiln run --------------------------------------------------------------===//

#include "Commands.h"
#include "Debugging.h"
#include "Obtain.h"
#include "Progress.h"
#include "Proving.h"
#include "ResultText.h"
#include "Schedules.h"
#include "StopSignals.h"
#include "kilnrt/Debug/PrintText.h"
#include "kilnrt/HostData/Compare.h"
#include "kilnrt/HostData/Npy.h"

#include <fmt/format.h>

namespace kiln::tool {
namespace {

using kilnrt::HostArray;
using nlohmann::ordered_json;

/// Where the summary for people goes: not between the lines of a report on standard output.
FILE *summaryFile(const RunOptions &options) {
  bool stdoutTaken = options.json == "-" || options.compile.remarks == "json";
  for (const std::string &output : options.outputs)
    stdoutTaken |= output == "-";
  return stdoutTaken ? stderr : stdout;
}

/// An nl::device_print, at once: what follows may fault, or never end.
void showPrint(const kilnrt::DevicePrint &print, const RunOptions &options) {
  FILE *out = summaryFile(options);
  const kilnrt::ArrayTextOptions format{.limit = options.printLimit};
  fmt::print(out, "{}", kilnrt::toText(print, format));
  if (kilnrt::isCut(print.value, format))
    fmt::print(out, "(--print-limit {} shows all elements)\n", print.value.elements());
  std::fflush(out);
}

/// Compares the first result with the reference, which was read before anything was written.
void checkResult(const RunOptions &options, const HostArray &result, const HostArray &reference,
                 Reporter &reporter, ordered_json &json) {
  auto comparison = kilnrt::compareArrays(result, reference, {options.rtol, options.atol});
  if (!comparison) {
    reporter.report(comparison.error());
    return;
  }
  json["check"] = {{"reference", options.check},
                   {"rtol", options.rtol},
                   {"atol", options.atol},
                   {"matches", comparison->matches()},
                   {"elements", comparison->elements},
                   {"mismatches", comparison->mismatches},
                   {"max_abs_error", comparison->maxAbsError},
                   {"max_rel_error", comparison->maxRelError},
                   {"l2_rel_error", comparison->l2RelError}};
  if (comparison->matches()) {
    fmt::print(summaryFile(options), "check: {}\n", comparison->describe());
    return;
  }
  reporter.report(kilnrt::makeError(
      Fault::Check, comparison->describe(),
      "raise --rtol or --atol only if the reference is less exact than the kernel"));
}

kilnrt::Status writeOutput(const std::string &file, const HostArray &array, bool raw) {
  kilnrt::NpyWriteOptions options;
  options.raw = raw;
  if (file != "-")
    return kilnrt::writeNpyFile(file, array, options);
  auto bytes = kilnrt::encodeNpy(array, options);
  if (!bytes)
    return bytes.error();
  return writeFile("-", {reinterpret_cast<const char *>(bytes->data()), bytes->size()});
}

/// Writes the results to their files, and one line about each for people.
void writeOutputs(const RunOptions &options, const std::vector<std::string> &names,
                  const std::vector<HostArray> &outputs, Reporter &reporter, ordered_json &json) {
  json["outputs"] = ordered_json::array();
  for (size_t i = 0; i < outputs.size(); ++i) {
    const HostArray &array = outputs[i];
    std::string file = i < options.outputs.size() ? options.outputs[i] : "";
    json["outputs"].push_back({{"name", names[i]},
                               {"dtype", std::string(isa::name(array.dtype))},
                               {"shape", array.shape},
                               {"file", file}});
    if (!file.empty())
      if (auto status = writeOutput(file, array, options.raw); !status) {
        reporter.report(status.error());
        continue;
      }
    fmt::print(summaryFile(options), "{} {}{}\n", names[i], summary(array),
               file.empty() ? "" : " -> " + file);
  }
}

/// What the command line says about the run, but for the schedule.
kilnrt::Expected<kilnrt::RunOptions> executorOptions(const RunOptions &options) {
  kilnrt::RunOptions out;
  if (options.maxSteps)
    out.maxSteps = options.maxSteps;
  out.checkUninitialised = !options.unchecked;
  if (options.poison.empty())
    return out;
  auto poison = kilnrt::parsePoison(options.poison);
  if (!poison)
    return poison.error();
  out.poison = std::move(*poison);
  return out;
}

/// Everything from the command line to the results; reports what goes wrong on the way.
void run(const RunOptions &options, Reporter &reporter, ordered_json &json) {
  if (auto status = checkScheduleName(options.schedule); !status)
    return reporter.report(status.error());
  auto runOptions = executorOptions(options);
  if (!runOptions)
    return reporter.report(runOptions.error());
  auto warnings = parseWarnings(options.compile.warnings, reporter);
  activity().begin("while reading the arguments");
  auto arguments = parseArguments(options.compile.args, reporter);
  if (!warnings || !arguments)
    return;
  // Before anything is written: the reference may be the file a result goes to.
  std::optional<HostArray> reference;
  if (!options.check.empty()) {
    auto read = kilnrt::readNpyFile(options.check);
    if (!read)
      return reporter.report(read.error());
    reporter.report(read->notes);
    reference = std::move(read->array);
  }
  auto program = obtainProgram(options.compile, *warnings, *arguments, reporter);
  if (!program)
    return;
  activity().begin("while making the arguments");
  bool compiled = !splitKernel(options.compile.kernel).isProgram();
  auto inputs = inputsOf(*arguments, compiled, reporter);
  if (!inputs)
    return;
  std::vector<std::string> names = resultNames(*program);
  if (options.outputs.size() > names.size())
    return reporter.report(
        kilnrt::makeError(Fault::Usage,
                          fmt::format("{} files for {} result{}", options.outputs.size(),
                                      names.size(), names.size() == 1 ? "" : "s"),
                          "give one -o for each result, in order of return"));

  // Who accepts tiles placed over each other wants to see what the chip makes of them.
  runOptions->checkOverwritten = warnings->isError("M-04") && warnings->isError("M-05");
  auto schedules = schedulesOf(options.schedule, *program);
  if (!schedules)
    return reporter.report(schedules.error());
  activity().begin("while proving the program");
  if (!options.noProof && !proveBeforeRun(*program, !runOptions->checkOverwritten, reporter))
    return;
  activity().begin("while preparing the program");
  auto executable = kilnrt::Executable::prepare(*program);
  if (!executable)
    return reporter.report(executable.error());
  std::optional<Progress> progress;
  const auto debugging = Debugging::of(
      options.debug, *program, summaryFile(options), [&] { progress->clear(); }, reporter);
  if (!debugging)
    return;
  kilnrt::Expected<kilnrt::RunResult> result = kilnrt::RunResult();
  {
    activity().begin("while running the program");
    driver::Heeding guard(activity());
    progress.emplace("running " + options.compile.kernel);
    runOptions->observer = debugging->observer();
    runOptions->stop = &activity().stop;
    runOptions->onPrint = [&](const kilnrt::DevicePrint &print) {
      progress->clear();
      showPrint(print, options);
    };
    result = runSchedules(*executable, *inputs, *runOptions, *schedules, names);
    progress.reset();
  }
  if (!result)
    reporter.report(naming({result.error()}));
  if (result && result->stop) {
    result->stop->message += "; no result is written";
    reporter.report(*result->stop);
  }
  debugging->report(options.raw, reporter, json);
  if (!result || isStopped(reporter))
    return;
  if (result->stop) {
    json["stopped"] = true;
    return;
  }
  for (Diagnostic d : result->warnings)
    if (warnings->apply(d))
      reporter.report(d);
  json["schedules"] = ordered_json::array();
  for (const kilnrt::Schedule &schedule : *schedules)
    json["schedules"].push_back(scheduleText(schedule));
  json["stats"] = {{"instructions", result->stats.instructions}, {"steps", result->stats.steps}};
  activity().begin("while writing the results");
  {
    driver::Heeding guard(activity()); // no file shall be left half replaced
    writeOutputs(options, names, result->outputs, reporter, json);
  }
  if (isStopped(reporter))
    return;
  activity().begin("while comparing with the reference");
  if (reference && !result->outputs.empty())
    checkResult(options, result->outputs.front(), *reference, reporter, json);
  if (auto status = writeFile("-", ""); !status) // flushes the summary
    reporter.report(status.error());
}

} // namespace

int runCommand(const RunOptions &options, Reporter &reporter) {
  ordered_json json = startReport(options.compile);
  run(options, reporter, json);
  if (auto status = finishReport(options.json, json, reporter); !status)
    reporter.report(status.error());
  return reporter.exitCode();
}

} // namespace kiln::tool
