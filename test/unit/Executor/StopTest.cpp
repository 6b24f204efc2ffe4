//===- StopTest.cpp - runs that are told to stop ----------------------------------------------===//

#include "Pipeline.h"

#include <chrono>
#include <thread>

using namespace kilnrt;
using namespace kilnrt::test;

TEST(Stop, BeforeTheFirstStepSaysWhereEachStreamStands) {
  const std::atomic<bool> stop = true;
  ProgramBuilder b(kSynchronised);
  const uint32_t t = b.sbuf("t", DType::Float32, {2, 2});
  b.line(20);
  b.add(Engine::Gpsimd, Opcode::Memset, {b.all(t)});
  b.line(30);
  b.memset(b.all(t), 1);

  const Diagnostic fault = faultOf(b, {}, {.stop = &stop});

  EXPECT_EQ(fault.fault, Fault::Limit);
  EXPECT_EQ(render(fault),
            ": the run was stopped after 0 steps @ kernel.cpp:20\n"
            "help: \n"
            "note: the gpsimd stream stood at instruction 0 of 1, memset @ kernel.cpp:20\n"
            "note: the vector stream stood at instruction 0 of 1, memset @ kernel.cpp:30");
}

/// Endless for a test: 2^30 iterations, in one of which a thread sets the flag.
TEST(Stop, InALoopSaysWhichIterationItWas) {
  for (const Schedule &schedule : {Schedule(), Schedule(Schedule::RoundRobin)}) {
    std::atomic<bool> stop = false;
    ProgramBuilder b(kSynchronised);
    const uint32_t t = b.sbuf("t", DType::Float32, {2, 2});
    b.line(10);
    b.loop(1 << 30);
    b.line(11);
    b.memset(b.all(t), 1);
    b.endLoop();
    Program program = b.finish();
    ASSERT_TRUE(verify(program));
    Expected<Executable> executable = Executable::prepare(program);
    ASSERT_TRUE(executable);

    // On a machine that is busy elsewhere a short while may end before the loop begins.
    const std::string inLoop = " of a loop of 1073741824, counted from 0 @ kernel.cpp:10";
    std::string text;
    for (int wait = 20; wait <= 5120 && text.find(inLoop) == std::string::npos; wait *= 4) {
      stop = false;
      std::thread other([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(wait));
        stop = true;
      });
      const Expected<RunResult> result =
          executable->run({}, {.schedule = schedule, .maxSteps = UINT64_MAX, .stop = &stop});
      other.join();
      ASSERT_FALSE(result);
      text = render(result.error());
    }
    EXPECT_EQ(text.find(": the run was stopped after "), 0u) << text;
    EXPECT_NE(text.find("note: the vector stream stood at instruction "), std::string::npos)
        << text;
    EXPECT_NE(text.find(inLoop), std::string::npos) << text;
    EXPECT_EQ(text.find("schedule: round-robin") != std::string::npos,
              schedule == Schedule::RoundRobin)
        << text;
  }
}

TEST(Stop, AFlagThatNobodySetsChangesNothing) {
  const std::atomic<bool> stop = false;
  Pipeline pipeline(3);
  EXPECT_EQ(bitsOf(outputsOf(pipeline.b, pipeline.inputs, {.stop = &stop})[0]),
            pipeline.expected());
}
