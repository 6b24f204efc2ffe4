//===- DmaTest.cpp - transfers of every pair of shapes ----------------------------------------===//
//
// Elements are paired row-major whatever the two patterns are; every transfer
// also runs cut into the shares of its engines.
//
//===------------------------------------------------------------------------------------------===//

#include "TileTest.h"

#include <numeric>

using namespace kilnrt;
using namespace kilnrt::test;

namespace {

class DmaTest : public TileTest {
protected:
  std::vector<uint32_t> numbers(int64_t count) {
    std::vector<uint32_t> bits(static_cast<size_t>(count));
    std::iota(bits.begin(), bits.end(), 1u);
    return bits;
  }
  uint32_t inputOf(std::string name, DType dtype, std::vector<int64_t> shape,
                   const std::vector<uint32_t> &bits) {
    inputs.push_back(fromBits(dtype, shape, bits));
    return b.input(std::move(name), dtype, std::move(shape));
  }
};

} // namespace

TEST_F(DmaTest, RowsOfAnHbmMatrixBecomePartitions) {
  for (int64_t p : {1, 5, 16, 17, 128}) {
    const uint32_t x = inputOf("x", DType::Int32, {p, 9}, numbers(p * 9));
    const uint32_t tile = b.sbuf("t", DType::Int32, {p, 4});
    b.dma(b.all(tile), b.rows(x, 2, uint32_t(p), 9, {{1, 4}}));
    store(tile);
  }

  const auto results = run();

  size_t i = 0;
  for (int64_t p : {1, 5, 16, 17, 128}) {
    for (int64_t r = 0; r < p; ++r)
      for (int64_t c = 0; c < 4; ++c)
        ASSERT_EQ(results[i][size_t(r * 4 + c)], uint32_t(r * 9 + c + 3));
    ++i;
  }
}

TEST_F(DmaTest, AOneDimensionalTensorFillsPartitionsInOrder) {
  // 24 elements cut evenly; 5 x 3 through a pattern no cut expresses.
  const uint32_t x = inputOf("x", DType::Int32, {24}, numbers(24));
  const uint32_t even = b.sbuf("even", DType::Int32, {8, 3});
  b.dma(b.all(even), b.rows(x, 0, 1, 0, {{1, 24}}));
  const uint32_t odd = b.sbuf("odd", DType::Int32, {5, 3});
  b.dma(b.all(odd), b.rows(x, 1, 1, 0, {{7, 3}, {1, 5}}));
  const uint32_t back = b.output("back", DType::Int32, {15});
  b.dma(b.rows(back, 0, 1, 0, {{1, 15}}), b.all(odd));
  store(even);

  const auto results = run();

  EXPECT_EQ(results[1], numbers(24));
  for (size_t e = 0; e < 15; ++e)
    EXPECT_EQ(results[0][e], e / 5 * 7 + e % 5 + 2);
}

TEST_F(DmaTest, WindowsOfDifferentHeightPairElementsRowMajor) {
  const std::vector<uint32_t> bits = samples(DType::BFloat16, 6 * 10, 3);
  const uint32_t x = load("x", DType::BFloat16, {6, 10}, bits);
  const uint32_t y = b.sbuf("y", DType::BFloat16, {4, 15});
  b.dma(b.all(y), b.all(x));
  const uint32_t strided = b.sbuf("z", DType::BFloat16, {20, 3});
  b.dma(b.all(strided), b.at(x, 0, 6, 9, {{-1, 10}}));
  store(y);
  store(strided);

  const auto results = run();

  EXPECT_EQ(results[0], bits);
  for (size_t e = 0; e < 60; ++e)
    EXPECT_EQ(results[1][e], bits[e / 10 * 10 + 9 - e % 10]);
}

TEST_F(DmaTest, HbmToHbmPermutesAndReversesTheLayout) {
  const uint32_t x = inputOf("x", DType::UInt8, {3, 4, 5}, numbers(60));
  const uint32_t y = b.output("y", DType::UInt8, {5, 3, 4});
  b.dma(b.all(y), b.rows(x, 0, 5, 1, {{20, 3}, {5, 4}}));
  const uint32_t z = b.output("z", DType::UInt8, {60});
  b.dma(b.rows(z, 59, 1, 0, {{-1, 60}}), b.all(x));

  const auto results = run();

  for (size_t i = 0; i < 3; ++i)
    for (size_t j = 0; j < 4; ++j)
      for (size_t k = 0; k < 5; ++k) {
        const uint32_t v = uint32_t(i * 20 + j * 5 + k + 1);
        EXPECT_EQ(results[0][k * 12 + i * 4 + j], v);
        EXPECT_EQ(results[1][60 - v], v);
      }
}

TEST_F(DmaTest, CastsGoThroughFp32AndEqualTypesKeepEveryBit) {
  const DType types[] = {DType::Float32, DType::BFloat16, DType::Float16, DType::Int32,
                         DType::UInt8};
  std::vector<std::pair<DType, DType>> pairs;
  for (DType from : types)
    for (DType to : types) {
      const uint32_t x = inputOf("x", from, {20, 3}, samples(from, 60, 2));
      const uint32_t tile = b.sbuf("t", to, {20, 3});
      b.dma(b.all(tile), b.all(x));
      store(tile);
      pairs.push_back({from, to});
    }

  const auto results = run();

  for (size_t i = 0; i < pairs.size(); ++i) {
    auto [from, to] = pairs[i];
    const std::vector<uint32_t> bits = samples(from, 60, 2);
    for (size_t e = 0; e < 60; ++e)
      ASSERT_EQ(results[i][e], from == to ? bits[e] : encode(to, f32(decode(from, bits[e]))))
          << isa::name(from) << " to " << isa::name(to);
  }
}

