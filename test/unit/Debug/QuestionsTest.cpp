//===- QuestionsTest.cpp - dumps, watches, last writers, stops, prints as text ----------------===//

#include "kilnrt/Debug/Observers.h"
#include "kilnrt/Debug/PrintText.h"

#include "ProgramBuilder.h"

#include <gmock/gmock.h>

#include <numeric>

using namespace kilnrt;
using namespace kilnrt::test;
using testing::ElementsAre;

namespace {

HostArray counting(std::vector<int64_t> shape) {
  std::vector<float> values(size_t(HostArray{DType::Float32, shape, {}}.elements()));
  std::iota(values.begin(), values.end(), 1.0f);
  return array(DType::Float32, std::move(shape), values);
}

/// x = 1, 2, ... goes to t (line 5); t's second half becomes 0 (line 6); three iterations double
/// the column they count (line 8); u takes t's bytes from the third element on (line 9).
class Questions : public testing::Test {
protected:
  explicit Questions(ProgramFlags flags = {.placed = true}) : b(flags) {
    x = b.input("x", DType::Float32, {2, 8});
    y = b.output("y", DType::Float32, {2, 2});
    t = b.onChip("t", Memory::Sbuf, DType::Float32, {2, 8}, 64, 0);
    u = b.onChip("u", Memory::Sbuf, DType::UInt8, {2, 2}, 72, 0);
    b.line(5);
    b.dma(b.all(t), b.all(x));
    b.line(6);
    b.memset(b.at(t, 0, 2, 4, {{1, 4}}), 0);
    b.line(7);
    b.loop(3);
    b.line(8);
    const isa::Access column = moving(b.at(t, 0, 2, 0, {{1, 1}}), {1});
    Record &twice = b.add(Engine::Vector, Opcode::TensorTensor, {column, column, column});
    twice.inst.setWord("op", int64_t(AluOp::Add));
    b.endLoop();
    b.line(9);
    b.memset(b.all(u), 7);
    b.dma(b.all(y), b.rows(x, 0, 2, 8, {{1, 2}}));
    program = b.finish();
  }

  RunPoint point(std::string_view text, WhichOfLine which = WhichOfLine::Last) {
    Expected<SourceLines> lines = SourceLines::of(program);
    EXPECT_TRUE(lines);
    Expected<RunPoint> found = lines->find(text, which);
    EXPECT_TRUE(found) << found.error().message;
    return *found;
  }
  Expected<RunResult> observe(RunObserver &observer, Schedule schedule = {}) {
    return run(b, std::vector{counting({2, 8})}, {.schedule = schedule, .observer = &observer});
  }

