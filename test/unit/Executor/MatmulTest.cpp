//===- MatmulTest.cpp - products, accumulation, transposes ------------------------------------===//
//
// Sums against a scalar model of their order; accumulation cell by cell.
//
//===------------------------------------------------------------------------------------------===//

#include "TileTest.h"

#include <cmath>

using namespace kilnrt;
using namespace kilnrt::test;
using isa::Accumulate;

namespace {

using MatmulTest = TileTest;

/// sum over k of s[k][m] * v[k][n] in the order of the dtypes.
float productSum(DType left, DType right, const std::vector<float> &s,
                 const std::vector<float> &v) {
  if (left != DType::BFloat16 || right != DType::BFloat16) {
    float sum = 0;
    for (size_t k = 0; k < s.size(); ++k)
      sum = std::fma(s[k], v[k], sum);
    return sum;
  }
  float sum = 0;
  for (size_t block = 0; block < s.size(); block += 32) {
    float even = 0, odd = 0;
    for (size_t k = block; k < std::min(block + 32, s.size()); ++k) {
      float &chain = k % 2 ? odd : even;
      chain = std::fma(s[k], v[k], chain);
    }
    sum += even + odd;
  }
  return sum;
}

/// The whole product of K x M and K x N bits.
std::vector<float> product(DType left, DType right, int64_t k, int64_t m, int64_t n,
                           const std::vector<uint32_t> &s, const std::vector<uint32_t> &v) {
  std::vector<float> result;
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j) {
      std::vector<float> a, c;
      for (int64_t r = 0; r < k; ++r) {
        a.push_back(f32(decode(left, s[size_t(r * m + i)])));
        c.push_back(f32(decode(right, v[size_t(r * n + j)])));
      }
      result.push_back(productSum(left, right, a, c));
    }
  return result;
}

std::vector<uint32_t> moderate(DType dtype, int64_t count, uint64_t seed) {
  std::vector<uint32_t> bits = samples(dtype, size_t(count) + 20, seed);
  return {bits.end() - count, bits.end()};
}

/// Bits of small whole numbers, whose products and sums are exact.
std::vector<uint32_t> whole(DType dtype, int64_t count, int first) {
  std::vector<uint32_t> bits;
  for (int64_t i = 0; i < count; ++i)
    bits.push_back(encode(dtype, double((i * 7 + first) % 13 - 6)));
  return bits;
}

double value(uint32_t bits) { return decode(DType::Float32, bits); }

} // namespace

TEST_F(MatmulTest, SumsInTheOrderOfTheOperandTypes) {
  struct Case {
    DType left, right;
    int64_t k, m, n;
    std::vector<uint32_t> s, v;
  };
  std::vector<Case> cases;
  for (auto [left, right] : {std::pair{DType::Float32, DType::Float32},
                             {DType::BFloat16, DType::BFloat16},
                             {DType::Float16, DType::BFloat16},
                             {DType::Float16, DType::Float16}})
    for (auto [k, m, n] :
         {std::array<int64_t, 3>{1, 1, 1}, {33, 5, 17}, {128, 3, 70}, {64, 40, 2}}) {
      Case c{left, right, k, m, n, moderate(left, k * m, 1), moderate(right, k * n, 2)};
      const uint32_t s = load("s", left, {k, m}, c.s);
      const uint32_t v = load("v", right, {k, n}, c.v);
      const uint32_t dst = b.psum("p", DType::Float32, {m, n});
      b.matmul(b.all(dst), b.all(s), b.all(v), Accumulate::Automatic);
      b.matmul(b.all(dst), b.all(s), b.all(v), Accumulate::Automatic);
      store(dst);
      cases.push_back(std::move(c));
    }

  const auto results = run();

  for (size_t i = 0; i < cases.size(); ++i) {
    const Case &c = cases[i];
    const std::vector<float> sum = product(c.left, c.right, c.k, c.m, c.n, c.s, c.v);
    for (size_t e = 0; e < sum.size(); ++e)
      ASSERT_EQ(results[i][e], encode(DType::Float32, sum[e] + sum[e]))
          << "case " << i << " element " << e;
  }
}

