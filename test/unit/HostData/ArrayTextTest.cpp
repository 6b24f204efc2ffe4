//===- ArrayTextTest.cpp - arrays as NumPy prints them ----------------------------------------===//

#include "kilnrt/HostData/ArrayText.h"

#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <numeric>

using namespace kilnrt;

namespace {

template <typename T>
HostArray array(DType dtype, std::vector<int64_t> shape, const std::vector<T> &values) {
  HostArray a{dtype, std::move(shape), std::vector<std::byte>(values.size() * sizeof(T))};
  EXPECT_EQ(size_t(a.elements()), values.size());
  std::memcpy(a.data.data(), values.data(), a.data.size());
  return a;
}

HostArray counting(std::vector<int64_t> shape) {
  std::vector<int32_t> values(size_t(HostArray{DType::Int32, shape, {}}.elements()));
  std::iota(values.begin(), values.end(), 0);
  return array(DType::Int32, std::move(shape), values);
}

TEST(ArrayText, Dims) {
  EXPECT_EQ(arrayText(counting({1})), "[0]");
  EXPECT_EQ(arrayText(counting({3})), "[0 1 2]");
  EXPECT_EQ(arrayText(counting({2, 1})), "[[0]\n [1]]");
  EXPECT_EQ(arrayText(counting({1, 2})), "[[0 1]]");
  EXPECT_EQ(arrayText(counting({2, 2, 2})), "[[[0 1]\n  [2 3]]\n\n [[4 5]\n  [6 7]]]");
  EXPECT_EQ(arrayText(counting({1, 2, 1, 2})), "[[[[0 1]]\n\n  [[2 3]]]]");
}

TEST(ArrayText, ColumnsAreAligned) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float infinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(arrayText(array<float>(DType::Float32, {2, 4},
                                   {1, -0.0f, nan, 1e-45f, 100.25f, 0.1f, -infinity, 2})),
            "[[     1     -0    nan  1e-45]\n"
            " [100.25    0.1   -inf      2]]");
  EXPECT_EQ(arrayText(array<uint16_t>(DType::BFloat16, {1, 3}, {0x3F80, 0xC2F7, 0x7FC0})),
            "[[     1 -123.5    nan]]");
  EXPECT_EQ(arrayText(array<uint16_t>(DType::Float16, {1, 2}, {0x3C00, 0x0001})),
            "[[            1 5.9604645e-08]]");
  EXPECT_EQ(arrayText(array<uint32_t>(DType::UInt32, {2}, {UINT32_MAX, 0})),
            "[4294967295          0]");
  EXPECT_EQ(arrayText(array<int8_t>(DType::Int8, {2}, {-128, 127})), "[-128  127]");
}

TEST(ArrayText, ALimitCutsTheLongDims) {
  const ArrayTextOptions options{.limit = 14, .edge = 2};
  EXPECT_FALSE(isCut(counting({2, 7}), options));
  EXPECT_EQ(arrayText(counting({2, 7}), options), "[[ 0  1  2  3  4  5  6]\n"
                                                  " [ 7  8  9 10 11 12 13]]");
  EXPECT_TRUE(isCut(counting({3, 5}), options));
  EXPECT_EQ(arrayText(counting({3, 5}), options), "[[ 0  1 ...  3  4]\n"
                                                  " [ 5  6 ...  8  9]\n"
                                                  " [10 11 ... 13 14]]");
  EXPECT_EQ(arrayText(counting({5, 3, 1}), options),
            "[[[ 0]\n  [ 1]\n  [ 2]]\n\n [[ 3]\n  [ 4]\n  [ 5]]\n\n ...\n\n"
            " [[ 9]\n  [10]\n  [11]]\n\n [[12]\n  [13]\n  [14]]]");
  // Nothing to leave out where every dim is as short as its two ends.
  EXPECT_FALSE(isCut(counting({4, 4}), options));
  EXPECT_EQ(arrayText(counting({100}), {.limit = 0, .edge = 0}), "[...]");
  // What is not shown does not widen the columns.
  EXPECT_EQ(arrayText(counting({30, 1000}), {.edge = 1}), "[[    0 ...   999]\n"
                                                          " ...\n"
                                                          " [29000 ... 29999]]");
}

TEST(ArrayText, LongRowsGoOnInTheNextLine) {
  EXPECT_EQ(arrayText(counting({2, 5}), {.width = 7}), "[[0 1 2\n"
                                                       "  3 4]\n"
                                                       " [5 6 7\n"
                                                       "  8 9]]");
  EXPECT_EQ(arrayText(counting({2}), {.width = 1}), "[0\n 1]");
}

} // namespace
