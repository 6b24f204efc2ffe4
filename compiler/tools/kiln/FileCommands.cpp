//===- FileCommands.cpp - objdump, asm, list -----------------------------------------===//

#include "Commands.h"
#include "Compilation.h"
#include "CompilerLibrary.h"
#include "CrashHandler.h"
#include "StopSignals.h"
#include "kilnrt/Program.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>

namespace kiln::tool {
namespace {

kilnrt::Expected<std::string> readText(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  if (!file)
    return kilnrt::makeError(Fault::User, "cannot read '" + path + "': " + std::strerror(errno),
                             "name an assembler file, as `kiln objdump` writes it", "X-05");
  return std::string(std::istreambuf_iterator<char>(file), {});
}

} // namespace

int objdumpCommand(const std::string &file, Reporter &reporter) {
  auto program = kilnrt::loadFile(file);
  if (!program) {
    reporter.report(program.error());
    return reporter.exitCode();
  }
  auto text = kilnrt::disassemble(*program);
  if (!text) {
    reporter.report(text.error());
    return reporter.exitCode();
  }
  if (auto status = writeFile("-", *text); !status)
    reporter.report(status.error());
  return reporter.exitCode();
}

int asmCommand(const std::string &file, const std::string &output, Reporter &reporter) {
  auto text = readText(file);
  if (!text) {
    reporter.report(text.error());
    return reporter.exitCode();
  }
  auto program = kilnrt::assemble(*text, file);
  if (!program) {
    reporter.report(program.error());
    return reporter.exitCode();
  }
  if (auto status = kilnrt::verify(*program); !status) {
    reporter.report(status.error());
    return reporter.exitCode();
  }
  std::vector<std::byte> bytes = kilnrt::serialize(*program);
  auto status = writeFile(output, {reinterpret_cast<const char *>(bytes.data()), bytes.size()});
  if (!status)
    reporter.report(status.error());
  return reporter.exitCode();
}

int listCommand(const std::string &file, const CompileOptions &options, Reporter &reporter) {
  auto library = loadCompiler();
  if (!library) {
    reporter.report(library.error());
    return reporter.exitCode();
  }
  driver::CompileRequest request;
  request.kernelFile = file;
  request.useCache = !options.noCache;
  request.hostCompiler = options.hostCompiler;
  request.includeDir = includeFolder();
  request.activity = &activity();
  driver::ListResult result;
  {
    CrashHandler handler(*library);
    library->list(&request, &result);
  }
  reporter.report(naming(std::move(result.diagnostics)));
  std::string text;
  for (const driver::KernelInfo &kernel : result.kernels)
    text += fmt::format("{}({})  {}:{}\n", kernel.name, fmt::join(kernel.parameters, ", "),
                        kernel.place.file, kernel.place.line);
  if (auto status = writeFile("-", text); !status)
    reporter.report(status.error());
  return reporter.exitCode();
}

} // namespace kiln::tool
