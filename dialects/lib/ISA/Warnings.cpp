//===- Warnings.cpp - which warnings a user wants, and which are errors -----------------------===//

#include "kiln/ISA/Warnings.h"

#include "kiln/ISA/Catalogue.h"

namespace kiln {
namespace {

Diagnostic usage(std::string message, std::string help) {
  Diagnostic d;
  d.fault = Fault::Usage;
  d.message = std::move(message);
  d.help = std::move(help);
  return d;
}

std::string listed(const std::vector<std::string_view> &ids) {
  std::string out;
  for (std::string_view id : ids)
    out += (out.empty() ? "" : ", ") + std::string(id);
  return out;
}

Diagnostic unknown(const std::string &flag, std::string_view id) {
  std::vector<std::string_view> near = isa::nearestRules(id);
  return usage("-W" + flag + " names no rule: there is no '" + std::string(id) + "'",
               near.empty() ? "`kiln explain` lists all rules"
                            : "did you mean " + (near.size() > 1 ? "one of " : std::string()) +
                                  listed(near));
}

/// Rules -W flags may name: "P-03, M-04, ...".
std::string controlledRules() {
  std::vector<std::string_view> ids;
  for (const isa::RuleText &rule : isa::catalogue())
    if (rule.isControlled())
      ids.push_back(rule.id);
  return listed(ids);
}

} // namespace

std::optional<Diagnostic> WarningOptions::add(std::string_view flag) {
  const std::string whole(flag);
  auto consume = [&flag](std::string_view prefix) {
    bool has = flag.starts_with(prefix);
    if (has)
      flag.remove_prefix(prefix.size());
    return has;
  };
  const bool value = !consume("no-");
  if (flag == "error" || flag == "perf") {
    (flag == "error" ? allErrors : performance) = value;
    return std::nullopt;
  }
  const bool isErrorFlag = consume("error=");
  std::string id;
  for (char c : flag)
    id += c >= 'a' && c <= 'z' ? char(c - 'a' + 'A') : c;
  const isa::RuleText *rule = isa::findRule(id);
  if (!rule)
    return unknown(whole, flag);
  if (!rule->isControlled())
    return usage("-W" + whole + " cannot change " + id + ", which is " +
                     (rule->severity == Severity::Note ? "a note" : "an error"),
                 "-W flags take warnings: " + controlledRules());
  Wish &wish = wishes[id];
  if (!isErrorFlag) {
    wish.on = value;
  } else {
    wish.error = value;
    if (value)
      wish.on = true; // asking for an error asks for the message
  }
  return std::nullopt;
}

const WarningOptions::Wish *WarningOptions::wishOf(std::string_view rule) const {
  auto it = wishes.find(rule);
  return it == wishes.end() ? nullptr : &it->second;
}

bool WarningOptions::isOn(std::string_view rule) const {
  const Wish *wish = wishOf(rule);
  if (wish && wish->on)
    return *wish->on;
  const isa::RuleText *text = isa::findRule(rule);
  return !text || !text->isPerformance || performance;
}

bool WarningOptions::isError(std::string_view rule) const {
  const Wish *wish = wishOf(rule);
  if (wish && wish->error)
    return *wish->error;
  const isa::RuleText *text = isa::findRule(rule);
  // Silence alone does not make a warning of an error: what an author does not see gives wrong
  // numbers. -Wno-error=M-04 -Wno-M-04 is for whoever wants neither.
  return allErrors || (text && text->isDemotable);
}

bool WarningOptions::apply(Diagnostic &diagnostic) const {
  const isa::RuleText *rule = isa::findRule(diagnostic.rule);
  const bool isWarning = diagnostic.severity == Severity::Warning && rule;
  const bool isDemotable = diagnostic.severity == Severity::Error && rule && rule->isDemotable;
  if (!isWarning && !isDemotable)
    return true;
  if (!isOn(diagnostic.rule) && !(isDemotable && isError(diagnostic.rule)))
    return false;
  diagnostic.severity = isError(diagnostic.rule) ? Severity::Error : Severity::Warning;
  return true;
}

} // namespace kiln
