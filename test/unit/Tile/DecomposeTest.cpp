//===- DecomposeTest.cpp - composites as primitive nodes --------------------------------------===//

#include "kiln/Tile/Decompose.h"
#include "GraphText.h"

namespace kiln::tile::test {
namespace {

std::string decomposed(std::string_view text) {
  const Graph graph = graphOf(text);
  EXPECT_EQ(complaintsOf(graph), "");
  const Graph out = decompose(graph);
  EXPECT_EQ(complaintsOf(out), "");
  return print(out);
}

TEST(Decompose, Softmax) {
  EXPECT_EQ(decomposed("@x = hbm input 0 : 4x6 bfloat16\n@y = hbm output 0 : 4x6 bfloat16\n"
                       "%0 = load @x : 4x6 bfloat16\n"
                       "%1 = softmax %0 axis 0 hint_buffers 3 : 4x6 bfloat16\n"
                       "%2 = store %1, @y : 4x6 bfloat16\n"),
            R"(@x = hbm input 0 : 4x6 bfloat16
@y = hbm output 0 : 4x6 bfloat16
%0 = load @x : 4x6 bfloat16
%1 = reduce maximum %0 axes (0,) keepdims : 1x6 float32
%2 = binary subtract %0, %1 : 4x6 float32
%3 = unary exp %2 : 4x6 float32
%4 = reduce add %3 axes (0,) keepdims : 1x6 float32
%5 = unary reciprocal %4 : 1x6 float32
%6 = binary multiply %3, %5 hint_buffers 3 : 4x6 bfloat16
%7 = store %6, @y : 4x6 bfloat16
)");
}

TEST(Decompose, RmsNorm) {
  const std::string front = "%0 = splat number 2 : 4x6 float32\n%1 = splat number 3 : 6 float32\n";
  EXPECT_EQ(decomposed(front + "%2 = rmsnorm %0 number 1e-06 : 4x6 float16\n"),
            R"(%0 = splat number 2 : 4x6 float32
%1 = splat number 3 : 6 float32
%2 = unary square %0 : 4x6 float32
%3 = reduce add %2 axes (1,) keepdims : 4x1 float32
%4 = splat number 0.1666666716337204 : 1 float32
%5 = binary multiply %3, %4 : 4x1 float32
%6 = splat number 1e-06 : 1 float32
%7 = binary add %5, %6 : 4x1 float32
%8 = unary rsqrt %7 : 4x1 float32
%9 = binary multiply %0, %8 : 4x6 float16
)");
  EXPECT_TRUE(decomposed(front + "%2 = rmsnorm %0, %1 number 1e-06 hint_buffers 2 : 4x6 float16\n")
                  .ends_with("%9 = binary multiply %0, %8 : 4x6 float32\n"
                             "%10 = binary multiply %9, %1 hint_buffers 2 : 4x6 float16\n"));
}

TEST(Decompose, LayerNormCentresTwice) {
  EXPECT_EQ(decomposed("%0 = splat number 2 : 4x8 float32\n%1 = splat number 3 : 8 float32\n"
                       "%2 = splat number 4 : 1x8 float32\n"
                       "%3 = layernorm %0, %1, %2 number 1e-05 : 4x8 float32\n"),
            R"(%0 = splat number 2 : 4x8 float32
%1 = splat number 3 : 8 float32
%2 = splat number 4 : 1x8 float32
%3 = reduce add %0 axes (1,) keepdims : 4x1 float32
%4 = splat number 0.125 : 1 float32
%5 = binary multiply %3, %4 : 4x1 float32
%6 = binary subtract %0, %5 : 4x8 float32
%7 = reduce add %6 axes (1,) keepdims : 4x1 float32
%8 = splat number 0.125 : 1 float32
%9 = binary multiply %7, %8 : 4x1 float32
%10 = binary subtract %6, %9 : 4x8 float32
%11 = unary square %10 : 4x8 float32
%12 = reduce add %11 axes (1,) keepdims : 4x1 float32
%13 = splat number 0.125 : 1 float32
%14 = binary multiply %12, %13 : 4x1 float32
%15 = splat number 1e-05 : 1 float32
%16 = binary add %14, %15 : 4x1 float32
%17 = unary rsqrt %16 : 4x1 float32
%18 = binary multiply %10, %17 : 4x8 float32
%19 = binary multiply %18, %1 : 4x8 float32
%20 = binary add %19, %2 : 4x8 float32
)");
}

TEST(Decompose, KeepsPlacesAndRenames) {
  Graph graph = graphOf("%0 = splat number 2 : 4x6 float32\n"
                        "%1 = softmax %0 axis 1 after 2 : 4x6 float32\n"
                        "%2 = binary add %1, %0 : 4x6 float32\n");
  graph[1].location = 7;
  graph[2].location = 8;
  std::vector<NodeId> renamed;
  const Graph out = decompose(graph, &renamed);
  EXPECT_EQ(renamed, (std::vector<NodeId>{0, 6, 7}));
  EXPECT_EQ(out[7].operands, (std::vector<NodeId>{6, 0}));
  for (NodeId id = 1; id <= 6; ++id) {
    EXPECT_EQ(out[id].location, 7u);
    EXPECT_EQ(out[id].position, 2u);
  }
  EXPECT_EQ(out[7].location, 8u);
}

} // namespace
} // namespace kiln::tile::test
