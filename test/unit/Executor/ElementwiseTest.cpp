//===- ElementwiseTest.cpp - instructions on elements of equal position -----------------------===//
//
// Every instruction against a model in double with one rounding, on special
// values, at asymmetric shapes: wide rows, short rows, columns.
//
//===------------------------------------------------------------------------------------------===//

#include "TileTest.h"

#include <cmath>

using namespace kilnrt;
using namespace kilnrt::test;

namespace {

constexpr DType kAllTypes[] = {DType::Float32, DType::BFloat16, DType::Float16,
                               DType::Int32,   DType::UInt8,    DType::Int8,
                               DType::Int16,   DType::UInt16,   DType::UInt32};
constexpr size_t kTypes = std::size(kAllTypes);
/// Partitions and free elements.
constexpr std::pair<int64_t, int64_t> kShapes[] = {{128, 1}, {33, 3}, {7, 100}, {1, 5}};

double truth(bool b) { return b ? 1 : 0; }

/// op on fp32 values, before the rounding to fp32.
double alu(AluOp op, double x, double y) {
  const bool isNan = std::isnan(x) || std::isnan(y);
  switch (op) {
  case AluOp::Add:
    return x + y;
  case AluOp::Subtract:
    return x - y;
  case AluOp::Multiply:
    return x * y;
  case AluOp::Maximum:
    return isNan ? NAN : x == y ? (std::signbit(x) ? y : x) : std::fmax(x, y);
  case AluOp::Minimum:
    return isNan ? NAN : x == y ? (std::signbit(x) ? x : y) : std::fmin(x, y);
  case AluOp::Equal:
    return truth(x == y);
  case AluOp::NotEqual:
    return truth(x != y);
  case AluOp::GreaterEqual:
    return truth(x >= y);
  case AluOp::Greater:
    return truth(x > y);
  case AluOp::LessEqual:
    return truth(x <= y);
  case AluOp::Less:
    return truth(x < y);
  case AluOp::LogicalAnd:
    return truth(x != 0 && y != 0);
  case AluOp::LogicalOr:
    return truth(x != 0 || y != 0);
  case AluOp::LogicalXor:
    return truth((x != 0) != (y != 0));
  case AluOp::Abs:
    return std::fabs(x);
  case AluOp::Reciprocal:
    return 1 / x;
  default:
    ADD_FAILURE() << "no model of " << isa::name(op);
    return 0;
  }
}

uint32_t bitAlu(AluOp op, unsigned width, uint32_t x, uint32_t y) {
  const uint32_t mask = width == 32 ? ~0u : (1u << width) - 1;
  switch (op) {
  case AluOp::BitwiseAnd:
    return x & y;
  case AluOp::BitwiseOr:
    return x | y;
  case AluOp::BitwiseXor:
    return x ^ y;
  case AluOp::Invert:
    return ~x & mask;
  case AluOp::LeftShift:
    return y >= width ? 0 : x << y & mask;
  case AluOp::RightShift:
    return y >= width ? 0 : x >> y;
  default:
    ADD_FAILURE() << "no model of " << isa::name(op);
    return 0;
  }
}

std::vector<uint32_t> rotated(std::vector<uint32_t> bits, size_t by) {
  std::rotate(bits.begin(), bits.begin() + by % bits.size(), bits.end());
  return bits;
}

/// fp32 value of stored bits: what an engine sees.
double widened(DType dtype, uint32_t bits) { return f32(decode(dtype, bits)); }

} // namespace

//---- tensor_copy, memset, iota ------------------------------------------===//

