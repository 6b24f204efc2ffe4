//===- MatmulTest.cpp - the Tensor Engine's sum: order, special values, shapes, targets -------===//

#include "kilnrt/Numerics/Matmul.h"
#include "ExactFunctions.h"
#include "Targets.h"
#include "kilnrt/Numerics/Convert.h"

#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <random>

using kiln::isa::DType;
using namespace kilnrt;
using namespace kilnrt::test;

namespace {

constexpr uint32_t kSeed = 2718;

/// What the elements are like.
enum class Kind { Normal, Tiny, Special };

/// One operand in strided memory, and as dense floats.
struct Operand {
  DType type;
  size_t rows, columns;
  int64_t rowStride, elementStride;
  std::vector<std::byte> memory;
  std::vector<float> dense;

  OperandRows view() const { return {type, memory.data(), rowStride, elementStride}; }
};

float draw(std::mt19937 &generator, Kind kind) {
  const uint32_t bits = uint32_t(generator());
  const float fraction = float(int32_t(bits)) * 0x1p-31f;
  switch (kind) {
  case Kind::Normal:
    return bits % 11 == 0 ? 0.0f : fraction;
  case Kind::Tiny: // products and sums around and below the smallest normal
    return std::ldexp(fraction, -int(bits % 140));
  case Kind::Special:
    if (bits % 997 == 0)
      return bits & 64 ? HUGE_VALF : -HUGE_VALF;
    if (bits % 1999 == 0)
      return floatOf(0xFFC12345u);
    return bits % 5 == 0 ? -0.0f : std::ldexp(fraction, int(bits % 120) - 20);
  }
  return 0;
}

Operand makeOperand(std::mt19937 &generator, DType type, Kind kind, size_t rows, size_t columns,
                    int64_t spread) {
  const auto bytes = int64_t(kiln::isa::bytesOf(type));
  Operand operand{type, rows, columns, 0, bytes * spread, {}, {}};
  operand.rowStride = int64_t(columns) * operand.elementStride + 64;
  operand.memory.resize(size_t(operand.rowStride) * rows);
  operand.dense.resize(rows * columns);
  for (size_t r = 0; r < rows; ++r)
    for (size_t c = 0; c < columns; ++c) {
      std::byte *at = operand.memory.data() + int64_t(r) * operand.rowStride +
                      int64_t(c) * operand.elementStride;
      storeElement(type, draw(generator, kind), at);
      operand.dense[r * columns + c] = loadElement(type, at);
    }
  return operand;
}

/// Runs the kernel and the definition on the same operands and compares every bit.
void expectEqualBits(const Operand &s, const Operand &v, MatmulWrite write) {
  const size_t k = s.rows, m = s.columns, n = v.columns;
  const SumOrder order = sumOrder(s.type, v.type);
  const int64_t outStride = int64_t(n) * 4 + 64;
  const float before = -0.5f, guard = 123.0f;
  std::vector<float> expected(m * n, before);
  matmulReference(order, k, m, n, s.dense.data(), v.dense.data(), expected.data(), write);
  std::vector<float> out(size_t(outStride) / 4 * m, guard);
  for (size_t r = 0; r < m; ++r)
    std::fill_n(&out[r * size_t(outStride) / 4], n, before);
  StationaryTile stationary;
  stationary.pack(s.view(), k, m);

  matmulTile(order, stationary, v.view(), n, reinterpret_cast<std::byte *>(out.data()), outStride,
             write);

  for (size_t r = 0; r < m; ++r)
    for (size_t c = 0; c < size_t(outStride) / 4; ++c) {
      const float got = out[r * size_t(outStride) / 4 + c];
      const float wanted = c < n ? expected[r * n + c] : guard;
      ASSERT_EQ(bitsOf(got), bitsOf(wanted))
          << "K " << k << ", M " << m << ", N " << n << ", at [" << r << "][" << c
          << "]: " << describe(got) << " instead of " << describe(wanted);
    }
}

struct Types {
  DType stationary, moving;
};

TEST(Matmul, EqualsItsDefinitionOnEveryTarget) {
  SCOPED_TRACE("seed " + std::to_string(kSeed));
  const Types types[] = {
      {DType::BFloat16, DType::BFloat16},   {DType::Float32, DType::Float32},
      {DType::Float16, DType::BFloat16},    {DType::Float8E4M3, DType::Float8E5M2},
      {DType::Float8E5M2, DType::BFloat16}, {DType::Float16, DType::Float8E4M3}};
  const struct {
    size_t k, m, n;
  } shapes[] = {{1, 1, 1},   {2, 3, 33},  {31, 5, 16},   {32, 8, 32},
                {33, 7, 65}, {64, 9, 31}, {128, 12, 40}, {100, 127, 3}};
  for (int64_t target : hostTargets()) {
    const ForcedTarget forced(target);
    SCOPED_TRACE(hwy::TargetName(target));
    std::mt19937 generator(kSeed);
    for (const Types &t : types)
      for (Kind kind : {Kind::Normal, Kind::Tiny, Kind::Special})
        for (const auto &shape : shapes) {
          const Operand s = makeOperand(generator, t.stationary, kind, shape.k, shape.m, 1);
          const Operand v = makeOperand(generator, t.moving, kind, shape.k, shape.n, 1);
          expectEqualBits(s, v, MatmulWrite::Overwrite);
          expectEqualBits(s, v, MatmulWrite::Add);
          if (HasFatalFailure())
            return;
        }
  }
}

TEST(Matmul, EqualsItsDefinitionAtFullSizeAndBeyond) {
  std::mt19937 generator(kSeed + 1);
  const struct {
    size_t k, m, n;
  } shapes[] = {{128, 128, 512}, {127, 127, 511}, {300, 20, 50}};
  for (DType type : {DType::BFloat16, DType::Float32})
    for (const auto &shape : shapes) {
      const Operand s = makeOperand(generator, type, Kind::Tiny, shape.k, shape.m, 1);
      const Operand v = makeOperand(generator, type, Kind::Normal, shape.k, shape.n, 1);
      expectEqualBits(s, v, MatmulWrite::Add);
      if (HasFatalFailure())
        return;
    }
}

TEST(Matmul, TakesStridedElements) {
  std::mt19937 generator(kSeed + 2);
  for (DType type : {DType::BFloat16, DType::Float16, DType::Float32})
    for (int64_t spread : {2, 3}) {
      const Operand s = makeOperand(generator, type, Kind::Normal, 37, 19, spread);
      const Operand v = makeOperand(generator, type, Kind::Normal, 37, 70, spread);
      expectEqualBits(s, v, MatmulWrite::Overwrite);
      if (HasFatalFailure())
        return;
    }
}

TEST(Matmul, RepacksSmallerAndLargerTiles) {
  std::mt19937 generator(kSeed + 3);
  StationaryTile stationary;
  for (size_t m : {20u, 3u, 50u}) {
    const Operand s = makeOperand(generator, DType::Float32, Kind::Normal, 40, m, 1);
    stationary.begin(40, m);
    for (size_t r = 0; r < 40; ++r)
      stationary.setRow(r, &s.dense[r * m]);
    StationaryTile packed;
    packed.pack(s.view(), 40, m);

    const size_t floats = (m + 7) / 8 * 8 * 40;
    EXPECT_EQ(std::memcmp(stationary.panels(), packed.panels(), floats * sizeof(float)), 0);
    EXPECT_EQ(stationary.columns(), m);
    EXPECT_EQ(stationary.contraction(), 40u);
  }
}

TEST(Matmul, OrdersSumsByOperandType) {
  EXPECT_EQ(sumOrder(DType::BFloat16, DType::BFloat16), SumOrder::Blocked);
  EXPECT_EQ(sumOrder(DType::BFloat16, DType::Float16), SumOrder::Sequential);
  EXPECT_EQ(sumOrder(DType::Float16, DType::Float16), SumOrder::Sequential);
  EXPECT_EQ(sumOrder(DType::Float32, DType::Float32), SumOrder::Sequential);
  EXPECT_EQ(sumOrder(DType::Float8E4M3, DType::Float8E5M2), SumOrder::Blocked);
  EXPECT_EQ(sumOrder(DType::BFloat16, DType::Float8E5M2), SumOrder::Blocked);
  EXPECT_EQ(sumOrder(DType::Float8E4M3, DType::Float16), SumOrder::Sequential);
  EXPECT_EQ(sumOrder(DType::TFloat32, DType::TFloat32), SumOrder::Sequential);
  EXPECT_EQ(sumOrder(DType::Float32, DType::TFloat32), SumOrder::Sequential);
}

/// The sum of k products of one row and one column.
float sumOfProducts(SumOrder order, const std::vector<float> &s, const std::vector<float> &v) {
  float out = 0;
  matmulReference(order, s.size(), 1, 1, s.data(), v.data(), &out, MatmulWrite::Overwrite);
  return out;
}

TEST(Matmul, SumsInTheStatedOrder) {
  // Sequential: 1e8 + 1 - 1e8 + 1 = 1. Blocked: even 1e8 - 1e8, odd 1 + 1.
  EXPECT_EQ(sumOfProducts(SumOrder::Sequential, {1e8f, 1, -1e8f, 1}, {1, 1, 1, 1}), 1.0f);
  EXPECT_EQ(sumOfProducts(SumOrder::Blocked, {1e8f, 1, -1e8f, 1}, {1, 1, 1, 1}), 2.0f);
  // A second block meets the finished first one: (1e8) + (1 + 1) = 1e8, then - 1e8.
  std::vector<float> s(96, 0.0f), ones(96, 1.0f);
  s[0] = 1e8f;
  s[32] = s[33] = 1.0f;
  s[64] = -1e8f;
  EXPECT_EQ(sumOfProducts(SumOrder::Blocked, s, ones), 0.0f);
  // Fused: the product 1 + 2^-22 + 2^-46 is not rounded before the addition.
  EXPECT_EQ(
      sumOfProducts(SumOrder::Sequential, {-1.0f, 0x1.000002p0f}, {0x1.000004p0f, 0x1.000002p0f}),
      0x1p-46f);
}

TEST(Matmul, EndsShortChainsWithPositiveZero) {
  // The product is -2^-298, which rounds to -0; the missing rows of a block then add +0.
  EXPECT_EQ(describe(sumOfProducts(SumOrder::Sequential, {-0x1p-149f}, {0x1p-149f})),
            describe(-0.0f));
  EXPECT_EQ(describe(sumOfProducts(SumOrder::Blocked, {-0x1p-149f}, {0x1p-149f})), describe(0.0f));
}

TEST(Matmul, MakesNansCanonical) {
  EXPECT_EQ(bitsOf(sumOfProducts(SumOrder::Sequential, {HUGE_VALF}, {0.0f})), 0x7FC00000u);
  EXPECT_EQ(bitsOf(sumOfProducts(SumOrder::Blocked, {floatOf(0xFFFFFFFFu)}, {1.0f})), 0x7FC00000u);
}

} // namespace
