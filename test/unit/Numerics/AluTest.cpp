//===- AluTest.cpp - fp32 operators, scalar and by rows ---------------------------------------===//

#include "kilnrt/Numerics/Alu.h"
#include "ExactFunctions.h"
#include "Targets.h"

#include <cmath>
#include <gtest/gtest.h>
#include <random>

using kiln::isa::AluOp;
using namespace kilnrt;
using namespace kilnrt::test;

namespace {

constexpr uint32_t kSeed = 815;

const float kNan = floatOf(0x7FC00000u);

/// Every arithmetic operator.
std::vector<AluOp> arithmeticOps() {
  std::vector<AluOp> result;
  for (const kiln::isa::EnumCase &entry : kiln::isa::aluOpCases())
    if (!kiln::isa::info(AluOp(entry.value)).isBitvec)
      result.push_back(AluOp(entry.value));
  return result;
}

/// Values each paired with each.
std::vector<float> pairValues() {
  std::vector<float> values = {0.0f,      -0.0f,      1.0f,       -1.0f,    0.5f,  -2.0f,     3.0f,
                               0x1p-149f, 0x1p-126f,  -0x1p-127f, 0x1p127f, 1e30f, -1e-30f,   1e38f,
                               HUGE_VALF, -HUGE_VALF, kNan,       0.75f,    24.0f, 1.0000001f};
  values.push_back(floatOf(0xFF800001u)); // a signalling NaN
  values.push_back(floatOf(0x7F7FFFFFu));
  for (float x : randomFloats(kSeed, 12))
    values.push_back(x);
  return values;
}

/// The operator in double: one rounding of a correctly rounded double is one rounding here.
float oracle(AluOp op, float x, float y) {
  const double a = x, b = y;
  const auto rounded = [](double d) { return std::isnan(d) ? kNan : float(d); };
  const bool anyNan = std::isnan(x) || std::isnan(y);
  switch (op) {
  case AluOp::None:
    return x;
  case AluOp::Add:
    return rounded(a + b);
  case AluOp::Subtract:
    return rounded(a - b);
  case AluOp::Multiply:
    return rounded(a * b);
  case AluOp::Maximum:
    if (a == 0 && b == 0)
      return std::signbit(x) && std::signbit(y) ? -0.0f : 0.0f;
    return anyNan ? kNan : std::fmax(x, y);
  case AluOp::Minimum:
    if (a == 0 && b == 0)
      return std::signbit(x) || std::signbit(y) ? -0.0f : 0.0f;
    return anyNan ? kNan : std::fmin(x, y);
  case AluOp::Equal:
    return a == b;
  case AluOp::NotEqual:
    return !(a == b);
  case AluOp::GreaterEqual:
    return a >= b;
  case AluOp::Greater:
    return a > b;
  case AluOp::LessEqual:
    return a <= b;
  case AluOp::Less:
    return a < b;
  case AluOp::LogicalAnd:
    return a != 0 && b != 0;
  case AluOp::LogicalOr:
    return a != 0 || b != 0;
  case AluOp::LogicalXor:
    return (a != 0) != (b != 0);
  case AluOp::Power:
    return exactPower(x, y);
  case AluOp::Abs:
    return rounded(std::fabs(a));
  case AluOp::Rsqrt:
    return exactActivation(kiln::isa::ActFn::Rsqrt, x);
  case AluOp::Reciprocal:
    return rounded(1 / a);
  default:
    return 0;
  }
}

class AluOperator : public testing::TestWithParam<AluOp> {};

INSTANTIATE_TEST_SUITE_P(All, AluOperator, testing::ValuesIn(arithmeticOps()),
                         [](const auto &info) { return std::string(kiln::isa::name(info.param)); });

TEST_P(AluOperator, RoundsOnceForEveryPair) {
  for (float x : pairValues())
    for (float y : pairValues())
      ASSERT_EQ(describe(applyAlu(GetParam(), x, y)), describe(oracle(GetParam(), x, y)))
          << describe(x) << " and " << describe(y);
}

TEST_P(AluOperator, RowsEqualScalarsOnEveryTarget) {
  const std::vector<float> values = pairValues();
  std::vector<float> x, y;
  for (float a : values)
    for (float b : values) {
      x.push_back(a);
      y.push_back(b);
    }
  x.push_back(2.0f); // an odd length
  y.push_back(-3.0f);

  for (int64_t target : hostTargets()) {
    const ForcedTarget forced(target);
    std::vector<float> out(x.size());
    aluRow(GetParam(), x.data(), y.data(), out.data(), x.size());
    for (size_t i = 0; i < x.size(); ++i)
      ASSERT_EQ(describe(out[i]), describe(applyAlu(GetParam(), x[i], y[i])))
          << hwy::TargetName(target) << ": " << describe(x[i]) << " and " << describe(y[i]);
  }
}

TEST_P(AluOperator, TakesAScalarOnEitherSide) {
  const std::vector<float> values = pairValues();
  for (float scalar : {0.0f, -2.0f, kNan, 0.5f})
    for (bool reverse : {false, true}) {
      std::vector<float> out(values.size());
      aluRowScalar(GetParam(), values.data(), scalar, reverse, out.data(), values.size());
      const bool swap = reverse && !kiln::isa::info(GetParam()).isUnary;
      for (size_t i = 0; i < values.size(); ++i)
        ASSERT_EQ(describe(out[i]), describe(swap ? applyAlu(GetParam(), scalar, values[i])
                                                  : applyAlu(GetParam(), values[i], scalar)))
            << describe(values[i]) << " and " << describe(scalar) << ", reverse " << reverse;
    }
}

TEST_P(AluOperator, WorksInPlaceAndStopsAtTheEnd) {
  const std::vector<float> values = {1,  2,  3,  4,  5,  6,  7,  8,  9,  10,
                                     11, 12, 13, 14, 15, 16, 17, 18, 19, 20};
  for (size_t n = 0; n < values.size(); ++n) {
    std::vector<float> row = values;
    aluRow(GetParam(), row.data(), row.data(), row.data(), n);
    for (size_t i = 0; i < values.size(); ++i)
      ASSERT_EQ(row[i], i < n ? applyAlu(GetParam(), values[i], values[i]) : values[i]);
  }
}

TEST(Alu, DecidesZerosAndNansOfMaximumAndMinimum) {
  EXPECT_EQ(describe(applyAlu(AluOp::Maximum, 0.0f, -0.0f)), describe(0.0f));
  EXPECT_EQ(describe(applyAlu(AluOp::Maximum, -0.0f, 0.0f)), describe(0.0f));
  EXPECT_EQ(describe(applyAlu(AluOp::Minimum, 0.0f, -0.0f)), describe(-0.0f));
  EXPECT_EQ(describe(applyAlu(AluOp::Minimum, -0.0f, 0.0f)), describe(-0.0f));
  EXPECT_EQ(bitsOf(applyAlu(AluOp::Maximum, 1.0f, floatOf(0xFFC00001u))), 0x7FC00000u);
  EXPECT_EQ(bitsOf(applyAlu(AluOp::Minimum, floatOf(0xFFC00001u), 1.0f)), 0x7FC00000u);
  EXPECT_EQ(applyAlu(AluOp::LogicalAnd, kNan, 1.0f), 1.0f);
  EXPECT_EQ(bitsOf(applyAlu(AluOp::Subtract, HUGE_VALF, HUGE_VALF)), 0x7FC00000u);
}

TEST(Alu, ScaleAndBiasAreTwoRoundings) {
  // 1.0000001 squared is 1 + 2^-22 + 2^-46: a fused operation would keep the last term.
  const float x[5] = {0x1.000002p0f, 0x1.000002p0f, HUGE_VALF, kNan, 2.0f};
  float out[5];

  scaleBiasRow(x, 0x1.000002p0f, -0x1.000004p0f, out, 5);

  EXPECT_EQ(out[0], 0.0f);
  EXPECT_EQ(out[1], 0.0f);
  EXPECT_EQ(out[2], HUGE_VALF);
  EXPECT_EQ(bitsOf(out[3]), 0x7FC00000u);
  EXPECT_EQ(out[4], 2.0f * 0x1.000002p0f - 0x1.000004p0f);
}

//---- power
//-------------------------------------------------------------------------------------===//

struct Pairs {
  std::vector<float> x, y;
  void add(float a, float b) {
    x.push_back(a);
    y.push_back(b);
  }
};

/// Powers over the whole range, near one, exact ones, ties, and denormal results.
Pairs powerInputs(uint32_t seed, size_t count) {
  std::mt19937 g(seed);
  const auto below = [&](uint32_t n) { return int(g() % n); };
  const auto unit = [&] { return float(g() >> 9) * 0x1p-23f; };
  const std::vector<float> specials = specialFloats(), randomX = randomFloats(seed + 1, count),
                           randomY = randomFloats(seed + 2, count);
  Pairs pairs;
  for (size_t i = 0; i < count; ++i) {
    pairs.add(specials[size_t(below(uint32_t(specials.size())))],
              specials[size_t(below(uint32_t(specials.size())))]);
    pairs.add(randomX[i], randomY[i]);
    pairs.add(std::ldexp(1 + unit(), below(20) - 10), float(below(65536) - 32768) * 0x1p-11f);
    pairs.add(1 + (unit() - 0.5f) * 0.01f, float(below(65536) - 32768) * 0.5f);
    pairs.add(std::ldexp(1.0f, below(270) - 140), float(below(640) - 320) / 32);
    const float odd = std::ldexp(float(1 + 2 * below(2100)), below(160) - 150);
    const float exponent = float(below(24)) * (below(4) ? 1 : 0.5f);
    pairs.add(below(2) ? odd : -odd, below(8) ? exponent : -exponent);
    pairs.add(odd * odd, exponent);
  }
  return pairs;
}

TEST(Power, IsRoundedOnce) {
  SCOPED_TRACE("seed " + std::to_string(kSeed));
  const Pairs pairs = powerInputs(kSeed, 6000);
  std::vector<float> out(pairs.x.size());

  aluRow(AluOp::Power, pairs.x.data(), pairs.y.data(), out.data(), out.size());

  for (size_t i = 0; i < out.size(); ++i)
    ASSERT_EQ(describe(out[i]), describe(exactPower(pairs.x[i], pairs.y[i])))
        << describe(pairs.x[i]) << " to the " << describe(pairs.y[i]);
}

TEST(Power, HasEqualBitsOnEveryTarget) {
  const Pairs pairs = powerInputs(kSeed + 5, 1000);
  std::vector<float> expected(pairs.x.size());
  aluRow(AluOp::Power, pairs.x.data(), pairs.y.data(), expected.data(), expected.size());

  for (int64_t target : hostTargets()) {
    const ForcedTarget forced(target);
    std::vector<float> out(pairs.x.size());
    aluRow(AluOp::Power, pairs.x.data(), pairs.y.data(), out.data(), out.size());
    for (size_t i = 0; i < out.size(); ++i)
      ASSERT_EQ(bitsOf(out[i]), bitsOf(expected[i])) << hwy::TargetName(target);
  }
}

TEST(Power, SettlesExactTies) {
  // 4097^2 and 4099^2 lie in the middle of two floats; both ways to even.
  EXPECT_EQ(applyPower(4097.0f, 2.0f), 16785408.0f);
  EXPECT_EQ(applyPower(4099.0f, 2.0f), 16801800.0f);
  EXPECT_EQ(applyPower(4097.0f * 4097.0f, 1.0f), 16785408.0f);
  // Middles of denormals.
  EXPECT_EQ(applyPower(2.0f, -150.0f), 0.0f);
  EXPECT_EQ(applyPower(0x1.8p-74f, 2.0f), 0x1p-147f);
  EXPECT_EQ(applyPower(2.0f, -149.0f), 0x1p-149f);
}

} // namespace