TEST_F(TileTest, TensorCopyConvertsBetweenAllTypesAndKeepsEqualOnes) {
  std::vector<std::pair<DType, DType>> pairs;
  std::vector<std::vector<uint32_t>> sources;
  for (auto [p, f] : kShapes)
    for (DType from : kAllTypes)
      for (DType to : kAllTypes) {
        sources.push_back(samples(from, size_t(p * f), 7));
        pairs.push_back({from, to});
        const uint32_t src = load("s", from, {p, f}, sources.back());
        const uint32_t dst = b.sbuf("d", to, {p, f});
        b.copy(b.all(dst), b.all(src));
        store(dst);
      }

  const auto results = run();

  for (size_t i = 0; i < results.size(); ++i)
    for (size_t e = 0; e < results[i].size(); ++e) {
      auto [from, to] = pairs[i];
      const uint32_t expected =
          from == to ? sources[i][e] : encode(to, widened(from, sources[i][e]));
      ASSERT_EQ(results[i][e], expected)
          << isa::name(from) << " to " << isa::name(to) << ", element " << e;
    }
}

TEST_F(TileTest, TensorCopyPairsElementsByPositionAcrossPatterns) {
  std::vector<uint32_t> bits(2 * 24);
  for (size_t i = 0; i < bits.size(); ++i)
    bits[i] = uint32_t(i) | 0x7F800000; // NaNs with payloads
  const uint32_t src = load("s", DType::Float32, {2, 4, 3, 2}, bits);
  const uint32_t dst = b.sbuf("d", DType::Float32, {2, 24});
  // Source transposed and reversed, destination as three groups of eight.
  b.copy(b.at(dst, 0, 2, 23, {{-8, 3}, {-1, 8}}), b.at(src, 0, 2, 0, {{2, 3}, {1, 2}, {6, 4}}));
  store(dst);

  const auto results = run();

  size_t flat = 0;
  for (int64_t i = 0; i < 3; ++i)
    for (int64_t j = 0; j < 2; ++j)
      for (int64_t k = 0; k < 4; ++k, ++flat)
        for (int64_t p = 0; p < 2; ++p)
          EXPECT_EQ(results[0][size_t(p * 24 + 23 - int64_t(flat))],
                    bits[size_t(p * 24 + i * 2 + j + k * 6)]);
}

TEST_F(TileTest, InputsAreReadInFullBeforeAShiftedOutputIsWritten) {
  std::vector<uint32_t> bits(3 * 10);
  for (size_t i = 0; i < bits.size(); ++i)
    bits[i] = uint32_t(i + 1);
  const uint32_t x = load("x", DType::Int32, {3, 10}, bits);
  b.copy(b.at(x, 0, 3, 1, {{1, 9}}), b.at(x, 0, 3, 0, {{1, 9}})); // up by one
  const uint32_t y = load("y", DType::Int32, {3, 10}, bits);
  b.copy(b.at(y, 0, 3, 0, {{1, 10}}), b.at(y, 0, 3, 9, {{-1, 10}})); // reversed
  const uint32_t z = load("z", DType::Int32, {3, 10}, bits);
  // A column of the output is an argument of the whole.
  Record &scalar =
      b.add(Engine::Vector, Opcode::TensorScalar, {b.all(z), b.all(z), b.at(z, 0, 3, 4, {{1, 1}})});
  scalar.inst.setWord("op0", int64_t(AluOp::BitwiseXor));
  store(x);
  store(y);
  store(z);

  const auto results = run();

  for (size_t p = 0; p < 3; ++p)
    for (size_t f = 0; f < 10; ++f) {
      EXPECT_EQ(results[0][p * 10 + f], bits[p * 10 + (f == 0 ? 0 : f - 1)]);
      EXPECT_EQ(results[1][p * 10 + f], bits[p * 10 + 9 - f]);
      EXPECT_EQ(results[2][p * 10 + f], bits[p * 10 + f] ^ bits[p * 10 + 4]);
    }
}