TEST_F(MatmulTest, PatternsOfSeveralDimsPairByPosition) {
  const std::vector<uint32_t> sBits = whole(DType::Float32, 6 * 12, 1);
  const std::vector<uint32_t> vBits = whole(DType::Float32, 6 * 20, 5);
  const uint32_t s = load("s", DType::Float32, {6, 3, 4}, sBits);
  const uint32_t v = load("v", DType::Float32, {6, 20}, vBits);
  const uint32_t dst = b.psum("p", DType::Float32, {6, 30});
  b.memset(b.all(dst), 0.5);
  // stationary: every other of the last dim, then the first; moving: two rows
  // of three, four apart; dst: every fifth element, backwards.
  b.matmul(b.at(dst, 0, 6, 29, {{-5, 6}}), b.at(s, 0, 6, 1, {{2, 2}, {4, 3}}),
           b.at(v, 0, 6, 2, {{4, 2}, {1, 3}}), Accumulate::Overwrite);
  store(dst);

  const auto results = run();

  for (size_t m = 0; m < 6; ++m)
    for (size_t n = 0; n < 30; ++n) {
      double expected = 0.5;
      if (n % 5 == 4) {
        const size_t j = (29 - n) / 5;
        expected = 0;
        for (size_t k = 0; k < 6; ++k)
          expected += value(sBits[k * 12 + 1 + m / 3 * 2 + m % 3 * 4]) *
                      value(vBits[k * 20 + 2 + j / 3 * 4 + j % 3]);
      }
      EXPECT_EQ(value(results[0][m * 30 + n]), expected) << m << ", " << n;
    }
}

TEST_F(MatmulTest, AutomaticAccumulationIsDecidedCellByCell) {
  const std::vector<uint32_t> s = whole(DType::BFloat16, 5 * 3, 1);
  const std::vector<uint32_t> v = whole(DType::BFloat16, 5 * 8, 2);
  const uint32_t stationary = load("s", DType::BFloat16, {5, 3}, s);
  const uint32_t moving = load("v", DType::BFloat16, {5, 8}, v);
  const uint32_t dst = b.psum("p", DType::Float32, {3, 12});
  const auto window = [&](int64_t offset) { return b.at(dst, 0, 3, offset, {{1, 8}}); };
  b.matmul(window(0), b.all(stationary), b.all(moving), Accumulate::Automatic);
  b.matmul(window(2), b.all(stationary), b.all(moving), Accumulate::Automatic);
  b.matmul(window(4), b.all(stationary), b.all(moving), Accumulate::Automatic);
  b.matmul(b.at(dst, 0, 3, 4, {{1, 8}}), b.all(stationary), b.all(moving), Accumulate::Add);
  store(dst);

  const auto results = run();

  const std::vector<float> sum = product(DType::BFloat16, DType::BFloat16, 5, 3, 8, s, v);
  for (size_t m = 0; m < 3; ++m)
    for (size_t n = 0; n < 12; ++n) {
      double expected = 0;
      for (size_t offset : {0, 2, 4, 4})
        if (n >= offset && n < offset + 8)
          expected += sum[m * 8 + n - offset];
      EXPECT_EQ(value(results[0][m * 12 + n]), expected) << m << ", " << n;
    }
}

TEST_F(MatmulTest, OtherWritesClearTheBitsOfTheirCells) {
  const uint32_t stationary =
      load("s", DType::Float32, {1, 2}, {encode(DType::Float32, 1), encode(DType::Float32, 2)});
  const uint32_t moving =
      load("v", DType::Float32, {1, 3}, std::vector<uint32_t>(3, encode(DType::Float32, 1)));
  const uint32_t hundred =
      load("h", DType::Float32, {2, 1}, std::vector<uint32_t>(2, encode(DType::Float32, 100)));
  const uint32_t dst = b.psum("p", DType::Float32, {2, 3});
  b.matmul(b.all(dst), b.all(stationary), b.all(moving), Accumulate::Overwrite);
  b.copy(b.at(dst, 0, 2, 1, {{1, 1}}), b.all(hundred)); // a tile zeroed by hand
  b.matmul(b.all(dst), b.all(stationary), b.all(moving), Accumulate::Automatic);
  store(dst);

  const auto results = run();

  for (size_t m = 0; m < 2; ++m)
    for (size_t n = 0; n < 3; ++n)
      EXPECT_EQ(value(results[0][m * 3 + n]), double(m + 1) * (n == 1 ? 1 : 2));
}

