//===- RulesTensorTest.cpp - rules of tensor declarations and addresses -----------------------===//

#include "RulesTestSupport.h"

namespace kiln::isa::test {
namespace {

Faults faultsOf(std::string_view name, Memory memory, DType dtype, const Shape &shape,
                std::optional<TensorAddress> address = {}) {
  Faults out;
  bool clean = checkTensor({name, memory, dtype, shape, 0}, address,
                           [&out](Violation v) { out.push_back(spelled(v)); });
  EXPECT_EQ(clean, out.empty());
  return out;
}

TEST(RulesTensor, Partitions) {
  EXPECT_THAT(faultsOf("x", sbuf, f32, {128, 512}), IsEmpty());
  EXPECT_THAT(faultsOf("x", sbuf, f32, {129, 512}),
              ElementsAre("P-01: tile 'x' needs 129 partitions, the core has 128 "
                          "| split dim 0 into 2 tiles of at most 128"));
  EXPECT_THAT(faultsOf("x", sbuf, f32, {256, 512}),
              ElementsAre("P-01: tile 'x' needs 256 partitions, the core has "
                          "128 | split dim 0 into 2 tiles of at "
                          "most 128 or move 2 into a free dim: (128, 2, 512)"));
  EXPECT_THAT(faultsOf("", psum, f32, {300, 4}),
              ElementsAre("P-01: this tile needs 300 partitions, the core has 128 "
                          "| split dim 0 into 3 tiles of at most 128"));
  // HBM is exempt.
  EXPECT_THAT(faultsOf("x", hbm, f32, {100000, 512}), IsEmpty());
}

TEST(RulesTensor, Rank) {
  EXPECT_THAT(faultsOf("x", sbuf, f32, {128}),
              ElementsAre("P-02: tile 'x' has shape (128,), on-chip tensors have a partition "
                          "dim and at least one "
                          "free dim | write (128, 1) for a column or (1, 128) for a row"));
  EXPECT_THAT(faultsOf("x", psum, f32, {}),
              ElementsAre("P-02: tile 'x' has shape (), on-chip tensors have a "
                          "partition dim and at least one free "
                          "dim | write (1, 1) for one element"));
  EXPECT_THAT(faultsOf("x", hbm, f32, {128}), IsEmpty());
  EXPECT_THAT(faultsOf("x", hbm, f32, {}),
              ElementsAre("V-02: tensor 'x' has no dims, a tensor has at least "
                          "one | give it the shape (1,)"));
  EXPECT_THAT(faultsOf("x", sbuf, f32, {2, 3, 4, 5, 6}), IsEmpty());
  EXPECT_THAT(faultsOf("x", sbuf, f32, {2, 3, 4, 5, 6, 7}),
              ElementsAre("S-06: tile 'x' has rank 6, a tensor has at most 5 "
                          "dims | merge two dims"));
}

TEST(RulesTensor, Extents) {
  EXPECT_THAT(faultsOf("x", sbuf, f32, {2, 0, 4}),
              ElementsAre("V-02: tile 'x' is empty: dim 1 has extent 0 | every "
                          "extent is at least 1"));
  EXPECT_THAT(faultsOf("x", hbm, f32, {-3}),
              ElementsAre("V-02: tensor 'x' is empty: dim 0 has extent -3 | "
                          "every extent is at least 1"));
}

// 212984 bytes of a partition of SBUF are usable: 53246 float32.
TEST(RulesTensor, BytesOfAPartition) {
  EXPECT_THAT(faultsOf("x", sbuf, f32, {128, 53246}), IsEmpty());
  EXPECT_THAT(faultsOf("x", sbuf, f32, {128, 53247}),
              ElementsAre("M-02: tile 'x' (128, 53247) float32 needs 212988 "
                          "bytes per partition, 212984 are usable "
                          "| split the free dims into 2 tiles or more"));
  EXPECT_THAT(faultsOf("x", psum, f32, {96, 8, 512}), IsEmpty());
  EXPECT_THAT(faultsOf("x", psum, bf16, {96, 8193}),
              ElementsAre("M-02: tile 'x' (96, 8193) bfloat16 needs 16386 "
                          "bytes per partition, 16384 are in PSUM "
                          "| split the free dims into 2 tiles or more"));
  EXPECT_THAT(faultsOf("x", hbm, f32, {INT64_MAX, INT64_MAX}),
              ElementsAre("M-02: (9223372036854775807, 9223372036854775807) "
                          "float32 needs more than 2^63 bytes"));
}

TEST(RulesTensor, StartPartition) {
  auto at = [](int64_t partitions, uint32_t start) {
    return faultsOf("x", sbuf, f32, {partitions, 4}, TensorAddress{start, 0});
  };
  EXPECT_THAT(at(64, 64), IsEmpty());
  EXPECT_THAT(at(32, 96), IsEmpty());
  EXPECT_THAT(at(96, 32), ElementsAre("M-07: 65 to 128 partitions must start at 0, tile "
                                      "'x' of 96 partitions starts at "
                                      "32 | place it at partition 0"));
  EXPECT_THAT(at(48, 32), ElementsAre("M-07: 33 to 64 partitions must start at 0 or 64, "
                                      "tile 'x' of 48 partitions "
                                      "starts at 32 | place it at partition 0"));
  EXPECT_THAT(at(1, 1), ElementsAre("M-07: 1 to 32 partitions must start at 0, "
                                    "32, 64 or 96, tile 'x' of 1 partition "
                                    "starts at 1 | place it at partition 0"));
  EXPECT_THAT(at(33, 96), ElementsAre("M-07: tile 'x' covers partitions 96 to "
                                      "128, the core has 128 (0 to 127) "
                                      "| place it at partition 0"));
}

TEST(RulesTensor, SbufAddress) {
  auto at = [](uint64_t byte, DType dtype = f32) {
    return faultsOf("x", sbuf, dtype, {96, 10}, TensorAddress{0, byte});
  };
  EXPECT_THAT(at(212984 - 40), IsEmpty());
  EXPECT_THAT(at(212984 - 36),
              ElementsAre("M-03: [212948, 212988) of tile 'x' exceeds the 212984 usable bytes "
                          "| place it at 212944 or lower"));
  EXPECT_THAT(at(1002, bf16), ElementsAre("M-03: byte 1002 of tile 'x' is not a multiple of 4 "
                                          "| place it at 1000"));
  EXPECT_THAT(at(UINT64_MAX - 3), ElementsAre("M-03: [18446744073709551612, 9223372036854775807) "
                                              "of tile 'x' exceeds the 212984 usable "
                                              "bytes | place it at 212944 or lower"));
}

TEST(RulesTensor, PsumAddress) {
  auto at = [](uint64_t byte, int64_t columns = 512) {
    return faultsOf("acc", psum, f32, {96, columns}, TensorAddress{0, byte});
  };
  EXPECT_THAT(at(7 * 2048), IsEmpty());
  EXPECT_THAT(at(1000), ElementsAre("M-06: free offset 1000 of tile 'acc' is "
                                    "inside bank 0, banks start at multiples "
                                    "of 2048 | place it at 0"));
  EXPECT_THAT(at(8 * 2048), ElementsAre("M-03: [16384, 18432) of tile 'acc' exceeds the "
                                        "16384 bytes of a PSUM "
                                        "partition | place it at 14336 or lower"));
  EXPECT_THAT(at(7 * 2048, 513), ElementsAre("M-03: [14336, 16388) of tile 'acc' exceeds the "
                                             "16384 bytes of a PSUM "
                                             "partition | place it at 12288 or lower"));
}

TEST(RulesTensor, HbmHasNoAddress) {
  EXPECT_THAT(faultsOf("x", hbm, f32, {96, 10}, TensorAddress{0, 0}),
              ElementsAre("M-03: tensor 'x' is in HBM, only on-chip tiles take "
                          "an address | leave the address out"));
}

} // namespace
} // namespace kiln::isa::test
