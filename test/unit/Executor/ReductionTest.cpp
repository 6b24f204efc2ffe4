//===- ReductionTest.cpp - tensor_reduce, activation and its sums -----------------------------===//
//
// Folds are strict: the model adds floats one by one, left to right.
//
//===------------------------------------------------------------------------------------------===//

#include "TileTest.h"

#include <cmath>

using namespace kilnrt;
using namespace kilnrt::test;

namespace {

class ReductionTest : public TileTest {
protected:
  /// Adds an activation and returns its record.
  Record &activate(isa::ActFn fn, isa::Access dst, isa::Access data,
                   isa::ReduceCmd command = isa::ReduceCmd::Idle, isa::Access result = {},
                   isa::Access bias = {}, isa::Access scale = {}) {
    Record &record = b.add(Engine::Scalar, Opcode::Activation, {dst, data, bias, scale, result});
    record.inst.setWord("op", int64_t(fn));
    record.inst.setWord("reduce_cmd", int64_t(command));
    if (command == isa::ReduceCmd::Reduce || command == isa::ReduceCmd::ResetReduce)
      record.inst.setWord("reduce_op", int64_t(AluOp::Add));
    return record;
  }
};

/// Moderate values without specials.
std::vector<uint32_t> moderate(DType dtype, size_t count, uint64_t seed) {
  std::vector<uint32_t> bits = samples(dtype, count + 20, seed);
  return {bits.end() - ptrdiff_t(count), bits.end()};
}

float fold(AluOp op, float acc, float x) {
  switch (op) {
  case AluOp::Add:
    return acc + x;
  case AluOp::Subtract:
    return acc - x;
  case AluOp::Multiply:
    return acc * x;
  case AluOp::Maximum:
    return std::isnan(acc) || std::isnan(x) ? NAN : std::fmax(acc, x);
  case AluOp::Minimum:
    return std::isnan(acc) || std::isnan(x) ? NAN : std::fmin(acc, x);
  default:
    ADD_FAILURE();
    return 0;
  }
}

float identity(AluOp op) {
  return op == AluOp::Multiply  ? 1
         : op == AluOp::Maximum ? -HUGE_VALF
         : op == AluOp::Minimum ? HUGE_VALF
                                : 0;
}

} // namespace

TEST_F(ReductionTest, TensorReduceFoldsTrailingDimsLeftToRight) {
  struct Case {
    AluOp op;
    DType in, out;
    std::vector<int64_t> shape;
    unsigned reduced;
    bool negate;
    std::vector<uint32_t> bits;
  };
  std::vector<Case> cases;
  unsigned turn = 0;
  for (AluOp op : {AluOp::Add, AluOp::Subtract, AluOp::Multiply, AluOp::Maximum, AluOp::Minimum})
    for (const auto &shape : std::vector<std::vector<int64_t>>{
             {128, 200}, {40, 1}, {3, 5, 70}, {17, 4, 3, 2}, {128, 33}})
      for (unsigned reduced = 1; reduced < shape.size(); ++reduced) {
        const DType in = std::array{DType::Float32, DType::BFloat16, DType::Int32}[turn % 3];
        const DType out = std::array{DType::Float32, DType::Float16}[turn / 2 % 2];
        Case c{op, in, out, shape, reduced, turn % 4 == 3, {}};
        int64_t elements = 1, kept = 1;
        for (int64_t n : shape)
          elements *= n;
        for (size_t i = 1; i < shape.size() - reduced; ++i)
          kept *= shape[i];
        c.bits = turn % 5 == 0 ? samples(in, size_t(elements), turn)
                               : moderate(in, size_t(elements), turn);
        const uint32_t x = load("x", in, shape, c.bits);
        const uint32_t dst = b.sbuf("d", out, {shape[0], kept});
        Record &record = b.add(Engine::Vector, Opcode::TensorReduce, {b.all(dst), b.all(x)});
        record.inst.setWord("op", int64_t(op));
        record.inst.setWord("reduced_dims", reduced);
        record.inst.setWord("negate", c.negate);
        store(dst);
        cases.push_back(std::move(c));
        ++turn;
      }

  const auto results = run();

  for (size_t i = 0; i < cases.size(); ++i) {
    const Case &c = cases[i];
    const size_t group = c.bits.size() / results[i].size();
    for (size_t g = 0; g < results[i].size(); ++g) {
      const bool isSubtract = c.op == AluOp::Subtract;
      float acc = isSubtract ? f32(decode(c.in, c.bits[g * group])) : identity(c.op);
      for (size_t e = isSubtract ? 1 : 0; e < group; ++e)
        acc = fold(c.op, acc, f32(decode(c.in, c.bits[g * group + e])));
      ASSERT_EQ(results[i][g], encode(c.out, c.negate ? -acc : acc))
          << isa::name(c.op) << " case " << i << " group " << g;
    }
  }
}

