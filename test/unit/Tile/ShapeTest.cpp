//===- ShapeTest.cpp - shapes of values by their operands -------------------------------------===//

#include "GraphText.h"

#include <random>

namespace kiln::tile::test {
namespace {

TEST(BroadcastShapes, AlignsAtTheLastDim) {
  EXPECT_EQ(broadcastShapes({}), Shape{});
  EXPECT_EQ(broadcastShapes({{3}}), Shape{3});
  EXPECT_EQ(broadcastShapes({{4, 1}, {3}}), (Shape{4, 3}));
  EXPECT_EQ(broadcastShapes({{3}, {4, 1}}), (Shape{4, 3}));
  EXPECT_EQ(broadcastShapes({{2, 1, 5}, {7, 1}, {1}}), (Shape{2, 7, 5}));
  EXPECT_EQ(broadcastShapes({{1, 1}, {1}}), (Shape{1, 1}));
}

TEST(BroadcastShapes, NothingForOtherExtents) {
  EXPECT_EQ(broadcastShapes({{4}, {3}}), std::nullopt);
  EXPECT_EQ(broadcastShapes({{4, 3}, {4, 1}, {2, 3}}), std::nullopt);
  EXPECT_EQ(broadcastShapes({{4, 3}, {4}}), std::nullopt);
}

TEST(CountElements, NothingBeyond64Bits) {
  EXPECT_EQ(countElements({}), 1);
  EXPECT_EQ(countElements({3, 5}), 15);
  EXPECT_EQ(countElements({INT64_MAX, 0, INT64_MAX}), std::nullopt);
  EXPECT_EQ(countElements({0, INT64_MAX / 8}), 0);
  EXPECT_EQ(countElements({INT64_MAX / 8}), INT64_MAX / 8);
  EXPECT_EQ(countElements({INT64_MAX / 8 + 1}), std::nullopt);
  EXPECT_EQ(countElements({int64_t(1) << 32, int64_t(1) << 32}), std::nullopt);
  EXPECT_EQ(countElements({-1}), std::nullopt);
  EXPECT_EQ(countElements({-1, 0}), std::nullopt);
}

/// The shape inferShape finds for the last line, whose own shape is wrong or right.
std::string inferred(std::string_view operands, std::string_view last) {
  const Graph graph = graphOf(std::string(operands) + std::string(last) + "\n");
  std::string problem;
  const auto shape = inferShape(graph, graph.nodes.back(),
                                [&](std::string_view rule, std::string message, std::string) {
                                  problem = std::string(rule) + ": " + message;
                                });
  if (!shape)
    return problem;
  std::string out;
  for (int64_t extent : *shape)
    out += (out.empty() ? "" : "x") + std::to_string(extent);
  return out;
}

TEST(InferShape, ElementwiseBroadcasts) {
  const auto operands = "%0 = splat number 1 : 4x1 float32\n%1 = splat number 1 : 3 float32\n"
                        "%2 = splat number 1 : 2x1x1 float32\n";
  EXPECT_EQ(inferred(operands, "%3 = binary add %0, %1 : 1 float32"), "4x3");
  EXPECT_EQ(inferred(operands, "%3 = select %0, %1, %2 : 1 float32"), "2x4x3");
  EXPECT_EQ(inferred(operands, "%3 = unary exp %2 : 1 float32"), "2x1x1");
  EXPECT_EQ(inferred(operands, "%3 = cast %0 : 1 bfloat16"), "4x1");
}

TEST(InferShape, MatmulOfEachTransposeAndBatch) {
  const auto operands = "%0 = splat number 1 : 5x7 float32\n%1 = splat number 1 : 7x3 float32\n"
                        "%2 = splat number 1 : 7x5 float32\n%3 = splat number 1 : 3x7 float32\n"
                        "%4 = splat number 1 : 4x1x5x7 float32\n"
                        "%5 = splat number 1 : 2x7x3 float32\n";
  EXPECT_EQ(inferred(operands, "%6 = matmul %0, %1 : 1 float32"), "5x3");
  EXPECT_EQ(inferred(operands, "%6 = matmul %2, %1 transpose_x : 1 float32"), "5x3");
  EXPECT_EQ(inferred(operands, "%6 = matmul %0, %3 transpose_y : 1 float32"), "5x3");
  EXPECT_EQ(inferred(operands, "%6 = matmul %2, %3 transpose_x transpose_y : 1 float32"), "5x3");
  EXPECT_EQ(inferred(operands, "%6 = matmul %4, %5 : 1 float32"), "4x2x5x3");
  EXPECT_EQ(inferred(operands, "%6 = matmul %4, %1 : 1 float32"), "4x1x5x3");
}

TEST(InferShape, ReduceKeepsOrDropsDims) {
  const auto operand = "%0 = splat number 1 : 2x3x4x5 float32\n";
  EXPECT_EQ(inferred(operand, "%1 = reduce add %0 axes (1,) : 1 float32"), "2x4x5");
  EXPECT_EQ(inferred(operand, "%1 = reduce add %0 axes (0, 3) : 1 float32"), "3x4");
  EXPECT_EQ(inferred(operand, "%1 = reduce add %0 axes (0, 3) keepdims : 1 float32"), "1x3x4x1");
  EXPECT_EQ(inferred(operand, "%1 = reduce add %0 axes (0, 1, 2, 3) keepdims : 1 float32"),
            "1x1x1x1");
}

TEST(InferShape, Movement) {
  const auto operand = "%0 = splat number 1 : 2x3x4 float32\n%1 = splat number 1 : 2x5x4 float32\n";
  EXPECT_EQ(inferred(operand, "%2 = transpose %0 axes (2, 0, 1) : 1 float32"), "4x2x3");
  EXPECT_EQ(inferred(operand, "%2 = reshape %0 : 6x4 float32"), "6x4");
  EXPECT_EQ(inferred(operand, "%2 = slice %0 starts (0, 2, 1) steps (1, 9, 2) : 2x1x2 float32"),
            "2x1x2");
  EXPECT_EQ(inferred(operand, "%2 = concat %0, %1, %0 axis 1 : 1 float32"), "2x11x4");
  EXPECT_EQ(inferred(operand, "%2 = concat %0 axis 1 : 1 float32"), "2x3x4");
  EXPECT_EQ(inferred(operand, "%2 = pad %0 starts (0, 1, 2) ends (3, 0, 4) number 0 : 1 float32"),
            "5x4x10");
  EXPECT_EQ(inferred("%0 = splat number 1 : 3x1 float32\n", "%1 = broadcast %0 : 2x3x4 float32"),
            "2x3x4");
}

TEST(InferShape, Composites) {
  const auto operands = "%0 = splat number 1 : 6x4 float32\n%1 = splat number 1 : 4 float32\n";
  EXPECT_EQ(inferred(operands, "%2 = softmax %0 axis 0 : 1 float32"), "6x4");
  EXPECT_EQ(inferred(operands, "%2 = rmsnorm %0, %1 number 1e-6 : 1 float32"), "6x4");
  EXPECT_EQ(inferred(operands, "%2 = layernorm %0, %1, %1 number 1e-6 : 1 float32"), "6x4");
}

/// Graphs of random fields, most of them wrong in several ways: no answer is checked, only that
/// there is one, and that a node without complaint has a shape a value can have.
TEST(Verify, SurvivesNonsense) {
  constexpr unsigned seed = 20240817;
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937 random(seed);
  const auto pick = [&](int64_t n) { return int64_t(random() % uint64_t(n)); };
  const int64_t extents[] = {1, 1, 2, 3, 4, 7, 0, -1, INT64_MAX, INT64_MIN, int64_t(1) << 32};
  const auto list = [&](int64_t odd) {
    std::vector<int64_t> out(size_t(pick(4)));
    for (int64_t &value : out)
      value = extents[pick(odd)];
    return out;
  };
  size_t right = 0;
  for (int round = 0; round < 20000; ++round) {
    const int64_t odd = round % 2 ? 5 : 11; // half of the graphs have sane extents
    Graph graph;
    for (int i = 0; i < 2; ++i)
      graph.buffers.push_back({"b", isa::Memory(pick(3)), isa::DType(pick(9)),
                               Buffer::Role(pick(3)), 0, list(odd), kNone});
    for (int i = 0; i < 4; ++i) {
      Node node;
      node.op = Op(pick(20));
      node.operands.resize(size_t(pick(4)));
      for (NodeId &id : node.operands)
        id = pick(8) == 0 ? NodeId(random()) : NodeId(pick(4));
      node.shape = list(odd), node.axes = list(odd), node.starts = list(odd);
      node.ends = list(odd), node.steps = list(odd);
      node.dtype = isa::DType(pick(9)), node.alu = isa::AluOp(pick(25));
      node.axis = extents[pick(odd)];
      node.keepDims = pick(2), node.transposeX = pick(2), node.transposeY = pick(2);
      node.view = {uint32_t(pick(3)), uint32_t(pick(2)), extents[pick(odd)] / 2, list(odd)};
      node.order = {Order::Kind(pick(3)), extents[pick(odd)], pick(2) == 0};
      graph.add(node);
    }
    bool isComplained = false;
    const Complain complain = [&](std::string_view, std::string, std::string) {
      isComplained = true;
    };
    for (NodeId id = 0; id < graph.nodes.size(); ++id) {
      isComplained = false;
      const bool isRight = verify(graph, id, complain);
      ASSERT_NE(isRight, isComplained) << print(graph);
      ASSERT_FALSE(print(graph, id).empty());
      right += isRight;
      if (isRight) {
        ASSERT_GE(countElements(graph[id].shape).value_or(0), 1) << print(graph);
      }
    }
  }
  EXPECT_GT(right, 500u); // the nonsense reaches the rules behind the first ones
}

} // namespace
} // namespace kiln::tile::test
