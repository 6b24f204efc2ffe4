//===- FoldTest.cpp - left-to-right folds of rows ---------------------------------------------===//

#include "kilnrt/Numerics/Fold.h"
#include "ExactFunctions.h"
#include "Targets.h"
#include "kilnrt/Numerics/Alu.h"

#include <cmath>
#include <gtest/gtest.h>
#include <random>

using kiln::isa::AluOp;
using namespace kilnrt;
using namespace kilnrt::test;

namespace {

constexpr uint32_t kSeed = 31337;

const AluOp foldOps[] = {AluOp::Add,     AluOp::Subtract,   AluOp::Multiply,  AluOp::Maximum,
                         AluOp::Minimum, AluOp::LogicalAnd, AluOp::LogicalOr, AluOp::LogicalXor};

/// Ordinary values, some zeros of both signs, and a few of everything else.
std::vector<float> values(size_t count) {
  std::mt19937 generator(kSeed);
  const std::vector<float> specials = specialFloats();
  std::vector<float> result(count);
  for (float &x : result) {
    const uint32_t draw = uint32_t(generator());
    x = float(int32_t(draw)) * 0x1p-30f;
    if (draw % 7 == 0)
      x = draw & 8 ? 0.0f : -0.0f;
    if (draw % 301 == 0)
      x = specials[(draw >> 10) % specials.size()];
  }
  return result;
}

float scalarFold(AluOp op, float acc, const float *row, size_t n) {
  for (size_t i = 0; i < n; ++i)
    acc = applyAlu(op, acc, row[i]);
  return acc;
}

TEST(Fold, EqualsTheScalarChainOnEveryTarget) {
  SCOPED_TRACE("seed " + std::to_string(kSeed));
  const ptrdiff_t stride = 131;
  const std::vector<float> data = values(size_t(stride) * 128);
  for (int64_t target : hostTargets()) {
    const ForcedTarget forced(target);
    for (AluOp op : foldOps)
      for (size_t rows : {1u, 2u, 15u, 16u, 17u, 33u, 128u})
        for (size_t n : {0u, 1u, 2u, 3u, 4u, 5u, 63u, 131u}) {
          std::vector<float> acc(rows + 1, 0.75f);

          foldRows(op, data.data(), stride, rows, n, acc.data());

          for (size_t r = 0; r < rows; ++r)
            ASSERT_EQ(describe(acc[r]),
                      describe(scalarFold(op, 0.75f, &data[r * size_t(stride)], n)))
                << hwy::TargetName(target) << ", " << kiln::isa::name(op) << ", row " << r << " of "
                << rows << ", length " << n;
          ASSERT_EQ(acc[rows], 0.75f);
        }
  }
}

TEST(Fold, KeepsTheOrder) {
  // Only left to right loses the one.
  const float row[3] = {1e8f, 1.0f, -1e8f};
  float acc = 0.0f;

  foldRows(AluOp::Add, row, 3, 1, 3, &acc);

  EXPECT_EQ(acc, 0.0f);
}

TEST(Fold, SubtractsFromTheFirstElement) {
  const float rows[2][3] = {{10, 3, 2}, {1, 1, 1}};
  float acc[2] = {rows[0][0], rows[1][0]};

  foldRows(AluOp::Subtract, rows[0] + 1, 3, 2, 2, acc);

  EXPECT_EQ(acc[0], 5.0f);
  EXPECT_EQ(acc[1], -1.0f);
}

TEST(Fold, IdentitiesLeaveAValueAlone) {
  for (AluOp op : {AluOp::Add, AluOp::Multiply, AluOp::Maximum, AluOp::Minimum})
    for (float x : {2.5f, -2.5f, HUGE_VALF, -HUGE_VALF, 0x1p-149f})
      EXPECT_EQ(applyAlu(op, foldIdentity(op), x), x) << kiln::isa::name(op);
  for (AluOp op : {AluOp::LogicalAnd, AluOp::LogicalOr, AluOp::LogicalXor})
    for (float x : {0.0f, 1.0f})
      EXPECT_EQ(applyAlu(op, foldIdentity(op), x), x) << kiln::isa::name(op);
}

} // namespace
