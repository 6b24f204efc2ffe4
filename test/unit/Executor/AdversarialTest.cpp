//===- AdversarialTest.cpp - schedules by name, and those that hold something back ------------===//

#include "Pipeline.h"

using namespace kilnrt;
using namespace kilnrt::test;

namespace {

std::vector<std::string> textsOf(const std::vector<Schedule> &schedules) {
  std::vector<std::string> texts;
  for (const Schedule &schedule : schedules)
    texts.push_back(scheduleText(schedule));
  return texts;
}

/// The schedule `text` names.
Schedule named(const std::string &text) {
  const Expected<Schedule> schedule = parseSchedule(text);
  EXPECT_TRUE(schedule) << text;
  return schedule ? *schedule : Schedule();
}

/// What is wrong in `pipeline` under a schedule: a rule, "bits", or nothing.
std::string problemOf(Pipeline &pipeline, const Schedule &schedule) {
  const Expected<RunResult> result = run(pipeline.b, pipeline.inputs, {.schedule = schedule});
  if (!result)
    return result.error().rule;
  return bitsOf(result->outputs[0]) == pipeline.expected() ? "" : "bits";
}

} // namespace

//---- names --------------------------------------------------------------===//

TEST(ScheduleName, IsReadBackAsWritten) {
  for (const char *text :
       {"program", "round-robin", "random:0", "random:18446744073709551615",
        "adversarial:starve-tensor", "adversarial:starve-vector", "adversarial:starve-scalar",
        "adversarial:starve-gpsimd", "adversarial:starve-sync", "adversarial:starve-ring0",
        "adversarial:starve-ring7", "adversarial:reverse-dma", "adversarial:delay-dma0",
        "adversarial:delay-dma15"})
    EXPECT_EQ(scheduleText(named(text)), text);
  EXPECT_EQ(named("random:7"), Schedule(Schedule::Random, 7));
  EXPECT_EQ(named("adversarial:starve-vector"),
            Schedule(Schedule::StarveEngine, uint64_t(Engine::Vector)));
  EXPECT_EQ(named("adversarial:delay-dma15"), Schedule(Schedule::DelayDma, 15));
  EXPECT_TRUE(named("adversarial:starve-ring0").isAdversarial());
  EXPECT_FALSE(named("random:1").isAdversarial());
}

TEST(ScheduleName, ThatIsWrongSaysWhichThereAre) {
  const std::string all = "schedules are program, round-robin, random:SEED as in random:7, and "
                          "adversarial:NAME as in adversarial:reverse-dma";
  const std::string seeds =
      "a seed is a whole number from 0 to 18446744073709551615, as in random:7";
  const std::string names =
      "after adversarial: comes starve-ENGINE with one of tensor, scalar, gpsimd, vector, sync; "
      "starve-ringN with N from 0 to 7; reverse-dma; or delay-dmaN with N from 0 to 15";
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"", all},
      {"Program", all},
      {"adversarial", all},
      {"random", all},
      {"random:", seeds},
      {"random:-1", seeds},
      {"random:7x", seeds},
      {"random:18446744073709551616", seeds},
      {"adversarial:", names},
      {"adversarial:reverse-dma1", names},
      {"adversarial:starve-", names},
      {"adversarial:starve-unknown", names},
      {"adversarial:starve-ring", names},
      {"adversarial:starve-ring8", names},
      {"adversarial:delay-dma16", names},
      {"adversarial:delay-dma-1", names},
  };
  for (const auto &[text, help] : cases) {
    const Expected<Schedule> schedule = parseSchedule(text);
    ASSERT_FALSE(schedule) << text;
    EXPECT_EQ(schedule.error().fault, Fault::Usage);
    EXPECT_EQ(schedule.error().message, "there is no schedule '" + text + "'");
    EXPECT_EQ(schedule.error().help, help) << text;
  }
}

//---- which there are ----------------------------------------------------===//

