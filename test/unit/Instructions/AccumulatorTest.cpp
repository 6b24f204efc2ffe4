//===- AccumulatorTest.cpp - rows with reduction registers, end to end
//----------------------------===//

#include "InstructionFixture.h"

#include <gmock/gmock.h>

using namespace kiln::test;
using nisa::reduce_cmd;
using testing::ElementsAre, testing::HasSubstr;

namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kLowest = std::numeric_limits<float>::lowest();

Tensor column(uint32_t partitions, nl::DType dtype = nl::float32) {
  return nl::ndarray({partitions, 1}, dtype);
}

template <class Lambda>
std::string errors(Lambda kernel) {
  return errorsOf(traceBody(kernel));
}

} // namespace

//---- activation ---------------------------------------------------------===//

TEST(Activation, FollowsEveryReduceCommand) {
  const HostArray x = arrayOf(DType::Float32, {2, 3}, {1, 2, 3, 10, 20, 30});

  const std::vector<float> values = onlyResult(runKernel(
      [](Tensor x) {
        Tensor in = loaded(x), y = nl::ndarray({2, 3}, nl::float32),
               sums = nl::ndarray({2, 6}, nl::float32);
        int64_t next = 0;
        auto sum = [&](reduce_cmd command, bool isRead = true) {
          bool isReducing = command == reduce_cmd::reduce || command == reduce_cmd::reset_reduce;
          nisa::activation({.dst = y,
                            .op = nl::square,
                            .data = in,
                            .reduce_op = isReducing ? nl::add : nl::Op(),
                            .reduce_res = isRead ? sums(nl::_, ds(next++, 1)) : Tensor(),
                            .reduce_cmd = command});
        };
        sum(reduce_cmd::reset);               // 0
        sum(reduce_cmd::reduce);              // 14, 1400
        sum(reduce_cmd::reset_reduce, false); // 14, 1400 again
        // A plain activation, of other partitions even, leaves the registers alone.
        Tensor other = nl::ndarray({128, 2}, nl::float32);
        nisa::memset(other, 7);
        nisa::activation(other, nl::exp, other);
        sum(reduce_cmd::idle);   // a read-out
        sum(reduce_cmd::reduce); // 28, 2800
        sum(reduce_cmd::idle);   // reading does not change them
        sum(reduce_cmd::reset_reduce);
        return stored(sums);
      },
      {x}));

  EXPECT_THAT(values, ElementsAre(0, 14, 14, 28, 28, 14, //
                                  0, 1400, 1400, 2800, 2800, 1400));
}

TEST(Activation, ChainsStayOnTheirPartitions) {
  // Adds `from` to `to` of the tile to a chain begun on partitions [0, 32).
  auto chain = [](uint32_t start, uint32_t partitions, bool isBegun, reduce_cmd command) {
    static uint32_t from, count; // a kernel is a function without captures
    static bool begin;
    static reduce_cmd cmd;
    from = start, count = partitions, begin = isBegun, cmd = command;
    return errors([](InOut) {
      Tensor x = nl::ndarray({128, 4}, nl::float32, nl::sbuf, {.name = "x"});
      nisa::memset(x, 1);
      Tensor first = x(ds(0, 32)), next = x(ds(from, count));
      if (begin)
        nisa::activation(
            {.dst = first, .op = nl::exp, .data = first, .reduce_cmd = reduce_cmd::reset});
      nisa::activation({.dst = next,
                        .op = nl::exp,
                        .data = next,
                        .reduce_op = cmd == reduce_cmd::idle ? nl::Op() : nl::add,
                        .reduce_res = column(count),
                        .reduce_cmd = cmd});
    });
  };

  EXPECT_EQ(chain(0, 32, true, reduce_cmd::reduce), "");
  EXPECT_EQ(chain(0, 32, true, reduce_cmd::idle), "");
  EXPECT_EQ(chain(32, 32, true, reduce_cmd::reset_reduce), "");
  EXPECT_EQ(chain(0, 31, true, reduce_cmd::reduce),
            "[P-04] data 'x' uses 31 partitions, the chain that activation continues from uses 32 "
            "(use 32, or begin a chain with reduce_cmd reset_reduce)");
  EXPECT_EQ(chain(32, 32, true, reduce_cmd::idle),
            "[P-06] data 'x' starts at partition 32, the chain that activation reads starts at 0 "
            "(copy 'x' to partition 0 first, or begin a chain with reduce_cmd reset_reduce)");
  EXPECT_EQ(chain(0, 32, false, reduce_cmd::reduce),
            "[M-08] activation continues from the reduction registers of the Scalar Engine, which "
            "hold nothing here (begin the chain with reduce_cmd reset_reduce)");
  EXPECT_EQ(chain(0, 32, false, reduce_cmd::idle),
            "[M-08] activation reads the reduction registers of the Scalar Engine, which hold "
            "nothing here (begin the chain with reduce_cmd reset_reduce)");
}

