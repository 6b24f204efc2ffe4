//===- ModelTest.cpp - the tests' own number model --------------------------------------------===//

#include "NumberModel.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace kilnrt;
using namespace kilnrt::test;

TEST(NumberModel, RoundsToNearestEvenAtTheEdgesOfEachFormat) {
  EXPECT_EQ(encode(DType::BFloat16, 1.00390625), 0x3F80u); // tie, to even: down
  EXPECT_EQ(encode(DType::BFloat16, 1.01171875), 0x3F82u); // tie, to even: up
  EXPECT_EQ(encode(DType::Float16, 65519.99), 0x7BFFu);    // largest finite
  EXPECT_EQ(encode(DType::Float16, 65520), 0x7C00u);       // first that becomes Inf
  EXPECT_EQ(encode(DType::Float16, 0x1p-25), 0x0000u);   // half of the least denormal: tie, to even
  EXPECT_EQ(encode(DType::Float16, 0x1.8p-24), 0x0002u); // one and a half
  EXPECT_EQ(encode(DType::Float32, 0x1.fffffep-127), 0x00800000u);
  EXPECT_EQ(encode(DType::Int32, 2147483648.0), 0x7FFFFFFFu); // saturates
  EXPECT_EQ(encode(DType::UInt8, -0.6), 0u);
  EXPECT_EQ(encode(DType::UInt8, 2.5), 2u);
  EXPECT_EQ(encode(DType::Int32, std::nan("")), 0u);
}

TEST(NumberModel, DecodesWhatItEncodes) {
  for (uint32_t bits : {0x0001u, 0x03FFu, 0x0400u, 0x7BFFu, 0x8001u, 0x3C00u})
    EXPECT_EQ(encode(DType::Float16, decode(DType::Float16, bits)), bits);
  for (uint32_t bits : {0x00000001u, 0x007FFFFFu, 0x00800000u, 0x7F7FFFFFu, 0x80000000u})
    EXPECT_EQ(encode(DType::Float32, decode(DType::Float32, bits)), bits);
}
