//===- ReferenceNumbersTest.cpp - the reference's own numbers against known ones --------------===//
//
//===------------------------------------------------------------------------------------------===//

#include "ReferenceNumbers.h"

#include <bit>
#include <cmath>
#include <gtest/gtest.h>
#include <limits>
#include <random>

using namespace kiln;
using namespace kiln::reference;
using isa::ActFn;
using isa::AluOp;
using isa::DType;

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
Single of(float x) { return std::bit_cast<Single>(x); }

TEST(ReferenceNumbers, ElementsOfSmallFormatsComeBack) {
  for (const isa::EnumCase &c : isa::dtypeCases()) {
    const DType dtype = DType(c.value);
    if (isa::bytesOf(dtype) > 2)
      continue;
    for (uint32_t bits = 0; bits < 1u << 8 * isa::bytesOf(dtype); ++bits)
      if (double value = decode(dtype, bits); !std::isnan(value)) {
        ASSERT_EQ(encode(dtype, value), bits) << c.name;
      }
  }
}

TEST(ReferenceNumbers, RoundsAsTheHostsFloats) {
  std::mt19937_64 rng(1);
  for (int i = 0; i < 200000; ++i) {
    double value =
        std::bit_cast<double>((rng() & 0x800FFFFFFFFFFFFF) | ((1023 - 160 + rng() % 320) << 52));
    ASSERT_EQ(encode(DType::Float32, value), of(float(value))) << value;
  }
  for (double tie : {0x1.000001p0, 0x1.000003p0, 0x1p-150, 0x1.8p-149, 0x1.ffffffp127})
    EXPECT_EQ(encode(DType::Float32, tie), of(float(tie))) << tie;
}

TEST(ReferenceNumbers, FormatsOverflowWhereTheyShould) {
  EXPECT_EQ(encode(DType::Float8E4M3, 247.9), 0x77u); // 240
  EXPECT_EQ(encode(DType::Float8E4M3, 248), 0x78u);   // infinity
  EXPECT_EQ(encode(DType::Float8E4M3, -kInf), 0xF8u);
  EXPECT_EQ(encode(DType::Float8E4M3, std::nan("")), 0x7Cu);
  EXPECT_EQ(encode(DType::Float8E4M3, 0x1p-10), 0u); // half of the smallest, a tie
  EXPECT_EQ(encode(DType::Float8E4M3FN, 464), 0x7Eu);
  EXPECT_EQ(encode(DType::Float8E4M3FN, 464.1), 0x7Fu);
  EXPECT_EQ(encode(DType::Float8E5M2, 61439), 0x7Bu);
  EXPECT_EQ(encode(DType::Float8E5M2, 61440), 0x7Cu);
  EXPECT_EQ(encode(DType::Float16, 65519.9), 0x7BFFu);
  EXPECT_EQ(encode(DType::Float16, 65520), 0x7C00u);
  EXPECT_EQ(encode(DType::BFloat16, 3.4028234663852886e38), 0x7F80u);
  EXPECT_EQ(encode(DType::TFloat32, 1 + 0x1.8p-11), 0x3F802000u);
  EXPECT_EQ(encode(DType::Int8, 127.5), 0x7Fu);
  EXPECT_EQ(encode(DType::Int8, -2.5), 0xFEu);
  EXPECT_EQ(encode(DType::UInt8, -0.5), 0u);
  EXPECT_EQ(encode(DType::UInt8, 254.5), 254u);
  EXPECT_EQ(encode(DType::Int32, 2147483648.0), 0x7FFFFFFFu);
  EXPECT_EQ(encode(DType::UInt32, 1e12), 0xFFFFFFFFu);
  EXPECT_EQ(encode(DType::UInt16, std::nan("")), 0u);
}

