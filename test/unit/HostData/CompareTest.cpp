//===- CompareTest.cpp - results against references -------------------------------------------===//
//
// The rule at its edges, special values, the figures, and the line of text.
//
//===------------------------------------------------------------------------------------------===//

#include "kilnrt/HostData/Compare.h"

#include "NpyBytes.h"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>

namespace kilnrt::test {
namespace {

using testing::ElementsAre;

constexpr float kInf = std::numeric_limits<float>::infinity();
const float kNan = std::nanf("");

Comparison compare(const HostArray &actual, const HostArray &expected, Tolerance tolerance = {}) {
  auto result = compareArrays(actual, expected, tolerance);
  EXPECT_TRUE(result) << result.error().message;
  return result ? *result : Comparison{};
}

HostArray floats(std::vector<int64_t> shape, std::initializer_list<float> values) {
  return arrayOf<float>(DType::Float32, std::move(shape), values);
}

TEST(Compare, SaysWhenRowsWereNeverStored) {
  const HostArray expected = floats({4, 2}, {1, 2, 3, 4, 5, 6, 7, 8});
  Comparison result = compare(floats({4, 2}, {1, 2, 0, -0.0f, 0, 0, 7, 9}), expected);
  EXPECT_EQ(result.zeroMismatches, 4);
  EXPECT_EQ(result.firstZeroRow, 1);
  EXPECT_EQ(result.lastZeroRow, 2);
  EXPECT_THAT(result.describe(), testing::EndsWith("; 50.0 % of the result is zero and should not "
                                                   "be, in rows 1 to 2"));
  // A zero among other mistakes is no forgotten store, and a zero that is right is none at all.
  result = compare(floats({4, 2}, {0, 3, 4, 5, 5, 6, 7, 8}), expected);
  EXPECT_EQ(result.zeroMismatches, 1);
  EXPECT_THAT(result.describe(), testing::Not(testing::HasSubstr("zero and")));
  EXPECT_EQ(compare(floats({1}, {0}), floats({1}, {0})).zeroMismatches, 0);
}

TEST(Compare, AcceptsEqualArrays) {
  HostArray a = floats({2, 3}, {1, -2, 0, -0.0f, 1e-45f, 3});

  Comparison result = compare(a, a);

  EXPECT_TRUE(result.matches());
  EXPECT_EQ(result.elements, 6);
  EXPECT_EQ(result.maxAbsError, 0);
  EXPECT_EQ(result.maxRelError, 0);
  EXPECT_EQ(result.l2RelError, 0);
  EXPECT_EQ(result.describe(), "6 elements within tolerance; largest absolute error 0 at [0, 0]; "
                               "largest relative error 0 at [0, 0]; L2-relative error 0");
}

TEST(Compare, CountsAndPlacesMismatches) {
  HostArray actual = floats({2, 3}, {1, 2, 3.5f, 4, 5, 8});
  HostArray expected = floats({2, 3}, {1, 2, 3, 4, 5, 6});

  Comparison result = compare(actual, expected, {.rtol = 1e-3, .atol = 1e-3});

  EXPECT_EQ(result.mismatches, 2);
  EXPECT_EQ(result.nonFiniteMismatches, 0);
  EXPECT_THAT(result.first.index, ElementsAre(0, 2));
  EXPECT_EQ(result.first.actual, 3.5);
  EXPECT_EQ(result.first.expected, 3);
  EXPECT_EQ(result.maxAbsError, 2);
  EXPECT_THAT(result.maxAbsAt.index, ElementsAre(1, 2));
  EXPECT_EQ(result.maxRelError, 2.0 / 6);
  EXPECT_THAT(result.maxRelAt.index, ElementsAre(1, 2));
  EXPECT_EQ(result.l2RelError, std::sqrt(4.25 / 91));
  EXPECT_EQ(result.describe(), "2 of 6 elements out of tolerance, the first at [0, 2]: got 3.5, "
                               "expected 3; largest absolute error 2 at [1, 2]; largest "
                               "relative error 0.333 at [1, 2]; L2-relative error 0.216");
}

TEST(Compare, TheToleranceItselfIsWithin) {
  HostArray actual = floats({1}, {1.5f}), expected = floats({1}, {1});

  EXPECT_TRUE(compare(actual, expected, {.rtol = 0, .atol = 0.5}).matches());
  EXPECT_TRUE(compare(actual, expected, {.rtol = 0.5, .atol = 0}).matches());
  EXPECT_TRUE(compare(actual, expected, {.rtol = 0.25, .atol = 0.25}).matches());
  EXPECT_FALSE(compare(actual, expected, {.rtol = 0, .atol = 0.49999999}).matches());
}

TEST(Compare, RtolIsRelativeToTheReference) {
  HostArray two = floats({1}, {2}), one = floats({1}, {1});

  EXPECT_TRUE(compare(one, two, {.rtol = 0.5}).matches());
  EXPECT_FALSE(compare(two, one, {.rtol = 0.5}).matches());
}

TEST(Compare, SpecialValuesEqualThemselvesOnly) {
  HostArray a = floats({2, 4}, {kNan, kInf, -kInf, kInf, kNan, 1, kInf, 5});
  HostArray b = floats({2, 4}, {-kNan, kInf, -kInf, -kInf, 1, kNan, 5, kInf});

  Comparison result = compare(a, b, {.rtol = 1e30, .atol = 1e30});

  EXPECT_EQ(result.mismatches, 5);
  EXPECT_EQ(result.nonFiniteMismatches, 5);
  EXPECT_THAT(result.first.index, ElementsAre(0, 3));
  EXPECT_TRUE(result.maxAbsAt.index.empty());
  EXPECT_EQ(result.describe(), "5 of 8 elements out of tolerance, the first at [0, 3]: got inf, "
                               "expected -inf; L2-relative error 0");
}

TEST(Compare, AZeroReferenceHasNoRelativeError) {
  HostArray a = floats({2}, {0.25f, 0}), zeros = floats({2}, {0, 0});

  Comparison result = compare(a, zeros, {.rtol = 0, .atol = 1});

  EXPECT_TRUE(result.matches());
  EXPECT_EQ(result.maxAbsError, 0.25);
  EXPECT_TRUE(result.maxRelAt.index.empty());
  EXPECT_EQ(result.l2RelError, std::numeric_limits<double>::infinity());
}

TEST(Compare, TakesDifferentDTypes) {
  HostArray bf16 =
      arrayOf<uint16_t>(DType::BFloat16, {3}, {0x3dcd, 0x3f80, 0xff80}); // 0.1, 1, -Inf
  HostArray f32 = floats({3}, {0.1f, 1, -kInf});

  Comparison result = compare(bf16, f32, {.rtol = 0x1p-8});
  Comparison exact = compare(bf16, f32);

  EXPECT_TRUE(result.matches());
  EXPECT_EQ(exact.mismatches, 1);
  EXPECT_EQ(exact.describe(), "1 of 3 elements out of tolerance, the first at [0]: got "
                              "0.100097656, expected 0.1; largest absolute error 9.77e-05 at "
                              "[0]; largest relative error 0.000977 at [0]; L2-relative error "
                              "9.72e-05");
}

TEST(Compare, IsExactOnIntegers) {
  HostArray a = arrayOf<int32_t>(DType::Int32, {2}, {INT32_MIN, 2147483647});
  HostArray b = arrayOf<int32_t>(DType::Int32, {2}, {INT32_MIN, 2147483646});

  EXPECT_TRUE(compare(a, a).matches());
  Comparison result = compare(a, b);

  EXPECT_EQ(result.mismatches, 1);
  EXPECT_EQ(result.first.actual, 2147483647);
  EXPECT_EQ(result.maxAbsError, 1);
}

TEST(Compare, LongArraysAreWalkedToTheEnd) {
  HostArray a{DType::UInt8, {1, 3001}, Bytes(3001)};
  HostArray b = a;
  a.data.back() = std::byte{9};

  Comparison result = compare(a, b);

  EXPECT_EQ(result.mismatches, 1);
  EXPECT_THAT(result.first.index, ElementsAre(0, 3000));
}

TEST(Compare, RefusesOtherShapes) {
  auto result =
      compareArrays(floats({2, 3}, {1, 2, 3, 4, 5, 6}), floats({3, 2}, {1, 2, 3, 4, 5, 6}), {});

  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().fault, Fault::Check);
  EXPECT_EQ(result.error().message, "the result has shape 2x3, the reference has 3x2");
}

TEST(Compare, RefusesSenselessTolerances) {
  HostArray a = floats({1}, {1});

  for (double bad : {-1e-9, static_cast<double>(kInf), double(kNan)}) {
    EXPECT_FALSE(compareArrays(a, a, {.rtol = bad, .atol = 0})) << bad;
    EXPECT_FALSE(compareArrays(a, a, {.rtol = 0, .atol = bad})) << bad;
  }
  auto result = compareArrays(a, a, {.rtol = 0, .atol = -0.5});
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().fault, Fault::Usage);
  EXPECT_EQ(result.error().message, "atol is -0.5; a tolerance is finite and at least 0");
}

} // namespace
} // namespace kilnrt::test
