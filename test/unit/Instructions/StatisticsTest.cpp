//===- StatisticsTest.cpp - max8, bn_stats and bn_aggr, end to end ----------------------------===//

#include "InstructionFixture.h"

#include <gmock/gmock.h>

using namespace kiln::test;
using testing::ElementsAre, testing::HasSubstr;

namespace {

/// Bits of `values` as fp32: tells the zeros apart, and a NaN equals itself.
std::vector<uint32_t> bitsOf(const std::vector<float> &values) {
  std::vector<uint32_t> bits(values.size());
  std::memcpy(bits.data(), values.data(), values.size() * sizeof(float));
  return bits;
}

} // namespace

//---- max8 ---------------------------------------------------------------===//

TEST(Max8, RanksEachPartition) {
  const float inf = std::numeric_limits<float>::infinity(),
              nan = std::numeric_limits<float>::quiet_NaN();
  const HostArray x =
      arrayOf(DType::Float32, {3, 10},
              {1,    2,   3,   4,    5,     6, 7,  8,    9,  10, // ascending
               7,    -1,  7,   0.0f, -0.0f, 7, -2, -3,   -9, -8, // ties keep their order
               -inf, inf, nan, 1,    1,     2, -5, -inf, -7, -inf});

  std::string text;
  std::vector<HostArray> results = runKernel(
      [](Tensor x) {
        Tensor y = nl::ndarray({3, 8}, nl::float32, nl::shared_hbm);
        Tensor in = nl::ndarray({3, 10}, nl::float32), top = nl::ndarray({3, 8}, nl::float32);
        nisa::dma_copy(in, x);
        nisa::max8(top, in);
        nisa::dma_copy(y, top);
        return y;
      },
      {x}, &text);

  EXPECT_THAT(text, HasSubstr("max8 "));
  ASSERT_EQ(results.size(), 1u);
  EXPECT_EQ(bitsOf(floatsOf(results[0])), bitsOf({10,  9,   8, 7,    6,     5,  4,  3,       //
                                                  7,   7,   7, 0.0f, -0.0f, -1, -2, -3,      //
                                                  nan, inf, 2, 1,    1,     -5, -7, -inf})); //
}

TEST(Max8, ReadsStridedViewsAndRoundsOnce) {
  const HostArray x = arrayOf(DType::Int32, {2, 16},
                              {0,  16, 1,  17, 2,  18, 3,  19, 4,  20, 5,  21, 6,  22, 7,   23,
                               -8, 8,  -7, 9,  -6, 10, -5, 11, -4, 12, -3, 13, -2, 14, 257, 15});

  std::vector<HostArray> results = runKernel(
      [](Tensor x) {
        Tensor y = nl::ndarray({2, 8}, nl::bfloat16, nl::shared_hbm);
        Tensor in = nl::ndarray({2, 8, 2}, nl::int32), top = nl::ndarray({2, 8}, nl::bfloat16);
        nisa::dma_copy(in, x.reshape({2, 8, 2}));
        nisa::max8({.dst = top, .src = in(nl::_, nl::_, 0)});
        nisa::dma_copy(y, top);
        return y;
      },
      {x});

  ASSERT_EQ(results.size(), 1u);
  EXPECT_THAT(floatsOf(results[0]),
              ElementsAre(7, 6, 5, 4, 3, 2, 1, 0,            //
                          256, -2, -3, -4, -5, -6, -7, -8)); // 257 rounds to even
}

TEST(Max8, SortsARowOfEightInPlace) {
  const HostArray x = arrayOf(DType::Int8, {1, 8}, {3, -1, 127, 0, -128, 5, 5, 4});

  std::vector<HostArray> results = runKernel(
      [](Tensor x) {
        Tensor y = nl::ndarray({1, 8}, nl::int8, nl::shared_hbm);
        Tensor t = nl::ndarray({1, 8}, nl::int8);
        nisa::dma_copy(t, x);
        nisa::max8(t, t);
        nisa::dma_copy(y, t);
        return y;
      },
      {x});

  ASSERT_EQ(results.size(), 1u);
  EXPECT_THAT(floatsOf(results[0]), ElementsAre(127, 5, 5, 4, 3, 0, -1, -128));
}

