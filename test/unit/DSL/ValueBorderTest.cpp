//===- ValueBorderTest.cpp - values and memory: snapshots, stores, tiles, results -------------===//
//
// Where values meet memory the order of the program counts, and the finished graph must show it
// whatever order the host evaluated calls in.
//
//===------------------------------------------------------------------------------------------===//

#include "KernelFixture.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace kiln;
using namespace kiln::test;
using nl::_;

namespace {

/// Graph and instructions; errors instead when there are any.
std::string programOf(const TraceResult &result) {
  if (!result.diagnostics.empty())
    return errorsOf(result);
  return tile::print(result.trace.graph) + instructionsOf(result);
}

TensorArg f32(std::vector<int64_t> shape) { return {DType::Float32, std::move(shape)}; }

//---- snapshots ----------------------------------------------------------===//

TEST(ValueBorder, LoadsViewsOfHbm) {
  EXPECT_EQ(programOf(traceOf(
                [](Tensor x) { return nl::exp(x(nl::slice(1, 7, 2), ds(3, 4)).permute({1, 0})); },
                {f32({8, 10})}, {"x"})),
            "@x = hbm input 0 : 8x10 float32\n"
            "@out0 = hbm output 0 : 4x3 float32\n"
            "%0 = load @x offset 13 strides (1, 20) : 4x3 float32\n"
            "%1 = unary exp %0 : 4x3 float32\n"
            "%2 = store %1, @out0 : 4x3 float32\n");
}

TEST(ValueBorder, LoadsTiles) {
  EXPECT_EQ(programOf(traceOf(
                [](Tensor x) {
                  Tensor t = nl::ndarray({64, 4, 8}, nl::float32, nl::sbuf, {.name = "t"});
                  nisa::dma_copy(t, x);
                  return nl::exp(t(ds(32, 16), 2, nl::slice(1, _, 3)));
                },
                {f32({64, 32})}, {"x"})),
            "@x = hbm input 0 : 64x32 float32\n"
            "@out0 = hbm output 0 : 16x3 float32\n"
            "@t = sbuf : 64x4x8 float32\n"
            "%0 = load @t partition 32 offset 17 strides (1, 3) after 1 : 16x3 float32\n"
            "%1 = unary exp %0 : 16x3 float32\n"
            "%2 = store %1, @out0 after 1 : 16x3 float32\n"
            "dma_copy dst=t[0+64, 0: 1x32] src=x[64 rows of 32, 0: 1x32]\n");
}

TEST(ValueBorder, TakesASnapshotWhereTheCallStands) {
  // The load stays in front of the memset, although the store that needs it comes later.
  EXPECT_EQ(programOf(traceOf(
                [](InOut y) {
                  Tensor t = nl::ndarray({4, 2}, nl::float32, nl::sbuf, {.name = "t"});
                  nisa::memset(t, 1);
                  Tensor before = nl::exp(t);
                  nisa::memset(t, 2);
                  nl::store(y, t + before);
                },
                {f32({4, 2})}, {"y"})),
            "@y.in = hbm input 0 : 4x2 float32\n"
            "@y = hbm output 0 : 4x2 float32\n"
            "@t = sbuf : 4x2 float32\n"
            "%0 = load @t after 2 : 4x2 float32\n"
            "%1 = load @t after 3 : 4x2 float32\n"
            "%2 = unary exp %0 : 4x2 float32\n"
            "%3 = binary add %1, %2 : 4x2 float32\n"
            "%4 = store %3, @y after 3 : 4x2 float32\n"
            "dma_copy dst=y[4 rows of 2, 0: 1x2] src=y.in[4 rows of 2, 0: 1x2]\n"
            "memset dst=t[0+4, 0: 1x2] value=1\n"
            "memset dst=t[0+4, 0: 1x2] value=2\n");
}

TEST(ValueBorder, LoadsDoNotMoveAcrossStores) {
  EXPECT_EQ(programOf(traceOf(
                [](InOut y) {
                  Tensor old = nl::copy(y);
                  nl::store(y, y * 2.0f);
                  nl::store(y, y + old);
                },
                {f32({4, 2})}, {"y"})),
            "@y.in = hbm input 0 : 4x2 float32\n"
            "@y = hbm output 0 : 4x2 float32\n"
            "%0 = load @y after 1 : 4x2 float32\n"
            "%1 = load @y after 1 : 4x2 float32\n"
            "%2 = splat number 2 : 1 float32\n"
            "%3 = binary multiply %0, %2 : 4x2 float32\n"
            "%4 = store %3, @y after 1 : 4x2 float32\n"
            "%5 = load @y after 1 : 4x2 float32\n"
            "%6 = binary add %5, %1 : 4x2 float32\n"
            "%7 = store %6, @y after 1 : 4x2 float32\n"
            "dma_copy dst=y[4 rows of 2, 0: 1x2] src=y.in[4 rows of 2, 0: 1x2]\n");
}

TEST(ValueBorder, OrderIsThatOfOperandsNotOfEvaluation) {
  // The second operand is made first, as some host compilers do it.
  auto backwards = [](Tensor x, Tensor y) {
    Tensor right = nl::log(y);
    Tensor left = nl::exp(x);
    return nl::add(left, right);
  };
  auto forwards = [](Tensor x, Tensor y) {
    Tensor left = nl::exp(x);
    Tensor right = nl::log(y);
    return nl::add(left, right);
  };
  const std::vector<driver::Arg> args{f32({2, 3}), f32({2, 3})};
  TraceResult a = traceOf(backwards, args, {"x", "y"}), b = traceOf(forwards, args, {"x", "y"});
  EXPECT_EQ(programOf(a), programOf(b));
  EXPECT_EQ(programOf(a), "@x = hbm input 0 : 2x3 float32\n"
                          "@y = hbm input 1 : 2x3 float32\n"
                          "@out0 = hbm output 0 : 2x3 float32\n"
                          "%0 = load @x : 2x3 float32\n"
                          "%1 = load @y : 2x3 float32\n"
                          "%2 = unary exp %0 : 2x3 float32\n"
                          "%3 = unary log %1 : 2x3 float32\n"
                          "%4 = binary add %2, %3 : 2x3 float32\n"
                          "%5 = store %4, @out0 : 2x3 float32\n");
}

TEST(ValueBorder, LeavesOutWhatNothingNeeds) {
  EXPECT_EQ(programOf(traceOf(
                [](Tensor x) {
                  nl::matmul(x, x);
                  Tensor unused = nl::ndarray({4, 4}, nl::float32);
                  nl::exp(unused);
                  return x + 1;
                },
                {f32({4, 4})}, {"x"})),
            "@x = hbm input 0 : 4x4 float32\n"
            "@out0 = hbm output 0 : 4x4 float32\n"
            "%0 = load @x : 4x4 float32\n"
            "%1 = splat number 1 : 1 float32\n"
            "%2 = binary add %0, %1 : 4x4 float32\n"
            "%3 = store %2, @out0 : 4x4 float32\n");
}

TEST(ValueBorder, KernelsWithoutValuesHaveNoGraph) {
  TraceResult result = traceOf(
      [](Tensor x) {
        Tensor y = nl::ndarray(x.shape(), x.dtype(), nl::shared_hbm);
        nl::store(y, nl::load(x));
        return y;
      },
      {f32({4, 4})}, {"x"});
  EXPECT_EQ(errorsOf(result), "");
  EXPECT_TRUE(result.trace.graph.buffers.empty());
  EXPECT_TRUE(result.trace.graph.nodes.empty());
}

TEST(ValueBorder, DeepChainsAreNoRecursion) {
  constexpr int depth = 200000;
  TraceResult result = traceOf(
      [](Tensor x) {
        for (int i = 0; i < depth; ++i)
          x = nl::exp(x);
        return x;
      },
      {f32({1, 1})}, {"x"});
  ASSERT_EQ(errorsOf(result), "");
  EXPECT_EQ(result.trace.graph.nodes.size(), depth + 2u);
}

//---- stores -------------------------------------------------------------===//

TEST(ValueBorder, StoresToViewsAndTiles) {
  EXPECT_EQ(programOf(traceOf(
                [](Tensor x) {
                  Tensor y = nl::ndarray({200, 3}, nl::bfloat16, nl::shared_hbm, {.name = "y"});
                  Tensor t = nl::ndarray({2, 150}, nl::float16, nl::sbuf, {.name = "t"});
                  Tensor v = nl::exp(x);
                  nl::store(y(ds(0, 100), _), v);
                  nl::store(t, v);
                  nl::store(y(ds(100, 100)), t);
                  return y;
                },
                {f32({100, 3})}, {"x"})),
            "@x = hbm input 0 : 100x3 float32\n"
            "@y = hbm output 0 : 200x3 bfloat16\n"
            "@t = sbuf : 2x150 float16\n"
            "%0 = load @x : 100x3 float32\n"
            "%1 = unary exp %0 : 100x3 float32\n"
            "%2 = store %1, @y strides (3, 1) : 100x3 bfloat16\n"
            "%3 = reshape %1 : 2x150 float32\n"
            "%4 = store %3, @t : 2x150 float16\n"
            "dma_copy dst=y[2 rows of 150, 300: 1x150] src=t[0+2, 0: 1x150]\n");
}

TEST(ValueBorder, AStoreIsAWrite) {
  EXPECT_EQ(errorsOf(traceOf(
                [](Tensor x) {
                  Tensor y = nl::ndarray(x.shape(), x.dtype(), nl::shared_hbm);
                  nl::store(y, nl::exp(x));
                  return y;
                },
                {f32({300, 7})}, {"x"})),
            "");
  EXPECT_EQ(errorsOf(traceOf(
                [](Tensor x) {
                  Tensor y = nl::ndarray(x.shape(), x.dtype(), nl::shared_hbm, {.name = "y"});
                  nl::exp(x);
                  return y;
                },
                {f32({300, 7})}, {"x"})),
            "[C-12] 'y' is returned but never written (store to it with nisa::dma_copy; a loop "
            "over M / N tiles runs 0 times when M < N, nl::ceil_div(M, N) and nl::tiles(M, N) "
            "count the last part)");
}

//---- values as inputs of instructions -----------------------------------===//

TEST(ValueBorder, InstructionsReadATile) {
  EXPECT_EQ(programOf(traceOf(
                [](InOut y) {
                  Tensor v = nl::exp(y), t = nl::ndarray({64, 2}, nl::float32);
                  nisa::tensor_copy(t, v);
                  nisa::tensor_tensor(t, t, v, nl::add); // the same tile
                  nisa::dma_copy(y, v);
                },
                {f32({64, 2})}, {"y"})),
            "@y.in = hbm input 0 : 64x2 float32\n"
            "@y = hbm output 0 : 64x2 float32\n"
            "@t0 = sbuf : 64x2 float32\n"
            "@t1 = sbuf : 64x2 float32\n"
            "%0 = load @y after 1 : 64x2 float32\n"
            "%1 = unary exp %0 : 64x2 float32\n"
            "%2 = materialize %1, @t1 after 1 : 64x2 float32\n"
            "dma_copy dst=y[64 rows of 2, 0: 1x2] src=y.in[64 rows of 2, 0: 1x2]\n"
            "tensor_copy dst=t0[0+64, 0: 1x2] src=t1[0+64, 0: 1x2]\n"
            "tensor_tensor dst=t0[0+64, 0: 1x2] data1=t0[0+64, 0: 1x2] data2=t1[0+64, 0: 1x2] "
            "op=add\n"
            "dma_copy dst=y[64 rows of 2, 0: 1x2] src=t1[0+64, 0: 1x2]\n");
}

TEST(ValueBorder, ScalarsAndPrintsReadATile) {
  EXPECT_EQ(programOf(traceOf(
                [](InOut y) {
                  Tensor t = nl::ndarray({8, 2}, nl::float32, nl::sbuf, {.name = "t"});
                  nisa::memset(t, 1);
                  Tensor column = nl::sum(t, 1, {.keepdims = true});
                  nisa::tensor_scalar(t, t, nl::multiply, column);
                  nl::device_print("column", column);
                  nisa::dma_copy(y, t);
                },
                {f32({8, 2})}, {"y"})),
            "@y.in = hbm input 0 : 8x2 float32\n"
            "@y = hbm output 0 : 8x2 float32\n"
            "@t = sbuf : 8x2 float32\n"
            "@t0 = sbuf : 8x1 float32\n"
            "%0 = load @t after 2 : 8x2 float32\n"
            "%1 = reduce add %0 axes (1,) keepdims : 8x1 float32\n"
            "%2 = materialize %1, @t0 after 2 : 8x1 float32\n"
            "dma_copy dst=y[8 rows of 2, 0: 1x2] src=y.in[8 rows of 2, 0: 1x2]\n"
            "memset dst=t[0+8, 0: 1x2] value=1\n"
            "tensor_scalar dst=t[0+8, 0: 1x2] data=t[0+8, 0: 1x2] operand0=t0[0+8, 0: 1x1] "
            "op0=multiply\n"
            "device_print data=t0[0+8, 0: 1x1] text=0\n"
            "dma_copy dst=y[8 rows of 2, 0: 1x2] src=t[0+8, 0: 1x2]\n");
}

//---- results ------------------------------------------------------------===//

/// dtypes of the outputs, in order.
template <class Lambda>
std::string resultsOf(Lambda kernel) {
  const TraceResult result =
      traceOf(kernel,
              {TensorArg{DType::BFloat16, {2, 3}}, f32({2, 3}), TensorArg{DType::Float16, {2, 3}},
               TensorArg{DType::Int32, {2, 3}}},
              {"b", "f", "h", "i"});
  if (!result.diagnostics.empty())
    return errorsOf(result);
  std::string out;
  for (const trace::Tensor &tensor : result.trace.tensors)
    if (tensor.role == trace::TensorRole::Output)
      out += (out.empty() ? "" : " ") + std::string(isa::name(tensor.dtype));
  return out;
}

TEST(ValueBorder, ResultsHaveTheTypeOfWhatTheyWereComputedFrom) {
  EXPECT_EQ(resultsOf([](Tensor b, Tensor f, Tensor h, Tensor) {
              return std::vector{nl::exp(b), nl::exp(f), nl::exp(h), b * b, b + f, b + h};
            }),
            "bfloat16 float32 float16 bfloat16 float32 float32");
  // Integers and numbers have no say.
  EXPECT_EQ(resultsOf([](Tensor b, Tensor, Tensor, Tensor i) {
              return std::vector{
                  b * i, b * 2, i * 2, nl::iota({4}, 0), nl::iota({4}, 0) * 0.5f, nl::transpose(i),
                  b > i};
            }),
            "bfloat16 bfloat16 float32 int32 float32 int32 bfloat16");
  // The condition chooses, and moving keeps.
  EXPECT_EQ(resultsOf([](Tensor b, Tensor f, Tensor h, Tensor) {
              return std::vector{nl::where(f, b, 0), nl::concatenate({h, h}, 0),
                                 nl::softmax(nl::transpose(b)), nl::max(h, 0)};
            }),
            "bfloat16 float16 bfloat16 float16");
}

TEST(ValueBorder, ResultsHaveTheTypeTheAuthorSaid) {
  EXPECT_EQ(resultsOf([](Tensor b, Tensor f, Tensor h, Tensor i) {
              return std::vector{nl::exp(b, {.dtype = nl::float32}),
                                 nl::cast(f, nl::uint8),
                                 nl::cast(f, nl::bfloat16) * b,
                                 nl::cast(f, nl::bfloat16) * h,
                                 nl::add(i, 1, {.dtype = nl::int32}),
                                 nl::transpose(nl::exp(b, {.dtype = nl::float32})),
                                 nl::greater(f, b, {.dtype = nl::uint8})};
            }),
            "float32 uint8 bfloat16 float32 int32 float32 uint8");
}

TEST(ValueBorder, OneValueMayBeTwoResults) {
  EXPECT_EQ(programOf(traceOf(
                [](Tensor x) {
                  Tensor v = nl::exp(x);
                  return std::pair(v, v);
                },
                {f32({2, 2})}, {"x"})),
            "@x = hbm input 0 : 2x2 float32\n"
            "@out0 = hbm output 0 : 2x2 float32\n"
            "@out1 = hbm output 1 : 2x2 float32\n"
            "%0 = load @x : 2x2 float32\n"
            "%1 = unary exp %0 : 2x2 float32\n"
            "%2 = store %1, @out0 : 2x2 float32\n"
            "%3 = store %1, @out1 : 2x2 float32\n");
}

TEST(ValueBorder, PlacesAreThoseOfTheStatements) {
  const TraceResult result = traceOf(
      [](Tensor x) {
        Tensor a = x + 1; // line 1
        Tensor b = nl::exp(a);
        return b;
      },
      {f32({2, 2})}, {"x"});
  ASSERT_EQ(errorsOf(result), "");
  std::vector<int64_t> lines;
  for (const tile::Node &node : result.trace.graph.nodes)
    lines.push_back(result.trace.chain(node.location).front().line);
  const int64_t first = lines.front(); // load, splat, add; exp, store
  EXPECT_EQ(lines, (std::vector<int64_t>{first, first, first, first + 1, first + 1}));
}

//---- a second trace -----------------------------------------------------===//

TEST(ValueBorder, TracesOfAnotherValueDiffer) {
  static float factor;
  auto kernel = [](Tensor x) { return x * factor; };
  auto once = [&](float f) {
    factor = f;
    return traceOf(kernel, {f32({2, 2})}, {"x"}).trace;
  };
  EXPECT_FALSE(trace::compareTraces(once(2), once(2)));
  EXPECT_FALSE(trace::compareTraces(once(NAN), once(NAN)));
  const std::optional<Diagnostic> difference = trace::compareTraces(once(2), once(3));
  ASSERT_TRUE(difference);
  EXPECT_EQ(difference->rule, "K-09");
  EXPECT_EQ(difference->message, "tracing 'k' a second time gave another value here");
}

} // namespace
