//===- RulesTest.cpp - what descriptors state, and the rules as a whole -----------------------===//

#include "RulesTestSupport.h"

#include <cstdlib>
#include <new>
#include <random>
#include <set>

//---- allocations of this program, counted
//---------------------------------------------------------===//

namespace {
size_t allocations = 0;
}

// Out of line, or the compiler pairs an inlined free with a new it did not see.
[[gnu::noinline]] void *operator new(size_t size) {
  ++allocations;
  if (void *p = std::malloc(size ? size : 1))
    return p;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void *p) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void *p, size_t) noexcept { std::free(p); }

namespace kiln::isa::test {
namespace {

std::vector<Case> legalCases() {
  return {matmul(96, 64, 200),
          transposingMatmul(96, 40, f32),
          transpose(96, 40),
          transpose(32, 20, sbuf, i32),
          activation().with("bias", "b", sbuf, f32, {96, 1}),
          copy(),
          memset(i32, 7),
          tensorTensor(),
          tensorTensor(AluOp::Power),
          tensorScalar(AluOp::Multiply, AluOp::Add),
          tensorReduce(AluOp::Add, 1, {96, 4, 5}, {96, 4}),
          reciprocal(),
          iota(),
          dma(),
          Case(Opcode::SemaphoreWait)};
}

//---- start partitions
//-----------------------------------------------------------------------------===//

// 65 to 128 partitions start at 0; 33 to 64 at 0 or 64; 1 to 32 at 0, 32, 64
// or 96.
TEST(RulesStart, EveryStartAndCount) {
  for (uint32_t count = 0; count <= 130; ++count)
    for (uint32_t start = 0; start <= 130; ++start) {
      std::set<uint32_t> legal;
      if (count >= 1 && count <= 32)
        legal = {0, 32, 64, 96};
      else if (count > 32 && count <= 64)
        legal = {0, 64};
      else if (count > 64 && count <= 128)
        legal = {0};
      EXPECT_EQ(isLegalStartPartition(start, count), legal.contains(start))
          << count << " partitions from " << start;
    }
  EXPECT_FALSE(isLegalStartPartition(UINT32_MAX, UINT32_MAX));
}

/// A copy of `count` partitions from partition `start` of a full tile.
Case copyRows(uint32_t start, uint32_t count) {
  return copy()
      .with("dst", "y", psum, bf16, {128, 40})
      .with("src", "mask", sbuf, f32, {128, 40})
      .rows("src", start, count)
      .rows("dst", 0, count);
}

TEST(RulesStart, IllegalStart) {
  EXPECT_THAT(copyRows(64, 36).faults(), IsEmpty());
  EXPECT_THAT(copyRows(48, 36).faults(),
              ElementsAre("P-06: src 'mask' covers partitions 48 to 83; 33 to "
                          "64 partitions must start at 0 or 64 "
                          "| take partitions 64 to 99, or dma_copy the rows to "
                          "a legal start first"));
  EXPECT_THAT(copyRows(1, 2).faults(),
              ElementsAre("P-06: src 'mask' covers partitions 1 to 2; 1 to 32 "
                          "partitions must start at 0, 32, 64 or "
                          "96 | take partitions 0 to 1, or dma_copy the rows "
                          "to a legal start first"));
  EXPECT_THAT(copyRows(127, 1).faults(),
              ElementsAre("P-06: src 'mask' covers partition 127; 1 to 32 partitions must "
                          "start at 0, 32, 64 or 96 "
                          "| take partition 96, or dma_copy the rows to a legal start first"));
  EXPECT_THAT(copyRows(32, 96).faults(),
              ElementsAre("P-06: src 'mask' covers partitions 32 to 127; 65 to "
                          "128 partitions must start at 0 "
                          "| take partitions 0 to 95, or dma_copy the rows to "
                          "a legal start first"));
}

TEST(RulesStart, CrossingTheHalf) {
  EXPECT_THAT(copyRows(32, 32).faults(), IsEmpty());
  EXPECT_THAT(copyRows(32, 33).faults(),
              ElementsAre("P-07: src 'mask' covers partitions 32 to 64, which "
                          "cross the half boundary at 64; 33 to 64 "
                          "partitions must start at 0 or 64 | start at 0 or "
                          "64, or split into 32 + 1"));
  EXPECT_THAT(copyRows(32, 48).faults(),
              ElementsAre("P-07: src 'mask' covers partitions 32 to 79, which "
                          "cross the half boundary at 64; 33 to 64 "
                          "partitions must start at 0 or 64 | start at 0 or "
                          "64, or split into 32 + 16"));
}

// What counts is the physical partition: the tile's first one plus the view's.
TEST(RulesStart, PhysicalStart) {
  Case c = copy().with("dst", "y", psum, bf16, {16, 40}).with("src", "x", sbuf, f32, {64, 40}, 64);
  c.rows("src", 32, 16);
  EXPECT_THAT(c.faults(), IsEmpty());
  c.rows("src", 16, 16);
  EXPECT_THAT(c.faults(), ElementsAre("P-06: src 'x' covers physical partitions 80 to 95; "
                                      "1 to 32 partitions must "
                                      "start at 0, 32, 64 or 96 | take partitions 96 to "
                                      "111, or dma_copy the rows to "
                                      "a legal start first"));
  c.with("src", "x", sbuf, f32, {64, 40}, 96).rows("src", 32, 16);
  EXPECT_THAT(c.faults(), ElementsAre("P-01: src 'x' covers physical "
                                      "partitions 128 to 143, the core has 128 "
                                      "| place the tile at a lower partition"));
}

//---- presence and memories
//------------------------------------------------------------------------===//

TEST(RulesOperands, MissingAndSurplusOperands) {
  Case c = matmul(96, 64, 200);
  c.access("moving").tensor = kNoTensor;
  EXPECT_THAT(c.faults(),
              ElementsAre("X-06: nc_matmul has no 'moving' operand | pass a tensor as moving"));

  Case d = copy();
  d.inst.operands[3] = d.inst.operands[0];
  EXPECT_THAT(d.faults(), ElementsAre("X-06: tensor_copy takes 2 operands, operand 3 is given"));
}

TEST(RulesOperands, HbmInAnInstructionThatComputes) {
  EXPECT_THAT(activation().with("data", "x", hbm, f32, {96, 40}).faults(),
              ElementsAre("B-06: activation needs an on-chip tile, data 'x' is an HBM tensor "
                          "| load it first: dma_copy it to an SBUF tile"));
  EXPECT_THAT(copy().with("dst", "out", hbm, bf16, {96, 40}).faults(),
              ElementsAre("B-06: tensor_copy writes on-chip tiles, dst 'out' is an HBM tensor "
                          "| write to an SBUF tile, then dma_copy that to HBM"));
}

TEST(RulesOperands, UnnamedTensorsGoByTheirRole) {
  EXPECT_THAT(activation().with("data", "", hbm, f32, {96, 40}).faults(),
              ElementsAre("B-06: activation needs an on-chip tile, data is an HBM tensor "
                          "| load it first: dma_copy it to an SBUF tile"));
  EXPECT_EQ(matmul(96, 64, 200).view().describe(2), "moving 'b'");
}

TEST(RulesOperands, EnginesOfAnInstruction) {
  EXPECT_THAT(copy().on(Engine::Scalar).faults(), IsEmpty());
  EXPECT_THAT(copy().on(Engine::Tensor).faults(),
              ElementsAre("B-07: tensor_copy runs on vector, scalar or gpsimd, not on tensor "
                          "| leave the engine unset, or name one that has the instruction"));
  EXPECT_THAT(reciprocal().on(Engine::Gpsimd).faults(),
              ElementsAre("B-07: reciprocal runs on vector, not on gpsimd "
                          "| leave the engine unset, or name one that has the instruction"));
}

//---- access patterns
//------------------------------------------------------------------------------===//

TEST(RulesOperands, Rank) {
  Case c = copy().with("src", "x", sbuf, f32, {96, 5, 2, 2, 2});
  EXPECT_THAT(c.faults(), IsEmpty());
  c.access("src").rank = 5;
  EXPECT_THAT(c.faults(), ElementsAre("S-06: src 'x' needs 5 free strides, an instruction holds 4 "
                                      "| make two dims contiguous, or copy the view once"));
  c.access("src").rank = 0;
  EXPECT_THAT(c.faults(), ElementsAre("P-02: src 'x' has no free dim, an on-chip access has a "
                                      "partition dim and at "
                                      "least one free dim | give it one free dim of extent 1"));
}

TEST(RulesOperands, EmptyAccesses) {
  Case c = copy();
  c.access("src").num[0] = 0;
  EXPECT_THAT(c.faults(), ElementsAre("V-02: src 'x' is empty: dim 1 has extent 0 "
                                      "| skip the instruction when nothing is left"));
  EXPECT_THAT(copy().rows("src", 0, 0).faults(),
              ElementsAre("V-02: src 'x' is empty: dim 0 has extent 0 "
                          "| skip the instruction when nothing is left"));
}

// A stride is 16 bits signed.
TEST(RulesOperands, Strides) {
  Case c =
      copy(ui8, ui8).with("src", "x", sbuf, ui8, {96, 200000}).with("dst", "y", sbuf, ui8, {96, 3});
  c.access("src").num[0] = 3;
  c.access("src").step[0] = 32767;
  EXPECT_THAT(c.faults(), IsEmpty());
  c.access("src").step[0] = 32768;
  EXPECT_THAT(c.faults(), ElementsAre("S-07: src 'x' has stride 32768 in dim 1, an access "
                                      "pattern holds strides up to "
                                      "32767 (signed 16 bit) | copy one slice at a time"));
  c.access("src").step[0] = -32767;
  c.access("src").offset = 2 * 32767;
  EXPECT_THAT(c.faults(), IsEmpty());
  c.access("src").step[0] = -32768;
  c.access("src").offset = 2 * 32768;
  EXPECT_THAT(c.faults(), ElementsAre("S-07: src 'x' has stride -32768 in dim 1, an access pattern "
                                      "holds strides up "
                                      "to 32767 (signed 16 bit) | copy one slice at a time"));
  // The step of one element is never taken.
  c.with("dst", "y", sbuf, ui8, {96, 1}).access("src").num[0] = 1;
  EXPECT_THAT(c.faults(), IsEmpty());
}

// An extent is 16 bits unsigned; an instruction takes 65536 elements of a
// partition of SBUF, 4096 of PSUM.
TEST(RulesOperands, ElementsOfOneInstruction) {
  EXPECT_THAT(memset(ui8, 0).with("dst", "z", sbuf, ui8, {96, 65535}).faults(), IsEmpty());
  EXPECT_THAT(memset(ui8, 0).with("dst", "z", sbuf, ui8, {96, 65536}).faults(),
              ElementsAre("S-07: dst 'z' has extent 65536 in dim 1, an access "
                          "pattern counts to 65535 "
                          "| split the dim"));
  EXPECT_THAT(memset(ui8, 0).with("dst", "z", sbuf, ui8, {96, 4, 16384}).faults(), IsEmpty());
  EXPECT_THAT(memset(ui8, 0).with("dst", "z", sbuf, ui8, {96, 3, 21846}).faults(),
              ElementsAre("S-07: dst 'z' has 65538 elements per partition, one "
                          "instruction takes at most 65536 in "
                          "SBUF | split it into 2 instructions"));
  EXPECT_THAT(memset(bf16, 0).with("dst", "z", psum, bf16, {96, 4096}).faults(), IsEmpty());
  EXPECT_THAT(memset(bf16, 0).with("dst", "z", psum, bf16, {96, 4097}).faults(),
              ElementsAre("S-07: dst 'z' has 4097 elements per partition, one "
                          "instruction takes at most 4096 in PSUM "
                          "| split it into 2 instructions"));
}

TEST(RulesOperands, PartitionsAreNotStrided) {
  Case c = copy();
  c.access("src").rowStep = 80;
  EXPECT_THAT(c.faults(),
              testing::Contains("P-08: partitions cannot be strided, src 'x' has row step 80 "
                                "| use dma_copy, or a matmul with a selection matrix"));
}

TEST(RulesOperands, WritingThroughABroadcast) {
  Case c = copy();
  c.access("src").step[0] = 0;
  EXPECT_THAT(c.faults(), IsEmpty());
  c.access("dst").step[0] = 0;
  EXPECT_THAT(c.faults(),
              ElementsAre("V-08: dst 'y' repeats storage (stride 0 in dim 1): several values "
                          "would land in one place "
                          "| write to a tile of its own, and broadcast where it is read"));

  Case d = dma().with("dst", "y", hbm, f32, {96, 40});
  d.access("src").rowStep = 0;
  EXPECT_THAT(d.faults(), IsEmpty());
  d.access("dst").rowStep = 0;
  EXPECT_THAT(d.faults(),
              ElementsAre("V-08: dst 'y' repeats storage (stride 0 in dim 0): several values "
                          "would land in one place "
                          "| write to a tile of its own, and broadcast where it is read"));
}

//---- bounds
//---------------------------------------------------------------------------------------===//

TEST(RulesOperands, Partitions) {
  EXPECT_THAT(
      copy().with("src", "x", sbuf, f32, {64, 40}).rows("src", 32, 32).rows("dst", 0, 32).faults(),
      IsEmpty());
  EXPECT_THAT(
      copy().with("src", "x", sbuf, f32, {63, 40}).rows("src", 32, 32).rows("dst", 0, 32).faults(),
      ElementsAre("V-01: src 'x' reaches partition 63, the tile has 63 (0 to 62) "
                  "| clip the slice to the extent of dim 0"));
}

TEST(RulesOperands, ElementsOfAPartition) {
  Case c = copy();
  c.access("src").num[0] = c.access("dst").num[0] = 20;
  c.access("src").offset = 20;
  EXPECT_THAT(c.faults(), IsEmpty());
  c.access("src").offset = 21;
  EXPECT_THAT(c.faults(), ElementsAre("V-11: src 'x' reaches element 40, a partition of the tile "
                                      "holds 40 float32 (0 "
                                      "to 39) | clip the access to the extent of the tensor"));
  c.access("src").step[0] = -1;
  c.access("src").offset = 19;
  EXPECT_THAT(c.faults(), IsEmpty());
  c.access("src").offset = 18;
  EXPECT_THAT(c.faults(), ElementsAre("V-11: src 'x' reaches element -1, a partition of "
                                      "the tile starts at element 0 "
                                      "| clip the access to the extent of the tensor"));
}

// Elements count in the dtype of the access, the tensor's bytes in its own.
TEST(RulesOperands, ReinterpretedTensor) {
  Case c =
      copy(bf16, bf16).with("dst", "y", sbuf, bf16, {96, 80}).with("src", "x", sbuf, f32, {96, 40});
  c.access("src").dtype = bf16;
  c.access("src").num[0] = 80;
  EXPECT_THAT(c.faults(), IsEmpty());
  c.access("src").offset = 1;
  EXPECT_THAT(c.faults(), ElementsAre("V-11: src 'x' reaches element 80, a partition of the tile "
                                      "holds 80 bfloat16 (0 "
                                      "to 79) | clip the access to the extent of the tensor"));

  // 7 bytes hold one float32 and a rest.
  Case d = copy(f32, f32).with("dst", "y", sbuf, f32, {96, 1}).with("src", "x", sbuf, ui8, {96, 7});
  d.access("src").dtype = f32;
  d.access("src").num[0] = 1;
  EXPECT_THAT(d.faults(), IsEmpty());
  d.access("src").offset = 1;
  EXPECT_THAT(d.faults(), ElementsAre("V-11: src 'x' reaches element 1, a partition of the "
                                      "tile holds 1 float32 (0 to "
                                      "0) | clip the access to the extent of the tensor"));
}

TEST(RulesOperands, ElementsOfAnHbmTensor) {
  Case c = dma().with("src", "x", hbm, f32, {100, 50});
  c.access("src").num[0] = 40;
  c.rows("src", 0, 96).access("src").offset = 4 * 50 + 10;
  EXPECT_THAT(c.faults(), IsEmpty());
  c.access("src").offset += 1;
  EXPECT_THAT(c.faults(), ElementsAre("V-11: src 'x' reaches element 5000, the tensor "
                                      "holds 5000 float32 (0 to 4999) "
                                      "| clip the access to the extent of the tensor"));
  // Rows of HBM are free: backwards, and any number of them.
  c.access("src").rowStep = -50;
  c.access("src").offset = 99 * 50;
  EXPECT_THAT(c.faults(), IsEmpty());
  c.access("src").partitionStart = 1;
  EXPECT_THAT(c.faults(), ElementsAre("X-06: src 'x' is in HBM and has start partition 1"));
}

TEST(RulesOperands, IndependentFaultsAreAllReported) {
  Case c = copy().with("src", "x", sbuf, f32, {128, 40}).rows("src", 48, 36);
  c.access("src").offset = 1;
  c.access("dst").step[0] = 0;
  EXPECT_THAT(c.faults(),
              ElementsAre("V-08: dst 'y' repeats storage (stride 0 in dim 1): several values "
                          "would land in one place "
                          "| write to a tile of its own, and broadcast where it is read",
                          "V-11: src 'x' reaches element 40, a partition of the tile holds 40 "
                          "float32 (0 to 39) "
                          "| clip the access to the extent of the tensor",
                          "P-06: src 'x' covers partitions 48 to 83; 33 to 64 partitions must "
                          "start at 0 or 64 "
                          "| take partitions 64 to 99, or dma_copy the rows to a legal start "
                          "first",
                          "P-04: src 'x' uses 36 partitions and dst 'y' uses 96; hardware "
                          "never broadcasts across "
                          "partitions | slice both to 36 partitions"));
}

//---- fields
//---------------------------------------------------------------------------------------===//

TEST(RulesFields, ValuesOfEachKind) {
  EXPECT_THAT(matmul(96, 64, 200).field("is_transpose", 2).faults(),
              ElementsAre("X-06: field 'is_transpose' of nc_matmul is 2, it takes 0 or 1"));
  EXPECT_THAT(tensorTensor().field("op", 99).faults(),
              ElementsAre("X-06: field 'op' of tensor_tensor is 99, it takes "
                          "one of 25 named values"));
  EXPECT_THAT(iota().field("offset", INT64_C(2147483647)).faults(), IsEmpty());
  EXPECT_THAT(iota().field("offset", INT64_C(2147483648)).faults(),
              ElementsAre("X-06: field 'offset' of iota is 2147483648, it "
                          "takes -2147483648 to 2147483647"));
  EXPECT_THAT(dma().field("ring", -1).faults(),
              ElementsAre("X-06: field 'ring' of dma_copy is -1, it takes 0 to 4294967295"));
  EXPECT_THAT(activation().field("imm_scale", 0.1).faults(), IsEmpty());
  EXPECT_THAT(activation().field("imm_scale", 1e39).faults(),
              ElementsAre("X-06: field 'imm_scale' of activation is 1e+39, it "
                          "takes values in the range of float32"));
}

//---- the rules as a whole
//-------------------------------------------------------------------------===//

// Later rows prove themselves by the examples of their records and in
// test/unit/Instructions.
TEST(RulesTable, LegalInstructionsPass) {
  std::set<Opcode> covered;
  for (const Case &c : legalCases()) {
    EXPECT_THAT(c.faults(), IsEmpty()) << c.inst.desc().mnemonic;
    covered.insert(c.inst.opcode);
  }
  EXPECT_EQ(covered.size(), 12u) << "one of the first rows has no legal case";
}

TEST(RulesTable, ChosenEnginesAreLegal) {
  for (const Case &c : legalCases())
    EXPECT_TRUE(c.inst.desc().runsOn(chooseEngine(c.view()))) << c.inst.desc().mnemonic;
}

// Naming the engine that would be chosen changes nothing.
TEST(RulesTable, ChosenEnginesPassWhenNamed) {
  for (Case c : legalCases())
    EXPECT_THAT(c.on(chooseEngine(c.view())).faults(), IsEmpty()) << c.inst.desc().mnemonic;
}

TEST(RulesTable, IdsHaveTheForm) {
  for (const InstDesc &desc : instructions())
    for (const RuleDesc &rule : desc.rules)
      EXPECT_THAT(std::string(rule.id), testing::MatchesRegex("[BDMPSVX]-[0-9][0-9]"))
          << desc.mnemonic;
}

// The builder, the verifier and the stream checker run this for each
// instruction.
TEST(RulesTable, LegalInstructionsAllocateNothing) {
  const RuleSink sink = [](Violation) {};
  for (const Case &c : legalCases()) {
    InstView view = c.view();
    size_t before = allocations;
    bool clean = checkInstruction(view, sink);
    EXPECT_EQ(allocations, before) << c.inst.desc().mnemonic;
    EXPECT_TRUE(clean);
  }
}

/// Replaces one number of the instruction by one that a damaged file may hold.
void damage(Case &c, std::mt19937_64 &random) {
  static constexpr int64_t values[] = {0,          1,
                                       -1,         2,
                                       5,          31,
                                       32,         33,
                                       64,         65,
                                       96,         127,
                                       128,        129,
                                       255,        256,
                                       4096,       65535,
                                       65536,      INT32_MAX,
                                       INT32_MIN,  INT64_MAX,
                                       INT64_MIN,  -4096,
                                       1000000007, INT64_C(1) << 62};
  int64_t value = values[random() % std::size(values)];
  Access &a = c.inst.operands[random() % kMaxOperands];
  switch (random() % 9) {
  case 0:
    a.tensor = random() % 4 == 0 ? kNoTensor : 0;
    break;
  case 1:
    a.dtype = DType(value);
    break;
  case 2:
    a.rank = uint8_t(value);
    break;
  case 3:
    a.partitionStart = uint32_t(value);
    break;
  case 4:
    a.partitionCount = uint32_t(value);
    break;
  case 5:
    a.rowStep = value;
    break;
  case 6:
    a.offset = value;
    break;
  case 7:
    (random() % 2 ? a.step : a.num)[random() % kMaxFreeDims] = value;
    break;
  case 8:
    random() % 8 ? void(c.inst.fields[random() % kMaxFieldWords] = value)
                 : void(c.inst.engine = Engine(value));
    break;
  }
}

TEST(RulesTable, DamagedInstructionsAreJudgedSafely) {
  constexpr uint64_t seed = 20240501;
  SCOPED_TRACE(seed);
  std::mt19937_64 random(seed);
  const std::vector<Case> legal = legalCases();
  size_t caught = 0;
  for (int round = 0; round < 20000; ++round) {
    Case c = legal[random() % legal.size()];
    for (uint64_t n = 1 + random() % 3; n > 0; --n)
      damage(c, random);
    for (const Violation &v : c.violations()) {
      ++caught;
      ASSERT_FALSE(v.rule.empty()) << v.message;
      ASSERT_FALSE(v.message.empty());
      ASSERT_NE(v.message.back(), '.') << v.message;
      ASSERT_LT(v.operand, int(kMaxOperands));
    }
  }
  EXPECT_GT(caught, 10000u);
}

} // namespace
} // namespace kiln::isa::test
