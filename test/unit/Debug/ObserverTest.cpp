//===- ObserverTest.cpp - what an observer is told --------------------------------------------===//

#include "kilnrt/Debug.h"

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

/// Everything that happens, a line each.
class Log : public RunObserver {
public:
  std::vector<std::string> lines;
  std::function<bool(const RunStep &)> permit;

  void starts(const RunView &given) override {
    view.emplace(given);
    lines.push_back("starts");
  }
  bool permits(const RunStep &step) override { return !permit || permit(step); }
  void reads(const RunStep &step, unsigned operand, const Place &place) override {
    lines.push_back(text(step, operand) + " reads " + text(place));
  }
  void writes(const RunStep &step, unsigned operand, const Place &place) override {
    lines.push_back(text(step, operand) + " writes " + text(place));
  }
  void ends(const RunStep &step) override {
    lines.push_back(std::to_string(step.order) + (step.completes ? " ends" : " goes on"));
  }
  void finishes() override { lines.push_back("finishes"); }

private:
  static std::string text(const RunStep &step, unsigned operand) {
    std::string out = std::to_string(step.order);
    for (unsigned l = 0; l < step.loops; ++l)
      out += (l ? "," : "@") + std::to_string(step.iteration[l]);
    if (step.share != RunStep::kWhole)
      out += "/" + std::to_string(step.share);
    return out + " " + std::string(isa::findInstruction(step.opcode)->operands[operand].name);
  }
  std::string text(const Place &place) const {
    return view->program.tensors[place.tensor].name + " " + std::to_string(place.partition) + "+" +
           std::to_string(place.partitions()) + ", " + std::to_string(place.firstByte) + "-" +
           std::to_string(place.endByte - 1);
  }
  std::optional<RunView> view;
};

TEST(Observer, SeesReadsBeforeWritesBeforeTheEnd) {
  ProgramBuilder b;
  const uint32_t x = b.input("x", DType::Float32, {2, 4}),
                 y = b.output("y", DType::Float32, {2, 4});
  const uint32_t t = b.sbuf("t", DType::Float32, {2, 4});
  b.dma(b.all(t), b.all(x));
  b.copy(b.at(t, 0, 1, 1, {{2, 2}}), b.at(t, 0, 1, 0, {{1, 2}}));
  b.dma(b.all(y), b.all(t));
  Log log;

  outputsOf(b, std::vector{counting({2, 4})}, {.observer = &log});

  EXPECT_THAT(log.lines,
              ElementsAre("starts", "0 src reads x 0+1, 0-31", "0 dst writes t 0+2, 0-15", "0 ends",
                          "1 src reads t 0+1, 0-7", "1 dst writes t 0+1, 4-15", "1 ends",
                          "2 src reads t 0+2, 0-15", "2 dst writes y 0+1, 0-31", "2 ends",
                          "finishes"));
}

TEST(Observer, SeesTheSharesOfATransfer) {
  // 20 rows: engines move one or two.
  ProgramBuilder b;
  const uint32_t x = b.input("x", DType::Float32, {20, 1}),
                 y = b.output("y", DType::Float32, {20, 1});
  const uint32_t t = b.sbuf("t", DType::Float32, {20, 1});
  b.dma(b.all(t), b.all(x));
  b.dma(b.all(y), b.all(t));
  b.serialise();
  Log log;

  outputsOf(b, std::vector{counting({20, 1})},
            {.schedule = Schedule::RoundRobin, .observer = &log});

  ASSERT_EQ(log.lines.size(), 2u + 2 * 16 * 3);
  EXPECT_EQ(log.lines[1], "0/0 src reads x 0+1, 0-3");
  EXPECT_EQ(log.lines[2], "0/0 dst writes t 0+1, 0-3");
  EXPECT_EQ(log.lines[3], "0 goes on");
  EXPECT_EQ(log.lines[1 + 3 * 3], "0/3 src reads x 0+1, 12-19"); // rows 3 and 4
  EXPECT_EQ(log.lines[2 + 3 * 3], "0/3 dst writes t 3+2, 0-3");
  EXPECT_EQ(log.lines[16 * 3], "0 ends");
  EXPECT_EQ(log.lines[2 * 16 * 3], "1 ends");
}

