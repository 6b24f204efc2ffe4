//===- ExamplesTest.cpp - the examples of `kiln explain` do what they say ---------------------===//
//
// The wrong example of every rule gives a message of that rule first, the right one compiles, runs
// and gives none. All messages together are compared with messages.txt; after a deliberate change,
// KILN_UPDATE_MESSAGES=1 writes that file anew, and its diff is what there is to review.
//
// Kernels that compile come from one plug-in, which the build makes of the table; what a host
// compiler refuses is collected in one file.
//
//===------------------------------------------------------------------------------------------===//

#include "kiln/Driver/CompileApi.h"
#include "kiln/ISA/Catalogue.h"
#include "kiln/ISA/DiagnosticText.h"
#include "kilnrt/Executor.h"
#include "kilnrt/HostData/Argument.h"
#include "kilnrt/Program.h"
#include "kilnrt/Proof.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <unistd.h>

namespace kiln {
namespace {

namespace fs = std::filesystem;
using isa::ExampleForm;
using isa::RuleText;
using Diagnostics = std::vector<Diagnostic>;

std::vector<std::string> wordsOf(std::string_view text) {
  std::istringstream stream{std::string(text)};
  std::vector<std::string> words;
  for (std::string word; stream >> word;)
    words.push_back(word);
  return words;
}

/// A folder of this process, removed at its end.
const fs::path &scratch() {
  struct Folder {
    fs::path path = fs::temp_directory_path() / ("kiln-rules-" + std::to_string(getpid()));
    Folder() { fs::create_directories(path); }
    ~Folder() { fs::remove_all(path); }
  };
  static Folder folder;
  return folder.path;
}

std::string write(const std::string &name, const std::string &text) {
  fs::path path = scratch() / name;
  std::ofstream(path, std::ios::binary) << text;
  return path;
}

//---- one example --------------------------------------------------------===//

/// What the command line of an example asks for.
struct Command {
  driver::CompileRequest request;
  kilnrt::RunOptions run;
};

Command commandOf(const RuleText &rule, bool isWrong) {
  Command command;
  command.request.includeDir = KILN_INCLUDE_DIR;
  command.request.useCache = false;
  if (rule.isPerformance)
    command.request.warnings.add(rule.id);
  const std::vector<std::string> flags = wordsOf(isWrong ? rule.flags : "");
  for (size_t i = 0; i < flags.size(); ++i) {
    if (flags[i] == "--cores")
      command.request.cores = std::stoi(flags.at(++i));
    else if (flags[i] == "--trace-twice")
      command.request.traceTwice = true;
    else if (flags[i] == "--max-steps")
      command.run.maxSteps = std::stoull(flags.at(++i));
    else
      EXPECT_EQ(flags[i], "-Wperf") << "a flag this test knows nothing of";
  }
  return command;
}

Diagnostics execute(const std::vector<std::byte> &program,
                    const std::vector<kilnrt::HostArray> &inputs,
                    const kilnrt::RunOptions &options) {
  auto loaded = kilnrt::load(program);
  if (!loaded)
    return {loaded.error()};
  auto proof = kilnrt::prove(*loaded);
  if (!proof)
    return {proof.error()};
  if (!proof->findings.empty())
    return {proof->findings.front().diagnostic};
  auto executable = kilnrt::Executable::prepare(*loaded);
  if (!executable)
    return {executable.error()};
  auto result = executable->run(inputs, options);
  if (!result)
    return {result.error()};
  return result->warnings;
}

/// Everything Kiln says about a kernel, compiled and, if that goes well, run.
Diagnostics diagnosticsOf(Command command, std::string_view arguments) {
  std::vector<kilnrt::HostArray> inputs;
  for (const std::string &word : wordsOf(arguments)) {
    auto argument = kilnrt::parseArgument(word);
    if (!argument)
      return {argument.error()};
    if (const auto *tensor = std::get_if<kilnrt::TensorArgument>(&argument->value)) {
      command.request.args.emplace_back(driver::TensorArg{tensor->dtype, tensor->shape});
      Diagnostics notes;
      auto array = kilnrt::materialise(*tensor, notes);
      if (!array)
        return {array.error()};
      inputs.push_back(std::move(*array));
    } else {
      command.request.args.emplace_back(std::get<int64_t>(argument->value));
    }
  }
  driver::CompileResult compiled;
  kiln_compile(&command.request, &compiled);
  if (!compiled.ok)
    return compiled.diagnostics;
  Diagnostics all = std::move(compiled.diagnostics);
  for (Diagnostic &d : execute(compiled.program, inputs, command.run))
    all.push_back(std::move(d));
  return all;
}

Diagnostics assembled(const std::string &name, std::string_view text) {
  auto program = kilnrt::assemble(text, name);
  if (!program)
    return {program.error()};
  if (auto status = kilnrt::verify(*program); !status)
    return {status.error()};
  return execute(kilnrt::serialize(*program), {}, {});
}

/// Of an example the plug-in holds, or that is a file of its own.
Diagnostics diagnosticsOf(const RuleText &rule, bool isWrong) {
  const std::string part = isWrong ? "wrong" : "right", id(rule.id);
  std::string_view text = isWrong ? rule.wrong : rule.right;
  if (rule.form == ExampleForm::Asm)
    return assembled(id + "-" + part + ".s", text);
  Command command = commandOf(rule, isWrong);
  const bool isAlone = rule.form == ExampleForm::Alone || rule.form == ExampleForm::Unregistered;
  if (isAlone && isWrong) {
    command.request.kernelFile = write(id + "-wrong.cpp", std::string(text));
    command.request.kernel = "kernel";
  } else {
    command.request.kernelFile = KILN_RULE_KERNELS;
    command.request.kernel = id + "." + part;
  }
  const bool hasOwn = isWrong && !rule.wrongArguments.empty();
  return diagnosticsOf(std::move(command), hasOwn ? rule.wrongArguments : rule.arguments);
}

//---- what host compilers refuse -----------------------------------------===//

/// The wrong kernels of all rules a host compiler checks, each with the lines of its own file.
std::string hostMistakes() {
  std::string includes, kernels;
  for (const RuleText &rule : isa::catalogue()) {
    if (rule.form != ExampleForm::Host)
      continue;
    std::string space(rule.id);
    space[1] = '_';
    kernels += "namespace " + space + " {\n#line 1 \"" + std::string(rule.id) + "-wrong.cpp\"\n";
    std::istringstream lines{std::string(rule.wrong)};
    for (std::string line; std::getline(lines, line);) {
      const bool isInclude = line.starts_with("#include");
      includes += isInclude ? line + "\n" : "";
      kernels += isInclude || line.starts_with("NL_KERNEL") ? "\n" : line + "\n";
    }
    kernels += "} // namespace " + space + "\n";
  }
  return includes + kernels;
}

/// Messages of one host compiler, by the file of the rule.
std::map<std::string, Diagnostics> hostMessages(const std::string &compiler) {
  driver::CompileRequest request;
  request.includeDir = KILN_INCLUDE_DIR;
  request.useCache = false;
  request.hostCompiler = compiler;
  request.kernelFile = write("HostMistakes.cpp", hostMistakes());
  driver::CompileResult result;
  kiln_compile(&request, &result);
  std::map<std::string, Diagnostics> byFile;
  for (const Diagnostic &d : result.diagnostics)
    byFile[d.place.empty() ? "" : d.place.front().file].push_back(d);
  return byFile;
}

/// clang before version 16 refuses what other compilers take.
bool isOnlyOldClangs(const RuleText &rule) { return rule.id == "H-06"; }

//---- the messages ---------------------------------------------------------===//

/// All messages of the wrong example of each rule.
std::map<std::string_view, Diagnostics> wrongMessages() {
  auto host = hostMessages(KILN_TEST_GCC);
  std::map<std::string_view, Diagnostics> all;
  for (const RuleText &rule : isa::catalogue())
    if (rule.form == ExampleForm::Host)
      all[rule.id] = host[std::string(rule.id) + "-wrong.cpp"];
    else if (rule.form != ExampleForm::None)
      all[rule.id] = diagnosticsOf(rule, /*isWrong=*/true);
  return all;
}

/// Found once: some are slow.
const std::map<std::string_view, Diagnostics> &messages() {
  static const auto all = wrongMessages();
  return all;
}

std::string textOf(const Diagnostics &diagnostics) {
  std::string text;
  for (const Diagnostic &d : diagnostics)
    text += toText(d);
  return text;
}

TEST(RuleExamples, TheWrongOneGivesItsRuleFirst) {
  for (const auto &[id, diagnostics] : messages()) {
    const RuleText &rule = *isa::findRule(id);
    if (isOnlyOldClangs(rule))
      continue;
    SCOPED_TRACE(textOf(diagnostics));
    if (diagnostics.empty()) {
      ADD_FAILURE() << id << " gives no message";
      continue;
    }
    const Diagnostic &first = diagnostics.front();
    if (rule.severity == Severity::Note) {
      EXPECT_TRUE(std::ranges::any_of(first.notes, [&](const auto &n) { return n.rule == id; }))
          << id;
      continue;
    }
    EXPECT_EQ(first.rule, id);
    EXPECT_EQ(first.severity, rule.severity) << id;
    EXPECT_FALSE(first.help.empty()) << id << " shows no way out";
  }
}

TEST(RuleExamples, TheRightOneGivesNothing) {
  for (const RuleText &rule : isa::catalogue())
    if (rule.form != ExampleForm::None) {
      EXPECT_EQ(textOf(diagnosticsOf(rule, /*isWrong=*/false)), "") << rule.id;
    }
}

TEST(RuleExamples, MessagesAreThoseThatWereReviewed) {
  std::string text;
  for (const auto &[id, diagnostics] : messages()) {
    std::string block = textOf(diagnostics);
    // What a host compiler says itself depends on it.
    if (const size_t own = block.find("\nnote: what "); own != std::string::npos)
      block.resize(own + 1);
    text += "---- " + std::string(id) + "\n" + block;
  }
  if (std::getenv("KILN_UPDATE_MESSAGES"))
    std::ofstream(KILN_RULE_MESSAGES, std::ios::binary) << text;
  std::ifstream file(KILN_RULE_MESSAGES, std::ios::binary);
  const std::string expected(std::istreambuf_iterator<char>(file), {});
  EXPECT_EQ(text, expected) << "KILN_UPDATE_MESSAGES=1 writes " << KILN_RULE_MESSAGES << " anew";
}

TEST(RuleExamples, HostCompilersAreReadAlike) {
  if (!*KILN_TEST_CLANG)
    GTEST_SKIP() << "there is no clang++";
  auto host = hostMessages(KILN_TEST_CLANG);
  for (const RuleText &rule : isa::catalogue()) {
    if (rule.form != ExampleForm::Host)
      continue;
    const Diagnostics &found = host[std::string(rule.id) + "-wrong.cpp"];
    if (isOnlyOldClangs(rule)) {
      EXPECT_TRUE(found.empty() || found.front().rule == rule.id);
      continue;
    }
    EXPECT_EQ(textOf(found), textOf(messages().at(rule.id)));
  }
}

TEST(RuleExamples, OnlyRulesNoInstructionCanBreakHaveNone) {
  std::vector<std::string_view> none;
  for (const RuleText &rule : isa::catalogue())
    if (rule.form == ExampleForm::None)
      none.push_back(rule.id);
  bool hasSizes = false;
  for (const isa::InstDesc &inst : isa::instructions())
    for (const isa::OperandDesc &operand : inst.operands)
      hasSizes |= operand.maxElements != 0;
  EXPECT_EQ(none,
            hasSizes ? std::vector<std::string_view>() : std::vector<std::string_view>{"S-08"});
}

} // namespace
} // namespace kiln
