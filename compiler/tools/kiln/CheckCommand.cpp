//===- CheckCommand.cpp - kiln check ----------------------------------------------------------===//
//
// One verdict for each question: races, deadlock and memory for all schedules by proof, values and
// equal bits by runs in many of them.
//
//===------------------------------------------------------------------------------------------===//

#include "Commands.h"
#include "Obtain.h"
#include "Progress.h"
#include "Proving.h"
#include "ResultText.h"
#include "Schedules.h"
#include "StopSignals.h"
#include "kiln/ISA/Text.h"

#include <fmt/format.h>

#include <set>

namespace kiln::tool {
namespace {

using kilnrt::Answer;
using kilnrt::HostArray;
using kilnrt::Schedule;
using nlohmann::ordered_json;

/// One line of the table.
struct Verdict {
  std::string check, verdict, details;
};

/// "program, round-robin, 8 random, 24 adversarial".
std::string countedSchedules(std::span<const Schedule> schedules) {
  size_t random = 0, adversarial = 0;
  std::string out;
  for (const Schedule &schedule : schedules) {
    random += schedule.kind == Schedule::Random;
    adversarial += schedule.isAdversarial();
    if (schedule.kind != Schedule::Random && !schedule.isAdversarial())
      out += (out.empty() ? "" : ", ") + scheduleText(schedule);
  }
  if (random)
    out += fmt::format(", {} random", random);
  if (adversarial)
    out += fmt::format(", {} adversarial", adversarial);
  return out;
}

std::vector<Schedule> schedulesToRun(const CheckOptions &options, const kilnrt::Program &program) {
  std::vector<Schedule> schedules = {Schedule::Program};
  if (!program.flags.synchronised)
    return schedules; // it has one order
  schedules.push_back(Schedule::RoundRobin);
  for (unsigned i = 0; i < options.randomSchedules; ++i)
    schedules.push_back({Schedule::Random, options.seed + i});
  for (const Schedule &schedule : adversarialSchedules(program))
    schedules.push_back(schedule);
  return schedules;
}

/// Small integers that differ from their neighbours.
HostArray countedArray(const kilnrt::TensorInfo &tensor) {
  constexpr size_t kPeriod = 101; // fits every dtype, and is prime to every extent of a tile
  HostArray array{tensor.dtype, tensor.shape, {}};
  const size_t bytes = isa::bytesOf(tensor.dtype);
  array.data.resize(size_t(array.elements()) * bytes);
  for (size_t i = 0; i * bytes < array.data.size(); ++i)
    array.data[i * bytes] = std::byte(i % kPeriod); // little-endian
  return array;
}

/// Values for the inputs of a program that none were given for: random floats, counted integers.
std::optional<std::vector<HostArray>> defaultInputs(const kilnrt::Program &program,
                                                    Reporter &reporter) {
  std::vector<HostArray> inputs;
  for (const kilnrt::TensorInfo &tensor : program.tensors) {
    if (tensor.role != kilnrt::TensorRole::Input)
      continue;
    inputs.resize(std::max<size_t>(inputs.size(), tensor.index + 1));
    if (!isa::isFloat(tensor.dtype)) {
      inputs[tensor.index] = countedArray(tensor);
      continue;
    }
    const std::string text = fmt::format("rand:{}:{}:{}", shapeText(tensor.shape),
                                         isa::name(tensor.dtype), tensor.index + 1);
    auto arguments = parseArguments({text}, reporter);
    auto values = arguments ? inputsOf(*arguments, /*compiled=*/false, reporter) : std::nullopt;
    if (!values)
      return std::nullopt;
    inputs[tensor.index] = std::move(values->front());
  }
  return inputs;
}

/// Runs in every schedule and says what the runs found: faults of values, and unequal bits.
class Runs {
public:
  Runs(const kilnrt::Program &program, std::span<const HostArray> inputs,
       kilnrt::RunOptions options, Reporter &reporter)
      : program(program), inputs(inputs), options(options), reporter(reporter) {}

  void run(std::span<const Schedule> schedules) {
    auto executable = kilnrt::Executable::prepare(program);
    if (!executable) {
      hasFaults = true;
      return reporter.report(executable.error());
    }
    const std::vector<std::string> names = resultNames(program);
    std::optional<kilnrt::RunResult> first;
    for (const Schedule &schedule : schedules) {
      options.schedule = schedule;
      auto result = executable->run(inputs, options);
      records.push_back({{"name", scheduleText(schedule)}, {"ok", bool(result)}});
      if (!result) {
        reportOnce(result.error());
        if (*options.stop)
          return;
        continue;
      }
      if (!first) {
        first = std::move(*result);
        firstSchedule = schedule;
        continue;
      }
      if (auto equal =
              compareResults(firstSchedule, first->outputs, schedule, result->outputs, names);
          !equal) {
        records.back()["ok"] = false;
        if (!isUnequal)
          reporter.report(equal.error());
        isUnequal = true;
      }
    }
  }