/// What is wrong with max8 from a tile of `elements` to one of `results`.
static std::string max8Errors(int64_t elements, int64_t results) {
  static int64_t from, to; // a kernel is a function without captures
  from = elements;
  to = results;
  return errorsOf(traceBody([](InOut) {
    nisa::max8(nl::ndarray({4, to}, nl::float32), nl::ndarray({4, from}, nl::float32));
  }));
}

TEST(Max8, TakesEightTo16384Elements) {
  EXPECT_EQ(max8Errors(8, 8), "");
  EXPECT_EQ(max8Errors(7, 8), "[S-08] src has 7 elements per partition, max8 takes 8 to 16384 "
                              "(take at least 8 elements)");
  EXPECT_EQ(max8Errors(16384, 8), "");
  EXPECT_EQ(max8Errors(16385, 8), "[S-08] src has 16385 elements per partition, max8 takes 8 to "
                                  "16384 (split it, or take at most 16384 elements)");
  EXPECT_EQ(max8Errors(16, 9),
            "[S-08] dst has 9 elements per partition, max8 writes 8 (give it 8 elements)");
}

TEST(Max8, TakesTwoFreeDims) {
  EXPECT_EQ(errorsOf(traceBody([](InOut) {
              Tensor x = nl::ndarray({4, 3, 8}, nl::float32);
              nisa::max8(nl::ndarray({4, 8}, nl::float32), x.permute({0, 2, 1}));
            })),
            "");
  EXPECT_EQ(errorsOf(traceBody([](InOut) {
              Tensor x = nl::ndarray({4, 3, 8, 2}, nl::float32);
              nisa::max8(nl::ndarray({4, 8}, nl::float32), x.permute({0, 3, 2, 1}));
            })),
            "[S-06] src needs 3 free strides, max8 takes 2 (make two dims contiguous, or copy the "
            "view once)");
}

//---- bn_stats -----------------------------------------------------------===//

TEST(BnStats, DescribesEvenAndOddElements) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  // The odd half of the third row has mean 7, of the fourth a NaN.
  const HostArray x = arrayOf(DType::Float32, {4, 5}, {1,  10,  2,  20, 6, // even 1 2 6, odd 10 20
                                                       0,  0,   0,  0,  -0.0f, // the zeros are +0
                                                       -3, 7,   -3, 7,  -3,    //
                                                       1,  nan, 1,  2,  1});

  std::string text;
  std::vector<HostArray> results = runKernel(
      [](Tensor x) {
        Tensor y = nl::ndarray({4, 6}, nl::float32, nl::shared_hbm);
        Tensor in = nl::ndarray({4, 5}, nl::float32), stats = nl::ndarray({4, 6}, nl::float32);
        nisa::dma_copy(in, x);
        nisa::bn_stats(stats, in);
        nisa::dma_copy(y, stats);
        return y;
      },
      {x}, &text);

  EXPECT_THAT(text, HasSubstr("bn_stats "));
  ASSERT_EQ(results.size(), 1u);
  EXPECT_EQ(bitsOf(floatsOf(results[0])), bitsOf({3, 3,  14, 2, 15,  50, //
                                                  3, 0,  0,  2, 0,   0,  //
                                                  3, -3, 0,  2, 7,   0,  //
                                                  3, 1,  0,  2, nan, nan}));
}

