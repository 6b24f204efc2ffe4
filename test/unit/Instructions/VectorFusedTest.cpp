//===- VectorFusedTest.cpp - rows of VectorEngine.td with two operators, end to end
//---------------===//

#include "InstructionFixture.h"

#include <gmock/gmock.h>

#include <random>

using namespace kiln::test;
using testing::ElementsAre, testing::ElementsAreArray, testing::HasSubstr;

namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

/// Deterministic values in [-2, 2) on a grid coarse enough to make sums and products inexact only
/// now and then.
std::vector<float> randomValues(size_t count, uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<float> values(count);
  for (float &v : values)
    v = float(int32_t(random() >> 8) - (1 << 23)) * 0x1p-22f;
  return values;
}

} // namespace

//---- scalar_tensor_tensor -----------------------------------------------===//

TEST(ScalarTensorTensor, DoesNotNarrowBetweenTheOperators) {
  // 256 + 1 is no bfloat16: a narrowed intermediate would lose the 1.
  const HostArray x = arrayOf(DType::BFloat16, {2, 3}, {256, 512, -256, 1, 2, 3});
  const HostArray s = arrayOf(DType::Float16, {2, 1}, {1, -4});
  const HostArray y = arrayOf(DType::BFloat16, {2, 3}, {256, 512, -256, 0.5f, 8, -1});

  std::string text;
  const std::vector<float> values = onlyResult(runKernel(
      [](Tensor x, Tensor s, Tensor y) {
        Tensor out = nl::ndarray(x.shape(), nl::bfloat16);
        nisa::scalar_tensor_tensor({.dst = out,
                                    .data = loaded(x),
                                    .op0 = nl::add,
                                    .operand0 = loaded(s),
                                    .op1 = nl::subtract,
                                    .operand1 = loaded(y)});
        return stored(out);
      },
      {x, s, y}, &text));

  EXPECT_THAT(text, HasSubstr("scalar_tensor_tensor "));
  EXPECT_THAT(values, ElementsAre(1, 1, 1, -3.5f, -10, 0));
}

TEST(ScalarTensorTensor, ReversesEachOperator) {
  const HostArray x = arrayOf(DType::Float32, {1, 2}, {10, 20});
  const HostArray y = arrayOf(DType::Float32, {1, 2}, {3, 5});

  const std::vector<float> values = onlyResult(runKernel(
      [](Tensor x, Tensor y) {
        Tensor a = loaded(x), b = loaded(y), out = nl::ndarray({1, 4, 2}, nl::float32);
        for (int i = 0; i < 4; ++i)
          nisa::scalar_tensor_tensor({.dst = out(nl::_, i),
                                      .data = a,
                                      .op0 = nl::subtract,
                                      .operand0 = 1,
                                      .op1 = nl::subtract,
                                      .operand1 = b,
                                      .reverse0 = i % 2 == 1,
                                      .reverse1 = i >= 2});
        return stored(out);
      },
      {x, y}));

  EXPECT_THAT(values, ElementsAre(6, 14,    // (x - 1) - y
                                  -12, -24, // (1 - x) - y
                                  -6, -14,  // y - (x - 1)
                                  12, 24)); // y - (1 - x)
}

TEST(ScalarTensorTensor, PairsElementsOfDifferentPatternsAndMemories) {
  const HostArray x = arrayOf(DType::Float32, {2, 2, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12});
  const HostArray y = arrayOf(DType::Float32, {2, 6}, {1, 1, 2, 2, 3, 3, -1, -1, -2, -2, -3, -3});

  const std::vector<float> values = onlyResult(runKernel(
      [](Tensor x, Tensor y) {
        Tensor inPsum = nl::ndarray({2, 6}, nl::float32, nl::psum),
               out = nl::ndarray({2, 3, 2}, nl::int32);
        nisa::tensor_copy(inPsum, loaded(y));
        nisa::scalar_tensor_tensor({.dst = out,
                                    .data = loaded(x).permute({0, 2, 1}), // 1 4 2 5 3 6
                                    .op0 = nl::multiply,
                                    .operand0 = 2.5,
                                    .op1 = nl::add,
                                    .operand1 = inPsum});
        return stored(out);
      },
      {x, y}));

  // 2.5 + 1, 10 + 1, 5 + 2, 12.5 + 2, ...: halves round to even.
  EXPECT_THAT(values, ElementsAre(4, 11, 7, 14, 10, 18, 16, 24, 18, 26, 20, 27));
}

