//===- StorageTest.cpp - live tensors, written bytes, matmul cells ----------------------------===//

#include "kilnrt/Machine/Storage.h"
#include "ProgramBuilder.h"

#include <gmock/gmock.h>

#include <cmath>

using namespace kilnrt;
using namespace kilnrt::test;

namespace {

constexpr ProgramFlags kPlaced{.placed = true};

using Rectangles = std::vector<ByteRectangle>;

} // namespace

TEST(Poison, IsNanInEveryFloatTypeAndOddInEveryInteger) {
  std::array<std::byte, 7> bytes;
  PoisonFill({}).fill(bytes.data(), bytes.size());
  float f;
  std::memcpy(&f, bytes.data(), 4);
  uint16_t half;
  std::memcpy(&half, bytes.data() + 4, 2);

  EXPECT_TRUE(std::isnan(f));
  EXPECT_EQ(half, 0x7FDB); // a NaN as bfloat16 (exponent 0xFF) and as float16 (exponent 0x1F)
  EXPECT_EQ(bytes[6], std::byte{0xDB});
}

TEST(Layout, ColumnsOfATileDoNotShareOneCacheSet) {
  ProgramBuilder b(kPlaced);
  b.sbuf("x", DType::Float32, {128, 1024});
  b.psum("y", DType::Float32, {128, 512});

  Layout layout(b.program);

  for (const BlockInfo &block : layout.blocks()) {
    EXPECT_EQ(block.stride / 64 % 2, 1) << "an odd number of cache lines";
    EXPECT_GE(block.stride, block.bytes);
  }
  EXPECT_EQ(layout.blocks()[0].stride, 4096 + 64);
  EXPECT_EQ(layout.blocks()[0].partitions, 128u);
}

TEST(Layout, MergesAdjacentDimsAndKeepsTheirOrder) {
  ProgramBuilder b(kPlaced);
  const uint32_t x = b.sbuf("x", DType::BFloat16, {4, 3, 5, 2});
  Layout layout(b.program);

  Place whole = layout.place(b.all(x));
  Place permuted = layout.place(b.at(x, 0, 4, 0, {{1, 2}, {2, 15}}));
  Place backwards = layout.place(b.at(x, 1, 2, 29, {{-1, 30}}));

  EXPECT_TRUE(whole.whole);
  EXPECT_TRUE(whole.shape().isContiguous());
  EXPECT_EQ(whole.shape().num[0], 30);
  EXPECT_FALSE(permuted.whole) << "the same bytes, but not recognised as a run";
  EXPECT_EQ(permuted.shape().rank, 2);
  EXPECT_EQ(backwards.byte, 58);
  EXPECT_EQ(backwards.firstByte, 0);
  EXPECT_EQ(backwards.endByte, 60);
  EXPECT_TRUE(backwards.injective);
  EXPECT_FALSE(layout.place(b.at(x, 0, 4, 0, {{0, 2}, {1, 3}})).injective);
  EXPECT_FALSE(layout.place(b.at(x, 0, 4, 0, {{2, 4}, {1, 3}})).injective);
}

TEST(Layout, CutsAOneDimensionalTensorIntoRows) {
  ProgramBuilder b(kPlaced);
  const uint32_t x = b.input("x", DType::Float32, {24});
  Layout layout(b.program);
  const Place flat = layout.place(b.rows(x, 0, 1, 0, {{1, 24}}));

  std::optional<Place> rows = layout.reshapeRows(flat, 8);

  ASSERT_TRUE(rows);
  EXPECT_EQ(rows->shape().rows, 8u);
  EXPECT_EQ(rows->shape().rowStep, 12);
  EXPECT_EQ(rows->shape().elements, 3);
  EXPECT_FALSE(layout.reshapeRows(flat, 5));
}

