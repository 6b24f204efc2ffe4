//===- SelectTest.cpp - affine_select and tensor_copy_predicated, end to end ------------------===//

#include "InstructionFixture.h"

#include <gmock/gmock.h>

using namespace kiln::test;
using testing::ElementsAre, testing::ElementsAreArray, testing::HasSubstr;

namespace {

/// Bits of every element.
std::vector<uint32_t> rawOf(const HostArray &array) {
  const size_t width = kiln::isa::bytesOf(array.dtype);
  std::vector<uint32_t> bits(array.data.size() / width);
  for (size_t i = 0; i < bits.size(); ++i)
    std::memcpy(&bits[i], array.data.data() + i * width, width);
  return bits;
}

HostArray rawArray(DType dtype, std::vector<int64_t> shape, const std::vector<uint32_t> &bits) {
  HostArray array{dtype, std::move(shape), {}};
  const size_t width = kiln::isa::bytesOf(dtype);
  array.data.resize(bits.size() * width);
  for (size_t i = 0; i < bits.size(); ++i)
    std::memcpy(array.data.data() + i * width, &bits[i], width);
  return array;
}

} // namespace

//---- affine_select ------------------------------------------------------===//

TEST(AffineSelect, MasksATriangleInPlace) {
  std::vector<float> ones(15, 1.0f);
  const HostArray x = arrayOf(DType::Float32, {3, 5}, ones);

  std::string text;
  std::vector<HostArray> results = runKernel(
      [](Tensor x) {
        Tensor y = nl::ndarray({3, 5}, nl::float32, nl::shared_hbm);
        Tensor t = nl::ndarray({3, 5}, nl::float32);
        nisa::dma_copy(t, x);
        // Keep where p - f + 1 >= 0.
        nisa::affine_select({.dst = t,
                             .pattern = {{-1, 5}},
                             .channel_multiplier = 1,
                             .on_true_tile = t,
                             .on_false_value = -9984.0,
                             .cmp_op = nl::greater_equal,
                             .offset = 1});
        nisa::dma_copy(y, t);
        return y;
      },
      {x}, &text);

  EXPECT_THAT(text, HasSubstr("affine_select "));
  ASSERT_EQ(results.size(), 1u);
  const float no = -9984;
  EXPECT_THAT(floatsOf(results[0]), ElementsAre(1, 1, no, no, no, //
                                                1, 1, 1, no, no,  //
                                                1, 1, 1, 1, no));
}

TEST(AffineSelect, KeepsBitsOfEqualDtypesAndRoundsOthersOnce) {
  // NaN payloads, -0 and a denormal pass through; a NaN that is not selected leaves no trace.
  const HostArray x = rawArray(DType::Float32, {1, 6},
                               {0x7FC12345, 0xFF812345, 0x80000000, 1, 0x3F808000, 0x7F812345});

  std::vector<HostArray> results = runKernel(
      [](Tensor x) {
        Tensor same = nl::ndarray({1, 6}, nl::float32, nl::shared_hbm),
               half = nl::ndarray({1, 6}, nl::bfloat16, nl::shared_hbm),
               tiny = nl::ndarray({1, 6}, nl::int8, nl::shared_hbm);
        Tensor in = nl::ndarray({1, 6}, nl::float32);
        nisa::dma_copy(in, x);
        auto select = [&](const Tensor &result, nl::DType dtype, double onFalse) {
          Tensor out = nl::ndarray({1, 6}, dtype);
          nisa::affine_select({.dst = out,
                               .pattern = {{1, 6}},
                               .channel_multiplier = 0,
                               .on_true_tile = in,
                               .on_false_value = onFalse,
                               .cmp_op = nl::less,
                               .offset = -5});
          nisa::dma_copy(result, out);
        };
        select(same, nl::float32, 1.0);
        select(half, nl::bfloat16, 1.00390625); // a tie, to even
        select(tiny, nl::int8, 300);
        return std::make_tuple(same, half, tiny);
      },
      {x});

  ASSERT_EQ(results.size(), 3u);
  EXPECT_THAT(rawOf(results[0]),
              ElementsAre(0x7FC12345, 0xFF812345, 0x80000000, 1, 0x3F808000, 0x3F800000));
  EXPECT_THAT(rawOf(results[1]), ElementsAre(0x7FC0, 0x7FC0, 0x8000, 0, 0x3F80, 0x3F80));
  EXPECT_THAT(floatsOf(results[2]), ElementsAre(0, 0, 0, 0, 1, 127));
}