TEST(Activation, AFaultyLinkIsReportedOnce) {
  // What follows a faulty instruction of a chain is not blamed for it.
  EXPECT_EQ(errors([](InOut) {
              Tensor x = nl::ndarray({4, 8}, nl::float32), wrong = nl::ndarray({4, 9}, nl::float32);
              nisa::activation({.dst = wrong,
                                .op = nl::exp,
                                .data = x,
                                .reduce_op = nl::add,
                                .reduce_cmd = reduce_cmd::reset_reduce});
              nisa::activation({.dst = x,
                                .op = nl::exp,
                                .data = x,
                                .reduce_op = nl::add,
                                .reduce_cmd = reduce_cmd::reduce});
            }),
            "[P-05] data has 8 elements per partition, dst has 9 (take views of 8 elements per "
            "partition on both sides)");
}

//---- activation_reduce --------------------------------------------------===//

TEST(ActivationReduce, SumsBeforeNarrowingFromLeftToRight) {
  // Each 1 vanishes beside 1e8, and in bfloat16 257 would be 256.
  const HostArray x =
      arrayOf(DType::Float32, {3, 4}, {1e8f, 1, -1e8f, 1, 1, -1e8f, 1e8f, 1, 257, 257, 257, 257});

  std::string text;
  std::vector<HostArray> results = runKernel(
      [](Tensor x) {
        Tensor y = nl::ndarray({3, 4}, nl::bfloat16), sums = column(3);
        nisa::activation_reduce({.dst = y,
                                 .op = nl::copy,
                                 .data = loaded(x),
                                 .reduce_op = nl::add,
                                 .reduce_res = sums});
        return std::tuple(stored(y), stored(sums));
      },
      {x}, &text);

  EXPECT_THAT(text, HasSubstr("activation_reduce "));
  ASSERT_EQ(results.size(), 2u);
  EXPECT_THAT(floatsOf(results[0]), ElementsAre(100139008, 1, -100139008, 1, 1, -100139008,
                                                100139008, 1, 256, 256, 256, 256));
  EXPECT_THAT(floatsOf(results[1]), ElementsAre(1, 1, 1028));
}

TEST(ActivationReduce, IsAnActivationThatResetsAndReduces) {
  const HostArray x = arrayOf(DType::Float16, {2, 3}, {1, -2, 3, -4, 5, -6});
  const HostArray factors = arrayOf(DType::Float32, {2, 2}, {2, 1, 3, -1});

  const std::vector<float> values = onlyResult(runKernel(
      [](Tensor x, Tensor factors) {
        Tensor in = loaded(x), f = loaded(factors), out = nl::ndarray({2, 9}, nl::float32);
        auto part = [&](int64_t first, int64_t count) { return out(nl::_, ds(first, count)); };
        // relu(x * scale + bias), the sum read out at once.
        nisa::activation_reduce({.dst = part(0, 3),
                                 .op = nl::relu,
                                 .data = in,
                                 .reduce_op = nl::add,
                                 .reduce_res = part(3, 1),
                                 .bias = f(nl::_, ds(1, 1)),
                                 .scale = f(nl::_, ds(0, 1))});
        // With numbers, the sum left in the registers, which an activation continues.
        nisa::activation_reduce({.dst = part(4, 3),
                                 .op = nl::abs,
                                 .data = in,
                                 .reduce_op = nl::add,
                                 .bias = 1,
                                 .scale = 0.5f});
        nisa::activation({.dst = part(4, 3),
                          .op = nl::copy,
                          .data = part(4, 3),
                          .reduce_op = nl::add,
                          .reduce_res = part(7, 1),
                          .reduce_cmd = reduce_cmd::reduce});
        // Without a scale it is 1; the read-out wins over dst.
        nisa::activation_reduce({.dst = part(8, 1),
                                 .op = nl::copy,
                                 .data = in(nl::_, ds(1, 1)),
                                 .reduce_op = nl::add,
                                 .reduce_res = part(8, 1),
                                 .scale = {}});
        return stored(out);
      },
      {x, factors}));

  EXPECT_THAT(values, ElementsAre(3, 0, 7, 10, 1.5f, 0, 2.5f, 8, -2, //
                                  0, 14, 0, 14, 1, 3.5f, 2, 13, 5));
}

TEST(ActivationReduce, KeepsSpecialValues) {
  const HostArray x =
      arrayOf(DType::Float32, {4, 2}, {kInf, -kInf, -0.0f, -0.0f, kNan, 1, 3e38f, 3e38f});

  const std::vector<float> values = onlyResult(runKernel(
      [](Tensor x) {
        Tensor in = loaded(x), sums = column(4);
        nisa::activation_reduce(
            {.dst = in, .op = nl::copy, .data = in, .reduce_op = nl::add, .reduce_res = sums});
        return stored(sums);
      },
      {x}));

  EXPECT_EQ(bitPatterns(values), bitPatterns({kNan, 0.0f, kNan, kInf})); // from +0, not from -0
}

