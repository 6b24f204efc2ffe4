//===- FaultTest.cpp - what a run that stops says ---------------------------------------------===//

#include "NumberModel.h"
#include "ProgramBuilder.h"

using namespace kilnrt;
using namespace kilnrt::test;

namespace {

constexpr ProgramFlags kPlaced{.placed = true};

std::vector<HostArray> ones(std::vector<int64_t> shape) {
  HostArray array{DType::Float32, shape, {}};
  return {fromBits(DType::Float32, shape,
                   std::vector<uint32_t>(size_t(array.elements()), encode(DType::Float32, 1)))};
}

} // namespace

TEST(UninitialisedRead, OfATensorNeverWrittenNamesItsElements) {
  for (ProgramFlags flags : {ProgramFlags{}, kPlaced}) {
    ProgramBuilder b(flags);
    const uint32_t other = b.line(3).sbuf("other", DType::Float32, {4, 2});
    const uint32_t acc = b.line(4).sbuf("acc", DType::Float32, {128, 200});
    const uint32_t out = b.sbuf("o", DType::Float32, {128, 4});
    b.memset(b.all(other), 1);
    b.line(9);
    b.copy(b.all(out), b.at(acc, 0, 128, 96, {{1, 4}}));

    EXPECT_EQ(
        render(faultOf(b, {})),
        "M-08: tensor_copy reads 'acc', which was never written: elements (0-127, 96-99), all 2048 "
        "bytes @ kernel.cpp:9\nhelp: write 'acc' first: dma_copy, memset or a matmul\nnote: "
        "instruction 1 of the vector stream, tensor_copy: operand 'src' reads sbuf partitions "
        "0-127, bytes 448-463 ('acc') @ \nnote: 'acc' was declared here @ kernel.cpp:4");
  }
}

TEST(UninitialisedRead, OfAPartlyWrittenTileFindsTheElementInAnyShape) {
  ProgramBuilder b(kPlaced);
  const uint32_t x = b.line(2).sbuf("x", DType::BFloat16, {64, 4, 16});
  const uint32_t out = b.sbuf("o", DType::BFloat16, {64, 64});
  // All but the last three columns of row 2, and those only above partition 40.
  b.memset(b.at(x, 0, 64, 0, {{1, 45}}), 0);
  b.memset(b.at(x, 0, 64, 48, {{1, 16}}), 0);
  b.memset(b.at(x, 0, 32, 45, {{1, 3}}), 0);
  b.line(8);
  b.add(Engine::Scalar, Opcode::TensorCopy, {b.all(out), b.all(x)});

  EXPECT_EQ(render(faultOf(b, {})),
            "M-09: tensor_copy reads 'x' where it was not written: elements (32-63, 2, 13-15), 192 "
            "of 8192 bytes @ kernel.cpp:8\nhelp: read only what was written, or clear 'x' with "
            "memset first\nnote: instruction 0 of the scalar stream, tensor_copy: operand 'src' "
            "reads sbuf partitions 0-63, bytes 0-127 ('x') @ \nnote: unwritten: sbuf partitions "
            "32-63, bytes 90-95 @ \nnote: 'x' was last written by instruction 2 of the vector "
            "stream, memset @ kernel.cpp:2\nnote: 'x' was declared here @ kernel.cpp:2");
}

TEST(UninitialisedRead, IsExactForIntegersToo) {
  for (int64_t written : {9, 10}) {
    ProgramBuilder b;
    const uint32_t x = b.sbuf("x", DType::UInt8, {3, 10});
    const uint32_t out = b.output("o", DType::UInt8, {3, 10});
    b.memset(b.at(x, 0, 3, 0, {{1, written}}), 7);
    b.dma(b.all(out), b.all(x));
    if (written == 10) {
      EXPECT_EQ(bitsOf(outputsOf(b, {})[0]), std::vector<uint32_t>(30, 7));
      continue;
    }
    const Diagnostic fault = faultOf(b, {});
    EXPECT_EQ(fault.fault, Fault::Check);
    EXPECT_EQ(fault.message,
              "dma_copy reads 'x' where it was not written: elements (0-2, 9), 3 of 30 bytes");
  }
}