TEST(AffineSelect, WrapsInInt32AndKnowsEveryComparison) {
  // a = 2147483646 + f + 2 p over 2 x 4: 2147483646, 2147483647, -2147483648, ...
  const HostArray x = arrayOf(DType::Int32, {2, 4}, {1, 2, 3, 4, 5, 6, 7, 8});

  std::vector<HostArray> results = runKernel(
      [](Tensor x) {
        Tensor y = nl::ndarray({6, 2, 4}, nl::int32, nl::shared_hbm);
        Tensor wrapped = nl::ndarray({2, 4}, nl::int32, nl::shared_hbm);
        Tensor in = nl::ndarray({2, 4}, nl::int32);
        nisa::dma_copy(in, x);
        const nl::Op comparisons[] = {nl::equal,   nl::not_equal,  nl::greater_equal,
                                      nl::greater, nl::less_equal, nl::less};
        for (int64_t i = 0; i < 6; ++i) {
          Tensor out = nl::ndarray({2, 4}, nl::int32);
          // a = 2 p + f - 2 through a 2 x 2 pattern.
          nisa::affine_select({.dst = out,
                               .pattern = {{2, 2}, {1, 2}},
                               .channel_multiplier = 2,
                               .on_true_tile = in,
                               .on_false_value = 0,
                               .cmp_op = comparisons[i],
                               .offset = -2});
          nisa::dma_copy(y(i), out);
        }
        Tensor out = nl::ndarray({2, 4}, nl::int32);
        nisa::affine_select({.dst = out,
                             .pattern = {{1, 4}},
                             .channel_multiplier = 2,
                             .on_true_tile = in,
                             .on_false_value = 0,
                             .cmp_op = nl::greater,
                             .offset = 2147483646});
        nisa::dma_copy(wrapped, out);
        return std::make_tuple(y, wrapped);
      },
      {x});

  ASSERT_EQ(results.size(), 2u);
  EXPECT_THAT(floatsOf(results[0]), ElementsAre(0, 0, 3, 0, 5, 0, 0, 0, // == 0
                                                1, 2, 0, 4, 0, 6, 7, 8, // != 0
                                                0, 0, 3, 4, 5, 6, 7, 8, // >= 0
                                                0, 0, 0, 4, 0, 6, 7, 8, // > 0
                                                1, 2, 3, 0, 5, 0, 0, 0, // <= 0
                                                1, 2, 0, 0, 0, 0, 0, 0));
  EXPECT_THAT(floatsOf(results[1]), ElementsAre(1, 2, 0, 0, 0, 0, 0, 0));
}

TEST(AffineSelect, Refusals) {
  EXPECT_EQ(
      errorsOf(traceBody([](InOut) {
        Tensor t = nl::ndarray({4, 6}, nl::float32);
        nisa::affine_select({.dst = t,
                             .pattern = {{1, 2}, {1, 2}},
                             .channel_multiplier = 0,
                             .on_true_tile = t,
                             .on_false_value = 0,
                             .cmp_op = nl::add});
      })),
      "[B-07] cmp_op of affine_select cannot be add (allowed: equal, not_equal, greater_equal, "
      "greater, less_equal, less)\n[P-05] the pattern has 4 values, dst has 6 per "
      "partition (make the product of the pattern's counts equal to the free size of dst)");
  EXPECT_EQ(errorsOf(traceBody([](InOut) {
              Tensor t = nl::ndarray({4, 6}, nl::float32);
              nisa::affine_select({.dst = t,
                                   .pattern = {{1, 1}, {1, 1}, {1, 1}, {1, 2}, {1, 3}},
                                   .channel_multiplier = 0,
                                   .on_true_tile = t,
                                   .on_false_value = 0});
            })),
            "[S-06] the pattern of affine_select has 5 pairs, an instruction holds 1 to 4 "
            "(fill the tile in parts)");
  EXPECT_EQ(errorsOf(traceBody([](InOut) {
              Tensor t = nl::ndarray({4, 6}, nl::float32, nl::psum);
              nisa::affine_select({.dst = nl::ndarray({4, 6}, nl::float32),
                                   .pattern = {{1, 6}},
                                   .channel_multiplier = 0,
                                   .on_true_tile = t,
                                   .on_false_value = 0});
            })),
            "[B-05] affine_select runs on GpSimd, which cannot access PSUM; on_true_tile is "
            "there (tensor_copy it to an SBUF tile first)");
}