TEST(ActivationReduce, OnlyAdds) {
  auto errorsWith = [](const nl::Op &wanted) {
    static nl::Op op; // a kernel is a function without captures
    op = wanted;
    return errors([](InOut) {
      Tensor x = nl::ndarray({4, 8}, nl::float32);
      nisa::activation_reduce({.dst = x, .op = nl::exp, .data = x, .reduce_op = op});
    });
  };

  EXPECT_EQ(errorsWith(nl::add), "");
  EXPECT_EQ(errorsWith(nl::maximum),
            "[D-17] reduce_op of activation_reduce cannot be maximum (allowed: add)");
  EXPECT_EQ(errorsWith({}),
            "[B-07] reduce_op of activation_reduce is missing (give it an operator, "
            "such as .reduce_op = nl::add)");
  EXPECT_EQ(errors([](InOut) {
              Tensor x = nl::ndarray({4, 8}, nl::float32);
              nisa::activation_reduce(
                  {.dst = x, .op = nl::exp, .data = x, .reduce_op = nl::add, .reduce_res = x});
            }),
            "[D-10] reduce_res is (4, 8), it must be (4, 1): one value per partition (take one "
            "column of it, or copy it to a (4, 1) tile)");
}

//---- tensor_scalar_reduce -----------------------------------------------===//

TEST(TensorScalarReduce, StartsAtTheIdentityOfItsOperator) {
  const HostArray x = arrayOf(DType::Float32, {2, 3}, {2, -3, 4, -1, -0.5f, -2});

  std::string text;
  const std::vector<float> values = onlyResult(runKernel(
      [](Tensor x) {
        Tensor in = loaded(x), y = nl::ndarray({2, 3}, nl::float32),
               out = nl::ndarray({2, 7}, nl::float32);
        int64_t next = 0;
        for (const nl::Op &op : {nl::add, nl::multiply, nl::maximum, nl::minimum})
          nisa::tensor_scalar_reduce({.dst = y,
                                      .data = in,
                                      .op0 = nl::multiply,
                                      .operand0 = 2,
                                      .reduce_op = op,
                                      .reduce_res = out(nl::_, ds(next++, 1))});
        nisa::tensor_copy(out(nl::_, ds(4, 3)), y);
        return stored(out);
      },
      {x}, &text));

  EXPECT_THAT(text, HasSubstr("tensor_scalar_reduce "));
  EXPECT_THAT(values, ElementsAre(6, -192, 8, -6, 4, -6, 8, //
                                  -7, -8, -1, -4, -2, -1, -4));
}

TEST(TensorScalarReduce, LoadsContinuesAndNegates) {
  const HostArray x = arrayOf(DType::Float32, {2, 2}, {1, 2, 3, 4});
  const HostArray s = arrayOf(DType::BFloat16, {2, 1}, {100, -100});

  const std::vector<float> values = onlyResult(runKernel(
      [](Tensor x, Tensor s) {
        Tensor in = loaded(x), start = loaded(s), y = nl::ndarray({2, 2}, nl::float32),
               out = nl::ndarray({2, 5}, nl::float32);
        int64_t next = 0;
        auto sum = [&](reduce_cmd command, const nl::Operand &init, bool isNegated) {
          nisa::tensor_scalar_reduce({.dst = y,
                                      .data = in,
                                      .op0 = nl::add,
                                      .operand0 = start,
                                      .reduce_op = nl::add,
                                      .reduce_res = out(nl::_, ds(next++, 1)),
                                      .reduce_cmd = command,
                                      .reduce_init = init,
                                      .reduce_res_negate = isNegated});
        };
        sum(reduce_cmd::load_reduce, 1000, false);
        sum(reduce_cmd::load_reduce, start, true);
        sum(reduce_cmd::reduce, {}, false); // the register kept its sign
        sum(reduce_cmd::reset_reduce, {}, true);
        // Folding by another operator goes on from the same register.
        nisa::tensor_scalar_reduce({.dst = y,
                                    .data = in,
                                    .op0 = nl::abs,
                                    .reduce_op = nl::minimum,
                                    .reduce_res = out(nl::_, ds(4, 1)),
                                    .reduce_cmd = reduce_cmd::reduce});
        return stored(out);
      },
      {x, s}));

  EXPECT_THAT(values, ElementsAre(1203, -303, 506, -203, 1, //
                                  807, 293, -486, 193, -193));
}

TEST(TensorScalarReduce, FoldsBeforeNarrowingFromLeftToRight) {
  // uint8 saturates at 255, the register does not. 2^24 + 1 is 2^24 in fp32.
  const HostArray x =
      arrayOf(DType::Float32, {2, 4}, {200, 100, 300, -50, 0x1p24f, 1, 1, -0x1p24f});

  std::vector<HostArray> results = runKernel(
      [](Tensor x) {
        Tensor y = nl::ndarray({2, 4}, nl::uint8), sums = column(2);
        nisa::tensor_scalar_reduce({.dst = y,
                                    .data = loaded(x),
                                    .op0 = nl::add,
                                    .operand0 = 0,
                                    .reduce_op = nl::add,
                                    .reduce_res = sums});
        return std::tuple(stored(y), stored(sums));
      },
      {x});

  ASSERT_EQ(results.size(), 2u);
  EXPECT_THAT(floatsOf(results[0]), ElementsAre(200, 100, 255, 0, 255, 1, 1, 0));
  EXPECT_THAT(floatsOf(results[1]), ElementsAre(550, 0));
}

