//===- CostTest.cpp - costs pinned to hand calculations ---------------------------------------===//

#include "kilnrt/Timing/Cost.h"

#include <gtest/gtest.h>

using kiln::isa::Engine;
using kiln::isa::Opcode;
using kilnrt::costOf;

// A 16-bit matmul pass of 512 columns: issue N + 7 = 519 cycles of 2.4 GHz = 216.25 ns, as profiles
// of the chip show (216.3 ns); latency N + 398 = 910 cycles = 379.2 ns (379 ns).
TEST(Cost, MatmulPass) {
  auto cost = costOf(Opcode::NcMatmul, Engine::Tensor, 512);
  ASSERT_TRUE(cost);
  EXPECT_EQ(cost->issueCycles, 519);
  EXPECT_EQ(cost->latencyCycles, 910);
  EXPECT_NEAR(cost->issueNs, 216.25, 1e-9);
  EXPECT_NEAR(cost->latencyNs, 379.1666667, 1e-6);
}

// Below the floor of 64 cycles an engine still needs 64: N + 7 reaches it at 57.
TEST(Cost, FloorOfTheIssueInterval) {
  EXPECT_EQ(costOf(Opcode::NcMatmul, Engine::Tensor, 57)->issueCycles, 64);
  EXPECT_EQ(costOf(Opcode::NcMatmul, Engine::Tensor, 58)->issueCycles, 65);
}

// Vector Engine reciprocal: 8 cycles an element. 8 * 4 + 50 = 82 cycles of 0.96 GHz = 85.4 ns (85
// ns).
TEST(Cost, ReciprocalTakesEightCyclesAnElement) {
  auto cost = costOf(Opcode::Reciprocal, Engine::Vector, 4);
  EXPECT_EQ(cost->issueCycles, 82);
  EXPECT_NEAR(cost->issueNs, 85.4166667, 1e-6);
}

TEST(Cost, IsEmptyWhereTheEngineDoesNotRunTheInstruction) {
  EXPECT_FALSE(costOf(Opcode::NcMatmul, Engine::Vector, 1));
  EXPECT_FALSE(costOf(Opcode::Iota, Engine::Unknown, 1));
}

TEST(Cost, EveryRowHasACostOnEachOfItsEngines) {
  for (const auto &desc : kiln::isa::instructions())
    for (Engine engine : desc.engines) {
      auto cost = costOf(desc.opcode, engine, 100);
      ASSERT_TRUE(cost) << desc.mnemonic;
      EXPECT_GT(cost->issueNs, 0) << desc.mnemonic;
      EXPECT_FALSE(cost->term->source.empty()) << desc.mnemonic;
    }
}
