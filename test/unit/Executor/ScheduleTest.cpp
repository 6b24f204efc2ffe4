//===- ScheduleTest.cpp - engines and rings in every order ------------------------------------===//

#include "Pipeline.h"

#include <set>

using namespace kilnrt;
using namespace kilnrt::test;

namespace {

constexpr uint64_t kSeeds = 100;

RunOptions random(uint64_t seed) { return {.schedule = {Schedule::Random, seed}}; }

} // namespace

//---- equal bits ---------------------------------------------------------===//

TEST(Schedule, EveryOrderOfASynchronisedProgramGivesTheSameBits) {
  Pipeline pipeline(7);
  const std::vector<uint32_t> expected = pipeline.expected();

  EXPECT_EQ(bitsOf(outputsOf(pipeline.b, pipeline.inputs)[0]), expected);
  EXPECT_EQ(bitsOf(outputsOf(pipeline.b, pipeline.inputs, {.schedule = Schedule::RoundRobin})[0]),
            expected);
  for (uint64_t seed = 0; seed < kSeeds; ++seed)
    ASSERT_EQ(bitsOf(outputsOf(pipeline.b, pipeline.inputs, random(seed))[0]), expected)
        << "seed " << seed;
}

TEST(Schedule, ASeedAlwaysGivesTheSameOrder) {
  Pipeline pipeline(3, Pipeline::Wait::Load);
  for (uint64_t seed = 0; seed < 5; ++seed) {
    const Expected<RunResult> first = run(pipeline.b, pipeline.inputs, random(seed));
    const Expected<RunResult> second = run(pipeline.b, pipeline.inputs, random(seed));
    ASSERT_EQ(bool(first), bool(second));
    if (!first) {
      EXPECT_EQ(render(first.error()), render(second.error()));
    }
  }
}

TEST(Schedule, AnyWaitLeftOutIsFoundBySomeSeed) {
  using Wait = Pipeline::Wait;
  for (Wait wait : {Wait::Load, Wait::Scaled, Wait::Product, Wait::Copied, Wait::InFree,
                    Wait::ProductFree, Wait::OutFree}) {
    Pipeline pipeline(7, wait);
    const std::vector<uint32_t> expected = pipeline.expected();
    uint64_t found = 0;
    for (uint64_t seed = 0; seed < kSeeds; ++seed) {
      const Expected<RunResult> result = run(pipeline.b, pipeline.inputs, random(seed));
      found += !result || bitsOf(result->outputs[0]) != expected;
    }
    EXPECT_GT(found, 0u) << "wait " << int(wait);
  }
}

TEST(Schedule, TwoTransfersInFlightReachSixteenBeforeTheFirstIsDone) {
  for (uint32_t wait : {16u, 32u}) {
    ProgramBuilder b(kSynchronised);
    const uint32_t x = b.input("x", DType::Float32, {128, 4});
    const uint32_t first = b.sbuf("first", DType::Float32, {128, 4});
    const uint32_t second = b.sbuf("second", DType::Float32, {128, 4});
    const uint32_t copy = b.sbuf("copy", DType::Float32, {128, 4});
    const uint32_t out = b.output("o", DType::Float32, {128, 4});
    raise(b.dma(b.all(first), b.all(x)), 0, 16);
    raise(b.dma(b.all(second), b.all(x)), 0, 16);
    Record &consumer = b.copy(b.all(copy), b.all(first));
    waitFor(consumer, 0, wait);
    raise(consumer, 1);
    waitFor(b.dma(b.all(out), b.all(copy)), 1, 1);
    const std::vector<HostArray> inputs = {
        fromBits(DType::Float32, {128, 4}, samples(DType::Float32, 512, 1))};

    EXPECT_TRUE(run(b, inputs)) << "in program order nothing is wrong";
    std::set<std::string> rules;
    for (uint64_t seed = 0; seed < kSeeds; ++seed)
      if (const auto result = run(b, inputs, random(seed)); !result)
        rules.insert(result.error().rule);
    if (wait == 16)
      EXPECT_EQ(rules, (std::set<std::string>{"M-09"}));
    else
      EXPECT_EQ(rules, (std::set<std::string>{}));
  }
}

TEST(Schedule, AFaultSaysHowToSeeItAgain) {
  ProgramBuilder b(kSynchronised);
  const uint32_t t = b.sbuf("t", DType::Float32, {2, 2});
  b.copy(b.all(t), b.all(t));

  EXPECT_EQ(faultOf(b, {}, random(42)).notes.back().message, "schedule: random:42");
  EXPECT_EQ(faultOf(b, {}, {.schedule = Schedule::RoundRobin}).notes.back().message,
            "schedule: round-robin");
}

