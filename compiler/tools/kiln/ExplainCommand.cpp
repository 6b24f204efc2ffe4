//===- ExplainCommand.cpp - kiln explain ------------------------------------------------------===//

#include "Commands.h"
#include "Compilation.h"
#include "kiln/ISA/Catalogue.h"
#include "kiln/ISA/DiagnosticText.h"

#include <fmt/format.h>

#include <cctype>

namespace kiln::tool {
namespace {

using isa::ExampleForm;
using isa::RuleText;
using nlohmann::ordered_json;

/// What one types to see what an example does, once it is saved as `file`.
std::string commandOf(const RuleText &rule, bool isWrong) {
  const std::string part = isWrong ? "wrong" : "right";
  if (rule.form == ExampleForm::Asm)
    return fmt::format("kiln asm {0}.s -o {0}.kiln && kiln run {0}.kiln", part);
  std::string command = fmt::format("kiln run {}.cpp:kernel", part);
  const bool hasOwn = isWrong && !rule.wrongArguments.empty();
  command += fmt::format(" {}", hasOwn ? rule.wrongArguments : rule.arguments);
  if (isWrong && !rule.flags.empty())
    command += fmt::format(" {}", rule.flags);
  return command;
}

/// How -W flags act on the rule; empty when none does.
std::string flagsOf(const RuleText &rule) {
  if (rule.isPerformance)
    return fmt::format("a performance warning: -Wperf or -W{0} shows it, -Wno-{0} hides it",
                       rule.id);
  if (rule.severity == Severity::Warning)
    return fmt::format("a warning: -Wno-{0} hides it, -Werror={0} makes it an error", rule.id);
  if (rule.isDemotable)
    return fmt::format("an error: -Wno-error={0} makes it a warning", rule.id);
  if (rule.severity == Severity::Note)
    return "a note: it stands below errors it explains";
  return "";
}

std::string indented(std::string_view code) {
  std::string out;
  while (!code.empty()) {
    const size_t end = std::min(code.find('\n'), code.size());
    out += end ? fmt::format("    {}\n", code.substr(0, end)) : "\n";
    code.remove_prefix(std::min(end + 1, code.size()));
  }
  return out;
}

std::string textOf(const RuleText &rule) {
  std::string out =
      fmt::format("{}: {}\n\nwhy: {}\nway out: {}\n", rule.id, rule.title, rule.why, rule.wayOut);
  if (std::string flags = flagsOf(rule); !flags.empty())
    out += flags + "\n";
  if (rule.form == ExampleForm::None)
    return out;
  out += fmt::format("\nwrong: {}\n\n{}", commandOf(rule, true), indented(rule.wrong));
  return out + fmt::format("\nright: {}\n\n{}", commandOf(rule, false), indented(rule.right));
}

ordered_json jsonOf(const RuleText &rule) {
  ordered_json out = {{"id", rule.id},
                      {"title", rule.title},
                      {"severity", name(rule.severity)},
                      {"performance", rule.isPerformance},
                      {"demotable", rule.isDemotable},
                      {"why", rule.why},
                      {"way_out", rule.wayOut}};
  if (rule.form == ExampleForm::None)
    return out;
  for (bool isWrong : {true, false})
    out[isWrong ? "wrong" : "right"] = {{"command", commandOf(rule, isWrong)},
                                        {"text", isWrong ? rule.wrong : rule.right}};
  return out;
}

Diagnostic unknown(const std::string &code) {
  std::string near;
  for (std::string_view id : isa::nearestRules(code))
    near += (near.empty() ? "" : ", ") + std::string(id);
  return kilnrt::makeError(Fault::User, fmt::format("there is no rule '{}'", code),
                           near.empty()
                               ? "`kiln explain` lists all rules; a message names its own in "
                                 "brackets, as in error[P-06]"
                               : "the nearest: " + near);
}

} // namespace

int explainCommand(const std::string &code, bool asJson, Reporter &reporter) {
  std::string id;
  for (char c : code)
    id += char(std::toupper(static_cast<unsigned char>(c)));
  const RuleText *rule = isa::findRule(id);
  if (!code.empty() && !rule) {
    reporter.report(unknown(code));
    return reporter.exitCode();
  }
  std::string text;
  if (asJson) {
    ordered_json out;
    out["version"] = 1;
    out["rules"] = ordered_json::array();
    for (const RuleText &r : isa::catalogue())
      if (!rule || &r == rule)
        out["rules"].push_back(jsonOf(r));
    text = out.dump(2) + "\n";
  } else if (rule) {
    text = textOf(*rule);
  } else {
    for (const RuleText &r : isa::catalogue())
      text += fmt::format("{}  {}\n", r.id, r.title);
  }
  if (auto status = writeFile("-", text); !status)
    reporter.report(status.error());
  return reporter.exitCode();
}

} // namespace kiln::tool
