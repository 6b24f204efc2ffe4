//===- VectorEngineTest.cpp - rows of VectorEngine.td, end to end -----------------------------===//

#include "InstructionFixture.h"

#include <gmock/gmock.h>

using namespace kiln::test;
using testing::ElementsAre, testing::HasSubstr;

//---- reciprocal ---------------------------------------------------------===//

TEST(Reciprocal, DividesOneByEachElement) {
  const float inf = std::numeric_limits<float>::infinity();
  const HostArray x = arrayOf(DType::Float32, {2, 3}, {1, -4, 0.0f, -0.0f, inf, 3});

  std::string text;
  std::vector<HostArray> results = runKernel(
      [](Tensor x) {
        Tensor y = nl::ndarray(x.shape(), nl::float32, nl::shared_hbm);
        Tensor in = nl::ndarray(x.shape(), nl::float32), out = nl::ndarray(x.shape(), nl::bfloat16);
        nisa::dma_copy(in, x);
        nisa::reciprocal(out, in);
        nisa::dma_copy({.dst = y, .src = out});
        return y;
      },
      {x}, &text);

  EXPECT_THAT(text, HasSubstr("reciprocal "));
  ASSERT_EQ(results.size(), 1u);
  EXPECT_THAT(floatsOf(results[0]), ElementsAre(1, -0.25f, inf, -inf, 0, 0.333984375f));
}