TEST(TensorScalarReduce, FoldsLongRowsOfManyPartitions) {
  // 20 rows and 700 columns are more than a block each way.
  constexpr int64_t rows = 20, elements = 700;
  std::vector<float> x(rows * elements);
  for (size_t i = 0; i < x.size(); ++i)
    x[i] = float(int(i * 7919 % 1013) - 506) / 64;

  const std::vector<float> values = onlyResult(runKernel(
      [](Tensor x) {
        Tensor in = loaded(x), sums = nl::ndarray({20, 2}, nl::float32);
        nisa::tensor_scalar_reduce({.dst = in,
                                    .data = in,
                                    .op0 = nl::multiply,
                                    .operand0 = 0.3f,
                                    .reduce_op = nl::add,
                                    .reduce_res = sums(nl::_, ds(0, 1))});
        nisa::tensor_scalar_reduce({.dst = in,
                                    .data = in,
                                    .op0 = nl::add,
                                    .operand0 = 0,
                                    .reduce_op = nl::maximum,
                                    .reduce_res = sums(nl::_, ds(1, 1))});
        return stored(sums);
      },
      {arrayOf(DType::Float32, {rows, elements}, x)}));

  ASSERT_EQ(values.size(), size_t(rows * 2));
  for (int64_t r = 0; r < rows; ++r) {
    float sum = 0, largest = -kInf;
    for (int64_t f = 0; f < elements; ++f) {
      const float t = float(double(x[size_t(r * elements + f)]) * double(0.3f));
      sum += t;
      largest = std::fmax(largest, t);
    }
    EXPECT_EQ(values[size_t(2 * r)], sum) << "row " << r;
    EXPECT_EQ(values[size_t(2 * r + 1)], largest) << "row " << r;
  }
}

TEST(TensorScalarReduce, RefusesWhatTheHardwareLacks) {
  auto errorsWith = [](const nisa::TensorScalarReduce &wanted) {
    static nisa::TensorScalarReduce args; // a kernel is a function without captures
    args = wanted;
    return errors([](InOut) {
      Tensor x = nl::ndarray({4, 8}, nl::float32);
      args.dst = x;
      args.data = x;
      nisa::tensor_scalar_reduce(args);
    });
  };
  auto with = [](const nl::Op &op0, const nl::Operand &operand0, const nl::Op &reduceOp) {
    nisa::TensorScalarReduce args;
    args.op0 = op0;
    args.operand0 = operand0;
    args.reduce_op = reduceOp;
    return args;
  };

  EXPECT_EQ(errorsWith(with(nl::add, 1, nl::minimum)), "");
  EXPECT_EQ(errorsWith(with(nl::add, 1, nl::subtract)),
            "[D-17] reduce_op of tensor_scalar_reduce cannot be subtract (allowed: add, multiply, "
            "maximum, minimum)");
  EXPECT_EQ(errorsWith(with(nl::bitwise_or, 1, nl::add)),
            "[D-08] op0 of tensor_scalar_reduce must be arithmetic, bitwise_or works on bits (use "
            "tensor_scalar or tensor_tensor for bit operators)");
  EXPECT_EQ(errorsWith(with(nl::add, {}, nl::add)),
            "[D-08] nl::add of tensor_scalar_reduce needs operand0 (give operand0 a number, or a "
            "tile with one value per partition)");

  nisa::TensorScalarReduce args = with(nl::add, 1, nl::add);
  args.reverse0 = true;
  EXPECT_EQ(errorsWith(args),
            "[B-07] tensor_scalar_reduce cannot swap the arguments of op0 (leave reverse0 out; "
            "scalar - x is x * -1 + scalar, in a tensor_scalar before it)");
  args = with(nl::add, 1, nl::add);
  args.reduce_cmd = reduce_cmd::idle;
  EXPECT_EQ(errorsWith(args), "[B-07] reduce_cmd of tensor_scalar_reduce cannot be idle (allowed: "
                              "reduce, reset_reduce, load_reduce)");
  args.reduce_cmd = reduce_cmd::load_reduce;
  EXPECT_EQ(errorsWith(args),
            "[D-10] reduce_init of tensor_scalar_reduce is missing (give reduce_init a number, or "
            "a tile with one value per partition)");
  args.reduce_init = 3;
  EXPECT_EQ(errorsWith(args), "");
  args.reduce_cmd = reduce_cmd::reset_reduce;
  EXPECT_EQ(errorsWith(args), "[D-17] reduce_init has no use with reduce_cmd reset_reduce (set "
                              "reduce_cmd to load_reduce, or leave reduce_init out)");
}

