//===- RandomTest.cpp - random tensors are what they claim ------------------------------------===//
//
// Published vectors of Philox, the library's own functions against the host's,
// fixed bits that every host must give, and the shape of the distributions.
//
//===------------------------------------------------------------------------------------------===//

#include "kilnrt/HostData/Random.h"
#include "NpyBytes.h"
#include "RealFunctions.h"

#include <gmock/gmock.h>

#include <bit>
#include <cmath>
#include <set>

namespace kilnrt::test {
namespace {

using testing::ElementsAre;

HostArray emptyArray(DType dtype, std::vector<int64_t> shape) {
  HostArray array{dtype, std::move(shape), {}};
  array.data.resize(static_cast<size_t>(array.elements()) * kiln::isa::bytesOf(dtype));
  return array;
}

TEST(Philox, GivesThePublishedVectors) {
  // Known answers of the Random123 distribution, philox4x32 with 10 rounds.
  constexpr uint32_t ones = 0xffffffff;

  EXPECT_THAT(philox4x32({0, 0, 0, 0}, {0, 0}),
              ElementsAre(0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8));
  EXPECT_THAT(philox4x32({ones, ones, ones, ones}, {ones, ones}),
              ElementsAre(0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd));
  EXPECT_THAT(
      philox4x32({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
      ElementsAre(0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1));
}

TEST(RealFunctions, LogIsWithinTwoUlp) {
  // 1 and its neighbours, both sides of the split at sqrt(2), the smallest
  // argument a normal draws, and a walk over the octaves in between.
  std::vector<double> points = {1.0,
                                std::nextafter(1.0, 0),
                                std::nextafter(1.0, 2),
                                std::sqrt(2.0),
                                0x1p-53,
                                std::nextafter(std::sqrt(2.0), 2),
                                std::sqrt(0.5),
                                0.1,
                                2.0,
                                1e300};
  for (int i = 1; i < 20000; ++i)
    points.push_back(std::ldexp(1 + i * 0x1.0204p-15, -(i % 53)));

  for (double x : points) {
    const long double exact = std::log(static_cast<long double>(x));
    const double ulp = std::max(std::nextafter(std::fabs(static_cast<double>(exact)), 1e9) -
                                    std::fabs(static_cast<double>(exact)),
                                0x1p-1074);
    EXPECT_LE(std::fabs(detail::logOf(x) - exact), 2 * ulp) << x;
  }
  EXPECT_EQ(detail::logOf(1), 0);
}

TEST(RealFunctions, SinAndCosAreWithinTwoUlpOfTheirScale) {
  std::vector<double> points = {0,     0x1p-53, 1 - 0x1p-53,    0.125,         0.375,
                                0.625, 0.875,   0.25 - 0x1p-53, 0.25 + 0x1p-53};
  for (int i = 0; i < 20000; ++i)
    points.push_back(i * 0x1p-53 * 450000000000);

  const long double turn = 8 * std::atan(1.0L);
  for (double t : points) {
    const detail::SinCos value = detail::sinCosOfTurns(t);
    const long double sin = std::sin(t * turn), cos = std::cos(t * turn);
    // Close to a zero the oracle's own reduction is exact only to its scale.
    EXPECT_NEAR(value.sin, static_cast<double>(sin), 0x1p-52) << t;
    EXPECT_NEAR(value.cos, static_cast<double>(cos), 0x1p-52) << t;
  }
}

TEST(RealFunctions, QuarterTurnsAreExact) {
  for (auto [turns, sin, cos] :
       {std::tuple{0.0, 0.0, 1.0}, {0.25, 1.0, 0.0}, {0.5, 0.0, -1.0}, {0.75, -1.0, 0.0}}) {
    const detail::SinCos value = detail::sinCosOfTurns(turns);
    EXPECT_EQ(value.sin, sin) << turns;
    EXPECT_EQ(value.cos, cos) << turns;
  }
}

TEST(Random, UniformValuesAreTheWordsTopBits) {
  // Block 0 of seed 0, stream 0 is the published vector above.
  EXPECT_EQ(uniformAt({0, 0}, 0), 0x6627e8 * 0x1p-24);
  EXPECT_EQ(uniformAt({0, 0}, 1), 0xe169c5 * 0x1p-24);
  EXPECT_EQ(uniformAt({0, 0}, 2), 0xbc57ac * 0x1p-24);
  EXPECT_EQ(uniformAt({0, 0}, 3), 0x9b00db * 0x1p-24);
}

TEST(Random, FixesItsBitsForEver) {
  // A change here changes every seeded test and measurement of every user.
  auto bits = [](double value) { return std::bit_cast<uint64_t>(value); };

  EXPECT_EQ(bits(uniformAt({1, 0}, 5)), 0x3febf8b980000000u);
  EXPECT_EQ(bits(uniformAt({0, 1}, 5)), 0x3feb38efa0000000u);
  EXPECT_EQ(bits(uniformAt({uint64_t{1} << 40, 3}, uint64_t{1} << 35)), 0x3fe6952e60000000u);
  EXPECT_EQ(bits(normalAt({0, 0}, 0)), 0xbff815337bdd6fc4u);
  EXPECT_EQ(bits(normalAt({0, 0}, 1)), 0xbffb46a8e1b1a586u);
  EXPECT_EQ(bits(normalAt({7, 2}, 1000001)), 0x3fe77a670541ce85u);
}

TEST(Random, EveryFieldChangesTheSequence) {
  std::set<double> values;
  for (RandomSequence sequence :
       {RandomSequence{0, 0}, {1, 0}, {uint64_t{1} << 32, 0}, {0, 1}, {1, 1}})
    for (uint64_t index : {uint64_t{0}, uint64_t{4}, uint64_t{1} << 34}) {
      values.insert(uniformAt(sequence, index));
      values.insert(normalAt(sequence, index));
    }

  EXPECT_EQ(values.size(), 5u * 3u * 2u);
}

TEST(Random, ArraysHoldTheSequenceRoundedToTheDType) {
  // A count that is a multiple of no block.
  HostArray f32 = emptyArray(DType::Float32, {7, 3});
  HostArray bf16 = emptyArray(DType::BFloat16, {7, 3});
  fillUniform(f32, {3, 1});
  fillUniform(bf16, {3, 1});

  for (uint64_t i = 0; i < 21; ++i) {
    const float exact = static_cast<float>(uniformAt({3, 1}, i));
    const float rounded = std::bit_cast<float>(uint32_t{valuesOf<uint16_t>(bf16)[i]} << 16);
    EXPECT_EQ(valuesOf<float>(f32)[i], exact);
    EXPECT_NEAR(rounded, exact, exact * 0x1p-8);
  }
  fillNormal(f32, {3, 1});
  for (uint64_t i = 0; i < 21; ++i)
    EXPECT_EQ(valuesOf<float>(f32)[i], static_cast<float>(normalAt({3, 1}, i)));
}

TEST(Random, UniformValuesStayBelowOne) {
  // Of 100,000 values about 200 would round to 1 in bfloat16, 24 in float16.
  HostArray bf16 = emptyArray(DType::BFloat16, {100000});
  HostArray fp16 = emptyArray(DType::Float16, {100000});
  fillUniform(bf16, {});
  fillUniform(fp16, {});

  auto a = valuesOf<uint16_t>(bf16), b = valuesOf<uint16_t>(fp16);
  EXPECT_EQ(*std::max_element(a.begin(), a.end()), 0x3f7f);
  EXPECT_EQ(*std::max_element(b.begin(), b.end()), 0x3bff);
}

TEST(Random, UniformValuesAreUniform) {
  constexpr int count = 200000, buckets = 64;
  std::vector<int> histogram(buckets);
  double sum = 0, lag = 0, previous = 0.5;
  for (int i = 0; i < count; ++i) {
    const double value = uniformAt({}, i);
    ASSERT_GE(value, 0);
    ASSERT_LT(value, 1);
    ++histogram[static_cast<size_t>(value * buckets)];
    sum += value;
    lag += (value - 0.5) * (previous - 0.5);
    previous = value;
  }

  // Five standard deviations each.
  EXPECT_NEAR(sum / count, 0.5, 5 * std::sqrt(1.0 / 12 / count));
  EXPECT_NEAR(lag / count, 0, 5 * 1.0 / 12 / std::sqrt(count));
  const double expected = double(count) / buckets;
  for (int filled : histogram)
    EXPECT_NEAR(filled, expected, 5 * std::sqrt(expected));
}

TEST(Random, NormalValuesAreNormal) {
  constexpr int count = 200000;
  double sum = 0, squares = 0, cubes = 0, fourths = 0, pairs = 0, even = 0;
  int beyondOne = 0, beyondTwo = 0;
  for (int i = 0; i < count; ++i) {
    const double value = normalAt({}, i);
    ASSERT_LT(std::fabs(value), 8.58);
    sum += value;
    squares += value * value;
    cubes += value * value * value;
    fourths += value * value * value * value;
    beyondOne += std::fabs(value) > 1;
    beyondTwo += std::fabs(value) > 2;
    if (i % 2)
      pairs += even * value; // both of one Box-Muller pair
    even = value;
  }

  // Five standard deviations each.
  const double scale = 5 / std::sqrt(count);
  EXPECT_NEAR(sum / count, 0, scale);
  EXPECT_NEAR(squares / count, 1, scale * std::sqrt(2));
  EXPECT_NEAR(cubes / count, 0, scale * std::sqrt(15));
  EXPECT_NEAR(fourths / count, 3, scale * std::sqrt(96));
  EXPECT_NEAR(2 * pairs / count, 0, scale * std::sqrt(2));
  EXPECT_NEAR(double(beyondOne) / count, 0.317311, scale * 0.466);
  EXPECT_NEAR(double(beyondTwo) / count, 0.045500, scale * 0.209);
}

} // namespace
} // namespace kilnrt::test