TEST(BnStats, AddsFromLeftToRightInFloat32) {
  // 2^24 swallows each 1 that comes after it; the other order would count them.
  std::vector<float> row = {16777216, 1, 1, 1, 1, 16777216};
  const HostArray x = arrayOf(DType::Float32, {1, 6}, row);

  std::vector<HostArray> results = runKernel(
      [](Tensor x) {
        Tensor y = nl::ndarray({1, 6}, nl::float32, nl::shared_hbm);
        Tensor in = nl::ndarray({1, 6}, nl::float32), stats = nl::ndarray({1, 6}, nl::float32);
        nisa::dma_copy(in, x);
        nisa::bn_stats(stats, in);
        nisa::dma_copy(y, stats);
        return y;
      },
      {x});

  ASSERT_EQ(results.size(), 1u);
  const std::vector<float> found = floatsOf(results[0]);
  EXPECT_EQ(found[1], 16777216.0f / 3);           // 2^24 + 1 + 1
  EXPECT_EQ(found[4], float(16777218.0f / 3.0f)); // 1 + 1 + 2^24
}

TEST(BnStats, ReadsSixElementsInFullBeforeItWritesThem) {
  const HostArray x = arrayOf(DType::Float32, {2, 6}, {1, 10, 2, 20, 6, 60, 0, 1, 0, 2, 3, 6});

  std::vector<HostArray> results = runKernel(
      [](Tensor x) {
        Tensor y = nl::ndarray({2, 6}, nl::float32, nl::shared_hbm);
        Tensor tile = nl::ndarray({2, 6}, nl::float32);
        nisa::dma_copy(tile, x);
        nisa::bn_stats(tile, tile);
        nisa::dma_copy(y, tile);
        return y;
      },
      {x});

  ASSERT_EQ(results.size(), 1u);
  EXPECT_THAT(floatsOf(results[0]), ElementsAre(3, 3, 14, 3, 30, 1400, 3, 1, 6, 3, 3, 14));
}

TEST(BnStats, OfOneElementLeavesTheOddHalfEmptyAndNarrows) {
  const HostArray x = arrayOf(DType::BFloat16, {2, 1}, {300, -2});

  std::vector<HostArray> results = runKernel(
      [](Tensor x) {
        Tensor y = nl::ndarray({2, 6}, nl::int8, nl::shared_hbm);
        Tensor in = nl::ndarray({2, 1}, nl::bfloat16), stats = nl::ndarray({2, 6}, nl::int8);
        nisa::dma_copy(in, x);
        nisa::bn_stats(stats, in);
        nisa::dma_copy(y, stats);
        return y;
      },
      {x});

  ASSERT_EQ(results.size(), 1u);
  EXPECT_THAT(floatsOf(results[0]), ElementsAre(1, 127, 0, 0, 0, 0, 1, -2, 0, 0, 0, 0));
}

/// What is wrong with bn_stats of `elements` elements into `results`.
static std::string bnStatsErrors(int64_t elements, int64_t results) {
  static int64_t from, to;
  from = elements;
  to = results;
  return errorsOf(traceBody([](InOut) {
    nisa::bn_stats(nl::ndarray({4, to}, nl::float32), nl::ndarray({4, from}, nl::float32));
  }));
}

TEST(BnStats, TakesUpTo512Elements) {
  EXPECT_EQ(bnStatsErrors(512, 6), "");
  EXPECT_EQ(bnStatsErrors(513, 6),
            "[S-08] data has 513 elements per partition, bn_stats takes 1 to "
            "512 (split it, or take at most 512 elements)");
  EXPECT_EQ(bnStatsErrors(8, 2),
            "[S-08] dst has 2 elements per partition, bn_stats writes 6 (give it 6 elements)");
}

//---- bn_aggr ------------------------------------------------------------===//