TEST(Storage, AReadNeedsEveryByteOfItsOwnTensor) {
  ProgramBuilder b(kPlaced);
  const uint32_t x = b.sbuf("x", DType::Float32, {100, 6});
  Layout layout(b.program);
  Storage memory(layout, ShadowMode::Tensors);
  const Place whole = layout.place(b.all(x));
  const Place left = layout.place(b.at(x, 0, 100, 0, {{1, 5}}));
  const Place corner = layout.place(b.at(x, 64, 36, 5, {{1, 1}}));

  EXPECT_FALSE(memory.isWritten(left));
  EXPECT_EQ(memory.unwritten(left).kind, UnwrittenBytes::Never);
  memory.noteWrite(left);
  EXPECT_TRUE(memory.isWritten(left));
  EXPECT_FALSE(memory.isWritten(whole));
  memory.noteWrite(corner);

  const UnwrittenBytes why = memory.unwritten(whole);

  EXPECT_EQ(why.kind, UnwrittenBytes::Partly);
  EXPECT_EQ(why.bytes.rectangles(), (Rectangles{{0, 64, 20, 4, 0, 1}}));
  EXPECT_EQ(why.asked, 2400);
  EXPECT_TRUE(memory.isWritten(corner));
  memory.noteWrite(layout.place(b.at(x, 0, 64, 5, {{1, 1}})));
  EXPECT_TRUE(memory.isWritten(whole));
  EXPECT_TRUE(memory.isWritten(whole)) << "answered without bits from now on";
}

TEST(Storage, OneByteOfAnElementIsNotEnough) {
  ProgramBuilder b(kPlaced);
  const uint32_t x = b.sbuf("x", DType::Int32, {2, 4});
  Layout layout(b.program);
  Storage memory(layout, ShadowMode::Tensors);
  isa::Access bytes = b.at(x, 0, 2, 0, {{1, 15}});
  bytes.dtype = DType::UInt8;

  memory.noteWrite(layout.place(bytes));

  EXPECT_TRUE(memory.isWritten(layout.place(b.at(x, 0, 2, 0, {{1, 3}}))));
  const Place last = layout.place(b.at(x, 0, 2, 3, {{1, 1}}));
  EXPECT_FALSE(memory.isWritten(last));
  EXPECT_EQ(memory.unwritten(last).bytes.rectangles(), (Rectangles{{0, 2, 15, 1, 0, 1}}));
}

TEST(Storage, TheFirstWriteTakesOverlappingBytesFromTheirOldTensor) {
  ProgramBuilder b(kPlaced);
  const uint32_t a = b.onChip("a", Memory::Sbuf, DType::Float32, {128, 1024}, 0);
  const uint32_t c = b.onChip("c", Memory::Sbuf, DType::Float32, {64, 8}, 4064, 64);
  const uint32_t beside = b.onChip("beside", Memory::Sbuf, DType::Float32, {64, 8}, 4096, 0);
  Layout layout(b.program);
  Storage memory(layout, ShadowMode::Tensors);
  const Place wholeA = layout.place(b.all(a)), wholeC = layout.place(b.all(c));
  const Place partA = layout.place(b.at(a, 0, 128, 0, {{1, 4}}));

  memory.noteWrite(wholeA);
  memory.noteWrite(layout.place(b.all(beside)));
  EXPECT_TRUE(memory.isWritten(wholeA)) << "a neighbour takes nothing";
  memory.noteWrite(wholeC);

  EXPECT_TRUE(memory.isWritten(wholeC));
  EXPECT_FALSE(memory.isWritten(partA)) << "a tensor is lost as a whole";
  const UnwrittenBytes lost = memory.unwritten(partA);
  EXPECT_EQ(lost.kind, UnwrittenBytes::Overwritten);
  EXPECT_EQ(lost.other, c);
  EXPECT_TRUE(lost.bytes.empty()) << "but these bytes are where they were";
  EXPECT_EQ(memory.unwritten(wholeA).bytes.rectangles(), (Rectangles{{64, 64, 4064, 32, 0, 1}}));
  memory.noteWrite(partA);
  EXPECT_TRUE(memory.isWritten(partA));
  EXPECT_FALSE(memory.isWritten(wholeA)) << "its old bytes do not come back";
  EXPECT_FALSE(memory.isWritten(wholeC)) << "nor do those of the tensor in between";
}

