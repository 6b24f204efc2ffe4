//===- MemoryFaultTest.cpp - every memory fault, with its exact bytes -------------------------===//
//
// Unwritten, partly written, taken by another tensor, of an earlier iteration, without a sum: in
// SBUF, PSUM and HBM, through strided accesses, shares of transfers, matmuls and loops.
//
//===------------------------------------------------------------------------------------------===//

#include "NumberModel.h"
#include "ProgramBuilder.h"

using namespace kilnrt;
using namespace kilnrt::test;

namespace {

constexpr ProgramFlags kPlaced{.placed = true};

/// "unwritten sbuf 'x': partitions 32+32, bytes 90+6" for each record, with "x4 step 8" of runs.
std::string recordsOf(const Diagnostic &d) {
  std::string text;
  for (const kiln::DiagnosticBytes &b : d.bytes) {
    text += (text.empty() ? "" : "\n") + b.what + " " + b.memory + " '" + b.tensor +
            "': " + std::to_string(b.partition) + "+" + std::to_string(b.partitions) + ", " +
            std::to_string(b.byte) + "+" + std::to_string(b.bytes);
    if (b.runs != 1)
      text += " x" + std::to_string(b.runs) + " step " + std::to_string(b.step);
  }
  return text;
}

} // namespace

//---- not written --------------------------------------------------------===//

TEST(MemoryFault, AStridedReadOfSbufNamesTheRunsThatAreMissing) {
  ProgramBuilder b(kPlaced);
  const uint32_t x = b.line(2).onChip("x", Memory::Sbuf, DType::Float32, {64, 20}, 1024);
  const uint32_t out = b.sbuf("o", DType::Float32, {32, 10});
  b.line(3).memset(b.at(x, 0, 64, 0, {{4, 5}}), 1);
  b.line(4).memset(b.at(x, 0, 32, 2, {{4, 5}}), 1);
  b.line(8).copy(b.all(out), b.at(x, 32, 32, 0, {{2, 10}}));

  const Diagnostic fault = faultOf(b, {});

  EXPECT_EQ(render(fault),
            "M-09: tensor_copy reads 'x' where it was not written: 160 elements between (32, 2) "
            "and (63, 18), 640 of 1280 bytes @ kernel.cpp:8\n"
            "help: read only what was written, or clear 'x' with memset first\n"
            "note: instruction 2 of the vector stream, tensor_copy: operand 'src' reads sbuf "
            "partitions 32-63, bytes 1024-1027, 1032-1035, ..., 1096-1099 ('x') @ \n"
            "note: unwritten: sbuf partitions 32-63, bytes 1032-1035, 1048-1051, ..., 1096-1099 "
            "@ \n"
            "note: 'x' was last written by instruction 1 of the vector stream, memset @ "
            "kernel.cpp:4\n"
            "note: 'x' was declared here @ kernel.cpp:2");
  EXPECT_EQ(recordsOf(fault), "reads sbuf 'x': 32+32, 1024+4 x10 step 8\n"
                              "unwritten sbuf 'x': 32+32, 1032+4 x5 step 16");
}

TEST(MemoryFault, RowsThatLackDifferentBytesAreNamedApart) {
  ProgramBuilder b(kPlaced);
  const uint32_t x = b.line(2).sbuf("x", DType::UInt8, {64, 64});
  const uint32_t out = b.sbuf("o", DType::UInt8, {64, 64});
  b.memset(b.at(x, 0, 32, 0, {{1, 24}}), 1);
  b.memset(b.at(x, 0, 32, 32, {{1, 28}}), 1);
  b.memset(b.at(x, 32, 32, 0, {{3, 10}}), 1);
  b.copy(b.all(out), b.all(x));

  const Diagnostic fault = faultOf(b, {});

  EXPECT_EQ(fault.message, "tensor_copy reads 'x' where it was not written: 2112 elements between "
                           "(0, 1) and (63, 63), 2112 of 4096 bytes");
  EXPECT_EQ(fault.notes[1].message,
            "unwritten: sbuf partitions 0-31, bytes 24-31, 60-63; partitions 32-63, bytes 1-2, "
            "4-5, ..., 25-26, 28-63");
}