TEST(Observer, ATransferWithoutRowsIsSeenInPieces) {
  ProgramBuilder b;
  const uint32_t x = b.input("x", DType::Float32, {3, 2}),
                 y = b.output("y", DType::Float32, {3, 2});
  const uint32_t t = b.sbuf("t", DType::Float32, {3, 2}), u = b.sbuf("u", DType::Float32, {2, 3});
  b.dma(b.all(t), b.all(x));
  b.dma(b.all(u), b.all(t)); // rows of 3 from rows of 2
  b.dma(b.all(y), b.all(u));
  Log log;

  outputsOf(b, std::vector{counting({3, 2})}, {.observer = &log});

  log.lines.erase(log.lines.begin(), log.lines.begin() + 4);
  log.lines.resize(9);
  EXPECT_THAT(log.lines,
              ElementsAre("1 src reads t 0+1, 0-7", "1 src reads t 1+1, 0-3",
                          "1 src reads t 1+1, 4-7", "1 src reads t 2+1, 0-7",
                          "1 dst writes u 0+1, 0-7", "1 dst writes u 0+1, 8-11",
                          "1 dst writes u 1+1, 0-3", "1 dst writes u 1+1, 4-11", "1 ends"));
}

TEST(Observer, KnowsTheIterationsOfLoops) {
  ProgramBuilder b;
  const uint32_t y = b.output("y", DType::Float32, {1, 6});
  const uint32_t t = b.sbuf("t", DType::Float32, {1, 6});
  b.loop(3);
  b.loop(2);
  Record &set = b.memset(moving(b.at(t, 0, 1, 0, {{1, 1}}), {2, 1}), 7);
  b.endLoop();
  b.endLoop();
  b.dma(b.all(y), b.all(t));
  const std::string order = std::to_string(set.order);
  Log log;

  outputsOf(b, {}, {.observer = &log});

  std::vector<std::string> writes;
  for (const std::string &line : log.lines)
    if (line.starts_with(order + "@"))
      writes.push_back(line.substr(order.size()));
  EXPECT_THAT(writes, ElementsAre("@0,0 dst writes t 0+1, 0-3", "@0,1 dst writes t 0+1, 4-7",
                                  "@1,0 dst writes t 0+1, 8-11", "@1,1 dst writes t 0+1, 12-15",
                                  "@2,0 dst writes t 0+1, 16-19", "@2,1 dst writes t 0+1, 20-23"));
}

TEST(Observer, SeesOnlyTheElementsThatAreWritten) {
  ProgramBuilder b;
  const uint32_t y = b.output("y", DType::Float32, {1, 5});
  const uint32_t t = b.sbuf("t", DType::Float32, {1, 5}), p = b.sbuf("p", DType::UInt8, {1, 5});
  b.memset(b.all(t), 1);
  b.memset(b.all(p), 0);
  b.memset(b.at(p, 0, 1, 1, {{1, 2}}), 1);
  Record &select = b.add(Engine::Vector, Opcode::TensorCopyPredicated, {b.all(t)});
  select.inst.operands[isa::TensorCopyPredicatedArgs::predicate] = b.all(p);
  select.inst.setReal("imm_src", 3);
  b.dma(b.all(y), b.all(t));
  Log log;

  const auto outputs = outputsOf(b, {}, {.observer = &log});

  EXPECT_THAT(values<float>(outputs[0]), ElementsAre(1, 3, 3, 1, 1));
  EXPECT_THAT(log.lines, testing::Contains("3 dst writes t 0+1, 4-11"));
}