TEST(Storage, WithoutTensorChecksABytesIsWrittenWhoeverWroteIt) {
  ProgramBuilder b(kPlaced);
  const uint32_t a = b.onChip("a", Memory::Sbuf, DType::Float32, {8, 4}, 0);
  const uint32_t c = b.onChip("c", Memory::Sbuf, DType::UInt8, {8, 12}, 0);
  Layout layout(b.program);
  Storage memory(layout, ShadowMode::Bytes);

  memory.noteWrite(layout.place(b.all(c)));

  EXPECT_TRUE(memory.isWritten(layout.place(b.at(a, 0, 8, 0, {{1, 3}}))));
  EXPECT_FALSE(memory.isWritten(layout.place(b.all(a))));
}

TEST(Storage, EachTensorHasItsOwnBlockBeforePlacement) {
  ProgramBuilder b;
  const uint32_t a = b.sbuf("a", DType::Float32, {8, 4});
  const uint32_t c = b.sbuf("c", DType::Float32, {8, 4});
  Layout layout(b.program);
  Storage memory(layout, ShadowMode::Tensors);
  memory.expectAccesses({2, 1});
  const Place placeA = layout.place(b.all(a)), placeC = layout.place(b.all(c));

  memory.noteWrite(placeA);
  memory.noteWrite(placeC);

  EXPECT_NE(placeA.block, placeC.block);
  EXPECT_TRUE(memory.isWritten(placeA));
  EXPECT_NE(memory.address(placeA), nullptr);
  memory.release(a);
  EXPECT_NE(memory.address(placeA), nullptr);
  memory.release(a);
  EXPECT_EQ(memory.address(placeA), nullptr) << "given back after the last access";
}

TEST(MatmulCells, EveryCellHasItsOwnBit) {
  for (ShadowMode mode : {ShadowMode::Tensors, ShadowMode::Bytes, ShadowMode::Off}) {
    ProgramBuilder b(kPlaced);
    const uint32_t x = b.psum("x", DType::Float32, {100, 7});
    Layout layout(b.program);
    Storage memory(layout, mode);
    const Place whole = layout.place(b.all(x));
    const Place part = layout.place(b.at(x, 32, 16, 1, {{2, 3}}));

    memory.noteMatmul(whole);
    EXPECT_EQ(memory.cells(whole), CellState::Clear);
    memory.setCells(part, CellState::Set);
    EXPECT_EQ(memory.cells(whole), CellState::Mixed);
    EXPECT_EQ(memory.cells(part), CellState::Set);
    EXPECT_TRUE(memory.cell(part, 32, 4));
    EXPECT_FALSE(memory.cell(part, 32, 8));
    EXPECT_FALSE(memory.cell(part, 31, 4));
    memory.setCells(whole, CellState::Set);
    EXPECT_EQ(memory.cells(whole), CellState::Set);
    isa::Access oneByte = b.at(x, 0, 1, 6, {{1, 1}});
    oneByte.dtype = DType::UInt8;
    memory.noteWrite(layout.place(oneByte));
    EXPECT_FALSE(memory.cell(whole, 0, 4)) << "one byte of a cell is enough";
    EXPECT_TRUE(memory.cell(whole, 0, 0));
    memory.setCell(whole, 0, 4);
    EXPECT_EQ(memory.cells(whole), CellState::Set);
  }
}

TEST(MatmulCells, ATensorThatLosesItsBytesLosesItsSums) {
  ProgramBuilder b(kPlaced);
  const uint32_t x = b.onChip("x", Memory::Psum, DType::Float32, {32, 8}, 0);
  const uint32_t y = b.onChip("y", Memory::Psum, DType::Float32, {32, 8}, 0);
  Layout layout(b.program);
  Storage memory(layout, ShadowMode::Tensors);
  const Place placeX = layout.place(b.all(x)), placeY = layout.place(b.all(y));
  memory.noteMatmul(placeX);
  memory.setCells(placeX, CellState::Set);

  memory.noteMatmul(placeY);

  EXPECT_TRUE(memory.lostSums(x));
  EXPECT_EQ(memory.overwrittenBy(x), y);
  EXPECT_EQ(memory.cells(placeY), CellState::Clear);
  memory.noteMatmul(placeX);
  EXPECT_FALSE(memory.lostSums(x));
  EXPECT_EQ(memory.cells(placeX), CellState::Clear);
  EXPECT_FALSE(memory.lostSums(y)) << "it held none";
}
