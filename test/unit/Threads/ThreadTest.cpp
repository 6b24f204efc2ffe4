//===- ThreadTest.cpp - several machines in one process ---------------------------------------===//
//
// Two programs on two threads, and one program on two, give what each gives alone. The build with
// the thread sanitizer also sees every access to the same bytes.
//
//===------------------------------------------------------------------------------------------===//

#include "Pipeline.h"

#include <atomic>
#include <thread>

using namespace kilnrt;
using namespace kilnrt::test;

namespace {

using Bits = std::vector<uint32_t>;

/// Schedules of one thread; those of the other are different.
std::vector<Schedule> schedulesOf(unsigned thread) {
  std::vector<Schedule> schedules = {Schedule::Program,
                                     Schedule::RoundRobin,
                                     Schedule::ReverseDma,
                                     {Schedule::DelayDma, thread},
                                     {Schedule::StarveRing, thread}};
  for (uint64_t seed = 0; seed < 4; ++seed)
    schedules.push_back({Schedule::Random, 2 * seed + thread});
  return schedules;
}

/// Runs `executable` in all schedules of a thread, with race clocks where there is a plan for them;
/// how often the result is not `expected`.
unsigned wrongRuns(const Executable &executable, std::span<const HostArray> inputs,
                   const Bits &expected, unsigned thread, const RacePlan *races = nullptr) {
  unsigned wrong = 0;
  for (const Schedule &schedule : schedulesOf(thread)) {
    const auto result = executable.run(inputs, {.schedule = schedule, .races = races});
    wrong += !result || bitsOf(result->outputs[0]) != expected;
  }
  return wrong;
}

/// x[4 * 32, 8] times itself row block by row block, in a loop of the device.
struct Squares {
  Squares() : b(kSynchronised) {
    const uint32_t x = b.input("x", DType::Float32, {128, 8});
    const uint32_t y = b.output("y", DType::Float32, {128, 8});
    const uint32_t t = b.sbuf("t", DType::Float32, {32, 8});
    b.declareInLoop(t, 0);
    b.loop(4);
    raise(b.dma(b.all(t), moving(b.rows(x, 0, 32, 8, {{1, 8}}), {32 * 8})), 0, 16);
    Record &square = b.add(Engine::Vector, Opcode::TensorTensor, {b.all(t), b.all(t), b.all(t)});
    square.inst.setWord("op", int64_t(AluOp::Multiply));
    waitFor(square, 0, 16);
    raise(square, 1);
    waitFor(b.dma(moving(b.rows(y, 0, 32, 8, {{1, 8}}), {32 * 8}), b.all(t), 1), 1, 1);
    b.endLoop();
    Bits bits;
    for (int i = 0; i < 128 * 8; ++i) {
      bits.push_back(encode(DType::Float32, i));
      expected.push_back(encode(DType::Float32, double(i) * i));
    }
    inputs = {fromBits(DType::Float32, {128, 8}, bits)};
  }

  ProgramBuilder b;
  std::vector<HostArray> inputs;
  Bits expected;
};

/// `work(0)` here and `work(1)` on another thread, begun together.
template <typename Work>
void onTwoThreads(const Work &work) {
  std::atomic<int> ready = 0;
  const auto begin = [&](unsigned thread) {
    for (++ready; ready < 2;)
      std::this_thread::yield();
    work(thread);
  };
  std::thread other(begin, 1);
  begin(0);
  other.join();
}

} // namespace

TEST(Threads, TwoProgramsRunSideBySide) {
  Pipeline pipeline(5);
  Squares squares;
  const std::vector<std::byte> files[] = {serialize(pipeline.b.finish()),
                                          serialize(squares.b.finish())};
  const std::vector<HostArray> *inputs[] = {&pipeline.inputs, &squares.inputs};
  const Bits expected[] = {pipeline.expected(), squares.expected};
  std::array<unsigned, 2> wrong{1, 1};

  // From the bytes of the file on, each thread for itself.
  onTwoThreads([&](unsigned thread) {
    const Expected<Program> program = load(files[thread]);
    if (!program)
      return;
    const Expected<Executable> executable = Executable::prepare(*program);
    if (executable)
      wrong[thread] = wrongRuns(*executable, *inputs[thread], expected[thread], thread);
  });

  EXPECT_EQ(wrong, (std::array<unsigned, 2>{0, 0}));
}

TEST(Threads, OneProgramRunsTwiceAtATime) {
  Pipeline pipeline(5);
  Squares squares;
  const Expected<Executable> straight = Executable::prepare(pipeline.b.finish());
  const Expected<Executable> looped = Executable::prepare(squares.b.finish());
  const Expected<RacePlan> plan = RacePlan::prepare(pipeline.b.finish());
  ASSERT_TRUE(straight && looped && plan);
  const Bits expected = pipeline.expected();
  std::array<unsigned, 2> wrong{};

  onTwoThreads([&](unsigned thread) {
    wrong[thread] += wrongRuns(*straight, pipeline.inputs, expected, thread, &*plan);
    wrong[thread] += wrongRuns(*looped, squares.inputs, squares.expected, thread);
  });

  EXPECT_EQ(wrong, (std::array<unsigned, 2>{0, 0}));
}

TEST(Threads, OneStopsTheRunOfTheOther) {
  ProgramBuilder b(kSynchronised);
  const uint32_t t = b.sbuf("t", DType::Float32, {2, 2});
  b.loop(1 << 30);
  b.memset(b.all(t), 1);
  b.endLoop();
  const Expected<Executable> executable = Executable::prepare(b.finish());
  ASSERT_TRUE(executable);
  std::atomic<bool> stop = false;
  bool stopped = false;

  onTwoThreads([&](unsigned thread) {
    if (thread == 1)
      stop = true;
    else
      stopped = !executable->run({}, {.maxSteps = UINT64_MAX, .stop = &stop});
  });

  EXPECT_TRUE(stopped);
}