TEST(ScalarTensorTensor, KeepsSpecialValues) {
  const HostArray x = arrayOf(DType::Float32, {1, 5}, {kInf, kNan, -0.0f, 0x1p-149f, -kInf});
  const HostArray y = arrayOf(DType::Float32, {1, 5}, {-kInf, kInf, -0.0f, 0.0f, 3});

  const std::vector<float> values = onlyResult(runKernel(
      [](Tensor x, Tensor y) {
        Tensor b = loaded(y), out = nl::ndarray({1, 2, 5}, nl::float32);
        nisa::scalar_tensor_tensor({.dst = out(nl::_, 0),
                                    .data = loaded(x),
                                    .op0 = nl::multiply,
                                    .operand0 = 1.0f,
                                    .op1 = nl::add,
                                    .operand1 = b});
        nisa::scalar_tensor_tensor({.dst = out(nl::_, 1),
                                    .data = loaded(x),
                                    .op0 = nl::abs,
                                    .op1 = nl::maximum,
                                    .operand1 = b});
        return stored(out);
      },
      {x, y}));

  EXPECT_EQ(bitPatterns(values), bitPatterns({kNan, kNan, -0.0f, 0x1p-149f, -kInf, // x + y
                                              kInf, kNan, 0.0f, 0x1p-149f, kInf}));
}

TEST(ScalarTensorTensor, WritesOverItsInputs) {
  const HostArray x = arrayOf(DType::Float32, {3, 2}, {1, 2, 3, 4, 5, 6});

  const std::vector<float> values = onlyResult(runKernel(
      [](Tensor x) {
        Tensor a = loaded(x), b = loaded(x), out = nl::ndarray({3, 3, 2}, nl::float32);
        auto fused = [](Tensor dst, Tensor data, nl::Operand scalar, Tensor second) {
          nisa::scalar_tensor_tensor({.dst = dst,
                                      .data = data,
                                      .op0 = nl::multiply,
                                      .operand0 = scalar,
                                      .op1 = nl::subtract,
                                      .operand1 = second});
        };
        fused(a, a, 10, b); // over data: 9x
        nisa::tensor_copy(out(nl::_, 0), a);
        fused(b, a, 1, b); // over operand1: 9x - x
        nisa::tensor_copy(out(nl::_, 1), b);
        Tensor c = loaded(x);
        fused(c, a, c(nl::_, ds(0, 1)), a); // over the scalar: 9x * x0 - 9x
        nisa::tensor_copy(out(nl::_, 2), c);
        return stored(out);
      },
      {x}));

  EXPECT_THAT(values, ElementsAre(9, 18, 8, 16, 0, 0,     //
                                  27, 36, 24, 32, 54, 72, //
                                  45, 54, 40, 48, 180, 216));
}