TEST_F(ReductionTest, TensorReduceOfAPermutedPatternFollowsThePattern) {
  const std::vector<uint32_t> bits = moderate(DType::Float32, 3 * 12, 4);
  const uint32_t x = load("x", DType::Float32, {3, 4, 3}, bits);
  const uint32_t dst = b.psum("d", DType::Float32, {3, 3});
  Record &record = b.add(Engine::Vector, Opcode::TensorReduce,
                         {b.all(dst), b.at(x, 0, 3, 0, {{1, 3}, {3, 4}})}); // over dim 1
  record.inst.setWord("op", int64_t(AluOp::Add));
  record.inst.setWord("reduced_dims", 1);
  store(dst);

  const auto results = run();

  for (size_t p = 0; p < 3; ++p)
    for (size_t j = 0; j < 3; ++j) {
      float acc = 0;
      for (size_t i = 0; i < 4; ++i)
        acc += f32(decode(DType::Float32, bits[p * 12 + i * 3 + j]));
      EXPECT_EQ(results[0][p * 3 + j], encode(DType::Float32, acc));
    }
}

TEST_F(ReductionTest, TensorReduceFoldsRawBits) {
  const std::vector<uint32_t> bits = samples(DType::Int32, 5 * 14, 21);
  const uint32_t x = load("x", DType::Int32, {5, 2, 7}, bits);
  const AluOp ops[] = {AluOp::BitwiseAnd, AluOp::BitwiseOr, AluOp::BitwiseXor};
  for (AluOp op : ops) {
    const uint32_t dst = b.sbuf("d", DType::Int32, {5, 2});
    Record &record = b.add(Engine::Vector, Opcode::TensorReduce, {b.all(dst), b.all(x)});
    record.inst.setWord("op", int64_t(op));
    record.inst.setWord("reduced_dims", 1);
    store(dst);
  }

  const auto results = run();

  for (size_t g = 0; g < 10; ++g) {
    uint32_t all = ~0u, any = 0, odd = 0;
    for (size_t e = 0; e < 7; ++e) {
      all &= bits[g * 7 + e];
      any |= bits[g * 7 + e];
      odd ^= bits[g * 7 + e];
    }
    EXPECT_EQ(results[0][g], all);
    EXPECT_EQ(results[1][g], any);
    EXPECT_EQ(results[2][g], odd);
  }
}

TEST_F(ReductionTest, ActivationRoundsProductAndSumSeparately) {
  struct Case {
    DType in, out;
    int64_t p, f;
    bool scaled, biased;
    std::vector<uint32_t> x, scale, bias;
  };
  std::vector<Case> cases;
  unsigned turn = 0;
  for (auto [p, f] : {std::pair<int64_t, int64_t>{128, 1}, {31, 3}, {5, 130}})
    for (bool scaled : {false, true})
      for (bool biased : {false, true}) {
        const DType in = std::array{DType::Float32, DType::BFloat16, DType::UInt8}[turn % 3];
        const DType out = std::array{DType::Float32, DType::BFloat16}[turn++ % 2];
        Case c{in,
               out,
               p,
               f,
               scaled,
               biased,
               samples(in, size_t(p * f), 5),
               moderate(DType::Float32, size_t(p), 6),
               moderate(DType::Float16, size_t(p), 7)};
        const uint32_t x = load("x", in, {p, f}, c.x);
        const uint32_t dst = b.sbuf("d", out, {p, f});
        isa::Access scale, bias;
        if (scaled)
          scale = b.all(load("s", DType::Float32, {p, 1}, c.scale));
        if (biased)
          bias = b.all(load("b", DType::Float16, {p, 1}, c.bias));
        Record &record =
            activate(isa::ActFn::Abs, b.all(dst), b.all(x), isa::ReduceCmd::Idle, {}, bias, scale);
        if (!scaled)
          record.inst.setReal("imm_scale", float(1.0 / 3));
        if (!biased)
          record.inst.setReal("imm_bias", -0.7f);
        store(dst);
        cases.push_back(std::move(c));
      }

  const auto results = run();

  for (size_t i = 0; i < cases.size(); ++i)
    for (size_t e = 0; e < results[i].size(); ++e) {
      const Case &c = cases[i];
      const size_t row = e / size_t(c.f);
      const double scale = c.scaled ? decode(DType::Float32, c.scale[row]) : double(float(1.0 / 3));
      const double bias = c.biased ? decode(DType::Float16, c.bias[row]) : double(-0.7f);
      const double product = f32(f32(decode(c.in, c.x[e])) * scale);
      ASSERT_EQ(results[i][e], encode(c.out, std::fabs(f32(product + bias))))
          << "case " << i << " element " << e;
    }
}