//---- range_select -------------------------------------------------------===//

TEST(RangeSelect, KeepsTheElementsBetweenTheBounds) {
  const HostArray x =
      arrayOf(DType::Float32, {3, 5}, {1, 2, 3, 4, 5, -6, -7, -8, -9, -10, 11, 12, 13, 14, 15});
  const HostArray bounds = arrayOf(DType::Float32, {3, 2}, {11, 13, 9, 100, 13, 13});

  std::string text;
  std::vector<HostArray> results = runKernel(
      [](Tensor x, Tensor bounds) {
        Tensor b = loaded(bounds), y = nl::ndarray({3, 5}, nl::float32), largest = column(3);
        nisa::range_select({.dst = y,
                            .on_true_tile = loaded(x),
                            .comp_op0 = nl::greater_equal,
                            .comp_op1 = nl::less,
                            .bound0 = b(nl::_, ds(0, 1)),
                            .bound1 = b(nl::_, ds(1, 1)),
                            .reduce_res = largest,
                            .range_start = 10});
        return std::tuple(stored(y), stored(largest));
      },
      {x, bounds}, &text);

  EXPECT_THAT(text, HasSubstr("range_select "));
  ASSERT_EQ(results.size(), 2u);
  const float o = kLowest;
  EXPECT_EQ(bitPatterns({o})[0], 0xFF7FFFFFu);
  EXPECT_EQ(bitPatterns(floatsOf(results[0])), bitPatterns({o, 2, 3, o, o,       // 11, 12
                                                            -6, -7, -8, -9, -10, // all of them
                                                            o, o, o, o, o}));    // 13 <= i < 13
  // The maximum of all-negative elements is one of them, and of none the fill.
  EXPECT_EQ(bitPatterns(floatsOf(results[1])), bitPatterns({3, -6, o}));
}

TEST(RangeSelect, ComparesAnyWay) {
  const HostArray x = arrayOf(DType::Float32, {1, 4}, {1, 2, 3, 4});
  const HostArray bounds = arrayOf(DType::Float32, {1, 3}, {1, 2, kNan});

  const std::vector<float> values = onlyResult(runKernel(
      [](Tensor x, Tensor bounds) {
        Tensor in = loaded(x), b = loaded(bounds), y = nl::ndarray({1, 6, 4}, nl::float32);
        int64_t next = 0;
        auto select = [&](const nl::Op &op0, int64_t bound0, const nl::Op &op1, int64_t bound1) {
          nisa::range_select({.dst = y(nl::_, next++),
                              .on_true_tile = in,
                              .comp_op0 = op0,
                              .comp_op1 = op1,
                              .bound0 = b(nl::_, ds(bound0, 1)),
                              .bound1 = b(nl::_, ds(bound1, 1)),
                              .reduce_cmd = reduce_cmd::idle});
        };
        select(nl::equal, 1, nl::equal, 1);
        select(nl::less, 1, nl::less_equal, 1);
        select(nl::greater, 0, nl::greater_equal, 0);
        select(nl::less_equal, 1, nl::greater, 0);
        select(nl::less, 0, nl::greater, 1);
        select(nl::less, 2, nl::less, 1); // nothing is less than a NaN
        return stored(y);
      },
      {x, bounds}));

  const float o = kLowest;
  EXPECT_THAT(values, ElementsAre(o, o, 3, o, //
                                  1, 2, o, o, //
                                  o, o, 3, 4, //
                                  o, o, 3, o, //
                                  o, o, o, o, //
                                  o, o, o, o));
}

TEST(RangeSelect, NarrowsTheTileAndNotTheMaximum) {
  // In float16 the fill is -Inf, and 2049 rounds to 2048.
  const HostArray x = arrayOf(DType::Float32, {2, 2}, {2049, 1, 5, 6});
  const HostArray bounds = arrayOf(DType::Float32, {2, 1}, {0, 9});

  std::vector<HostArray> results = runKernel(
      [](Tensor x, Tensor bounds) {
        Tensor in = loaded(x), b = loaded(bounds), y = nl::ndarray({2, 2}, nl::float16),
               wide = column(2), narrow = column(2, nl::float16);
        for (Tensor largest : {wide, narrow})
          nisa::range_select({.dst = y,
                              .on_true_tile = in,
                              .comp_op0 = nl::equal,
                              .comp_op1 = nl::equal,
                              .bound0 = b,
                              .bound1 = b,
                              .reduce_res = largest});
        return std::tuple(stored(y), stored(wide), stored(narrow));
      },
      {x, bounds});

  ASSERT_EQ(results.size(), 3u);
  EXPECT_THAT(floatsOf(results[0]), ElementsAre(2048, -kInf, -kInf, -kInf));
  EXPECT_THAT(floatsOf(results[1]), ElementsAre(2049, kLowest));
  EXPECT_THAT(floatsOf(results[2]), ElementsAre(2048, -kInf));
}

