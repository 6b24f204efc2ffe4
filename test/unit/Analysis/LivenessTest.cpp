//===- LivenessTest.cpp - lives of tensors ----------------------------------------------------===//
//
// First to last access, both included.
//
//===------------------------------------------------------------------------------------------===//

#include "AnalysisTestSupport.h"

#include <gtest/gtest.h>

namespace kiln::analysis {
namespace {

TEST(Liveness, SpansFirstToLastAccess) {
  KernelBuilder b;
  const uint32_t a = b.sbuf("a", {128, 4}), c = b.sbuf("c", {128, 4}),
                 unused = b.sbuf("unused", {128, 4}), o = b.hbm("o", {128, 4});
  b.memset(Engine::Vector, b.whole(a), 2);
  b.copy(Engine::Vector, b.whole(c), b.whole(a), 3);
  b.memset(Engine::Vector, b.whole(a), 4);
  b.dma(b.block(o, 0, 128, 0, 4), b.whole(c), 5);

  const std::vector<Lifetime> lives = computeLifetimes(b.kernel);

  EXPECT_EQ(lives[a], (Lifetime{0, 3}));
  EXPECT_EQ(lives[c], (Lifetime{1, 4}));
  EXPECT_TRUE(lives[unused].empty());
  EXPECT_EQ(lives[o], (Lifetime{3, 4}));
}

// An instruction's result and an operand it reads for the last time overlap.
TEST(Liveness, ResultOverlapsLastOperand) {
  EXPECT_TRUE((Lifetime{0, 3}.overlaps({2, 5})));
  EXPECT_FALSE((Lifetime{0, 3}.overlaps({3, 5})));
}

TEST(Kernel, ChainGoesFromStatementToCaller) {
  Kernel kernel;
  kernel.files = {"k.cpp", "helper.h"};
  kernel.locations = {{0, 40, kNone}, {1, 7, 0}};

  EXPECT_EQ(kernel.chain(1), (CallChain{{"helper.h", 7}, {"k.cpp", 40}}));
  EXPECT_TRUE(kernel.chain(kNone).empty());
  EXPECT_EQ(lineText(kernel, 1), "line 7");
  EXPECT_EQ(lineText(kernel, kNone), "an unknown line");
}

TEST(Kernel, BytesSaturate) {
  KernelTensor tensor;
  tensor.shape = {128, int64_t(1) << 40, int64_t(1) << 40};
  EXPECT_EQ(tensor.bytes(), INT64_MAX);
  tensor.shape = {128, 3, 5};
  EXPECT_EQ(tensor.bytes(), 60);
  tensor.memory = Memory::Hbm;
  EXPECT_EQ(tensor.bytes(), 128 * 60);
}

} // namespace
} // namespace kiln::analysis