TEST_F(TileTest, MemsetRoundsTheValueOnce) {
  // 1 + 2^-8 + 2^-40 is above the tie of bfloat16 that fp32 would make of it.
  const double value = 1 + 0x1p-8 + 0x1p-40;
  std::vector<std::pair<DType, double>> cases = {
      {DType::BFloat16, value},      {DType::Float16, 1 + 0x1p-11 + 0x1p-40},
      {DType::Float32, value},       {DType::BFloat16, -0.0},
      {DType::Float32, NAN},         {DType::Float16, 65519.999999999},
      {DType::Float16, 0x1.8p-25},   {DType::Float16, -65520.0},
      {DType::Int32, 2147483647.0},  {DType::Int32, -2147483648.0},
      {DType::Int32, 16777217.0},    {DType::UInt8, 255},
      {DType::UInt32, 4294967295.0}, {DType::UInt32, 16777217.0},
      {DType::Int8, -128},           {DType::Int16, -32768},
      {DType::UInt16, 65535}};
  for (auto [dtype, v] : cases) {
    const uint32_t dst = b.sbuf("d", dtype, {5, 2, 3});
    b.memset(b.all(dst), 0);
    b.memset(b.at(dst, 0, 5, 1, {{2, 3}}), v);
    store(dst);
  }

  const auto results = run();

  for (size_t i = 0; i < cases.size(); ++i)
    for (size_t e = 0; e < 30; ++e)
      EXPECT_EQ(results[i][e], e % 2 ? encode(cases[i].first, cases[i].second) : 0u)
          << isa::name(cases[i].first) << " " << cases[i].second;
}

TEST_F(TileTest, IotaWrapsInInt32SaturatesAndRoundsOnce) {
  struct Case {
    DType dtype;
    int32_t step0, step1, offset, perPartition;
  };
  const Case cases[] = {{DType::Int32, 100, -7, 2147483000, 1000},
                        {DType::UInt8, 40, -1, -20, 30},
                        {DType::Int8, 60, -1, -150, 30},
                        {DType::Int16, 40000, 1, -50000, 11},
                        {DType::UInt16, 40000, 1, -20000, 11},
                        {DType::UInt32, 16777217, -1, -16777216, 2147483000},
                        {DType::BFloat16, 1, 65537, 16842753, -3},
                        {DType::Float32, 16777216, 1, 1, 5},
                        {DType::Float16, 20000, 1, -30000, 11}};
  for (const Case &c : cases) {
    const uint32_t dst = b.sbuf("d", c.dtype, {4, 2, 3});
    Record &iota = b.add(Engine::Gpsimd, Opcode::Iota, {b.all(dst)});
    const int64_t words[] = {0, 1, 0, 1, c.step0, 2, c.step1, 3};
    for (unsigned i = 0; i < 8; ++i)
      iota.inst.setWord("pattern", words[i], i);
    iota.inst.setWord("offset", c.offset);
    iota.inst.setWord("channel_multiplier", c.perPartition);
    store(dst);
  }

  const auto results = run();

  for (size_t c = 0; c < std::size(cases); ++c)
    for (uint32_t p = 0; p < 4; ++p)
      for (uint32_t f = 0; f < 6; ++f) {
        const int32_t v =
            int32_t(uint32_t(cases[c].offset) + p * uint32_t(cases[c].perPartition) +
                    f / 3 * uint32_t(cases[c].step0) + f % 3 * uint32_t(cases[c].step1));
        EXPECT_EQ(results[c][p * 6 + f], encode(cases[c].dtype, v))
            << isa::name(cases[c].dtype) << " " << v;
      }
}

//---- tensor_tensor ------------------------------------------------------===//

