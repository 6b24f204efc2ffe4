//===- LimitsTest.cpp - every numeric limit of an operand, at it and one past it --------------===//
//
// The limits are read from the table, so a new one is tested as soon as it is written there. At the
// limit an instance must be legal; one past it, the rule of that limit must refuse that operand.
//
//===------------------------------------------------------------------------------------------===//

#include "RandomInstruction.h"
#include "TableExamples.h"

#include "gtest/gtest.h"

using namespace kiln;
using namespace kiln::reference;

namespace {

constexpr uint64_t kSeed = 20250118;
/// Legal instances of which one must stay legal with the operand at its limit.
constexpr unsigned kInstances = 300;

/// Gives `operand`, and what has as many elements and no limit of its own, `count` elements in one
/// dim.
void setElements(Instance &instance, unsigned operand, int64_t count) {
  const isa::InstDesc &desc = instance.inst.desc();
  int64_t old = instance.inst.operands[operand].freeElements();
  for (unsigned i = 0; i < desc.operands.size(); ++i) {
    isa::Access &access = instance.inst.operands[i];
    if (!access.present() || desc.operands[i].isColumn || access.freeElements() != old ||
        (i != operand && desc.operands[i].maxElements > 0))
      continue;
    access.rank = 1;
    access.step = {1};
    access.num = {count};
    access.offset = 0;
    fitTensor(instance, i);
  }
}

/// Gives `operand` `rank` dims of its elements, all but the innermost of extent 1.
void setRank(Instance &instance, unsigned operand, unsigned rank) {
  isa::Access &access = instance.inst.operands[operand];
  int64_t count = access.freeElements();
  access.rank = uint8_t(rank);
  access.step = {};
  access.num = {};
  for (unsigned dim = 0; dim < rank; ++dim) {
    access.num[dim] = dim + 1 == rank ? count : 1;
    access.step[dim] = dim + 1 == rank ? 1 : count;
  }
  access.offset = 0;
  fitTensor(instance, operand);
}

bool isRefused(const Instance &instance, std::string_view rule, unsigned operand) {
  for (const Breach &breach : brokenRules(instance))
    if (breach.rule == rule && breach.operand == int(operand))
      return true;
  return false;
}

class Limits : public ::testing::TestWithParam<const isa::InstDesc *> {
protected:
  const isa::InstDesc &desc = *GetParam();
  InstanceWalk walk{desc, exampleOf(desc), kSeed};

  void SetUp() override { ASSERT_TRUE(walk.isStarted()) << walk.why(); }

  /// Every instance that `past` changes is refused, and one that `at` changes is legal.
  template <typename At, typename Past>
  void expectPair(std::string_view rule, unsigned operand, At at, Past past) {
    bool isReached = false;
    for (unsigned i = 0; i < kInstances; ++i) {
      Instance legal = walk.next();
      if (!legal.inst.operands[operand].present())
        continue;
      Instance beyond = legal;
      at(legal);
      past(beyond);
      EXPECT_FALSE(isRefused(legal, rule, operand));
      isReached |= brokenRules(legal).empty();
      ASSERT_TRUE(isRefused(beyond, rule, operand))
          << rule << " lets " << desc.mnemonic << " take operand '" << desc.operands[operand].name
          << "' past its limit, seed " << kSeed;
    }
    EXPECT_TRUE(isReached) << desc.mnemonic << " never takes operand '"
                           << desc.operands[operand].name << "' at its limit of " << rule;
  }
};

TEST_P(Limits, ElementsOfAnOperand) {
  for (unsigned i = 0; i < desc.operands.size(); ++i) {
    const isa::OperandDesc &operand = desc.operands[i];
    if (operand.maxElements == 0)
      continue;
    auto set = [i](int64_t count) { return [=](Instance &x) { setElements(x, i, count); }; };
    expectPair("S-08", i, set(operand.maxElements), set(int64_t(operand.maxElements) + 1));
    if (operand.minElements > 1)
      expectPair("S-08", i, set(operand.minElements), set(int64_t(operand.minElements) - 1));
  }
}

TEST_P(Limits, DimsOfAnOperand) {
  for (unsigned i = 0; i < desc.operands.size(); ++i) {
    unsigned most = desc.operands[i].maxDims;
    if (most == 0 || most >= isa::kMaxFreeDims)
      continue;
    auto set = [i](unsigned rank) { return [=](Instance &x) { setRank(x, i, rank); }; };
    expectPair("S-06", i, set(most), set(most + 1));
  }
}

std::vector<const isa::InstDesc *> limitedRows() {
  std::vector<const isa::InstDesc *> rows;
  for (const isa::InstDesc &desc : isa::instructions())
    for (const isa::OperandDesc &operand : desc.operands)
      if (operand.maxElements > 0 || operand.maxDims > 0) {
        rows.push_back(&desc);
        break;
      }
  return rows;
}

INSTANTIATE_TEST_SUITE_P(Table, Limits, ::testing::ValuesIn(limitedRows()),
                         [](const auto &info) { return std::string(info.param->mnemonic); });

} // namespace