TEST(MemoryFault, MoreThanEightRectanglesAreCounted) {
  ProgramBuilder b(kPlaced);
  const uint32_t x = b.line(2).sbuf("x", DType::UInt8, {4, 64});
  const uint32_t out = b.sbuf("o", DType::UInt8, {4, 64});
  for (int64_t column : {0, 2, 5, 9, 14, 20, 27, 35, 44, 54})
    b.memset(b.at(x, 0, 4, column, {{1, 1}}), 1);
  b.copy(b.all(out), b.all(x));

  const Diagnostic fault = faultOf(b, {});

  EXPECT_EQ(fault.notes[1].message,
            "unwritten: sbuf partitions 0-3, bytes 1, 3-4, 6-8, 10-13, 15-19, 21-26, 28-34, "
            "36-43; and 2 more");
  EXPECT_EQ(fault.bytes.size(), 11u) << "the records name all of them, and the operand";
}

TEST(MemoryFault, InPsum) {
  ProgramBuilder b(kPlaced);
  const uint32_t p = b.line(2).onChip("p", Memory::Psum, DType::Float32, {16, 12}, 2048);
  const uint32_t out = b.sbuf("o", DType::Float32, {16, 12});
  b.line(3).memset(b.at(p, 0, 16, 0, {{1, 4}}), 1);
  b.line(4).memset(b.at(p, 0, 16, 8, {{1, 4}}), 1);
  b.line(5).copy(b.all(out), b.all(p));

  EXPECT_EQ(render(faultOf(b, {})),
            "M-09: tensor_copy reads 'p' where it was not written: elements (0-15, 4-7), 256 of "
            "768 bytes @ kernel.cpp:5\n"
            "help: read only what was written, or clear 'p' with memset first\n"
            "note: instruction 2 of the vector stream, tensor_copy: operand 'src' reads psum "
            "partitions 0-15, bytes 2048-2095 ('p') @ \n"
            "note: unwritten: psum partitions 0-15, bytes 2064-2079 @ \n"
            "note: 'p' was last written by instruction 1 of the vector stream, memset @ "
            "kernel.cpp:4\n"
            "note: 'p' was declared here @ kernel.cpp:2");
}

TEST(MemoryFault, InHbmByRowsAndInEverySchedule) {
  ProgramBuilder b(kPlaced);
  const uint32_t h = b.line(2).hbm("h", DType::Int32, {40, 5});
  const uint32_t t = b.sbuf("t", DType::Int32, {40, 4}), u = b.sbuf("u", DType::Int32, {40, 5});
  b.line(3).memset(b.all(t), 1);
  // The last column of all rows is left out; transfers are cut by rows into sixteen shares.
  b.line(4).dma(b.rows(h, 0, 40, 5, {{1, 4}}), b.all(t));
  b.line(5).dma(b.all(u), b.all(h));
  b.serialise();

  const std::string expected =
      "M-09: dma_copy reads 'h' where it was not written: elements (0-39, 4), 160 of 800 bytes @ "
      "kernel.cpp:5\n"
      "help: read only what was written, or clear 'h' with memset first\n"
      "note: instruction 1 of the sync stream, dma_copy: operand 'src' reads hbm bytes 0-799 of "
      "'h' @ \n"
      "note: unwritten: hbm bytes 16-19, 36-39, ..., 796-799 of 'h' @ \n"
      "note: 'h' was last written by instruction 0 of the sync stream, dma_copy @ kernel.cpp:4\n"
      "note: 'h' was declared here @ kernel.cpp:2";
  EXPECT_EQ(render(faultOf(b, {})), expected);
  EXPECT_EQ(render(faultOf(b, {}, {.schedule = Schedule::RoundRobin})),
            expected + "\nnote: schedule: round-robin @ ");
  for (uint64_t seed = 0; seed < 5; ++seed)
    EXPECT_EQ(render(faultOf(b, {}, {.schedule = {Schedule::Random, seed}})),
              expected + "\nnote: schedule: random:" + std::to_string(seed) + " @ ");
}