TEST_F(ReductionTest, ActivationSumsLeftToRightBeforeNarrowing) {
  struct Case {
    DType out;
    int64_t p, f;
    std::vector<uint32_t> x;
  };
  std::vector<Case> cases;
  for (DType out : {DType::Float32, DType::BFloat16})
    for (auto [p, f] : {std::pair<int64_t, int64_t>{128, 1}, {33, 7}, {19, 600}}) {
      Case c{out, p, f, moderate(DType::Float32, size_t(p * f), 8)};
      const uint32_t x = load("x", DType::Float32, {p, f}, c.x);
      const uint32_t dst = b.sbuf("d", out, {p, f});
      const uint32_t sum = b.sbuf("sum", DType::Float32, {p, 1});
      activate(isa::ActFn::Square, b.all(dst), b.all(x), isa::ReduceCmd::ResetReduce, b.all(sum));
      store(dst);
      store(sum);
      cases.push_back(std::move(c));
    }

  const auto results = run();

  for (size_t i = 0; i < cases.size(); ++i) {
    const Case &c = cases[i];
    for (size_t row = 0; row < size_t(c.p); ++row) {
      float sum = 0;
      for (size_t e = row * size_t(c.f); e < (row + 1) * size_t(c.f); ++e) {
        const float x = f32(decode(DType::Float32, c.x[e]));
        ASSERT_EQ(results[2 * i][e], encode(c.out, f32(double(x) * x)));
        sum += x * x;
      }
      ASSERT_EQ(results[2 * i + 1][row], encode(DType::Float32, sum))
          << "case " << i << " row " << row;
    }
  }
}

TEST_F(ReductionTest, TheReductionRegisterFollowsItsCommands) {
  using isa::ReduceCmd;
  const uint32_t x = load("x", DType::Float32, {2, 2},
                          {encode(DType::Float32, 1), encode(DType::Float32, 2),
                           encode(DType::Float32, 10), encode(DType::Float32, 20)});
  const uint32_t dst = b.sbuf("d", DType::Float32, {2, 2});
  uint32_t sums[4];
  for (uint32_t &sum : sums)
    sum = b.sbuf("sum", DType::BFloat16, {2, 1});
  activate(isa::ActFn::Copy, b.all(dst), b.all(x), ReduceCmd::ResetReduce);
  activate(isa::ActFn::Copy, b.all(dst), b.all(x), ReduceCmd::Reduce, b.all(sums[0]));
  activate(isa::ActFn::Copy, b.all(dst), b.all(x), ReduceCmd::Idle, b.all(sums[1]));
  activate(isa::ActFn::Copy, b.all(dst), b.all(x), ReduceCmd::Reset, b.all(sums[2]));
  activate(isa::ActFn::Copy, b.all(dst), b.all(x), ReduceCmd::Reduce, b.all(sums[3]));
  for (uint32_t sum : sums)
    store(sum);

  const auto results = run();

  const std::vector<std::pair<double, double>> expected = {{6, 60}, {6, 60}, {0, 0}, {3, 30}};
  for (size_t i = 0; i < 4; ++i)
    EXPECT_EQ(results[i], (std::vector<uint32_t>{encode(DType::BFloat16, expected[i].first),
                                                 encode(DType::BFloat16, expected[i].second)}))
        << "read-out " << i;
}

TEST_F(ReductionTest, TheReadOutWinsWhereItOverlapsTheResult) {
  std::vector<uint32_t> ones(3 * 4, encode(DType::Float32, 1));
  const uint32_t x = load("x", DType::Float32, {3, 4}, ones);
  activate(isa::ActFn::Copy, b.all(x), b.all(x), isa::ReduceCmd::ResetReduce,
           b.at(x, 0, 3, 2, {{1, 1}}));
  store(x);

  const auto results = run();

  for (size_t e = 0; e < 12; ++e)
    EXPECT_EQ(results[0][e], encode(DType::Float32, e % 4 == 2 ? 4 : 1));
}

TEST_F(ReductionTest, ARegisterThatWasNeverSetStopsTheRun) {
  const uint32_t x = load("x", DType::Float32, {3, 1}, {0, 0, 0});
  const uint32_t y = load("y", DType::Float32, {5, 1}, {0, 0, 0, 0, 0});
  activate(isa::ActFn::Copy, b.all(x), b.all(x), isa::ReduceCmd::Reset);
  b.line(31);
  activate(isa::ActFn::Copy, b.all(y), b.all(y), isa::ReduceCmd::Reduce);

  EXPECT_EQ(render(faultOf(b, inputs)),
            "M-08: activation continues from the reduction register of row 3, "
            "which was never set @ kernel.cpp:31\n"
            "help: start the sum with reduce_cmd reset_reduce or reset\n"
            "note: instruction 1 of the scalar stream, activation @ ");
}