TEST(Adversarial, SchedulesAreThoseThatDiffer) {
  Pipeline pipeline(2);
  std::vector<std::string> expected = {"adversarial:starve-tensor", "adversarial:starve-scalar",
                                       "adversarial:starve-gpsimd", "adversarial:starve-vector",
                                       "adversarial:starve-sync",   "adversarial:starve-ring0",
                                       "adversarial:starve-ring1",  "adversarial:starve-ring2",
                                       "adversarial:starve-ring3",  "adversarial:reverse-dma"};
  for (int i = 0; i < 16; ++i)
    expected.push_back("adversarial:delay-dma" + std::to_string(i));
  EXPECT_EQ(textsOf(adversarialSchedules(pipeline.b.finish())), expected);
}

TEST(Adversarial, SchedulesOfAProgramWithoutTransfersAreItsEngines) {
  ProgramBuilder b(kSynchronised);
  const uint32_t t = b.sbuf("t", DType::Float32, {2, 2});
  b.loop(3); // every stream has the edges; one has something to do
  b.memset(b.all(t), 1);
  b.endLoop();
  EXPECT_EQ(textsOf(adversarialSchedules(b.finish())),
            (std::vector<std::string>{"adversarial:starve-vector"}));
}

TEST(Adversarial, ThereIsNoScheduleForAProgramThatIsNotSynchronised) {
  ProgramBuilder b;
  const uint32_t t = b.sbuf("t", DType::Float32, {2, 2});
  b.memset(b.all(t), 1);
  EXPECT_EQ(adversarialSchedules(b.finish()), std::vector<Schedule>());
}

//---- what they do -------------------------------------------------------===//

TEST(Adversarial, EveryScheduleOfARightProgramGivesTheSameBits) {
  Pipeline pipeline(7);
  for (const Schedule &schedule : adversarialSchedules(pipeline.b.finish()))
    EXPECT_EQ(problemOf(pipeline, schedule), "") << scheduleText(schedule);
}

TEST(Adversarial, AStarvedAgentShowsTheWaitThatIsMissingForIt) {
  using Wait = Pipeline::Wait;
  // The producer or, where a buffer is given back too early, the reader is held back.
  const std::vector<std::pair<Wait, const char *>> cases = {
      {Wait::Load, "starve-ring0"},     {Wait::Scaled, "starve-scalar"},
      {Wait::Product, "starve-tensor"}, {Wait::Copied, "starve-vector"},
      {Wait::InFree, "starve-tensor"},  {Wait::ProductFree, "starve-vector"},
      {Wait::OutFree, "starve-ring2"}};
  for (const auto &[wait, name] : cases) {
    Pipeline pipeline(7, wait);
    EXPECT_NE(problemOf(pipeline, named("adversarial:" + std::string(name))), "")
        << name << " finds nothing without wait " << int(wait);
  }
}

/// Two transfers on one ring write the same tile, and nothing orders them.
TEST(Adversarial, ReverseDmaMovesTheNewestTransferOfARingFirst) {
  ProgramBuilder b(kSynchronised);
  const uint32_t x = b.input("x", DType::Int32, {32, 2});
  const uint32_t y = b.input("y", DType::Int32, {32, 2});
  const uint32_t t = b.sbuf("t", DType::Int32, {32, 2});
  const uint32_t out = b.output("o", DType::Int32, {32, 2});
  raise(b.dma(b.all(t), b.all(x), 3), 0, 16);
  raise(b.dma(b.all(t), b.all(y), 3), 0, 16);
  waitFor(b.dma(b.all(out), b.all(t)), 0, 32);
  const std::vector<uint32_t> older(64, 1), newer(64, 2);
  const std::vector<HostArray> inputs = {fromBits(DType::Int32, {32, 2}, older),
                                         fromBits(DType::Int32, {32, 2}, newer)};

  EXPECT_EQ(bitsOf(outputsOf(b, inputs)[0]), newer);
  EXPECT_EQ(bitsOf(outputsOf(b, inputs, {.schedule = Schedule::RoundRobin})[0]), newer);
  EXPECT_EQ(bitsOf(outputsOf(b, inputs, {.schedule = Schedule::ReverseDma})[0]), older);
}

