//===- ProveTest.cpp - what proves what, and when a proof ends early --------------------------===//

#include "ProofFixture.h"

#include "ProgramBuilder.h"

#include <chrono>
#include <thread>

using namespace kilnrt;
using namespace kilnrt::test;

namespace {

/// Pairs of a memset and a copy on two engines, in no order: `races` of them, each on its own
/// bytes.
Program racesOf(int races) {
  ProgramBuilder b({.placed = true, .synchronised = true});
  for (int i = 0; i < races; ++i) {
    const uint32_t t = b.sbuf("t" + std::to_string(i), DType::Float32, {4, 16});
    const uint32_t u = b.sbuf("u" + std::to_string(i), DType::Float32, {4, 16});
    b.memset(b.all(t), 1);
    b.copy(b.all(u), b.all(t), Engine::Scalar);
  }
  return b.finish();
}

Proof proofOf(const Program &program, const ProofOptions &options = {}) {
  EXPECT_TRUE(verify(program));
  Expected<Proof> proof = prove(program, options);
  EXPECT_TRUE(proof);
  return proof ? std::move(*proof) : Proof();
}

} // namespace

TEST(Prove, WordsOfAnswersAndKinds) {
  EXPECT_EQ(answerText(Answer::Proven), "proven");
  EXPECT_EQ(answerText(Answer::Refuted), "refuted");
  EXPECT_EQ(answerText(Answer::NotProven), "not proven");
  EXPECT_EQ(answerText(Answer::NotApplicable), "not applicable");
  EXPECT_EQ(kindText(Finding::Kind::Race), "race");
  EXPECT_EQ(kindText(Finding::Kind::Order), "order");
  EXPECT_EQ(kindText(Finding::Kind::Overlap), "overlap");
  EXPECT_EQ(kindText(Finding::Kind::Reuse), "reuse");
  EXPECT_EQ(kindText(Finding::Kind::Deadlock), "deadlock");
}

TEST(Prove, HoldsForAnEmptyProgram) {
  const Proof proof = test::proofOf("");

  EXPECT_EQ(reportText(proof), kAllProven);
  EXPECT_TRUE(proof.isProven());
  EXPECT_EQ(proof.stats.instructions, 0u);
}

TEST(Prove, DoesNotApplyToAProgramOfOneOrder) {
  const Proof proof = test::proofOf(R"(
.stream scalar
  tensor_copy dst=b[0+32, 0: 1x16] src=a[0+32, 0: 1x16] #1
.stream vector
  memset dst=a[0+32, 0: 1x16] value=1 #0
)",
                                    {}, "placed");

  EXPECT_EQ(answersText(proof),
            "races not applicable, deadlock not applicable, memory not applicable\n");
  EXPECT_TRUE(proof.findings.empty());
  EXPECT_TRUE(proof.isProven());
}

/// On-chip tensors have bytes of their own before they are placed.
TEST(Prove, JudgesAProgramThatIsNotPlaced) {
  const Proof proof = test::proofOf(R"(
.tensor t sbuf 32x16xf32 at 0,256
.stream scalar
  tensor_copy dst=t[0+16, 0: 1x16] src=a[0+16, 0: 1x16] @11 #1
.stream vector
  memset dst=a[0+32, 0: 1x16] value=1 update s0+=1 @10 #0
)",
                                    {}, "synchronised");

  EXPECT_EQ(reportText(proof), R"(races refuted, deadlock proven, memory proven

race X-08: race: tensor_copy reads 'a' and memset writes 'a', in no order @ kernel.cpp:11
help: wait for semaphore 0 >= 1 at instruction 0 of the scalar stream or before it
note: instruction 0 of the scalar stream, tensor_copy: both touch sbuf partitions 0-15, bytes 0-63 @ 
note: the earlier one is instruction 0 of the vector stream, memset @ kernel.cpp:10
note: instruction 0 of the scalar stream starts without semaphore 0 >= 1, which proves instruction 0 of the vector stream complete @ 
vector 0  memset  kernel.cpp:10
scalar 0  tensor_copy  kernel.cpp:11
vector 0 -> scalar 0  missing: semaphore 0 >= 1
)");
}

TEST(Prove, CountsWhatItLookedAt) {
  const Proof proof = proofOf(racesOf(3));

  EXPECT_EQ(proof.stats.instructions, 6u);
  EXPECT_EQ(proof.stats.epochs, 1u);
  EXPECT_EQ(proof.stats.pairsDecided, 3u);
  EXPECT_GE(proof.stats.comparisons, 3u);
  EXPECT_FALSE(proof.isProven());
}

//---- limits ---------------------------------------------------------------------------------===//

TEST(Prove, EndsWithTheFindingsAskedFor) {
  const Program program = racesOf(25);

  const Proof all = proofOf(program, {.maxFindings = 26});
  EXPECT_EQ(all.findings.size(), 25u);
  EXPECT_EQ(answersText(all), "races refuted, deadlock proven, memory proven\n");

  const Proof usual = proofOf(program);
  EXPECT_EQ(usual.findings.size(), 20u);
  EXPECT_EQ(answersText(usual),
            "races refuted, deadlock proven, memory not proven: the proof ended "
            "with its last finding\n");

  const Proof one = proofOf(program, {.maxFindings = 1});
  EXPECT_EQ(one.findings.size(), 1u);
  EXPECT_EQ(findingText(one.findings[0]), findingText(all.findings[0]));
}

