//===- RulesMatmulModesTest.cpp - rules of 8-bit matmuls, double rows and tiles of the array --===//

#include "RulesTestSupport.h"

namespace kiln::isa::test {
namespace {

constexpr auto e4m3 = DType::Float8E4M3, e5m2 = DType::Float8E5M2, e4m3fn = DType::Float8E4M3FN;
constexpr auto tf32 = DType::TFloat32;

/// (k, 2, m) and (k, 2, n): a contraction of 2 k.
Case doubleRow(int64_t k, int64_t m, int64_t n, DType stationary = e4m3, DType moving = e4m3) {
  return matmul(k, m, n)
      .with("stationary", "a", sbuf, stationary, {k, 2, m})
      .with("moving", "b", sbuf, moving, {k, 2, n})
      .field("perf_mode", MatmulPerfMode::DoubleRow);
}

/// A matmul in the tile of the array at (row, column) of rows x columns.
Case tiled(int64_t k, int64_t m, uint32_t row, uint32_t column, uint32_t rows, uint32_t columns) {
  return Case(Opcode::NcMatmul)
      .with("dst", "acc", psum, f32, {128, 40})
      .rows("dst", column, uint32_t(m))
      .with("stationary", "a", sbuf, bf16, {128, m})
      .rows("stationary", row, uint32_t(k))
      .with("moving", "b", sbuf, bf16, {128, 40})
      .rows("moving", row, uint32_t(k))
      .field("tile_position", row, 0)
      .field("tile_position", column, 1)
      .field("tile_size", rows, 0)
      .field("tile_size", columns, 1);
}

//---- dtypes
//---------------------------------------------------------------------------------------===//

TEST(RulesMatmulModes, EightBitFloatsMixWithNarrowOnes) {
  for (DType stationary : {e4m3, e5m2, bf16, f16})
    for (DType moving : {e4m3, e5m2, bf16, f16})
      EXPECT_THAT(
          matmul(96, 64, 200, stationary).with("moving", "b", sbuf, moving, {96, 200}).faults(),
          IsEmpty());
}

TEST(RulesMatmulModes, Tfloat32MeetsFloat32Only) {
  EXPECT_THAT(matmul(96, 64, 200, tf32).faults(), IsEmpty());
  EXPECT_THAT(matmul(96, 64, 200, tf32).with("moving", "b", sbuf, f32, {96, 200}).faults(),
              IsEmpty());
  EXPECT_THAT(matmul(96, 64, 200, f32).with("moving", "b", sbuf, tf32, {96, 200}).faults(),
              IsEmpty());
  EXPECT_THAT(matmul(96, 64, 200, tf32).with("moving", "b", sbuf, e4m3, {96, 200}).faults(),
              ElementsAre("D-01: matmul cannot mix 32-bit and narrower operands: stationary 'a' is "
                          "tfloat32, moving 'b' is float8_e4m3 | cast one while copying to SBUF"));
}

TEST(RulesMatmulModes, E4m3fnIsForStorage) {
  const std::string help = " is float8_e4m3fn, which no engine of trn2 computes with "
                           "| convert the data to float8_e4m3 on the host, or view the bits as it "
                           "(magnitudes from 256 on become infinities and NaNs)";
  EXPECT_THAT(matmul(96, 64, 200, e4m3fn).faults(),
              ElementsAre("D-05: stationary 'a'" + help, "D-05: moving 'b'" + help));
  EXPECT_THAT(copy(e4m3fn, f32).faults(), ElementsAre("D-05: src 'x'" + help));
  EXPECT_THAT(copy(f32, e4m3fn).faults(), ElementsAre("D-05: dst 'y'" + help));
  EXPECT_THAT(dma()
                  .with("dst", "t", sbuf, e4m3fn, {96, 40})
                  .with("src", "x", hbm, e4m3fn, {96, 40})
                  .faults(),
              IsEmpty());
}

//---- double_row
//---------------------------------------------------------------------------------------===//

TEST(RulesMatmulModes, DoubleRowAtItsLimits) {
  EXPECT_THAT(doubleRow(128, 128, 512).faults(), IsEmpty());
  EXPECT_THAT(doubleRow(1, 1, 1, e5m2, e4m3).faults(), IsEmpty());
  EXPECT_THAT(doubleRow(96, 64, 513, e4m3, e5m2).faults(),
              ElementsAre("S-02: moving 'b' has 513 columns, one matmul on trn2 moves at most "
                          "512 (one PSUM bank of float32) "
                          "| split the moving operand into 512 + 1"));
  EXPECT_THAT(
      doubleRow(96, 128, 200).with("stationary", "a", sbuf, e4m3, {96, 2, 129}).faults(),
      ElementsAre(
          "S-01: stationary 'a' has 129 columns, the array holds 128 "
          "| loop over 2 column blocks: 128 + 1",
          "P-12: dst 'acc' must be (stationary free, moving free) = (129, 200), "
          "got (128, 200) | stationary 'a' is (96, 2, 129) and moving 'b' is (96, 2, 200)"));
}

TEST(RulesMatmulModes, DoubleRowTakesEightBitFloats) {
  EXPECT_THAT(doubleRow(96, 64, 200, e4m3, bf16).faults(),
              ElementsAre("S-11: perf_mode double_row takes 8-bit floats, moving 'b' is bfloat16 "
                          "| cast it to float8_e4m3 or float8_e5m2, or leave perf_mode out"));
  EXPECT_THAT(doubleRow(96, 64, 200, f16, e5m2).faults(),
              ElementsAre("S-11: perf_mode double_row takes 8-bit floats, stationary 'a' is "
                          "float16 "
                          "| cast it to float8_e4m3 or float8_e5m2, or leave perf_mode out"));
}

TEST(RulesMatmulModes, DoubleRowTakesPairsOfRows) {
  EXPECT_THAT(
      doubleRow(96, 64, 100).with("moving", "b", sbuf, e4m3, {96, 201}).faults(),
      ElementsAre("S-11: perf_mode double_row takes two rows a partition, moving 'b' has 201 "
                  "elements in each "
                  "| shape it (K, 2, columns); pad an odd contraction with zeros"));
}

TEST(RulesMatmulModes, DoubleRowExcludesTransposesAndColumnTiles) {
  EXPECT_THAT(doubleRow(96, 64, 200).field("is_transpose", true).faults(),
              ::testing::Contains("S-11: perf_mode double_row does not transpose "
                                  "| leave perf_mode or is_transpose out"));
  EXPECT_THAT(doubleRow(32, 64, 200).field("tile_size", 32, 0).field("tile_size", 64, 1).faults(),
              ElementsAre("S-11: perf_mode double_row uses all 128 columns of the array, tile_size "
                          "has 64 | leave column tiling or perf_mode out"));
  EXPECT_THAT(doubleRow(32, 64, 200).field("tile_size", 32, 0).field("tile_size", 128, 1).faults(),
              IsEmpty());
}

//---- tiles of the array
//---------------------------------------------------------------------------------------===//

TEST(RulesMatmulModes, TilesOfEverySize) {
  for (uint32_t rows : {32, 64, 128})
    for (uint32_t columns : {32, 64, 128})
      for (uint32_t row = 0; row < 128; row += rows)
        for (uint32_t column = 0; column < 128; column += columns) {
          EXPECT_THAT(tiled(rows, columns, row, column, rows, columns).faults(), IsEmpty());
          EXPECT_THAT(tiled(1, 1, row, column, rows, columns).faults(), IsEmpty());
        }
}

TEST(RulesMatmulModes, TileSidesArePowersOfTwo) {
  EXPECT_THAT(tiled(32, 32, 0, 0, 48, 32).faults(),
              ElementsAre("S-12: the row side of tile_size is 48, the array is cut into 32, 64 or "
                          "128 | choose one of them"));
  EXPECT_THAT(tiled(32, 32, 0, 0, 32, 0).faults(),
              ElementsAre("S-12: the column side of tile_size is 0, the array is cut into 32, 64 "
                          "or 128 | choose one of them"));
  EXPECT_THAT(matmul(32, 32, 40).field("tile_position", 32, 1).faults(),
              ElementsAre("S-12: nc_matmul has a tile_position but no tile_size "
                          "| give both, or neither"));
}

TEST(RulesMatmulModes, TilesLieOnTheirGrid) {
  EXPECT_THAT(tiled(32, 32, 32, 0, 64, 32).faults(),
              ElementsAre("S-12: the row of tile_position is 32, a tile of 64 starts at a multiple "
                          "of it, up to 64 | move the tile"));
  EXPECT_THAT(tiled(32, 32, 0, 64, 32, 128).faults(),
              ElementsAre("S-12: the column of tile_position is 64, a tile of 128 starts at a "
                          "multiple of it, up to 0 | move the tile"));
}

TEST(RulesMatmulModes, OperandsFitTheirTile) {
  EXPECT_THAT(tiled(33, 32, 64, 0, 32, 32).faults(),
              ElementsAre("S-12: stationary 'a' has 33 contraction rows, the tile of the array 32 "
                          "| use a larger tile, or fewer of them"));
  EXPECT_THAT(tiled(32, 65, 64, 0, 32, 64).faults(),
              ElementsAre("S-12: stationary 'a' has 65 stationary columns, the tile of the array "
                          "64 | use a larger tile, or fewer of them"));
}

TEST(RulesMatmulModes, OperandsLieAtTheirTile) {
  EXPECT_THAT(tiled(32, 32, 64, 32, 32, 32).rows("dst", 64, 32).faults(),
              ElementsAre("S-12: dst 'acc' starts at partition 64, the tile at column 32 of the "
                          "array | let it start at partition 32"));
  EXPECT_THAT(
      tiled(32, 32, 64, 32, 32, 32).rows("stationary", 32, 32).rows("moving", 32, 32).faults(),
      ElementsAre("S-12: stationary 'a' starts at partition 32, the tile at row 64 of the "
                  "array | let it start at partition 64",
                  "S-12: moving 'b' starts at partition 32, the tile at row 64 of the "
                  "array | let it start at partition 64"));
}

//---- transposes
//---------------------------------------------------------------------------------------===//

TEST(RulesMatmulModes, TransposesOfEightBitsArriveInSixteen) {
  EXPECT_THAT(transposingMatmul(96, 40, e4m3).with("dst", "t", psum, bf16, {40, 96}).faults(),
              IsEmpty());
  EXPECT_THAT(transposingMatmul(96, 40, e5m2).with("dst", "t", psum, f32, {40, 96}).faults(),
              ElementsAre("D-02: the array transposes 8-bit data into 16-bit elements: dst 't' is "
                          "float32, stationary 'a' is float8_e5m2 "
                          "| allocate dst as bfloat16 and view its bytes"));
  EXPECT_THAT(transpose(32, 20, psum, e4m3).on(Engine::Tensor).faults(),
              ElementsAre("D-06: the Tensor Engine transposes elements of 2 and 4 bytes, data 'a' "
                          "is float8_e4m3 "
                          "| use engine::vector, or cast to bfloat16, which holds every value of "
                          "it"));
  EXPECT_THAT(transpose(32, 20, sbuf, e4m3).on(Engine::Vector).faults(), IsEmpty());
}

} // namespace
} // namespace kiln::isa::test
