//===- Obtain.cpp - the program and the inputs of a command line ------------------------------===//

#include "Obtain.h"

#include <fmt/format.h>

namespace kiln::tool {

using kilnrt::HostArray;

std::optional<kilnrt::Program> obtainProgram(const CompileOptions &options,
                                             const WarningOptions &warnings,
                                             const std::vector<kilnrt::Argument> &arguments,
                                             Reporter &reporter) {
  kilnrt::Expected<kilnrt::Program> program = kilnrt::Program();
  KernelName kernel = splitKernel(options.kernel);
  if (kernel.isProgram()) {
    program = kilnrt::loadFile(kernel.file);
    if (program && !kernel.name.empty() && kernel.name != program->kernel) {
      reporter.report(kilnrt::makeError(Fault::User,
                                        fmt::format("'{}' holds kernel '{}', not '{}'", kernel.file,
                                                    program->kernel, kernel.name),
                                        "a program holds one kernel: leave the name out", "X-04"));
      return std::nullopt;
    }
  } else {
    auto compiled = compile(options, warnings, arguments, driver::Emit::Program, "", reporter);
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

std::optional<std::vector<HostArray>> inputsOf(const std::vector<kilnrt::Argument> &arguments,
                                               bool compiled, Reporter &reporter) {
  std::vector<HostArray> inputs;
  for (const kilnrt::Argument &argument : arguments) {
    const auto *tensor = std::get_if<kilnrt::TensorArgument>(&argument.value);
    if (!tensor) {
      if (compiled)
        continue;
      reporter.report(
          kilnrt::makeError(Fault::User, fmt::format("'{}' is no tensor", argument.text),
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

std::vector<std::string> resultNames(const kilnrt::Program &program) {
  std::vector<std::string> names;
  for (const kilnrt::TensorInfo &t : program.tensors)
    if (t.role == kilnrt::TensorRole::Output) {
      names.resize(std::max<size_t>(names.size(), t.index + 1));
      names[t.index] = t.name;
    }
  return names;
}

} // namespace kiln::tool