TEST(MemoryFault, AShareOfATransferFromSbufIsReportedAsTheWholeOperand) {
  ProgramBuilder b(kPlaced);
  const uint32_t t = b.line(2).sbuf("t", DType::UInt8, {128, 6});
  const uint32_t y = b.output("y", DType::UInt8, {128, 6});
  b.line(3).memset(b.at(t, 0, 64, 0, {{1, 6}}), 1);
  b.line(4).memset(b.at(t, 64, 32, 0, {{1, 6}}), 1);
  b.line(5).dma(b.all(y), b.all(t));
  b.serialise();

  for (Schedule schedule :
       {Schedule(), Schedule(Schedule::RoundRobin), Schedule(Schedule::Random, 9)}) {
    const Diagnostic fault = faultOf(b, {}, {.schedule = schedule});
    EXPECT_EQ(fault.message, "dma_copy reads 't' where it was not written: elements (96-127, "
                             "0-5), 192 of 768 bytes");
    EXPECT_EQ(recordsOf(fault), "reads sbuf 't': 0+128, 0+6\nunwritten sbuf 't': 96+32, 0+6");
  }
}

TEST(MemoryFault, ReadAsAnotherDtypeCountsElementsOfTheTensor) {
  ProgramBuilder b(kPlaced);
  const uint32_t x = b.sbuf("x", DType::Int32, {2, 4}), out = b.sbuf("o", DType::UInt8, {2, 2});
  isa::Access head = b.at(x, 0, 2, 0, {{1, 6}}), tail = b.at(x, 0, 2, 5, {{1, 2}});
  head.dtype = tail.dtype = DType::UInt8;
  b.memset(head, 1);
  b.copy(b.all(out), tail);

  EXPECT_EQ(faultOf(b, {}).message, "tensor_copy reads 'x' where it was not written: elements "
                                    "(0-1, 1), 2 of 4 bytes");
}

TEST(MemoryFault, AnOutputNamesWhatIsMissingAndWhoWroteLast) {
  ProgramBuilder b(kPlaced);
  const uint32_t t = b.sbuf("t", DType::Float16, {8, 10});
  const uint32_t y = b.line(2).output("y", DType::Float16, {8, 10});
  b.line(3).memset(b.all(t), 1);
  b.line(4).dma(b.rows(y, 0, 8, 10, {{1, 7}}), b.at(t, 0, 8, 0, {{1, 7}}));
  b.line(5).dma(b.rows(y, 8, 7, 10, {{1, 2}}), b.at(t, 0, 7, 0, {{1, 2}}));

  const Diagnostic fault = faultOf(b, {});

  EXPECT_EQ(render(fault),
            "M-09: output 'y' was not written as a whole: 10 elements between (0, 7) and (7, 9), "
            "20 of 160 bytes @ kernel.cpp:2\n"
            "help: store every element of 'y' before the kernel returns\n"
            "note: unwritten: hbm bytes 14-15, 34-35, ..., 134-135, 154-159 of 'y' @ \n"
            "note: 'y' was last written by instruction 1 of the sync stream, dma_copy @ "
            "kernel.cpp:5");
  EXPECT_EQ(recordsOf(fault), "unwritten hbm 'y': 0+1, 14+2 x7 step 20\n"
                              "unwritten hbm 'y': 0+1, 154+6");
}

//---- taken by another tensor --------------------------------------------===//