TEST_F(MatmulTest, AddingToWhatNoMatmulWroteStopsTheRun) {
  const uint32_t stationary = load("s", DType::Float32, {1, 2}, {0, 0});
  const uint32_t moving = load("v", DType::Float32, {1, 3}, {0, 0, 0});
  const uint32_t dst = b.line(7).psum("acc", DType::Float32, {2, 6});
  b.memset(b.all(dst), 0);
  b.matmul(b.at(dst, 0, 2, 0, {{1, 3}}), b.all(stationary), b.all(moving), Accumulate::Automatic);
  b.line(12);
  b.matmul(b.at(dst, 0, 2, 2, {{1, 3}}), b.all(stationary), b.all(moving), Accumulate::Add);

  EXPECT_EQ(render(faultOf(b, inputs)),
            "M-10: nc_matmul adds to 'acc' where it holds no matmul result: elements (0-1, 3-4), "
            "16 of 24 bytes @ kernel.cpp:12\n"
            "help: let the first matmul overwrite: leave accumulate out, or set it to false\n"
            "note: instruction 1 of the tensor stream, nc_matmul: operand 'dst' writes psum "
            "partitions 0-1, bytes 8-19 ('acc') @ \n"
            "note: without a sum: psum partitions 0-1, bytes 12-19 @ \n"
            "note: 'acc' was last written by instruction 0 of the tensor stream, nc_matmul @ "
            "kernel.cpp:7\n"
            "note: 'acc' was declared here @ kernel.cpp:7");
}

TEST_F(MatmulTest, ATransposingMatmulMovesBitsAndLeavesNoSum) {
  const std::vector<uint32_t> bits = samples(DType::Float32, 20 * 7, 3);
  const uint32_t data = load("x", DType::Float32, {20, 7}, bits);
  std::vector<uint32_t> unit(20 * 20);
  for (size_t i = 0; i < 20; ++i)
    for (size_t j = 0; j < 20; ++j)
      unit[i * 20 + j] = encode(DType::Float32, i == j ? 1 : i > j ? -0.0 : 0.0);
  const uint32_t identity = load("i", DType::Float32, {20, 20}, unit);
  const uint32_t dst = b.psum("p", DType::Float32, {7, 20});
  b.matmul(b.all(dst), b.all(data), b.all(identity), Accumulate::Automatic)
      .inst.setWord("is_transpose", 1);
  store(dst);
  // The cells hold no sum: the next matmul overwrites.
  const uint32_t narrow = load("n", DType::Float32, {20, 7}, std::vector<uint32_t>(140, 0));
  const uint32_t copy = b.sbuf("c", DType::Float32, {7, 20});
  b.matmul(b.all(dst), b.all(narrow), b.all(identity), Accumulate::Automatic);
  b.copy(b.all(copy), b.all(dst));
  store(copy);

  const auto results = run();

  for (size_t m = 0; m < 7; ++m)
    for (size_t k = 0; k < 20; ++k) {
      EXPECT_EQ(results[0][m * 20 + k], bits[k * 7 + m]);
      EXPECT_EQ(results[1][m * 20 + k], 0u);
    }
}

TEST_F(MatmulTest, ATransposingMatmulRefusesWhatIsNoIdentity) {
  const uint32_t data = load("x", DType::BFloat16, {2, 3}, {1, 2, 3, 4, 5, 6});
  const uint32_t almost =
      load("eye", DType::BFloat16, {2, 2},
           {encode(DType::BFloat16, 1), 0, 0, encode(DType::BFloat16, 1.0078125)});
  const uint32_t dst = b.psum("p", DType::BFloat16, {3, 2});
  b.line(5);
  b.matmul(b.all(dst), b.all(data), b.all(almost), Accumulate::Overwrite)
      .inst.setWord("is_transpose", 1);

  EXPECT_EQ(render(faultOf(b, inputs)),
            ": a transposing nc_matmul moves an identity, but element "
            "(1, 1) of 'eye' is not that of one @ kernel.cpp:5\n"
            "help: use nc_transpose, which brings its own identity\n"
            "note: instruction 0 of the tensor stream, nc_matmul: operand "
            "'moving' reads sbuf partitions 0-1, bytes 64-67 ('eye') @ ");
}

TEST_F(MatmulTest, WhatTheArrayHoldsFollowsItsBytes) {
  const uint32_t s = load("s", DType::Float32, {1, 1}, {encode(DType::Float32, 2)});
  const uint32_t v = load("v", DType::Float32, {1, 1}, {encode(DType::Float32, 1)});
  const uint32_t acc = b.psum("p", DType::Float32, {1, 1});
  const auto multiply = [&] { b.matmul(b.all(acc), b.all(s), b.all(v), Accumulate::Automatic); };
  multiply();
  multiply();
  b.memset(b.all(s), 10); // the packed copy is stale now
  multiply();
  store(acc);

  const auto results = run();

  EXPECT_EQ(value(results[0][0]), 14);
}