//---- tensor_copy_predicated ---------------------------------------------===//

TEST(TensorCopyPredicated, CopiesBitsWhereThePredicateIsNotZero) {
  const HostArray x = rawArray(DType::Float32, {2, 4}, {0xFF812345, 1, 2, 3, 0x80000000, 5, 6, 7});
  const HostArray old = rawArray(DType::Float32, {2, 4}, {10, 11, 12, 0x7F812345, 14, 15, 16, 17});
  const HostArray m = arrayOf(DType::UInt16, {2, 4}, {1, 0, 256, 0, 65535, 0, 0, 1});

  std::string text;
  std::vector<HostArray> results = runKernel(
      [](Tensor x, Tensor old, Tensor m) {
        Tensor y = nl::ndarray({2, 4}, nl::float32, nl::shared_hbm),
               reversed = nl::ndarray({2, 4}, nl::float32, nl::shared_hbm);
        Tensor src = nl::ndarray({2, 4}, nl::float32), mask = nl::ndarray({2, 4}, nl::uint16);
        nisa::dma_copy(src, x);
        nisa::dma_copy(mask, m);
        for (bool reverse : {false, true}) {
          Tensor dst = nl::ndarray({2, 4}, nl::float32);
          nisa::dma_copy(dst, old);
          nisa::tensor_copy_predicated(
              {.dst = dst, .src = src, .predicate = mask, .reverse_pred = reverse});
          nisa::dma_copy(reverse ? reversed : y, dst);
        }
        return std::make_tuple(y, reversed);
      },
      {x, old, m}, &text);

  EXPECT_THAT(text, HasSubstr("tensor_copy_predicated "));
  ASSERT_EQ(results.size(), 2u);
  EXPECT_THAT(rawOf(results[0]), ElementsAre(0xFF812345, 11, 2, 0x7F812345, 0x80000000, 15, 16, 7));
  EXPECT_THAT(rawOf(results[1]), ElementsAre(10, 1, 12, 3, 14, 5, 6, 17));
}

TEST(TensorCopyPredicated, RoundsANumberToDstAndTakesABoolOfAComparison) {
  const HostArray x = arrayOf(DType::Float32, {1, 5}, {-2, -1, 0, 1, 2});

  std::vector<HostArray> results = runKernel(
      [](Tensor x) {
        Tensor y = nl::ndarray({1, 5}, nl::int8, nl::shared_hbm),
               z = nl::ndarray({1, 5}, nl::bfloat16, nl::shared_hbm);
        Tensor in = nl::ndarray({1, 5}, nl::float32), mask = nl::ndarray({1, 5}, nl::bool_);
        Tensor ints = nl::ndarray({1, 5}, nl::int8), halves = nl::ndarray({1, 5}, nl::bfloat16);
        nisa::dma_copy(in, x);
        nisa::tensor_scalar(mask, in, nl::less, 0);
        nisa::memset(ints, 7);
        nisa::tensor_copy_predicated(ints, -1000.5, mask);
        nisa::memset(halves, 7.0);
        nisa::tensor_copy_predicated(halves, 1.00390625, mask);
        nisa::dma_copy(y, ints);
        nisa::dma_copy(z, halves);
        return std::make_tuple(y, z);
      },
      {x});

  ASSERT_EQ(results.size(), 2u);
  EXPECT_THAT(floatsOf(results[0]), ElementsAre(-128, -128, 7, 7, 7));
  EXPECT_THAT(floatsOf(results[1]), ElementsAre(1, 1, 7, 7, 7));
}