TEST(MemoryFault, StaleBytesOfPsumAreThoseTheOtherTensorTook) {
  ProgramBuilder b(kPlaced);
  const uint32_t a = b.line(2).onChip("a", Memory::Psum, DType::Float32, {64, 16}, 0);
  const uint32_t c = b.line(3).onChip("c", Memory::Psum, DType::BFloat16, {32, 4}, 0, 32);
  const uint32_t out = b.sbuf("o", DType::Float32, {64, 8});
  b.line(4).memset(b.all(a), 1);
  b.line(5).memset(b.at(c, 0, 32, 0, {{1, 2}}), 2);
  b.line(6).copy(b.all(out), b.at(a, 0, 64, 0, {{2, 8}}));

  const Diagnostic fault = faultOf(b, {});

  EXPECT_EQ(render(fault),
            "M-04: tensor_copy reads 'a' after 'c' was written to the same memory: elements "
            "(32-63, 0), 128 of 2048 bytes, are lost @ kernel.cpp:6\n"
            "help: place 'a' and 'c' at different addresses\n"
            "note: instruction 2 of the vector stream, tensor_copy: operand 'src' reads psum "
            "partitions 0-63, bytes 0-3, 8-11, ..., 56-59 ('a') @ \n"
            "note: lost: psum partitions 32-63, bytes 0-3 @ \n"
            "note: 'c' was written there by instruction 1 of the vector stream, memset @ "
            "kernel.cpp:5\n"
            "note: 'a' was declared here @ kernel.cpp:2\n"
            "note: 'c' was declared here @ kernel.cpp:3");
  EXPECT_EQ(recordsOf(fault), "reads psum 'a': 0+64, 0+4 x8 step 8\nlost psum 'a': 32+32, 0+4");
}

TEST(MemoryFault, SeveralTensorsMayHaveTakenBytes) {
  ProgramBuilder b(kPlaced);
  const uint32_t t = b.line(2).onChip("t", Memory::Sbuf, DType::Float32, {16, 8}, 0);
  const uint32_t before = b.onChip("before", Memory::Sbuf, DType::Float32, {16, 1}, 12);
  const uint32_t first = b.line(3).onChip("first", Memory::Sbuf, DType::Float32, {16, 2}, 0);
  const uint32_t second = b.line(4).onChip("second", Memory::Sbuf, DType::Float32, {8, 4}, 24);
  const uint32_t y = b.output("y", DType::Float32, {16, 8});
  b.memset(b.all(before), 1);
  b.line(5).memset(b.all(t), 1);
  b.line(6).memset(b.all(first), 2);
  b.line(7).memset(b.all(second), 3);
  b.line(8).dma(b.all(y), b.all(t));

  EXPECT_EQ(render(faultOf(b, {})),
            "M-04: dma_copy reads 't' after 'first' was written to the same memory: 48 elements "
            "between (0, 0) and (15, 7), 192 of 512 bytes, are lost @ kernel.cpp:8\n"
            "help: place 't' and 'first' at different addresses\n"
            "note: instruction 0 of the sync stream, dma_copy: operand 'src' reads sbuf "
            "partitions 0-15, bytes 0-31 ('t') @ \n"
            "note: lost: sbuf partitions 0-7, bytes 0-7, 24-31; partitions 8-15, bytes 0-7 @ \n"
            "note: 'first' was written there by instruction 2 of the vector stream, memset @ "
            "kernel.cpp:6\n"
            "note: 't' was declared here @ kernel.cpp:2\n"
            "note: 'first' was declared here @ kernel.cpp:3");
}

TEST(MemoryFault, TwoLiveTensorsThatOverlapElsewhereSayThatTheBytesReadAreIntact) {
  ProgramBuilder b(kPlaced);
  const uint32_t t = b.onChip("t", Memory::Sbuf, DType::Float32, {16, 8}, 0);
  const uint32_t u = b.onChip("u", Memory::Sbuf, DType::Float32, {16, 8}, 16);
  const uint32_t out = b.onChip("o", Memory::Sbuf, DType::Float32, {16, 4}, 64);
  b.memset(b.all(t), 1);
  b.memset(b.all(u), 2);
  b.copy(b.all(out), b.at(t, 0, 16, 0, {{1, 4}}));

  const Diagnostic fault = faultOf(b, {});

  EXPECT_EQ(fault.message, "tensor_copy reads 't' after 'u' was written to the same memory: the "
                           "256 bytes read are intact, but both tensors are live at once");
  EXPECT_EQ(recordsOf(fault), "reads sbuf 't': 0+16, 0+16");
}