TEST(ScalarTensorTensor, MatchesSeparateRoundingOfBothOperators) {
  constexpr uint32_t seed = 17;
  constexpr int64_t rows = 5, elements = 3000; // more than a chunk
  const std::vector<float> x = randomValues(rows * elements, seed),
                           y = randomValues(rows * elements, seed + 1),
                           s = randomValues(rows, seed + 2);

  const std::vector<float> values = onlyResult(runKernel(
      [](Tensor x, Tensor y, Tensor s) {
        Tensor out = nl::ndarray(x.shape(), nl::float32);
        nisa::scalar_tensor_tensor({.dst = out,
                                    .data = loaded(x),
                                    .op0 = nl::multiply,
                                    .operand0 = loaded(s),
                                    .op1 = nl::add,
                                    .operand1 = loaded(y)});
        return stored(out);
      },
      {arrayOf(DType::Float32, {rows, elements}, x), arrayOf(DType::Float32, {rows, elements}, y),
       arrayOf(DType::Float32, {rows, 1}, s)}));

  ASSERT_EQ(values.size(), x.size());
  for (size_t i = 0; i < x.size(); ++i) {
    // A product of two floats is exact in double, and so is rounding it once.
    const float product = float(double(x[i]) * s[i / elements]);
    ASSERT_EQ(values[i], float(double(product) + y[i])) << "element " << i << ", seed " << seed;
  }
}

TEST(ScalarTensorTensor, RefusesOperatorsItCannotRun) {
  auto errors = [](const nl::Op &first, const nl::Operand &scalar, const nl::Op &second) {
    static nl::Op op0, op1; // a kernel is a function without captures
    static nl::Operand operand0;
    op0 = first, op1 = second, operand0 = scalar;
    return errorsOf(traceBody([](InOut) {
      Tensor x = nl::ndarray({4, 8}, nl::int32), y = nl::ndarray({4, 8}, nl::int32);
      nisa::scalar_tensor_tensor(
          {.dst = y, .data = x, .op0 = op0, .operand0 = operand0, .op1 = op1, .operand1 = y});
    }));
  };

  EXPECT_EQ(errors(nl::subtract, 1, nl::less_equal), "");
  EXPECT_EQ(errors(nl::abs, {}, nl::add), "");
  EXPECT_EQ(errors(nl::abs, 0, nl::add), "");
  EXPECT_EQ(errors(nl::abs, 2, nl::add),
            "[D-08] abs takes no scalar, imm0 is 2 (leave the operand out)");
  EXPECT_EQ(errors(nl::add, {}, nl::add),
            "[D-08] nl::add of scalar_tensor_tensor needs operand0 (give operand0 a number, or a "
            "tile with one value per partition)");
  EXPECT_EQ(errors(nl::add, 1, nl::abs), "[B-07] op1 of scalar_tensor_tensor needs a binary "
                                         "operator, abs takes one argument (use tensor_scalar or "
                                         "activation for functions of one tile)");
  EXPECT_EQ(errors(nl::bitwise_and, 1, nl::add),
            "[D-08] op0 of scalar_tensor_tensor must be arithmetic, bitwise_and works on bits (use "
            "tensor_scalar or tensor_tensor for bit operators)");
  EXPECT_EQ(errors(nl::power, 2, nl::add),
            "[B-07] power runs on GpSimd only, op0 of scalar_tensor_tensor cannot be power (use "
            "tensor_tensor with power and a tile of exponents)");
  EXPECT_EQ(errors(nl::rsqrt, {}, nl::add), "[B-07] op0 of scalar_tensor_tensor cannot be rsqrt "
                                            "(use activation with rsqrt first)");
  EXPECT_EQ(errors(nl::add, 1, nl::reciprocal),
            "[B-07] op1 of scalar_tensor_tensor cannot be reciprocal (use nisa::reciprocal first)");
  EXPECT_EQ(errors(nl::add, 1, nl::exp),
            "[B-07] op1 of scalar_tensor_tensor is nl::exp, a function of the Scalar Engine "
            "(nisa::activation computes functions; an ALU operator is nl::add, nl::multiply, "
            "nl::maximum, ...)");
  EXPECT_EQ(errors(nl::add, 1, {}), "[B-07] op1 of scalar_tensor_tensor is missing (give it an "
                                    "operator, such as .op1 = nl::add)");
}