TEST(Schedule, WithoutSynchronisationTheOrderIsTheProgramsInEverySchedule) {
  ProgramBuilder b;
  const uint32_t t = b.sbuf("t", DType::Int32, {4, 4});
  const uint32_t out = b.output("o", DType::Int32, {4, 4});
  b.memset(b.all(t), 1);
  b.dma(b.all(out), b.all(t));
  b.add(Engine::Gpsimd, Opcode::Memset, {b.all(t)}).inst.setReal("value", 2);
  b.dma(b.rows(out, 0, 4, 4, {{1, 2}}), b.at(t, 0, 4, 0, {{1, 2}}));

  for (Schedule schedule : {Schedule::Program, Schedule::RoundRobin, Schedule::Random})
    EXPECT_EQ(bitsOf(outputsOf(b, {}, {.schedule = schedule})[0]),
              (std::vector<uint32_t>{2, 2, 1, 1, 2, 2, 1, 1, 2, 2, 1, 1, 2, 2, 1, 1}));
}

//---- counts -------------------------------------------------------------===//

TEST(Schedule, CountsRecordsAndSteps) {
  Pipeline pipeline(2);

  const auto inOrder = run(pipeline.b, pipeline.inputs);
  const auto shared = run(pipeline.b, pipeline.inputs, random(1));

  ASSERT_TRUE(inOrder && shared);
  EXPECT_EQ(inOrder->stats.steps, inOrder->stats.instructions);
  EXPECT_EQ(shared->stats.instructions, inOrder->stats.instructions);
  EXPECT_EQ(shared->stats.steps, inOrder->stats.instructions + 4 * 16);
}

//---- limits and deadlocks -----------------------------------------------===//

TEST(Limit, StopsAtTheStepAfterTheLast) {
  ProgramBuilder b(kSynchronised);
  const uint32_t t = b.sbuf("t", DType::Float32, {2, 2});
  for (int i = 0; i < 3; ++i)
    b.memset(b.all(t), i);
  b.add(Engine::Gpsimd, Opcode::Memset, {b.all(t)}).inst.setReal("value", 2);

  EXPECT_TRUE(run(b, {}, {.maxSteps = 4}));
  const Diagnostic fault = faultOf(b, {}, {.maxSteps = 3});

  EXPECT_EQ(fault.fault, Fault::Limit);
  EXPECT_EQ(render(fault), "X-02: the run was stopped after 3 steps @ \n"
                           "help: raise --max-steps if the program is right\n"
                           "note: the gpsimd stream has executed 0 of 1 instructions @ \n"
                           "note: the vector stream has executed 3 of 3 instructions @ ");
}

TEST(Deadlock, NamesWhoWaitsForWhomAndWhy) {
  for (Schedule schedule : {Schedule::Program, Schedule::RoundRobin, Schedule::Random}) {
    ProgramBuilder b(kSynchronised);
    const uint32_t t = b.sbuf("t", DType::Float32, {2, 2});
    const uint32_t u = b.sbuf("u", DType::Float32, {2, 2});
    b.line(10);
    Record &first = b.memset(b.all(t), 0);
    waitFor(first, 3, 1);
    raise(first, 4);
    b.line(11);
    Record &second = b.add(Engine::Scalar, Opcode::TensorCopy, {b.all(u), b.all(t)});
    waitFor(second, 4, 1);
    b.line(12);
    raise(b.add(Engine::Scalar, Opcode::TensorCopy, {b.all(u), b.all(u)}), 3);

    Diagnostic fault = faultOf(b, {}, {.schedule = schedule});

    EXPECT_EQ(fault.fault, Fault::Check);
    if (schedule != Schedule::Program)
      fault.notes.pop_back();
    EXPECT_EQ(render(fault),
              "X-01: deadlock: 2 streams wait for semaphores that do not rise @ "
              "kernel.cpp:11\n"
              "help: correct the waits and updates so that every wait is reached\n"
              "note: the scalar stream waits at instruction 0, tensor_copy, for "
              "semaphore 4 >= 1; it is 0, and it would be raised by instruction 0 of "
              "the vector stream, memset @ kernel.cpp:11\n"
              "note: the vector stream waits at instruction 0, memset, for semaphore "
              "3 >= 1; it is 0, and it would be raised by instruction 1 of the "
              "scalar stream, tensor_copy, behind instruction 0 @ kernel.cpp:10");
  }
}

TEST(Deadlock, SaysWhenAStreamWaitsForItself) {
  ProgramBuilder b(kSynchronised);
  const uint32_t t = b.sbuf("t", DType::Float32, {2, 2});
  Record &first = b.memset(b.all(t), 0);
  waitFor(first, 0, 1);
  raise(first, 0);

  EXPECT_EQ(render(faultOf(b, {})),
            "X-01: deadlock: one stream waits for a semaphore that does not "
            "rise @ \n"
            "help: correct the waits and updates so that every wait is "
            "reached\n"
            "note: the vector stream waits at instruction 0, memset, for "
            "semaphore 0 >= 1; it is 0, and it would be raised by instruction "
            "0 of the vector stream, memset, which is the one that waits @ ");
}
