//===- DifferentialTest.cpp - random programs: the proof against all their runs ---------------===//

#include "Oracle.h"
#include "RandomProgram.h"

#include "kilnrt/Proof.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <map>

using namespace kilnrt;
using namespace kilnrt::test;

namespace {

/// The two instructions of a finding: the ends of the edge that is missing, first in program order
/// first.
RecordPair pairOf(const Finding &finding) {
  for (const GraphEdge &edge : finding.graph.edges)
    if (edge.kind == GraphEdge::Kind::Missing) {
      const GraphNode &from = finding.graph.nodes[edge.from], &to = finding.graph.nodes[edge.to];
      return {{from.engine, from.index}, {to.engine, to.index}};
    }
  return {};
}

std::string pairsText(const std::set<RecordPair> &pairs) {
  std::string text;
  for (const auto &[a, b] : pairs)
    text += " (" + std::string(isa::name(a.engine)) + " " + std::to_string(a.index) + ", " +
            std::string(isa::name(b.engine)) + " " + std::to_string(b.index) + ")";
  return text.empty() ? " none" : text;
}

std::string verdictText(const Verdict &verdict) {
  return "all runs: deadlock " + std::to_string(verdict.hasDeadlock) + ", races" +
         pairsText(verdict.races) + ", reversed" + pairsText(verdict.reversed) + ", overlaps" +
         pairsText(verdict.overlaps) + ", reuses" + pairsText(verdict.reuses);
}

std::string proofText(const Proof &proof) {
  std::string text = "proof: races " + std::string(answerText(proof.races)) + ", deadlock " +
                     std::string(answerText(proof.deadlock)) + ", memory " +
                     std::string(answerText(proof.memory)) + " " + proof.reason;
  for (const Finding &finding : proof.findings)
    text += "\n  " + std::string(kindText(finding.kind)) + ": " + finding.diagnostic.message + " " +
            pairsText({pairOf(finding)});
  return text;
}

/// What the proof says that no run shows, or misses; empty when the two agree.
std::string disagreement(const Proof &proof, const Verdict &verdict) {
  const auto expect = [](bool isWrong) { return isWrong ? Answer::Refuted : Answer::Proven; };
  if (proof.deadlock != expect(verdict.hasDeadlock))
    return "deadlock";
  bool hasRace = false, hasMemory = false;
  for (const Finding &finding : proof.findings) {
    const RecordPair pair = pairOf(finding);
    switch (finding.kind) {
    case Finding::Kind::Race:
      hasRace = true;
      if (!verdict.races.contains(pair))
        return "a race that no run shows";
      break;
    case Finding::Kind::Order:
      hasRace = true;
      if (!verdict.reversed.contains(pair))
        return "an order that no run shows";
      break;
    case Finding::Kind::Reuse:
      hasMemory = true;
      if (!verdict.readsUnwritten && !verdict.reuses.contains(pair))
        return "a reuse that no run shows";
      break;
    case Finding::Kind::Overlap:
      hasMemory = true;
      break;
    case Finding::Kind::Deadlock:
      break;
    }
  }
  if (hasRace != (proof.races == Answer::Refuted))
    return "races refuted without a finding, or the other way round";
  if (verdict.hasDeadlock) // what comes later never runs: only what was found counts
    return proof.races == Answer::Proven || proof.memory == Answer::Proven
               ? "something is proven of a program that does not end"
               : "";
  if (proof.races != expect(!verdict.races.empty() || !verdict.reversed.empty()))
    return "races";
  if (verdict.readsUnwritten)
    return "";
  if (proof.memory != expect(!verdict.overlaps.empty() || !verdict.reuses.empty()))
    return "memory";
  if (!verdict.overlaps.empty() && !hasMemory)
    return "an overlap without a finding";
  return "";
}

uint64_t environment(const char *name, uint64_t otherwise) {
  const char *value = std::getenv(name);
  return value ? std::strtoull(value, nullptr, 10) : otherwise;
}

} // namespace

/// KILN_PROOF_SEED and KILN_PROOF_PROGRAMS choose others than the usual programs.
TEST(Differential, ProofAgreesWithAllRunsOfRandomPrograms) {
  const uint64_t first = environment("KILN_PROOF_SEED", 1);
  const uint64_t programs = environment("KILN_PROOF_PROGRAMS", 6000);
  std::map<std::string, uint64_t> counts;
  uint64_t disagreements = 0;
  for (uint64_t seed = first; seed < first + programs; ++seed) {
    const Program program = randomProgram(seed);
    const Verdict verdict = explore(program);
    if (verdict.isTooLarge) {
      ++counts["too large"];
      continue;
    }
    const Expected<Proof> proof = prove(program, {.maxFindings = 1000});
    ASSERT_TRUE(proof) << "seed " << seed;
    const std::string problem = disagreement(*proof, verdict);
    if (!problem.empty() && ++disagreements <= 3)
      ADD_FAILURE() << "seed " << seed << ": " << problem << "\n"
                    << verdictText(verdict) << "\n"
                    << proofText(*proof) << "\n"
                    << *disassemble(program);
    ++counts["compared"];
    counts["states"] += verdict.states;
    counts["loops decide"] += verdict.runs > 1;
    counts["loops decide, overlaps"] += verdict.runs > 1 && !verdict.overlaps.empty();
    counts["loops decide, proven"] += verdict.runs > 1 && proof->isProven();
    counts["deadlock"] += verdict.hasDeadlock;
    counts["races"] += !verdict.races.empty();
    counts["reversed"] += !verdict.reversed.empty();
    counts["overlaps"] += !verdict.overlaps.empty();
    counts["reuses"] += !verdict.reuses.empty();
    counts["reuses alone"] += !verdict.reuses.empty() && verdict.races.empty();
    counts["reads unwritten"] += verdict.readsUnwritten;
    counts["proven"] += proof->isProven();
    counts["pairs decided"] += proof->stats.pairsDecided;
    counts["pairs decided, proven"] += proof->isProven() ? proof->stats.pairsDecided : 0;
  }
  EXPECT_EQ(disagreements, 0u);
  std::string text =
      "seeds " + std::to_string(first) + " to " + std::to_string(first + programs - 1);
  for (const auto &[what, count] : counts)
    text += ", " + what + " " + std::to_string(count);
  std::printf("%s\n", text.c_str());
}

/// The short cut of the explorer loses nothing.
TEST(Differential, SixteenIncrementsDecideWhatTwoDo) {
  uint64_t compared = 0;
  for (uint64_t seed = 500000; seed < 500300; ++seed) {
    const Program program = randomProgram(seed);
    const Verdict each = explore(program, Increments::Each, 20000);
    if (each.isTooLarge)
      continue;
    const Verdict two = explore(program);
    ++compared;
    EXPECT_EQ(verdictText(each), verdictText(two)) << "seed " << seed;
  }
  EXPECT_GT(compared, 200u);
}
