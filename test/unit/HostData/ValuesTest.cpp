//===- ValuesTest.cpp - rounding to and from device dtypes ------------------------------------===//
//
// All 65,536 values of the 16-bit formats there and back, and rounding at every
// midpoint between neighbours, which is where implementations differ.
//
//===------------------------------------------------------------------------------------------===//

#include "Values.h"

#include "NpyBytes.h"
#include "Text.h"

#include <gmock/gmock.h>

#include <bit>
#include <cmath>
#include <limits>

namespace kilnrt::test {
namespace {

using testing::ElementsAre;

constexpr double kInf = std::numeric_limits<double>::infinity();

/// Value of 16-bit float `bits`, by its definition.
double valueByDefinition(uint16_t bits, int mantissaBits, int exponentBits) {
  const int bias = (1 << (exponentBits - 1)) - 1;
  const int exponent = (bits & 0x7fff) >> mantissaBits;
  const int fraction = bits & ((1 << mantissaBits) - 1);
  const double sign = bits >> 15 ? -1 : 1;
  if (exponent == (1 << exponentBits) - 1)
    return fraction ? std::nan("") : sign * kInf;
  if (exponent == 0)
    return sign * std::ldexp(fraction, 1 - bias - mantissaBits);
  return sign * std::ldexp(fraction + (1 << mantissaBits), exponent - bias - mantissaBits);
}

struct Format {
  const char *name;
  int mantissaBits, exponentBits;
  uint16_t (*round)(double);
  double (*widen)(uint16_t);
  uint16_t infinity() const { return 0x7fff >> mantissaBits << mantissaBits; }
};
const Format kFormats[] = {{"bfloat16", 7, 8, detail::toBFloat16, detail::fromBFloat16},
                           {"float16", 10, 5, detail::toFloat16, detail::fromFloat16}};

TEST(Values, WidensEverySixteenBitFloatByItsDefinition) {
  for (const Format &format : kFormats)
    for (uint32_t bits = 0; bits < 0x10000; ++bits) {
      const auto half = static_cast<uint16_t>(bits);
      const double expected = valueByDefinition(half, format.mantissaBits, format.exponentBits);
      const double widened = format.widen(half);
      if (std::isnan(expected))
        ASSERT_TRUE(std::isnan(widened)) << format.name << " " << bits;
      else
        ASSERT_EQ(std::bit_cast<uint64_t>(widened), std::bit_cast<uint64_t>(expected))
            << format.name << " " << bits;
    }
}

TEST(Values, RoundsEverySixteenBitFloatToItself) {
  for (const Format &format : kFormats)
    for (uint32_t bits = 0; bits < 0x10000; ++bits) {
      const auto half = static_cast<uint16_t>(bits);
      const bool isNan = (half & 0x7fff) > format.infinity();
      // A NaN becomes quiet and keeps the rest.
      const auto expected =
          static_cast<uint16_t>(isNan ? half | 1 << (format.mantissaBits - 1) : half);
      ASSERT_EQ(format.round(format.widen(half)), expected) << format.name << " " << bits;
    }
}

TEST(Values, RoundsMidpointsToEven) {
  for (const Format &format : kFormats)
    for (uint16_t low = 0; low < format.infinity(); ++low) {
      // Above the largest value, the next step would be one binade further.
      const auto high = static_cast<uint16_t>(low + 1);
      const double below = format.widen(low);
      const double above = high == format.infinity() ? std::ldexp(1, 1 << (format.exponentBits - 1))
                                                     : format.widen(high);
      const double middle = (below + above) / 2; // exact in float64
      const uint16_t even = low & 1 ? high : low;

      ASSERT_EQ(format.round(middle), even) << format.name << " " << low;
      ASSERT_EQ(format.round(-middle), even | 0x8000) << format.name << " " << low;
      ASSERT_EQ(format.round(std::nextafter(middle, 0)), low) << format.name;
      ASSERT_EQ(format.round(std::nextafter(middle, kInf)), high) << format.name;
    }
}

TEST(Values, RoundsExtremesOfFloat64) {
  for (const Format &format : kFormats) {
    EXPECT_EQ(format.round(std::numeric_limits<double>::max()), format.infinity());
    EXPECT_EQ(format.round(-kInf), format.infinity() | 0x8000);
    EXPECT_EQ(format.round(5e-324), 0);
    EXPECT_EQ(format.round(-5e-324), 0x8000);
    EXPECT_EQ(format.round(-0.0), 0x8000);
  }
}

TEST(Values, SaturatesIntegers) {
  const double nan = std::nan("");
  const double values[] = {-kInf, -1e10, -0.5, 0.5, 1.5, 2.5, 254.5, 255.5, 1e10, nan};
  uint8_t u8[10];
  int32_t i32[10];

  detail::narrow(DType::UInt8, values, reinterpret_cast<std::byte *>(u8));
  detail::narrow(DType::Int32, values, reinterpret_cast<std::byte *>(i32));
  int8_t i8[10];
  int16_t i16[10];
  uint16_t u16[10];
  uint32_t u32[10];
  detail::narrow(DType::Int8, values, reinterpret_cast<std::byte *>(i8));
  detail::narrow(DType::Int16, values, reinterpret_cast<std::byte *>(i16));
  detail::narrow(DType::UInt16, values, reinterpret_cast<std::byte *>(u16));
  detail::narrow(DType::UInt32, values, reinterpret_cast<std::byte *>(u32));

  EXPECT_THAT(i8, ElementsAre(-128, -128, 0, 0, 2, 2, 127, 127, 127, 0));
  EXPECT_THAT(i16, ElementsAre(-32768, -32768, 0, 0, 2, 2, 254, 256, 32767, 0));
  EXPECT_THAT(u16, ElementsAre(0, 0, 0, 0, 2, 2, 254, 256, 65535, 0));
  EXPECT_THAT(u32, ElementsAre(0, 0, 0, 0, 2, 2, 254, 256, 4294967295, 0));
  EXPECT_THAT(u8, ElementsAre(0, 0, 0, 0, 2, 2, 254, 255, 255, 0));
  EXPECT_THAT(i32, ElementsAre(INT32_MIN, INT32_MIN, 0, 0, 2, 2, 254, 256, INT32_MAX, 0));
}

TEST(Values, SaturatesIntegersAtTheirEdges) {
  const double values[] = {2147483646.5,  2147483647,    2147483647.5,
                           -2147483648.0, -2147483648.5, -2147483647.5};
  int32_t i32[6];

  detail::narrow(DType::Int32, values, reinterpret_cast<std::byte *>(i32));

  EXPECT_THAT(i32, ElementsAre(2147483646, INT32_MAX, INT32_MAX, INT32_MIN, INT32_MIN, INT32_MIN));
}

TEST(Text, CountsEdits) {
  EXPECT_EQ(detail::editDistance("rand", "rand"), 0u);
  EXPECT_EQ(detail::editDistance("rnad", "rand"), 1u); // a swap
  EXPECT_EQ(detail::editDistance("rands", "rand"), 1u);
  EXPECT_EQ(detail::editDistance("zero", "zeros"), 1u);
  EXPECT_EQ(detail::editDistance("", "abc"), 3u);
  EXPECT_EQ(detail::editDistance("kitten", "sitting"), 3u);
}

TEST(Text, SpellsValuesInTheirDType) {
  EXPECT_EQ(detail::describeValue(0.1f, DType::Float32), "0.1");
  EXPECT_EQ(detail::describeValue(-0.0, DType::Float32), "-0");
  EXPECT_EQ(detail::describeValue(kInf, DType::BFloat16), "inf");
  EXPECT_EQ(detail::describeValue(-3, DType::Int32), "-3");
  EXPECT_EQ(detail::describeValue(255, DType::UInt8), "255");
}

TEST(Text, CountsBytesWithoutOverflow) {
  EXPECT_EQ(detail::byteCount(std::vector<int64_t>{3, 5}, 4), 60u);
  EXPECT_EQ(detail::byteCount(std::vector<int64_t>{INT64_MAX}, 1), uint64_t{INT64_MAX});
  EXPECT_EQ(detail::byteCount(std::vector<int64_t>{INT64_MAX}, 2), std::nullopt);
  EXPECT_EQ(detail::byteCount(std::vector<int64_t>{1 << 30, 1 << 30, 8}, 1), std::nullopt);
}

} // namespace
} // namespace kilnrt::test
