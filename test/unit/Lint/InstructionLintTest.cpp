//===- InstructionLintTest.cpp - lints on single instructions ---------------------------------===//

#include "LintFixture.h"

namespace kiln::test {
namespace {

using nl::_;

TEST(InstructionLint, B11TransferThatAnEngineCouldMake) {
  constexpr unsigned baseA = __LINE__ + 1;
  constexpr auto bodyA = [](InOut) {
    Tensor a = nl::zeros({128, 8}, nl::float32, nl::sbuf, {.name = "a"});
    Tensor b = nl::ndarray({128, 8}, nl::bfloat16);
    nisa::dma_copy(b, a);
  };
  EXPECT_EQ(lintsOf(bodyA, {}, baseA), "+3: warning[B-11]: src and dst are both in SBUF: a DMA "
                                       "takes about two microseconds for what "
                                       "an engine copies at once\n"
                                       "+1: note: 'a' is this 128x8 float32 tile in sbuf\n"
                                       "+2: note: dst is this 128x8 bfloat16 tile in sbuf\n"
                                       "help: use nisa::tensor_copy\n");
  // Controls: rows to another partition that no engine reaches, and a transfer to HBM.
  constexpr unsigned baseB = __LINE__ + 1;
  constexpr auto bodyB = [](InOut y) {
    Tensor a = nl::zeros({128, 512}, nl::float32);
    nisa::dma_copy(a(ds(1, 3)), a(ds(64, 3)));
    nisa::dma_copy(y, a);
  };
  EXPECT_EQ(lintsOf(bodyB, {}, baseB), "");
  // From one legal start to another an engine copies.
  constexpr unsigned baseC = __LINE__ + 1;
  constexpr auto bodyC = [](InOut) {
    Tensor a = nl::zeros({128, 512}, nl::float32);
    nisa::dma_copy(a(ds(32, 3)), a(ds(64, 3)));
  };
  EXPECT_EQ(lintsOf(bodyC, {}, baseC).substr(0, 19), "+2: warning[B-11]: ");
}

TEST(InstructionLint, D13IntegersThroughFloats) {
  constexpr unsigned base = __LINE__ + 1;
  constexpr auto body = [](InOut) {
    Tensor a = nl::zeros({128, 8}, nl::int32), b = nl::zeros({128, 8}, nl::int32);
    nisa::activation(b, nl::copy, a);
    nisa::activation(b, nl::square, a);
    nisa::tensor_tensor(
        {.dst = b, .data1 = a, .data2 = b, .op = nl::add, .engine = nisa::engine::vector});
    nisa::tensor_scalar(
        {.dst = b, .data = a, .op0 = nl::add, .operand0 = 1, .engine = nisa::engine::scalar});
    // Controls: exact, or the author asked for a float.
    nisa::tensor_tensor(b, a, b, nl::add);
    nisa::tensor_tensor(
        {.dst = b, .data1 = a, .data2 = b, .op = nl::bitwise_and, .engine = nisa::engine::vector});
    nisa::tensor_scalar(b, a, nl::add, 1);
    nisa::tensor_copy({.dst = b, .src = a, .engine = nisa::engine::scalar});
    nisa::activation(nl::ndarray({128, 8}, nl::float32), nl::copy, a);
  };
  EXPECT_EQ(
      lintsOf(body, {}, base),
      "+2: warning[D-13]: int32 values of activation pass through float32 and lose bits beyond "
      "2^24\nhelp: nisa::tensor_copy keeps every bit\n"
      "+3: warning[D-13]: int32 values of activation pass through float32 and lose bits beyond "
      "2^24\nhelp: nisa::tensor_tensor on three int32 tiles is exact, on GpSimd\n"
      "+4: warning[D-13]: int32 values of tensor_tensor pass through float32 and lose bits "
      "beyond 2^24\nhelp: leave the engine out: GpSimd computes on int32 tiles exactly\n"
      "+6: warning[D-13]: int32 values of tensor_scalar pass through float32 and lose bits "
      "beyond 2^24\nhelp: nisa::tensor_tensor on three int32 tiles is exact, on GpSimd\n");
}

TEST(InstructionLint, V09OverlappingViews) {
  constexpr unsigned baseA = __LINE__ + 1;
  constexpr auto bodyA = [](InOut) {
    Tensor p = nl::zeros({128, 9}, nl::float32, nl::sbuf, {.name = "p"});
    nisa::tensor_copy(p(_, ds(1, 8)), p(_, ds(0, 8)));
  };
  EXPECT_EQ(
      lintsOf(bodyA, {}, baseA),
      "+2: warning[V-09]: 'p' is read as src and written as dst through overlapping, different "
      "views; elements are read after they were written, so the result depends on the depth of "
      "the pipeline\n+1: note: 'p' is this 128x9 float32 tile in sbuf\n"
      "help: write to a second tile\n");
  // Controls: in place, to the left, side by side, a column of the tile as scalar.
  constexpr unsigned baseB = __LINE__ + 1;
  constexpr auto bodyB = [](InOut) {
    Tensor p = nl::zeros({128, 16}, nl::float32);
    nisa::tensor_copy(p, p);
    nisa::tensor_copy(p(_, ds(0, 8)), p(_, ds(1, 8)));
    nisa::tensor_copy(p(_, ds(8, 8)), p(_, ds(0, 8)));
    nisa::tensor_scalar(p, p, nl::multiply, p(_, 5));
  };
  EXPECT_EQ(lintsOf(bodyB, {}, baseB), "");
}

TEST(InstructionLint, V14SkipOnAStaticAccess) {
  constexpr unsigned base = __LINE__ + 1;
  constexpr auto body = [](InOut y) {
    Tensor t = nl::zeros({128, 512}, nl::float32);
    nisa::dma_copy({.dst = y, .src = t, .oob_mode = nisa::oob_mode::skip});
    nisa::dma_copy({.dst = y, .src = t, .oob_mode = nisa::oob_mode::error});
  };
  EXPECT_EQ(
      lintsOf(body, {}, base),
      "+2: warning[V-14]: oob_mode::skip affects indices known only at run time; this access is "
      "static and in range\nhelp: leave oob_mode out\n");
}

TEST(InstructionLint, W01ShortPieces) {
  // 63 float32 are 252 bytes, 64 are 256.
  constexpr unsigned base = __LINE__ + 1;
  constexpr auto body = [](InOut y) {
    Tensor t = nl::zeros({128, 512}, nl::float32);
    nisa::dma_copy(y(_, ds(0, 63)), t(_, ds(0, 63)));
    nisa::dma_copy(y(_, ds(0, 64)), t(_, ds(0, 64)));
    nisa::dma_copy(y(0, ds(0, 63)), t(0, ds(0, 63)));
    nisa::dma_copy(y(_, nl::slice(_, _, 2)), t(_, ds(0, 256)));
  };
  EXPECT_EQ(
      lintsOf(body, {"W-01"}, base),
      "+2: warning[W-01]: this DMA moves pieces of 252 bytes of 'y'; below 256 nearly all time "
      "is overhead\nhelp: move at least 2048 bytes side by side: more columns at once, or a "
      "layout in which they are neighbours\n"
      "+5: warning[W-01]: this DMA moves pieces of 4 bytes of 'y'; below 256 nearly all time is "
      "overhead\nhelp: move at least 2048 bytes side by side: more columns at once, or a layout "
      "in which they are neighbours\n");
}

TEST(InstructionLint, W02FewLanesInALoop) {
  constexpr unsigned base = __LINE__ + 1;
  constexpr auto body = [](InOut) {
    Tensor t = nl::zeros({128, 512}, nl::float32);
    for (int i = 0; i < 16; ++i)
      nisa::tensor_scalar(t(ds(0, 32)), t(ds(0, 32)), nl::add, 1);
    for (int i = 0; i < 15; ++i) // too few runs
      nisa::tensor_scalar(t(ds(0, 8)), t(ds(0, 8)), nl::add, 1);
    for (int i = 0; i < 16; ++i) // enough lanes
      nisa::tensor_scalar(t(ds(0, 33)), t(ds(0, 33)), nl::add, 1);
    for (int i = 0; i < 16; ++i) // the last one is a remainder
      nisa::tensor_scalar(t(ds(0, i < 15 ? 128 : 4)), t(ds(0, i < 15 ? 128 : 4)), nl::add, 1);
  };
  EXPECT_EQ(lintsOf(body, {"W-02"}, base),
            "+3: warning[W-02]: tensor_scalar keeps 32 of 128 lanes busy, in 16 instructions\n"
            "help: give the partition dim the longest dim, or work on several rows at once\n");
}

TEST(InstructionLint, W03FloatMatmul) {
  constexpr unsigned base = __LINE__ + 1;
  constexpr auto body = [](InOut) {
    Tensor a = nl::zeros({128, 64}, nl::float32), b = nl::zeros({128, 64}, nl::bfloat16);
    Tensor acc = nl::ndarray({64, 64}, nl::float32, nl::psum);
    for (int i = 0; i < 3; ++i)
      nisa::nc_matmul(acc, a, a);
    nisa::nc_matmul(acc, b, b);
  };
  EXPECT_EQ(lintsOf(body, {"W-03"}, base),
            "+4: warning[W-03]: a float32 matmul runs at a quarter of the bfloat16 rate\n"
            "+4: note: the line does this 2 more times\n"
            "help: cast the operands to bfloat16 on the way to SBUF, where 8 bits of mantissa are "
            "enough: sums stay float32\n");
}

TEST(InstructionLint, W05NarrowStationary) {
  // 512 moving columns take 512 cycles; swapped, four matmuls of one column take 64 each.
  constexpr unsigned base = __LINE__ + 1;
  constexpr auto body = [](InOut) {
    Tensor one = nl::ones({128, 17}, nl::bfloat16), x = nl::zeros({128, 512}, nl::bfloat16);
    Tensor acc = nl::ndarray({17, 512}, nl::float32, nl::psum);
    nisa::nc_matmul(acc(0), one(_, 0), x);
    nisa::nc_matmul(acc(0, ds(0, 127)), one(_, 0), x(_, ds(0, 127)));
    nisa::nc_matmul(acc(0, ds(0, 128)), one(_, 0), x(_, ds(0, 128)));
    nisa::nc_matmul(acc, one, x);
  };
  EXPECT_EQ(
      lintsOf(body, {"W-05"}, base),
      "+3: warning[W-05]: stationary has 1 column and moving 512: the array works on 1 of its "
      "128 columns for 512 cycles\nhelp: swap the operands: the transposed result takes 256 "
      "cycles, in 4 matmuls\n"
      "+5: warning[W-05]: stationary has 1 column and moving 128: the array works on 1 of its "
      "128 columns for 128 cycles\nhelp: swap the operands: the transposed result takes 64 "
      "cycles, in one matmul\n");
}

TEST(InstructionLint, PerformanceIsAskedFor) {
  constexpr unsigned base = __LINE__ + 1;
  constexpr auto body = [](InOut y) {
    Tensor t = nl::zeros({128, 512}, nl::float32);
    nisa::dma_copy(y(_, ds(0, 1)), t(_, ds(0, 1)));
  };
  EXPECT_EQ(lintsOf(body, {}, base), "");
  EXPECT_EQ(lintsOf(body, {"perf"}, base).substr(0, 19), "+2: warning[W-01]: ");
  EXPECT_EQ(lintsOf(body, {"perf", "no-W-01"}, base), "");
  EXPECT_EQ(lintsOf(body, {"error=W-01"}, base).substr(0, 17), "+2: error[W-01]: ");
}

} // namespace
} // namespace kiln::test
