//===- ProofFixture.cpp - a program in few lines, its proof in words --------------------------===//

#include "ProofFixture.h"

#include "ProgramBuilder.h"

using namespace kilnrt;
using namespace kilnrt::test;

Program kilnrt::test::programOf(std::string_view text, std::string_view flags) {
  std::string source = ".kernel \"test\"\n.target \"trn2\"\n.flags " + std::string(flags) +
                       "\n.file 0 \"kernel.cpp\"\n";
  for (int line = 0; line <= 40; ++line)
    source += ".loc @" + std::to_string(line) + " 0:" + std::to_string(line) + "\n";
  source += ".tensor x hbm 32x64xf32 input 0\n.tensor y hbm 32x64xf32 output 0\n";
  int byte = 0;
  for (const char *name : {"a", "b", "c", "d"}) {
    source +=
        ".tensor " + std::string(name) + " sbuf 32x16xf32 at 0," + std::to_string(byte) + "\n";
    byte += 64;
  }
  source += ".tensor p psum 32x16xf32 at 0,0\n.tensor q psum 32x16xf32 at 0,2048\n";
  Expected<Program> program = assemble(source + std::string(text), "test");
  if (!program) {
    ADD_FAILURE() << render(program.error());
    return {};
  }
  if (Status status = verify(*program); !status)
    ADD_FAILURE() << "the verifier refuses the program: " << render(status.error());
  return std::move(*program);
}

Proof kilnrt::test::proofOf(std::string_view text, const ProofOptions &options,
                            std::string_view flags) {
  Expected<Proof> proof = prove(programOf(text, flags), options);
  if (!proof) {
    ADD_FAILURE() << render(proof.error());
    return {};
  }
  return std::move(*proof);
}

std::string kilnrt::test::answersText(const Proof &proof) {
  std::string text = "races " + std::string(answerText(proof.races)) + ", deadlock " +
                     std::string(answerText(proof.deadlock)) + ", memory " +
                     std::string(answerText(proof.memory));
  return text + (proof.reason.empty() ? "" : ": " + proof.reason) + "\n";
}

std::string kilnrt::test::findingText(const Finding &finding) {
  return std::string(kindText(finding.kind)) + " " + render(finding.diagnostic) + "\n";
}

std::string kilnrt::test::reportText(const Proof &proof) {
  std::string text = answersText(proof);
  for (const Finding &finding : proof.findings)
    text += "\n" + findingText(finding) + graphText(finding.graph);
  return text;
}
