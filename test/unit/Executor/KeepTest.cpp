//===- KeepTest.cpp - outputs of which elements stay as they were -----------------------------===//
//
// What tensor_copy_predicated and nc_stream_shuffle leave alone keeps its history: written bytes
// stay written, unwritten ones stay unwritten, sums of matmuls stay sums.
//
//===------------------------------------------------------------------------------------------===//

#include "NumberModel.h"
#include "TileTest.h"

using namespace kilnrt;
using namespace kilnrt::test;

namespace {

class KeepTest : public TileTest {
protected:
  /// dst = 7 where the elements of `predicate` (uint8) are not 0.
  Record &select(isa::Access dst, isa::Access predicate) {
    Record &record =
        b.add(Engine::Vector, Opcode::TensorCopyPredicated, {dst, isa::Access(), predicate});
    record.inst.setReal("imm_src", 7);
    return record;
  }
  /// Row i of dst = row mask[i] of src; 255 where the mask is shorter.
  Record &shuffle(isa::Access dst, isa::Access src, std::vector<uint32_t> mask) {
    mask.resize(32, 255);
    Record &record = b.add(Engine::Vector, Opcode::NcStreamShuffle, {dst, src});
    for (unsigned w = 0; w < 8; ++w)
      record.inst.setWord("shuffle_mask",
                          mask[4 * w] | mask[4 * w + 1] << 8 | mask[4 * w + 2] << 16 |
                              int64_t(mask[4 * w + 3]) << 24,
                          w);
    return record;
  }
};

using KeepFault = KeepTest;

} // namespace

TEST_F(KeepTest, SelectedElementsOfAFreshTileAreWritten) {
  // Elements 1, 2 and 5 of six are selected in each of two rows; only they are read.
  const uint32_t mask = load("m", DType::UInt8, {2, 6}, {0, 1, 1, 0, 0, 1, 0, 1, 1, 0, 0, 1});
  for (Memory memory : {Memory::Sbuf, Memory::Psum}) {
    const uint32_t dst = b.onChip("d", memory, DType::Int32, {2, 6});
    select(b.all(dst), b.all(mask));
    const uint32_t picked = b.sbuf("p", DType::Int32, {2, 3});
    b.copy(b.at(picked, 0, 2, 0, {{1, 2}}), b.at(dst, 0, 2, 1, {{1, 2}}));
    b.copy(b.at(picked, 0, 2, 2, {{1, 1}}), b.at(dst, 0, 2, 5, {{1, 1}}));
    store(picked);
  }

  const auto results = run();

  for (const auto &bits : results)
    EXPECT_EQ(bits, std::vector<uint32_t>(6, 7));
}

TEST_F(KeepFault, ReadOfAnElementThatWasNotSelected) {
  const uint32_t mask = load("m", DType::UInt8, {2, 6}, {1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 1, 1});
  const uint32_t dst = b.line(4).sbuf("d", DType::Int32, {2, 6});
  select(b.all(dst), b.all(mask));
  b.line(9);
  store(dst);

  const Diagnostic fault = faultOf(b, inputs);
  EXPECT_EQ(fault.message,
            "dma_copy reads 'd' where it was not written: element (1, 3), 4 of 48 bytes");
}

TEST_F(KeepFault, NothingSelectedWritesNothing) {
  const uint32_t mask = load("m", DType::UInt8, {2, 2}, {0, 0, 0, 0});
  const uint32_t dst = b.sbuf("d", DType::Int32, {2, 2});
  select(b.all(dst), b.all(mask));
  store(dst);

  EXPECT_EQ(faultOf(b, inputs).message,
            "dma_copy reads 'd', which was never written: elements (0-1, 0-1), all 16 bytes");
}

TEST_F(KeepTest, WhatWasWrittenStaysReadable) {
  const uint32_t mask = load("m", DType::UInt8, {2, 3}, {0, 1, 0, 1, 0, 0});
  const uint32_t dst = load("d", DType::Float16, {2, 3}, {1, 2, 3, 4, 5, 6});
  select(b.all(dst), b.all(mask));
  const uint32_t rows = load("r", DType::Int16, {3, 2}, {1, 2, 3, 4, 5, 6});
  shuffle(b.all(rows), b.all(rows), {2, 255, 0});
  store(dst);
  store(rows);

  const auto results = run();

  EXPECT_EQ(results[0], (std::vector<uint32_t>{1, 0x4700, 3, 0x4700, 5, 6}));
  EXPECT_EQ(results[1], (std::vector<uint32_t>{5, 6, 3, 4, 1, 2}));
}

TEST_F(KeepFault, ReadOfARowAShuffleKept) {
  for (uint32_t kept : {0u, 1u, 2u}) {
    ProgramBuilder fresh;
    b = std::move(fresh);
    inputs.clear();
    const uint32_t src = load("s", DType::Int32, {3, 2}, {1, 2, 3, 4, 5, 6});
    const uint32_t dst = b.sbuf("d", DType::Int32, {3, 2});
    std::vector<uint32_t> mask = {0, 0, 0};
    mask[kept] = 255;
    shuffle(b.all(dst), b.all(src), mask);
    store(dst);

    EXPECT_EQ(faultOf(b, inputs).message,
              "dma_copy reads 'd' where it was not written: elements (" + std::to_string(kept) +
                  ", 0-1), 8 of 24 bytes");
  }
}

TEST_F(KeepTest, KeptCellsOfPsumStillHoldTheirSum) {
  // A 2 x 2 product is 3 everywhere; one cell is replaced, then the others are added to.
  const uint32_t ones = b.sbuf("ones", DType::Float32, {3, 2});
  b.memset(b.all(ones), 1);
  const uint32_t mask = load("m", DType::UInt8, {2, 2}, {0, 1, 0, 0});
  const uint32_t acc = b.psum("acc", DType::Float32, {2, 2});
  b.matmul(b.all(acc), b.all(ones), b.all(ones), isa::Accumulate::Automatic);
  select(b.all(acc), b.all(mask));
  // Automatic: added where a sum stands, written where none does.
  b.matmul(b.all(acc), b.all(ones), b.all(ones), isa::Accumulate::Automatic);
  store(acc);

  const auto results = run();

  const uint32_t three = encode(DType::Float32, 3), six = encode(DType::Float32, 6);
  EXPECT_EQ(results[0], (std::vector<uint32_t>{six, three, six, six}));
}

TEST_F(KeepFault, BytesAnotherTensorTookAreNotKept) {
  ProgramBuilder placed({.placed = true});
  b = std::move(placed);
  const uint32_t mask = load("m", DType::UInt8, {1, 2}, {0, 1});
  const uint32_t first = b.onChip("first", Memory::Sbuf, DType::Int32, {1, 2}, 4096);
  b.memset(b.all(first), 1);
  const uint32_t second = b.onChip("second", Memory::Sbuf, DType::Int32, {1, 2}, 4096);
  select(b.all(second), b.all(mask));
  store(second);

  EXPECT_EQ(faultOf(b, inputs).message,
            "dma_copy reads 'second' where it was not written: element (0, 0), 4 of 8 bytes");
}
