//===- ValueTest.cpp - functions of whole tensors as nodes of the trace's graph ---------------===//
//
// Each kernel's graph is compared as text, whole: operands, shapes, dtypes, order. What the nodes
// mean is tested where they are evaluated.
//
//===------------------------------------------------------------------------------------------===//

#include "KernelFixture.h"

#include <gtest/gtest.h>

using namespace kiln;
using namespace kiln::test;
using nl::_;

namespace {

/// The graph of `kernel`, a line each node; errors instead when there are any.
template <class Lambda>
std::string graphOf(Lambda kernel, std::vector<driver::Arg> args,
                    std::initializer_list<const char *> names = {"x", "y", "z"}) {
  TraceResult result = traceOf(kernel, args, names);
  if (!result.diagnostics.empty())
    return errorsOf(result);
  std::string out;
  for (tile::NodeId id = 0; id < result.trace.graph.nodes.size(); ++id)
    out += tile::print(result.trace.graph, id) + "\n";
  return out;
}

TensorArg f32(std::vector<int64_t> shape) { return {DType::Float32, std::move(shape)}; }
TensorArg bf16(std::vector<int64_t> shape) { return {DType::BFloat16, std::move(shape)}; }
TensorArg i32(std::vector<int64_t> shape) { return {DType::Int32, std::move(shape)}; }

//---- element by element -------------------------------------------------===//

TEST(Value, IsANodeForEachOperation) {
  EXPECT_EQ(graphOf([](Tensor x, Tensor y) { return nl::exp(x * 2.0f + y); },
                    {f32({3, 5}), f32({5})}, {"x", "y"}),
            "%0 = load @x : 3x5 float32\n"
            "%1 = load @y : 5 float32\n"
            "%2 = splat number 2 : 1 float32\n"
            "%3 = binary multiply %0, %2 : 3x5 float32\n"
            "%4 = binary add %3, %1 : 3x5 float32\n"
            "%5 = unary exp %4 : 3x5 float32\n"
            "%6 = store %5, @out0 : 3x5 float32\n");
}

TEST(Value, ComparesAndChooses) {
  EXPECT_EQ(graphOf([](Tensor x) { return nl::where(x > 0, x, -x); }, {f32({4, 3})}, {"x"}),
            "%0 = load @x : 4x3 float32\n"
            "%1 = splat number 0 : 1 float32\n"
            "%2 = binary greater %0, %1 : 4x3 float32\n"
            "%3 = splat number -1 : 1 float32\n"
            "%4 = binary multiply %0, %3 : 4x3 float32\n"
            "%5 = select %2, %0, %4 : 4x3 float32\n"
            "%6 = store %5, @out0 : 4x3 float32\n");
}

TEST(Value, HasEveryOperator) {
  EXPECT_EQ(graphOf(
                [](Tensor x, Tensor y) {
                  return (x < y) + (x <= y) + (x >= y) + (x == y) + (x != 1) - (2 > y);
                },
                {f32({2}), f32({2})}, {"x", "y"}),
            "%0 = load @x : 2 float32\n"
            "%1 = load @y : 2 float32\n"
            "%2 = binary less %0, %1 : 2 float32\n"
            "%3 = binary less_equal %0, %1 : 2 float32\n"
            "%4 = binary add %2, %3 : 2 float32\n"
            "%5 = binary greater_equal %0, %1 : 2 float32\n"
            "%6 = binary add %4, %5 : 2 float32\n"
            "%7 = binary equal %0, %1 : 2 float32\n"
            "%8 = binary add %6, %7 : 2 float32\n"
            "%9 = splat number 1 : 1 float32\n"
            "%10 = binary not_equal %0, %9 : 2 float32\n"
            "%11 = binary add %8, %10 : 2 float32\n"
            "%12 = splat number 2 : 1 float32\n"
            "%13 = binary greater %12, %1 : 2 float32\n"
            "%14 = binary subtract %11, %13 : 2 float32\n"
            "%15 = store %14, @out0 : 2 float32\n");
}

TEST(Value, DividesByAProduct) {
  // 1 / 3 as float32, not as double.
  EXPECT_EQ(graphOf([](Tensor x, Tensor y) { return x / 3 + 1 / y + 2 / y + x / y; },
                    {f32({2, 7}), f32({2, 7})}, {"x", "y"}),
            "%0 = load @x : 2x7 float32\n"
            "%1 = load @y : 2x7 float32\n"
            "%2 = splat number 0.3333333432674408 : 1 float32\n"
            "%3 = binary multiply %0, %2 : 2x7 float32\n"
            "%4 = unary reciprocal %1 : 2x7 float32\n"
            "%5 = binary add %3, %4 : 2x7 float32\n"
            "%6 = splat number 2 : 1 float32\n"
            "%7 = unary reciprocal %1 : 2x7 float32\n"
            "%8 = binary multiply %6, %7 : 2x7 float32\n"
            "%9 = binary add %5, %8 : 2x7 float32\n"
            "%10 = unary reciprocal %1 : 2x7 float32\n"
            "%11 = binary multiply %0, %10 : 2x7 float32\n"
            "%12 = binary add %9, %11 : 2x7 float32\n"
            "%13 = store %12, @out0 : 2x7 float32\n");
}

TEST(Value, CallsOperatorsAsFunctions) {
  EXPECT_EQ(graphOf(
                [](Tensor x, Tensor y) {
                  return nl::maximum(nl::add(x, 1.5, {.dtype = nl::bfloat16}),
                                     nl::gelu(y, {.dtype = nl::float16}));
                },
                {f32({2, 3}), f32({1, 3})}, {"x", "y"}),
            "%0 = load @x : 2x3 float32\n"
            "%1 = load @y : 1x3 float32\n"
            "%2 = splat number 1.5 : 1 float32\n"
            "%3 = binary add %0, %2 : 2x3 bfloat16\n"
            "%4 = unary gelu %1 : 1x3 float16\n"
            "%5 = binary maximum %3, %4 : 2x3 float32\n"
            "%6 = store %5, @out0 : 2x3 float32\n");
}

TEST(Value, CopiesBits) {
  EXPECT_EQ(graphOf([](Tensor x) { return nl::copy(x); }, {bf16({4})}, {"x"}),
            "%0 = load @x : 4 bfloat16\n"
            "%1 = store %0, @out0 : 4 bfloat16\n");
}

TEST(Value, KeepsIntegersExactBesideWholeNumbers) {
  EXPECT_EQ(
      graphOf([](Tensor x) { return nl::add(x, 1, {.dtype = nl::int32}); }, {i32({4})}, {"x"}),
      "%0 = load @x : 4 int32\n"
      "%1 = splat number 1 : 1 int32\n"
      "%2 = binary add %0, %1 : 4 int32\n"
      "%3 = store %2, @out0 : 4 int32\n");
  EXPECT_EQ(
      graphOf([](Tensor x) { return nl::add(x, 0.5, {.dtype = nl::int32}); }, {i32({4})}, {"x"}),
      "%0 = load @x : 4 int32\n"
      "%1 = splat number 0.5 : 1 float32\n"
      "%2 = binary add %0, %1 : 4 int32\n"
      "%3 = store %2, @out0 : 4 int32\n");
  // 256 is no uint8: the sum goes through float32.
  EXPECT_EQ(graphOf([](Tensor x) { return x + 256; }, {TensorArg{DType::UInt8, {4}}}, {"x"}),
            "%0 = load @x : 4 uint8\n"
            "%1 = splat number 256 : 1 float32\n"
            "%2 = binary add %0, %1 : 4 float32\n"
            "%3 = store %2, @out0 : 4 float32\n");
}

TEST(Value, KeepsTheTypeOfBits) {
  EXPECT_EQ(graphOf(
                [](Tensor x) {
                  return nl::bitwise_or(nl::invert(x), nl::left_shift(1, nl::bitwise_and(x, 7)));
                },
                {TensorArg{DType::UInt16, {6}}}, {"x"}),
            "%0 = load @x : 6 uint16\n"
            "%1 = splat number 65535 : 1 uint16\n"
            "%2 = binary bitwise_xor %0, %1 : 6 uint16\n"
            "%3 = splat number 1 : 1 uint16\n"
            "%4 = splat number 7 : 1 uint16\n"
            "%5 = binary bitwise_and %0, %4 : 6 uint16\n"
            "%6 = binary left_shift %3, %5 : 6 uint16\n"
            "%7 = binary bitwise_or %2, %6 : 6 uint16\n"
            "%8 = store %7, @out0 : 6 uint16\n");
  EXPECT_EQ(graphOf([](Tensor x) { return nl::invert(x); }, {i32({2})}, {"x"}),
            "%0 = load @x : 2 int32\n"
            "%1 = splat number -1 : 1 int32\n"
            "%2 = binary bitwise_xor %0, %1 : 2 int32\n"
            "%3 = store %2, @out0 : 2 int32\n");
}

TEST(Value, NegatesNots) {
  EXPECT_EQ(graphOf(
                [](Tensor x) {
                  return nl::logical_not(nl::logical_and(x, nl::negative(x)), {.dtype = nl::uint8});
                },
                {f32({3})}, {"x"}),
            "%0 = load @x : 3 float32\n"
            "%1 = splat number -1 : 1 float32\n"
            "%2 = binary multiply %0, %1 : 3 float32\n"
            "%3 = binary logical_and %0, %2 : 3 float32\n"
            "%4 = splat number 0 : 1 float32\n"
            "%5 = binary equal %3, %4 : 3 uint8\n"
            "%6 = store %5, @out0 : 3 uint8\n");
}

TEST(Value, ChoosesWithoutChangingBits) {
  EXPECT_EQ(graphOf([](Tensor x, Tensor y) { return nl::where(nl::iota({4}, 0) < 2, x, y); },
                    {bf16({3, 4}), bf16({3, 4})}, {"x", "y"}),
            "%0 = load @x : 3x4 bfloat16\n"
            "%1 = load @y : 3x4 bfloat16\n"
            "%2 = iota axis 0 : 4 int32\n"
            "%3 = splat number 2 : 1 int32\n"
            "%4 = binary less %2, %3 : 4 float32\n"
            "%5 = select %4, %0, %1 : 3x4 bfloat16\n"
            "%6 = store %5, @out0 : 3x4 bfloat16\n");
  // A number beside a 16-bit tensor is not rounded to it.
  EXPECT_EQ(graphOf([](Tensor x) { return nl::where(x, x, -1e9f, {.dtype = nl::float32}); },
                    {bf16({3})}, {"x"}),
            "%0 = load @x : 3 bfloat16\n"
            "%1 = splat number -1e+09 : 1 float32\n"
            "%2 = select %0, %0, %1 : 3 float32\n"
            "%3 = store %2, @out0 : 3 float32\n");
}

//---- products, reductions, norms ----------------------------------------===//

TEST(Value, MultipliesMatrices) {
  EXPECT_EQ(graphOf(
                [](Tensor x, Tensor y) {
                  return std::pair(nl::matmul(x, y, true),
                                   nl::matmul(y, x, {.transpose_y = true, .dtype = nl::float16}));
                },
                {f32({7, 3}), f32({7, 3})}, {"x", "y"}),
            "%0 = load @x : 7x3 float32\n"
            "%1 = load @y : 7x3 float32\n"
            "%2 = matmul %0, %1 transpose_x : 3x3 float32\n"
            "%3 = store %2, @out0 : 3x3 float32\n"
            "%4 = matmul %1, %0 transpose_y : 7x7 float16\n"
            "%5 = store %4, @out1 : 7x7 float16\n");
}

TEST(Value, RoundsTheWideOperandOfAMatmul) {
  EXPECT_EQ(graphOf([](Tensor x, Tensor y) { return nl::matmul(nl::exp(x), y); },
                    {bf16({2, 4}), bf16({4, 3})}, {"x", "y"}),
            "%0 = load @x : 2x4 bfloat16\n"
            "%1 = load @y : 4x3 bfloat16\n"
            "%2 = unary exp %0 : 2x4 float32\n"
            "%3 = cast %2 : 2x4 bfloat16\n"
            "%4 = matmul %3, %1 : 2x3 float32\n"
            "%5 = store %4, @out0 : 2x3 bfloat16\n");
  // Two float32 values stay so, wherever they came from.
  EXPECT_EQ(graphOf([](Tensor x, Tensor y) { return nl::matmul(nl::exp(x), nl::exp(y)); },
                    {bf16({2, 4}), bf16({4, 3})}, {"x", "y"}),
            "%0 = load @x : 2x4 bfloat16\n"
            "%1 = load @y : 4x3 bfloat16\n"
            "%2 = unary exp %0 : 2x4 float32\n"
            "%3 = unary exp %1 : 4x3 float32\n"
            "%4 = matmul %2, %3 : 2x3 float32\n"
            "%5 = store %4, @out0 : 2x3 bfloat16\n");
  // What is rounded does not make the result narrower.
  EXPECT_EQ(graphOf([](Tensor x, Tensor y) { return nl::matmul(x, y); },
                    {bf16({2, 4}), f32({4, 3})}, {"x", "y"}),
            "%0 = load @x : 2x4 bfloat16\n"
            "%1 = load @y : 4x3 float32\n"
            "%2 = cast %1 : 4x3 bfloat16\n"
            "%3 = matmul %0, %2 : 2x3 float32\n"
            "%4 = store %3, @out0 : 2x3 float32\n");
}

TEST(Value, Reduces) {
  EXPECT_EQ(graphOf(
                [](Tensor x) {
                  return std::tuple(nl::sum(x, 1), nl::max(x, {-1, 0}, {.keepdims = true}),
                                    nl::prod(x, {0, 1, 2}), nl::all(x, 2, {.dtype = nl::uint8}));
                },
                {f32({2, 3, 5})}, {"x"}),
            "%0 = load @x : 2x3x5 float32\n"
            "%1 = reduce add %0 axes (1,) : 2x5 float32\n"
            "%2 = store %1, @out0 : 2x5 float32\n"
            "%3 = reduce maximum %0 axes (0, 2) keepdims : 1x3x1 float32\n"
            "%4 = store %3, @out1 : 1x3x1 float32\n"
            "%5 = reduce multiply %0 axes (0, 1, 2) keepdims : 1x1x1 float32\n"
            "%6 = reshape %5 : 1 float32\n"
            "%7 = store %6, @out2 : 1 float32\n"
            "%8 = splat number 0 : 1 float32\n"
            "%9 = binary not_equal %0, %8 : 2x3x5 float32\n"
            "%10 = reduce minimum %9 axes (2,) : 2x3 uint8\n"
            "%11 = store %10, @out3 : 2x3 uint8\n");
}

TEST(Value, AveragesInSteps) {
  // 1 / 15 as float32.
  EXPECT_EQ(graphOf([](Tensor x) { return nl::mean(x, {1, 2}, {.dtype = nl::bfloat16}); },
                    {f32({2, 3, 5})}, {"x"}),
            "%0 = load @x : 2x3x5 float32\n"
            "%1 = reduce add %0 axes (1, 2) : 2 float32\n"
            "%2 = splat number 0.06666667014360428 : 1 float32\n"
            "%3 = binary multiply %1, %2 : 2 bfloat16\n"
            "%4 = store %3, @out0 : 2 bfloat16\n");
  EXPECT_EQ(graphOf([](Tensor x) { return nl::var(x, -1); }, {f32({2, 4})}, {"x"}),
            "%0 = load @x : 2x4 float32\n"
            "%1 = reduce add %0 axes (1,) keepdims : 2x1 float32\n"
            "%2 = splat number 0.25 : 1 float32\n"
            "%3 = binary multiply %1, %2 : 2x1 float32\n"
            "%4 = binary subtract %0, %3 : 2x4 float32\n"
            "%5 = unary square %4 : 2x4 float32\n"
            "%6 = reduce add %5 axes (1,) : 2 float32\n"
            "%7 = splat number 0.25 : 1 float32\n"
            "%8 = binary multiply %6, %7 : 2 float32\n"
            "%9 = store %8, @out0 : 2 float32\n");
}

TEST(Value, KeepsNormsWhole) {
  EXPECT_EQ(graphOf(
                [](Tensor x, Tensor y, Tensor z) {
                  return nl::softmax(x) + nl::softmax(x, 0) +
                         nl::rms_norm(x, y, {.epsilon = 1e-6}) + nl::rms_norm(x) +
                         nl::layer_norm(x, y, z, {.epsilon = 0.5, .dtype = nl::bfloat16});
                },
                {f32({6, 4}), f32({1, 4}), f32({4})}),
            "%0 = load @x : 6x4 float32\n"
            "%1 = load @y : 1x4 float32\n"
            "%2 = load @z : 4 float32\n"
            "%3 = softmax %0 axis 1 : 6x4 float32\n"
            "%4 = softmax %0 axis 0 : 6x4 float32\n"
            "%5 = binary add %3, %4 : 6x4 float32\n"
            "%6 = rmsnorm %0, %1 number 9.999999974752427e-07 : 6x4 float32\n"
            "%7 = binary add %5, %6 : 6x4 float32\n"
            "%8 = rmsnorm %0 number 9.999999974752427e-07 : 6x4 float32\n"
            "%9 = binary add %7, %8 : 6x4 float32\n"
            "%10 = layernorm %0, %1, %2 number 0.5 : 6x4 bfloat16\n"
            "%11 = binary add %9, %10 : 6x4 float32\n"
            "%12 = store %11, @out0 : 6x4 float32\n");
}

//---- movement -----------------------------------------------------------===//

TEST(Value, MovesElements) {
  EXPECT_EQ(graphOf(
                [](Tensor x, Tensor y) {
                  Tensor t = nl::transpose(x);
                  Tensor p = nl::transpose(nl::reshape(x, {2, 2, -1}), {1, -1, 0});
                  Tensor c = nl::concatenate({x, y}, -2);
                  Tensor s = nl::stack({x, nl::pad(y, {{1, 0}, {0, 0}}, -2.5)});
                  return std::tuple(t, p, c, s, nl::broadcast_to(nl::expand_dims(y, 1), {3, 2, 6}));
                },
                {f32({4, 6}), f32({3, 6})}, {"x", "y"}),
            "%0 = load @x : 4x6 float32\n"
            "%1 = load @y : 3x6 float32\n"
            "%2 = transpose %0 axes (1, 0) : 6x4 float32\n"
            "%3 = store %2, @out0 : 6x4 float32\n"
            "%4 = reshape %0 : 2x2x6 float32\n"
            "%5 = transpose %4 axes (1, 2, 0) : 2x6x2 float32\n"
            "%6 = store %5, @out1 : 2x6x2 float32\n"
            "%7 = concat %0, %1 axis 0 : 7x6 float32\n"
            "%8 = store %7, @out2 : 7x6 float32\n"
            "%9 = reshape %0 : 1x4x6 float32\n"
            "%10 = pad %1 starts (1, 0) ends (0, 0) number -2.5 : 4x6 float32\n"
            "%11 = reshape %10 : 1x4x6 float32\n"
            "%12 = concat %9, %11 axis 0 : 2x4x6 float32\n"
            "%13 = store %12, @out3 : 2x4x6 float32\n"
            "%14 = reshape %1 : 3x1x6 float32\n"
            "%15 = broadcast %14 : 3x2x6 float32\n"
            "%16 = store %15, @out4 : 3x2x6 float32\n");
}

TEST(Value, StacksBehindTheLastDim) {
  EXPECT_EQ(graphOf([](Tensor x, Tensor y) { return nl::stack({x, y}, -1); },
                    {f32({4, 6}), f32({4, 6})}, {"x", "y"}),
            "%0 = load @x : 4x6 float32\n"
            "%1 = load @y : 4x6 float32\n"
            "%2 = reshape %0 : 4x6x1 float32\n"
            "%3 = reshape %1 : 4x6x1 float32\n"
            "%4 = concat %2, %3 axis 2 : 4x6x2 float32\n"
            "%5 = store %4, @out0 : 4x6x2 float32\n");
}

TEST(Value, IsSlicedBySubscripts) {
  EXPECT_EQ(graphOf(
                [](Tensor x) {
                  Tensor v = nl::exp(x);
                  return std::tuple(v(nl::slice(1, 4, 2), _, ds(2, 3)), v(-1), v(nl::dots, 4),
                                    v(0, 1, 2), v[{_, 2}], v);
                },
                {f32({5, 3, 7})}, {"x"}),
            "%0 = load @x : 5x3x7 float32\n"
            "%1 = unary exp %0 : 5x3x7 float32\n"
            "%2 = slice %1 starts (1, 0, 2) steps (2, 1, 1) : 2x3x3 float32\n"
            "%3 = store %2, @out0 : 2x3x3 float32\n"
            "%4 = slice %1 starts (4, 0, 0) steps (1, 1, 1) : 1x3x7 float32\n"
            "%5 = reshape %4 : 3x7 float32\n"
            "%6 = store %5, @out1 : 3x7 float32\n"
            "%7 = slice %1 starts (0, 0, 4) steps (1, 1, 1) : 5x3x1 float32\n"
            "%8 = reshape %7 : 5x3 float32\n"
            "%9 = store %8, @out2 : 5x3 float32\n"
            "%10 = slice %1 starts (0, 1, 2) steps (1, 1, 1) : 1x1x1 float32\n"
            "%11 = reshape %10 : 1 float32\n"
            "%12 = store %11, @out3 : 1 float32\n"
            "%13 = slice %1 starts (0, 2, 0) steps (1, 1, 1) : 5x1x7 float32\n"
            "%14 = reshape %13 : 5x7 float32\n"
            "%15 = store %14, @out4 : 5x7 float32\n"
            "%16 = store %1, @out5 : 5x3x7 float32\n");
}

TEST(Value, SlicesDimsOfOneElement) {
  EXPECT_EQ(graphOf(
                [](Tensor x) {
                  Tensor v = nl::exp(x);
                  return std::pair(v(0, nl::slice(1, _, 2)), v(_, 2, 0));
                },
                {f32({1, 5, 1})}, {"x"}),
            "%0 = load @x : 1x5x1 float32\n"
            "%1 = unary exp %0 : 1x5x1 float32\n"
            "%2 = slice %1 starts (0, 1, 0) steps (1, 2, 1) : 1x2x1 float32\n"
            "%3 = reshape %2 : 2x1 float32\n"
            "%4 = store %3, @out0 : 2x1 float32\n"
            "%5 = slice %1 starts (0, 2, 0) steps (1, 1, 1) : 1x1x1 float32\n"
            "%6 = reshape %5 : 1 float32\n"
            "%7 = store %6, @out1 : 1 float32\n");
}

TEST(Value, HasTheViewsOfATensor) {
  EXPECT_EQ(graphOf(
                [](Tensor x) {
                  Tensor v = nl::exp(x);
                  return std::tuple(v.slice(1, 2, 6, 3), v.select(0, 3), v.permute({-1, 0}),
                                    v.expand_dim(0).broadcast(0, 2), v.reshape({-1, 4}),
                                    v.reshape_dim(1, {2, -1}).flatten_dims(0, 1),
                                    v(ds(0, 1)).squeeze_dim(0));
                },
                {f32({4, 6})}, {"x"}),
            "%0 = load @x : 4x6 float32\n"
            "%1 = unary exp %0 : 4x6 float32\n"
            "%2 = slice %1 starts (0, 2) steps (1, 3) : 4x2 float32\n"
            "%3 = store %2, @out0 : 4x2 float32\n"
            "%4 = slice %1 starts (3, 0) steps (1, 1) : 1x6 float32\n"
            "%5 = reshape %4 : 6 float32\n"
            "%6 = store %5, @out1 : 6 float32\n"
            "%7 = transpose %1 axes (1, 0) : 6x4 float32\n"
            "%8 = store %7, @out2 : 6x4 float32\n"
            "%9 = reshape %1 : 1x4x6 float32\n"
            "%10 = broadcast %9 : 2x4x6 float32\n"
            "%11 = store %10, @out3 : 2x4x6 float32\n"
            "%12 = reshape %1 : 6x4 float32\n"
            "%13 = store %12, @out4 : 6x4 float32\n"
            "%14 = reshape %1 : 4x2x3 float32\n"
            "%15 = reshape %14 : 8x3 float32\n"
            "%16 = store %15, @out5 : 8x3 float32\n"
            "%17 = slice %1 starts (0, 0) steps (1, 1) : 1x6 float32\n"
            "%18 = reshape %17 : 6 float32\n"
            "%19 = store %18, @out6 : 6 float32\n");
}

TEST(Value, KnowsItsShape) {
  EXPECT_EQ(graphOf(
                [](Tensor x) {
                  Tensor v = nl::matmul(x, x, {.transpose_y = true});
                  const auto [m, n] = v.dims<2>();
                  nl::require(m == 3 && n == 3 && v.rank() == 2 && v.size() == 9, "shape");
                  nl::require(v.dim(-1) == 3 && v.is_contiguous() && v.name().empty(), "dim");
                  nl::require(v.dtype() == nl::float32 && nl::is_value(v.buffer()), "dtype");
                  nl::require(!nl::is_hbm(v.buffer()) && !nl::is_on_chip(v.buffer()), "buffer");
                  return v;
                },
                {bf16({3, 130})}, {"x"}),
            "%0 = load @x : 3x130 bfloat16\n"
            "%1 = matmul %0, %0 transpose_y : 3x3 float32\n"
            "%2 = store %1, @out0 : 3x3 bfloat16\n");
}

TEST(Value, KeepsHints) {
  EXPECT_EQ(graphOf(
                [](Tensor x) {
                  Tensor v = nl::hint(nl::exp(x), {.partition_dim = -1, .tile = {0, 64}});
                  return nl::hint(v, {.buffers = 3, .in = nl::hbm}) + nl::hint(x, {.buffers = 2});
                },
                {f32({4, 64})}, {"x"}),
            "%0 = load @x : 4x64 float32\n"
            "%1 = load @x hint_buffers 2 : 4x64 float32\n"
            "%2 = unary exp %0 hint_partition 1 hint_tile (0, 64) hint_buffers 3 hint_in hbm : "
            "4x64 float32\n"
            "%3 = binary add %2, %1 : 4x64 float32\n"
            "%4 = store %3, @out0 : 4x64 float32\n");
}

} // namespace
