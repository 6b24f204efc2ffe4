//===- ReferenceTrialTest.cpp - a wrong result is found and shrunk ----------------------------===//
//
//===------------------------------------------------------------------------------------------===//

#include "ReferenceTrial.h"
#include "ReferenceRows.h"
#include "TableExamples.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

using namespace kiln;
using namespace kiln::reference;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

namespace {

Trial drawn(std::string_view mnemonic, unsigned steps) {
  const isa::InstDesc &desc = *isa::findInstruction(mnemonic);
  InstanceWalk walk(desc, exampleOf(desc), 3);
  for (unsigned i = 0; i < steps; ++i)
    walk.next();
  return {walk.next(), 11, false};
}

/// A reference that turns the lowest bit of the last element over.
void wrongReciprocal(Machine &m) {
  reciprocal(m);
  Elements dst = m.operand(isa::ReciprocalArgs::dst);
  dst.setBits(dst.size() - 1, dst.bits(dst.size() - 1) ^ 1);
}

TEST(ReferenceTrial, OneBitOfOneElementIsFound) {
  Trial trial = drawn("reciprocal", 40);
  EXPECT_THAT(compare(programOf({&trial, 1})), IsEmpty());
  WrongRow wrong("reciprocal", wrongReciprocal);
  std::string text = compare(programOf({&trial, 1}));
  EXPECT_THAT(text, HasSubstr("1 of "));
  EXPECT_THAT(text, HasSubstr("elements differ"));
}

TEST(ReferenceTrial, TheSmallestFailingInstanceIsOneElement) {
  WrongRow wrong("reciprocal", wrongReciprocal);
  Trial small = shrink(drawn("reciprocal", 40));
  for (unsigned i : {isa::ReciprocalArgs::dst, isa::ReciprocalArgs::data}) {
    const isa::Access &access = small.instance.inst.operands[i];
    EXPECT_EQ(access.elements(), 1);
    EXPECT_EQ(access.rank, 1);
    EXPECT_EQ(access.partitionStart, 0u);
    EXPECT_EQ(access.dtype, isa::DType::Float32);
    EXPECT_EQ(small.instance.tensors[i].memory, isa::Memory::Sbuf);
  }
  EXPECT_TRUE(small.isPlain);
}

TEST(ReferenceTrial, ProgramsComeBackFromTheirText) {
  for (const char *mnemonic :
       {"nc_matmul", "activation", "dma_copy", "loop_begin", "semaphore_wait"}) {
    Trial trial = drawn(mnemonic, 5);
    kilnrt::Program program = programOf({&trial, 1});
    auto text = kilnrt::disassemble(program);
    ASSERT_TRUE(text) << mnemonic;
    auto again = kilnrt::assemble(*text, "trial.s");
    ASSERT_TRUE(again) << mnemonic << again.error().message;
    EXPECT_TRUE(*again == program) << mnemonic;
  }
}

TEST(ReferenceTrial, SeedsDrawLoopsIndicesViewsAndSharedTensors) {
  unsigned loops = 0, indices = 0, views = 0, shared = 0;
  Trial trial = drawn("tensor_tensor", 30);
  for (trial.seed = 0; trial.seed < 200; ++trial.seed) {
    kilnrt::Program program = programOf({&trial, 1});
    for (const kilnrt::Stream &stream : program.streams) {
      auto records = kilnrt::decodeStream(stream);
      ASSERT_TRUE(records);
      for (const kilnrt::Record &record : *records) {
        const auto &operands = record.inst.operands;
        if (record.inst.opcode != isa::Opcode::TensorTensor)
          continue;
        loops += std::any_of(operands.begin(), operands.end(),
                             [](const isa::Access &a) { return a.moves(); });
        indices += std::any_of(operands.begin(), operands.end(),
                               [](const isa::Access &a) { return a.isIndexed(); });
        views += std::any_of(operands.begin(), operands.end(), [&](const isa::Access &a) {
          return a.present() && program.tensors[a.tensor].dtype != a.dtype;
        });
        shared += operands[0].tensor == operands[1].tensor ||
                  operands[0].tensor == operands[2].tensor ||
                  operands[1].tensor == operands[2].tensor;
      }
    }
  }
  EXPECT_GE(loops, 5u);
  EXPECT_GE(indices, 5u);
  EXPECT_GE(views, 5u);
  EXPECT_GE(shared, 5u);
}

TEST(ReferenceTrial, EachOfManyInOneProgramIsCompared) {
  std::vector<Trial> trials{drawn("reciprocal", 3), drawn("reciprocal", 9)};
  EXPECT_THAT(compare(programOf(trials)), IsEmpty());
  WrongRow wrong("reciprocal", wrongReciprocal);
  EXPECT_THAT(compare(programOf(trials)), HasSubstr("elements differ"));
}

} // namespace
