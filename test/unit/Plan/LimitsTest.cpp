//===- LimitsTest.cpp - plans for little memory
//-------------------------------------------------===//

#include "kiln/Plan/Plan.h"
#include "kiln/Tile/Decompose.h"
#include "kiln/Tile/Parse.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace kiln::plan {
namespace {

PlanResult planIn(std::string_view text, int64_t sbufBytes) {
  std::string error;
  const std::optional<tile::Graph> graph = tile::parse(text, error);
  EXPECT_TRUE(graph) << error;
  PlanOptions options;
  options.sbufBytes = sbufBytes;
  PlanResult result = makePlan(tile::decompose(*graph), {}, options);
  if (result.plan) {
    EXPECT_EQ(verify(*result.plan), std::vector<std::string>());
    EXPECT_LE(result.plan->sbufBytes, sbufBytes);
  }
  return result;
}

/// Four tensors, none of which is done with before the last sum.
constexpr std::string_view kSums = R"(@a = hbm input 0 : 300x7 float32
@b = hbm input 1 : 300x7 float32
@y = hbm output 0 : 300x7 float32
%0 = load @a : 300x7 float32
%1 = load @b : 300x7 float32
%2 = binary add %0, %1 : 300x7 float32
%3 = binary subtract %0, %1 : 300x7 float32
%4 = binary multiply %0, %1 : 300x7 float32
%5 = binary maximum %2, %3 : 300x7 float32
%6 = binary minimum %5, %4 : 300x7 float32
%7 = binary add %6, %2 : 300x7 float32
%8 = store %7, @y : 300x7 float32
)";

TEST(Limits, AGroupThatDoesNotFitIsCut) {
  const PlanResult roomy = planIn(kSums, 4096), tight = planIn(kSums, 192),
                   none = planIn(kSums, 127);
  ASSERT_TRUE(roomy.plan);
  EXPECT_EQ(roomy.plan->groups.size(), 1u);
  EXPECT_TRUE(roomy.plan->crossings.empty());
  ASSERT_TRUE(tight.plan);
  EXPECT_GT(tight.plan->groups.size(), 1u);
  ASSERT_FALSE(tight.plan->crossings.empty());
  EXPECT_EQ(tight.plan->crossings[0].why, "together they do not fit in SBUF");
  ASSERT_FALSE(none.plan);
  EXPECT_EQ(none.problem->rule, "T-07");
}

TEST(Limits, OneOperationInItsSmallestTiles) {
  const std::string_view exp = R"(@x = hbm input 0 : 300x7 float32
@y = hbm output 0 : 300x7 float32
%0 = load @x : 300x7 float32
%1 = unary exp %0 : 300x7 float32
%2 = store %1, @y : 300x7 float32
)";
  EXPECT_TRUE(planIn(exp, 64).plan); // a slot
  const PlanResult refused = planIn(exp, 63);
  ASSERT_FALSE(refused.plan);
  EXPECT_EQ(refused.problem->rule, "T-07");
  EXPECT_EQ(
      refused.problem->message,
      "exp to (300, 7) float32 of (300, 7) float32 takes 64 bytes of an SBUF partition in its "
      "smallest tiles, there are 63");
  EXPECT_EQ(refused.problem->help,
            "free 1 byte of each partition: let the kernel's own tiles be smaller, or compute the "
            "value before they are declared");
}

TEST(Limits, AFoldOfSeveralDimsFoldsThemOneByOne) {
  // Every second matrix: the dims do not merge, and a row of the inner one is too long.
  const std::string_view fold = R"(@x = hbm input 0 : 5x8x1000 float32
@y = hbm output 0 : 5x1x1 float32
%0 = load @x strides (8000, 2000, 1) : 5x4x1000 float32
%1 = reduce add %0 axes (1, 2) keepdims : 5x1x1 float32
%2 = store %1, @y : 5x1x1 float32
)";
  const PlanResult whole = planIn(fold, 65536), cut = planIn(fold, 2048);
  ASSERT_TRUE(whole.plan && cut.plan);
  const auto folds = [](const Plan &plan) {
    return std::count_if(plan.graph.nodes.begin(), plan.graph.nodes.end(),
                         [](const tile::Node &node) { return node.op == tile::Op::Reduce; });
  };
  EXPECT_EQ(folds(*whole.plan), 1);
  EXPECT_EQ(folds(*cut.plan), 2);
}

} // namespace
} // namespace kiln::plan