TEST_F(TileTest, TensorTensorComputesInFp32AndRoundsOnce) {
  const AluOp ops[] = {AluOp::Add,          AluOp::Subtract,  AluOp::Multiply,  AluOp::Maximum,
                       AluOp::Minimum,      AluOp::Equal,     AluOp::NotEqual,  AluOp::Greater,
                       AluOp::GreaterEqual, AluOp::Less,      AluOp::LessEqual, AluOp::LogicalAnd,
                       AluOp::LogicalOr,    AluOp::LogicalXor};
  struct Case {
    AluOp op;
    DType out, left, right;
    std::vector<uint32_t> x, y;
  };
  std::vector<Case> cases;
  size_t turn = 0;
  for (AluOp op : ops)
    for (auto [p, f] : kShapes) {
      // Types and memories take turns, so that all of them meet.
      const DType left = kAllTypes[turn % kTypes], right = kAllTypes[turn / 2 % kTypes],
                  out = kAllTypes[turn / 3 % kTypes];
      const Memory memory = turn % 4 == 0 ? Memory::Psum : Memory::Sbuf;
      Case c{op,
             out,
             left,
             right,
             samples(left, size_t(p * f), turn),
             rotated(samples(right, size_t(p * f), turn + 1), turn)};
      const uint32_t x = load("x", left, {p, f}, c.x, memory);
      const uint32_t y = load("y", right, {p, f}, c.y);
      const uint32_t dst = b.onChip("d", turn % 3 ? Memory::Sbuf : Memory::Psum, out, {p, f});
      Record &record =
          b.add(Engine::Vector, Opcode::TensorTensor, {b.all(dst), b.all(x), b.all(y)});
      record.inst.setWord("op", int64_t(op));
      store(dst);
      cases.push_back(std::move(c));
      ++turn;
    }

  const auto results = run();

  for (size_t i = 0; i < cases.size(); ++i)
    for (size_t e = 0; e < results[i].size(); ++e) {
      const Case &c = cases[i];
      const double x = widened(c.left, c.x[e]), y = widened(c.right, c.y[e]);
      ASSERT_EQ(results[i][e], encode(c.out, f32(alu(c.op, x, y))))
          << isa::name(c.op) << "(" << x << ", " << y << ") of " << isa::name(c.left) << ", "
          << isa::name(c.right) << " as " << isa::name(c.out);
    }
}

TEST_F(TileTest, TensorTensorOnGpSimdIsExactOnInt32AndOnVectorIsNot) {
  const std::vector<uint32_t> x = {0x7FFFFFFF, 16777217, 0x80000000, 70000, 5};
  const std::vector<uint32_t> y = {1, 1, 0xFFFFFFFF, 70000, 0xFFFFFFFB};
  const uint32_t a = load("a", DType::Int32, {1, 5}, x);
  const uint32_t c = load("c", DType::Int32, {1, 5}, y);
  const AluOp ops[] = {AluOp::Add, AluOp::Multiply, AluOp::Subtract, AluOp::Greater};
  for (AluOp op : ops) {
    const uint32_t dst = b.sbuf("d", DType::Int32, {1, 5});
    b.add(Engine::Gpsimd, Opcode::TensorTensor, {b.all(dst), b.all(a), b.all(c)})
        .inst.setWord("op", int64_t(op));
    store(dst);
  }
  const uint32_t rounded = b.sbuf("rounded", DType::Int32, {1, 5});
  b.add(Engine::Vector, Opcode::TensorTensor, {b.all(rounded), b.all(a), b.all(c)})
      .inst.setWord("op", int64_t(AluOp::Add));
  store(rounded);

  const auto results = run();

  for (size_t e = 0; e < 5; ++e) {
    EXPECT_EQ(results[0][e], x[e] + y[e]);
    EXPECT_EQ(results[1][e], x[e] * y[e]);
    EXPECT_EQ(results[2][e], x[e] - y[e]);
    EXPECT_EQ(results[3][e], uint32_t(int32_t(x[e]) > int32_t(y[e])));
  }
  EXPECT_EQ(results[4], (std::vector<uint32_t>{0x7FFFFFFF, 16777216, 0x80000000, 140000, 0}));
}

TEST_F(TileTest, TensorTensorOnGpSimdComparesInt32WithUint32ByValue) {
  const std::vector<uint32_t> x = {0xFFFFFFFF, 5, 0x80000000}, y = {0, 0x80000000, 0x80000000};
  const uint32_t a = load("a", DType::Int32, {1, 3}, x);
  const uint32_t c = load("c", DType::UInt32, {1, 3}, y);
  const std::pair<AluOp, DType> cases[] = {{AluOp::Less, DType::Int32},
                                           {AluOp::Maximum, DType::UInt32},
                                           {AluOp::Maximum, DType::Int32},
                                           {AluOp::Subtract, DType::UInt32}};
  for (auto [op, dtype] : cases) {
    const uint32_t dst = b.sbuf("d", dtype, {1, 3});
    b.add(Engine::Gpsimd, Opcode::TensorTensor, {b.all(dst), b.all(a), b.all(c)})
        .inst.setWord("op", int64_t(op));
    store(dst);
  }

  const auto results = run();

  EXPECT_EQ(results[0], (std::vector<uint32_t>{1, 1, 1}));
  EXPECT_EQ(results[1], (std::vector<uint32_t>{0, 0x80000000, 0x80000000}));
  EXPECT_EQ(results[2], (std::vector<uint32_t>{0, 0x7FFFFFFF, 0x7FFFFFFF}));
  EXPECT_EQ(results[3], (std::vector<uint32_t>{0xFFFFFFFF, 0x80000005, 0}));
}

