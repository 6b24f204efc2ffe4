//===- MovementTest.cpp - graphs without movement mean the same -------------------------------===//

#include "RandomGraph.h"

#include "kiln/Plan/Plan.h"
#include "kiln/Tile/Decompose.h"
#include "kiln/Tile/Parse.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace kiln::plan {
namespace {

using tile::Graph;
using tile::Node;
using tile::Op;
using tile::Shape;
using tile::Value;
using tile::test::Random;

bool isMovement(Op op) {
  return op == Op::Transpose || op == Op::Reshape || op == Op::Slice || op == Op::Concat ||
         op == Op::Pad || op == Op::Broadcast;
}

/// What every Output buffer holds in the end.
std::vector<std::vector<std::byte>> outputsOf(const Graph &graph, const std::vector<Value> &data) {
  std::vector<Value> buffers(graph.buffers.size());
  for (size_t i = 0; i < buffers.size(); ++i)
    if (graph.buffers[i].role == tile::Buffer::Role::Input)
      buffers[i] = data[i];
  const auto problem = tile::evaluate(graph, buffers);
  EXPECT_FALSE(problem) << (problem ? problem->message : "") << "\n" << print(graph);
  std::vector<std::vector<std::byte>> out;
  for (size_t i = 0; i < buffers.size(); ++i)
    if (graph.buffers[i].role == tile::Buffer::Role::Output)
      out.push_back(std::move(buffers[i].bytes));
  return out;
}

TEST(Movement, LeavesNoMovementAndEveryBit) {
  for (uint64_t seed = 1; seed <= 1500; ++seed) {
    const Graph graph = tile::decompose(tile::test::randomGraph(seed));
    const std::vector<Value> data = tile::test::randomData(graph, seed);
    const Graph moved = lowerMovement(graph, {});
    for (const Node &node : moved.nodes)
      ASSERT_FALSE(isMovement(node.op)) << "seed " << seed;
    for (tile::NodeId id = 0; id < moved.nodes.size(); ++id)
      ASSERT_TRUE(tile::verify(moved, id, [&](auto rule, auto message, auto) {
        ADD_FAILURE() << "seed " << seed << ": " << rule << " " << message;
      })) << print(moved, id);
    ASSERT_EQ(outputsOf(moved, data), outputsOf(graph, data)) << "seed " << seed;
  }
}

/// y = transpose(y) * 0.5 + y, or the sum of two neighbours, again and again: moved arithmetic
/// would double each time, so that values must go through memory at some point.
Graph manyMoves(int steps, bool isSlice) {
  std::string text = "@x = hbm input 0 : 16x16 float32\n";
  Shape shape{16, 16};
  std::vector<std::string> lines{"load @x : 16x16 float32", "splat number 0.5 : 1x1 float32"};
  const auto add = [&](std::string line) {
    lines.push_back(std::move(line));
    return "%" + std::to_string(lines.size() - 1);
  };
  std::string y = "%0";
  const auto of = [&] {
    return " : " + std::to_string(shape[0]) + "x" + std::to_string(shape[1]) + " float32";
  };
  for (int i = 0; i < steps; ++i) {
    if (isSlice) {
      --shape[1];
      const std::string a = add("slice " + y + " starts (0, 0) steps (1, 1)" + of());
      const std::string b = add("slice " + y + " starts (0, 1) steps (1, 1)" + of());
      y = add("binary add " + a + ", " + b + of());
    } else {
      const std::string t = add("transpose " + y + " axes (1, 0)" + of());
      const std::string half = add("binary multiply " + t + ", %1" + of());
      y = add("binary add " + half + ", " + y + of());
    }
  }
  text += "@y = hbm output 0" + of() + "\n";
  add("store " + y + ", @y" + of());
  for (size_t i = 0; i < lines.size(); ++i)
    text += "%" + std::to_string(i) + " = " + lines[i] + "\n";
  std::string error;
  const auto graph = tile::parse(text, error);
  EXPECT_TRUE(graph) << error << "\n" << text;
  return graph ? *graph : Graph();
}

TEST(Movement, StaysRightWhereItIsNotRepeatedAnyMore) {
  for (const bool isSlice : {false, true})
    for (int steps = 1; steps <= 12; ++steps) {
      const Graph graph = manyMoves(steps, isSlice);
      const std::vector<Value> data = tile::test::randomData(graph, 3);
      EXPECT_EQ(outputsOf(lowerMovement(graph, {}), data), outputsOf(graph, data))
          << steps << " steps";
      const PlanResult result = makePlan(graph, {});
      ASSERT_TRUE(result.plan);
      EXPECT_EQ(outputsOf(result.plan->graph, data), outputsOf(graph, data)) << steps << " steps";
    }
}

//---- strides of a reshape -----------------------------------------------===//

/// Offsets of all elements in row-major order.
std::vector<int64_t> offsetsOf(const Shape &shape, const std::vector<int64_t> &stride) {
  std::vector<int64_t> out{0};
  for (size_t i = 0; i < shape.size(); ++i) {
    std::vector<int64_t> next;
    for (int64_t base : out)
      for (int64_t k = 0; k < shape[i]; ++k)
        next.push_back(base + k * stride[i]);
    out = std::move(next);
  }
  return out;
}

TEST(ReshapeStrides, KeepEveryElementOrSaySo) {
  Random random(7);
  int possible = 0, impossible = 0;
  const std::vector<Shape> shapes = {{24},      {4, 6},       {2, 12},   {2, 2, 6},
                                     {3, 8},    {1, 24},      {24, 1},   {2, 3, 4},
                                     {4, 1, 6}, {2, 2, 2, 3}, {6, 2, 2}, {1, 3, 1, 8}};
  for (int round = 0; round < 4000; ++round) {
    const Shape from = shapes[size_t(random.below(int64_t(shapes.size())))];
    const Shape to = shapes[size_t(random.below(int64_t(shapes.size())))];
    std::vector<int64_t> stride = contiguousStrides(from);
    // A permuted or sliced tensor: some dims of another step.
    for (int64_t &s : stride)
      if (random.chance(30))
        s *= random.pick<int64_t>({1, 2, 3});
    const auto got = reshapeStrides(from, stride, to);
    if (got) {
      ++possible;
      EXPECT_EQ(offsetsOf(to, *got), offsetsOf(from, stride)) << "round " << round;
    } else {
      ++impossible;
    }
  }
  EXPECT_GT(possible, 1000);
  EXPECT_GT(impossible, 300);
  // Repetition is no step.
  EXPECT_EQ(reshapeStrides({4, 6}, {0, 1}, {24}), std::nullopt);
  EXPECT_EQ(reshapeStrides({4, 6}, {6, 1}, {24}), (std::vector<int64_t>{1}));
}

//---- values and memory in one program -----------------------------------===//

/// A program of loads, arithmetic and stores on a few tensors that are written again and again.
struct MemoryProgram {
  Graph graph;
  Random random;

