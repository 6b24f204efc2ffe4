//===- RulesMatmulTest.cpp - rules of the matmul and of the transposes ------------------------===//

#include "RulesTestSupport.h"

namespace kiln::isa::test {
namespace {

//---- shapes
//---------------------------------------------------------------------------------------===//

TEST(RulesMatmul, AcceptsTheLargestMatmul) {
  EXPECT_THAT(matmul(128, 128, 512).faults(), IsEmpty());
  EXPECT_THAT(matmul(128, 128, 512, f32).faults(), IsEmpty());
  EXPECT_THAT(matmul(1, 1, 1, f16).faults(), IsEmpty());
}

// The contraction runs over at most 128 partitions.
TEST(RulesMatmul, ContractionOf129) {
  EXPECT_THAT(matmul(129, 64, 512).faults(),
              ElementsAre("P-01: stationary 'a' needs 129 partitions, the core has 128 "
                          "| split dim 0 into 2 tiles of at most 128",
                          "P-01: moving 'b' needs 129 partitions, the core has 128 "
                          "| split dim 0 into 2 tiles of at most 128"));
}

TEST(RulesMatmul, ContractionLengthsDiffer) {
  EXPECT_THAT(matmul(96, 64, 200).with("moving", "b", sbuf, bf16, {64, 200}).faults(),
              ElementsAre("P-11: stationary 'a' spans 96 partitions but moving 'b' spans "
                          "64: both must have the contraction dim on partitions "
                          "| pass the operand as [K, M], or transpose it"));
}

// The array holds 128 stationary columns.
TEST(RulesMatmul, StationaryColumns) {
  EXPECT_THAT(matmul(64, 128, 40).faults(), IsEmpty());
  EXPECT_THAT(matmul(64, 128, 40).with("stationary", "a", sbuf, bf16, {64, 129}).faults(),
              ElementsAre("S-01: stationary 'a' has 129 columns, the array holds 128 "
                          "| loop over 2 column blocks: 128 + 1",
                          "P-12: dst 'acc' must be (stationary free, moving free) = (129, 40), "
                          "got (128, 40) | stationary 'a' is (64, 129) and moving 'b' is (64, "
                          "40)"));
}

// One matmul moves 512 columns.
TEST(RulesMatmul, MovingColumns) {
  EXPECT_THAT(matmul(64, 96, 512).faults(), IsEmpty());
  EXPECT_THAT(matmul(64, 96, 513).faults(),
              ElementsAre("S-02: moving 'b' has 513 columns, one matmul on trn2 moves at most "
                          "512 (one PSUM bank of float32) "
                          "| split the moving operand into 512 + 1"));
  EXPECT_THAT(matmul(64, 96, 1300).faults(),
              ElementsAre("S-02: moving 'b' has 1300 columns, one matmul on trn2 moves at most "
                          "512 (one PSUM bank of float32) "
                          "| split the moving operand into 512 + 512 + 276"));
  EXPECT_THAT(matmul(64, 96, 4096).faults(),
              ElementsAre("S-02: moving 'b' has 4096 columns, one matmul on trn2 moves at most "
                          "512 (one PSUM bank of float32) "
                          "| split the moving operand into 8 blocks of at most 512"));
}

TEST(RulesMatmul, ResultIsStationaryFreeByMovingFree) {
  EXPECT_THAT(matmul(32, 64, 96).with("dst", "c", psum, f32, {96, 64}).faults(),
              ElementsAre("P-12: dst 'c' must be (stationary free, moving free) = (64, 96), "
                          "got (96, 64) | stationary 'a' is (32, 64) and moving 'b' is (32, "
                          "96); "
                          "swap the two, or the dims of dst"));
  EXPECT_THAT(matmul(32, 64, 96).with("dst", "c", psum, f32, {64, 95}).faults(),
              ElementsAre("P-12: dst 'c' must be (stationary free, moving free) = (64, 96), "
                          "got (64, 95) | stationary 'a' is (32, 64) and moving 'b' is (32, "
                          "96)"));
}

TEST(RulesMatmul, FreeDimsAreFlattened) {
  EXPECT_THAT(matmul(32, 64, 96)
                  .with("dst", "c", psum, f32, {64, 2, 48})
                  .with("moving", "b", sbuf, bf16, {32, 3, 4, 8})
                  .faults(),
              IsEmpty());
}

//---- bank
//-----------------------------------------------------------------------------------------===//

// dst lies in one 2048-byte bank: 512 float32.
TEST(RulesMatmul, ResultInTheSecondBank) {
  Case c = matmul(32, 64, 512).with("dst", "acc", psum, f32, {64, 1024});
  c.access("dst").num[0] = 512;
  c.access("dst").offset = 512;
  EXPECT_THAT(c.faults(), IsEmpty());
  c.access("dst").offset = 511;
  EXPECT_THAT(c.faults(), ElementsAre("S-03: dst 'acc' covers bytes 2044 to "
                                      "4091 of each partition, which cross the "
                                      "PSUM bank boundary at 2048 | start at a "
                                      "multiple of 512 elements, or split the "
                                      "columns at element 512"));
}

TEST(RulesMatmul, StridedResultSpansTwoBanks) {
  Case c = matmul(32, 64, 256).with("dst", "acc", psum, f32, {64, 1024});
  c.access("dst").num[0] = 256;
  c.access("dst").step[0] = 2;
  EXPECT_THAT(c.faults(), IsEmpty());
  c.access("dst").step[0] = 3;
  EXPECT_THAT(c.faults(),
              ElementsAre("S-03: dst 'acc' spans 3064 bytes per partition, they do not fit one "
                          "2048-byte PSUM bank | write at most 512 float32 per partition in "
                          "one "
                          "matmul"));
}

//---- buffers
//--------------------------------------------------------------------------------------===//

TEST(RulesMatmul, Buffers) {
  EXPECT_THAT(matmul(32, 64, 96).with("dst", "acc", sbuf, f32, {64, 96}).faults(),
              ElementsAre("B-01: the Tensor Engine writes PSUM only, dst 'acc' is in SBUF "
                          "| allocate 'acc' with nl::psum and copy it out afterwards"));
  EXPECT_THAT(matmul(32, 64, 96).with("dst", "", hbm, f32, {64, 96}).faults(),
              ElementsAre("B-01: the Tensor Engine writes PSUM only, dst is in HBM "
                          "| allocate dst with nl::psum and copy it out afterwards"));
  EXPECT_THAT(matmul(32, 64, 96).with("stationary", "lhs", psum, bf16, {32, 64}).faults(),
              ElementsAre("B-02: stationary 'lhs' is in PSUM; nc_matmul reads SBUF "
                          "| insert nisa::tensor_copy to an SBUF tile"));
  EXPECT_THAT(matmul(32, 64, 96).with("moving", "rhs", hbm, bf16, {32, 96}).faults(),
              ElementsAre("B-02: moving 'rhs' is in HBM; nc_matmul reads SBUF "
                          "| dma_copy it to an SBUF tile first"));
}

TEST(RulesMatmul, InputsStartAtOnePartition) {
  Case c = matmul(32, 64, 96)
               .with("stationary", "a", sbuf, bf16, {128, 64})
               .rows("stationary", 64, 32)
               .with("moving", "b", sbuf, bf16, {32, 96}, 64);
  EXPECT_THAT(c.faults(), IsEmpty());
  c.rows("stationary", 32, 32);
  EXPECT_THAT(c.faults(), ElementsAre("P-06: two SBUF inputs must start at the "
                                      "same partition, stationary 'a' "
                                      "starts at 32 and moving 'b' at 64 | "
                                      "copy 'b' to partition 32 first"));
}

//---- dtypes
//---------------------------------------------------------------------------------------===//

TEST(RulesMatmul, MixedDtypes) {
  EXPECT_THAT(matmul(32, 64, 96).with("moving", "b", sbuf, f16, {32, 96}).faults(), IsEmpty());
  EXPECT_THAT(matmul(32, 64, 96).with("stationary", "a", sbuf, f32, {32, 64}).faults(),
              ElementsAre("D-01: matmul cannot mix 32-bit and narrower operands: stationary "
                          "'a' is "
                          "float32, moving 'b' is bfloat16 | cast one while copying to SBUF"));
  EXPECT_THAT(matmul(32, 64, 96).with("moving", "b", sbuf, f32, {32, 96}).faults(),
              ElementsAre("D-01: matmul cannot mix 32-bit and narrower operands: stationary "
                          "'a' is "
                          "bfloat16, moving 'b' is float32 | cast one while copying to SBUF"));
}

TEST(RulesMatmul, ResultDtype) {
  EXPECT_THAT(matmul(32, 64, 96).with("dst", "acc", psum, bf16, {64, 96}).faults(),
              ElementsAre("D-02: PSUM accumulates float32 on trn2, dst 'acc' is bfloat16 "
                          "| allocate it as float32 and narrow in the copy that evacuates "
                          "PSUM"));
  EXPECT_THAT(matmul(32, 64, 96).with("dst", "acc", psum, i32, {64, 96}).faults(),
              ElementsAre("D-02: PSUM accumulates float32 on trn2, dst 'acc' is int32 "
                          "| convert in the copy that evacuates PSUM"));
}

TEST(RulesMatmul, Integers) {
  EXPECT_THAT(matmul(32, 64, 96, i32).faults(),
              ElementsAre("D-06: the Tensor Engine has no integer path, stationary 'a' is "
                          "int32 | convert to "
                          "bfloat16 (whole numbers exact up to 2^8) or float32 (up to 2^24)",
                          "D-06: the Tensor Engine has no integer path, moving 'b' is int32 | "
                          "convert to "
                          "bfloat16 (whole numbers exact up to 2^8) or float32 (up to 2^24)"));
}

//---- transposing matmul
//---------------------------------------------------------------------------===//

TEST(RulesMatmul, TransposingMatmul) {
  for (DType dtype : {f32, bf16, f16})
    EXPECT_THAT(transposingMatmul(96, 40, dtype).faults(), IsEmpty());
  EXPECT_THAT(transposingMatmul(96, 40, bf16).with("dst", "t", psum, f32, {40, 96}).faults(),
              ElementsAre("D-02: a transposing matmul moves bits: dst 't' is "
                          "float32, stationary 'a' is bfloat16 "
                          "| allocate dst as bfloat16 and cast in the copy "
                          "that evacuates PSUM"));
  EXPECT_THAT(transposingMatmul(96, 40, bf16).field("accumulate", Accumulate::Overwrite).faults(),
              IsEmpty());
  EXPECT_THAT(transposingMatmul(96, 40, bf16).field("accumulate", Accumulate::Add).faults(),
              ElementsAre("M-10: a transposing matmul always overwrites, it "
                          "cannot add to dst 't' "
                          "| leave accumulate unset"));
  EXPECT_THAT(transposingMatmul(96, 40, bf16).with("moving", "i", sbuf, bf16, {96, 64}).faults(),
              ElementsAre("P-12: a transposing matmul moves a (96, 96) "
                          "identity, moving 'i' is (96, 64) "
                          "| slice the identity to (96, 96)"));
}

//---- nc_transpose
//---------------------------------------------------------------------------------===//

TEST(RulesTranspose, ChoosesTheEngine) {
  EXPECT_EQ(chooseEngine(transpose(96, 40).view()), Engine::Tensor);
  EXPECT_EQ(chooseEngine(transpose(32, 20, sbuf).view()), Engine::Vector);
  EXPECT_EQ(chooseEngine(transpose(32, 20, psum, i32).view()), Engine::Vector);
  Case fromPsum = transpose(32, 20).with("data", "a", psum, bf16, {32, 20});
  EXPECT_EQ(chooseEngine(fromPsum.view()), Engine::Vector);
  EXPECT_THAT(fromPsum.faults(), IsEmpty());
}

// 128 x 128 on the Tensor Engine.
TEST(RulesTranspose, TensorEngineSize) {
  EXPECT_THAT(transpose(128, 128, psum, f32).faults(), IsEmpty());
  EXPECT_THAT(transpose(96, 129).faults(),
              ElementsAre("P-01: dst 't' needs 129 partitions, the core has "
                          "128 | split dim 0 into 2 tiles of "
                          "at most 128",
                          "S-05: data 'a' is (96, 129), a transpose on the "
                          "Tensor Engine takes at most 128 x 128 "
                          "| loop over 2 blocks"));
}

// 32 x 32 on the Vector Engine.
TEST(RulesTranspose, VectorEngineSize) {
  EXPECT_THAT(transpose(32, 32, sbuf).faults(), IsEmpty());
  EXPECT_THAT(transpose(32, 32, psum).on(Engine::Vector).faults(), IsEmpty());
  EXPECT_THAT(transpose(32, 33, sbuf).faults(),
              ElementsAre("S-05: data 'a' is (32, 33), a transpose on the "
                          "Vector Engine takes at most 32 x 32 "
                          "| loop over 2 blocks, or put data in SBUF and dst "
                          "in PSUM: the Tensor Engine "
                          "transposes up to 128 x 128"));
  EXPECT_THAT(transpose(33, 20, psum).on(Engine::Vector).faults(),
              ElementsAre("S-05: data 'a' is (33, 20), a transpose on the "
                          "Vector Engine takes at most 32 x 32 "
                          "| loop over 2 blocks"));
  EXPECT_THAT(transpose(64, 64, psum, i32).faults(),
              ElementsAre("S-05: data 'a' is (64, 64), a transpose on the "
                          "Vector Engine takes at most 32 x 32 "
                          "| loop over 4 blocks, or view data and dst as float "
                          "tiles of the same width with dst "
                          "in PSUM"));
}

TEST(RulesTranspose, ShapeAndDtype) {
  EXPECT_THAT(transpose(96, 40).with("dst", "t", psum, bf16, {96, 40}).faults(),
              ElementsAre("P-12: dst 't' must be (data free, data partitions) "
                          "= (40, 96), got (96, 40) "
                          "| data 'a' is (96, 40)"));
  EXPECT_THAT(transpose(96, 40).with("dst", "t", psum, f32, {40, 96}).faults(),
              ElementsAre("D-03: a transpose moves bits: dst 't' is float32, "
                          "data 'a' is bfloat16 "
                          "| cast in a separate copy"));
}

TEST(RulesTranspose, TensorEngineBuffersAndIntegers) {
  EXPECT_THAT(transpose(32, 20, sbuf).on(Engine::Tensor).faults(),
              ElementsAre("B-01: the Tensor Engine writes PSUM only, dst 't' is in SBUF "
                          "| allocate 't' with nl::psum and copy it out afterwards"));
  EXPECT_THAT(transpose(32, 20).with("data", "a", psum, bf16, {32, 20}).on(Engine::Tensor).faults(),
              ElementsAre("B-02: data 'a' is in PSUM; the Tensor Engine reads SBUF "
                          "| insert nisa::tensor_copy to an SBUF tile"));
  EXPECT_THAT(transpose(32, 20, psum, i32).on(Engine::Tensor).faults(),
              ElementsAre("D-06: the Tensor Engine has no integer path, data 'a' is int32 "
                          "| use engine::vector, or view the tiles as a float dtype of the "
                          "same width"));
}

} // namespace
} // namespace kiln::isa::test
