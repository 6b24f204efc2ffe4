//===- RegistersTest.cpp - which engine computes which register, under which number -----------===//

#include "kiln/Analysis/Registers.h"

#include <gtest/gtest.h>

namespace kiln::analysis {
namespace {

using isa::Engine;

RegisterUse sets(uint16_t number, std::vector<uint16_t> reads = {}) {
  RegisterUse use;
  use.isSequencer = true;
  use.sets = number;
  use.reads = std::move(reads);
  return use;
}
RegisterUse stores(uint16_t number) {
  RegisterUse use;
  use.isSequencer = true;
  use.reads = {number};
  return use;
}
RegisterUse on(Engine engine, std::vector<uint16_t> reads = {}) {
  RegisterUse use;
  use.engine = engine;
  use.reads = std::move(reads);
  return use;
}
RegisterUse begin(uint16_t counter, std::vector<uint16_t> reads = {}) {
  RegisterUse use;
  use.edge = RegisterUse::Begin;
  use.sets = counter;
  use.reads = std::move(reads);
  return use;
}
RegisterUse end() {
  RegisterUse use;
  use.edge = RegisterUse::End;
  return use;
}

TEST(Registers, WhoNeedsARegisterNeedsWhatItIsComputedFrom) {
  // r0 -> r1 -> an access of the Vector Engine; r2 for nobody.
  const std::vector<RegisterUse> uses = {sets(0), sets(1, {0}), sets(2), on(Engine::Vector, {1}),
                                         on(Engine::Sync)};
  const RegisterPlan plan = planRegisters(uses);
  EXPECT_EQ(plan.enginesOf(uses[0]), std::vector{Engine::Vector});
  EXPECT_EQ(plan.enginesOf(uses[1]), std::vector{Engine::Vector});
  EXPECT_EQ(plan.enginesOf(uses[2]), std::vector<Engine>{});
}

TEST(Registers, EveryEngineDecidesLoops) {
  const std::vector<RegisterUse> uses = {sets(0), begin(1, {0}), on(Engine::Vector),
                                         on(Engine::Sync), end()};
  const RegisterPlan plan = planRegisters(uses);
  EXPECT_EQ(plan.enginesOf(uses[0]), (std::vector{Engine::Vector, Engine::Sync}));
}

TEST(Registers, OneEngineStores) {
  const std::vector<RegisterUse> uses = {sets(0), stores(0), on(Engine::Vector)};
  const RegisterPlan plan = planRegisters(uses);
  EXPECT_EQ(plan.enginesOf(uses[1]), std::vector{Engine::Vector}); // there is no Sync stream
  EXPECT_EQ(plan.enginesOf(uses[0]), std::vector{Engine::Vector});
  const std::vector<RegisterUse> alone = {sets(0), stores(0)};
  EXPECT_EQ(planRegisters(alone).enginesOf(alone[0]), std::vector{Engine::Sync});
}

TEST(Registers, NumbersAreReusedBehindTheLastRead) {
  const std::vector<RegisterUse> uses = {sets(10), stores(10), sets(11), stores(11)};
  const RegisterPlan plan = planRegisters(uses);
  EXPECT_EQ(plan.numbers.at(10), plan.numbers.at(11));
}

TEST(Registers, WhatGoesRoundALoopKeepsItsNumber) {
  // r0 is carried: read at the top of the body, set at its end. r1 lives behind that, r2 is set
  // first.
  const std::vector<RegisterUse> uses = {sets(9),   begin(5, {9}), stores(0), sets(1),
                                         stores(1), sets(0),       sets(2),   stores(2),
                                         end(),     sets(3),       stores(3)};
  const RegisterPlan plan = planRegisters(uses);
  for (uint16_t other : {1, 2, 5, 9})
    EXPECT_NE(plan.numbers.at(0), plan.numbers.at(other)) << other;
  EXPECT_NE(plan.numbers.at(5), plan.numbers.at(1)); // the counter lives as long as its loop
  EXPECT_EQ(plan.numbers.at(1), plan.numbers.at(2));
}

TEST(Registers, AValueFromOutsideOutlivesTheLoop) {
  // r0 is read in the first iteration only in the order of the text, but again in the second.
  const std::vector<RegisterUse> uses = {sets(0), begin(5), stores(0), sets(1), stores(1), end()};
  const RegisterPlan plan = planRegisters(uses);
  EXPECT_NE(plan.numbers.at(0), plan.numbers.at(1));
}

/// A branch that may not run sets it: what the iteration before left may be wanted.
TEST(Registers, WhatABranchSetsGoesRoundTheLoop) {
  const auto plan = [](const RegisterUse &branch) {
    return planRegisters(
        {sets(9), begin(5, {9}), branch, sets(0), end(), stores(0), sets(1), stores(1), end()});
  };
  const RegisterPlan decided = plan(begin(isa::kNoRegister, {9}));
  EXPECT_NE(decided.numbers.at(0), decided.numbers.at(1));
  const RegisterPlan counted = plan(begin(isa::kNoRegister)); // at least once
  EXPECT_EQ(counted.numbers.at(0), counted.numbers.at(1));
  // Of use in the branch alone: it is set there first.
  const RegisterPlan inside = planRegisters({sets(9), begin(5, {9}), begin(isa::kNoRegister, {9}),
                                             sets(0), stores(0), end(), sets(1), stores(1), end()});
  EXPECT_EQ(inside.numbers.at(0), inside.numbers.at(1));
}

/// A loop that runs no iteration does not set its counter.
TEST(Registers, ACounterReadBehindItsLoopGoesRoundTheOuterOne) {
  const RegisterPlan plan = planRegisters(
      {sets(9), begin(5, {9}), begin(0, {9}), end(), stores(0), sets(1), stores(1), end()});
  EXPECT_NE(plan.numbers.at(0), plan.numbers.at(1));
}

TEST(Registers, SixtyFourAreLiveAtOnce) {
  for (const uint16_t count : {64, 65}) {
    std::vector<RegisterUse> uses;
    for (uint16_t r = 0; r < count; ++r)
      uses.push_back(sets(r));
    for (uint16_t r = 0; r < count; ++r)
      uses.push_back(stores(r));
    const RegisterPlan plan = planRegisters(uses);
    EXPECT_EQ(plan.tooMany, count == 64 ? 0u : 65u);
    EXPECT_EQ(plan.at, count == 64 ? 0u : 64u);
  }
}

} // namespace
} // namespace kiln::analysis
