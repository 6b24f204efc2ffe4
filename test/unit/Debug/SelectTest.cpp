//===- SelectTest.cpp - lines and bytes as authors write them ---------------------------------===//

#include "kilnrt/Debug/Select.h"

#include "ProgramBuilder.h"

using namespace kilnrt;
using namespace kilnrt::test;

namespace {

std::string refusal(const Diagnostic &error) {
  EXPECT_EQ(error.fault, Fault::Usage);
  return error.message + " | " + error.help;
}

//---- lines --------------------------------------------------------------===//

/// Line 10, then loops: 3 x (line 12, 2 x (lines 12, 14), line 15), then line 10 again, which calls
/// line 3 of a helper's file in another folder.
class Lines : public testing::Test {
protected:
  Lines() {
    b.program.files = {"kernel.cpp", "lib/helper.h"};
    t = b.sbuf("t", DType::Float32, {2, 8});
    b.line(10);
    b.memset(b.all(t), 0);
    b.line(11);
    b.loop(3);
    b.line(12);
    b.memset(b.all(t), 1);
    b.line(13);
    b.loop(2);
    b.line(12);
    b.memset(b.all(t), 2);
    b.line(14);
    b.memset(b.all(t), 3);
    b.endLoop();
    b.line(15);
    b.memset(b.all(t), 4);
    b.endLoop();
    b.line(10);
    b.memset(b.all(t), 5).location = helper();
    program = b.finish();
  }

  uint32_t helper() {
    b.program.locations.push_back({1, 3, uint32_t(b.program.locations.size() - 1)});
    return uint32_t(b.program.locations.size() - 1);
  }

  /// "order 5 at (2, 1), 3 of 9", or the refusal.
  std::string find(std::string_view text, WhichOfLine which = WhichOfLine::First) {
    Expected<SourceLines> lines = SourceLines::of(program);
    EXPECT_TRUE(lines);
    Expected<RunPoint> point = lines->find(text, which);
    if (!point)
      return refusal(point.error());
    std::string out = std::to_string(uint32_t(value(*point))) + " at (";
    for (unsigned l = 0; l < point->loops; ++l)
      out += (l ? ", " : "") + std::to_string(point->iteration[l]);
    EXPECT_EQ(point->tensors, std::vector<uint32_t>{t});
    return out + "), " + std::to_string(point->number) + " of " + std::to_string(point->count);
  }
  /// What the memset of a point writes, which tells the instructions apart.
  double value(const RunPoint &point) {
    for (const Stream &stream : program.streams) {
      Expected<std::vector<Record>> records = decodeStream(stream);
      for (const Record &record : *records)
        if (record.order == point.order)
          return record.inst.real("value");
    }
    return -1;
  }