TEST(BnAggr, JoinsWhatBnStatsWrote) {
  // 13 elements a row as 5 + 8: the population mean and variance of all of them.
  std::vector<float> rows;
  double mean[2] = {}, variance[2] = {};
  for (int p = 0; p < 2; ++p) {
    for (int f = 0; f < 13; ++f)
      rows.push_back(float((f * 7 + p * 3) % 11 - 4));
    for (int f = 0; f < 13; ++f)
      mean[p] += rows[size_t(p * 13 + f)] / 13.0;
    for (int f = 0; f < 13; ++f)
      variance[p] += std::pow(rows[size_t(p * 13 + f)] - mean[p], 2) / 13.0;
  }
  const HostArray x = arrayOf(DType::Float32, {2, 13}, rows);

  std::string text;
  std::vector<HostArray> results = runKernel(
      [](Tensor x) {
        Tensor y = nl::ndarray({2, 2}, nl::float32, nl::shared_hbm);
        Tensor in = nl::ndarray({2, 13}, nl::float32), stats = nl::ndarray({2, 12}, nl::float32),
               out = nl::ndarray({2, 2}, nl::float32);
        nisa::dma_copy(in, x);
        nisa::bn_stats(stats(nl::_, nl::slice(0, 6)), in(nl::_, nl::slice(0, 5)));
        nisa::bn_stats(stats(nl::_, nl::slice(6, 12)), in(nl::_, nl::slice(5, 13)));
        nisa::bn_aggr(out, stats);
        nisa::dma_copy(y, out);
        return y;
      },
      {x}, &text);

  EXPECT_THAT(text, HasSubstr("bn_aggr "));
  ASSERT_EQ(results.size(), 1u);
  const std::vector<float> found = floatsOf(results[0]);
  for (size_t p : {0, 1}) {
    EXPECT_NEAR(found[2 * p], mean[p], 1e-6);
    EXPECT_NEAR(found[2 * p + 1], variance[p], 1e-5);
  }
}

TEST(BnAggr, SumsInOrderAndDividesByTheCount) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const HostArray x =
      arrayOf(DType::Float32, {5, 9},
              {2,        1, 8, 2, 5, 10, 4, 3, 0,   // mean 3, (18 + 2*4 + 2*4) / 8
               0,        0, 0, 0, 0, 0,  0, 0, 0,   // nothing counted
               1,        7, 0, 0, 9, 3,  0, 0, 0,   // an empty triple keeps its deviations
               16777216, 1, 0, 1, 1, 0,  1, 1, 0,    // 2^24 + 1 + 1 stays 2^24
               1,        2, 0, -1, 5, 0, 0, 0, 0}); // nothing counted, though the means do not cancel

  std::vector<HostArray> results = runKernel(
      [](Tensor x) {
        Tensor y = nl::ndarray({5, 2}, nl::float32, nl::shared_hbm);
        Tensor in = nl::ndarray({5, 9}, nl::float32), out = nl::ndarray({5, 2}, nl::float32);
        nisa::dma_copy(in, x);
        nisa::bn_aggr({.dst = out, .data = in});
        nisa::dma_copy(y, out);
        return y;
      },
      {x});

  ASSERT_EQ(results.size(), 1u);
  EXPECT_EQ(bitsOf(floatsOf(results[0])), bitsOf({3, 4.25f, nan, nan, 7, 3, 1, 0, nan, nan}));
}

TEST(BnAggr, TakesTriples) {
  EXPECT_EQ(errorsOf(traceBody([](InOut) {
              nisa::bn_aggr(nl::ndarray({4, 2}, nl::float32), nl::ndarray({4, 9}, nl::float32));
            })),
            "");
  EXPECT_EQ(errorsOf(traceBody([](InOut) {
              nisa::bn_aggr(nl::ndarray({4, 2}, nl::float32), nl::ndarray({4, 8}, nl::float32));
            })),
            "[S-08] data has 8 elements per partition, bn_aggr takes triples of count, mean and "
            "squared deviations (bn_stats writes two triples: take 6 elements of each)");
  EXPECT_EQ(errorsOf(traceBody([](InOut) {
              nisa::bn_aggr(nl::ndarray({4, 3}, nl::float32), nl::ndarray({3, 6}, nl::float32));
            })),
            "[S-08] dst has 3 elements per partition, bn_aggr writes 2 (give it 2 elements)\n"
            "[P-04] data uses 3 partitions and dst uses 4; hardware never broadcasts across "
            "partitions (slice both to 3 partitions)");
}