TEST(RangeSelect, ChainsTheMaximumOverTiles) {
  const HostArray x = arrayOf(DType::BFloat16, {3, 6},
                              {-1, -2, -3, -4, -5, -6, 1, 9, 2, 8, 3, 7, 1, kNan, 1, 2, 2, 2});
  const HostArray bounds = arrayOf(DType::Float32, {3, 2}, {2, 5, 0, 6, 1, 6});

  std::vector<HostArray> results = runKernel(
      [](Tensor x, Tensor bounds) {
        Tensor in = loaded(x), b = loaded(bounds), y = nl::ndarray({3, 6}, nl::float32),
               largest = column(3);
        for (int64_t tile = 0; tile < 3; ++tile)
          nisa::range_select(
              {.dst = y(nl::_, ds(2 * tile, 2)),
               .on_true_tile = in(nl::_, ds(2 * tile, 2)),
               .comp_op0 = nl::greater_equal,
               .comp_op1 = nl::less,
               .bound0 = b(nl::_, ds(0, 1)),
               .bound1 = b(nl::_, ds(1, 1)),
               .reduce_cmd = tile == 0 ? reduce_cmd::reset_reduce : reduce_cmd::reduce,
               .reduce_res = tile == 2 ? largest : Tensor(),
               .range_start = 2 * tile});
        return std::tuple(stored(y), stored(largest));
      },
      {x, bounds});

  ASSERT_EQ(results.size(), 2u);
  const float o = kLowest;
  EXPECT_EQ(bitPatterns(floatsOf(results[0])),
            bitPatterns({o, o, -3, -4, -5, o, 1, 9, 2, 8, 3, 7, o, kNan, 1, 2, 2, 2}));
  EXPECT_EQ(bitPatterns(floatsOf(results[1])), bitPatterns({-3, 9, kNan}));
}

TEST(RangeSelect, RefusesWhatTheHardwareLacks) {
  auto errorsWith = [](auto change) {
    static nisa::RangeSelect args; // a kernel is a function without captures
    static void (*apply)(nisa::RangeSelect &);
    apply = change;
    return errors([](InOut) {
      Tensor x = nl::ndarray({4, 8}, nl::float32);
      args = {.dst = x,
              .on_true_tile = x,
              .comp_op0 = nl::less,
              .comp_op1 = nl::less,
              .bound0 = column(4),
              .bound1 = column(4)};
      apply(args);
      nisa::range_select(args);
    });
  };

  EXPECT_EQ(errorsWith(+[](nisa::RangeSelect &) {}), "");
  EXPECT_EQ(errorsWith(+[](nisa::RangeSelect &args) { args.comp_op1 = nl::not_equal; }),
            "[B-07] comp_op1 of range_select cannot be not_equal (allowed: equal, greater_equal, "
            "greater, less_equal, less)");
  EXPECT_EQ(
      errorsWith(+[](nisa::RangeSelect &args) { args.on_false_value = 0; }),
      "[D-07] on_false_value of range_select is 0, the hardware fills with the lowest float32 "
      "only, -3.4028234663852886e+38 (leave on_false_value out)");
  EXPECT_EQ(errorsWith(+[](nisa::RangeSelect &args) { args.on_false_value = -kInf; }),
            "[D-07] on_false_value of range_select is -inf, the hardware fills with the lowest "
            "float32 only, -3.4028234663852886e+38 (leave on_false_value out)");
  EXPECT_EQ(errorsWith(+[](nisa::RangeSelect &args) {
              args.reduce_cmd = reduce_cmd::idle;
              args.reduce_res = column(4);
            }),
            "[D-17] reduce_cmd of range_select is idle, reduce_res would receive nothing (set "
            "reduce_cmd to reset_reduce or reduce, or leave reduce_res out)");
  EXPECT_EQ(errorsWith(+[](nisa::RangeSelect &args) { args.reduce_cmd = reduce_cmd::load_reduce; }),
            "[B-07] reduce_cmd of range_select cannot be load_reduce (allowed: idle, reduce, "
            "reset_reduce)");
  EXPECT_EQ(errorsWith(+[](nisa::RangeSelect &args) { args.reduce_op = nl::add; }),
            "[D-17] reduce_op of range_select cannot be add (allowed: maximum)");
  EXPECT_EQ(errorsWith(+[](nisa::RangeSelect &args) {
              args.bound0 = column(4, nl::bfloat16);
              args.bound1 = nl::ndarray({4, 2}, nl::float32);
            }),
            "[D-09] a bound0 tile must be float32, bound0 is bfloat16 (cast it to float32 with "
            "tensor_copy)\n"
            "[D-10] bound1 is (4, 2), it must be (4, 1): one value per partition (take one column "
            "of it, or copy it to a (4, 1) tile)");
  EXPECT_EQ(errorsWith(+[](nisa::RangeSelect &args) {
              args.on_true_tile = nl::ndarray({4, 8}, nl::int32);
            }),
            "[D-09] on_true_tile is int32, range_select takes float32, bfloat16, float16, "
            "float8_e4m3, float8_e5m2 or tfloat32 (cast "
            "it with tensor_copy)");
}

