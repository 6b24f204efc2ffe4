//===- ActivationTest.cpp - activation functions against MPFR ---------------------------------===//

#include "kilnrt/Numerics/Activation.h"
#include "ExactFunctions.h"
#include "Targets.h"

#include <cmath>
#include <gtest/gtest.h>
#include <random>

using kiln::isa::ActFn;
using namespace kilnrt;
using namespace kilnrt::test;

namespace {

constexpr uint32_t kSeed = 20261;

/// Floats of ordinary size, both signs: where the functions bend.
std::vector<float> ordinaryFloats(uint32_t seed, size_t count) {
  std::mt19937 generator(seed);
  std::vector<float> result(count);
  for (float &x : result) {
    const uint32_t bits = uint32_t(generator());
    x = std::ldexp(1.0f + float(bits >> 9) * 0x1p-23f, int(bits % 16) - 10);
    if (generator() & 1)
      x = -x;
  }
  return result;
}

/// Arguments whose exact results lie next to ties: small multiples of powers of two.
std::vector<float> nearTies() {
  std::vector<float> result;
  for (int exponent :
       {-149, -148, -147, -140, -130, -128, -126, -30, -26, -25, -24, -23, -22, -21, -20})
    for (int i = -150; i <= 150; ++i)
      result.push_back(std::ldexp(float(i), exponent));
  return result;
}

/// The next floats around a zero of a derivative, where most digits cancel.
void appendNeighbours(float centre, std::vector<float> &to) {
  for (int offset = -200; offset <= 200; ++offset)
    to.push_back(floatOf(bitsOf(centre) + uint32_t(offset)));
}

std::vector<float> allInputs(uint32_t seed, size_t count) {
  std::vector<float> inputs = specialFloats();
  for (const std::vector<float> &more :
       {nearTies(), randomFloats(seed, count), ordinaryFloats(seed + 1, count)})
    inputs.insert(inputs.end(), more.begin(), more.end());
  for (float zero : {-0.7517915f, -1.2784645f, -0.7511543f})
    appendNeighbours(zero, inputs);
  // Inputs at which plain doubles round some function wrongly, found among all floats.
  for (uint32_t bits :
       {0x33206C99u, 0xB2A06C99u, 0xB8D0DF65u, 0xC1A01BBCu, 0x37B0A46Fu, 0xB7B0A46Fu, 0x39EA41D0u,
        0xB3A00000u, 0x34400000u, 0x34E00000u, 0x35980000u})
    inputs.push_back(floatOf(bits));
  return inputs;
}

std::vector<float> rowOf(ActFn fn, const std::vector<float> &inputs) {
  std::vector<float> outputs(inputs.size());
  activationRow(fn, inputs.data(), outputs.data(), inputs.size());
  return outputs;
}

std::string testName(const testing::TestParamInfo<ActFn> &info) {
  return std::string(kiln::isa::name(info.param));
}

class ActivationFunction : public testing::TestWithParam<ActFn> {};

INSTANTIATE_TEST_SUITE_P(All, ActivationFunction, testing::ValuesIn(allActivations()), testName);

TEST_P(ActivationFunction, IsRoundedOnce) {
  SCOPED_TRACE("seed " + std::to_string(kSeed));
  const std::vector<float> inputs = allInputs(kSeed, 6000);

  const std::vector<float> outputs = rowOf(GetParam(), inputs);

  for (size_t i = 0; i < inputs.size(); ++i)
    ASSERT_EQ(describe(outputs[i]), describe(exactActivation(GetParam(), inputs[i])))
        << "at " << describe(inputs[i]);
}

TEST_P(ActivationFunction, HasEqualBitsOnEveryTarget) {
  SCOPED_TRACE("seed " + std::to_string(kSeed));
  const std::vector<float> inputs = allInputs(kSeed + 7, 2000);
  const std::vector<float> expected = rowOf(GetParam(), inputs);

  for (int64_t target : hostTargets()) {
    const ForcedTarget forced(target);
    const std::vector<float> outputs = rowOf(GetParam(), inputs);

    for (size_t i = 0; i < inputs.size(); ++i)
      ASSERT_EQ(bitsOf(outputs[i]), bitsOf(expected[i]))
          << hwy::TargetName(target) << " at " << describe(inputs[i]);
  }
}

TEST_P(ActivationFunction, TreatsEveryElementAloneInRowsOfAnyLength) {
  const std::vector<float> inputs = ordinaryFloats(kSeed, 40);
  for (size_t n = 0; n <= 35; ++n) {
    std::vector<float> row(inputs.begin(), inputs.end());

    activationRow(GetParam(), row.data() + 1, row.data() + 1, n);

    for (size_t i = 0; i < row.size(); ++i) {
      const bool inside = i >= 1 && i < 1 + n;
      const float expected = inside ? applyActivation(GetParam(), inputs[i]) : inputs[i];
      ASSERT_EQ(bitsOf(row[i]), bitsOf(expected)) << "length " << n << ", element " << i;
    }
  }
}

TEST_P(ActivationFunction, DoesNotLookAtTheNeighbours) {
  // Some neighbours send a whole vector down the slow road.
  const float values[] = {floatOf(0x80000000u),
                          0.0f,
                          floatOf(1),
                          floatOf(0x80000001u),
                          HUGE_VALF,
                          -HUGE_VALF,
                          1.0f,
                          -1.0f,
                          -88.0f,
                          88.0f,
                          -20.0f};
  for (const int64_t target : hostTargets()) {
    const ForcedTarget forced(target);
    for (float x : values)
      for (float neighbour : values) {
        std::vector<float> row(17, neighbour), out(row.size());
        row[3] = x;
        activationRow(GetParam(), row.data(), out.data(), row.size());
        ASSERT_EQ(bitsOf(out[3]), bitsOf(applyActivation(GetParam(), x)))
            << x << " beside " << neighbour;
      }
  }
}

TEST_P(ActivationFunction, GivesTheCanonicalNanForEveryNan) {
  for (uint32_t nan : {0x7FC00000u, 0xFFC00000u, 0x7F800001u, 0xFFFFFFFFu, 0x7FC12345u})
    EXPECT_EQ(bitsOf(applyActivation(GetParam(), floatOf(nan))), 0x7FC00000u);
}

TEST(Activation, DecidesTheSpecialValues) {
  const float infinity = HUGE_VALF;
  const struct {
    ActFn fn;
    float input;
    uint32_t result;
  } cases[] = {
      {ActFn::Relu, -0.0f, 0x00000000},
      {ActFn::Sign, -0.0f, 0x00000000},
      {ActFn::Copy, -0.0f, 0x80000000},
      {ActFn::Abs, -0.0f, 0x00000000},
      {ActFn::Gelu, -infinity, 0x80000000},
      {ActFn::Gelu, infinity, 0x7F800000},
      {ActFn::Silu, -infinity, 0x80000000},
      {ActFn::Mish, -infinity, 0x80000000},
      {ActFn::GeluApprxTanh, infinity, 0x7F800000},
      {ActFn::Softplus, infinity, 0x7F800000},
      {ActFn::Softplus, -infinity, 0x00000000},
      {ActFn::Exp, -infinity, 0x00000000},
      {ActFn::Exp, 89.0f, 0x7F800000},
      {ActFn::Exp, -103.97f, 0x00000001},
      {ActFn::Exp, -103.98f, 0x00000000},
      {ActFn::Log, 0.0f, 0xFF800000},
      {ActFn::Log, -0.0f, 0xFF800000},
      {ActFn::Log, -1.0f, 0x7FC00000},
      {ActFn::Log, 1.0f, 0x00000000},
      {ActFn::Sqrt, -1.0f, 0x7FC00000},
      {ActFn::Sqrt, -0.0f, 0x80000000},
      {ActFn::Rsqrt, 0.0f, 0x7F800000},
      {ActFn::Rsqrt, -0.0f, 0xFF800000},
      {ActFn::Rsqrt, -1.0f, 0x7FC00000},
      {ActFn::Reciprocal, -0.0f, 0xFF800000},
      {ActFn::Sin, infinity, 0x7F800000},
      {ActFn::Tanh, -infinity, 0xBF800000},
      {ActFn::Erf, infinity, 0x3F800000},
      {ActFn::SiluDx, -infinity, 0x80000000},
      {ActFn::GeluDx, infinity, 0x3F800000},
  };
  for (const auto &c : cases)
    EXPECT_EQ(describe(applyActivation(c.fn, c.input)), describe(floatOf(c.result)))
        << kiln::isa::name(c.fn) << " of " << describe(c.input);
}

TEST(Activation, ContinuesSineAsACubicBeyondPi) {
  // The NKI reference prints 27.65 for sin(9).
  EXPECT_NEAR(applyActivation(ActFn::Sin, 9.0f), 27.65f, 0.01f);
  EXPECT_FLOAT_EQ(applyActivation(ActFn::Sin, -9.0f), -applyActivation(ActFn::Sin, 9.0f));
  EXPECT_EQ(applyActivation(ActFn::Sin, 0x1.921fb6p+1f), -0x1.777a5cp-24f);
}

} // namespace