TEST_F(ReductionTest, AChainOnOtherPartitionsStopsTheRun) {
  const uint32_t x = load("x", DType::Float32, {64, 1}, std::vector<uint32_t>(64, 0));
  auto rows = [&](uint32_t first, uint32_t count) { return b.at(x, first, count, 0, {{1, 1}}); };
  activate(isa::ActFn::Copy, rows(32, 3), rows(32, 3), isa::ReduceCmd::ResetReduce);
  activate(isa::ActFn::Copy, rows(32, 3), rows(32, 3), isa::ReduceCmd::Reduce);
  b.line(31);
  activate(isa::ActFn::Copy, rows(32, 2), rows(32, 2), isa::ReduceCmd::Reduce);

  EXPECT_EQ(render(faultOf(b, inputs)),
            "P-04: activation continues from a chain of 3 partitions, it uses 2 @ kernel.cpp:31\n"
            "help: use as many partitions as the instruction that began the chain\n"
            "note: instruction 2 of the scalar stream, activation @ ");
}

TEST_F(ReductionTest, AChainFromAnotherStartStopsTheRun) {
  const uint32_t x = load("x", DType::Float32, {64, 1}, std::vector<uint32_t>(64, 0));
  const uint32_t sum = b.sbuf("sum", DType::Float32, {3, 1});
  auto rows = [&](uint32_t first, uint32_t count) { return b.at(x, first, count, 0, {{1, 1}}); };
  activate(isa::ActFn::Copy, rows(32, 3), rows(32, 3), isa::ReduceCmd::Reset);
  b.line(31);
  activate(isa::ActFn::Copy, rows(0, 3), rows(0, 3), isa::ReduceCmd::Idle, b.all(sum));

  EXPECT_EQ(render(faultOf(b, inputs)),
            "P-06: activation reads a chain that starts at partition 32, it starts at 0 @ "
            "kernel.cpp:31\n"
            "help: copy its input to the partitions of the chain first\n"
            "note: instruction 1 of the scalar stream, activation @ ");
}

TEST_F(ReductionTest, EnginesHaveTheirOwnRegisters) {
  const uint32_t x = load("x", DType::Float32, {3, 1}, {0, 0, 0});
  activate(isa::ActFn::Copy, b.all(x), b.all(x), isa::ReduceCmd::ResetReduce);
  b.line(31);
  Record &record = b.add(Engine::Vector, Opcode::TensorScalarReduce, {b.all(x), b.all(x)});
  record.inst.setWord("op0", int64_t(AluOp::Add));
  record.inst.setWord("reduce_op", int64_t(AluOp::Add));
  record.inst.setWord("reduce_cmd", int64_t(isa::ReduceCmd::Reduce));

  EXPECT_EQ(render(faultOf(b, inputs)),
            "M-08: tensor_scalar_reduce continues from the reduction register of row 0, which was "
            "never set @ kernel.cpp:31\n"
            "help: start the chain with reduce_cmd reset_reduce\n"
            "note: instruction 0 of the vector stream, tensor_scalar_reduce @ ");
}

TEST_F(ReductionTest, AnIdleSelectionLeavesNothingToContinueFrom) {
  const uint32_t x = load("x", DType::Float32, {3, 1}, {0, 0, 0});
  const uint32_t bound = load("bound", DType::Float32, {3, 1}, {0, 0, 0});
  const uint32_t largest = b.sbuf("largest", DType::Float32, {3, 1});
  auto select = [&](isa::ReduceCmd command, isa::Access result) {
    Record &record = b.add(Engine::Vector, Opcode::RangeSelect,
                           {b.all(x), b.all(x), b.all(bound), b.all(bound), result});
    record.inst.setWord("comp_op0", int64_t(AluOp::Equal));
    record.inst.setWord("comp_op1", int64_t(AluOp::Equal));
    record.inst.setWord("reduce_cmd", int64_t(command));
  };
  select(isa::ReduceCmd::ResetReduce, {});
  select(isa::ReduceCmd::Reduce, b.all(largest));
  select(isa::ReduceCmd::Idle, {});
  b.line(31);
  select(isa::ReduceCmd::Reduce, {});

  EXPECT_EQ(render(faultOf(b, inputs)),
            "M-08: range_select continues from the reduction register of row 0, which was never "
            "set @ kernel.cpp:31\n"
            "help: start the chain with reduce_cmd reset_reduce\n"
            "note: instruction 3 of the vector stream, range_select @ ");
}