  ProgramBuilder b;
  uint32_t x, y, t, u;
  Program program;
};

class Synchronised : public Questions {
protected:
  Synchronised() : Questions({.placed = true}) {
    b.serialise();
    program = b.finish();
  }
};

//---- dump ---------------------------------------------------------------===//

TEST_F(Questions, DumpRightAfterALine) {
  auto dump = [&](std::string_view where) {
    DumpTensor observer({t}, point(where));
    EXPECT_TRUE(observe(observer));
    EXPECT_TRUE(observer.result());
    EXPECT_EQ(observer.result()->unwritten, 0);
    EXPECT_EQ(observer.result()->value.shape, (std::vector<int64_t>{2, 8}));
    return values<float>(observer.result()->value);
  };
  EXPECT_THAT(dump("kernel.cpp:5"),
              ElementsAre(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16));
  EXPECT_THAT(dump("kernel.cpp:6"), ElementsAre(1, 2, 3, 4, 0, 0, 0, 0, 9, 10, 11, 12, 0, 0, 0, 0));
  EXPECT_THAT(dump("kernel.cpp:8#2"),
              ElementsAre(2, 4, 3, 4, 0, 0, 0, 0, 18, 20, 11, 12, 0, 0, 0, 0));
  EXPECT_THAT(dump("kernel.cpp:8"),
              ElementsAre(2, 4, 6, 4, 0, 0, 0, 0, 18, 20, 22, 12, 0, 0, 0, 0));
}

TEST_F(Questions, DumpOfWhatAnotherTensorTook) {
  DumpTensor observer({t}, std::nullopt);
  EXPECT_TRUE(observe(observer));
  ASSERT_TRUE(observer.result());
  EXPECT_EQ(observer.result()->unwritten, 16);
  EXPECT_EQ(observer.result()->overwrittenBy, u);
  // What the memory holds: two bytes of 7 in the third element.
  const std::vector<float> found = values<float>(observer.result()->value);
  EXPECT_EQ(found[1], 4);
  EXPECT_EQ(__builtin_bit_cast(uint32_t, found[2]), 0x40C00707u); // 6 with two bytes less
}

TEST_F(Questions, DumpOfATensorNobodyWrote) {
  DumpTensor early({u}, point("kernel.cpp:6")), output({y}, point("kernel.cpp:6"));
  RunObservers both;
  both.add(early);
  both.add(output);
  EXPECT_TRUE(observe(both));
  ASSERT_TRUE(early.result() && output.result());
  EXPECT_EQ(early.result()->unwritten, 4);
  EXPECT_EQ(early.result()->firstUnwritten, 0);
  EXPECT_EQ(early.result()->overwrittenBy, kNone);
  EXPECT_EQ(output.result()->unwritten, 4);
}

TEST_F(Questions, DumpOfWhatARunDoesNotReach) {
  DumpTensor dump({t}, point("kernel.cpp:8"));
  StopAt stop(point("kernel.cpp:8#2"));
  RunObservers both;
  both.add(stop);
  both.add(dump);
  const auto result = observe(both);
  ASSERT_TRUE(result && result->stop);
  EXPECT_FALSE(dump.result());
}

TEST_F(Synchronised, DumpAfterTheLastShareOfATransfer) {
  for (Schedule schedule : {Schedule(Schedule::RoundRobin), Schedule(Schedule::ReverseDma)}) {
    DumpTensor dump({t}, point("kernel.cpp:5"));
    EXPECT_TRUE(observe(dump, schedule));
    ASSERT_TRUE(dump.result());
    EXPECT_EQ(dump.result()->value.data, counting({2, 8}).data);
    EXPECT_EQ(dump.result()->unwritten, 0);
  }
}

//---- watch --------------------------------------------------------------===//

/// The texts of a watch.
std::vector<std::string> watched(Questions &, const Program &program, std::string_view region,
                                 const std::function<void(RunObserver &)> &observe,
                                 WatchOptions options = {}) {
  Expected<MemoryRegion> parsed = parseRegion(region, program);
  EXPECT_TRUE(parsed) << parsed.error().message;
  std::vector<std::string> texts;
  Watch watch(*parsed, options,
              [&](const WatchEvent &event) { texts.push_back(toText(event, program)); });
  observe(watch);
  return texts;
}

TEST_F(Questions, WatchShowsEveryWriteWithWhatItChanges) {
  const auto texts =
      watched(*this, program, "sbuf:0:72-83", [&](RunObserver &o) { EXPECT_TRUE(observe(o)); });
  EXPECT_THAT(
      texts, ElementsAre(
                 "instruction 0 of the sync stream, dma_copy, at kernel.cpp:5\n"
                 "  writes dst 't': sbuf partition 0, bytes 72-83, 3 elements\n"
                 "  (0, 2): unwritten -> 3, (0, 3): unwritten -> 4, (0, 4): unwritten -> 5\n",
                 "instruction 0 of the vector stream, memset, at kernel.cpp:6\n"
                 "  writes dst 't': sbuf partition 0, bytes 80-83, 1 element\n"
                 "  (0, 4): 5 -> 0\n",
                 "instruction 2 of the vector stream, tensor_tensor, at kernel.cpp:8, iteration 2\n"
                 "  writes dst 't': sbuf partition 0, bytes 72-75, 1 element\n"
                 "  (0, 2): 3 -> 6\n",
                 "instruction 4 of the vector stream, memset, at kernel.cpp:9\n"
                 "  writes dst 'u': sbuf partition 0, bytes 72-73, 2 elements\n"
                 "  (0, 0): unwritten -> 7, (0, 1): unwritten -> 7\n"));
}

TEST_F(Questions, WatchOfATensorSeesWhatNamesIt) {
  const auto texts =
      watched(*this, program, "t[1, 3:6]", [&](RunObserver &o) { EXPECT_TRUE(observe(o)); },
              {.reads = true, .maxChanges = 1});
  EXPECT_THAT(texts, ElementsAre("instruction 0 of the sync stream, dma_copy, at kernel.cpp:5\n"
                                 "  writes dst 't': sbuf partition 1, bytes 76-87, 3 elements\n"
                                 "  (1, 3): unwritten -> 12, 2 more\n",
                                 "instruction 0 of the vector stream, memset, at kernel.cpp:6\n"
                                 "  writes dst 't': sbuf partition 1, bytes 80-87, 2 elements\n"
                                 "  (1, 4): 13 -> 0, 1 more\n"));
}

TEST_F(Questions, WatchShowsReadsBeforeTheWriteOfTheirInstruction) {
  const auto texts = watched(*this, program, "t[0, 1]",
                             [&](RunObserver &o) { EXPECT_TRUE(observe(o)); }, {.reads = true});
  ASSERT_EQ(texts.size(), 4u);
  EXPECT_EQ(texts[1], "instruction 2 of the vector stream, tensor_tensor, at kernel.cpp:8, "
                      "iteration 1\n"
                      "  reads data1 't': sbuf partition 0, bytes 68-71, 1 element\n");
  EXPECT_EQ(texts[2].substr(texts[2].find('\n')),
            "\n  reads data2 't': sbuf partition 0, bytes 68-71, 1 element\n");
  EXPECT_EQ(texts[3].substr(texts[3].find('\n')),
            "\n  writes dst 't': sbuf partition 0, bytes 68-71, 1 element\n  (0, 1): 2 -> 4\n");
}

TEST_F(Questions, WatchOfHbm) {
  const auto texts = watched(*this, program, "y", [&](RunObserver &o) { EXPECT_TRUE(observe(o)); },
                             {.maxChanges = 2});
  EXPECT_THAT(texts, ElementsAre("instruction 3 of the sync stream, dma_copy, at kernel.cpp:9\n"
                                 "  writes dst 'y': hbm bytes 0-15 of 'y', 4 elements\n"
                                 "  (0, 0): unwritten -> 1, (0, 1): unwritten -> 2, 2 more\n"));
}

TEST_F(Questions, AWriteOfTheSameValueChangesNothing) {
  ProgramBuilder c({.placed = true});
  const uint32_t v = c.onChip("v", Memory::Sbuf, DType::Float32, {1, 2}, 0, 0);
  const uint32_t out = c.output("y", DType::Float32, {1, 2});
  c.memset(c.all(v), 1);
  c.memset(c.all(v), 1);
  c.dma(c.all(out), c.all(v));
  const Program same = c.finish();
  const auto texts =
      watched(*this, same, "v", [&](RunObserver &o) { EXPECT_TRUE(run(c, {}, {.observer = &o})); });
  ASSERT_EQ(texts.size(), 2u);
  EXPECT_EQ(texts[1], "instruction 1 of the vector stream, memset, at an unknown line\n"
                      "  writes dst 'v': sbuf partition 0, bytes 0-7, 2 elements\n"
                      "  nothing changes\n");
}

TEST_F(Synchronised, WatchShowsEachShareOfATransfer) {
  const auto texts = watched(*this, program, "t[:, 0]", [&](RunObserver &o) {
    EXPECT_TRUE(observe(o, Schedule::RoundRobin));
  });
  ASSERT_EQ(texts.size(), 3u); // two rows by two engines, and the loop
  EXPECT_EQ(texts[0], "instruction 0 of the sync stream, dma_copy, DMA engine 7 of 16, at "
                      "kernel.cpp:5\n"
                      "  writes dst 't': sbuf partition 0, bytes 64-67, 1 element\n"
                      "  (0, 0): unwritten -> 1\n");
  EXPECT_EQ(texts[1].substr(0, 70),
            "instruction 0 of the sync stream, dma_copy, DMA engine 15 of 16, at ke");
}

//---- who wrote ----------------------------------------------------------===//

std::vector<std::string> writersOf(const Program &program, std::string_view region,
                                   const std::function<void(RunObserver &)> &observe) {
  Expected<MemoryRegion> parsed = parseRegion(region, program);
  EXPECT_TRUE(parsed) << parsed.error().message;
  LastWriters writers(*parsed);
  observe(writers);
  std::vector<std::string> texts;
  for (const WrittenStretch &stretch : writers.stretches())
    texts.push_back(toText(stretch, program));
  return texts;
}

TEST_F(Questions, WhoWroteAtTheEnd) {
  EXPECT_THAT(
      writersOf(program, "sbuf:0-2:60-99", [&](RunObserver &o) { EXPECT_TRUE(observe(o)); }),
      ElementsAre("sbuf partitions 0-1, bytes 60-63: never written",
                  "sbuf partitions 0-1, bytes 64-67: dst of 't', instruction 2 of the vector "
                  "stream, tensor_tensor, at kernel.cpp:8, iteration 0",
                  "sbuf partitions 0-1, bytes 68-71: dst of 't', instruction 2 of the vector "
                  "stream, tensor_tensor, at kernel.cpp:8, iteration 1",
                  "sbuf partitions 0-1, bytes 72-73: dst of 'u', instruction 4 of the vector "
                  "stream, memset, at kernel.cpp:9",
                  "sbuf partitions 0-1, bytes 74-75: dst of 't', instruction 2 of the vector "
                  "stream, tensor_tensor, at kernel.cpp:8, iteration 2",
                  "sbuf partitions 0-1, bytes 76-79: dst of 't', instruction 0 of the sync stream, "
                  "dma_copy, at kernel.cpp:5",
                  "sbuf partitions 0-1, bytes 80-95: dst of 't', instruction 0 of the vector "
                  "stream, memset, at kernel.cpp:6",
                  "sbuf partitions 0-1, bytes 96-99: never written",
                  "sbuf partition 2, bytes 60-99: never written"));
}

TEST_F(Questions, WhoWroteATensor) {
  const auto ask = [&](std::string_view region) {
    return writersOf(program, region, [&](RunObserver &o) { EXPECT_TRUE(observe(o)); });
  };
  // By bytes: also what another tensor left there.
  EXPECT_THAT(ask("t[1, 2]"),
              ElementsAre("sbuf partition 1, bytes 72-73: dst of 'u', instruction 4 of the vector "
                          "stream, memset, at kernel.cpp:9",
                          "sbuf partition 1, bytes 74-75: dst of 't', instruction 2 of the vector "
                          "stream, tensor_tensor, at kernel.cpp:8, iteration 2"));
  EXPECT_THAT(ask("x[0]"), ElementsAre("hbm bytes 0-31 of 'x': given to the kernel"));
  EXPECT_THAT(ask("y[1, 1]"), ElementsAre("hbm bytes 12-15 of 'y': dst of 'y', instruction 3 of "
                                          "the sync stream, dma_copy, at kernel.cpp:9"));
}

TEST_F(Questions, WhoWroteUntilAStop) {
  StopAt stop(point("kernel.cpp:8", WhichOfLine::First));
  const auto texts = writersOf(program, "t[0, 3:5]", [&](RunObserver &writers) {
    RunObservers both;
    both.add(stop);
    both.add(writers);
    const auto result = observe(both);
    ASSERT_TRUE(result && result->stop);
    EXPECT_EQ(result->stop->message,
              "the run stopped before instruction 2 of the vector stream, tensor_tensor");
    EXPECT_EQ(render(*result->stop).substr(render(*result->stop).rfind("note")),
              "note: in iteration 0 of a loop of 3, counted from 0 @ kernel.cpp:7");
  });
  EXPECT_THAT(texts, ElementsAre("sbuf partition 0, bytes 76-79: dst of 't', instruction 0 of the "
                                 "sync stream, dma_copy, at kernel.cpp:5",
                                 "sbuf partition 0, bytes 80-83: dst of 't', instruction 0 of the "
                                 "vector stream, memset, at kernel.cpp:6"));
}

TEST(LongLoops, WhoWroteForgetsWritersOfWhomNothingIsLeft) {
  // 20000 iterations overwrite one element and walk along a tensor of 20000.
  ProgramBuilder b({.placed = true});
  const uint32_t v = b.onChip("v", Memory::Sbuf, DType::Float32, {1, 20001}, 0, 0);
  const uint32_t out = b.output("y", DType::Float32, {1, 1});
  b.line(1);
  b.loop(20000);
  b.line(2);
  b.memset(moving(b.at(v, 0, 1, 1, {{1, 1}}), {1}), 1);
  b.line(3);
  b.memset(b.at(v, 0, 1, 0, {{1, 1}}), 2);
  b.endLoop();
  b.dma(b.all(out), b.at(v, 0, 1, 0, {{1, 1}}));
  const Program program = b.finish();
  const auto ask = [&](std::string_view region) {
    return writersOf(program, region,
                     [&](RunObserver &o) { EXPECT_TRUE(run(b, {}, {.observer = &o})); });
  };
  EXPECT_THAT(ask("v[0, 0:2]"),
              ElementsAre("sbuf partition 0, bytes 0-3: dst of 'v', instruction 2 of the vector "
                          "stream, memset, at kernel.cpp:3, iteration 19999",
                          "sbuf partition 0, bytes 4-7: dst of 'v', instruction 1 of the vector "
                          "stream, memset, at kernel.cpp:2, iteration 0"));
  EXPECT_EQ(ask("v").size(), 20001u);
}

//---- prints as text -----------------------------------------------------===//

TEST(PrintText, SaysWhatWhereAndWhen) {
  DevicePrint print;
  print.prefix = "sums";
  print.value = counting({1, 2});
  print.place = {{"helpers.h", 7}, {"kernel.cpp", 33}};
  print.iterations = {3};
  EXPECT_EQ(toText(print), "sums float32 [1, 2] at helpers.h:7 from kernel.cpp:33, iteration 3\n"
                           "[[1 2]]\n");
  print.iterations = {3, 0};
  print.prefix = "y = ";
  EXPECT_EQ(toText(print).substr(0, 78),
            "y = float32 [1, 2] at helpers.h:7 from kernel.cpp:33, iterations 3, 0\n[[1 2]]\n");
  print = {};
  print.value = array<uint8_t>(DType::UInt8, {7}, {1, 2, 3, 4, 5, 6, 7});
  EXPECT_EQ(toText(print, {.limit = 6}), "uint8 [7] at an unknown line\n[1 2 3 ... 5 6 7]\n");
  print.prefix = "\x1b[2J\n\xce\xbc";
  EXPECT_EQ(toText(print).substr(0, 25), "\\x1b[2J\\x0a\xce\xbc uint8 [7] a");
}

} // namespace