TEST(MemoryFault, ATensorTakenInALoopNamesTheIteration) {
  ProgramBuilder b(kPlaced);
  const uint32_t t = b.line(2).onChip("t", Memory::Sbuf, DType::Int16, {4, 6}, 0);
  const uint32_t u = b.line(3).onChip("u", Memory::Sbuf, DType::Int16, {4, 2}, 8);
  const uint32_t out = b.onChip("o", Memory::Sbuf, DType::Int16, {4, 6}, 64);
  b.declareInLoop(u, 0);
  b.line(4).memset(b.all(t), 1);
  b.line(5).loop(3);
  b.line(6).copy(b.all(out), b.all(t));
  b.line(7).memset(b.all(u), 2);
  b.line(8).endLoop();

  EXPECT_EQ(render(faultOf(b, {})),
            "M-04: tensor_copy reads 't' after 'u' was written to the same memory: elements "
            "(0-3, 4-5), 16 of 48 bytes, are lost @ kernel.cpp:6\n"
            "help: place 't' and 'u' at different addresses\n"
            "note: instruction 2 of the vector stream, tensor_copy: operand 'src' reads sbuf "
            "partitions 0-3, bytes 0-11 ('t') @ \n"
            "note: lost: sbuf partitions 0-3, bytes 8-11 @ \n"
            "note: 'u' was written there by instruction 3 of the vector stream, memset @ "
            "kernel.cpp:7\n"
            "note: 't' was declared here @ kernel.cpp:2\n"
            "note: 'u' was declared here @ kernel.cpp:3\n"
            "note: in iteration 1 of a loop of 3, counted from 0 @ kernel.cpp:5");
}

TEST(MemoryFault, ATensorOfAnEarlierIterationIsNotThere) {
  ProgramBuilder b(kPlaced);
  const uint32_t t = b.line(2).sbuf("t", DType::Float32, {8, 3});
  const uint32_t u = b.sbuf("u", DType::Float32, {8, 3}), y = b.output("y", DType::Float32, {4, 1});
  b.declareInLoop(t, 0);
  b.memset(b.all(u), 0);
  b.line(5).loop(2);
  // Written first in iteration 0 only: the second element of y moves with the iterations.
  b.line(6).memset(b.all(t), 1);
  b.line(7).copy(b.all(u), b.all(t));
  b.endLoop();
  b.dma(b.all(y), b.at(u, 0, 4, 0, {{1, 1}}));
  EXPECT_EQ(bitsOf(outputsOf(b, {})[0]), std::vector<uint32_t>(4, encode(DType::Float32, 1)));

  ProgramBuilder late(kPlaced);
  const uint32_t s = late.line(2).sbuf("s", DType::Float32, {8, 3});
  const uint32_t v = late.line(3).sbuf("v", DType::Float32, {8, 6});
  late.declareInLoop(s, 0);
  late.line(4).memset(late.all(v), 1);
  late.line(5).loop(2);
  late.line(6).memset(moving(late.at(s, 0, 8, 0, {{1, 1}}), {1}), 1);
  late.line(7).copy(late.at(v, 0, 8, 0, {{1, 1}}), moving(late.at(s, 0, 8, 0, {{1, 1}}), {1}));
  late.line(8).copy(late.at(v, 0, 8, 0, {{1, 1}}), late.at(s, 0, 8, 0, {{1, 1}}));
  late.endLoop();

  EXPECT_EQ(render(faultOf(late, {})),
            "M-09: tensor_copy reads 's' where this iteration has not written it: elements (0-7, "
            "0), all 32 bytes @ kernel.cpp:8\n"
            "help: declare 's' before the loop to keep its elements, or write it first in each "
            "iteration\n"
            "note: instruction 4 of the vector stream, tensor_copy: operand 'src' reads sbuf "
            "partitions 0-7, bytes 0-3 ('s') @ \n"
            "note: 's' was last written by instruction 2 of the vector stream, memset @ "
            "kernel.cpp:6\n"
            "note: 's' is new in each iteration of its loop; in an earlier one it was last "
            "written by instruction 2 of the vector stream, memset @ kernel.cpp:6\n"
            "note: 's' was declared here @ kernel.cpp:2\n"
            "note: in iteration 1 of a loop of 2, counted from 0 @ kernel.cpp:5");
}