TEST_F(DmaTest, AnAccessMayViewBytesAsAnotherType) {
  const uint32_t x = inputOf("x", DType::Float32, {2, 3}, {0x11223344, 2, 3, 4, 5, 0x55667788});
  const uint32_t tile = b.sbuf("t", DType::UInt8, {2, 12});
  isa::Access bytes = b.rows(x, 0, 2, 12, {{1, 12}});
  bytes.dtype = DType::UInt8;
  b.dma(b.all(tile), bytes);
  store(tile);

  const auto results = run();

  EXPECT_EQ(results[0][0], 0x44u);
  EXPECT_EQ(results[0][3], 0x11u);
  EXPECT_EQ(results[0][23], 0x55u);
}

TEST_F(DmaTest, AShareIntoItsOwnBytesReadsThemFirst) {
  // Two tensors placed over each other, a word apart; one row is one share.
  b.program.flags.placed = true;
  const uint32_t x = b.onChip("x", Memory::Sbuf, DType::Int32, {1, 8}, 0);
  const uint32_t y = b.onChip("y", Memory::Sbuf, DType::Int32, {1, 8}, 4);
  b.dma(b.all(x), b.all(inputOf("i", DType::Int32, {1, 8}, numbers(8))));
  b.dma(b.all(y), b.all(x));
  store(y);

  const auto results = run();

  EXPECT_EQ(results[0], numbers(8));
}

//---- dma_transpose ------------------------------------------------------===//

TEST_F(DmaTest, ATransposeMovesColumnsInShares) {
  struct Case {
    int64_t rows, blocks, columns;
    DType dtype;
    bool fromSbuf;
  };
  const Case cases[] = {{7, 1, 1, DType::Int32, false},    {1, 1, 5, DType::Int32, false},
                        {9, 1, 16, DType::Int16, false},   {20, 1, 17, DType::Int32, true},
                        {3, 4, 33, DType::BFloat16, true}, {5, 6, 128, DType::Int32, false},
                        {128, 1, 128, DType::Int16, true}, {2, 15, 1, DType::Int16, false}};
  for (const Case &c : cases) {
    const int64_t row = c.blocks * c.columns;
    const std::vector<uint32_t> bits = numbers(c.rows * row);
    const isa::Access src =
        c.fromSbuf ? b.at(load("s", c.dtype, {c.rows, row}, bits), 0, uint32_t(c.rows), 0,
                          {{c.columns, c.blocks}, {1, c.columns}})
                   : b.rows(inputOf("x", c.dtype, {c.rows, row}, bits), 0, uint32_t(c.rows), row,
                            {{c.columns, c.blocks}, {1, c.columns}});
    const uint32_t dst = b.sbuf("d", c.dtype, {c.columns, c.blocks * c.rows});
    b.add(Engine::Sync, Opcode::DmaTranspose, {b.all(dst), src});
    store(dst);
  }

  const auto results = run();

  for (size_t i = 0; i < std::size(cases); ++i) {
    const auto [rows, blocks, columns, dtype, fromSbuf] = cases[i];
    size_t at = 0;
    for (int64_t c = 0; c < columns; ++c)
      for (int64_t m = 0; m < blocks; ++m)
        for (int64_t r = 0; r < rows; ++r)
          ASSERT_EQ(results[i][at++], uint32_t((r * blocks + m) * columns + c + 1))
              << "case " << i << ", column " << c;
  }
}

TEST_F(DmaTest, ATransposeReadsStridedBlocksOfBothKinds) {
  // Rows backwards; blocks that overlap no other, with gaps; columns two apart.
  const uint32_t x = inputOf("x", DType::Int32, {4, 60}, numbers(240));
  isa::Access src = b.rows(x, 3 * 60 + 1, 4, -60, {{30, 2}, {10, 3}, {2, 5}});
  const uint32_t dst = b.sbuf("d", DType::Int32, {5, 24});
  b.add(Engine::Sync, Opcode::DmaTranspose, {b.all(dst), src});
  store(dst);

  const auto results = run();

  for (size_t c = 0; c < 5; ++c)
    for (size_t m = 0; m < 6; ++m)
      for (size_t r = 0; r < 4; ++r)
        ASSERT_EQ(results[0][(c * 6 + m) * 4 + r],
                  uint32_t((3 - r) * 60 + 1 + m / 3 * 30 + m % 3 * 10 + 2 * c + 1));
}

TEST_F(DmaTest, ATransposeNeedsEveryByteOfSrc) {
  const uint32_t src = b.sbuf("s", DType::Int32, {3, 40});
  b.memset(b.at(src, 0, 3, 0, {{1, 39}}), 7);
  const uint32_t dst = b.sbuf("d", DType::Int32, {40, 3});
  b.add(Engine::Sync, Opcode::DmaTranspose, {b.all(dst), b.all(src)});
  store(dst);
  b.serialise();

  for (Schedule schedule :
       {Schedule(), Schedule(Schedule::RoundRobin), Schedule(Schedule::Random, 3)})
    EXPECT_EQ(
        faultOf(b, inputs, {.schedule = schedule}).message,
        "dma_transpose reads 's' where it was not written: elements (0-2, 39), 12 of 480 bytes");
}