  explicit MemoryProgram(uint64_t seed) : random(seed) {
    buffer("x", tile::Buffer::Role::Input, 0);
    for (int i = 0; i < 3; ++i)
      buffer("t" + std::to_string(i), tile::Buffer::Role::Internal, 0);
    for (uint32_t i = 0; i < 4; ++i)
      buffer("y" + std::to_string(i), tile::Buffer::Role::Output, i);
    for (uint32_t t = 1; t <= 3; ++t) // no read of what nothing was written to
      store(load(0, {0, 0}, whole), t, {0, 0}, whole);
    std::vector<tile::NodeId> values;
    for (int step = 0; step < 10; ++step) {
      if (values.empty() || random.chance(45))
        values.push_back(load(uint32_t(random.below(4)), corner(), part));
      else if (random.chance(50))
        values.push_back(
            binary(values[size_t(random.below(int64_t(values.size())))], values.back()));
      else
        store(values[size_t(random.below(int64_t(values.size())))], uint32_t(1 + random.below(3)),
              corner(), part);
    }
    for (uint32_t i = 0; i < 3; ++i)
      store(load(1 + i, {0, 0}, whole), 4 + i, {0, 0}, whole);
    store(load(0, {0, 0}, whole), 7, {0, 0}, whole);
    if (!values.empty())
      store(values.back(), 7, corner(), part);
  }

private:
  static inline const Shape whole{6, 8}, part{3, 4};

  void buffer(std::string name, tile::Buffer::Role role, uint32_t index) {
    tile::Buffer b;
    b.name = std::move(name);
    b.role = role;
    b.index = index;
    b.shape = whole;
    graph.buffers.push_back(std::move(b));
  }
  std::array<int64_t, 2> corner() { return {random.below(4), random.below(5)}; }
  tile::View view(uint32_t buffer, std::array<int64_t, 2> at) const {
    return {buffer, 0, at[0] * whole[1] + at[1], {whole[1], 1}};
  }
  tile::NodeId load(uint32_t buffer, std::array<int64_t, 2> at, const Shape &shape) {
    Node node;
    node.op = Op::Load;
    node.shape = shape;
    node.view = view(buffer, at);
    return graph.add(node);
  }
  tile::NodeId binary(tile::NodeId a, tile::NodeId b) {
    Node node;
    node.op = Op::Binary;
    node.alu = random.pick({isa::AluOp::Add, isa::AluOp::Subtract, isa::AluOp::Maximum});
    node.operands = {a, b};
    node.shape = part;
    return graph.add(node);
  }
  void store(tile::NodeId value, uint32_t buffer, std::array<int64_t, 2> at, const Shape &shape) {
    Node node;
    node.op = Op::Store;
    node.operands = {value};
    node.shape = shape;
    node.view = view(buffer, at);
    graph.add(node);
  }
};

TEST(Planning, KeepsTheOrderOfLoadsAndStores) {
  for (uint64_t seed = 1; seed <= 3000; ++seed) {
    const MemoryProgram program(seed);
    std::vector<Value> data(program.graph.buffers.size());
    data[0] = tile::test::randomData(program.graph, seed)[0];
    const PlanResult result = makePlan(program.graph, {});
    ASSERT_TRUE(result.plan) << "seed " << seed;
    ASSERT_EQ(outputsOf(result.plan->graph, data), outputsOf(program.graph, data))
        << "seed " << seed << "\n"
        << print(program.graph) << "becomes\n"
        << print(result.plan->graph);
  }
}

} // namespace
} // namespace kiln::plan
