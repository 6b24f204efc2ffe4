//===- WarningsTest.cpp - the -W flags --------------------------------------------------------===//
//
// P-03 is a warning, P-06 an error like any other, M-04 an error that may become a warning.
//
//===------------------------------------------------------------------------------------------===//

#include "kiln/ISA/Warnings.h"
#include "kiln/ISA/Catalogue.h"
#include "kiln/ISA/DiagnosticText.h"

#include <gtest/gtest.h>

#include <initializer_list>

using namespace kiln;

namespace {

WarningOptions flags(std::initializer_list<const char *> list) {
  WarningOptions options;
  for (const char *flag : list)
    if (auto problem = options.add(flag))
      ADD_FAILURE() << toText(*problem);
  return options;
}

std::string problemOf(const char *flag) {
  WarningOptions options;
  auto problem = options.add(flag);
  if (!problem)
    return "accepted";
  EXPECT_EQ(problem->fault, Fault::Usage);
  return problem->message + " (" + problem->help + ")";
}

/// "error", "warning", or "-" when nothing is shown.
std::string shown(const WarningOptions &options, const char *rule, Severity severity) {
  Diagnostic d;
  d.rule = rule;
  d.severity = severity;
  return options.apply(d) ? name(d.severity) : "-";
}

std::string warning(std::initializer_list<const char *> list, const char *rule) {
  return shown(flags(list), rule, Severity::Warning);
}

} // namespace

TEST(Warnings, StayWarningsByThemselves) {
  EXPECT_EQ(warning({}, "P-03"), "warning");
  EXPECT_EQ(warning({"no-P-03"}, "P-03"), "-");
  EXPECT_EQ(warning({"no-p-03"}, "P-03"), "-") << "ids are read in any case";
  EXPECT_EQ(warning({"no-M-04"}, "P-03"), "warning");
}

TEST(Warnings, BecomeErrorsTogetherOrAlone) {
  EXPECT_EQ(warning({"error"}, "P-03"), "error");
  EXPECT_EQ(warning({"error=P-03"}, "P-03"), "error");
  EXPECT_EQ(warning({"error=M-04"}, "P-03"), "warning");
  EXPECT_EQ(warning({"error", "no-error"}, "P-03"), "warning");
}

TEST(Warnings, NamedFlagsWinOverGeneralOnes) {
  EXPECT_EQ(warning({"error", "no-error=P-03"}, "P-03"), "warning");
  EXPECT_EQ(warning({"no-error=P-03", "error"}, "P-03"), "warning");
  EXPECT_EQ(warning({"error=P-03", "no-error"}, "P-03"), "error");
  EXPECT_EQ(warning({"error", "no-P-03"}, "P-03"), "-");
}

TEST(Warnings, TheLaterOfTwoNamedFlagsWins) {
  EXPECT_EQ(warning({"no-P-03", "P-03"}, "P-03"), "warning");
  EXPECT_EQ(warning({"P-03", "no-P-03"}, "P-03"), "-");
  EXPECT_EQ(warning({"no-P-03", "error=P-03"}, "P-03"), "error");
  EXPECT_EQ(warning({"error=P-03", "no-P-03"}, "P-03"), "-");
  EXPECT_EQ(warning({"error=P-03", "no-error=P-03"}, "P-03"), "warning");
}

TEST(Warnings, AnOverlapByHandIsAnErrorThatMayBecomeAWarning) {
  auto overlap = [](std::initializer_list<const char *> list) {
    return shown(flags(list), "M-04", Severity::Error);
  };
  EXPECT_EQ(overlap({}), "error");
  EXPECT_EQ(overlap({"no-error"}), "error");
  EXPECT_EQ(overlap({"no-error=M-04"}), "warning");
  EXPECT_EQ(overlap({"error", "no-error=M-04"}), "warning");
  EXPECT_EQ(overlap({"no-error=M-04", "error=M-04"}), "error");
  EXPECT_EQ(overlap({"no-M-04"}), "error") << "silence alone hides no error";
  EXPECT_EQ(overlap({"no-M-04", "no-error=M-04"}), "-");
  EXPECT_EQ(overlap({"no-error=M-04", "no-M-04"}), "-");
  EXPECT_EQ(overlap({"no-M-04", "M-04"}), "error");
  EXPECT_FALSE(flags({"no-error=M-04"}).isError("M-04"));
  EXPECT_TRUE(flags({"no-M-04"}).isError("M-04"));
  EXPECT_TRUE(flags({}).isError("M-04"));
}

TEST(Warnings, OtherDiagnosticsStayAsTheyAre) {
  WarningOptions strict = flags({"error"});
  EXPECT_EQ(shown(strict, "P-06", Severity::Error), "error");
  EXPECT_EQ(shown(strict, "P-06", Severity::Note), "note");
  EXPECT_EQ(shown(strict, "", Severity::Warning), "warning") << "not about a rule";
  EXPECT_EQ(shown(strict, "", Severity::Error), "error");
}

TEST(Warnings, RefuseWhatIsNoWarning) {
  std::string ids;
  for (const isa::RuleText &rule : isa::catalogue())
    if (rule.isControlled())
      ids += (ids.empty() ? "" : ", ") + std::string(rule.id);
  EXPECT_EQ(problemOf("no-P-06"),
            "-Wno-P-06 cannot change P-06, which is an error (-W flags take warnings: " + ids +
                ")");
  EXPECT_EQ(problemOf("error=P-06"),
            "-Werror=P-06 cannot change P-06, which is an error (-W flags take warnings: " + ids +
                ")");
}

TEST(Warnings, NameTheNearestRulesForAnUnknownOne) {
  EXPECT_EQ(problemOf("no-M04"), "-Wno-M04 names no rule: there is no 'M04' (did you mean M-04)");
  EXPECT_EQ(problemOf("error=B-1"),
            "-Werror=B-1 names no rule: there is no 'B-1' (did you mean B-01)");
  EXPECT_EQ(problemOf("all"),
            "-Wall names no rule: there is no 'all' (`kiln explain` lists all rules)");
  EXPECT_EQ(problemOf(""), "-W names no rule: there is no '' (`kiln explain` lists all rules)");
  EXPECT_EQ(problemOf("no-"),
            "-Wno- names no rule: there is no '' (`kiln explain` lists all rules)");
}
