//===- RunCommand.cpp - kiln run
//-----------------------------------------------------------------------------===//

#include "Commands.h"
#include "Compilation.h"
#include "Progress.h"
#include "kilnrt/Executor.h"
#include "kilnrt/HostData/Compare.h"
#include "kilnrt/HostData/Npy.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>

namespace kiln::tool {
namespace {

using kilnrt::HostArray;
using nlohmann::ordered_json;

/// "program", "round-robin" or "random:SEED".
kilnrt::Expected<kilnrt::RunOptions>
executorOptions(const RunOptions &options) {
  kilnrt::RunOptions out;
  if (options.maxSteps)
    out.maxSteps = options.maxSteps;
  std::string_view text = options.schedule;
  if (text == "program")
    return out;
  if (text == "round-robin") {
    out.schedule = kilnrt::Schedule::RoundRobin;
    return out;
  }
  constexpr std::string_view kRandom = "random:";
  if (text.starts_with(kRandom)) {
    text.remove_prefix(kRandom.size());
    auto [end, problem] =
        std::from_chars(text.data(), text.data() + text.size(), out.seed);
    out.schedule = kilnrt::Schedule::Random;
    if (problem == std::errc() && end == text.data() + text.size())
      return out;
  }
  return kilnrt::makeError(
      Fault::Usage, fmt::format("there is no schedule '{}'", options.schedule),
      "--schedule takes program, round-robin or random:SEED, as in random:7");
}

/// The program KERNEL names: loaded, or compiled for the arguments.
std::optional<kilnrt::Program>
obtainProgram(const RunOptions &options,
              const std::vector<kilnrt::Argument> &arguments,
              Reporter &reporter) {
  kilnrt::Expected<kilnrt::Program> program = kilnrt::Program();
  if (splitKernel(options.compile.kernel).isProgram()) {
    program = kilnrt::loadFile(splitKernel(options.compile.kernel).file);
  } else {
    auto compiled = compile(options.compile, arguments, driver::Emit::Program,
                            "", reporter);
    if (!compiled)
      return std::nullopt;
    program = kilnrt::load(compiled->program);
    if (!program) {
      // The compiler wrote it, so whatever is wrong with it is not the user's
      // fault.
      Diagnostic d = program.error();
      d.fault = Fault::Internal;
      reporter.report(d);
      return std::nullopt;
    }
  }
  if (!program) {
    reporter.report(program.error());
    return std::nullopt;
  }
  return std::move(*program);
}

/// The values of the tensor arguments; scalars went into the compilation.
std::optional<std::vector<HostArray>>
inputsOf(const std::vector<kilnrt::Argument> &arguments, bool compiled,
         Reporter &reporter) {
  std::vector<HostArray> inputs;
  for (const kilnrt::Argument &argument : arguments) {
    const auto *tensor = std::get_if<kilnrt::TensorArgument>(&argument.value);
    if (!tensor) {
      if (compiled)
        continue;
      reporter.report(kilnrt::makeError(
          Fault::User, fmt::format("'{}' is no tensor", argument.text),
          "a program takes tensors only: its scalars were compiled in"));
      return std::nullopt;
    }
    std::vector<Diagnostic> notes;
    auto array = kilnrt::materialise(*tensor, notes);
    reporter.report(notes);
    if (!array) {
      reporter.report(array.error());
      return std::nullopt;
    }
    inputs.push_back(std::move(*array));
  }
  return inputs;
}

/// Value `i` as a reader would write it.
std::string valueText(const HostArray &a, size_t i) {
  const std::byte *p = a.data.data() + i * isa::bytesOf(a.dtype);
  auto as = [p](auto value) {
    __builtin_memcpy(&value, p, sizeof(value));
    return value;
  };
  switch (a.dtype) {
  case isa::DType::Float32:
    return fmt::format("{}", as(float()));
  case isa::DType::BFloat16:
    return fmt::format(
        "{}", __builtin_bit_cast(float, uint32_t(as(uint16_t())) << 16));
  case isa::DType::Float16: {
    _Float16 half = as(_Float16());
    return fmt::format("{}", float(half));
  }
  case isa::DType::Int32:
    return fmt::format("{}", as(int32_t()));
  case isa::DType::UInt8:
    return fmt::format("{}", as(uint8_t()));
  }
  return "?";
}

std::string summary(const HostArray &a) {
  constexpr size_t kShown = 6;
  std::string values;
  size_t n = size_t(a.elements());
  for (size_t i = 0; i < std::min(n, kShown); ++i)
    values += (i ? " " : "") + valueText(a, i);
  return fmt::format("{} [{}]: {}{}", isa::name(a.dtype),
                     fmt::join(a.shape, ", "), values,
                     n > kShown ? " ..." : "");
}

/// Names of the results, in result order.
std::vector<std::string> resultNames(const kilnrt::Program &program) {
  std::vector<std::string> names;
  for (const kilnrt::TensorInfo &t : program.tensors)
    if (t.role == kilnrt::TensorRole::Output) {
      names.resize(std::max<size_t>(names.size(), t.index + 1));
      names[t.index] = t.name;
    }
  return names;
}

void checkResult(const RunOptions &options, const HostArray &result,
                 Reporter &reporter, ordered_json &json) {
  auto reference = kilnrt::readNpyFile(options.check);
  if (!reference) {
    reporter.report(reference.error());
    return;
  }
  auto comparison = kilnrt::compareArrays(result, reference->array,
                                          {options.rtol, options.atol});
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
    fmt::print("check: {}\n", comparison->describe());
    return;
  }
  reporter.report(kilnrt::makeError(Fault::Check, comparison->describe(),
                                    "raise --rtol or --atol only if the "
                                    "reference is less exact than the kernel"));
}

} // namespace