  ProgramBuilder b;
  uint32_t t;
  Program program;
};

TEST_F(Lines, FirstLastAndEveryExecution) {
  EXPECT_EQ(find("kernel.cpp:14"), "3 at (0, 0), 1 of 6");
  EXPECT_EQ(find("kernel.cpp:14", WhichOfLine::Last), "3 at (2, 1), 6 of 6");
  EXPECT_EQ(find("kernel.cpp:14#4"), "3 at (1, 1), 4 of 6");
  EXPECT_EQ(find("kernel.cpp:14#5", WhichOfLine::Last), "3 at (2, 0), 5 of 6");
  EXPECT_EQ(find("kernel.cpp:15#2"), "4 at (1), 2 of 3");
}

TEST_F(Lines, TheLoopsOfALineComeOneAfterTheOther) {
  // 1, 2, 2 in each of three iterations.
  EXPECT_EQ(find("kernel.cpp:12"), "1 at (0), 1 of 9");
  EXPECT_EQ(find("kernel.cpp:12#2"), "2 at (0, 0), 2 of 9");
  EXPECT_EQ(find("kernel.cpp:12#3"), "2 at (0, 1), 3 of 9");
  EXPECT_EQ(find("kernel.cpp:12#4"), "1 at (1), 4 of 9");
  EXPECT_EQ(find("kernel.cpp:12#9"), "2 at (2, 1), 9 of 9");
}

TEST_F(Lines, CallersHaveTheInstructionsOfWhatTheyCall) {
  EXPECT_EQ(find("kernel.cpp:10"), "0 at (), 1 of 2");
  EXPECT_EQ(find("kernel.cpp:10", WhichOfLine::Last), "5 at (), 2 of 2");
  EXPECT_EQ(find("lib/helper.h:3"), "5 at (), 1 of 1");
}

TEST_F(Lines, FilesByTheEndOfTheirPath) {
  EXPECT_EQ(find("helper.h:3"), "5 at (), 1 of 1");
  EXPECT_EQ(find("/home/me/lib/helper.h:3"), "5 at (), 1 of 1");
  EXPECT_EQ(find("elper.h:3"), "no instruction comes from a file 'elper.h' | files of the program: "
                               "kernel.cpp and lib/helper.h");
  EXPECT_EQ(find("other/helper.h:3").substr(0, 48),
            "no instruction comes from a file 'other/helper.h");
}

TEST_F(Lines, Refusals) {
  EXPECT_EQ(find("kernel.cpp:16"), "no instruction comes from line 16 of 'kernel.cpp' | lines 10, "
                                   "12, 14 and 15 have some");
  EXPECT_EQ(find("helper.h:9"), "no instruction comes from line 9 of 'helper.h' | line 3 has some");
  EXPECT_EQ(find("kernel.cpp:14#7"), "line 14 of 'kernel.cpp' executes 6 instructions, there is no "
                                     "number 7 | give a number from 1 to 6");
  EXPECT_EQ(find("kernel.cpp:14#0"),
            "'0' is no number of an instruction | write FILE:LINE#N, counted from 1");
  EXPECT_EQ(find("kernel.cpp:14#x"),
            "'x' is no number of an instruction | write FILE:LINE#N, counted from 1");
  const std::string noLine = " names no line | write FILE:LINE, as in softmax.cpp:17";
  for (const char *text : {"kernel.cpp", "kernel.cpp:", ":14", "kernel.cpp:0", "kernel.cpp:1x", ""})
    EXPECT_EQ(find(text), "'" + std::string(text) + "'" + noLine);
  // Edges of loops are no instructions of a line.
  EXPECT_EQ(find("kernel.cpp:13").substr(0, 50),
            "no instruction comes from line 13 of 'kernel.cpp' ");
}

TEST(LinesOfLongLoops, CountsFarBeyondWhatIsTried) {
  ProgramBuilder b;
  const uint32_t t = b.sbuf("t", DType::Float32, {1, 1});
  for (int i = 0; i < 3; ++i)
    b.loop(UINT32_MAX);
  b.line(1);
  b.memset(b.all(t), 0);
  for (int i = 0; i < 3; ++i)
    b.endLoop();
  const Program program = b.finish();
  Expected<SourceLines> lines = SourceLines::of(program);
  ASSERT_TRUE(lines);

  Expected<RunPoint> point = lines->find("kernel.cpp:1#8589934591", WhichOfLine::First);

  ASSERT_TRUE(point);
  EXPECT_EQ(point->count, UINT64_MAX);                               // 2^96 saturates
  EXPECT_EQ(point->iteration, (std::array<int64_t, 4>{0, 2, 0, 0})); // 2 * (2^32 - 1) + 1 - 1
}

TEST(LinesOfNothing, AProgramWithoutLines) {
  ProgramBuilder b;
  const uint32_t t = b.sbuf("t", DType::Float32, {1, 1});
  b.memset(b.all(t), 0);
  b.program.files.clear();
  const Program program = b.finish();
  Expected<SourceLines> lines = SourceLines::of(program);
  ASSERT_TRUE(lines);
  Expected<RunPoint> point = lines->find("kernel.cpp:1", WhichOfLine::First);
  ASSERT_FALSE(point);
  EXPECT_EQ(refusal(point.error()),
            "no instruction comes from a file 'kernel.cpp' | the program knows no lines");
}

//---- bytes --------------------------------------------------------------===//

/// "block 0: 0+4, 64-127; ..." of a region, or the refusal.
std::string regionText(const Program &program, std::string_view text) {
  Expected<MemoryRegion> region = parseRegion(text, program);
  if (!region)
    return refusal(region.error());
  std::string out;
  for (const ByteWindow &w : region->windows)
    out += (out.empty() ? "" : "; ") + std::string(isa::name(w.memory)) + " " +
           std::to_string(w.partition) + "+" + std::to_string(w.partitions) + ", " +
           std::to_string(w.begin) + "-" + std::to_string(w.end - 1);
  return out;
}

Program placedProgram() {
  ProgramBuilder b({.placed = true});
  b.input("x", DType::Float32, {4, 3, 10});
  b.hbm("h", DType::BFloat16, {7});
  b.onChip("t", Memory::Sbuf, DType::Float32, {32, 6, 16}, 1024, 64);
  b.onChip("t.1", Memory::Sbuf, DType::Float32, {32, 6, 16}, 4096, 0);
  b.onChip("t.x", Memory::Sbuf, DType::Float32, {1, 1}, 8192, 0);
  b.onChip("acc", Memory::Psum, DType::Float32, {128, 512}, 2048, 0);
  return b.finish();
}

TEST(Region, ByAddress) {
  const Program program = placedProgram();
  EXPECT_EQ(regionText(program, "sbuf:0-3:64-127"), "sbuf 0+4, 64-127");
  EXPECT_EQ(regionText(program, "sbuf:127:0"), "sbuf 127+1, 0-0");
  EXPECT_EQ(regionText(program, "sbuf:5"), "sbuf 5+1, 0-212983");
  EXPECT_EQ(regionText(program, "psum:0-127:2048-16383"), "psum 0+128, 2048-16383");
  EXPECT_EQ(regionText(program, "sbuf:0:212983"), "sbuf 0+1, 212983-212983");
  EXPECT_EQ(regionText(program, "sbuf:0:212984"),
            "byte 212984 is outside the memory, whose last one is 212983 | bytes are 0 to 212983");
  EXPECT_EQ(regionText(program, "psum:0:16384"),
            "byte 16384 is outside the memory, whose last one is 16383 | bytes are 0 to 16383");
  EXPECT_EQ(regionText(program, "sbuf:128:0"),
            "partition 128 is outside the memory, whose last one "
            "is 127 | partitions are 0 to 127");
  EXPECT_EQ(regionText(program, "sbuf:3-1:0"),
            "the range of partitions 3-1 ends before it begins | write 1-3");
  const std::string help =
      " | write sbuf:PARTITIONS:BYTES, as in sbuf:0-3:1024-2047; the bytes may be left out";
  EXPECT_EQ(regionText(program, "sbuf:"), "'' is no range of partitions" + help);
  EXPECT_EQ(regionText(program, "sbuf:1-:0"), "'1-' is no range of partitions" + help);
  EXPECT_EQ(regionText(program, "sbuf:1:a"), "'a' is no range of bytes" + help);
  EXPECT_EQ(regionText(program, "sbuf:1:0-4:2"), "'0-4:2' is no range of bytes" + help);
  EXPECT_EQ(regionText(program, "hbm:0:5"),
            "HBM has no addresses here | name a tensor, as in x[0:2, 16:32]");
}

TEST(Region, ByTensorOnChip) {
  const Program program = placedProgram();
  const std::string copy = "; sbuf ";
  EXPECT_EQ(regionText(program, "acc"), "psum 0+128, 2048-4095");
  EXPECT_EQ(regionText(program, "acc[3]"), "psum 3+1, 2048-4095");
  EXPECT_EQ(regionText(program, "acc[ 3 : 5 , 16: ]"), "psum 3+2, 2112-4095");
  // A tensor in the middle of the memory, and its copy: 6 rows of 64 bytes.
  EXPECT_EQ(regionText(program, "t"), "sbuf 64+32, 1024-1407; sbuf 0+32, 4096-4479");
  EXPECT_EQ(regionText(program, "t.1[2, 1:3]"), "sbuf 2+1, 4160-4287");
  EXPECT_EQ(regionText(program, "t.1[:, 1:3, 15]"), "sbuf 0+32, 4220-4223; sbuf 0+32, 4284-4287");
}

TEST(Region, ByTensorInHbm) {
  const Program program = placedProgram();
  EXPECT_EQ(regionText(program, "x"), "hbm 0+1, 0-479");
  EXPECT_EQ(regionText(program, "x[1]"), "hbm 0+1, 120-239");
  EXPECT_EQ(regionText(program, "x[1:3, 2]"), "hbm 0+1, 200-239; hbm 0+1, 320-359");
  EXPECT_EQ(regionText(program, "x[3, 2, 9]"), "hbm 0+1, 476-479");
  EXPECT_EQ(regionText(program, "x[0:2, 0, 4:6]"), "hbm 0+1, 16-23; hbm 0+1, 136-143");
  EXPECT_EQ(regionText(program, "h[6]"), "hbm 0+1, 12-13");
}

TEST(Region, TensorsAndIndicesThereAreNot) {
  const Program program = placedProgram();
  EXPECT_EQ(regionText(program, "accu"), "there is no tensor 'accu' | did you mean 'acc'?");
  EXPECT_EQ(regionText(program, ""), "there is no tensor '' | known: x, h, t, t.1, t.x, acc");
  EXPECT_EQ(regionText(program, "acc[0"),
            "'acc[0' lacks a ']' at its end | write NAME[0:2, 16:32], "
            "the indices of a tensor as in Python");
  EXPECT_EQ(regionText(program, "acc[]"),
            "'acc[]' has no index between its brackets | write acc for all of it");
  EXPECT_EQ(regionText(program, "acc[1, 2, 3]"), "'acc[1, 2, 3]' has more indices than 'acc' has "
                                                 "dims, 2 | leave the last ones out");
  EXPECT_EQ(regionText(program, "acc[0, 512]"),
            "index 512 is outside dim 1 of 'acc', which has extent 512 | indices are 0 to 511; the "
            "end of a slice is not part of it");
  EXPECT_EQ(regionText(program, "acc[0, 511:512]"), "psum 0+1, 4092-4095");
  EXPECT_EQ(regionText(program, "acc[2:2]").substr(0, 25), "index 2:2 is outside dim ");
  EXPECT_EQ(regionText(program, "acc[-1]").substr(0, 24), "index -1 is outside dim ");
  for (const char *index : {"a", "1:b", "1:2:3", ""})
    EXPECT_EQ(regionText(program, "acc[0, " + std::string(index) + "]"),
              "'" + std::string(index) + "' is no index | write 3 or 0:16; steps have no form");
}

TEST(Region, ManyPiecesAreRefused) {
  ProgramBuilder b;
  b.hbm("x", DType::UInt8, {65537, 2});
  const Program program = b.finish();
  EXPECT_EQ(regionText(program, "x[:65536, 1]").substr(0, 12), "hbm 0+1, 1-1");
  EXPECT_EQ(regionText(program, "x[:, 1]"), "'x[:, 1]' is more than 65536 pieces of memory | name "
                                            "whole rows, or fewer of them");
}

TEST(Region, BeforePlacementThereAreNoAddresses) {
  ProgramBuilder b;
  b.sbuf("t", DType::Float32, {4, 4});
  b.sbuf("u", DType::Float32, {4, 4});
  const Program program = b.finish();
  EXPECT_EQ(regionText(program, "sbuf:0:0"), "the program is not placed: its tensors have no "
                                             "addresses | name a tensor, as in t[0:2, 16:32]");
  EXPECT_EQ(regionText(program, "u[1, 2]"), "sbuf 1+1, 8-11"); // in a block of its own
}

} // namespace