TEST(ScalarTensorTensor, RefusesOperandsThatDoNotMeet) {
  auto errors = [](auto kernel) { return errorsOf(traceBody(kernel)); };

  EXPECT_EQ(
      errors([](InOut) {
        Tensor a = nl::ndarray({4, 8}, nl::float32, nl::psum),
               b = nl::ndarray({4, 8}, nl::float32, nl::psum);
        nisa::scalar_tensor_tensor(
            {.dst = b, .data = a, .op0 = nl::add, .operand0 = 1, .op1 = nl::add, .operand1 = b});
      }),
      "[B-03] only one of the two inputs may be in PSUM, data and operand1 both are (copy "
      "one to SBUF)");
  EXPECT_EQ(errors([](InOut) {
              Tensor a = nl::ndarray({64, 8}, nl::float32), b = nl::ndarray({64, 8}, nl::float32);
              nisa::scalar_tensor_tensor({.dst = a(ds(0, 32)),
                                          .data = a(ds(0, 32)),
                                          .op0 = nl::add,
                                          .operand0 = 1,
                                          .op1 = nl::add,
                                          .operand1 = b(ds(32, 32))});
            }),
            "[P-06] two SBUF inputs must start at the same partition, data starts at 0 and "
            "operand1 at 32 (copy operand1 to partition 0 first)");
  EXPECT_EQ(
      errors([](InOut) {
        Tensor a = nl::ndarray({4, 8}, nl::float32), b = nl::ndarray({4, 9}, nl::float32);
        nisa::scalar_tensor_tensor(
            {.dst = a, .data = a, .op0 = nl::add, .operand0 = a, .op1 = nl::add, .operand1 = b});
      }),
      "[D-10] operand0 is (4, 8), it must be (4, 1): one value per partition (take one "
      "column of it, or copy it to a (4, 1) tile)\n"
      "[P-05] data has 8 elements per partition, operand1 has 9 (take views of 8 elements "
      "per partition on both sides)");
}

//---- tensor_tensor_scan -------------------------------------------------===//

namespace {

/// Traces and runs one scan of `x` and `y`, whose result has dtype `dtype`.
struct ScanCase {
  nl::Op op0, op1;
  nl::Operand initial;
  bool reverse0 = false, reverse1 = false;
  nl::DType dtype = nl::float32;
};

std::vector<float> scan(const ScanCase &wanted, const HostArray &x, const HostArray &y) {
  static ScanCase c; // a kernel is a function without captures
  c = wanted;
  return onlyResult(runKernel(
      [](Tensor x, Tensor y) {
        Tensor out = nl::ndarray(x.shape(), c.dtype);
        nisa::tensor_tensor_scan({.dst = out,
                                  .data0 = loaded(x),
                                  .data1 = loaded(y),
                                  .initial = c.initial,
                                  .op0 = c.op0,
                                  .op1 = c.op1,
                                  .reverse0 = c.reverse0,
                                  .reverse1 = c.reverse1});
        return stored(out);
      },
      {x, y}));
}

} // namespace

TEST(TensorTensorScan, CarriesTheStateAlongTheRow) {
  const HostArray x = arrayOf(DType::Float32, {2, 4}, {1, 2, 0, 3, 0.5f, 0.5f, 0.5f, 0.5f}),
                  y = arrayOf(DType::Float32, {2, 4}, {1, 1, 1, 1, 8, 4, 2, 1});

  EXPECT_THAT(scan({.op0 = nl::multiply, .op1 = nl::add, .initial = 10}, x, y),
              ElementsAre(11, 23, 1, 4, //
                          13, 10.5f, 7.25f, 4.625f));
}

TEST(TensorTensorScan, ReversesEachOperator) {
  const HostArray x = arrayOf(DType::Float32, {1, 3}, {5, 7, 20}),
                  y = arrayOf(DType::Float32, {1, 3}, {1, 2, 4});
  auto subtract = [&](bool reverse0, bool reverse1) {
    return scan({.op0 = nl::subtract,
                 .op1 = nl::subtract,
                 .initial = 100,
                 .reverse0 = reverse0,
                 .reverse1 = reverse1},
                x, y);
  };

  EXPECT_THAT(subtract(false, false), ElementsAre(-96, 101, -85)); // (x - s) - y
  EXPECT_THAT(subtract(true, false), ElementsAre(94, 85, 61));     // (s - x) - y
  EXPECT_THAT(subtract(false, true), ElementsAre(96, 91, 75));     // y - (x - s)
  EXPECT_THAT(subtract(true, true), ElementsAre(-94, 103, -79));   // y - (s - x)
}

