//===- InstructionTest.cpp - descriptors, fields and accesses ---------------------------------===//

#include "kiln/ISA/Instruction.h"
#include "kiln/ISA/Args.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

using namespace kiln::isa;

TEST(Instruction, RowsAreSortedAndFound) {
  EXPECT_TRUE(std::ranges::is_sorted(instructions(), {}, &InstDesc::opcode));
  for (const InstDesc &desc : instructions()) {
    EXPECT_EQ(findInstruction(desc.opcode), &desc);
    EXPECT_EQ(findInstruction(desc.mnemonic), &desc);
  }
  EXPECT_EQ(findInstruction(Opcode(1)), nullptr);
  EXPECT_EQ(findInstruction(Opcode(0xFFFF)), nullptr);
  EXPECT_EQ(findInstruction("nc_matmul_mx"), nullptr);
}

// The opcodes of released rows never change.
TEST(Instruction, OpcodesArePinned) {
  const std::pair<std::string_view, unsigned> released[] = {{"nc_matmul", 0x10},
                                                            {"nc_transpose", 0x11},
                                                            {"activation", 0x20},
                                                            {"tensor_copy", 0x30},
                                                            {"memset", 0x31},
                                                            {"tensor_tensor", 0x32},
                                                            {"tensor_scalar", 0x33},
                                                            {"tensor_reduce", 0x34},
                                                            {"reciprocal", 0x35},
                                                            {"activation_reduce", 0x21},
                                                            {"tensor_scalar_reduce", 0x3D},
                                                            {"range_select", 0x3E},
                                                            {"select_reduce", 0x3F},
                                                            {"max8", 0x36},
                                                            {"tensor_copy_predicated", 0x37},
                                                            {"bn_stats", 0x38},
                                                            {"bn_aggr", 0x39},
                                                            {"nc_stream_shuffle", 0x3A},
                                                            {"scalar_tensor_tensor", 0x3B},
                                                            {"tensor_tensor_scan", 0x3C},
                                                            {"iota", 0x40},
                                                            {"affine_select", 0x41},
                                                            {"dma_copy", 0x50},
                                                            {"dma_transpose", 0x51},
                                                            {"semaphore_wait", 0x60}};
  for (auto [mnemonic, opcode] : released)
    EXPECT_EQ(unsigned(findInstruction(mnemonic)->opcode), opcode) << mnemonic;
}

TEST(Instruction, StartsWithTheTablesDefaults) {
  Instruction activation = makeInstruction(Opcode::Activation);
  EXPECT_EQ(activation.real("imm_scale"), 1.0);
  EXPECT_EQ(activation.real("imm_bias"), 0.0);
  EXPECT_EQ(ActivationArgs(activation).immScale, 1.0f);
  EXPECT_EQ(ActivationArgs(activation).reduceCmd, ReduceCmd::Idle);
  for (const Access &access : activation.operands)
    EXPECT_FALSE(access.present());
}

TEST(Instruction, FieldsKeepWhatIsWritten) {
  Instruction iota = makeInstruction(Opcode::Iota);
  iota.setWord("pattern", -7, 2);
  iota.setWord("channel_multiplier", 512);
  EXPECT_EQ(iota.word("pattern", 2), -7);
  EXPECT_EQ(IotaArgs(iota).pattern[2], -7);
  EXPECT_EQ(IotaArgs(iota).channelMultiplier, 512);

  Instruction memset = makeInstruction(Opcode::Memset);
  memset.setReal("value", -0.0);
  EXPECT_TRUE(std::signbit(MemsetArgs(memset).value));
}

TEST(Instruction, ElementRangeFollowsEverySign) {
  Access a;
  a.rank = 2;
  a.offset = 100;
  a.step = {-8, 3};
  a.num = {4, 5};
  EXPECT_EQ(elementRange(a).first, 100 - 8 * 3);
  EXPECT_EQ(elementRange(a).last, 100 + 3 * 4);
  a.partitionCount = 3;
  a.rowStep = 1000;
  EXPECT_EQ(elementRange(a).last, 100 + 3 * 4 + 2 * 1000);
  EXPECT_EQ(a.freeElements(), 20);
  EXPECT_EQ(a.elements(), 60);
}

TEST(Instruction, DtypesAreFoundByBothNames) {
  for (const EnumCase &c : dtypeCases()) {
    DType t = DType(c.value);
    EXPECT_EQ(parseDType(c.name), t);
    EXPECT_EQ(parseDType(info(t).shortName), t);
  }
  EXPECT_EQ(parseDType("float8"), std::nullopt);
  EXPECT_EQ(bytesOf(DType::BFloat16), 2u);
}

TEST(Instruction, EngineFactsAreComplete) {
  std::set<std::string_view> shortNames;
  for (const EnumCase &c : engineCases())
    if (Engine(c.value) != Engine::Unknown) {
      EXPECT_EQ(info(Engine(c.value)).name, c.name);
      EXPECT_GT(info(Engine(c.value)).clockMHz, 0u);
      shortNames.insert(info(Engine(c.value)).shortName);
    }
  EXPECT_EQ(shortNames.size(), engineCases().size() - 1);
}
