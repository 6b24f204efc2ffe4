//===- RoundTripTest.cpp - every row's legal instances, encoded and printed and read back
//------===//
//
//===------------------------------------------------------------------------------------------===//

#include "RandomInstruction.h"
#include "Samples.h"
#include "TableExamples.h"

#include "kilnrt/Asm.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <set>

using namespace kiln;
using namespace kiln::reference;
using ::testing::HasSubstr;

namespace {

constexpr uint64_t kSeed = 20250117;
constexpr unsigned kInstances = 1000;
/// Rows with operands have far more instances than these; fewer mean that the walk is stuck.
constexpr size_t kDistinct = 500;

std::string textOf(const Instance &instance) {
  std::array<std::string, isa::kMaxOperands> names;
  std::array<kilnrt::OperandText, isa::kMaxOperands> operands;
  for (unsigned i = 0; i < isa::kMaxOperands; ++i) {
    names[i] = "%" + std::to_string(i);
    operands[i] = {names[i], instance.tensors[i].memory, instance.tensors[i].dtype};
  }
  std::string text;
  printInstruction(text, instance.inst, operands);
  return text;
}

kilnrt::Expected<isa::Instruction> read(const Instance &instance, std::string_view text) {
  return kilnrt::parseInstruction(
      text,
      [&](std::string_view spelling, unsigned operand) -> kilnrt::Expected<kilnrt::OperandTensor> {
        EXPECT_EQ(spelling, "%" + std::to_string(operand));
        return kilnrt::OperandTensor{operand, instance.tensors[operand].dtype};
      });
}

class RoundTrip : public ::testing::TestWithParam<const isa::InstDesc *> {
protected:
  const isa::InstDesc &desc = *GetParam();
  InstanceWalk walk{desc, exampleOf(desc), kSeed};

  void SetUp() override {
    ASSERT_TRUE(walk.isStarted())
        << "no legal instance of '" << desc.mnemonic
        << "' was found: its record in dialects/table needs an `example` (" << walk.why() << ")";
  }
};

TEST_P(RoundTrip, AtLeastThreeDrawsInTenAreLegal) {
  std::set<std::string> distinct;
  for (unsigned i = 0; i < kInstances; ++i)
    distinct.insert(textOf(walk.next()));
  EXPECT_GE(walk.legal() * 10, walk.drawn() * 3) << "seed " << kSeed;
  if (!desc.operands.empty()) {
    EXPECT_GE(distinct.size(), kDistinct) << "seed " << kSeed;
  }
}

TEST_P(RoundTrip, RecordsComeBackBitForBit) {
  for (unsigned i = 0; i < kInstances; ++i) {
    const Instance &instance = walk.next();
    kilnrt::Record record;
    record.inst = instance.inst;
    record.order = i;
    ASSERT_TRUE(checkEncodable(record)) << textOf(instance) << ", seed " << kSeed;
    std::vector<std::byte> bytes, again;
    encodeRecord(record, bytes);
    EXPECT_EQ(bytes.size(), kilnrt::recordBytes(record.inst));
    std::span<const std::byte> rest = bytes;
    kilnrt::Expected<kilnrt::Record> decoded = kilnrt::decodeRecord(rest);
    ASSERT_TRUE(decoded) << decoded.error().message << ": " << textOf(instance);
    EXPECT_TRUE(rest.empty());
    ASSERT_EQ(*decoded, record) << textOf(instance) << ", seed " << kSeed;
    encodeRecord(*decoded, again);
    ASSERT_EQ(again, bytes) << textOf(instance);
  }
}

TEST_P(RoundTrip, TextComesBackBitForBit) {
  for (unsigned i = 0; i < kInstances; ++i) {
    const Instance &instance = walk.next();
    std::string text = textOf(instance);
    kilnrt::Expected<isa::Instruction> parsed = read(instance, text);
    ASSERT_TRUE(parsed) << parsed.error().message << ": " << text;
    ASSERT_EQ(*parsed, instance.inst) << text << ", seed " << kSeed;
  }
}

TEST_P(RoundTrip, ProgramsOfManyInstancesComeBackFromAssemblerText) {
  kilnrt::Program program;
  program.kernel = "walk";
  for (unsigned i = 0; i < 100; ++i) {
    const Instance &instance = walk.next();
    kilnrt::Record record;
    record.inst = instance.inst;
    record.order = i;
    for (unsigned operand = 0; operand < desc.operands.size(); ++operand) {
      if (!record.inst.operands[operand].present())
        continue;
      const InstanceTensor &tensor = instance.tensors[operand];
      record.inst.operands[operand].tensor = uint32_t(program.tensors.size());
      kilnrt::TensorInfo info;
      info.name = "t" + std::to_string(program.tensors.size());
      info.memory = tensor.memory;
      info.dtype = tensor.dtype;
      info.shape = tensor.shape;
      program.tensors.push_back(info);
    }
    kilnrt::samples::append(program, record);
  }
  if (desc.field("text")) // texts are numbered, and those an instance names must be there
    program.texts.assign(1, "x");
  std::sort(program.streams.begin(), program.streams.end(),
            [](const auto &a, const auto &b) { return a.engine < b.engine; });
  kilnrt::Expected<std::string> text = disassemble(program);
  ASSERT_TRUE(text) << text.error().message;
  kilnrt::Expected<kilnrt::Program> again = kilnrt::assemble(*text, "walk.s");
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_TRUE(*again == program) << "seed " << kSeed;
}

TEST_P(RoundTrip, MisspeltItemsAreRefusedByName) {
  const Instance &instance = walk.next();
  std::string text = textOf(instance);
  std::vector<std::string> names;
  for (const isa::OperandDesc &operand : desc.operands)
    names.push_back(std::string(operand.name) + "_x=%0[0+1, 0: 1x1]");
  for (const isa::FieldDesc &field : desc.fields)
    names.push_back(std::string(field.name) + "_x=1");
  names.push_back("engine_x=vector");
  for (const std::string &name : names) {
    kilnrt::Expected<isa::Instruction> parsed = read(instance, text + " " + name);
    ASSERT_FALSE(parsed) << text << " " << name;
    EXPECT_THAT(parsed.error().message, HasSubstr("'" + name.substr(0, name.find('=')) + "'"));
  }
}

std::vector<const isa::InstDesc *> rows() {
  std::vector<const isa::InstDesc *> all;
  for (const isa::InstDesc &desc : isa::instructions())
    all.push_back(&desc);
  return all;
}

INSTANTIATE_TEST_SUITE_P(Table, RoundTrip, ::testing::ValuesIn(rows()),
                         [](const auto &info) { return std::string(info.param->mnemonic); });

} // namespace