TEST(TensorTensorScan, KeepsTheStateInFloat32) {
  // In bfloat16 256 + 1 is 256 again: a state read back from dst would stand still.
  const HostArray x = arrayOf(DType::BFloat16, {1, 6}, {1, 1, 1, 1, 1, 1}),
                  y = arrayOf(DType::BFloat16, {1, 6}, {1, 1, 1, 1, 1, 1});

  EXPECT_THAT(
      scan({.op0 = nl::multiply, .op1 = nl::add, .initial = 256, .dtype = nl::bfloat16}, x, y),
      ElementsAre(256, 258, 260, 260, 260, 262)); // 257 .. 262, halves to even
}

TEST(TensorTensorScan, ContinuesFromTheLastColumn) {
  const HostArray x = arrayOf(DType::Float32, {3, 4}, {1, 2, 3, 4, 2, 2, 2, 2, -1, -1, -1, -1}),
                  y = arrayOf(DType::Float32, {3, 4}, {1, 0, 1, 0, 1, 1, 1, 1, 5, 5, 5, 5});

  const std::vector<float> values = onlyResult(runKernel(
      [](Tensor x, Tensor y) {
        Tensor a = loaded(x), b = loaded(y), whole = nl::ndarray({3, 4}, nl::float32),
               out = nl::ndarray({3, 2, 4}, nl::float32);
        nisa::tensor_tensor_scan({.dst = whole,
                                  .data0 = a,
                                  .data1 = b,
                                  .initial = 1,
                                  .op0 = nl::multiply,
                                  .op1 = nl::add});
        nisa::tensor_copy(out(nl::_, 0), whole);
        Tensor parts = out(nl::_, 1);
        nisa::tensor_tensor_scan({.dst = parts(nl::_, ds(0, 3)),
                                  .data0 = a(nl::_, ds(0, 3)),
                                  .data1 = b(nl::_, ds(0, 3)),
                                  .initial = 1,
                                  .op0 = nl::multiply,
                                  .op1 = nl::add});
        // One element, over its own initial value's neighbour.
        nisa::tensor_tensor_scan({.dst = parts(nl::_, ds(3, 1)),
                                  .data0 = a(nl::_, ds(3, 1)),
                                  .data1 = b(nl::_, ds(3, 1)),
                                  .initial = parts(nl::_, ds(2, 1)),
                                  .op0 = nl::multiply,
                                  .op1 = nl::add});
        return stored(out);
      },
      {x, y}));

  EXPECT_THAT(values, ElementsAre(2, 4, 13, 52, 2, 4, 13, 52, //
                                  3, 7, 15, 31, 3, 7, 15, 31, //
                                  4, 1, 4, 1, 4, 1, 4, 1));
}

TEST(TensorTensorScan, FollowsThePatternAndWritesOverItsInputs) {
  const HostArray x = arrayOf(DType::Float32, {2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8});

  const std::vector<float> values = onlyResult(runKernel(
      [](Tensor x) {
        Tensor a = loaded(x), one = nl::ndarray({2, 4}, nl::float32),
               state = nl::ndarray({2, 1}, nl::float32);
        nisa::memset(one, 1);
        nisa::memset(state, 100);
        Tensor columns = a.permute({0, 2, 1}); // 1 3 2 4
        nisa::tensor_tensor_scan({.dst = columns,
                                  .data0 = columns,
                                  .data1 = one,
                                  .initial = state,
                                  .op0 = nl::add,
                                  .op1 = nl::multiply});
        nisa::tensor_tensor_scan({.dst = state,
                                  .data0 = state,
                                  .data1 = one(nl::_, ds(0, 1)),
                                  .initial = state,
                                  .op0 = nl::add,
                                  .op1 = nl::add});
        Tensor out = nl::ndarray({2, 5}, nl::float32);
        nisa::tensor_copy(out(nl::_, ds(0, 4)), a);
        nisa::tensor_copy(out(nl::_, ds(4, 1)), state);
        return stored(out);
      },
      {x}));

  EXPECT_THAT(values, ElementsAre(101, 106, 104, 110, 201, //
                                  105, 118, 112, 126, 201));
}

