//===- ScoreTest.cpp - what the score says of provers that are good, blind and timid ----------===//

#include "Score.h"
#include "Prove.h"
#include "Samples.h"

#include <nlohmann/json.hpp>

using namespace kilnrt;
using namespace kilnrt::mutation;
using namespace kilnrt::mutation::test;

namespace {

Score scored(const Program &program, const Prover &prover, const ScoreOptions &options = {}) {
  Expected<Score> score = scoreOf(program, prover, options);
  if (!score) {
    ADD_FAILURE() << score.error().message;
    return {};
  }
  return *score;
}

ProofAnswer alwaysProven(const Program &) { return {true, {}, ""}; }
ProofAnswer neverProven(const Program &) { return {false, Outcome::Race, "a race, surely"}; }

TEST(MutationScore, TheProofCatchesAllOfTheCopy) {
  const Score score = scored(programOf(kCopyTensors, kCopyStreams), staticProof, {.compare = true});
  EXPECT_EQ(score.mutants(), 18u);
  EXPECT_EQ(score.of(Outcome::Missed), 0u);
  EXPECT_EQ(score.of(Outcome::Run), 0u);
  EXPECT_EQ(score.score(), 1.0);
  EXPECT_TRUE(score.missedByProof.empty());
  EXPECT_TRUE(score.falseAlarms.empty());
  // Every wait is needed: nothing of it is equivalent.
  for (const MutationKind kind : {MutationKind::DropWait, MutationKind::WeakenWait})
    EXPECT_EQ(score.counts[size_t(kind)][size_t(Outcome::Race)], 2u) << nameOf(kind);
  // The last update has nobody waiting for it.
  EXPECT_EQ(score.counts[size_t(MutationKind::DropUpdate)][size_t(Outcome::Equivalent)], 1u);
}

TEST(MutationScore, ABlindProverMissesWhatARunInProgramOrderDoesNotShow) {
  const Score score =
      scored(programOf(kCopyTensors, kCopyStreams), alwaysProven, {.compare = true});
  // Program order hides every missing wait.
  EXPECT_EQ(score.counts[size_t(MutationKind::DropWait)][size_t(Outcome::Missed)], 2u);
  EXPECT_EQ(score.of(Outcome::Missed), score.missed.size());
  EXPECT_LT(score.score(), 1.0);
  EXPECT_GE(score.missedByProof.size(), score.missed.size());
  EXPECT_TRUE(score.falseAlarms.empty());
  ASSERT_FALSE(score.missed.empty());
  EXPECT_EQ(score.missed[0].id, 0u);
  EXPECT_EQ(score.missed[0].text,
            "drop-wait vector[0]: tensor_copy #1 [wait s0>=16 update s1+=1] becomes tensor_copy #1 "
            "[update s1+=1]: #1 may start before #0 is complete");
}

TEST(MutationScore, ATimidProverIsNoScoreAtAll) {
  Expected<Score> score = scoreOf(programOf(kCopyTensors, kCopyStreams), neverProven);
  ASSERT_FALSE(score);
  EXPECT_EQ(score.error().message,
            "the program is not proven: a race, surely (the oracle finds nothing wrong)");
}

TEST(MutationScore, FalseAlarmsAreCounted) {
  // Proven for the original, alarmed by everything else.
  const Program program = programOf(kCopyTensors, kCopyStreams);
  const Prover prover = [&](const Program &other) {
    return other == program ? alwaysProven(other) : neverProven(other);
  };
  const Score score = scored(program, prover, {.compare = true});
  EXPECT_EQ(score.score(), 1.0); // all are caught, some that are fine
  EXPECT_EQ(score.of(Outcome::Equivalent), 0u);
  const Score right = scored(program, staticProof);
  EXPECT_EQ(score.falseAlarms.size(), right.of(Outcome::Equivalent));
}

TEST(MutationScore, ARunStopsWhatTheProofLetsThrough) {
  // Without the update of the copy the store waits for ever, in program order, too.
  const Program program = programOf(kCopyTensors, R"(.stream scalar
  wait s0>=16 tensor_copy dst=u[0+128, 0: 1x64] src=t[0+128, 0: 1x64] update s1+=1 #1
.stream vector
  wait s0>=1 semaphore_wait update s1+=1 #2
.stream sync
  dma_copy dst=t[0+128, 0: 1x64] src=x[128 rows of 64, 0: 1x64] update s0+=16 #0
  wait s1>=2 semaphore_wait #3
  wait s1>=2 dma_copy dst=y[128 rows of 64, 0: 1x64] src=u[0+128, 0: 1x64] update s2+=16 #4
)");
  const Score score = scored(program, alwaysProven);
  // s1 retargeted to s0: s1 stays at 1, which the verifier sees; the wait of the copy retargeted to
  // s1 needs its own update, which only a run or the proof see.
  EXPECT_GT(score.of(Outcome::Run), 0u);
  EXPECT_GT(score.of(Outcome::Verifier), 0u);
}

TEST(MutationScore, RefusesWhatIsNotSynchronised) {
  Program program =
      programOf(kCopyTensors, ".stream vector\n  memset dst=t[0+128, 0: 1x64] value=1 #0\n");
  program.flags.synchronised = false;
  Expected<Score> score = scoreOf(program, staticProof);
  ASSERT_FALSE(score);
  EXPECT_EQ(score.error().message, "the program is not synchronised: it has nothing to mutate");
}

TEST(MutationScore, DeadlocksAreComparedByThemselves) {
  // Right about every program, wrong about why.
  const Prover prover = [](const Program &program) {
    ProofAnswer answer = staticProof(program);
    answer.isReached = true;
    return answer;
  };
  const Score score = scored(programOf(kCopyTensors, kCopyStreams), prover, {.compare = true});
  EXPECT_GT(score.of(Outcome::Deadlock), 0u);
  EXPECT_EQ(score.missedByProof.size(), score.of(Outcome::Deadlock));
}

//---- samples --------------------------------------------------------------------------------===//

TEST(MutationScore, SamplesTakeEveryKind) {
  std::vector<Mutant> mutants;
  for (uint32_t i = 0; i < 100; ++i)
    mutants.push_back({MutationKind::DropWait, 0, i});
  for (uint32_t i = 0; i < 3; ++i)
    mutants.push_back({MutationKind::ShrinkRotation, 0, 0, i});
  const std::vector<size_t> sample = sampleOf(mutants, 8, 5);
  ASSERT_EQ(sample.size(), 8u);
  EXPECT_TRUE(std::is_sorted(sample.begin(), sample.end()));
  EXPECT_EQ(std::count_if(sample.begin(), sample.end(), [](size_t i) { return i >= 100; }), 3);
  EXPECT_EQ(sampleOf(mutants, 8, 5), sample);
  EXPECT_NE(sampleOf(mutants, 8, 6), sample);
  EXPECT_EQ(sampleOf(mutants, 0, 5).size(), 103u);
  EXPECT_EQ(sampleOf(mutants, 1000, 5).size(), 103u);
}

//---- words ----------------------------------------------------------------------------------===//

TEST(MutationScore, TableAndJson) {
  Score score;
  score.counts[size_t(MutationKind::DropWait)][size_t(Outcome::Race)] = 1234;
  score.counts[size_t(MutationKind::DropWait)][size_t(Outcome::Missed)] = 1;
  score.missed.push_back({"a.kiln", 7, "drop-wait \"x\""});
  EXPECT_EQ(
      tableOf(score),
      "                  mutants verifier     race    order    reuse  overlap deadlock      "
      "run    equal   missed\n"
      "drop-wait            1235        0     1234        0        0        0        0        "
      "0        0        1\n"
      "all                  1235        0     1234        0        0        0        0        "
      "0        0        1\n"
      "score 99.919 %: 1234 of 1235 caught or proven equivalent\n");
  const auto json = nlohmann::json::parse(jsonOf(score));
  EXPECT_EQ(json["mutants"], 1235);
  EXPECT_EQ(json["kinds"]["drop-wait"]["race"], 1234);
  EXPECT_EQ(json["kinds"]["move-wait"]["race"], 0);
  EXPECT_EQ(json["missed"][0]["program"], "a.kiln");
  EXPECT_EQ(json["missed"][0]["text"], "drop-wait \"x\"");
  // One missed of very many is not 100 %.
  score.counts[size_t(MutationKind::DropWait)][size_t(Outcome::Race)] = 10'000'000;
  EXPECT_NE(tableOf(score).find("score 99.999 %"), std::string::npos);
}

} // namespace