int runCommand(const RunOptions &options, Reporter &reporter) {
  ordered_json json;
  json["version"] = 1;
  json["kernel"] = options.compile.kernel;
  json["target"] = "trn2";
  auto finish = [&] {
    if (!options.json.empty()) {
      json["ok"] = reporter.exitCode() == 0;
      json["diagnostics"] = ordered_json::array();
      for (const Diagnostic &d : reporter.all())
        json["diagnostics"].push_back(renderJson(d));
      std::string text =
          json.dump(2, ' ', false, ordered_json::error_handler_t::replace) +
          "\n";
      if (auto status = writeFile(options.json, text); !status)
        reporter.report(status.error());
    }
    return reporter.exitCode();
  };

  auto runOptions = executorOptions(options);
  if (!runOptions) {
    reporter.report(runOptions.error());
    return finish();
  }
  auto arguments = parseArguments(options.compile.args, reporter);
  if (!arguments)
    return finish();
  auto program = obtainProgram(options, *arguments, reporter);
  if (!program)
    return finish();
  bool compiled = !splitKernel(options.compile.kernel).isProgram();
  auto inputs = inputsOf(*arguments, compiled, reporter);
  if (!inputs)
    return finish();
  std::vector<std::string> names = resultNames(*program);
  if (options.outputs.size() > names.size()) {
    reporter.report(kilnrt::makeError(
        Fault::Usage,
        fmt::format("{} files for {} result{}", options.outputs.size(),
                    names.size(), names.size() == 1 ? "" : "s"),
        "give one -o for each result, in order of return"));
    return finish();
  }

  auto executable = kilnrt::Executable::prepare(*program);
  if (!executable) {
    reporter.report(executable.error());
    return finish();
  }
  Progress progress("running " + options.compile.kernel);
  auto result = executable->run(*inputs, *runOptions);
  if (!result) {
    reporter.report(result.error());
    return finish();
  }
  reporter.report(result->warnings);
  json["stats"] = {{"instructions", result->stats.instructions},
                   {"steps", result->stats.steps}};
  json["outputs"] = ordered_json::array();
  for (size_t i = 0; i < result->outputs.size(); ++i) {
    const HostArray &array = result->outputs[i];
    std::string file = i < options.outputs.size() ? options.outputs[i] : "";
    json["outputs"].push_back({{"name", names[i]},
                               {"dtype", std::string(isa::name(array.dtype))},
                               {"shape", array.shape},
                               {"file", file}});
    if (!file.empty()) {
      kilnrt::NpyWriteOptions write;
      write.raw = options.raw;
      if (auto status = kilnrt::writeNpyFile(file, array, write); !status)
        reporter.report(status.error());
    }
    fmt::print("{} {}{}\n", names[i], summary(array),
               file.empty() ? "" : " -> " + file);
  }
  if (!options.check.empty() && !result->outputs.empty())
    checkResult(options, result->outputs.front(), reporter, json);
  std::fflush(stdout);
  return finish();
}

} // namespace kiln::tool