TEST_F(TileTest, BitvecOperatorsWorkOnRawBitsOfOneWidth) {
  const AluOp ops[] = {AluOp::BitwiseAnd, AluOp::BitwiseOr, AluOp::BitwiseXor, AluOp::LeftShift,
                       AluOp::RightShift};
  struct Case {
    AluOp op;
    unsigned width;
    std::vector<uint32_t> x, y;
  };
  std::vector<Case> cases;
  for (AluOp op : ops)
    for (DType dtype :
         {DType::Int32, DType::UInt8, DType::Int8, DType::Int16, DType::UInt16, DType::UInt32})
      for (auto [p, f] : kShapes) {
        Case c{op, 8u * isa::bytesOf(dtype), samples(dtype, size_t(p * f), 3), {}};
        for (size_t e = 0; e < c.x.size(); ++e)
          c.y.push_back(uint32_t(e % 41)); // shifts below, at and above the width
        const uint32_t x = load("x", dtype, {p, f}, c.x);
        const uint32_t y = load("y", dtype, {p, f}, c.y);
        const uint32_t dst = b.sbuf("d", dtype, {p, f});
        b.add(Engine::Vector, Opcode::TensorTensor, {b.all(dst), b.all(x), b.all(y)})
            .inst.setWord("op", int64_t(op));
        store(dst);
        cases.push_back(std::move(c));
      }

  const auto results = run();

  for (size_t i = 0; i < cases.size(); ++i)
    for (size_t e = 0; e < results[i].size(); ++e)
      ASSERT_EQ(results[i][e], bitAlu(cases[i].op, cases[i].width, cases[i].x[e], cases[i].y[e]))
          << isa::name(cases[i].op) << " of " << cases[i].x[e] << ", " << cases[i].y[e];
}

//---- tensor_scalar, reciprocal ------------------------------------------===//

