//===- ConvertTest.cpp - conversions: all 16-bit patterns, borders, strides, targets ----------===//

#include "kilnrt/Numerics/Convert.h"
#include "ExactFunctions.h"
#include "Targets.h"

#include <cmath>
#include <gtest/gtest.h>

using kiln::isa::DType;
using namespace kilnrt;
using namespace kilnrt::test;

namespace {

constexpr uint32_t kSeed = 4711;

/// An 8 or 16-bit float format by its definition.
struct Format {
  DType type;
  int exponentBits, mantissaBits;
  uint16_t (*narrow)(float);
  float (*widen)(uint16_t);

  unsigned codes() const { return 2u << (exponentBits + mantissaBits); }
  uint32_t signBit() const { return codes() / 2; }
  uint32_t magnitude(uint32_t bits) const { return bits & (signBit() - 1); }
  uint16_t infinity() const { return uint16_t(((1 << exponentBits) - 1) << mantissaBits); }
  uint16_t canonicalNan() const { return uint16_t(infinity() | 1 << (mantissaBits - 1)); }

  /// Value of a finite or infinite pattern.
  double value(uint16_t bits) const {
    const double sign = bits & signBit() ? -1 : 1;
    const int exponent = int(magnitude(bits) >> mantissaBits);
    const int mantissa = bits & ((1 << mantissaBits) - 1);
    const int bias = (1 << (exponentBits - 1)) - 1;
    if (exponent == (1 << exponentBits) - 1)
      return sign * HUGE_VAL;
    if (exponent == 0)
      return sign * std::ldexp(mantissa, 1 - bias - mantissaBits);
    return sign * std::ldexp((1 << mantissaBits) + mantissa, exponent - bias - mantissaBits);
  }
};

const Format formats[] = {
    {DType::Float8E4M3, 4, 3, [](float x) { return uint16_t(floatToE4m3(x)); },
     [](uint16_t bits) { return e4m3ToFloat(uint8_t(bits)); }},
    {DType::Float8E5M2, 5, 2, [](float x) { return uint16_t(floatToE5m2(x)); },
     [](uint16_t bits) { return e5m2ToFloat(uint8_t(bits)); }},
    {DType::BFloat16, 8, 7, floatToBf16, bf16ToFloat},
    {DType::Float16, 5, 10, floatToFp16, fp16ToFloat}};

float load(DType type, uint16_t bits) {
  float result = 0.0f;
  loadRow(type, reinterpret_cast<const std::byte *>(&bits), 2, 1, &result);
  return result;
}

/// A row of `count` copies of `in`, converted and returned as raw bytes.
std::vector<std::byte> storeMany(DType type, const std::vector<float> &in) {
  std::vector<std::byte> bytes(in.size() * kiln::isa::bytesOf(type));
  storeRow(type, in.data(), bytes.data(), kiln::isa::bytesOf(type), in.size());
  return bytes;
}

TEST(Convert, WidensEveryShortPatternExactly) {
  for (const Format &format : formats) {
    for (uint32_t bits = 0; bits < format.codes(); ++bits) {
      const float wide = format.widen(uint16_t(bits));
      if (format.magnitude(bits) > format.infinity())
        ASSERT_EQ(bitsOf(wide), 0x7FC00000u) << std::hex << bits;
      else
        ASSERT_EQ(bitsOf(wide), bitsOf(float(format.value(uint16_t(bits))))) << std::hex << bits;
      ASSERT_EQ(bitsOf(load(format.type, uint16_t(bits))), bitsOf(wide));
    }
  }
}

TEST(Convert, NarrowsEveryExactValueToItself) {
  for (const Format &format : formats)
    for (uint32_t bits = 0; bits < format.codes(); ++bits) {
      const uint16_t expected =
          format.magnitude(bits) > format.infinity() ? format.canonicalNan() : uint16_t(bits);
      ASSERT_EQ(format.narrow(format.widen(uint16_t(bits))), expected) << std::hex << bits;
    }
}

TEST(Convert, RoundsBetweenNeighboursToNearestEven) {
  // The last pair is the largest finite value and the infinity, which stands for the next power of
  // two.
  for (const Format &format : formats) {
    const double limit = std::ldexp(1.0, 1 << (format.exponentBits - 1));
    for (uint32_t bits = 0; bits < format.infinity(); ++bits) {
      const double low = format.value(uint16_t(bits));
      const double high = bits + 1 == format.infinity() ? limit : format.value(uint16_t(bits + 1));
      const float middle = float((low + high) / 2);
      for (uint32_t sign : {0u, format.signBit()}) {
        const auto narrow = [&](float x) { return uint32_t(format.narrow(sign ? -x : x)); };
        ASSERT_EQ(narrow(middle), (bits + (bits & 1)) | sign) << std::hex << bits;
        ASSERT_EQ(narrow(std::nextafter(middle, 0.0f)), bits | sign) << std::hex << bits;
        ASSERT_EQ(narrow(std::nextafter(middle, HUGE_VALF)), (bits + 1) | sign) << std::hex << bits;
      }
    }
    EXPECT_EQ(format.narrow(HUGE_VALF), format.infinity());
    EXPECT_EQ(format.narrow(floatOf(0xFFFFFFFFu)), format.canonicalNan());
    EXPECT_EQ(format.narrow(floatOf(0x7F800001u)), format.canonicalNan());
  }
}

TEST(Convert, E4m3fnHasNumbersWhereE4m3HasInfinities) {
  for (uint32_t bits = 0; bits < 0x100; ++bits) {
    const uint32_t magnitude = bits & 0x7F;
    const float wide = e4m3fnToFloat(uint8_t(bits));
    if (magnitude == 0x7F) {
      EXPECT_EQ(bitsOf(wide), 0x7FC00000u);
      EXPECT_EQ(floatToE4m3fn(wide), 0x7F);
      continue;
    }
    if (magnitude >= 0x78)
      EXPECT_EQ(wide, (bits & 0x80 ? -1.0f : 1.0f) * float(256 + 32 * (magnitude - 0x78)));
    else
      EXPECT_EQ(bitsOf(wide), bitsOf(e4m3ToFloat(uint8_t(bits))));
    EXPECT_EQ(floatToE4m3fn(wide), bits);
  }
  EXPECT_EQ(floatToE4m3fn(248.0f), 0x78); // a tie between 240 and 256, to even
  EXPECT_EQ(floatToE4m3fn(464.0f), 0x7E); // the last tie, to 448
  EXPECT_EQ(floatToE4m3fn(-464.0001f), 0xFF);
  EXPECT_EQ(floatToE4m3fn(HUGE_VALF), 0x7F);
}

TEST(Convert, Tf32KeepsTenMantissaBits) {
  const struct {
    uint32_t input, rounded;
  } cases[] = {
      {0x3F800000, 0x3F800000}, {0x3F801000, 0x3F800000}, // a tie, to even
      {0x3F801001, 0x3F802000}, {0x3F803000, 0x3F804000}, // a tie up
      {0x3F802FFF, 0x3F802000}, {0x80001000, 0x80000000}, {0x00001001, 0x00002000},
      {0x807FF000, 0x80800000},                           // denormals
      {0x7F7FEFFF, 0x7F7FE000}, {0x7F7FF000, 0x7F800000}, // overflow
      {0xFF800000, 0xFF800000}, {0xFF800001, 0x7FC00000}, {0x7FC00000, 0x7FC00000},
  };
  for (const auto &c : cases) {
    EXPECT_EQ(bitsOf(roundToTf32(floatOf(c.input))), c.rounded) << std::hex << c.input;
    float read = 0.0f; // reads take the bits as they are
    loadRow(DType::TFloat32, reinterpret_cast<const std::byte *>(&c.input), 4, 1, &read);
    EXPECT_EQ(bitsOf(read), c.input);
  }
}

TEST(Convert, RoundsFloatsToIntegersAndSaturates) {
  const struct {
    float input;
    int32_t wide;
    uint8_t narrow;
  } cases[] = {
      {0.5f, 0, 0},
      {0.49999997f, 0, 0},
      {0.50000006f, 1, 1},
      {1.5f, 2, 2},
      {2.5f, 2, 2},
      {-0.5f, 0, 0},
      {-0.50000006f, -1, 0},
      {-1.5f, -2, 0},
      {254.5f, 254, 254},
      {255.49998f, 255, 255},
      {255.5f, 256, 255},
      {8388607.5f, 8388608, 255},
      {8388609.0f, 8388609, 255},
      {2147483520.0f, 2147483520, 255},
      {2147483648.0f, 2147483647, 255},
      {-2147483648.0f, -2147483647 - 1, 0},
      {-2147483904.0f, -2147483647 - 1, 0},
      {HUGE_VALF, 2147483647, 255},
      {-HUGE_VALF, -2147483647 - 1, 0},
      {floatOf(0x7FC00000u), 0, 0},
      {floatOf(0xFF800001u), 0, 0},
      {-0.0f, 0, 0},
      {1e-45f, 0, 0},
  };
  for (const auto &c : cases) {
    EXPECT_EQ(floatToInt32(c.input), c.wide) << describe(c.input);
    EXPECT_EQ(floatToUint8(c.input), c.narrow) << describe(c.input);
  }
}

TEST(Convert, RoundsFloatsToSmallIntegersAndSaturates) {
  const struct {
    float input;
    int8_t i8;
    int16_t i16;
    uint16_t u16;
    uint32_t u32;
  } cases[] = {
      {0.5f, 0, 0, 0, 0},
      {1.5f, 2, 2, 2, 2},
      {-0.50000006f, -1, -1, 0, 0},
      {-0.0f, 0, 0, 0, 0},
      {126.5f, 126, 126, 126, 126},
      {127.49999f, 127, 127, 127, 127},
      {127.5f, 127, 128, 128, 128},
      {-127.5f, -128, -128, 0, 0},
      {-128.5f, -128, -128, 0, 0},
      {-129.0f, -128, -129, 0, 0},
      {32767.498f, 127, 32767, 32767, 32767},
      {32767.5f, 127, 32767, 32768, 32768},
      {-32768.5f, -128, -32768, 0, 0},
      {65534.5f, 127, 32767, 65534, 65534},
      {65535.5f, 127, 32767, 65535, 65536},
      {2147483648.0f, 127, 32767, 65535, 2147483648u},
      {2147483904.0f, 127, 32767, 65535, 2147483904u},
      {4294967040.0f, 127, 32767, 65535, 4294967040u},
      {4294967296.0f, 127, 32767, 65535, 4294967295u},
      {HUGE_VALF, 127, 32767, 65535, 4294967295u},
      {-HUGE_VALF, -128, -32768, 0, 0},
      {floatOf(0x7FC00000u), 0, 0, 0, 0},
      {floatOf(0xFF800001u), 0, 0, 0, 0},
  };
  for (const auto &c : cases) {
    EXPECT_EQ(floatToInt8(c.input), c.i8) << describe(c.input);
    EXPECT_EQ(floatToInt16(c.input), c.i16) << describe(c.input);
    EXPECT_EQ(floatToUint16(c.input), c.u16) << describe(c.input);
    EXPECT_EQ(floatToUint32(c.input), c.u32) << describe(c.input);
  }
}

TEST(Convert, RoundsIntegersToFloats) {
  EXPECT_EQ(uint32ToFloat(16777217u), 16777216.0f);
  EXPECT_EQ(uint32ToFloat(2147483648u), 2147483648.0f);
  EXPECT_EQ(uint32ToFloat(2147483776u), 2147483648.0f); // a tie, to even
  EXPECT_EQ(uint32ToFloat(2147484032u), 2147484160.0f); // the next tie goes up
  EXPECT_EQ(uint32ToFloat(4294967167u), 4294967040.0f);
  EXPECT_EQ(uint32ToFloat(4294967295u), 4294967296.0f);
  EXPECT_EQ(int32ToFloat(16777216), 16777216.0f);
  EXPECT_EQ(int32ToFloat(16777217), 16777216.0f);
  EXPECT_EQ(int32ToFloat(16777219), 16777220.0f);
  EXPECT_EQ(int32ToFloat(2147483647), 2147483648.0f);
  EXPECT_EQ(int32ToFloat(-2147483647 - 1), -2147483648.0f);
}

class ConvertRows : public testing::TestWithParam<DType> {
protected:
  const DType type = GetParam();
  const size_t bytes = kiln::isa::bytesOf(type);
};

INSTANTIATE_TEST_SUITE_P(All, ConvertRows,
                         testing::Values(DType::Float32, DType::BFloat16, DType::Float16,
                                         DType::Int32, DType::UInt8, DType::Int8, DType::Int16,
                                         DType::UInt16, DType::UInt32, DType::Float8E4M3,
                                         DType::Float8E5M2, DType::Float8E4M3FN, DType::TFloat32),
                         [](const auto &info) { return std::string(kiln::isa::name(info.param)); });

TEST_P(ConvertRows, EqualTheScalarsOnEveryTarget) {
  SCOPED_TRACE("seed " + std::to_string(kSeed));
  std::vector<float> inputs = specialFloats();
  for (uint32_t high = 0; high < 0x10000; ++high) // every bf16 with the low bits that matter
    inputs.push_back(floatOf(high << 16 | ((high * 0x1000u) & 0xFFFFu)));
  for (float x : randomFloats(kSeed, 20000)) {
    inputs.push_back(x);
    inputs.push_back(float(std::ldexp(double(bitsOf(x)), -20) - 2048)); // integers with fractions
    inputs.push_back(float(bitsOf(x)));                                 // large whole numbers
    inputs.push_back(floatOf((bitsOf(x) & 0x8FFFFFFFu) | 0x30000000u));
  }

  for (int64_t target : hostTargets()) {
    const ForcedTarget forced(target);
    const std::vector<std::byte> narrow = storeMany(type, inputs);
    std::vector<float> wide(inputs.size());
    loadRow(type, narrow.data(), int64_t(bytes), wide.size(), wide.data());

    for (size_t i = 0; i < inputs.size(); ++i) {
      std::byte expected[4] = {};
      storeElement(type, inputs[i], expected);
      ASSERT_TRUE(std::equal(expected, expected + bytes, narrow.data() + i * bytes))
          << hwy::TargetName(target) << " storing " << describe(inputs[i]);
      ASSERT_EQ(bitsOf(wide[i]), bitsOf(loadElement(type, expected)))
          << hwy::TargetName(target) << " loading back " << describe(inputs[i]);
    }
  }
}

TEST_P(ConvertRows, LoadEveryPatternOnEveryTarget) {
  // All 16-bit patterns; for wider types they land in both halves.
  std::vector<uint32_t> patterns;
  for (uint32_t i = 0; i < 0x10000; i += 2)
    patterns.push_back(i | (i + 1) << 16);
  const auto *src = reinterpret_cast<const std::byte *>(patterns.data());
  const size_t n = patterns.size() * 4 / bytes;

  for (int64_t target : hostTargets()) {
    const ForcedTarget forced(target);
    std::vector<float> wide(n);
    loadRow(type, src, int64_t(bytes), n, wide.data());

    for (size_t i = 0; i < n; ++i)
      ASSERT_EQ(bitsOf(wide[i]), bitsOf(loadElement(type, src + i * bytes)))
          << hwy::TargetName(target) << " element " << i;
  }
}

TEST_P(ConvertRows, TakeAnyStrideAndLengthAndTouchNothingElse) {
  const std::byte untouched{0xA5};
  const std::vector<float> values = {1,  2.5f, -3, 4,  200, 6,  -0.0f, 8, 9,
                                     10, 11,   12, 13, 14,  15, 16,    17};
  for (int64_t stride :
       {int64_t(bytes), int64_t(2 * bytes), int64_t(24), -int64_t(bytes), int64_t(-20)})
    for (size_t n = 0; n <= values.size(); ++n) {
      std::vector<std::byte> memory(1000, untouched);
      std::byte *first = memory.data() + 500;

      storeRow(type, values.data(), first, stride, n);
      std::vector<float> back(n + 1, 99.0f);
      loadRow(type, first, stride, n, back.data());

      std::vector<std::byte> expected(1000, untouched);
      for (size_t i = 0; i < n; ++i)
        storeElement(type, values[i], expected.data() + 500 + int64_t(i) * stride);
      ASSERT_EQ(memory, expected) << "stride " << stride << ", length " << n;
      for (size_t i = 0; i < n; ++i)
        ASSERT_EQ(bitsOf(back[i]), bitsOf(loadElement(type, first + int64_t(i) * stride)));
      ASSERT_EQ(back[n], 99.0f);
    }
}

TEST_P(ConvertRows, RepeatOneElementAtStrideZero) {
  std::byte element[4];
  storeElement(type, 7.0f, element);
  float out[5] = {};

  loadRow(type, element, 0, 5, out);

  for (float x : out)
    EXPECT_EQ(x, 7.0f);
}

TEST(Convert, CopiesFloat32BitForBit) {
  const float payload = floatOf(0xFF812345u);
  std::byte element[4];

  storeRow(DType::Float32, &payload, element, 4, 1);
  float back = 0;
  loadRow(DType::Float32, element, 4, 1, &back);

  EXPECT_EQ(bitsOf(back), 0xFF812345u);
}

} // namespace
