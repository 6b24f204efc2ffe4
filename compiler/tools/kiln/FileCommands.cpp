//===- FileCommands.cpp - objdump, asm, list, explain -----------------------------------------===//

#include "Commands.h"
#include "Compilation.h"
#include "CompilerLibrary.h"
#include "CrashHandler.h"
#include "kiln/ISA/Catalogue.h"
#include "kilnrt/Program.h"

#include <fmt/format.h>

#include <cctype>
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
  driver::ListResult result;
  {
    CrashHandler handler(library->tracePosition, reporter.isJson());
    library->list(&request, &result);
  }
  reporter.report(result.diagnostics);
  std::string text;
  for (const driver::KernelInfo &kernel : result.kernels)
    text += fmt::format("{}({})  {}:{}\n", kernel.name, fmt::join(kernel.parameters, ", "),
                        kernel.place.file, kernel.place.line);
  if (auto status = writeFile("-", text); !status)
    reporter.report(status.error());
  return reporter.exitCode();
}

int explainCommand(const std::string &code, Reporter &reporter) {
  if (code.empty()) {
    std::string list;
    for (const isa::RuleText &rule : isa::catalogue())
      list += fmt::format("{}  {}\n", rule.id, rule.title);
    if (auto status = writeFile("-", list); !status)
      reporter.report(status.error());
    return reporter.exitCode();
  }
  std::string id;
  for (char c : code)
    id += char(std::toupper(static_cast<unsigned char>(c)));
  const isa::RuleText *rule = isa::findRule(id);
  if (!rule) {
    std::string known;
    for (const isa::RuleText &r : isa::catalogue())
      if (!id.empty() && r.id.front() == id.front())
        known += (known.empty() ? "" : ", ") + std::string(r.id);
    reporter.report(kilnrt::makeError(
        Fault::User, fmt::format("there is no rule '{}'", code),
        known.empty() ? "rule ids look like P-06; a message names its own in brackets"
                      : "did you mean one of " + known));
    return reporter.exitCode();
  }
  auto status = writeFile("-", fmt::format("{}: {}\n\nwhy: {}\nway out: {}\n", rule->id,
                                           rule->title, rule->why, rule->wayOut));
  if (!status)
    reporter.report(status.error());
  return reporter.exitCode();
}

} // namespace kiln::tool
