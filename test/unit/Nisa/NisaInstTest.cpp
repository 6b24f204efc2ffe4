//===- NisaInstTest.cpp - instruction ops as values, locations as chains ----------------------===//
//
// Driven by the table: a new row is tested without a line here.
//
//===------------------------------------------------------------------------------------------===//

#include "kiln/Dialect/Nisa/IR/NisaInst.h"
#include "kiln/Dialect/Nisa/IR/Locations.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Parser/Parser.h"

#include <gmock/gmock.h>

#include <limits>
#include <random>

using namespace kiln;
using namespace mlir;

namespace {

class NisaInst : public testing::Test {
protected:
  NisaInst() : builder(&context) {
    context.loadDialect<nisa::NisaDialect>();
    module = ModuleOp::create(builder.getUnknownLoc());
    builder.setInsertionPointToEnd(module->getBody());
    auto kernel = nisa::KernelOp::create(builder, builder.getUnknownLoc(), "k");
    builder.setInsertionPointToEnd(&kernel.getBody().front());
    for (unsigned i = 0; i < isa::kMaxOperands; ++i) {
      std::string name = "t" + std::to_string(i);
      auto type = nisa::BufType::get(&context, isa::Memory::Sbuf, {128, 512}, isa::DType::Float32);
      tensors.push_back(nisa::AllocOp::create(builder, builder.getUnknownLoc(), type, name));
    }
  }

  nisa::InstOpInterface build(const isa::Instruction &inst) {
    return cast<nisa::InstOpInterface>(
        nisa::buildInstruction(builder, builder.getUnknownLoc(), inst, tensors));
  }
  uint32_t indexOf(Value buffer) const {
    return uint32_t(llvm::find(tensors, buffer) - tensors.begin());
  }
  isa::Instruction read(nisa::InstOpInterface op) const {
    return nisa::toInstruction(op, [&](Value buffer) { return indexOf(buffer); });
  }

