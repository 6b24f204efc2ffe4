//===- TextTest.cpp - graphs as text and back -------------------------------------------------===//

#include "GraphText.h"

#include <cmath>

namespace kiln::tile::test {
namespace {

constexpr std::string_view kAll =
    R"(@x = hbm input 0 : 8x16 float32
@t = sbuf : 8x16 bfloat16
@y = hbm output 1 : 8x16 bfloat16
%0 = load @x : 8x16 float32
%1 = load @t partition 4 offset 3 strides (1, 2) after 7 : 4x5 bfloat16
%2 = splat number 0.1 : 1 float32
%3 = splat number -inf : 8x16 float32
%4 = splat number nan : 8x16 float32
%5 = splat number -0 : 8x16 float32
%6 = iota axis 1 : 8x16 int32
%7 = unary gelu %0 : 8x16 float32
%8 = binary add %0, %7 : 8x16 float32
%9 = select %6, %0, %2 : 8x16 float32
%10 = cast %9 : 8x16 bfloat16
%11 = matmul %0, %9 transpose_y chunks 128 : 8x8 float32
%12 = matmul %0, %9 transpose_x : 16x16 float32
%13 = reduce maximum %0 axes (0, 1) keepdims left_to_right from_identity : 1x1 float32
%14 = reduce add %0 axes (1,) : 8 float32
%15 = transpose %0 axes (1, 0) : 16x8 float32
%16 = reshape %0 : 2x4x16 float32
%17 = slice %0 starts (0, 1) steps (2, 3) : 4x5 float32
%18 = concat %0, %0 axis 0 : 16x16 float32
%19 = pad %0 starts (1, 0) ends (0, 2) number 1e-09 : 9x18 float32
%20 = broadcast %2 : 3x4x5 float32
%21 = softmax %0 axis 1 hint_partition 1 hint_tile (0, 8) hint_buffers 3 hint_in hbm : 8x16 float32
%22 = rmsnorm %0, %2 number 1e-06 : 8x16 float32
%23 = layernorm %0, %2, %2 number 1e-05 : 8x16 float32
%24 = materialize %10, @t : 8x16 float32
%25 = store %10, @y : 8x16 float32
%26 = store %17, @y offset 3 strides (16, 2) : 4x5 float32
)";

TEST(GraphText, RoundTripOfEveryOperation) {
  EXPECT_EQ(print(graphOf(kAll)), kAll);
  EXPECT_EQ(complaintsOf(kAll), "");
}

TEST(GraphText, SaysWhatItMeans) {
  const Graph graph = graphOf(kAll);
  EXPECT_EQ(graph.buffers[1].memory, isa::Memory::Sbuf);
  EXPECT_EQ(graph.buffers[2].role, Buffer::Role::Output);
  EXPECT_EQ(graph.buffers[2].index, 1u);
  EXPECT_EQ(graph[0].view.stride, (std::vector<int64_t>{16, 1}));
  EXPECT_EQ(graph[1].view.partition, 4u);
  EXPECT_EQ(graph[1].view.offset, 3);
  EXPECT_EQ(graph[1].position, 7u);
  EXPECT_EQ(graph[2].number, 0.1);
  EXPECT_TRUE(std::isnan(graph[4].number));
  EXPECT_TRUE(std::signbit(graph[5].number));
  EXPECT_EQ(graph[11].order, (Order{Order::Kind::Chunks, 128, false}));
  EXPECT_EQ(graph[13].order, (Order{Order::Kind::LeftToRight, 0, true}));
  EXPECT_EQ(graph[21].hint.partitionDim, 1);
  EXPECT_EQ(graph[21].hint.tile, (std::vector<int64_t>{0, 8}));
  EXPECT_EQ(graph[21].hint.in, isa::Memory::Hbm);
  EXPECT_EQ(graph[24].view.stride, (std::vector<int64_t>{1, 1})); // partitions, then elements
}

TEST(GraphText, SkipsCommentsAndEmptyLines) {
  EXPECT_EQ(graphOf("// one value\n\n%0 = splat number 2 : 3 float32").nodes.size(), 1u);
}

std::string errorOf(std::string_view text) {
  std::string error;
  EXPECT_FALSE(parse(text, error)) << text;
  return error;
}

TEST(GraphText, SaysWhereItStops) {
  EXPECT_EQ(errorOf("%0 = foo : 3 float32"), "line 1: 'foo' stands where an operation is expected");
  EXPECT_EQ(errorOf("\n%1 = iota axis 0 : 3 int32"),
            "line 2: '%1' stands where '%0', the number of the node, is expected");
  EXPECT_EQ(errorOf("%0 = iota axis 0 : 3"), "line 1: the line ends where a dtype is expected");
  EXPECT_EQ(errorOf("%0 = iota axis 0 : 3xx4 int32"),
            "line 1: '3xx4' stands where a shape such as 128x512 is expected");
  EXPECT_EQ(errorOf("%0 = iota axis 0 : 3x int32"),
            "line 1: '3x' stands where a shape such as 128x512 is expected");
  EXPECT_EQ(errorOf("%0 = iota axis 0 : 3 int32 4"),
            "line 1: '4' stands where the end of the line is expected");
  EXPECT_EQ(errorOf("%0 = iota colour 0 : 3 int32"), "line 1: 'colour' is no attribute");
  EXPECT_EQ(errorOf("%0 = iota axis"), "line 1: the line ends where a whole number is expected");
  EXPECT_EQ(errorOf("%0 = load @x : 3 int32"), "line 1: '@x' stands where a buffer is expected");
  EXPECT_EQ(errorOf("@x = hbm : 3 int32\n@x = hbm : 3 int32"),
            "line 2: a buffer needs a name of its own, this one has 'x'");
  EXPECT_EQ(errorOf("@x = tape : 3 int32"), "line 1: 'tape' stands where a memory is expected");
  EXPECT_EQ(errorOf("%0 = unary sinh %0 : 3 int32"),
            "line 1: 'sinh' stands where a function is expected");
  EXPECT_EQ(errorOf("%0 = transpose %0 axes (1, 0 : 3 int32"),
            "line 1: '(1' stands where a list such as (0, 1) is expected");
}

/// Every text cut off somewhere is refused or read, never worse.
TEST(GraphText, SurvivesTruncation) {
  for (size_t length = 0; length < kAll.size(); ++length) {
    std::string error;
    if (const auto graph = parse(kAll.substr(0, length), error))
      for (NodeId id = 0; id < graph->nodes.size(); ++id)
        verify(*graph, id, [](std::string_view, std::string, std::string) {});
    else
      EXPECT_NE(error, "");
  }
}

TEST(GraphText, BrokenGraphsPrint) {
  Graph graph;
  graph.nodes.emplace_back();
  graph[0].op = Op::Load;
  EXPECT_EQ(print(graph, 0), "%0 = load @4294967295? : scalar float32");
  EXPECT_EQ(print(graph, 1), "%1 = ?");
}

} // namespace
} // namespace kiln::tile::test
