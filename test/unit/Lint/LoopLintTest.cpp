//===- LoopLintTest.cpp - C-11: the promise of nl::affine_range -------------------------------===//

#include "LintFixture.h"

namespace kiln::test {
namespace {

using nl::_;

TEST(LoopLint, C11IterationsThatWriteOnePlace) {
  constexpr unsigned base = __LINE__ + 1;
  constexpr auto body = [](InOut y) {
    Tensor t = nl::zeros({128, 64}, nl::float32);
    for (int64_t i : nl::affine_range(8)) {
      (void)i;
      nisa::dma_copy(y(_, ds(0, 64)), t);
    }
  };
  EXPECT_EQ(
      lintsOf(body, {}, base),
      "+2: warning[C-11]: affine_range promises independent iterations, but iterations 0 and 1 "
      "both write 'y' (line +4)\n"
      "+0: note: 'y' is this 128x512 float32 tensor in shared_hbm\n"
      "help: index by the loop variable, declare the tile inside the loop, or use nl::range\n");
}

TEST(LoopLint, C11ReadsAcrossIterations) {
  constexpr unsigned baseA = __LINE__ + 1;
  constexpr auto bodyA = [](InOut) {
    Tensor t = nl::zeros({128, 64}, nl::float32, nl::sbuf, {.name = "t"});
    for (int64_t i : nl::affine_range(1, 8))
      nisa::tensor_copy(t(_, i), t(_, i - 1));
  };
  EXPECT_EQ(
      lintsOf(bodyA, {}, baseA),
      "+2: warning[C-11]: affine_range promises independent iterations, but iteration 1 reads "
      "what iteration 0 wrote to 't' (line +3)\n"
      "+1: note: 't' is this 128x64 float32 tile in sbuf\n"
      "help: index by the loop variable, declare the tile inside the loop, or use nl::range\n");
  constexpr unsigned baseB = __LINE__ + 1;
  constexpr auto bodyB = [](InOut) {
    Tensor t = nl::zeros({128, 64}, nl::float32, nl::sbuf, {.name = "t"});
    for (int64_t i : nl::affine_range(7))
      nisa::tensor_copy(t(_, i), t(_, i + 1));
  };
  EXPECT_EQ(
      lintsOf(bodyB, {}, baseB),
      "+2: warning[C-11]: affine_range promises independent iterations, but iteration 1 writes "
      "what iteration 0 read of 't' (line +3)\n"
      "+1: note: 't' is this 128x64 float32 tile in sbuf\n"
      "help: index by the loop variable, declare the tile inside the loop, or use nl::range\n");
}

/// Where a register places it, nothing is known.
TEST(LoopLint, C11LeavesIndexedAccessesAlone) {
  constexpr auto body = [](InOut) {
    Tensor t = nl::zeros({128, 64}, nl::float32);
    Tensor n = nl::zeros({1, 8}, nl::int32);
    for (int64_t i : nl::affine_range(8))
      nisa::memset(t.select(1, nisa::register_alloc(n.select(1, i))), 0);
  };
  EXPECT_EQ(lintsOf(body, {}, __LINE__), "");
}

TEST(LoopLint, C11NamesBothStatements) {
  constexpr unsigned base = __LINE__ + 1;
  constexpr auto body = [](InOut) {
    Tensor t = nl::zeros({128, 64}, nl::float32, nl::sbuf, {.name = "t"});
    for (int64_t i : nl::affine_range(8)) {
      nisa::memset(t(_, i), 0);
      nisa::tensor_copy(nl::ndarray({128, 1}, nl::float32), t(_, i + 1));
    }
  };
  EXPECT_EQ(
      lintsOf(body, {}, base).substr(0, 133),
      "+2: warning[C-11]: affine_range promises independent iterations, but iteration 1 writes "
      "what iteration 0 read of 't' (lines +4 and +3");
}

TEST(LoopLint, C11AcceptsIndependentIterations) {
  constexpr unsigned baseA = __LINE__ + 1;
  constexpr auto bodyA = [](InOut y) {
    Tensor shared = nl::ones({128, 64}, nl::bfloat16);
    Tensor acc = nl::ndarray({64, 64}, nl::float32, nl::psum);
    for (int64_t i : nl::affine_range(8)) {
      Tensor t = nl::ndarray({128, 64}, nl::float32);
      nisa::dma_copy(t, y(_, ds(i * 64, 64)));
      nisa::nc_matmul(acc, shared, shared); // a sum has no order here
      nisa::dma_copy(y(_, ds(i * 64, 64)), t);
    }
  };
  EXPECT_EQ(lintsOf(bodyA, {}, baseA), "");
  constexpr unsigned baseB = __LINE__ + 1;
  constexpr auto bodyB = [](InOut) { // nl::range promises nothing
    Tensor t = nl::zeros({128, 64}, nl::float32);
    for (int64_t i : nl::range(8))
      nisa::memset(t(_, ds(0, 2)), i);
  };
  EXPECT_EQ(lintsOf(bodyB, {}, baseB), "");
}

TEST(LoopLint, C11IsReportedOnceForALine) {
  constexpr unsigned base = __LINE__ + 1;
  constexpr auto body = [](InOut) {
    Tensor t = nl::zeros({128, 64}, nl::float32);
    for (int64_t i : nl::affine_range(4))
      for (int64_t j : nl::affine_range(4)) {
        (void)j;
        nisa::memset(t(_, i), 0);
      }
  };
  const std::string text = lintsOf(body, {}, base);
  EXPECT_EQ(text.find("warning"), text.rfind("warning")) << text;
  EXPECT_EQ(text.substr(0, 17), "+3: warning[C-11]");
}

TEST(LoopLint, C11EndsWithTheLoop) {
  // What comes after the loop, or after a break, belongs to no iteration.
  constexpr unsigned base = __LINE__ + 1;
  constexpr auto body = [](InOut) {
    Tensor t = nl::zeros({128, 64}, nl::float32);
    for (int64_t i : nl::affine_range(4)) {
      nisa::memset(t(_, i), 0);
      if (i == 2)
        break;
    }
    nisa::memset(t, 0);
    for (int64_t i : nl::affine_range(0))
      nisa::memset(t, i);
  };
  EXPECT_EQ(lintsOf(body, {}, base), "");
}

TEST(LoopLint, C11StaysFastOnLongLoops) {
  // 4096 iterations that write 4096 columns of one tensor: comparing all pairs would take minutes.
  constexpr unsigned base = __LINE__ + 1;
  constexpr auto body = [](InOut) {
    Tensor t = nl::ndarray({128, 4096}, nl::uint8);
    for (int64_t i : nl::affine_range(4096))
      nisa::memset(t(_, i), 0);
  };
  EXPECT_EQ(lintsOf(body, {}, base), "");
}

} // namespace
} // namespace kiln::test