  /// A finding of the proof: a run that shows it is nothing new.
  void expectFault(const Diagnostic &fault) { seen.insert(keyOf(fault)); }

  /// Some run ended without results: for a fault of values, at a limit, in a deadlock or at a race.
  bool hasFaults = false, isLimited = false, isStuck = false, sawRace = false;
  bool isUnequal = false;
  bool isIncomplete() const { return hasFaults || isLimited || isStuck || sawRace; }
  ordered_json records = ordered_json::array();

private:
  /// One fault is found in many schedules, by whichever byte comes first: its rule and the
  /// instruction, which the first note names, tell faults apart. A note about the schedule does
  /// not.
  static std::pair<std::string, std::string> keyOf(const Diagnostic &fault) {
    const bool namesInstruction =
        !fault.notes.empty() && fault.notes[0].message.starts_with("instruction ");
    return {fault.rule, namesInstruction ? fault.notes[0].message : fault.message};
  }
  void reportOnce(const Diagnostic &fault) {
    (fault.fault == Fault::Limit ? isLimited
     : fault.rule == "X-01"      ? isStuck
     : fault.rule == "X-08"      ? sawRace
                                 : hasFaults) = true;
    if (seen.insert(keyOf(fault)).second)
      reporter.report(fault);
  }

  const kilnrt::Program &program;
  std::span<const HostArray> inputs;
  kilnrt::RunOptions options;
  Reporter &reporter;
  Schedule firstSchedule;
  std::set<std::pair<std::string, std::string>> seen;
};

/// `isOneOrder`: the program is not synchronised.
std::vector<Verdict> proofVerdicts(const kilnrt::Proof &proof, bool isOneOrder) {
  const auto forAll = [&](Answer answer, std::string details) -> std::string {
    switch (answer) {
    case Answer::Proven:
      return "for all schedules: " + details;
    case Answer::Refuted:
      return "see the messages";
    case Answer::NotProven:
      return proof.reason;
    case Answer::NotApplicable:
      return isOneOrder ? "the program is not synchronised: it runs in one order"
                        : "not checked: -Wno-error accepts overlaps";
    }
    return "";
  };
  const auto verdict = [&](std::string name, Answer answer, std::string details) {
    return Verdict{std::move(name), std::string(answerText(answer)),
                   forAll(answer, std::move(details))};
  };
  return {verdict("races", proof.races,
                  fmt::format("{} instructions, {} comparisons of accesses",
                              proof.stats.instructions, proof.stats.comparisons)),
          verdict("deadlock", proof.deadlock, "every wait is reached"),
          verdict("memory", proof.memory, "no tensor is used after another took its bytes")};
}

Verdict valuesVerdict(const Runs &runs, const kilnrt::RunOptions &options) {
  if (runs.hasFaults)
    return {"values", "refuted", "see the messages"};
  if (runs.isIncomplete())
    return {"values", "not all ran", "see the messages"};
  return {"values", "clean",
          options.checkOverwritten
              ? "no uninitialised, stale or outside access, no sum onto nothing"
              : "no uninitialised or outside access, no sum onto nothing; stale ones are accepted"};
}

std::string indented(const std::string &lines) {
  std::string out;
  for (size_t from = 0, end; from < lines.size(); from = end + 1) {
    end = std::min(lines.find('\n', from), lines.size());
    out += "  " + lines.substr(from, end - from) + "\n";
  }
  return out;
}

std::string graphsOf(const kilnrt::Proof &proof) {
  std::string out;
  for (size_t i = 0; i < proof.findings.size(); ++i)
    if (!proof.findings[i].graph.nodes.empty())
      out += graphDot(proof.findings[i].graph,
                      fmt::format("{} {}", kindText(proof.findings[i].kind), i + 1));
  return out;
}

void printTable(const CheckOptions &options, const std::vector<Verdict> &verdicts,
                const Reporter &reporter) {
  std::string out;
  for (const Verdict &v : verdicts)
    out += fmt::format("{:<10} {:<14} {}\n", v.check, v.verdict, v.details);
  out +=
      fmt::format("{}: {}\n", options.compile.kernel, reporter.exitCode() == 0 ? "ok" : "not ok");
  // No spaces at the ends of lines without details.
  for (size_t at; (at = out.find(" \n")) != std::string::npos;)
    out.erase(at, 1);
  fmt::print(options.json == "-" ? stderr : stdout, "{}", out);
}

void check(const CheckOptions &options, Reporter &reporter, ordered_json &json) {
  auto warnings = parseWarnings(options.compile.warnings, reporter);
  auto arguments = parseArguments(options.compile.args, reporter);
  if (!warnings || !arguments)
    return;
  auto program = obtainProgram(options.compile, *warnings, *arguments, reporter);
  if (!program)
    return;
  const bool compiled = !splitKernel(options.compile.kernel).isProgram();
  auto inputs = !compiled && arguments->empty() ? defaultInputs(*program, reporter)
                                                : inputsOf(*arguments, compiled, reporter);
  if (!inputs)
    return;

  Progress progress("checking " + options.compile.kernel);
  activity().begin("while proving the program");
  // Who accepts tiles placed over each other wants to see what the chip makes of them.
  const bool acceptsOverlaps = !warnings->isError("M-04") || !warnings->isError("M-05");
  auto proof = kilnrt::prove(*program, {.acceptsOverlaps = acceptsOverlaps});
  if (!proof)
    return reporter.report(proof.error());
  kilnrt::RunOptions runOptions;
  runOptions.onPrint = [](const kilnrt::DevicePrint &) {}; // `kiln run` shows them
  runOptions.stop = &activity().stop;
  if (options.maxSteps)
    runOptions.maxSteps = options.maxSteps;
  runOptions.checkOverwritten = !acceptsOverlaps;
  for (const kilnrt::Finding &finding : proof->findings) {
    reporter.report(finding.diagnostic);
    if (!finding.graph.nodes.empty())
      reporter.addLines("graph:\n" + indented(graphText(finding.graph)));
  }

  // What is not proven is looked at while it runs.
  std::optional<kilnrt::RacePlan> plan;
  if (options.clocks || (proof->findings.empty() && proof->races == Answer::NotProven)) {
    auto prepared = kilnrt::RacePlan::prepare(*program);
    if (!prepared)
      return reporter.report(prepared.error());
    plan = std::move(*prepared);
    runOptions.races = &*plan;
  }
  const std::vector<Schedule> schedules = schedulesToRun(options, *program);
  Runs runs(*program, *inputs, runOptions, reporter);
  {
    activity().begin("while running the program");
    driver::Heeding guard(activity());
    for (const kilnrt::Finding &finding : proof->findings)
      runs.expectFault(finding.diagnostic);
    runs.run(schedules);
  }
  std::vector<Verdict> verdicts = proofVerdicts(*proof, !program->flags.synchronised);
  if (isStopped(reporter)) {
    verdicts.push_back({"schedules", "stopped", countedSchedules(schedules)});
    return printTable(options, verdicts, reporter);
  }
  if (plan)
    verdicts.push_back({"clocks", runs.sawRace ? "race seen" : "none seen",
                        fmt::format("vector clocks in {} schedules", schedules.size())});
  verdicts.push_back(valuesVerdict(runs, runOptions));
  verdicts.push_back({"schedules",
                      runs.isUnequal          ? "unequal bits"
                      : runs.isIncomplete()   ? "not all ran"
                      : schedules.size() == 1 ? "one order"
                                              : "equal bits",
                      countedSchedules(schedules)});
  if (!proof->isProven() && proof->findings.empty())
    reporter.report(
        kilnrt::makeError(Fault::Limit, "not proven: " + proof->reason,
                          "a race may be left that the schedules that ran do not show"));
  json["checks"] = ordered_json::array();
  for (const Verdict &v : verdicts)
    json["checks"].push_back({{"name", v.check}, {"verdict", v.verdict}, {"details", v.details}});
  json["findings"] = ordered_json::array();
  for (const kilnrt::Finding &finding : proof->findings)
    json["findings"].push_back(findingJson(finding));
  json["schedules"] = std::move(runs.records);
  if (!options.graph.empty())
    if (auto status = writeFile(options.graph, graphsOf(*proof)); !status)
      reporter.report(status.error());
  printTable(options, verdicts, reporter);
  if (auto status = writeFile("-", ""); !status) // flushes the table
    reporter.report(status.error());
}

} // namespace

int checkCommand(const CheckOptions &options, Reporter &reporter) {
  ordered_json json = startReport(options.compile);
  check(options, reporter, json);
  if (auto status = finishReport(options.json, json, reporter); !status)
    reporter.report(status.error());
  return reporter.exitCode();
}

} // namespace kiln::tool