//---- select_reduce ------------------------------------------------------===//

TEST(SelectReduce, ChoosesByThePredicate) {
  const HostArray p = arrayOf(DType::UInt8, {2, 4}, {0, 1, 2, 0, 255, 0, 0, 1});
  const HostArray x = arrayOf(DType::BFloat16, {2, 4}, {1, 2, 3, 4, 5, 6, 7, kNan});
  const HostArray s = arrayOf(DType::Float16, {2, 1}, {-10, 20});

  std::string text;
  const std::vector<float> values = onlyResult(runKernel(
      [](Tensor p, Tensor x, Tensor s) {
        Tensor where = loaded(p), in = loaded(x), y = nl::ndarray({2, 3, 4}, nl::float32);
        nisa::select_reduce(
            {.dst = y(nl::_, 0), .predicate = where, .on_true = in, .on_false = loaded(s)});
        nisa::select_reduce({.dst = y(nl::_, 1),
                             .predicate = where,
                             .on_true = in,
                             .on_false = -0.0f,
                             .reverse_pred = true});
        // The predicate is a tile of values too.
        nisa::select_reduce(
            {.dst = y(nl::_, 2), .predicate = where, .on_true = where, .on_false = 0.5f});
        return stored(y);
      },
      {p, x, s}, &text));

  EXPECT_THAT(text, HasSubstr("select_reduce "));
  EXPECT_EQ(bitPatterns(values),
            bitPatterns({-10, 2,  3,  -10,  1,     -0.0f, -0.0f, 4,     0.5f, 1,    2,    0.5f, //
                         5,   20, 20, kNan, -0.0f, 6,     7,     -0.0f, 255,  0.5f, 0.5f, 1}));
}

TEST(SelectReduce, TakesPredicatesOfEitherSign) {
  // The low byte of 256 and of -256 is 0: only the whole number counts.
  const HostArray wide = arrayOf(DType::Int16, {1, 4}, {-1, 256, 0, -256});
  const HostArray narrow = arrayOf(DType::Int8, {1, 4}, {-128, 0, 127, 0});

  const std::vector<float> values = onlyResult(runKernel(
      [](Tensor wide, Tensor narrow) {
        Tensor p = loaded(wide), q = loaded(narrow), y = nl::ndarray({1, 2, 4}, nl::float32);
        nisa::select_reduce({.dst = y(nl::_, 0), .predicate = p, .on_true = q, .on_false = 0.5f});
        nisa::select_reduce({.dst = y(nl::_, 1), .predicate = q, .on_true = p, .on_false = 0.5f});
        return stored(y);
      },
      {wide, narrow}));

  EXPECT_THAT(values, ElementsAre(-128, 0, 0.5f, 0, -1, 0.5f, 0, 0.5f));
}

TEST(SelectReduce, TakesTheMaximumBeforeNarrowing) {
  const HostArray p = arrayOf(DType::UInt8, {3, 3}, {1, 0, 1, 0, 0, 0, 1, 1, 1});
  const HostArray x = arrayOf(DType::Float32, {3, 3}, {-5, 1, -7, 1, 2, 3, 257, 3, 4});

  std::vector<HostArray> results = runKernel(
      [](Tensor p, Tensor x) {
        Tensor where = loaded(p), in = loaded(x), y = nl::ndarray({3, 3}, nl::bfloat16),
               first = column(3), second = column(3), narrow = column(3, nl::bfloat16);
        auto select = [&](const nl::Operand &onFalse, reduce_cmd command, Tensor largest) {
          nisa::select_reduce({.dst = y,
                               .predicate = where,
                               .on_true = in,
                               .on_false = onFalse,
                               .reduce_res = largest,
                               .reduce_cmd = command});
        };
        select(-6, reduce_cmd::reset_reduce, first);
        select(-4.5f, reduce_cmd::reduce, second);
        select(-1, reduce_cmd::reset_reduce, narrow);
        return std::tuple(stored(y), stored(first), stored(second), stored(narrow));
      },
      {p, x});

  ASSERT_EQ(results.size(), 4u);
  EXPECT_THAT(floatsOf(results[0]), ElementsAre(-5, -1, -7, -1, -1, -1, 256, 3, 4));
  EXPECT_THAT(floatsOf(results[1]), ElementsAre(-5, -6, 257));
  EXPECT_THAT(floatsOf(results[2]), ElementsAre(-4.5f, -4.5f, 257));
  EXPECT_THAT(floatsOf(results[3]), ElementsAre(-1, -1, 256));
}