/// The newest transfer of all rings comes first, also one that a share of an older one let start.
TEST(Adversarial, ReverseDmaGoesBackToATransferItHasBegun) {
  ProgramBuilder b(kSynchronised);
  const uint32_t x = b.input("x", DType::Int32, {32, 2});
  const uint32_t t = b.sbuf("t", DType::Int32, {32, 2});
  const uint32_t out = b.output("o", DType::Int32, {32, 2});
  const uint32_t second = b.output("p", DType::Int32, {32, 2});
  raise(b.dma(b.all(t), b.all(x), 3), 0, 16);
  waitFor(b.dma(b.all(second), b.all(x), 3), 0, 5); // begins when five shares were moved
  waitFor(b.dma(b.all(out), b.all(t), 2), 0, 16);
  const std::vector<uint32_t> bits = samples(DType::Int32, 64, 1);
  const std::vector<HostArray> inputs = {fromBits(DType::Int32, {32, 2}, bits)};

  for (const Schedule &schedule : adversarialSchedules(b.finish()))
    for (const HostArray &output : outputsOf(b, inputs, {.schedule = schedule}))
      EXPECT_EQ(bitsOf(output), bits) << scheduleText(schedule);
}

/// With two transfers in flight a semaphore reaches 16 while one engine has moved nothing: the
/// consumer finds that engine's rows unwritten, whichever it is.
TEST(Adversarial, DelayDmaFindsWhoTakesTwoTransfersForOne) {
  for (uint64_t engine = 0; engine < 16; ++engine) {
    ProgramBuilder b(kSynchronised);
    const uint32_t x = b.input("x", DType::Float32, {128, 4});
    const uint32_t first = b.sbuf("first", DType::Float32, {128, 4});
    const uint32_t second = b.sbuf("second", DType::Float32, {128, 4});
    raise(b.dma(b.all(first), b.all(x)), 0, 16);
    raise(b.dma(b.all(second), b.all(x)), 0, 16);
    waitFor(b.copy(b.at(first, 0, 128, 0, {{1, 2}}), b.at(first, 0, 128, 2, {{1, 2}})), 0, 16);
    const std::vector<HostArray> inputs = {
        fromBits(DType::Float32, {128, 4}, samples(DType::Float32, 512, 1))};

    const Diagnostic fault = faultOf(b, inputs, {.schedule = {Schedule::DelayDma, engine}});

    EXPECT_EQ(fault.rule, "M-09");
    EXPECT_EQ(fault.message, "tensor_copy reads 'first' where it was not written: elements (" +
                                 std::to_string(engine * 8) + "-" + std::to_string(engine * 8 + 7) +
                                 ", 2-3), 64 of 1024 bytes");
    EXPECT_EQ(fault.notes.back().message,
              "schedule: adversarial:delay-dma" + std::to_string(engine));
  }
}

TEST(Adversarial, HoldsBackInEveryIterationOfALoop) {
  ProgramBuilder b(kSynchronised);
  const uint32_t x = b.input("x", DType::Int32, {128, 4});
  const uint32_t y = b.output("y", DType::Int32, {128, 4});
  const uint32_t t = b.sbuf("t", DType::Int32, {32, 4});
  b.loop(4);
  raise(b.dma(b.all(t), moving(b.rows(x, 0, 32, 4, {{1, 4}}), {32 * 4})), 0, 16);
  waitFor(b.dma(moving(b.rows(y, 0, 32, 4, {{1, 4}}), {32 * 4}), b.all(t), 1), 0, 16);
  b.endLoop();
  const std::vector<uint32_t> bits = samples(DType::Int32, 512, 2);
  const std::vector<HostArray> inputs = {fromBits(DType::Int32, {128, 4}, bits)};

  for (const Schedule &schedule : adversarialSchedules(b.finish()))
    EXPECT_EQ(bitsOf(outputsOf(b, inputs, {.schedule = schedule})[0]), bits)
        << scheduleText(schedule);
}
