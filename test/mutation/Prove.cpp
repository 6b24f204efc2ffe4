//===- Prove.cpp - the static proof in the words of the mutation score ------------------------===//

#include "Prove.h"

#include "kilnrt/Proof.h"

using namespace kilnrt;
using namespace kilnrt::mutation;

static Outcome outcomeOf(Finding::Kind kind) {
  switch (kind) {
  case Finding::Kind::Race:
    return Outcome::Race;
  case Finding::Kind::Order:
    return Outcome::Order;
  case Finding::Kind::Overlap:
    return Outcome::Overlap;
  case Finding::Kind::Reuse:
    return Outcome::Reuse;
  case Finding::Kind::Deadlock:
    break;
  }
  return Outcome::Deadlock;
}

ProofAnswer kilnrt::mutation::staticProof(const Program &program) {
  Expected<Proof> proof = prove(program);
  if (!proof)
    return {false, {}, proof.error().message};
  ProofAnswer answer{proof->isProven(), {}, proof->reason};
  answer.isReached = proof->deadlock == Answer::Proven;
  if (!proof->findings.empty()) {
    answer.finding = outcomeOf(proof->findings.front().kind);
    answer.message = proof->findings.front().diagnostic.message;
  }
  return answer;
}
