//===- GraphToolsTest.cpp - the fuzzer's own parts --------------------------------------------===//

#include "RandomGraph.h"
#include "ShrinkGraph.h"

#include <gtest/gtest.h>
#include <set>

namespace kiln::tile::test {
namespace {

constexpr uint64_t kSeeds = 400;

TEST(RandomGraph, IsRightAndCanBeEvaluated) {
  std::set<Op> ops;
  std::set<isa::DType> dtypes;
  std::set<size_t> ranks;
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    const Graph graph = randomGraph(seed);
    SCOPED_TRACE(testing::Message() << "seed " << seed << "\n" << print(graph));
    size_t operations = 0;
    for (NodeId id = 0; id < graph.nodes.size(); ++id) {
      ASSERT_TRUE(verify(graph, id, [](std::string_view rule, std::string message, std::string) {
        ADD_FAILURE() << rule << message;
      }));
      const Node &node = graph[id];
      ops.insert(node.op);
      dtypes.insert(node.dtype);
      ranks.insert(node.shape.size());
      operations += node.op != Op::Load && node.op != Op::Splat && node.op != Op::Store;
    }
    ASSERT_LE(operations, 2 * RandomGraphOptions().maxOps); // matmuls may bring a cast
    std::vector<Value> data = randomData(graph, seed);
    const auto fault = evaluate(graph, data);
    ASSERT_FALSE(fault) << fault->message;
  }
  EXPECT_EQ(ops.size(), 19u);    // all but materialize
  EXPECT_EQ(dtypes.size(), 12u); // all but the one nothing computes with
  EXPECT_EQ(ranks, (std::set<size_t>{1, 2, 3, 4}));
}

TEST(RandomGraph, SaysTheSameEachTime) {
  EXPECT_EQ(print(randomGraph(7)), print(randomGraph(7)));
  EXPECT_NE(print(randomGraph(7)), print(randomGraph(8)));
  EXPECT_EQ(randomData(randomGraph(7), 1)[0].bytes, randomData(randomGraph(7), 1)[0].bytes);
}

/// A failure that needs a node with `op` that reads, directly or not, one with `other`.
bool hasChain(const Graph &graph, Op op, Op other) {
  std::vector<bool> isBehind(graph.nodes.size(), false);
  for (NodeId id = 0; id < graph.nodes.size(); ++id) {
    isBehind[id] = graph[id].op == other;
    for (NodeId operand : graph[id].operands)
      isBehind[id] = isBehind[id] || isBehind[operand];
    if (graph[id].op == op && isBehind[id])
      return true;
  }
  return false;
}

TEST(Shrink, LeavesWhatTheFailureNeeds) {
  size_t shrunk = 0;
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    const Graph graph = randomGraph(seed);
    if (!hasChain(graph, Op::Reduce, Op::Binary))
      continue;
    ++shrunk;
    const Graph small =
        shrink(graph, [](const Graph &g) { return hasChain(g, Op::Reduce, Op::Binary); });
    // A number, perhaps two, the operation, the reduction and its store, of one element each.
    SCOPED_TRACE(testing::Message() << "seed " << seed << "\n" << print(small));
    EXPECT_LE(small.nodes.size(), 5u);
    for (const Node &node : small.nodes) {
      EXPECT_EQ(countElements(node.shape), 1);
      EXPECT_EQ(node.dtype, isa::DType::Float32);
      EXPECT_NE(node.op, Op::Load);
      EXPECT_LE(node.axes.size(), 1u);
    }
  }
  EXPECT_GT(shrunk, 20u);
}

TEST(Shrink, KeepsExtentsThatMatter) {
  // Fails while some value has more than 100 rows and is not float32.
  const auto fails = [](const Graph &graph) {
    for (const Node &node : graph.nodes)
      if (!node.isEffect() && node.shape[0] > 100 && node.dtype != isa::DType::Float32)
        return true;
    return false;
  };
  size_t shrunk = 0;
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    const Graph graph = randomGraph(seed);
    if (!fails(graph))
      continue;
    ++shrunk;
    const Graph small = shrink(graph, fails);
    EXPECT_TRUE(fails(small));
    EXPECT_LE(small.nodes.size(), 3u) << "seed " << seed << "\n" << print(small);
  }
  EXPECT_GT(shrunk, 20u);
}

TEST(WithoutDead, NumbersArgumentsAnew) {
  Graph graph;
  for (uint32_t i = 0; i < 3; ++i)
    graph.buffers.push_back({std::string(1, char('a' + i)),
                             isa::Memory::Hbm,
                             isa::DType::Float32,
                             i < 2 ? Buffer::Role::Input : Buffer::Role::Output,
                             i,
                             {2},
                             kNone});
  for (uint32_t i = 0; i < 2; ++i) {
    Node load;
    load.op = Op::Load;
    load.shape = {2};
    load.view = wholeView(i, load.shape);
    graph.add(load);
  }
  Node store;
  store.op = Op::Store;
  store.operands = {1};
  store.shape = {2};
  store.view = wholeView(2, store.shape);
  graph.add(store);
  EXPECT_EQ(print(withoutDead(graph)),
            "@b = hbm input 0 : 2 float32\n@c = hbm output 0 : 2 float32\n"
            "%0 = load @b : 2 float32\n%1 = store %0, @c : 2 float32\n");
}

} // namespace
} // namespace kiln::tile::test
