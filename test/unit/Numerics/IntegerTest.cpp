//===- IntegerTest.cpp - bit vectors and native integers --------------------------------------===//

#include "kilnrt/Numerics/Alu.h"
#include "kilnrt/Numerics/Fold.h"

#include <climits>
#include <cstring>
#include <gtest/gtest.h>
#include <random>

using kiln::isa::AluOp;
using kiln::isa::DType;
using namespace kilnrt;

namespace {

const AluOp bitvecOps[] = {AluOp::Invert,     AluOp::BitwiseAnd, AluOp::BitwiseOr,
                           AluOp::BitwiseXor, AluOp::LeftShift,  AluOp::RightShift};

/// One bit at a time, on purpose.
uint32_t oracle(AluOp op, unsigned width, uint32_t x, uint32_t y) {
  uint32_t result = 0;
  for (unsigned i = 0; i < width; ++i) {
    const auto bit = [&](uint32_t v, int64_t at) {
      return at >= 0 && at < width ? (v >> at) & 1 : 0;
    };
    uint32_t b = 0;
    switch (op) {
    case AluOp::Invert:
      b = 1 - bit(x, i);
      break;
    case AluOp::BitwiseAnd:
      b = bit(x, i) * bit(y, i);
      break;
    case AluOp::BitwiseOr:
      b = bit(x, i) + bit(y, i) > 0;
      break;
    case AluOp::BitwiseXor:
      b = bit(x, i) != bit(y, i);
      break;
    case AluOp::LeftShift:
      b = bit(x, int64_t(i) - int64_t(y));
      break;
    default:
      b = bit(x, int64_t(i) + int64_t(y));
      break;
    }
    result |= b << i;
  }
  return result;
}

TEST(Bitvec, IsRightForEveryPairOfBytes) {
  for (AluOp op : bitvecOps)
    for (uint32_t x = 0; x < 256; ++x)
      for (uint32_t y = 0; y < 256; ++y)
        ASSERT_EQ(applyBitvec(op, 1, x, y), oracle(op, 8, x, y))
            << kiln::isa::name(op) << x << " " << y;
}

TEST(Bitvec, ShiftsOutAtTheWidthAndForNegativeCounts) {
  for (unsigned bytes : {1u, 2u, 4u}) {
    const unsigned width = 8 * bytes;
    const uint32_t ones = width == 32 ? ~0u : (1u << width) - 1;
    for (AluOp op : {AluOp::LeftShift, AluOp::RightShift}) {
      EXPECT_EQ(applyBitvec(op, bytes, ones, 0), ones);
      EXPECT_NE(applyBitvec(op, bytes, ones, width - 1), 0u);
      EXPECT_EQ(applyBitvec(op, bytes, ones, width), 0u);
      EXPECT_EQ(applyBitvec(op, bytes, ones, uint32_t(-1)), 0u);
    }
    EXPECT_EQ(applyBitvec(AluOp::RightShift, bytes, ones, 1), ones >> 1) << "zero fill";
  }
}

TEST(Bitvec, RowsEqualScalars) {
  std::mt19937 generator(99);
  for (unsigned bytes : {1u, 2u, 4u})
    for (AluOp op : bitvecOps)
      for (size_t n : {0u, 1u, 7u, 16u, 67u}) {
        std::vector<std::byte> x(n * bytes), y(n * bytes), out(n * bytes), left(n * bytes);
        for (size_t i = 0; i < n * bytes; ++i) {
          x[i] = std::byte(generator());
          y[i] = std::byte(i % bytes == 0 ? generator() % 40 : 0); // shift counts around the width
        }
        const uint32_t scalar = 3;

        bitvecRow(op, bytes, x.data(), y.data(), out.data(), n);
        bitvecRowScalar(op, bytes, x.data(), scalar, /*reverse=*/true, left.data(), n);

        const bool unary = kiln::isa::info(op).isUnary;
        for (size_t i = 0; i < n; ++i) {
          uint32_t a = 0, b = 0, got = 0, gotLeft = 0;
          std::memcpy(&a, &x[i * bytes], bytes);
          std::memcpy(&b, &y[i * bytes], bytes);
          std::memcpy(&got, &out[i * bytes], bytes);
          std::memcpy(&gotLeft, &left[i * bytes], bytes);
          ASSERT_EQ(got, oracle(op, 8 * bytes, a, b)) << kiln::isa::name(op);
          ASSERT_EQ(gotLeft, unary ? oracle(op, 8 * bytes, a, 0) : oracle(op, 8 * bytes, scalar, a))
              << kiln::isa::name(op);
        }
      }
}

TEST(Bitvec, FoldsWithStridesFromTheIdentity) {
  const uint16_t data[] = {0x0FF0, 0xAAAA, 0x3FFC, 0xAAAA, 0x00FF, 0xAAAA};
  const auto *bytes = reinterpret_cast<const std::byte *>(data);
  const auto fold = [&](AluOp op) {
    return foldBitvec(op, 2, bytes, 4, 3, bitvecFoldIdentity(op, 2));
  };

  EXPECT_EQ(fold(AluOp::BitwiseAnd), 0x00F0u);
  EXPECT_EQ(fold(AluOp::BitwiseOr), 0x3FFFu);
  EXPECT_EQ(fold(AluOp::BitwiseXor), 0x0FF0u ^ 0x3FFCu ^ 0x00FFu);
  EXPECT_EQ(bitvecFoldIdentity(AluOp::BitwiseAnd, 1), 0xFFu);
  EXPECT_EQ(bitvecFoldIdentity(AluOp::BitwiseAnd, 4), 0xFFFFFFFFu);
  EXPECT_EQ(foldBitvec(AluOp::BitwiseOr, 2, bytes, 4, 0, 5), 5u);
}

TEST(Int32, WrapsAndComparesExactly) {
  const auto apply = [](AluOp op, int32_t x, int32_t y) {
    return int32_t(
        applyAluInteger(op, DType::Int32, uint32_t(x), DType::Int32, uint32_t(y), DType::Int32));
  };

  EXPECT_EQ(apply(AluOp::Add, INT_MAX, 1), INT_MIN);
  EXPECT_EQ(apply(AluOp::Subtract, INT_MIN, 1), INT_MAX);
  EXPECT_EQ(apply(AluOp::Multiply, 65537, 65537), 131073);
  EXPECT_EQ(apply(AluOp::Abs, INT_MIN, 0), INT_MIN);
  EXPECT_EQ(apply(AluOp::Abs, -5, 0), 5);
  EXPECT_EQ(apply(AluOp::Maximum, 16777217, 16777216), 16777217);
  EXPECT_EQ(apply(AluOp::Minimum, INT_MIN, INT_MAX), INT_MIN);
  // Both are the same fp32 number.
  EXPECT_EQ(apply(AluOp::Equal, 16777217, 16777216), 0);
  EXPECT_EQ(apply(AluOp::NotEqual, 16777217, 16777216), 1);
  EXPECT_EQ(apply(AluOp::Greater, 16777217, 16777216), 1);
  EXPECT_EQ(apply(AluOp::GreaterEqual, 16777216, 16777217), 0);
  EXPECT_EQ(apply(AluOp::Less, -1, 0), 1);
  EXPECT_EQ(apply(AluOp::LessEqual, 0, -1), 0);
  EXPECT_EQ(apply(AluOp::LogicalAnd, 2, 4), 1);
  EXPECT_EQ(apply(AluOp::LogicalOr, 0, 0), 0);
  EXPECT_EQ(apply(AluOp::LogicalXor, 2, 4), 0);
  EXPECT_EQ(apply(AluOp::Power, 3, 4), 81);
  EXPECT_EQ(apply(AluOp::Power, 10, 20), INT_MAX);
  EXPECT_EQ(apply(AluOp::None, 7, 9), 7);
}

TEST(Uint32, WrapsAndComparesExactly) {
  const auto apply = [](AluOp op, uint32_t x, uint32_t y) {
    return applyAluInteger(op, DType::UInt32, x, DType::UInt32, y, DType::UInt32);
  };

  EXPECT_EQ(apply(AluOp::Add, UINT_MAX, 2), 1u);
  EXPECT_EQ(apply(AluOp::Subtract, 0, 1), UINT_MAX);
  EXPECT_EQ(apply(AluOp::Multiply, 65537, 65537), 131073u);
  EXPECT_EQ(apply(AluOp::Abs, 0x80000001u, 0), 0x80000001u);
  EXPECT_EQ(apply(AluOp::Maximum, 0x80000000u, 1), 0x80000000u);
  EXPECT_EQ(apply(AluOp::Minimum, 0x80000000u, 1), 1u);
  EXPECT_EQ(apply(AluOp::Greater, 0xFFFFFFFFu, 0xFFFFFFFEu), 1u); // equal as floats
  EXPECT_EQ(apply(AluOp::Less, 0x80000000u, 1), 0u);
  EXPECT_EQ(apply(AluOp::Power, 2, 31), 0x80000000u);
  EXPECT_EQ(apply(AluOp::Power, 2, 33), UINT_MAX);
}

TEST(MixedIntegers, CompareByValueAndSaturateToTheResult) {
  const auto apply = [](AluOp op, int32_t x, uint32_t y, DType result) {
    return applyAluInteger(op, DType::Int32, uint32_t(x), DType::UInt32, y, result);
  };

  EXPECT_EQ(apply(AluOp::Less, -1, 0, DType::Int32), 1u);
  EXPECT_EQ(apply(AluOp::Equal, -1, 0xFFFFFFFFu, DType::UInt32), 0u);
  EXPECT_EQ(apply(AluOp::GreaterEqual, INT_MAX, 0x80000000u, DType::Int32), 0u);
  EXPECT_EQ(apply(AluOp::Maximum, 5, 0x80000000u, DType::UInt32), 0x80000000u);
  EXPECT_EQ(apply(AluOp::Maximum, 5, 0x80000000u, DType::Int32), 0x7FFFFFFFu);
  EXPECT_EQ(apply(AluOp::Minimum, -5, 7, DType::Int32), uint32_t(-5));
  EXPECT_EQ(apply(AluOp::Minimum, -5, 7, DType::UInt32), 0u);
  EXPECT_EQ(apply(AluOp::Add, -5, 7, DType::UInt32), 2u);
  EXPECT_EQ(apply(AluOp::Subtract, 1, 3, DType::UInt32), 0xFFFFFFFEu); // modulo 2^32, as always
}

TEST(Integers, RowsEqualScalars) {
  std::mt19937 generator(7);
  constexpr size_t n = 37;
  std::vector<uint32_t> x(n), y(n), out(n);
  for (size_t i = 0; i < n; ++i) {
    x[i] = uint32_t(generator());
    y[i] = i % 5 == 0 ? x[i] : uint32_t(generator());
  }
  const auto bytesOf = [](std::vector<uint32_t> &v) {
    return reinterpret_cast<std::byte *>(v.data());
  };
  const DType types[] = {DType::Int32, DType::UInt32};
  for (const kiln::isa::EnumCase &entry : kiln::isa::aluOpCases())
    for (DType xType : types)
      for (DType yType : types)
        for (DType resultType : types) {
          const auto op = AluOp(entry.value);
          if (kiln::isa::info(op).isBitvec)
            continue;

          aluIntegerRow(op, xType, bytesOf(x), yType, bytesOf(y), resultType, bytesOf(out), n);

          for (size_t i = 0; i < n; ++i)
            ASSERT_EQ(out[i], applyAluInteger(op, xType, x[i], yType, y[i], resultType))
                << entry.name;
        }
}

} // namespace
