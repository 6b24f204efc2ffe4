//===- InterpreterTest.cpp - what graphs compute, against values made by hand -----------------===//
//
// test/tile compares every operation with NumPy; here are the rules that NumPy does not have
// (orders of sums, one rounding, bits kept), and what is refused.
//
//===------------------------------------------------------------------------------------------===//

#include "kiln/Tile/Interpreter.h"

#include "GraphText.h"
#include "Targets.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <random>

namespace kiln::tile::test {
namespace {

using isa::DType;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

template <typename Element>
Value valueOf(DType dtype, Shape shape, const std::vector<Element> &elements) {
  Value out{dtype, std::move(shape), std::vector<std::byte>(elements.size() * sizeof(Element))};
  std::memcpy(out.bytes.data(), elements.data(), out.bytes.size());
  return out;
}
template <typename Element>
std::vector<Element> elementsOf(const Value &value) {
  std::vector<Element> out(value.bytes.size() / sizeof(Element));
  std::memcpy(out.data(), value.bytes.data(), value.bytes.size());
  return out;
}

/// The last node's value, all nodes being values without buffers.
Value lastValue(std::string_view text) {
  std::vector<Value> nodes;
  InterpreterOptions options;
  options.nodes = &nodes;
  const Graph graph = graphOf(text);
  const auto fault = evaluate(graph, {}, options);
  EXPECT_FALSE(fault) << fault->message << "\n" << text;
  return nodes.empty() ? Value() : nodes.back();
}

/// The last node's value, with one input "@x" that holds `x`.
Value lastValue(std::string_view text, const Value &x) {
  std::vector<Value> nodes;
  InterpreterOptions options;
  options.nodes = &nodes;
  const Graph graph = graphOf(text);
  std::vector<Value> buffers(graph.buffers.size());
  buffers[0] = x;
  const auto fault = evaluate(graph, buffers, options);
  EXPECT_FALSE(fault) << fault->message << "\n" << text;
  return nodes.empty() ? Value() : nodes.back();
}

std::vector<uint32_t> bitsOf(const std::vector<float> &values) {
  std::vector<uint32_t> out;
  for (float value : values)
    out.push_back(std::bit_cast<uint32_t>(value));
  return out;
}

//---- one rounding -------------------------------------------------------===//

TEST(Interpreter, NumbersRoundOnceToTheirDType) {
  // Above the middle of two bfloat16 neighbours by less than fp32 can say: up, not to even.
  EXPECT_EQ(elementsOf<uint16_t>(lastValue("%0 = splat number 1.0039062500001 : 1 bfloat16")),
            std::vector<uint16_t>{0x3F81});
  EXPECT_EQ(elementsOf<uint16_t>(lastValue("%0 = splat number 1.00390625 : 1 bfloat16")),
            std::vector<uint16_t>{0x3F80});
  EXPECT_EQ(elementsOf<int32_t>(lastValue("%0 = splat number 16777217 : 2 int32")),
            (std::vector<int32_t>{16777217, 16777217}));
  EXPECT_EQ(elementsOf<uint8_t>(lastValue("%0 = splat number 300 : 1 uint8")),
            std::vector<uint8_t>{255});
  EXPECT_EQ(elementsOf<int8_t>(lastValue("%0 = splat number -2.5 : 1 int8")),
            std::vector<int8_t>{-2});
  EXPECT_EQ(elementsOf<int32_t>(lastValue("%0 = splat number nan : 1 int32")),
            std::vector<int32_t>{0});
}

TEST(Interpreter, ArithmeticRoundsToTheNode) {
  const std::string sum = "%0 = splat number 1 : 1 float32\n%1 = splat number 0.00390625 : 1 "
                          "float32\n%2 = binary add %0, %1 : 1 ";
  EXPECT_EQ(elementsOf<float>(lastValue(sum + "float32")), std::vector<float>{1.00390625f});
  EXPECT_EQ(elementsOf<uint16_t>(lastValue(sum + "bfloat16")), std::vector<uint16_t>{0x3F80});
  EXPECT_EQ(elementsOf<int8_t>(lastValue(sum + "int8")), std::vector<int8_t>{1});
}

TEST(Interpreter, WideIntegersAreExact) {
  const std::string pair = "%0 = splat number 16777217 : 1 int32\n%1 = splat number 2 : 1 int32\n";
  EXPECT_EQ(elementsOf<int32_t>(lastValue(pair + "%2 = binary add %0, %1 : 1 int32")),
            std::vector<int32_t>{16777219});
  EXPECT_EQ(elementsOf<float>(lastValue(pair + "%2 = binary add %0, %1 : 1 float32")),
            std::vector<float>{16777218.0f});
  EXPECT_EQ(elementsOf<uint32_t>(lastValue(pair + "%2 = binary subtract %1, %0 : 1 uint32")),
            std::vector<uint32_t>{uint32_t(-16777215)});
  EXPECT_EQ(elementsOf<int32_t>(lastValue(pair + "%2 = binary greater %0, %1 : 1 int32")),
            std::vector<int32_t>{1});
  // One operand of another kind: through fp32, which saturates.
  EXPECT_EQ(elementsOf<int32_t>(
                lastValue("%0 = splat number 2147483647 : 1 int32\n%1 = splat number 1 : 1 "
                          "float32\n%2 = binary add %0, %1 : 1 int32")),
            std::vector<int32_t>{2147483647});
}

TEST(Interpreter, MovementKeepsBits) {
  const uint32_t payload = 0xFFC12345u, signalling = 0x7F800001u;
  const Value x = valueOf<uint32_t>(DType::Float32, {2, 2}, {payload, signalling, 0x80000000u, 1});
  const std::string load = "@x = hbm input 0 : 2x2 float32\n%0 = load @x : 2x2 float32\n";
  EXPECT_EQ(
      elementsOf<uint32_t>(lastValue(load + "%1 = transpose %0 axes (1, 0) : 2x2 float32", x)),
      (std::vector<uint32_t>{payload, 0x80000000u, signalling, 1}));
  EXPECT_EQ(elementsOf<uint32_t>(lastValue(load + "%1 = select %0, %0, %0 : 2x2 float32", x)),
            (std::vector<uint32_t>{payload, signalling, 0x80000000u, 1}));
  EXPECT_EQ(elementsOf<uint32_t>(lastValue(load + "%1 = cast %0 : 2x2 float32", x)),
            (std::vector<uint32_t>{payload, signalling, 0x80000000u, 1}));
  // Arithmetic gives the canonical NaN.
  EXPECT_EQ(elementsOf<uint32_t>(lastValue(load + "%1 = binary maximum %0, %0 : 2x2 float32", x)),
            (std::vector<uint32_t>{0x7FC00000u, 0x7FC00000u, 0x80000000u, 1}));
}

//---- orders of sums -----------------------------------------------------===//

std::vector<float> reduced(std::string_view order, const std::vector<float> &x,
                           std::string_view alu = "add") {
  const std::string n = std::to_string(x.size());
  return elementsOf<float>(lastValue(
      "@x = hbm input 0 : " + n + " float32\n%0 = load @x : " + n + " float32\n%1 = reduce " +
          std::string(alu) + " %0 axes (0,) keepdims " + std::string(order) + " : 1 float32",
      valueOf(DType::Float32, {int64_t(x.size())}, x)));
}

TEST(Interpreter, ReduceInEachOrder) {
  const float big = 0x1p24f;
  const std::vector<float> x = {big, 1, 1, 1, 1, -big};
  EXPECT_EQ(reduced("left_to_right", x), std::vector<float>{0});
  EXPECT_EQ(reduced("chunks 6", x), std::vector<float>{0});
  EXPECT_EQ(reduced("chunks 100", x), std::vector<float>{0});
  // (big + 1) = big, (1 + 1) = 2, (1 - big): big + 2 - 16777215
  EXPECT_EQ(reduced("chunks 2", x), std::vector<float>{3});
  // ((big + 1) + 1) + 1 = big; 1 + 1 - big = -16777214
  EXPECT_EQ(reduced("chunks 3", x), std::vector<float>{2});
  EXPECT_EQ(reduced("chunks 1", x), std::vector<float>{0});
  EXPECT_EQ(reduced("", x), std::vector<float>{4}); // in double
}

TEST(Interpreter, ReduceOfZerosAndSpecialValues) {
  EXPECT_EQ(bitsOf(reduced("left_to_right", {-0.0f, -0.0f})), bitsOf({-0.0f}));
  EXPECT_EQ(bitsOf(reduced("left_to_right from_identity", {-0.0f, -0.0f})), bitsOf({0.0f}));
  EXPECT_EQ(bitsOf(reduced("chunks 1", {-0.0f, -0.0f})), bitsOf({-0.0f}));
  EXPECT_EQ(bitsOf(reduced("chunks 1 from_identity", {-0.0f, -0.0f})), bitsOf({0.0f}));
  EXPECT_EQ(bitsOf(reduced("left_to_right", {-0.0f, 0.0f}, "maximum")), bitsOf({0.0f}));
  EXPECT_EQ(bitsOf(reduced("", {0.0f, -0.0f}, "minimum")), bitsOf({-0.0f}));
  for (std::string_view order : {"", "left_to_right", "chunks 2"})
    for (std::string_view alu : {"add", "multiply", "maximum", "minimum"})
      EXPECT_EQ(bitsOf(reduced(order, {1, -kNan, 2}, alu)), std::vector<uint32_t>{0x7FC00000u});
  EXPECT_EQ(bitsOf(reduced("left_to_right", {kInf, 1, -kInf})), std::vector<uint32_t>{0x7FC00000u});
}

TEST(Interpreter, ReduceTakesDimsInRowMajorOrder) {
  // Over axes 0 and 2 of (2, 3, 2): element (i, j, k) is a digit of its own.
  std::vector<float> x;
  for (int i = 0; i < 12; ++i)
    x.push_back(float(i == 4 ? 0x1p24 : i == 11 ? -0x1p24 : 1));
  const std::string text = "@x = hbm input 0 : 2x3x2 float32\n%0 = load @x : 2x3x2 float32\n"
                           "%1 = reduce add %0 axes (0, 2) left_to_right : 3 float32";
  // j = 2: elements 4, 5, 10, 11: ((2^24 + 1) + 1) - 2^24
  EXPECT_EQ(elementsOf<float>(lastValue(text, valueOf(DType::Float32, {2, 3, 2}, x))),
            (std::vector<float>{4, 4, 0}));
}

/// The definition, one scalar operation at a time.
float sumOfProducts(const std::vector<float> &x, const std::vector<float> &y, size_t chunk,
                    bool isBlocked) {
  float total = 0;
  for (size_t first = 0; first < x.size(); first += chunk) {
    const size_t end = std::min(x.size(), first + chunk);
    float sum = 0;
    if (isBlocked)
      for (size_t block = first; block < end; block += 32) {
        float chains[2] = {0, 0};
        for (size_t k = block; k < block + 32; ++k)
          chains[(k - block) % 2] =
              std::fma(k < end ? x[k] : 0.0f, k < end ? y[k] : 0.0f, chains[(k - block) % 2]);
        sum = sum + (chains[0] + chains[1]);
      }
    else
      for (size_t k = first; k < end; ++k)
        sum = std::fma(x[k], y[k], sum);
    total = first == 0 ? sum : total + sum;
  }
  return std::isnan(total) ? std::bit_cast<float>(0x7FC00000u) : total;
}

struct Product {
  int64_t m, k, n;
  bool transposeX, transposeY;
  DType x, y;
  int64_t chunk;
};

std::vector<std::byte> narrowed(DType dtype, std::vector<float> &values) {
  // Through the interpreter's own cast; the values become what was kept.
  const std::string n = std::to_string(values.size());
  const std::string type = std::string(isa::name(dtype));
  const Value narrow = lastValue("@x = hbm input 0 : " + n + " float32\n%0 = load @x : " + n +
                                     " float32\n%1 = cast %0 : " + n + " " + type,
                                 valueOf(DType::Float32, {int64_t(values.size())}, values));
  values =
      elementsOf<float>(lastValue("@x = hbm input 0 : " + n + " " + type + "\n%0 = load @x : " + n +
                                      " " + type + "\n%1 = cast %0 : " + n + " float32",
                                  narrow));
  return narrow.bytes;
}

std::string matrixType(int64_t rows, int64_t columns, bool isTransposed, DType dtype) {
  if (isTransposed)
    std::swap(rows, columns);
  return "2x" + std::to_string(rows) + "x" + std::to_string(columns) + " " +
         std::string(isa::name(dtype));
}

TEST(Interpreter, MatmulHasTheBitsOfItsDefinition) {
  const DType f32 = DType::Float32, bf16 = DType::BFloat16, f16 = DType::Float16;
  const Product products[] = {
      {5, 300, 37, false, false, f32, f32, 128}, {5, 300, 37, true, false, bf16, bf16, 128},
      {6, 1, 3, false, true, bf16, bf16, 128},   {1, 129, 1, true, true, f32, f32, 128},
      {9, 130, 70, true, true, bf16, bf16, 128}, {4, 127, 33, false, true, f16, f16, 128},
      {3, 97, 32, false, false, bf16, f16, 128}, {7, 50, 5, false, true, bf16, bf16, 7},
      {2, 50, 31, true, false, f32, f32, 1000},
  };
  std::mt19937 random(7);
  for (const int64_t target : kilnrt::test::hostTargets()) {
    const kilnrt::test::ForcedTarget forced(target);
    for (const Product &p : products) {
      std::vector<float> x(size_t(2 * p.m * p.k)), y(size_t(2 * p.k * p.n));
      for (std::vector<float> *values : {&x, &y})
        for (float &value : *values) {
          value = std::ldexp(float(int32_t(random())) * 0x1p-31f, int(random() % 20) - 10);
          if (random() % 1000 == 0)
            value = random() % 2 ? kInf : kNan;
          if (random() % 10 == 0)
            value = -0.0f;
        }
      std::vector<Value> buffers = {
          {p.x, {2, p.transposeX ? p.k : p.m, p.transposeX ? p.m : p.k}, narrowed(p.x, x)},
          {p.y, {2, p.transposeY ? p.n : p.k, p.transposeY ? p.k : p.n}, narrowed(p.y, y)}};
      const std::string xType = matrixType(p.m, p.k, p.transposeX, p.x),
                        yType = matrixType(p.k, p.n, p.transposeY, p.y);
      const std::string text = "@x = hbm input 0 : " + xType + "\n@y = hbm input 1 : " + yType +
                               "\n%0 = load @x : " + xType + "\n%1 = load @y : " + yType +
                               "\n%2 = matmul %0, %1" + (p.transposeX ? " transpose_x" : "") +
                               (p.transposeY ? " transpose_y" : "") + " chunks " +
                               std::to_string(p.chunk) + " : " + matrixType(p.m, p.n, false, f32);
      SCOPED_TRACE(text);
      std::vector<Value> nodes;
      InterpreterOptions options;
      options.nodes = &nodes;
      ASSERT_FALSE(evaluate(graphOf(text), buffers, options));
      std::vector<float> expected;
      for (int64_t b = 0; b < 2; ++b)
        for (int64_t i = 0; i < p.m; ++i)
          for (int64_t j = 0; j < p.n; ++j) {
            std::vector<float> left, right;
            for (int64_t k = 0; k < p.k; ++k) {
              left.push_back(x[size_t(b * p.m * p.k + (p.transposeX ? k * p.m + i : i * p.k + k))]);
              right.push_back(
                  y[size_t(b * p.k * p.n + (p.transposeY ? j * p.k + k : k * p.n + j))]);
            }
            expected.push_back(
                sumOfProducts(left, right, size_t(p.chunk), p.x == bf16 && p.y == bf16));
          }
      EXPECT_EQ(bitsOf(elementsOf<float>(nodes[2])), bitsOf(expected));
    }
  }
}

TEST(Interpreter, MatmulInAnyOrderSumsInDouble) {
  const Value x = valueOf<float>(DType::Float32, {1, 3}, {0x1p24f, 1, -0x1p24f});
  const std::string text = "@x = hbm input 0 : 1x3 float32\n%0 = load @x : 1x3 float32\n"
                           "%1 = splat number 1 : 3x1 float32\n%2 = matmul %0, %1";
  for (const int64_t target : kilnrt::test::hostTargets()) {
    const kilnrt::test::ForcedTarget forced(target);
    EXPECT_EQ(elementsOf<float>(lastValue(text + " : 1x1 float32", x)), std::vector<float>{1});
    EXPECT_EQ(elementsOf<float>(lastValue(text + " chunks 128 : 1x1 float32", x)),
              std::vector<float>{0});
  }
}

TEST(Interpreter, MatmulBroadcastsBatches) {
  // x is (2, 1, 1, 2), y (3, 2, 1).
  const Value x = valueOf<float>(DType::Float32, {2, 1, 1, 2}, {1, 2, 3, 4});
  EXPECT_EQ(elementsOf<float>(
                lastValue("@x = hbm input 0 : 2x1x1x2 float32\n%0 = load @x : 2x1x1x2 float32\n"
                          "%1 = iota axis 0 : 3x2x1 int32\n%2 = cast %1 : 3x2x1 float32\n"
                          "%3 = matmul %0, %2 : 2x3x1x1 float32",
                          x)),
            (std::vector<float>{0, 3, 6, 0, 7, 14}));
}

//---- memory -------------------------------------------------------------===//

TEST(Interpreter, ViewsOfBuffers) {
  const Graph graph =
      graphOf("@x = hbm input 0 : 3x4 float32\n@t = sbuf : 4x3 bfloat16\n"
              "@y = hbm output 0 : 4x4 float32\n"
              "%0 = load @x offset 3 strides (-1, 4) : 4x3 float32\n"
              "%1 = materialize %0, @t : 4x3 float32\n"
              "%2 = load @t partition 2 offset 1 strides (1, 1) : 2x2 bfloat16\n"
              "%3 = splat number 0.5 : 4x4 float32\n%4 = store %3, @y : 4x4 float32\n"
              "%5 = store %2, @y offset 1 strides (8, 2) : 2x2 float32\n");
  std::vector<float> x;
  for (int i = 0; i < 12; ++i)
    x.push_back(float(i) + (i == 9 ? 0.001f : 0)); // rounded away in the bfloat16 buffer
  std::vector<Value> buffers(3);
  buffers[0] = valueOf(DType::Float32, {3, 4}, x);
  ASSERT_FALSE(evaluate(graph, buffers));
  // t is rows (3, 7, 11), (2, 6, 10), (1, 5, 9), (0, 4, 8).
  EXPECT_EQ(elementsOf<float>(buffers[2]),
            (std::vector<float>{.5, 5, .5, 9, .5, .5, .5, .5, .5, 4, .5, 8, .5, .5, .5, .5}));
}

std::string faultOf(std::string_view text, std::vector<Value> buffers,
                    const InterpreterOptions &options = {}) {
  const auto fault = evaluate(graphOf(text), buffers, options);
  return fault ? fault->rule + ": " + fault->message : "none";
}

TEST(Interpreter, SaysWhatItCannotRun) {
  EXPECT_EQ(faultOf("@t = sbuf : 4x3 float32\n%0 = load @t after 2 : 4x3 float32", {Value()}),
            ": 'load' stands after 2 instructions; the interpreter runs whole-tensor operations "
            "only");
  EXPECT_EQ(faultOf("@t = sbuf : 4x3 float32\n%0 = splat number 1 : 2x2 float32\n"
                    "%1 = store %0, @t strides (1, 1) : 2x2 float32\n%2 = load @t : 4x3 float32",
                    {Value()}),
            "M-08: 't' is read before it is written: element 2 of 12");
  EXPECT_EQ(faultOf("@x = hbm input 0 : 4 float32\n%0 = load @x : 4 float32",
                    {valueOf<float>(DType::Float32, {3}, {1, 2, 3})}),
            "K-10: argument 'x' is (3,) float32 in 12 bytes, expected (4,) float32");
  EXPECT_EQ(faultOf("@x = hbm input 0 : 4 float32\n%0 = load @x : 4 float32", {}),
            ": the graph has 1 buffer, 0 were given");
  EXPECT_EQ(faultOf("%0 = iota axis 0 : 4 float32", {}),
            "D-03: 'iota' is float32, indices are int32");
  EXPECT_EQ(faultOf("%0 = unary exp %0 : 4 float32", {}),
            ": the 1st operand of 'exp' is node 0, and its own number is 0");
}

TEST(Interpreter, TakesNoMoreMemoryThanAllowed) {
  const std::string chain = "%0 = splat number 1 : 250 float32\n%1 = unary exp %0 : 250 float32\n"
                            "%2 = unary exp %1 : 250 float32\n%3 = unary exp %2 : 250 float32\n";
  InterpreterOptions options;
  options.maxBytes = 2000; // two values at a time
  EXPECT_EQ(faultOf(chain, {}, options), "none");
  options.maxBytes = 1999;
  EXPECT_EQ(faultOf(chain, {}, options),
            ": 'unary' needs 1000 bytes beside the 1000 in use, the interpreter may take 1999");
  EXPECT_EQ(faultOf("%0 = splat number 1 : 1152921504606846975 float32", {}),
            ": 'splat' needs 4611686018427387900 bytes beside the 0 in use, the interpreter may "
            "take 8589934592");
}

TEST(Interpreter, Composites) {
  // The value of a composite is that of its last step.
  const std::vector<float> y =
      elementsOf<float>(lastValue("%0 = iota axis 1 : 1x2 int32\n%1 = cast %0 : 1x2 float32\n"
                                  "%2 = softmax %1 axis 1 : 1x2 float32"));
  ASSERT_EQ(y.size(), 2u);
  EXPECT_FLOAT_EQ(y[0], 0.268941421f);
  EXPECT_FLOAT_EQ(y[1], 0.731058579f);
}

} // namespace
} // namespace kiln::tile::test
