//===- Compilation.cpp - from a command line to a program
//----------------------------------------------------===//

#include "Compilation.h"

#include "CompilerLibrary.h"
#include "CrashHandler.h"
#include "Progress.h"

#include <cerrno>
#include <cstring>
#include <unistd.h>

namespace kiln::tool {
namespace {

driver::Arg compileArgument(const kilnrt::Argument &argument) {
  return std::visit(
      [](const auto &value) -> driver::Arg {
        if constexpr (std::is_same_v<std::decay_t<decltype(value)>,
                                     kilnrt::TensorArgument>)
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

std::optional<std::vector<kilnrt::Argument>>
parseArguments(const std::vector<std::string> &texts, Reporter &reporter) {
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

std::optional<driver::CompileResult>
compile(const CompileOptions &options,
        const std::vector<kilnrt::Argument> &arguments, driver::Emit emit,
        const std::string &stopAfter, Reporter &reporter) {
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
  request.useCache = !options.noCache;
  request.hostCompiler = options.hostCompiler;
  request.includeDir = includeFolder();
  request.testFault = options.testFault;

  driver::CompileResult result;
  {
    Progress progress("compiling " + options.kernel);
    CrashHandler handler(library->tracePosition);
    library->compile(&request, &result);
  }
  reporter.report(result.diagnostics);
  if (!result.ok)
    return std::nullopt;
  return result;
}

kilnrt::Status writeFile(const std::string &path, std::string_view bytes) {
  auto failure = [&path](const char *what) {
    return kilnrt::makeError(kilnrt::Fault::User,
                             std::string(what) + " '" + path +
                                 "': " + std::strerror(errno),
                             "name a file in a folder you can write to");
  };
  if (path == "-") {
    std::fwrite(bytes.data(), 1, bytes.size(), stdout);
    return std::fflush(stdout) == 0 ? kilnrt::Status::ok()
                                    : failure("cannot write");
  }
  std::string temporary = path + ".part-" + std::to_string(getpid());
  FILE *file = std::fopen(temporary.c_str(), "wb");
  if (!file)
    return failure("cannot write");
  bool written =
      std::fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size();
  written = std::fclose(file) == 0 && written;
  if (!written || std::rename(temporary.c_str(), path.c_str()) != 0) {
    auto error = failure("cannot write");
    std::remove(temporary.c_str());
    return error;
  }
  return kilnrt::Status::ok();
}

} // namespace kiln::tool