TEST(ReferenceNumbers, FusedSumsAreRoundedOnce) {
  // 1 + 2^-24 lies in the middle of two floats; a double drops what decides behind it.
  EXPECT_EQ(fuse(of(1 + 0x1p-12f), of(1 + 0x1p-12f), of(-0x1p-11f)), of(1));
  EXPECT_EQ(fuse(of(0x1.001p0f), of(0x1.ffep-1f), of(0x1p-24f)), of(1)); // 1 - 2^-24 + 2^-24
  EXPECT_EQ(fuse(of(0x1p-30f), of(0x1p-30f), of(1)), of(1));
  EXPECT_EQ(fuse(of(0x1.fffffep127f), of(2), of(-0x1.fffffep127f)), of(0x1.fffffep127f));
  EXPECT_EQ(fuse(of(0x1p-100f), of(-0x1p-100f), of(0.0f)), of(-0.0f));
  std::mt19937_64 rng(2);
  for (int i = 0; i < 200000; ++i) {
    float x[3];
    for (float &v : x)
      v = std::bit_cast<float>(uint32_t((rng() & 0x807FFFFF) | ((100 + rng() % 50) << 23)));
    ASSERT_EQ(fuse(of(x[0]), of(x[1]), of(x[2])), of(std::fmaf(x[0], x[1], x[2])))
        << x[0] << " " << x[1] << " " << x[2];
  }
}

TEST(ReferenceNumbers, ZerosAndNaNsOfTheOperators) {
  const Single nan = 0xFFC12345;
  EXPECT_EQ(applyArithmetic(AluOp::Maximum, of(0.0f), of(-0.0f)), of(0.0f));
  EXPECT_EQ(applyArithmetic(AluOp::Maximum, of(-0.0f), of(0.0f)), of(0.0f));
  EXPECT_EQ(applyArithmetic(AluOp::Minimum, of(0.0f), of(-0.0f)), of(-0.0f));
  EXPECT_EQ(applyArithmetic(AluOp::Minimum, of(1), nan), kNaN);
  EXPECT_EQ(applyArithmetic(AluOp::NotEqual, nan, nan), kOne);
  EXPECT_EQ(applyArithmetic(AluOp::LogicalAnd, nan, of(1)), kOne);
  EXPECT_EQ(applyArithmetic(AluOp::Add, nan, of(1)), kNaN);
  EXPECT_EQ(applyBits(AluOp::LeftShift, 1, 0x81, 1), 2u);
  EXPECT_EQ(applyBits(AluOp::RightShift, 2, 0x8000, 16), 0u);
}

TEST(ReferenceNumbers, FunctionsAtKnownPoints) {
  EXPECT_EQ(applyFunction(ActFn::Exp, of(1)), of(2.71828183f));
  EXPECT_EQ(applyFunction(ActFn::Sigmoid, of(0)), of(0.5f));
  EXPECT_EQ(applyFunction(ActFn::Gelu, of(1)), of(0.841344746f));
  EXPECT_EQ(applyFunction(ActFn::GeluDx, of(0)), of(0.5f));
  EXPECT_EQ(applyFunction(ActFn::GeluApprxTanh, of(1)), of(0.841191991f));
  EXPECT_EQ(applyFunction(ActFn::SiluDx, of(0)), of(0.5f));
  EXPECT_EQ(applyFunction(ActFn::Mish, of(1)), of(0.865098388f));
  EXPECT_EQ(applyFunction(ActFn::Mish, of(1e30f)), of(1e30f));
  EXPECT_EQ(applyFunction(ActFn::Softplus, of(0)), of(0.693147181f));
  EXPECT_EQ(applyFunction(ActFn::Sin, of(9)), of(27.6525975f)) << "the cubic, not the sine";
  EXPECT_EQ(applyFunction(ActFn::Silu, 1), 1u); // half of the smallest denormal and a little more
  EXPECT_EQ(applyFunction(ActFn::Silu, 3), 2u); // 1.5 and a little more
  EXPECT_EQ(power(of(2), of(0.5f)), of(1.41421356f));
  EXPECT_EQ(reciprocalRoot(of(4)), of(0.5f));
}

} // namespace