//---- sums ---------------------------------------------------------------===//

TEST(MemoryFault, AnAccumulationNamesAllCellsWithoutASum) {
  ProgramBuilder b(kPlaced);
  const uint32_t s = b.sbuf("s", DType::Float32, {1, 4}), m = b.sbuf("m", DType::Float32, {1, 6});
  const uint32_t acc = b.line(2).onChip("acc", Memory::Psum, DType::Float32, {4, 6}, 2048);
  b.memset(b.all(s), 1);
  b.memset(b.all(m), 1);
  b.line(3).matmul(b.at(acc, 0, 4, 0, {{1, 2}}), b.all(s), b.at(m, 0, 1, 0, {{1, 2}}),
                   isa::Accumulate::Overwrite);
  b.line(4).memset(b.at(acc, 0, 4, 2, {{1, 2}}), 5);
  b.line(5).matmul(b.at(acc, 0, 4, 0, {{1, 4}}), b.all(s), b.at(m, 0, 1, 0, {{1, 4}}),
                   isa::Accumulate::Add);

  const Diagnostic fault = faultOf(b, {});

  EXPECT_EQ(render(fault),
            "M-10: nc_matmul adds to 'acc' where it holds no matmul result: elements (0-3, 2-3), "
            "32 of 64 bytes @ kernel.cpp:5\n"
            "help: let the first matmul overwrite: leave accumulate out, or set it to false\n"
            "note: instruction 1 of the tensor stream, nc_matmul: operand 'dst' writes psum "
            "partitions 0-3, bytes 2048-2063 ('acc') @ \n"
            "note: without a sum: psum partitions 0-3, bytes 2056-2063 @ \n"
            "note: 'acc' was last written by instruction 2 of the vector stream, memset @ "
            "kernel.cpp:4\n"
            "note: 'acc' was declared here @ kernel.cpp:2");
  EXPECT_EQ(recordsOf(fault), "writes psum 'acc': 0+4, 2048+16\n"
                              "without a sum psum 'acc': 0+4, 2056+8");
}

TEST(MemoryFault, AnAccumulationIntoNothingSaysSo) {
  ProgramBuilder b(kPlaced);
  const uint32_t s = b.sbuf("s", DType::Float32, {1, 4});
  const uint32_t acc = b.line(2).psum("acc", DType::Float32, {4, 4});
  b.memset(b.all(s), 1);
  b.line(5).matmul(b.all(acc), b.all(s), b.all(s), isa::Accumulate::Add);

  EXPECT_EQ(render(faultOf(b, {})),
            "M-10: nc_matmul adds to 'acc' where it holds no matmul result: elements (0-3, 0-3), "
            "all 64 bytes @ kernel.cpp:5\n"
            "help: let the first matmul overwrite: leave accumulate out, or set it to false\n"
            "note: instruction 0 of the tensor stream, nc_matmul: operand 'dst' writes psum "
            "partitions 0-3, bytes 0-15 ('acc') @ \n"
            "note: 'acc' was declared here @ kernel.cpp:2");
}
