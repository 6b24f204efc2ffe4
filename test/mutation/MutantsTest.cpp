//===- MutantsTest.cpp - the mutants of a program by hand -------------------------------------===//

#include "Mutants.h"
#include "Samples.h"

#include <set>

using namespace kilnrt;
using namespace kilnrt::mutation;
using namespace kilnrt::mutation::test;

namespace {

std::vector<std::string> textsOf(const Mutator &mutator) {
  std::vector<std::string> texts;
  for (const Mutant &mutant : mutator.mutants())
    texts.push_back(mutator.describe(mutant));
  return texts;
}

TEST(Mutants, AllOfTheCopy) {
  const std::vector<std::string> expected = {
      // vector
      "drop-wait vector[0]: tensor_copy #1 [wait s0>=16 update s1+=1] becomes tensor_copy #1 "
      "[update s1+=1]",
      "weaken-wait vector[0]: tensor_copy #1 [wait s0>=16 update s1+=1] becomes tensor_copy #1 "
      "[wait s0>=15 update s1+=1]",
      "retarget-wait vector[0]: tensor_copy #1 [wait s0>=16 update s1+=1] becomes tensor_copy #1 "
      "[wait s2>=16 update s1+=1]",
      "drop-update vector[0]: tensor_copy #1 [wait s0>=16 update s1+=1] becomes tensor_copy #1 "
      "[wait s0>=16]",
      "weaken-update vector[0]: tensor_copy #1 [wait s0>=16 update s1+=1] becomes tensor_copy #1 "
      "[wait s0>=16 update s1+=0]",
      "retarget-update vector[0]: tensor_copy #1 [wait s0>=16 update s1+=1] becomes tensor_copy "
      "#1 [wait s0>=16 update s2+=1]",
      // sync, first record
      "drop-update sync[0]: dma_copy #0 [update s0+=16] becomes dma_copy #0 [no semaphore]",
      "weaken-update sync[0]: dma_copy #0 [update s0+=16] becomes dma_copy #0 [update s0+=15]",
      "retarget-update sync[0]: dma_copy #0 [update s0+=16] becomes dma_copy #0 [update s1+=16]",
      "move-update sync[0]: dma_copy #0 [update s0+=16] becomes dma_copy #0 [update s2+=16], "
      "dma_copy #2 [wait s1>=1 update s2+=16] becomes dma_copy #2 [wait s1>=1 update s0+=16]",
      // sync, second record
      "drop-wait sync[1]: dma_copy #2 [wait s1>=1 update s2+=16] becomes dma_copy #2 [update "
      "s2+=16]",
      "weaken-wait sync[1]: dma_copy #2 [wait s1>=1 update s2+=16] becomes dma_copy #2 [wait "
      "s1>=0 update s2+=16]",
      "retarget-wait sync[1]: dma_copy #2 [wait s1>=1 update s2+=16] becomes dma_copy #2 [wait "
      "s2>=1 update s2+=16]",
      "move-wait sync[1]: dma_copy #0 [update s0+=16] becomes dma_copy #0 [wait s1>=1 update "
      "s0+=16], dma_copy #2 [wait s1>=1 update s2+=16] becomes dma_copy #2 [update s2+=16]",
      "drop-update sync[1]: dma_copy #2 [wait s1>=1 update s2+=16] becomes dma_copy #2 [wait "
      "s1>=1]",
      "weaken-update sync[1]: dma_copy #2 [wait s1>=1 update s2+=16] becomes dma_copy #2 [wait "
      "s1>=1 update s2+=15]",
      "retarget-update sync[1]: dma_copy #2 [wait s1>=1 update s2+=16] becomes dma_copy #2 [wait "
      "s1>=1 update s0+=16]",
      // two records that exchange their updates are one mutant; swaps keep the order numbers
      "swap-neighbours sync[0]: dma_copy #0 [update s0+=16] becomes dma_copy #2 [wait s1>=1 "
      "update s2+=16], dma_copy #2 [wait s1>=1 update s2+=16] becomes dma_copy #0 [update "
      "s0+=16]"};
  EXPECT_EQ(textsOf(Mutator(programOf(kCopyTensors, kCopyStreams))), expected);
}

TEST(Mutants, AreThePrograms) {
  const Program program = programOf(kCopyTensors, kCopyStreams);
  const Mutator mutator(program);
  std::set<std::string> texts;
  for (const Mutant &mutant : mutator.mutants()) {
    Expected<std::string> text = disassemble(mutator.apply(mutant));
    ASSERT_TRUE(text) << mutator.describe(mutant);
    texts.insert(*text);
  }
  // Each is another program, and none is the original.
  EXPECT_EQ(texts.size(), mutator.mutants().size());
  EXPECT_FALSE(texts.contains(*disassemble(program)));
}

TEST(Mutants, WaitsForSeveralTransfersLoseOneOrAWhole) {
  const Mutator mutator(programOf(kCopyTensors, R"(.stream vector
  wait s0>=32 tensor_copy dst=u[0+128, 0: 1x64] src=t[0+128, 0: 1x64] update s1+=1 #2
.stream sync
  dma_copy dst=t[0+64, 0: 1x64] src=x[64 rows of 64, 0: 1x64] update s0+=16 #0
  dma_copy dst=t[64+64, 0: 1x64] src=x[64 rows of 64, 4096: 1x64] update s0+=16 #1
)"));
  std::vector<uint32_t> values;
  for (const Mutant &mutant : mutator.mutants())
    if (mutant.kind == MutationKind::WeakenWait)
      values.push_back(mutant.argument);
  EXPECT_EQ(values, (std::vector<uint32_t>{31, 16}));
}

TEST(Mutants, UpdatesTakeTheValueOfWhatRaisesThem) {
  // An update that moves to a transfer is raised by its sixteen engines.
  const Mutator mutator(programOf(kCopyTensors, R"(.stream sync
  dma_copy dst=t[0+128, 0: 1x64] src=x[128 rows of 64, 0: 1x64] #0
  semaphore_wait update s1+=1 #1
)"));
  const auto moves = [](const Mutant &m) { return m.kind == MutationKind::MoveUpdate; };
  const auto move = std::find_if(mutator.mutants().begin(), mutator.mutants().end(), moves);
  ASSERT_NE(move, mutator.mutants().end());
  EXPECT_EQ(mutator.describe(*move),
            "move-update sync[1]: dma_copy #0 [no semaphore] becomes dma_copy #0 [update s1+=16], "
            "semaphore_wait #1 [update s1+=1] becomes semaphore_wait #1 [no semaphore]");
}

TEST(Mutants, OtherSemaphoresAreThoseOfTheEpoch) {
  // s0 and s1 stand in front of the loop, s2 and s3 in it.
  const Mutator mutator(programOf("", R"(.stream vector
  semaphore_wait update s0+=1 #0
  wait s0>=1 semaphore_wait update s1+=1 #1
  loop_begin trip_count=2 #2
  semaphore_wait update s2+=1 #3
  wait s2>=1 semaphore_wait update s3+=1 #4
  loop_end #5
)"));
  std::set<std::pair<uint32_t, uint32_t>> targets; // record, semaphore
  for (const Mutant &mutant : mutator.mutants())
    if (mutant.kind == MutationKind::RetargetWait)
      targets.insert({mutant.record, mutant.argument});
  EXPECT_EQ(targets, (std::set<std::pair<uint32_t, uint32_t>>{{1, 1}, {4, 3}}));
  // Nothing moves onto an edge of the loop.
  for (const Mutant &mutant : mutator.mutants())
    if (mutant.kind == MutationKind::MoveWait || mutant.kind == MutationKind::MoveUpdate) {
      EXPECT_TRUE(verify(mutator.apply(mutant))) << mutator.describe(mutant);
    }
}

/// Partition byte of each tensor.
std::vector<uint64_t> bytesOf(const Program &program) {
  std::vector<uint64_t> bytes;
  for (const TensorInfo &tensor : program.tensors)
    bytes.push_back(tensor.byte);
  return bytes;
}

TEST(Mutants, RotationsLoseAnAddress) {
  // Five tensors of line 7 take turns at three addresses; another line's tensor stays.
  const Mutator mutator(programOf(R"(.tensor %0 a sbuf 128x8xf32 at 0,0 @0
.tensor %1 b sbuf 128x8xf32 at 0,32 @0
.tensor %2 other sbuf 128x8xf32 at 0,512
.tensor %3 c sbuf 128x8xf32 at 0,64 @0
.tensor %4 d sbuf 128x8xf32 at 0,0 @0
.tensor %5 e sbuf 128x4xf32 at 0,32 @0
)",
                                  ".stream vector\n  semaphore_wait #0\n"));
  ASSERT_EQ(mutator.mutants().size(), 3u);
  EXPECT_EQ(mutator.describe(mutator.mutants()[0]),
            "shrink-rotation 5 tensors 'a' at 3 addresses, all in turns at one less");
  EXPECT_EQ(bytesOf(mutator.apply(mutator.mutants()[0])),
            (std::vector<uint64_t>{0, 32, 512, 0, 32, 0}));
  EXPECT_EQ(
      mutator.describe(mutator.mutants()[1]),
      "shrink-rotation 5 tensors 'a' at 3 addresses, those of the last one at the one before");
  EXPECT_EQ(bytesOf(mutator.apply(mutator.mutants()[1])),
            (std::vector<uint64_t>{0, 32, 512, 32, 0, 32}));
  EXPECT_EQ(mutator.describe(mutator.mutants()[2]),
            "shrink-rotation 5 tensors 'a' at 3 addresses, all at the first one");
  EXPECT_EQ(bytesOf(mutator.apply(mutator.mutants()[2])),
            (std::vector<uint64_t>{0, 0, 512, 0, 0, 0}));
}

} // namespace