TEST(Observer, SeesWhatAFaultLeft) {
  ProgramBuilder b;
  const uint32_t y = b.output("y", DType::Float32, {1, 2});
  const uint32_t t = b.sbuf("t", DType::Float32, {1, 2});
  b.memset(b.at(t, 0, 1, 0, {{1, 1}}), 1);
  b.dma(b.all(y), b.all(t));
  Log log;

  faultOf(b, {}, {.observer = &log});

  EXPECT_THAT(log.lines, ElementsAre("starts", "0 dst writes t 0+1, 0-3", "0 ends", "finishes"));
}

TEST(Observer, EndsARunBeforeAnInstruction) {
  ProgramBuilder b;
  const uint32_t x = b.input("x", DType::Float32, {2, 4}),
                 y = b.output("y", DType::Float32, {2, 4});
  const uint32_t t = b.sbuf("t", DType::Float32, {2, 4});
  b.line(3);
  b.dma(b.all(t), b.all(x));
  b.line(4);
  b.memset(b.all(t), 2);
  b.line(5);
  b.dma(b.all(y), b.all(t));
  b.serialise();
  for (Schedule schedule : {Schedule(), Schedule(Schedule::RoundRobin)}) {
    Log log;
    log.permit = [](const RunStep &step) { return step.order != 2; };

    const Expected<RunResult> result =
        run(b, std::vector{counting({2, 4})}, {.schedule = schedule, .observer = &log});

    ASSERT_TRUE(result);
    EXPECT_TRUE(result->outputs.empty());
    EXPECT_EQ(result->stats.instructions, 2u);
    ASSERT_TRUE(result->stop);
    EXPECT_EQ(result->stop->severity, kiln::Severity::Note);
    EXPECT_EQ(render(*result->stop),
              ": the run stopped before instruction 1 of the sync stream, dma_copy @ kernel.cpp:5\n"
              "help: \n"
              "note: the vector stream has come to its end @ \n"
              "note: the sync stream stands at instruction 1 of 2, dma_copy @ kernel.cpp:5");
    EXPECT_EQ(log.lines.back(), "finishes");
  }
}

TEST(Observer, ChangesNoResult) {
  ProgramBuilder b;
  const uint32_t x = b.input("x", DType::Float32, {20, 8}),
                 y = b.output("y", DType::Float32, {20, 8});
  const uint32_t t = b.sbuf("t", DType::Float32, {20, 8});
  b.dma(b.all(t), b.all(x));
  b.copy(b.at(t, 0, 20, 1, {{1, 7}}), b.at(t, 0, 20, 0, {{1, 7}}));
  b.dma(b.all(y), b.all(t));
  b.serialise();
  const std::vector inputs{counting({20, 8})};
  const std::vector<HostArray> plain = outputsOf(b, inputs);
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    Log log;
    const std::vector<HostArray> seen =
        outputsOf(b, inputs, {.schedule = {Schedule::Random, seed}, .observer = &log});
    EXPECT_EQ(seen[0].data, plain[0].data);
  }
}

TEST(Observer, SeveralAreToldInOrderAndAllHaveToPermit) {
  ProgramBuilder b;
  const uint32_t y = b.output("y", DType::Float32, {1, 1});
  const uint32_t t = b.sbuf("t", DType::Float32, {1, 1});
  b.memset(b.all(t), 1);
  b.dma(b.all(y), b.all(t));
  Log first, second;
  first.permit = [](const RunStep &step) { return step.order != 1; };
  RunObservers both;
  EXPECT_TRUE(both.empty());
  both.add(first);
  both.add(second);

  const Expected<RunResult> result = run(b, {}, {.observer = &both});

  ASSERT_TRUE(result);
  EXPECT_TRUE(result->stop);
  EXPECT_EQ(first.lines, second.lines);
  EXPECT_THAT(second.lines, ElementsAre("starts", "0 dst writes t 0+1, 0-3", "0 ends", "finishes"));
}

} // namespace