TEST(SelectReduce, SharesTheRegistersOfTheVectorEngine) {
  const HostArray x = arrayOf(DType::Float32, {1, 3}, {4, 5, 6});

  const std::vector<float> values = onlyResult(runKernel(
      [](Tensor x) {
        Tensor in = loaded(x), y = nl::ndarray({1, 3}, nl::float32),
               where = nl::ndarray({1, 3}, nl::uint8), bound = column(1), out = column(1);
        nisa::memset(where, 1);
        nisa::memset(bound, 1);
        nisa::tensor_scalar_reduce(
            {.dst = y, .data = in, .op0 = nl::add, .operand0 = 0, .reduce_op = nl::add}); // 15
        // The Scalar Engine has its own registers, other instructions have none.
        nisa::activation_reduce({.dst = y, .op = nl::exp, .data = in, .reduce_op = nl::add});
        nisa::tensor_reduce({.dst = out, .op = nl::add, .data = in, .axis = 1});
        nisa::range_select({.dst = y,
                            .on_true_tile = in,
                            .comp_op0 = nl::equal,
                            .comp_op1 = nl::equal,
                            .bound0 = bound,
                            .bound1 = bound,
                            .reduce_cmd = reduce_cmd::reduce}); // max(15, 5)
        nisa::select_reduce({.dst = y,
                             .predicate = where,
                             .on_true = in,
                             .on_false = 0,
                             .reduce_res = out,
                             .reduce_cmd = reduce_cmd::reduce}); // max(15, 6)
        return stored(out);
      },
      {x}));

  EXPECT_THAT(values, ElementsAre(15));
}

TEST(SelectReduce, AnIdleSelectionEndsTheChain) {
  EXPECT_EQ(errors([](InOut) {
              Tensor x = nl::ndarray({4, 8}, nl::float32), where = nl::ndarray({4, 8}, nl::uint8);
              auto fold = [&](reduce_cmd command) {
                nisa::tensor_scalar_reduce({.dst = x,
                                            .data = x,
                                            .op0 = nl::add,
                                            .operand0 = 1,
                                            .reduce_op = nl::add,
                                            .reduce_cmd = command});
              };
              fold(reduce_cmd::reset_reduce);
              fold(reduce_cmd::reduce);
              nisa::select_reduce({.dst = x, .predicate = where, .on_true = x, .on_false = 0});
              fold(reduce_cmd::reduce);
              fold(reduce_cmd::reduce); // judged by the link before it
            }),
            "[M-08] tensor_scalar_reduce continues from the reduction registers of the Vector "
            "Engine, which hold nothing here (begin the chain with reduce_cmd reset_reduce)");
}

TEST(SelectReduce, RefusesWhatTheHardwareLacks) {
  auto errorsWith = [](auto change) {
    static nisa::SelectReduce args; // a kernel is a function without captures
    static void (*apply)(nisa::SelectReduce &);
    apply = change;
    return errors([](InOut) {
      Tensor x = nl::ndarray({4, 8}, nl::float32), p = nl::ndarray({4, 8}, nl::uint8);
      args = {.dst = x, .predicate = p, .on_true = x, .on_false = 0};
      apply(args);
      nisa::select_reduce(args);
    });
  };

  EXPECT_EQ(errorsWith(+[](nisa::SelectReduce &) {}), "");
  EXPECT_EQ(errorsWith(+[](nisa::SelectReduce &args) { args.on_false = {}; }),
            "[D-10] on_false of select_reduce is missing (give on_false a number, or a tile with "
            "one value per partition)");
  EXPECT_EQ(
      errorsWith(+[](nisa::SelectReduce &args) {
        args.predicate = nl::ndarray({4, 8}, nl::float32);
        args.on_true = nl::ndarray({4, 8}, nl::int32);
      }),
      "[D-11] select_reduce needs a uint8, int8, int16 or uint16 predicate, predicate is float32 "
      "(produce it with a comparison into uint8)\n"
      "[D-09] on_true is int32, select_reduce takes float32, bfloat16, float16, uint8, int8, "
      "int16 or uint16 (cast it with tensor_copy)");
  EXPECT_EQ(errorsWith(+[](nisa::SelectReduce &args) { args.reduce_res = column(4); }),
            "[D-17] reduce_cmd of select_reduce is idle, reduce_res would receive nothing (set "
            "reduce_cmd to reset_reduce or reduce, or leave reduce_res out)");
  EXPECT_EQ(errorsWith(+[](nisa::SelectReduce &args) {
              args.reduce_cmd = reduce_cmd::reset_reduce;
              args.reduce_op = nl::minimum;
              args.reduce_res = column(4, nl::int32);
            }),
            "[D-17] reduce_op of select_reduce cannot be minimum (allowed: maximum)\n"
            "[D-09] a reduce_res tile must be float32, bfloat16, float16, float8_e4m3, float8_e5m2 or "
            "tfloat32, reduce_res is int32 (cast it to float32, bfloat16, float16, float8_e4m3, "
            "float8_e5m2 or tfloat32 with tensor_copy)");
  EXPECT_EQ(errorsWith(+[](nisa::SelectReduce &args) {
              args.predicate = nl::ndarray({4, 8}, nl::uint8, nl::psum);
              args.on_true = nl::ndarray({4, 8}, nl::float32, nl::psum);
            }),
            "[B-03] only one of the two inputs may be in PSUM, predicate and on_true both are "
            "(copy one to SBUF)");
}
