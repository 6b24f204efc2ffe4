//===- CatalogueTest.cpp - the texts of `kiln explain`, and diagnostics as text ---------------===//

#include "kiln/ISA/Catalogue.h"
#include "kiln/ISA/DiagnosticText.h"
#include "kiln/ISA/Instruction.h"

#include <gtest/gtest.h>

#include <algorithm>

using namespace kiln;

TEST(Catalogue, IsSortedAndComplete) {
  EXPECT_TRUE(std::ranges::is_sorted(isa::catalogue(), {}, &isa::RuleText::id));
  for (const isa::RuleText &rule : isa::catalogue()) {
    EXPECT_FALSE(rule.title.empty()) << rule.id;
    EXPECT_FALSE(rule.why.empty()) << rule.id;
    EXPECT_FALSE(rule.wayOut.empty()) << rule.id;
    EXPECT_EQ(isa::findRule(rule.id), &rule);
  }
}

TEST(Catalogue, KnowsEveryRuleOfTheTable) {
  for (const isa::InstDesc &inst : isa::instructions())
    for (const isa::RuleDesc &rule : inst.rules)
      EXPECT_NE(isa::findRule(rule.id), nullptr) << inst.mnemonic << " " << rule.id;
}

TEST(Catalogue, HasNoRuleOfAnotherName) {
  EXPECT_EQ(isa::findRule("P-99"), nullptr);
  EXPECT_EQ(isa::findRule(""), nullptr);
  EXPECT_EQ(isa::findRule("p-01"), nullptr);
}

TEST(Catalogue, OffersTheNearestRules) {
  using Ids = std::vector<std::string_view>;
  EXPECT_EQ(isa::nearestRules("p6"), Ids{"P-06"});
  EXPECT_EQ(isa::nearestRules("P-6"), Ids{"P-06"});
  EXPECT_EQ(isa::nearestRules("P_06"), Ids{"P-06"});
  // One character away: the same number in other families, or another number in this one.
  EXPECT_EQ(isa::nearestRules("P-16"), (Ids{"P-06", "P-10", "P-11", "P-12"}));
  EXPECT_EQ(isa::nearestRules("P-16", 2), (Ids{"P-06", "P-10"}));
  EXPECT_EQ(isa::nearestRules("all"), Ids());
  EXPECT_EQ(isa::nearestRules(""), Ids());
  EXPECT_EQ(isa::nearestRules("a very long text with P-06 in it"), Ids());
}

TEST(Catalogue, SaysWhatFlagsMayName) {
  EXPECT_FALSE(isa::findRule("P-06")->isControlled());
  EXPECT_TRUE(isa::findRule("M-04")->isControlled());
  EXPECT_TRUE(isa::findRule("M-04")->isDemotable);
  EXPECT_EQ(isa::findRule("M-04")->severity, Severity::Error);
  EXPECT_EQ(isa::findRule("P-03")->severity, Severity::Warning);
  EXPECT_TRUE(isa::findRule("P-03")->isControlled());
  EXPECT_FALSE(isa::findRule("P-03")->isPerformance);
}

TEST(DiagnosticText, ShowsPlaceCallersNotesAndHelp) {
  Diagnostic d;
  d.rule = "P-06";
  d.message = "'mask' starts at partition 48";
  d.help = "take partitions 64 to 99";
  d.place = {{"a.cpp", 12}, {"a.cpp", 30}};
  d.notes = {{"'mask' is this tile", {{"b.h", 3}}}, {"no place", {}}};

  EXPECT_EQ(toText(d), "a.cpp:12: error[P-06]: 'mask' starts at partition 48\n"
                       "  called from a.cpp:30\n"
                       "b.h:3: note: 'mask' is this tile\n"
                       "note: no place\n"
                       "help: take partitions 64 to 99\n");
}

TEST(DiagnosticText, SpeaksForKilnWithoutAPlace) {
  Diagnostic d;
  d.severity = Severity::Warning;
  d.message = "text";
  EXPECT_EQ(toText(d), "kiln: warning: text\n");
}