TEST(UninitialisedRead, InHbmNamesTheElementByTheTensorsShape) {
  ProgramBuilder b;
  const uint32_t x = b.input("x", DType::Float32, {6, 5});
  const uint32_t spill = b.hbm("spill", DType::Float32, {6, 5});
  const uint32_t tile = b.sbuf("t", DType::Float32, {6, 5});
  b.dma(b.rows(spill, 0, 4, 5, {{1, 5}}), b.rows(x, 0, 4, 5, {{1, 5}}));
  b.dma(b.all(tile), b.all(spill));

  EXPECT_EQ(render(faultOf(b, ones({6, 5}))),
            "M-09: dma_copy reads 'spill' where it was not written: elements (4-5, 0-4), 40 of 120 "
            "bytes @ \nhelp: read only what was written, or clear 'spill' with memset first\nnote: "
            "instruction 1 of the sync stream, dma_copy: operand 'src' reads hbm bytes 0-119 of "
            "'spill' @ \nnote: unwritten: hbm bytes 80-119 of 'spill' @ \nnote: 'spill' was last "
            "written by instruction 0 of the sync stream, dma_copy @ ");
}

TEST(UninitialisedRead, CanBeAllowedAndThenReadsThePoison) {
  ProgramBuilder b;
  const uint32_t x = b.sbuf("x", DType::Int32, {2, 1});
  const uint32_t out = b.output("o", DType::Int32, {2, 1});
  b.dma(b.all(out), b.all(x));

  const auto outputs = outputsOf(b, {}, {.checkUninitialised = false});

  EXPECT_EQ(bitsOf(outputs[0]), (std::vector<uint32_t>{0x7FDB7FDB, 0x7FDB7FDB}));
}

TEST(Overlap, AReadAfterAnotherTensorTookTheBytesStopsTheRun) {
  ProgramBuilder b(kPlaced);
  const uint32_t first = b.line(2).onChip("t0", Memory::Sbuf, DType::Float32, {16, 8}, 0);
  const uint32_t second = b.line(3).onChip("t1", Memory::Sbuf, DType::Float32, {16, 4}, 16);
  const uint32_t out = b.output("o", DType::Float32, {16, 8});
  b.memset(b.all(first), 1);
  b.memset(b.all(second), 2);
  b.line(6);
  b.dma(b.all(out), b.all(first));

  EXPECT_EQ(render(faultOf(b, {})),
            "M-04: dma_copy reads 't0' after 't1' was written to the same memory: elements (0-15, "
            "4-7), 256 of 512 bytes, are lost @ kernel.cpp:6\nhelp: place 't0' and 't1' at "
            "different addresses\nnote: instruction 0 of the sync stream, dma_copy: operand 'src' "
            "reads sbuf partitions 0-15, bytes 0-31 ('t0') @ \nnote: lost: sbuf partitions 0-15, "
            "bytes 16-31 @ \nnote: 't1' was written there by instruction 1 of the vector stream, "
            "memset @ kernel.cpp:3\nnote: 't0' was declared here @ kernel.cpp:2\nnote: 't1' was "
            "declared here @ kernel.cpp:3");

  const auto outputs = outputsOf(b, {}, {.checkOverwritten = false});

  for (size_t e = 0; e < 128; ++e)
    EXPECT_EQ(bitsOf(outputs[0])[e], encode(DType::Float32, e % 8 < 4 ? 1 : 2));
}

TEST(Overlap, AddressesMayBeReusedOnceTheirTensorIsDone) {
  ProgramBuilder b(kPlaced);
  const uint32_t x = b.input("x", DType::Float32, {16, 8});
  const uint32_t out = b.output("o", DType::Float32, {48, 8});
  for (int64_t i = 0; i < 3; ++i) {
    const uint32_t t = b.onChip("t", Memory::Sbuf, DType::Float32, {16, 8}, 0);
    b.dma(b.all(t), b.all(x));
    b.dma(b.rows(out, i * 128, 16, 8, {{1, 8}}), b.all(t));
  }

  EXPECT_EQ(bitsOf(outputsOf(b, ones({16, 8}))[0]),
            std::vector<uint32_t>(384, encode(DType::Float32, 1)));
}