TEST(TensorCopyPredicated, PairsElementsOfViewsByPosition) {
  // dst is every second element, read through a swapped pattern; in place where src is dst.
  const HostArray x = arrayOf(DType::Int16, {1, 6}, {1, 2, 3, 4, 5, 6});
  const HostArray m = arrayOf(DType::UInt32, {1, 6}, {0, 1, 1, 0, 0, 1});

  std::vector<HostArray> results = runKernel(
      [](Tensor x, Tensor m) {
        Tensor y = nl::ndarray({1, 12}, nl::int16, nl::shared_hbm);
        Tensor src = nl::ndarray({1, 2, 3}, nl::int16), mask = nl::ndarray({1, 6}, nl::uint32);
        Tensor dst = nl::ndarray({1, 6, 2}, nl::int16);
        nisa::dma_copy(src, x.reshape({1, 2, 3}));
        nisa::dma_copy(mask, m);
        nisa::memset(dst, 0);
        nisa::tensor_copy_predicated(dst(nl::_, nl::_, 1), src.permute({0, 2, 1}), mask);
        nisa::tensor_copy_predicated(src, src, mask);
        nisa::dma_copy(y, dst.reshape({1, 12}));
        return y;
      },
      {x, m});

  ASSERT_EQ(results.size(), 1u);
  // src in the order 1 4 2 5 3 6.
  EXPECT_THAT(floatsOf(results[0]), ElementsAre(0, 0, 0, 4, 0, 2, 0, 0, 0, 0, 0, 6));
}

TEST(TensorCopyPredicated, Refusals) {
  EXPECT_EQ(errorsOf(traceBody([](InOut) {
              Tensor t = nl::ndarray({4, 6}, nl::float32);
              nisa::tensor_copy_predicated(t, t, t);
            })),
            "[D-11] tensor_copy_predicated needs a uint8, uint16 or uint32 predicate, predicate "
            "is float32 (produce it with a comparison into uint8)");
  EXPECT_EQ(errorsOf(traceBody([](InOut) {
              Tensor t = nl::ndarray({4, 6}, nl::float32), s = nl::ndarray({4, 6}, nl::int32);
              nisa::tensor_copy_predicated(t, s, nl::ndarray({4, 6}, nl::uint8));
            })),
            "[D-03] tensor_copy_predicated moves bits: dst is float32, src is int32 (cast "
            "in a separate copy)");
  EXPECT_EQ(errorsOf(traceBody([](InOut) {
              Tensor t = nl::ndarray({4, 6}, nl::float32),
                     s = nl::ndarray({4, 6}, nl::float32, nl::psum),
                     m = nl::ndarray({4, 6}, nl::uint8, nl::psum);
              nisa::tensor_copy_predicated(t, s, m);
            })),
            "[B-03] only one of the two inputs may be in PSUM, src and predicate both are "
            "(copy one to SBUF)");
  EXPECT_EQ(
      errorsOf(traceBody([](InOut) {
        Tensor t = nl::ndarray({4, 6}, nl::float32), m = nl::ndarray({4, 5}, nl::uint8);
        nisa::tensor_copy_predicated(t, 1, m);
        nisa::tensor_copy_predicated({.dst = t, .src = {}, .predicate = m});
      })),
      "[P-05] predicate has 5 elements per partition, dst has 6 (take views of 5 elements per "
      "partition on both sides)\n[D-10] src of tensor_copy_predicated is missing (give src a "
      "number, or a tile)");
  EXPECT_EQ(errorsOf(traceBody([](InOut) {
              Tensor t = nl::ndarray({64, 6}, nl::float32), m = nl::ndarray({64, 6}, nl::uint8);
              Tensor dst = nl::ndarray({32, 6}, nl::float32);
              nisa::tensor_copy_predicated(dst, t(nl::slice(32, 64), nl::_),
                                           m(nl::slice(0, 32), nl::_));
            })),
            "[P-06] two SBUF inputs must start at the same partition, src starts at 32 and "
            "predicate at 0 (copy predicate to partition 32 first)");
}