/// A held run looks at what starts while one event is not complete: the two of the pair.
TEST(Prove, EndsWithTheWorkAllowed) {
  const Program program = racesOf(3);

  const Proof proof = proofOf(program, {.maxWork = 0});

  EXPECT_EQ(answersText(proof), "races refuted, deadlock proven, memory proven: too many pairs of "
                                "accesses need work of their own\n");
  EXPECT_EQ(proof.findings.size(), 1u);
}

/// Even and odd elements of one tensor, which no single step shows: not decided is not proven.
TEST(Prove, LeavesPatternsThatAreTooIntricateOpen) {
  const Proof proof = test::proofOf(R"(
.tensor v hbm 8192xf32
.tensor w hbm 1024000xf32
.stream scalar
  dma_copy dst=v[0: 2x2 14x80 21x80 35x80] src=w[0: 1x1024000] dge_mode=hwdge
.stream sync
  dma_copy dst=v[1: 2x2 14x80 21x80 35x80] src=w[0: 1x1024000] #1
)");

  EXPECT_EQ(reportText(proof), "races not proven, deadlock proven, memory proven: two access "
                               "patterns are too intricate to compare\n");
  EXPECT_FALSE(proof.isProven());
}

TEST(Prove, EndsWhenItIsStopped) {
  const std::atomic<bool> stop = true, goOn = false;
  const Program program = racesOf(600);

  const Proof stopped = proofOf(program, {.stop = &stop});
  EXPECT_EQ(answersText(stopped), "races not proven, deadlock not proven, memory not proven: the "
                                  "proof was stopped\n");
  EXPECT_TRUE(stopped.findings.empty());
  EXPECT_FALSE(stopped.isProven());

  EXPECT_EQ(proofOf(racesOf(0), {.stop = &goOn}).isProven(), true);
}

/// Two engines pass tiles on. Each pair is in order, but only a run of its own shows that: the
/// transfer in front, which nobody waits for, might have added 16 of each hundred. At the end a
/// tensor is used before the one whose place it takes is done with.
Program longProof(int pairs) {
  ProgramBuilder b({.placed = true, .synchronised = true});
  const uint32_t x = b.input("x", DType::Float32, {4, 16});
  const uint32_t y = b.output("y", DType::Float32, {4, 16});
  const uint32_t t = b.onChip("t", Memory::Sbuf, DType::Float32, {4, 16}, 0);
  const uint32_t u = b.onChip("u", Memory::Sbuf, DType::Float32, {4, 16}, 64);
  const uint32_t over = b.onChip("over", Memory::Sbuf, DType::Float32, {4, 16}, 96);
  Record &transfer = b.add(Engine::Scalar, Opcode::DmaCopy, {b.all(y), b.all(x)});
  transfer.inst.setWord("dge_mode", int64_t(isa::DgeMode::Hwdge));
  raise(transfer, 0, 16);
  for (int i = 0; i < pairs; ++i) {
    Record &write = b.memset(b.all(t), i);
    raise(write, 0, 100);
    if (i > 0)
      waitFor(write, 1, uint32_t(i));
    Record &read = b.copy(b.all(u), b.all(t), Engine::Gpsimd);
    waitFor(read, 0, uint32_t(100 * (i + 1)));
    raise(read, 1, 1);
  }
  b.copy(b.at(over, 0, 4, 8, {{1, 8}}), b.at(t, 0, 4, 0, {{1, 8}}));
  return b.finish();
}

/// Stopped between two of its questions, a proof proves nothing it has not looked at.
TEST(Prove, LeavesOpenWhatItWasStoppedBefore) {
  const Program program = longProof(20000);
  std::atomic<bool> stop = false;
  std::thread other([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    stop = true;
  });

  const Proof proof = proofOf(program, {.stop = &stop});
  other.join();

  EXPECT_EQ(proof.races, Answer::NotProven);
  EXPECT_EQ(proof.memory, Answer::NotProven);
  EXPECT_EQ(proof.reason, "the proof was stopped");

  const Proof whole = proofOf(longProof(50));
  EXPECT_EQ(answersText(whole), "races proven, deadlock proven, memory refuted\n");
  EXPECT_EQ(whole.stats.pairsDecided, 51u); // and the pair of the tensors
}

/// The same program, the same proof.
TEST(Prove, IsDeterministic) {
  const Program program = racesOf(12);

  EXPECT_EQ(reportText(proofOf(program)), reportText(proofOf(program)));
}

/// Even bytes of one, odd bytes of the other, with steps that divide neither way: remainders modulo
/// what divides all steps tell them apart, however many pairs there are.
TEST(Prove, TellsManyIntricatePairsApartAtOnce) {
  std::string text = ".tensor t sbuf 1x8192xui8 at 0,4096 @3\n.stream gpsimd\n";
  for (int i = 0; i < 200; ++i)
    text += "  memset dst=t[0+1, " + std::to_string(2 * (i % 3)) + ": 6x1000] value=1\n";
  text += ".stream vector\n";
  for (int i = 0; i < 200; ++i)
    text += "  memset dst=t[0+1, " + std::to_string(1 + 2 * (i % 2)) + ": 4x1500] value=1 #" +
            std::to_string(1000 + i) + "\n";
  EXPECT_EQ(answersText(proofOf(text)), "races proven, deadlock proven, memory proven\n");
}