TEST(Overlap, ASumThatAnotherTensorDestroyedIsNotTakenForNone) {
  for (isa::Accumulate mode : {isa::Accumulate::Automatic, isa::Accumulate::Overwrite}) {
    ProgramBuilder b(kPlaced);
    const uint32_t s = b.sbuf("s", DType::Float32, {1, 2});
    const uint32_t acc = b.onChip("acc", Memory::Psum, DType::Float32, {2, 2}, 0);
    const uint32_t other = b.onChip("other", Memory::Psum, DType::Float32, {2, 2}, 0);
    const uint32_t back = b.sbuf("back", DType::Float32, {2, 2});
    const uint32_t out = b.output("o", DType::Float32, {2, 2});
    b.memset(b.all(s), 3);
    b.matmul(b.all(acc), b.all(s), b.all(s), isa::Accumulate::Automatic);
    b.matmul(b.all(other), b.all(s), b.all(s), isa::Accumulate::Automatic);
    b.line(5);
    b.matmul(b.all(acc), b.all(s), b.all(s), mode);
    b.copy(b.all(back), b.all(acc));
    b.dma(b.all(out), b.all(back));

    if (mode == isa::Accumulate::Overwrite)
      EXPECT_EQ(bitsOf(outputsOf(b, {})[0]), std::vector<uint32_t>(4, encode(DType::Float32, 9)));
    else
      EXPECT_EQ(
          render(faultOf(b, {})),
          "M-04: nc_matmul accumulates into 'acc' after 'other' was written to the same memory: "
          "elements (0-1, 0-1), all 16 bytes, are lost @ kernel.cpp:5\nhelp: let the first matmul "
          "of the new sum overwrite, or place the tensors apart\nnote: instruction 2 of the tensor "
          "stream, nc_matmul: operand 'dst' writes psum partitions 0-1, bytes 0-7 ('acc') @ "
          "\nnote: 'other' was written there by instruction 1 of the tensor stream, nc_matmul @ ");
  }
}

TEST(Outputs, AnOutputNeverWrittenFailsTheRun) {
  ProgramBuilder b;
  b.line(4).output("y", DType::Float32, {3, 7});

  EXPECT_EQ(render(faultOf(b, {})),
            "M-08: output 'y' was never written: elements (0-2, 0-6), all 84 bytes @ "
            "kernel.cpp:4\nhelp: store every element of 'y' before the kernel returns");
}

TEST(Outputs, APartlyWrittenOutputFailsTheRun) {
  ProgramBuilder b;
  const uint32_t x = b.input("x", DType::Float32, {3, 7});
  const uint32_t y = b.output("y", DType::Float32, {3, 7});
  b.dma(b.rows(y, 0, 3, 7, {{1, 6}}), b.rows(x, 0, 3, 7, {{1, 6}}));

  const Diagnostic fault = faultOf(b, ones({3, 7}));

  EXPECT_EQ(fault.rule, "M-09");
  EXPECT_EQ(fault.fault, Fault::Check);
  EXPECT_EQ(fault.message,
            "output 'y' was not written as a whole: elements (0-2, 6), 12 of 84 bytes");
}

TEST(Arguments, MustMatchTheProgram) {
  ProgramBuilder b;
  b.input("x", DType::Float32, {3, 7});

  EXPECT_EQ(render(faultOf(b, {})), "K-10: the program takes 1 arguments, found 0 @ \nhelp: pass "
                                    "one array for each input tensor");
  EXPECT_EQ(render(faultOf(b, ones({7, 3}))),
            "K-10: argument 0 for 'x' is float32 (7, 3) in 84 bytes; the program was compiled for "
            "float32 (3, 7) @ \nhelp: pass an array of that dtype and shape, or compile again for "
            "this one");
  std::vector<HostArray> shorter = ones({3, 7});
  shorter[0].data.pop_back();
  EXPECT_EQ(faultOf(b, shorter).fault, Fault::User);
}
