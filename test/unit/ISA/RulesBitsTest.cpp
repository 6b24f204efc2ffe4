//===- RulesBitsTest.cpp - rules of what moves, selects and counts ----------------------------===//
//
// Records, as a program file or textual IR may hold them. What the kernel language reports itself
// is in the tests of instructions.
//
//===------------------------------------------------------------------------------------------===//

#include "RulesTestSupport.h"

namespace kiln::isa::test {
namespace {

Case dmaTranspose(DType dtype = i16) {
  Case c = Case(Opcode::DmaTranspose)
               .with("dst", "t", sbuf, dtype, {40, 3, 16})
               .with("src", "x", hbm, dtype, {16, 3, 40});
  c.access("src").rank = 2; // the dims of the tensor, rows first
  c.access("src").num = {3, 40};
  c.access("src").step = {40, 1};
  return c;
}

Case shuffle(std::initializer_list<int64_t> words = {}) {
  Case c = Case(Opcode::NcStreamShuffle)
               .with("dst", "o", sbuf, i32, {64, 5})
               .with("src", "x", sbuf, i32, {64, 5});
  unsigned w = 0;
  for (int64_t word : words)
    c.field("shuffle_mask", word, w++);
  return c;
}

//---- facts of the table
//-------------------------------------------------------------------------------===//

TEST(InstDesc, SaysWhatMovesByDmaAndWhatIsKept) {
  for (const InstDesc &desc : instructions()) {
    const bool isDma = desc.mnemonic.starts_with("dma_");
    EXPECT_EQ(desc.isTransfer, isDma) << desc.mnemonic;
    EXPECT_EQ(desc.isObserver, desc.mnemonic == "device_print") << desc.mnemonic;
    EXPECT_EQ(desc.field("ring") != nullptr, isDma) << desc.mnemonic;
    const bool moves = desc.mnemonic == "nc_transpose" || desc.mnemonic == "dma_transpose" ||
                       desc.mnemonic == "nc_stream_shuffle";
    EXPECT_EQ(desc.crossesPartitions, moves) << desc.mnemonic;
    for (const OperandDesc &operand : desc.operands) {
      const bool keeps = operand.name == "dst" && (desc.mnemonic == "nc_stream_shuffle" ||
                                                   desc.mnemonic == "tensor_copy_predicated");
      EXPECT_EQ(operand.keepsOld, keeps) << desc.mnemonic << " " << operand.name;
    }
  }
}

//---- dma_transpose
//------------------------------------------------------------------------------------===//

TEST(RulesBits, DmaTransposeSwapsFirstAndLast) {
  EXPECT_THAT(dmaTranspose().faults(), IsEmpty());
  EXPECT_THAT(
      dmaTranspose().with("dst", "t", sbuf, i16, {40, 47}).faults(),
      ElementsAre("S-10: dst 't' must be the permuted src shape (40, 3, 16), got (40, 47) "
                  "| src 'x' is (16, 3, 40); the last dim becomes the partitions, the first "
                  "the last"));
  // One block: a matrix. Merged dims would make the last one longer.
  Case merged = dmaTranspose();
  merged.access("src").rank = 1;
  merged.access("src").num = {120};
  merged.access("src").step = {1};
  EXPECT_THAT(merged.faults(),
              ElementsAre("S-10: dst 't' must be the permuted src shape (120, 16), got (40, 3, 16) "
                          "| src 'x' is (16, 120); the last dim becomes the partitions, the first "
                          "the last"));
}

TEST(RulesBits, DmaTransposeModes) {
  EXPECT_THAT(dmaTranspose().field("dge_mode", DgeMode::None).faults(), IsEmpty());
  EXPECT_THAT(dmaTranspose().field("dge_mode", DgeMode::Hwdge).faults(), IsEmpty());
  EXPECT_THAT(dmaTranspose(i32).field("dge_mode", DgeMode::Hwdge).faults(),
              ElementsAre("S-10: hardware DGE transposes elements of 2 bytes, src 'x' is int32 "
                          "| leave dge_mode unset, or copy and use nc_transpose"));
  EXPECT_THAT(dmaTranspose().field("dge_mode", DgeMode::Swdge).faults(),
              ElementsAre("B-09: dma_transpose takes dge_mode swdge for run-time indices only "
                          "| leave dge_mode unset, or use dge_mode::hwdge or dge_mode::none"));
  EXPECT_THAT(dmaTranspose().field("ring", 8).faults(),
              ElementsAre("X-06: ring 8 does not exist, the core has 8 (0 to 7) "
                          "| leave the ring to the compiler"));
  EXPECT_THAT(dmaTranspose().on(Engine::Vector).faults(),
              ElementsAre(testing::HasSubstr("dma_transpose")));
}

TEST(RulesBits, DmaTransposeStaysOutOfPsum) {
  EXPECT_THAT(dmaTranspose().with("dst", "t", psum, i16, {40, 3, 16}).faults(),
              ElementsAre("B-04: DMA has no path to PSUM, dst 't' is in PSUM "
                          "| dma_copy to an SBUF tile, then tensor_copy that to PSUM"));
}

//---- nc_stream_shuffle
//--------------------------------------------------------------------------------===//

TEST(RulesBits, ShuffleMaskNamesRowsOfAGroup) {
  EXPECT_THAT(shuffle({0x1F1F1F1F}).faults(), IsEmpty());
  EXPECT_THAT(shuffle({0, 0xFFFFFFFF, 0, 0, 0, 0, 0, 0xFF000000}).faults(), IsEmpty());
  EXPECT_THAT(
      shuffle({0, 0, 0x00200000}).faults(),
      ElementsAre("V-01: shuffle_mask[10] is 32; rows of a group are 0 to 31, and 255 keeps "
                  "the row of dst | use a row of the group"));
  // 33 rows: the second group of dst has row 0 only.
  Case c = shuffle({0x03020101}).rows("dst", 0, 33).rows("src", 0, 33);
  EXPECT_THAT(
      c.faults(),
      ElementsAre("V-01: shuffle_mask[0] is 1, so dst 'o' needs row 33 of src 'x', which has "
                  "33 partitions | name a row below 1, or use 255 to keep the row of dst"));
  EXPECT_THAT(shuffle({0x03020100}).rows("dst", 0, 33).rows("src", 0, 33).faults(), IsEmpty());
}

TEST(RulesBits, ShuffleStartsByTheLargerOperand) {
  auto at = [](uint32_t base, uint32_t rows) {
    return shuffle({0xFFFFFF00, -1u, -1u, -1u, -1u, -1u, -1u, -1u})
        .with("dst", "o", sbuf, i32, {rows, 5})
        .with("src", "x", sbuf, i32, {1, 5}, base)
        .faults();
  };
  EXPECT_THAT(at(96, 32), IsEmpty());
  EXPECT_THAT(at(0, 33), testing::Not(testing::Contains(testing::HasSubstr("P-06"))));
  EXPECT_THAT(
      at(32, 33),
      testing::Contains("P-06: src 'x' starts at partition 32, and the larger operand of "
                        "nc_stream_shuffle has 33 partitions | 33 to 64 partitions must start at 0 "
                        "or 64"));
}

//---- predicates and comparisons
//-----------------------------------------------------------------------===//

TEST(RulesBits, PredicatesAreUnsignedIntegers) {
  auto with = [](DType predicate) {
    return Case(Opcode::TensorCopyPredicated)
        .with("dst", "o", sbuf, bf16, {96, 40})
        .with("src", "x", psum, bf16, {96, 40})
        .with("predicate", "m", sbuf, predicate, {96, 40})
        .faults();
  };
  for (DType dtype : {ui8, ui16, ui32})
    EXPECT_THAT(with(dtype), IsEmpty());
  EXPECT_THAT(with(i8), ElementsAre("D-11: tensor_copy_predicated needs a uint8, uint16 or uint32 "
                                    "predicate, predicate 'm' is int8 "
                                    "| produce it with a comparison into uint8"));
}

} // namespace
} // namespace kiln::isa::test