TEST(TensorTensorScan, CarriesSpecialValues) {
  const HostArray x = arrayOf(DType::Float32, {3, 3}, {kInf, 0, 1, 1, kNan, 1, -0.0f, 1, 1}),
                  y = arrayOf(DType::Float32, {3, 3}, {0, 0, 0, -3, 2, 9, -0.0f, -0.0f, 0.0f});

  // Inf * 0 is NaN and stays; maximum hands a NaN on.
  EXPECT_EQ(bitPatterns(scan({.op0 = nl::multiply, .op1 = nl::maximum, .initial = 1}, x, y)),
            bitPatterns({kInf, kNan, kNan, //
                         1, kNan, kNan,    //
                         -0.0f, -0.0f, 0.0f}));
}

TEST(TensorTensorScan, MatchesARecurrenceOfAnyLength) {
  constexpr uint32_t seed = 23;
  for (auto [rows, elements] : {std::pair<int64_t, int64_t>{128, 33}, {1, 1}, {37, 200}, {3, 32}}) {
    const size_t count = size_t(rows * elements);
    const std::vector<float> x = randomValues(count, seed), y = randomValues(count, seed + 1);
    const std::vector<float> values = scan(
        {.op0 = nl::multiply, .op1 = nl::subtract, .initial = -0.75f},
        arrayOf(DType::Float32, {rows, elements}, x), arrayOf(DType::Float32, {rows, elements}, y));
    ASSERT_EQ(values.size(), count);
    float state = 0;
    for (size_t i = 0; i < count; ++i) {
      if (i % size_t(elements) == 0)
        state = -0.75f;
      // Both steps are exact in double before they are rounded to float32.
      const float product = float(double(x[i]) * state);
      state = float(double(product) - y[i]);
      ASSERT_EQ(values[i], state) << rows << "x" << elements << " element " << i << ", seed "
                                  << seed;
    }
  }
}

TEST(TensorTensorScan, RefusesWhatItCannotRun) {
  auto errors = [](const nl::Op &first, const nl::Operand &start, const nl::Op &second) {
    static nl::Op op0, op1; // a kernel is a function without captures
    static nl::Operand initial;
    op0 = first, op1 = second, initial = start;
    return errorsOf(traceBody([](InOut) {
      Tensor x = nl::ndarray({4, 8}, nl::float32), y = nl::ndarray({4, 8}, nl::float32);
      nisa::tensor_tensor_scan(
          {.dst = y, .data0 = x, .data1 = y, .initial = initial, .op0 = op0, .op1 = op1});
    }));
  };

  EXPECT_EQ(errors(nl::multiply, 0, nl::add), "");
  EXPECT_EQ(errors(nl::multiply, {}, nl::add),
            "[D-10] initial of tensor_tensor_scan is missing (give initial a number, or a tile "
            "with one value per partition)");
  EXPECT_EQ(errors(nl::abs, 0, nl::add), "[B-07] op0 of tensor_tensor_scan needs a binary "
                                         "operator, abs takes one argument (use tensor_scalar or "
                                         "activation for functions of one tile)");
  EXPECT_EQ(errors(nl::add, 0, nl::right_shift),
            "[D-08] op1 of tensor_tensor_scan must be arithmetic, right_shift works on bits (use "
            "tensor_scalar or tensor_tensor for bit operators)");
}
