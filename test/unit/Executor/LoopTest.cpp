//===- LoopTest.cpp - loops that run rolled ---------------------------------------------------===//
//
// What a loop gives is told by hand or by a program that holds its iterations one after another.
// Everything runs in program order, in turn and by 100 seeds.
//
//===------------------------------------------------------------------------------------------===//

#include "ProgramBuilder.h"

using namespace kilnrt;
using namespace kilnrt::test;

namespace {

constexpr ProgramFlags kSynchronised{.placed = true, .scheduled = true, .synchronised = true};
constexpr ProgramFlags kPlaced{.placed = true, .scheduled = true, .synchronised = false};
constexpr uint64_t kSeeds = 100;

std::vector<RunOptions> everySchedule() {
  std::vector<RunOptions> list = {{}, {.schedule = Schedule::RoundRobin}};
  for (uint64_t seed = 0; seed < kSeeds; ++seed)
    list.push_back({.schedule = {Schedule::Random, seed}});
  return list;
}

/// first, first + 1, ... as float32.
HostArray counting(std::vector<int64_t> shape, float first = 0) {
  HostArray result{DType::Float32, shape, {}};
  std::vector<float> numbers(size_t(result.elements()));
  for (size_t i = 0; i < numbers.size(); ++i)
    numbers[i] = first + float(i);
  return array(DType::Float32, std::move(shape), numbers);
}

std::vector<float> only(const std::vector<HostArray> &outputs) {
  return outputs.empty() ? std::vector<float>() : values<float>(outputs[0]);
}

Record &addTo(ProgramBuilder &b, isa::Access dst, isa::Access a, isa::Access c) {
  Record &record = b.add(Engine::Vector, Opcode::TensorTensor, {dst, a, c});
  record.inst.setWord("op", int64_t(AluOp::Add));
  return record;
}

//---- addresses ----------------------------------------------------------===//

/// Copies blocks of 32 x 16 through a tile: block (i, j) of 3 x 2 goes to block (j, i).
TEST(Loop, NestedLoopsMoveOperandsByBothNumbers) {
  constexpr int64_t block = 32 * 16;
  ProgramBuilder b(kSynchronised);
  const uint32_t x = b.input("x", DType::Float32, {6 * 32, 16});
  const uint32_t y = b.output("y", DType::Float32, {6 * 32, 16});
  const uint32_t t = b.sbuf("t", DType::Float32, {32, 16});
  b.declareInLoop(t, 1);
  b.loop(3);
  b.loop(2);
  b.dma(b.all(t), moving(b.rows(x, 0, 32, 16, {{1, 16}}), {2 * block, block}));
  b.dma(moving(b.rows(y, 0, 32, 16, {{1, 16}}), {block, 3 * block}), b.all(t), 1);
  b.endLoop();
  b.endLoop();
  b.serialise();
  std::vector<float> expected(6 * block);
  for (int64_t i = 0; i < 3; ++i)
    for (int64_t j = 0; j < 2; ++j)
      for (int64_t e = 0; e < block; ++e)
        expected[size_t((j * 3 + i) * block + e)] = float((i * 2 + j) * block + e);

  for (const RunOptions &options : everySchedule())
    ASSERT_EQ(only(outputsOf(b, {{counting({192, 16})}}, options)), expected)
        << scheduleText(options.schedule);
}

TEST(Loop, StepsMayGoBack) {
  ProgramBuilder b(kSynchronised);
  const uint32_t x = b.input("x", DType::Float32, {4});
  const uint32_t y = b.output("y", DType::Float32, {4});
  b.loop(4);
  b.dma(moving(b.rows(y, 3, 1, 0, {{1, 1}}), {-1}), moving(b.rows(x, 0, 1, 0, {{1, 1}}), {1}));
  b.endLoop();
  b.serialise();
  EXPECT_EQ(only(outputsOf(b, {{counting({4})}})), (std::vector<float>{3, 2, 1, 0}));
}

/// Sides of different rows move piece by piece, and those move too.
TEST(Loop, TransfersWithoutCommonRowsMove) {
  ProgramBuilder b(kSynchronised);
  const uint32_t x = b.input("x", DType::Float32, {3 * 35});
  const uint32_t y = b.output("y", DType::Float32, {3 * 35});
  const uint32_t t = b.sbuf("t", DType::Float32, {7, 15});
  b.declareInLoop(t, 0);
  b.loop(3);
  b.dma(moving(b.at(t, 0, 7, 0, {{1, 5}}), {5}), moving(b.rows(x, 0, 1, 0, {{1, 35}}), {35}));
  b.dma(moving(b.rows(y, 0, 1, 0, {{1, 35}}), {35}), moving(b.at(t, 0, 7, 0, {{1, 5}}), {5}), 3);
  b.endLoop();
  b.serialise();
  const std::vector<float> expected = values<float>(counting({105}));
  for (const RunOptions &options : everySchedule())
    ASSERT_EQ(only(outputsOf(b, {{counting({105})}}, options)), expected)
        << scheduleText(options.schedule);
}

//---- epochs -------------------------------------------------------------===//

/// A load before the loop into what the body overwrites, state carried from iteration to iteration,
/// a store behind it. Nothing waits across an edge.
TEST(Loop, EdgesOrderWhatLiesOnBothSides) {
  ProgramBuilder b(kSynchronised);
  const uint32_t x = b.input("x", DType::Float32, {5 * 32, 8});
  const uint32_t y = b.output("y", DType::Float32, {32, 8});
  const uint32_t z = b.output("z", DType::Float32, {32, 8});
  const uint32_t sum = b.sbuf("sum", DType::Float32, {32, 8});
  const uint32_t t = b.sbuf("t", DType::Float32, {32, 8});
  const uint32_t t0 = t;
  // The first rows pass through t to z before the loop takes t over.
  raise(b.dma(b.all(t0), b.rows(x, 0, 32, 8, {{1, 8}})), 0, 16);
  Record &early = b.dma(b.all(z), b.all(t0), 1);
  waitFor(early, 0, 16);
  raise(early, 1, 16);
  b.memset(b.all(sum), 0);
  b.loop(5);
  raise(b.dma(b.all(t), moving(b.rows(x, 0, 32, 8, {{1, 8}}), {32 * 8})), 0, 16);
  waitFor(addTo(b, b.all(sum), b.all(sum), b.all(t)), 0, 16);
  b.endLoop();
  raise(b.dma(b.all(y), b.all(sum)), 0, 16);

  std::vector<float> total(32 * 8);
  for (size_t e = 0; e < total.size(); ++e)
    total[e] = float(5 * e + 256 * (0 + 1 + 2 + 3 + 4));
  for (const RunOptions &options : everySchedule()) {
    const std::vector<HostArray> outputs = outputsOf(b, {{counting({160, 8})}}, options);
    ASSERT_EQ(outputs.size(), 2u);
    ASSERT_EQ(values<float>(outputs[0]), total) << scheduleText(options.schedule);
    ASSERT_EQ(values<float>(outputs[1]), values<float>(counting({32, 8})))
        << scheduleText(options.schedule);
  }
}

TEST(Loop, CountsEachStreamAtEachEdge) {
  ProgramBuilder b(kSynchronised);
  const uint32_t t = b.sbuf("t", DType::Float32, {2, 2});
  b.loop(7);
  b.memset(b.all(t), 1);
  b.endLoop();
  const auto result = run(b, {});
  ASSERT_TRUE(result);
  EXPECT_EQ(result->stats.instructions, 5u + 7 * (1 + 5));
  EXPECT_EQ(result->stats.steps, result->stats.instructions);
}

TEST(Loop, RunsInOneOrderWithoutSynchronisation) {
  for (bool isPlaced : {true, false}) {
    ProgramBuilder b(ProgramFlags{.placed = isPlaced});
    const uint32_t x = b.input("x", DType::Float32, {3 * 32, 4});
    const uint32_t y = b.output("y", DType::Float32, {32, 4});
    const uint32_t sum = b.sbuf("sum", DType::Float32, {32, 4});
    const uint32_t t = b.sbuf("t", DType::Float32, {32, 4});
    b.declareInLoop(t, 0);
    b.memset(b.all(sum), 0);
    b.loop(3);
    b.dma(b.all(t), moving(b.rows(x, 0, 32, 4, {{1, 4}}), {128}));
    addTo(b, b.all(sum), b.all(sum), b.all(t));
    b.endLoop();
    b.dma(b.all(y), b.all(sum));
    std::vector<float> expected(128);
    for (size_t e = 0; e < 128; ++e)
      expected[e] = float(3 * e + 128 * 3);
    EXPECT_EQ(only(outputsOf(b, {{counting({96, 4})}})), expected) << isPlaced;
  }
}

//---- what is known about bytes ------------------------------------------===//

/// Packed stationary tiles and identities are kept while their bytes stay: a tile that moves has
/// others.
TEST(Loop, AMovingStationaryTileIsLoadedAgain) {
  ProgramBuilder b(kPlaced);
  const uint32_t x = b.input("x", DType::Float32, {4, 6});
  const uint32_t y = b.output("y", DType::Float32, {2, 3});
  const uint32_t w = b.sbuf("w", DType::Float32, {4, 6});
  const uint32_t ones = b.sbuf("ones", DType::Float32, {4, 1});
  const uint32_t acc = b.psum("acc", DType::Float32, {2, 3});
  const uint32_t out = b.sbuf("out", DType::Float32, {2, 3});
  b.dma(b.all(w), b.all(x));
  b.memset(b.all(ones), 1);
  b.loop(3);
  b.matmul(moving(b.at(acc, 0, 2, 0, {{1, 1}}), {1}), moving(b.at(w, 0, 4, 0, {{1, 2}}), {2}),
           b.all(ones), isa::Accumulate::Overwrite);
  b.endLoop();
  b.copy(b.all(out), b.all(acc));
  b.dma(b.all(y), b.all(out));
  // Column sums of 0..23 in rows of 6: 36, 40, 44, ... ; pair j goes to column j.
  EXPECT_EQ(only(outputsOf(b, {{counting({4, 6})}})), (std::vector<float>{36, 44, 52, 40, 48, 56}));
}

TEST(Loop, AMovingIdentityIsLookedAtAgain) {
  ProgramBuilder b(kPlaced);
  const uint32_t t = b.sbuf("t", DType::Float32, {2, 2});
  const uint32_t eye = b.sbuf("eye", DType::Float32, {2, 3});
  const uint32_t acc = b.psum("acc", DType::Float32, {2, 2});
  b.memset(b.all(t), 3);
  b.memset(b.all(eye), 0);
  b.memset(b.at(eye, 0, 1, 0, {{1, 1}}), 1);
  b.add(Engine::Gpsimd, Opcode::Memset, {b.at(eye, 0, 2, 1, {{1, 1}})}).inst.setReal("value", 1);
  b.memset(b.at(eye, 0, 1, 1, {{1, 1}}), 0);
  b.line(8).loop(2);
  Record &transpose = b.matmul(b.all(acc), b.all(t), moving(b.at(eye, 0, 2, 0, {{1, 2}}), {1}),
                               isa::Accumulate::Overwrite);
  transpose.inst.setWord("is_transpose", 1);
  b.endLoop();
  const Diagnostic fault = faultOf(b, {});
  EXPECT_EQ(
      render(fault),
      ": a transposing nc_matmul moves an identity, but element (0, 0) of 'eye' is not that of one "
      "@ kernel.cpp:8\nhelp: use nc_transpose, which brings its own identity\nnote: instruction 1 "
      "of the tensor stream, nc_matmul: operand 'moving' reads sbuf partitions 0-1, bytes 68-75 "
      "('eye') @ \nnote: in iteration 1 of a loop of 2, counted from 0 @ kernel.cpp:8");
}

/// dst runs ahead of src: only in some iterations do they share bytes, and then src counts as it
/// was before.
TEST(Loop, InputsAreReadInFullWhereverTheyMeetTheOutput) {
  auto program = [](ProgramBuilder &b, bool isRolled) {
    const uint32_t x = b.input("x", DType::Float32, {2, 16});
    const uint32_t y = b.output("y", DType::Float32, {2, 16});
    const uint32_t t = b.sbuf("t", DType::Float32, {2, 16});
    b.dma(b.all(t), b.all(x));
    const isa::Access dst = b.at(t, 0, 2, 8, {{1, 4}}), src = b.at(t, 0, 2, 0, {{1, 4}});
    if (isRolled) {
      b.loop(5);
      b.copy(moving(dst, {-1}), moving(src, {1}));
      b.endLoop();
    }
    for (int64_t i = 0; i < 5 && !isRolled; ++i)
      b.copy(b.at(t, 0, 2, 8 - i, {{1, 4}}), b.at(t, 0, 2, i, {{1, 4}}));
    b.dma(b.all(y), b.all(t));
  };
  ProgramBuilder rolled(kPlaced), written(kPlaced);
  program(rolled, true);
  program(written, false);
  const std::vector<HostArray> inputs = {counting({2, 16})};
  EXPECT_EQ(only(outputsOf(rolled, inputs)), only(outputsOf(written, inputs)));
}

//---- the shadow ---------------------------------------------------------===//

/// Column i of t is written in iteration i, and column 0 read in each.
ProgramBuilder columns(bool isDeclaredInLoop, bool isPlaced) {
  ProgramBuilder b(ProgramFlags{.placed = isPlaced});
  const uint32_t y = b.output("y", DType::Float32, {2, 3});
  b.line(20);
  const uint32_t t = b.sbuf("t", DType::Float32, {2, 3});
  const uint32_t u = b.sbuf("u", DType::Float32, {2, 3});
  if (isDeclaredInLoop)
    b.declareInLoop(t, 0);
  b.line(21).loop(3);
  b.line(22).memset(moving(b.at(t, 0, 2, 0, {{1, 1}}), {1}), 5);
  b.line(23).copy(moving(b.at(u, 0, 2, 0, {{1, 1}}), {1}), b.at(t, 0, 2, 0, {{1, 1}}));
  b.line(24).endLoop();
  b.dma(b.all(y), b.all(u));
  return b;
}

TEST(Loop, ATensorDeclaredOutsideKeepsWhatItHolds) {
  ProgramBuilder b = columns(false, true);
  EXPECT_EQ(only(outputsOf(b, {})), std::vector<float>(6, 5));
}

TEST(Loop, ATensorDeclaredInsideStartsUnwritten) {
  for (bool isPlaced : {true, false}) {
    ProgramBuilder b = columns(true, isPlaced);
    EXPECT_EQ(
        render(faultOf(b, {})),
        "M-09: tensor_copy reads 't' where this iteration has not written it: elements (0-1, 0), "
        "all 8 bytes @ kernel.cpp:23\nhelp: declare 't' before the loop to keep its elements, or "
        "write it first in each iteration\nnote: instruction 2 of the vector stream, tensor_copy: "
        "operand 'src' reads sbuf partitions 0-1, bytes 0-3 ('t') @ \nnote: 't' was last written "
        "by instruction 1 of the vector stream, memset @ kernel.cpp:22\nnote: 't' is new in each "
        "iteration of its loop; in an earlier one it was last written by instruction 1 of the "
        "vector stream, memset @ kernel.cpp:22\nnote: 't' was declared here @ kernel.cpp:20\nnote: "
        "in iteration 1 of a loop of 3, counted from 0 @ kernel.cpp:21");
  }
}

TEST(Loop, ATensorInHbmDeclaredInsideStartsUnwritten) {
  ProgramBuilder b(kPlaced);
  const uint32_t x = b.input("x", DType::Float32, {3});
  const uint32_t h = b.hbm("h", DType::Float32, {3});
  const uint32_t y = b.output("y", DType::Float32, {3});
  b.declareInLoop(h, 0);
  b.loop(3);
  b.dma(moving(b.rows(h, 0, 1, 0, {{1, 1}}), {1}), b.rows(x, 0, 1, 0, {{1, 1}}));
  b.dma(moving(b.rows(y, 0, 1, 0, {{1, 1}}), {1}), b.rows(h, 0, 1, 0, {{1, 1}}));
  b.endLoop();
  const Diagnostic fault = faultOf(b, {{counting({3})}});
  EXPECT_EQ(fault.rule, "M-09");
  ASSERT_FALSE(fault.notes.empty());
  EXPECT_EQ(fault.notes.back().message, "in iteration 1 of a loop of 3, counted from 0");
}

/// Whether the second iteration's matmul adds to the first one's is a matter of where the
/// accumulator is declared.
TEST(Loop, AnAccumulatorDeclaredInsideStartsAgain) {
  for (bool isDeclaredInLoop : {false, true})
    for (bool isPlaced : {true, false}) {
      ProgramBuilder b(ProgramFlags{.placed = isPlaced});
      const uint32_t y = b.output("y", DType::Float32, {1, 3});
      const uint32_t ones = b.sbuf("ones", DType::Float32, {4, 1});
      const uint32_t out = b.sbuf("out", DType::Float32, {1, 3});
      const uint32_t acc = b.psum("acc", DType::Float32, {1, 1});
      if (isDeclaredInLoop)
        b.declareInLoop(acc, 0);
      b.memset(b.all(ones), 1);
      b.loop(3);
      b.matmul(b.all(acc), b.all(ones), b.all(ones), isa::Accumulate::Automatic);
      b.matmul(b.all(acc), b.all(ones), b.all(ones), isa::Accumulate::Automatic);
      b.copy(moving(b.at(out, 0, 1, 0, {{1, 1}}), {1}), b.all(acc));
      b.endLoop();
      b.dma(b.all(y), b.all(out));
      EXPECT_EQ(only(outputsOf(b, {})),
                isDeclaredInLoop ? (std::vector<float>{8, 8, 8}) : (std::vector<float>{8, 16, 24}));
    }
}

/// Two tensors of the body share an address: each iteration hands it over twice.
TEST(Loop, TensorsOfTheBodyTakeTurnsAtAnAddress) {
  ProgramBuilder b(kSynchronised);
  const uint32_t x = b.input("x", DType::Float32, {4, 2});
  const uint32_t y = b.output("y", DType::Float32, {4, 2});
  const uint32_t first = b.onChip("first", Memory::Sbuf, DType::Float32, {1, 2}, 0);
  const uint32_t kept = b.onChip("kept", Memory::Sbuf, DType::Float32, {1, 2}, 64);
  const uint32_t second = b.onChip("second", Memory::Sbuf, DType::Float32, {1, 2}, 0);
  for (uint32_t t : {first, kept, second})
    b.declareInLoop(t, 0);
  b.loop(4);
  b.dma(b.all(first), moving(b.rows(x, 0, 1, 0, {{1, 2}}), {2}));
  b.copy(b.all(kept), b.all(first));
  addTo(b, b.all(second), b.all(kept), b.all(kept));
  b.dma(moving(b.rows(y, 0, 1, 0, {{1, 2}}), {2}), b.all(second), 1);
  b.endLoop();
  b.serialise();
  for (const RunOptions &options : everySchedule())
    ASSERT_EQ(only(outputsOf(b, {{counting({4, 2})}}, options)),
              (std::vector<float>{0, 2, 4, 6, 8, 10, 12, 14}))
        << scheduleText(options.schedule);
}

//---- what goes wrong ----------------------------------------------------===//

TEST(Loop, ADeadlockSaysWhereTheOthersMeet) {
  ProgramBuilder b(kSynchronised);
  const uint32_t t = b.sbuf("t", DType::Float32, {2, 2});
  const uint32_t u = b.sbuf("u", DType::Float32, {2, 2});
  b.line(10).loop(3);
  Record &first = b.line(11).memset(b.all(t), 0);
  waitFor(first, 3, 1);
  raise(first, 4);
  Record &second = b.line(12).add(Engine::Scalar, Opcode::TensorCopy, {b.all(u), b.all(t)});
  waitFor(second, 4, 1);
  raise(second, 3);
  b.line(13).endLoop();
  EXPECT_EQ(
      render(faultOf(b, {})),
      "X-01: deadlock: 2 streams wait for semaphores that do not rise @ kernel.cpp:12\nhelp: "
      "correct the waits and updates so that every wait is reached\nnote: the tensor stream waits "
      "at instruction 1, loop_end, for the other streams @ kernel.cpp:13\nnote: the scalar stream "
      "waits at instruction 1, tensor_copy, for semaphore 4 >= 1; it is 0, and it would be raised "
      "by instruction 1 of the vector stream, memset @ kernel.cpp:12\nnote: the gpsimd stream "
      "waits at instruction 1, loop_end, for the other streams @ kernel.cpp:13\nnote: the vector "
      "stream waits at instruction 1, memset, for semaphore 3 >= 1; it is 0, and it would be "
      "raised by instruction 1 of the scalar stream, tensor_copy @ kernel.cpp:11\nnote: the sync "
      "stream waits at instruction 1, loop_end, for the other streams @ kernel.cpp:13\nnote: in "
      "iteration 0 of a loop of 3, counted from 0 @ kernel.cpp:10");
}

TEST(Loop, AStepLimitSaysWhichIteration) {
  ProgramBuilder b(kSynchronised);
  const uint32_t t = b.sbuf("t", DType::Float32, {2, 2});
  b.loop(1000);
  b.loop(1000);
  b.memset(b.all(t), 0);
  b.endLoop();
  b.endLoop();
  // 5 to begin, then 5 + 1000 * 6 + 5 an outer iteration: 17 inner ones into the third.
  const uint64_t steps = 5 + 2 * (5 + 6000 + 5) + 5 + 17 * 6;
  const Diagnostic fault = faultOf(b, {}, {.maxSteps = steps});
  EXPECT_EQ(fault.fault, Fault::Limit);
  ASSERT_GE(fault.notes.size(), 3u);
  EXPECT_EQ(fault.notes[3].message, "the vector stream stands at instruction 2 of 5");
  EXPECT_EQ(fault.notes[fault.notes.size() - 2].message,
            "in iteration 17 of a loop of 1000, counted from 0");
  EXPECT_EQ(fault.notes.back().message, "in iteration 2 of a loop of 1000, counted from 0");
}

} // namespace