TEST_F(MatmulTest, AnIdentityIsLookedAtAgainAfterAWrite) {
  const uint32_t one = load("one", DType::Float32, {1, 1}, {encode(DType::Float32, 1)});
  const uint32_t dst = b.psum("p", DType::Float32, {1, 1});
  for (int i = 0; i < 3; ++i) {
    b.line(uint32_t(i + 1));
    if (i == 2)
      b.memset(b.all(one), 3);
    b.matmul(b.all(dst), b.all(one), b.all(one), Accumulate::Overwrite)
        .inst.setWord("is_transpose", 1);
  }

  EXPECT_EQ(faultOf(b, inputs).place, (kiln::CallChain{{"kernel.cpp", 3}}));
}

TEST(Overlap, WhatTheArrayHoldsSeesWritesThroughOtherTensors) {
  ProgramBuilder b({.placed = true});
  const uint32_t s = b.onChip("s", Memory::Sbuf, DType::Float32, {1, 1}, 0);
  const uint32_t alias = b.onChip("a", Memory::Sbuf, DType::Float32, {1, 1}, 0);
  const uint32_t v = b.onChip("v", Memory::Sbuf, DType::Float32, {1, 1}, 64);
  const uint32_t back = b.onChip("b", Memory::Sbuf, DType::Float32, {1, 1}, 128);
  const uint32_t acc = b.psum("p", DType::Float32, {1, 1});
  const uint32_t out = b.output("o", DType::Float32, {1, 1});
  b.memset(b.all(s), 2);
  b.memset(b.all(v), 1);
  b.matmul(b.all(acc), b.all(s), b.all(v), Accumulate::Overwrite);
  b.memset(b.all(alias), 10);
  b.matmul(b.all(acc), b.all(s), b.all(v), Accumulate::Add);
  b.copy(b.all(back), b.all(acc));
  b.dma(b.all(out), b.all(back));

  EXPECT_EQ(faultOf(b, {}).rule, "M-04");
  EXPECT_EQ(bitsOf(outputsOf(b, {}, {.checkOverwritten = false})[0]),
            (std::vector<uint32_t>{encode(DType::Float32, 12)}));
}

TEST_F(MatmulTest, NcTransposeMovesBitsOnBothEngines) {
  struct Case {
    DType dtype;
    Engine engine;
    int64_t p, f;
    std::vector<uint32_t> bits;
  };
  std::vector<Case> cases;
  for (auto [dtype, engine, p, f] :
       {std::tuple<DType, Engine, int64_t, int64_t>{DType::Float32, Engine::Tensor, 128, 65},
        {DType::BFloat16, Engine::Tensor, 3, 128},
        {DType::Float16, Engine::Tensor, 1, 1},
        {DType::Int32, Engine::Vector, 32, 9},
        {DType::UInt8, Engine::Vector, 5, 32}}) {
    Case c{dtype, engine, p, f, samples(dtype, size_t(p * f), 1)};
    const uint32_t x = load("x", dtype, {p, f}, c.bits);
    const uint32_t dst =
        b.onChip("d", engine == Engine::Tensor ? Memory::Psum : Memory::Sbuf, dtype, {f, p});
    b.add(engine, Opcode::NcTranspose, {b.all(dst), b.all(x)});
    store(dst);
    cases.push_back(std::move(c));
  }
  // In place: every element is read before any is written.
  Case square{DType::Int32, Engine::Vector, 8, 8, samples(DType::Int32, 64, 2)};
  const uint32_t x = load("x", DType::Int32, {8, 8}, square.bits);
  b.add(Engine::Vector, Opcode::NcTranspose, {b.all(x), b.all(x)});
  store(x);
  cases.push_back(std::move(square));

  const auto results = run();

  for (size_t i = 0; i < cases.size(); ++i)
    for (int64_t p = 0; p < cases[i].p; ++p)
      for (int64_t f = 0; f < cases[i].f; ++f)
        ASSERT_EQ(results[i][size_t(f * cases[i].p + p)], cases[i].bits[size_t(p * cases[i].f + f)])
            << "case " << i;
}