TEST_F(TileTest, TensorScalarAppliesTwoStagesWithImmediatesOrColumns) {
  struct Case {
    AluOp op0, op1;
    bool reverse0, reverse1, column0, column1;
    DType type;
    int64_t p, f;
    std::vector<uint32_t> x, c0, c1;
  };
  std::vector<Case> cases;
  const std::pair<AluOp, AluOp> stages[] = {{AluOp::Multiply, AluOp::Add},
                                            {AluOp::Subtract, AluOp::None},
                                            {AluOp::Subtract, AluOp::Maximum},
                                            {AluOp::Abs, AluOp::Subtract},
                                            {AluOp::Greater, AluOp::Multiply}};
  unsigned turn = 0;
  for (auto [op0, op1] : stages)
    for (auto [p, f] : kShapes)
      for (unsigned flags = 0; flags < 16; ++flags) {
        const bool isUnary = op0 == AluOp::Abs;
        Case c{op0,
               op1,
               bool(flags & 1) && !isUnary,
               bool(flags & 2) && op1 != AluOp::None,
               bool(flags & 4) && !isUnary,
               bool(flags & 8) && op1 != AluOp::None,
               kAllTypes[turn++ % kTypes],
               p,
               f,
               {},
               {},
               {}};
        c.x = samples(c.type, size_t(p * f), flags);
        c.c0 = rotated(samples(DType::Float32, size_t(p) + 20, 1), 5);
        c.c0.resize(size_t(p));
        c.c1 = rotated(samples(DType::Float32, size_t(p) + 20, 2), 3);
        c.c1.resize(size_t(p));
        const uint32_t x = load("x", c.type, {p, f}, c.x);
        const uint32_t dst = b.sbuf("d", DType::Float32, {p, f});
        isa::Access column0, column1;
        if (c.column0)
          column0 = b.all(load("c0", DType::Float32, {p, 1}, c.c0));
        if (c.column1)
          column1 = b.all(load("c1", DType::Float32, {p, 1}, c.c1));
        Record &record =
            b.add(Engine::Vector, Opcode::TensorScalar, {b.all(dst), b.all(x), column0, column1});
        record.inst.setWord("op0", int64_t(op0));
        record.inst.setWord("op1", int64_t(op1));
        if (!isUnary && !c.column0)
          record.inst.setReal("imm0", 0.1);
        if (op1 != AluOp::None && !c.column1)
          record.inst.setReal("imm1", -2.5);
        record.inst.setWord("reverse0", c.reverse0);
        record.inst.setWord("reverse1", c.reverse1);
        store(dst);
        cases.push_back(std::move(c));
      }

  const auto results = run();

  for (size_t i = 0; i < cases.size(); ++i)
    for (size_t e = 0; e < results[i].size(); ++e) {
      const Case &c = cases[i];
      const size_t row = e / size_t(c.f);
      const double y0 = c.column0 ? decode(DType::Float32, c.c0[row]) : double(f32(0.1));
      const double y1 = c.column1 ? decode(DType::Float32, c.c1[row]) : -2.5;
      const double x = widened(c.type, c.x[e]);
      double t = f32(c.reverse0 ? alu(c.op0, y0, x) : alu(c.op0, x, y0));
      if (c.op1 != AluOp::None)
        t = f32(c.reverse1 ? alu(c.op1, y1, t) : alu(c.op1, t, y1));
      ASSERT_EQ(results[i][e], encode(DType::Float32, t))
          << isa::name(c.op0) << ", " << isa::name(c.op1) << " on " << x << ", case " << i
          << ", element " << e;
    }
}

TEST_F(TileTest, TensorScalarOnBitsTakesIntegerScalars) {
  for (auto [p, f] : kShapes) {
    const std::vector<uint32_t> bits = samples(DType::UInt8, size_t(p * f), 9);
    const uint32_t x = load("x", DType::UInt8, {p, f}, bits);
    std::vector<uint32_t> shifts(size_t(p), 0);
    for (size_t i = 0; i < shifts.size(); ++i)
      shifts[i] = uint32_t(i % 10);
    const uint32_t column = load("c", DType::UInt8, {p, 1}, shifts);
    const uint32_t dst = b.sbuf("d", DType::UInt8, {p, f});
    Record &record =
        b.add(Engine::Vector, Opcode::TensorScalar, {b.all(dst), b.all(x), {}, b.all(column)});
    record.inst.setWord("op0", int64_t(AluOp::BitwiseXor));
    record.inst.setReal("imm0", 0x5A);
    record.inst.setWord("op1", int64_t(AluOp::RightShift));
    store(dst);
  }

  const auto results = run();

  size_t shape = 0;
  for (auto [p, f] : kShapes) {
    const std::vector<uint32_t> bits = samples(DType::UInt8, size_t(p * f), 9);
    for (size_t e = 0; e < bits.size(); ++e) {
      const uint32_t shift = uint32_t(e / size_t(f) % 10);
      ASSERT_EQ(results[shape][e], shift >= 8 ? 0u : (bits[e] ^ 0x5A) >> shift);
    }
    ++shape;
  }
}

TEST_F(TileTest, ReciprocalIsTheIeeeDivision) {
  const std::vector<uint32_t> bits = samples(DType::Float32, 300, 11);
  const uint32_t x = load("x", DType::Float32, {3, 100}, bits);
  const uint32_t dst = b.sbuf("d", DType::Float32, {3, 100});
  b.add(Engine::Vector, Opcode::Reciprocal, {b.all(dst), b.all(x)});
  store(dst);

  const auto results = run();

  for (size_t e = 0; e < bits.size(); ++e)
    ASSERT_EQ(results[0][e], encode(DType::Float32, 1 / decode(DType::Float32, bits[e])));
}