  MLIRContext context{MLIRContext::Threading::DISABLED};
  OpBuilder builder;
  OwningOpRef<ModuleOp> module;
  std::vector<Value> tensors;
};

/// A value of `field` at one of its edges or at random; not always one the rules allow.
int64_t anyWord(const isa::FieldDesc &field, std::mt19937_64 &random) {
  constexpr double kReals[] = {0.0,
                               -0.0,
                               1.0,
                               0.1f,
                               -1.5,
                               std::numeric_limits<float>::denorm_min(),
                               std::numeric_limits<double>::infinity(),
                               std::numeric_limits<double>::quiet_NaN()};
  switch (field.kind) {
  case isa::FieldKind::Bool:
    return random() % 2;
  case isa::FieldKind::Enum:
    return field.cases[random() % field.cases.size()].value;
  case isa::FieldKind::I32:
    return std::array<int64_t, 4>{INT32_MIN, INT32_MAX, -1, int32_t(random())}[random() % 4];
  case isa::FieldKind::U32:
    return std::array<int64_t, 3>{0, UINT32_MAX, uint32_t(random())}[random() % 3];
  case isa::FieldKind::Register:
    return int64_t(random() % isa::kNoRegister);
  case isa::FieldKind::F32:
    return isa::bitsOf(kReals[random() % std::size(kReals)]);
  case isa::FieldKind::F64: // any bits are a value: NaNs keep theirs
    return random() % 2 ? isa::bitsOf(kReals[random() % std::size(kReals)]) : int64_t(random());
  }
  return 0;
}

isa::Access anyAccess(uint32_t tensor, std::mt19937_64 &random) {
  isa::Access access;
  access.tensor = tensor;
  access.dtype = isa::DType(isa::dtypeCases()[random() % isa::dtypeCases().size()].value);
  access.rank = uint8_t(random() % (isa::kMaxFreeDims + 1));
  access.partitionCount = uint32_t(1 + random() % 128);
  if (random() % 2)
    access.partitionStart = uint32_t(random() % 128);
  else
    access.rowStep = int64_t(random());
  access.offset = int64_t(random());
  for (unsigned i = 0; i < access.rank; ++i) {
    access.step[i] = int64_t(random());
    access.num[i] = int64_t(1 + random() % 1000);
  }
  return access;
}

isa::Instruction anyInstruction(const isa::InstDesc &desc, std::mt19937_64 &random) {
  isa::Instruction inst = isa::makeInstruction(desc.opcode);
  for (auto [i, operand] : llvm::enumerate(desc.operands))
    if (!operand.isOptional || random() % 2)
      inst.operands[i] = anyAccess(uint32_t(random() % isa::kMaxOperands), random);
  for (const isa::FieldDesc &field : desc.fields)
    for (unsigned i = 0; i < field.words; ++i)
      inst.fields[field.word + i] = anyWord(field, random);
  inst.engine = isa::Engine(isa::engineCases()[random() % isa::engineCases().size()].value);
  return inst;
}

constexpr uint64_t kSeed = 20240607;

TEST_F(NisaInst, EveryRowReadsBackAsBuilt) {
  std::mt19937_64 random(kSeed);
  for (const isa::InstDesc &desc : isa::instructions()) {
    if (desc.isInternal)
      continue;
    for (unsigned round = 0; round < 200; ++round) {
      isa::Instruction inst = anyInstruction(desc, random);
      nisa::InstOpInterface op = build(inst);

      ASSERT_EQ(read(op), inst) << desc.mnemonic << ", seed " << kSeed << ", round " << round;
      EXPECT_EQ(nisa::engineOf(op), inst.engine);
      EXPECT_EQ(op->getName().getStringRef(), "nisa." + std::string(desc.mnemonic));
      op->erase();
    }
  }
}

TEST_F(NisaInst, TextKeepsEveryBit) {
  std::mt19937_64 random(kSeed);
  std::vector<isa::Instruction> written;
  for (const isa::InstDesc &desc : isa::instructions())
    for (unsigned round = 0; !desc.isInternal && round < 100; ++round) {
      written.push_back(anyInstruction(desc, random));
      build(written.back());
    }
  std::string text;
  llvm::raw_string_ostream(text) << *module;

  // The rules do not allow most of these, so nothing is verified.
  auto parsed =
      parseSourceString<ModuleOp>(text, ParserConfig(&context, /*verifyAfterParse=*/false));

  ASSERT_TRUE(parsed);
  std::vector<Value> buffers;
  parsed->walk([&](nisa::AllocOp op) { buffers.push_back(op); });
  std::vector<isa::Instruction> readBack;
  parsed->walk([&](nisa::InstOpInterface op) {
    readBack.push_back(nisa::toInstruction(
        op, [&](Value buffer) { return uint32_t(llvm::find(buffers, buffer) - buffers.begin()); }));
  });
  ASSERT_EQ(readBack.size(), written.size());
  for (size_t i = 0; i < written.size(); ++i)
    ASSERT_EQ(readBack[i], written[i])
        << written[i].desc().mnemonic << ", seed " << kSeed << ", instruction " << i;
}

TEST_F(NisaInst, DefaultsOfTheOpAreThoseOfTheTable) {
  for (const isa::InstDesc &desc : isa::instructions()) {
    if (desc.isInternal)
      continue;
    isa::Instruction expected = isa::makeInstruction(desc.opcode);
    OperationState state(builder.getUnknownLoc(), ("nisa." + std::string(desc.mnemonic)));
    NamedAttrList required;
    for (auto [i, operand] : llvm::enumerate(desc.operands)) {
      if (operand.isOptional)
        continue;
      expected.operands[i].tensor = uint32_t(i);
      state.addOperands(tensors[i]);
      required.append((std::string(operand.name) + "_access"),
                      nisa::AccessAttr::get(&context, expected.operands[i]));
    }
    state.addAttributes(required);

    auto op = cast<nisa::InstOpInterface>(builder.create(state));

    EXPECT_EQ(read(op), expected) << desc.mnemonic;
    op->erase();
  }
}

TEST_F(NisaInst, SettersChangeOnePartOnly) {
  std::mt19937_64 random(kSeed);
  isa::Instruction inst = anyInstruction(*isa::findInstruction("tensor_scalar"), random);
  inst.operands[2] = anyAccess(1, random);
  inst.operands[3] = {};
  nisa::InstOpInterface op = build(inst);

  isa::Access access = anyAccess(1, random);
  nisa::setAccess(op, 2, nisa::AccessAttr::get(&context, access));
  nisa::setEngine(op, isa::Engine::Vector);

  inst.operands[2] = access;
  inst.engine = isa::Engine::Vector;
  EXPECT_EQ(read(op), inst);
  EXPECT_EQ(nisa::buffersOf(op)[2], tensors[1]);
  EXPECT_FALSE(nisa::buffersOf(op)[3]);
}

TEST_F(NisaInst, TransfersHaveARing) {
  for (isa::Opcode opcode : {isa::Opcode::DmaCopy, isa::Opcode::DmaTranspose}) {
    std::mt19937_64 random(kSeed);
    isa::Instruction inst = anyInstruction(*isa::findInstruction(opcode), random);
    inst.setWord("ring", 0);
    nisa::InstOpInterface op = build(inst);
    EXPECT_EQ(nisa::ringOf(op), 0u);

    nisa::setRing(op, 5);

    inst.setWord("ring", 5);
    EXPECT_EQ(read(op), inst);
    EXPECT_EQ(nisa::ringOf(op), 5u);
  }
}

TEST_F(NisaInst, OutputsThatKeepElementsAreReadToo) {
  std::mt19937_64 random(kSeed);
  for (const isa::InstDesc &desc : isa::instructions()) {
    if (desc.isInternal || desc.opcode == isa::Opcode::NcMatmul) // whose fields decide
      continue;
    isa::Instruction inst = anyInstruction(desc, random);
    for (auto [i, operand] : llvm::enumerate(desc.operands))
      inst.operands[i] = anyAccess(uint32_t(i), random);
    nisa::InstOpInterface op = build(inst);

    SmallVector<MemoryEffects::EffectInstance> effects;
    cast<MemoryEffectOpInterface>(op.getOperation()).getEffects(effects);

    for (auto [i, operand] : llvm::enumerate(desc.operands)) {
      bool reads = false, writes = false;
      for (const MemoryEffects::EffectInstance &effect : effects)
        if (effect.getValue() == tensors[i]) {
          reads |= mlir::isa<MemoryEffects::Read>(effect.getEffect());
          writes |= mlir::isa<MemoryEffects::Write>(effect.getEffect());
        }
      EXPECT_EQ(reads, !operand.isOutput || operand.keepsOld) << desc.mnemonic << operand.name;
      EXPECT_EQ(writes, operand.isOutput) << desc.mnemonic << operand.name;
    }
  }
}

TEST_F(NisaInst, EqualAccessesAreOneAttribute) {
  std::mt19937_64 random(kSeed);
  isa::Access access = anyAccess(0, random), other = access;
  other.tensor = 5; // not part of the attribute
  other.step[access.rank % isa::kMaxFreeDims] =
      access.rank < isa::kMaxFreeDims ? 7 : access.step[0];

  EXPECT_EQ(nisa::AccessAttr::get(&context, access), nisa::AccessAttr::get(&context, other));
  other.offset += 1;
  EXPECT_NE(nisa::AccessAttr::get(&context, access), nisa::AccessAttr::get(&context, other));
}

TEST_F(NisaInst, ConstantsGiveTheirBytesWithSplatsWrittenOut) {
  auto data = [&](const char *text) {
    auto module = parseSourceString<ModuleOp>(text, &context);
    SmallVector<char> bytes;
    module->walk([&](nisa::AllocOp op) { bytes = op.getDataBytes(); });
    return std::vector<char>(bytes.begin(), bytes.end());
  };

  EXPECT_THAT(data("nisa.kernel @k { %c = nisa.alloc \"c\" = dense<[1, 2, 255]> : tensor<3xui8> : "
                   "!nisa.buf<hbm, 3xui8> }"),
              testing::ElementsAre(1, 2, char(255)));
  EXPECT_THAT(data("nisa.kernel @k { %c = nisa.alloc \"c\" = dense<1.0> : tensor<2x1xbf16> : "
                   "!nisa.buf<hbm, 2x1xbf16> }"),
              testing::ElementsAre(char(0x80), 0x3F, char(0x80), 0x3F));
  EXPECT_THAT(data("nisa.kernel @k { %c = nisa.alloc \"c\" : !nisa.buf<hbm, 3xui8> }"),
              testing::IsEmpty());
}

//---- locations
//-----------------------------------------------------------------------------------===//

TEST(NisaLocations, ChainsSurviveTheWayThroughMLIR) {
  MLIRContext context;
  const CallChain chains[] = {
      {}, {{"a.cpp", 1}}, {{"a.cpp", 12}, {"b.h", 3}}, {{"a.cpp", 1}, {"b.h", 2}, {"a.cpp", 3}}};

  for (const CallChain &chain : chains)
    EXPECT_EQ(nisa::chainOf(nisa::toLoc(&context, chain)), chain);
}

TEST(NisaLocations, LooksThroughNamesAndFusedLocations) {
  MLIRContext context;
  Location unknown = UnknownLoc::get(&context);
  Location a = nisa::toLoc(&context, "a.cpp", 7);
  Location named = NameLoc::get(StringAttr::get(&context, "n"), a);

  EXPECT_EQ(nisa::chainOf(named), (CallChain{{"a.cpp", 7}}));
  EXPECT_EQ(nisa::chainOf(FusedLoc::get(&context, {unknown, named})), (CallChain{{"a.cpp", 7}}));
  EXPECT_EQ(nisa::chainOf(CallSiteLoc::get(named, FusedLoc::get(&context, {unknown, a}))),
            (CallChain{{"a.cpp", 7}, {"a.cpp", 7}}));
  EXPECT_EQ(nisa::chainOf(unknown), CallChain{});
}

TEST(NisaLocations, PrintAsCallSites) {
  MLIRContext context;
  std::string text;
  llvm::raw_string_ostream(text) << nisa::toLoc(&context,
                                                {{"a.cpp", 12}, {"b.h", 3}, {"a.cpp", 40}});

  EXPECT_EQ(text, "loc(callsite(\"a.cpp\":12:0 at callsite(\"b.h\":3:0 at \"a.cpp\":40:0)))");
}

} // namespace
