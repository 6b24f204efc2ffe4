//===- VerifyTest.cpp - broken plans are found
//--------------------------------------------------===//
//
// Plans of random and of chosen graphs hold together; each of them with one number changed, so that
// it cannot, does not.
//
//===------------------------------------------------------------------------------------------===//

#include "kiln/Plan/Plan.h"
#include "kiln/Tile/Decompose.h"
#include "kiln/Tile/Parse.h"

#include "RandomGraph.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>

namespace kiln::plan {
namespace {

using tile::Op;

std::optional<Plan> planOf(const tile::Graph &graph, int64_t sbufBytes = 0) {
  PlanOptions options;
  options.sbufBytes = sbufBytes;
  return makePlan(tile::decompose(graph), {}, options).plan;
}

Plan planOf(std::string_view text, int64_t sbufBytes = 0) {
  std::string error;
  const std::optional<tile::Graph> graph = tile::parse(text, error);
  EXPECT_TRUE(graph) << error;
  std::optional<Plan> plan = planOf(*graph, sbufBytes);
  EXPECT_TRUE(plan);
  return plan ? *plan : Plan();
}

constexpr std::string_view kSoftmax = R"(@x = hbm input 0 : 300x5000 float32
@y = hbm output 0 : 300x5000 float32
%0 = load @x : 300x5000 float32
%1 = softmax %0 axis 1 : 300x5000 float32
%2 = store %1, @y : 300x5000 float32
)";
constexpr std::string_view kMap = R"(@x = hbm input 0 : 1003 float32
@y = hbm output 0 : 1003 float32
%0 = load @x : 1003 float32
%1 = unary exp %0 : 1003 float32
%2 = store %1, @y : 1003 float32
)";
constexpr std::string_view kMatmul = R"(@a = hbm input 0 : 3x300x500 bfloat16
@b = hbm input 1 : 500x700 bfloat16
@y = hbm output 0 : 3x300x700 float32
%0 = load @a : 3x300x500 bfloat16
%1 = load @b : 500x700 bfloat16
%2 = matmul %0, %1 : 3x300x700 float32
%3 = unary gelu %2 : 3x300x700 float32
%4 = store %3, @y : 3x300x700 float32
)";
constexpr std::string_view kLarge = R"(@a = hbm input 0 : 1000x5000 bfloat16
@b = hbm input 1 : 5000x2000 bfloat16
@y = hbm output 0 : 1000x2000 bfloat16
%0 = load @a : 1000x5000 bfloat16
%1 = load @b : 5000x2000 bfloat16
%2 = matmul %0, %1 : 1000x2000 float32
%3 = store %2, @y : 1000x2000 bfloat16
)";
constexpr std::string_view kTwoGroups = R"(@x = hbm input 0 : 300x400 float32
@y = hbm output 0 : 1x400 float32
%0 = load @x : 300x400 float32
%1 = softmax %0 axis 1 : 300x400 float32
%2 = reduce add %1 axes (0,) keepdims : 1x400 float32
%3 = store %2, @y : 1x400 float32
)";

std::vector<Plan> plans() {
  std::vector<Plan> out{planOf(kSoftmax),  planOf(kSoftmax, 8192), planOf(kMap),
                        planOf(kMap, 256), planOf(kMatmul),        planOf(kMatmul, 16384),
                        planOf(kLarge),    planOf(kTwoGroups)};
  for (uint64_t seed = 1; seed <= 60; ++seed)
    if (auto plan = planOf(tile::test::randomGraph(seed)))
      out.push_back(std::move(*plan));
  return out;
}

TEST(VerifyPlan, PlansHoldTogether) {
  for (const Plan &plan : plans())
    EXPECT_EQ(verify(plan), std::vector<std::string>()) << print(plan.graph);
  for (uint64_t seed = 1000; seed < 1300; ++seed)
    if (auto plan = planOf(tile::test::randomGraph(seed))) {
      EXPECT_EQ(verify(*plan), std::vector<std::string>()) << "seed " << seed;
    }
}

/// Breaks a plan; false when there is nothing to break that way.
using Mutation = std::function<bool(Plan &)>;

/// The first group, of all or of one skeleton, for which `change` says it changed something.
Mutation inGroup(std::function<bool(Plan &, Group &)> change) {
  return [=](Plan &plan) {
    for (Group &group : plan.groups)
      if (group.skeleton != Skeleton::Copy && change(plan, group))
        return true;
    return false;
  };
}
Mutation inContraction(std::function<bool(Group &)> change) {
  return inGroup([=](Plan &, Group &group) {
    return group.skeleton == Skeleton::Contraction && change(group);
  });
}
Mutation inStep(std::function<bool(Plan &, Group &, Step &)> change) {
  return inGroup([=](Plan &plan, Group &group) {
    return std::any_of(group.steps.begin(), group.steps.end(),
                       [&](Step &step) { return change(plan, group, step); });
  });
}

bool ownsBuffer(const Plan &plan, NodeId id) {
  return plan.graph[id].view.buffer != kNone && plan.graph[id].view.buffer >= plan.ownBuffers;
}

const std::vector<std::pair<std::string, Mutation>> &mutations() {
  static const std::vector<std::pair<std::string, Mutation>> list = {
      {"a node in no group", inGroup([](Plan &, Group &group) {
         group.nodes.pop_back();
         return true;
       })},
      {"a node in two groups",
       [](Plan &plan) {
         if (plan.groups.size() < 2)
           return false;
         plan.groups[1].nodes.insert(plan.groups[1].nodes.begin(), plan.groups[0].nodes[0]);
         return true;
       }},
      {"a value of another group",
       [](Plan &plan) {
         if (plan.groups.size() < 2)
           return false;
         for (NodeId id : plan.groups.back().nodes)
           if (!plan.graph[id].operands.empty()) {
             plan.graph[id].operands[0] = plan.groups[0].nodes[0];
             return true;
           }
         return false;
       }},
      {"a reader in front of its writer",
       [](Plan &plan) {
         for (size_t g = 1; g < plan.groups.size(); ++g)
           for (NodeId id : plan.groups[g].nodes)
             if (plan.graph[id].op == Op::Load && ownsBuffer(plan, id) &&
                 !plan.groups[g].isInlined) {
               std::rotate(plan.groups.begin(), plan.groups.begin() + long(g),
                           plan.groups.begin() + long(g) + 1);
               return true;
             }
         return false;
       }},
      {"a value that is not all stored", inGroup([](Plan &plan, Group &group) {
         for (NodeId id : group.nodes)
           if (plan.graph[id].isEffect() && ownsBuffer(plan, id) && plan.graph[id].shape[0] > 1) {
             --plan.graph[id].shape[0];
             return true;
           }
         return false;
       })},
      {"a sum without an order", inGroup([](Plan &plan, Group &group) {
         for (NodeId id : group.nodes)
           if (plan.graph[id].op == Op::Reduce || plan.graph[id].op == Op::Matmul) {
             plan.graph[id].order = {};
             return true;
           }
         return false;
       })},
      {"a place outside of its buffer", inGroup([](Plan &plan, Group &group) {
         for (NodeId id : group.nodes)
           if (plan.graph[id].op == Op::Load) {
             plan.graph[id].view.offset += 1 << 30;
             return true;
           }
         return false;
       })},
      {"a loop too few", inGroup([](Plan &, Group &group) {
         if (group.loops.empty())
           return false;
         group.loops.pop_back();
         return true;
       })},
      {"a loop twice", inGroup([](Plan &, Group &group) {
         if (group.loops.size() < 2)
           return false;
         group.loops[0] = group.loops[1];
         return true;
       })},
      {"a tile larger than its dim", inGroup([](Plan &, Group &group) {
         group.tile[0] = group.extents[0] + 1;
         return true;
       })},
      {"an empty tile", inGroup([](Plan &, Group &group) {
         group.tile.back() = 0;
         return true;
       })},
      {"a tile of part of a dim without a loop", inGroup([](Plan &, Group &group) {
         for (size_t d = 0; d < group.tile.size(); ++d)
           if (group.tile[d] == group.extents[d] && group.tile[d] > 1 &&
               group.skeleton == Skeleton::Rows) {
             --group.tile[d];
             return true;
           }
         return false;
       })},
      {"more partitions than there are", inGroup([](Plan &, Group &group) {
         if (group.partition == kNone || group.extents[group.partition] < 130)
           return false;
         group.tile[group.partition] = 129;
         return true;
       })},
      {"a folded dim on partitions", inStep([](Plan &, Group &group, Step &step) {
         if (step.kind != Step::Kind::Reduce || step.dims == 0 || group.ragged != 0)
           return false;
         group.partition = unsigned(__builtin_ctz(step.dims));
         return true;
       })},
      {"a result with the folded dim", inStep([](Plan &, Group &group, Step &step) {
         if (step.kind != Step::Kind::Reduce || step.dims == 0)
           return false;
         group.tiles[step.dst].dims |= step.dims;
         return true;
       })},
      {"more cut elements than rows hold", inGroup([](Plan &, Group &group) {
         if (group.ragged == 0)
           return false;
         group.ragged = group.extents[group.partition] * group.extents[group.partition + 1] + 1;
         return true;
       })},
      {"a last row that no tile begins with", inGroup([](Plan &, Group &group) {
         if (group.ragged == 0)
           return false;
         const int64_t whole = group.ragged / group.extents[group.partition + 1];
         int64_t &rows = group.tile[group.partition];
         if (whole == group.extents[group.partition] || whole < 3 || rows != whole)
           return false;
         rows = whole - 1;
         return true;
       })},
      {"a fold of pieces as if they were all", inStep([](Plan &, Group &, Step &step) {
         if (!step.isPartial)
           return false;
         step.isPartial = false;
         return true;
       })},
      {"a fold of all as if they were pieces", inStep([](Plan &, Group &, Step &step) {
         if (step.kind != Step::Kind::Reduce || step.isPartial)
           return false;
         step.isPartial = true;
         return true;
       })},
      {"a slot too small", inGroup([](Plan &, Group &group) {
         for (auto &slots : group.slotBytes)
           for (int64_t &slot : slots) {
             slot -= isa::machine.sbufAllocAlign;
             group.sbufBytes -= isa::machine.sbufAllocAlign; // the claim follows
             return true;
           }
         return false;
       })},
      {"two tiles in one slot", inStep([](Plan &, Group &group, Step &step) {
         if (step.kind != Step::Kind::TensorTensor || step.x.tile == step.y.tile)
           return false;
         Tile &x = group.tiles[step.x.tile];
         const Tile &y = group.tiles[step.y.tile];
         if (x.level != y.level || x.slot == y.slot || x.place != kNone || y.place != kNone ||
             x.memory != isa::Memory::Sbuf || y.memory != isa::Memory::Sbuf)
           return false;
         x.slot = y.slot;
         return true;
       })},
      {"a slot that is not there", inGroup([](Plan &, Group &group) {
         for (Tile &tile : group.tiles)
           if (tile.memory == isa::Memory::Sbuf && tile.place == kNone &&
               std::any_of(group.steps.begin(), group.steps.end(),
                           [&](const Step &s) { return s.dst == &tile - group.tiles.data(); })) {
             tile.slot = 1000;
             return true;
           }
         return false;
       })},
      {"fewer bytes than it takes", inGroup([](Plan &plan, Group &group) {
         if (group.sbufBytes != plan.sbufBytes)
           return false;
         --group.sbufBytes;
         --plan.sbufBytes;
         return true;
       })},
      {"a plan that claims too much",
       [](Plan &plan) {
         ++plan.sbufBytes;
         return true;
       }},
      {"less memory than it takes",
       [](Plan &plan) {
         plan.sbufLimit = plan.sbufBytes - 1;
         return plan.sbufBytes > 0;
       }},
      {"one more frame in turn", inGroup([](Plan &, Group &group) {
         for (size_t l = 0; l < group.copies.size(); ++l)
           if (!group.slotBytes[l].empty()) {
             ++group.copies[l];
             return true;
           }
         return false;
       })},
      {"no frame in turn", inGroup([](Plan &, Group &group) {
         group.copies.back() = 0;
         return true;
       })},
      {"more PSUM banks than there are", inGroup([](Plan &, Group &group) {
         group.psumBanks = isa::machine.psumBanks + 1;
         return true;
       })},
      {"a step away from its data", inStep([](Plan &plan, Group &group, Step &step) {
         if (step.kind != Step::Kind::Load && step.kind != Step::Kind::Store)
           return false;
         for (Footprint &f : group.footprints)
           for (size_t d = 0; d < f.stride.size(); ++d)
             if (f.node == step.node && group.extents[d] > 1 && f.stride[d] > 0) {
               ++f.stride[d];
               return true;
             }
         (void)plan;
         return false;
       })},
      {"a step without a place", inStep([](Plan &, Group &group, Step &step) {
         if (step.kind != Step::Kind::Load)
           return false;
         std::erase_if(group.footprints, [&](const Footprint &f) { return f.node == step.node; });
         return true;
       })},
      {"a store that is left out", inGroup([](Plan &, Group &group) {
         return std::erase_if(group.steps,
                              [](const Step &s) { return s.kind == Step::Kind::Store; }) > 0;
       })},
      {"a store twice", inGroup([](Plan &, Group &group) {
         for (const Step &step : group.steps)
           if (step.kind == Step::Kind::Store) {
             const Step again = step;
             group.steps.push_back(again);
             return true;
           }
         return false;
       })},
      {"a tile that is read before it is made", inGroup([](Plan &, Group &group) {
         return std::erase_if(group.steps,
                              [](const Step &s) { return s.kind == Step::Kind::Load; }) > 0;
       })},
      {"a step of another group", inStep([](Plan &plan, Group &group, Step &step) {
         for (const Group &other : plan.groups)
           if (&other != &group) {
             step.node = other.nodes[0];
             return true;
           }
         return false;
       })},
      {"a step outside of the loop of what it reads", inStep([](Plan &, Group &group, Step &step) {
         if (!step.x.isTile() || step.level == 0 || group.tiles[step.x.tile].level != step.level ||
             group.tiles[step.x.tile].memory != isa::Memory::Sbuf)
           return false;
         --step.level;
         return true;
       })},
      {"a piece outside of its loop", inGroup([](Plan &, Group &group) {
         for (Tile &tile : group.tiles)
           if (!group.loops.empty() && (tile.dims >> group.loops.back() & 1) && tile.level > 0 &&
               tile.memory == isa::Memory::Sbuf && tile.place == kNone) {
             tile.level = 0;
             return true;
           }
         return false;
       })},
      {"a pass that is not there", inStep([](Plan &, Group &group, Step &step) {
         step.stage = group.stages;
         return true;
       })},
      {"a tile number that is not there", inStep([](Plan &, Group &group, Step &step) {
         if (step.dst == kNone)
           return false;
         step.dst = uint32_t(group.tiles.size());
         return true;
       })},
      {"matmuls with a batch on partitions", inContraction([](Group &group) {
         if (group.extents.size() < 3)
           return false;
         group.partition = 0;
         return true;
       })},
      {"matmuls with their sides swapped", inContraction([](Group &group) {
         group.contraction.stationaryIsN = !group.contraction.stationaryIsN;
         return true;
       })},
      {"too few pieces at a time", inContraction([](Group &group) {
         ContractionPlan &loops = group.contraction;
         const int64_t chunks = (loops.products[0].contraction + 127) / 128;
         if (loops.isSpannedOutside || chunks <= loops.pieceChunks)
           return false;
         loops.innerSlots = 1;
         return true;
       })},
      {"more sums at a time than banks", inContraction([](Group &group) {
         const size_t p = group.partition, m = p + 1 == group.extents.size() ? p - 1 : p + 1;
         if (group.extents[p] * group.extents[m] < 300)
           return false;
         group.contraction.isSpannedOutside = true;
         group.contraction.stationaryBlock = group.extents[p];
         group.contraction.movingBlock = group.extents[m];
         group.tile[p] = group.tile[m] = 1;
         return true;
       })},
      {"a matmul left out", inContraction([](Group &group) {
         group.contraction.products.pop_back();
         return true;
       })},
      {"an operand that ends too early", inContraction([](Group &group) {
         for (Side &side : group.contraction.stationary)
           if (side.sideStride != 0 && group.extents[group.partition] > 1) {
             side.sideStride += 3;
             return true;
           }
         return false;
       })},
      {"an operand nothing computes", inContraction([](Group &group) {
         group.contraction.moving[0].producer = 0;
         return true;
       })},
      {"a block of nothing", inContraction([](Group &group) {
         group.contraction.movingBlock = 0;
         return true;
       })},
      {"more columns than a matmul writes", inContraction([](Group &group) {
         const size_t p = group.partition, m = p + 1 == group.extents.size() ? p - 1 : p + 1;
         if (group.extents[m] <= isa::machine.matmulMaxMovingFree)
           return false;
         group.tile[m] = isa::machine.matmulMaxMovingFree + 1;
         return true;
       })},
  };
  return list;
}

TEST(VerifyPlan, OneWrongNumberIsFound) {
  const std::vector<Plan> sound = plans();
  std::map<std::string, unsigned> applied;
  unsigned changes = 0;
  for (const auto &[name, mutate] : mutations())
    for (size_t i = 0; i < sound.size(); ++i) {
      Plan plan = sound[i];
      if (!mutate(plan))
        continue;
      ++applied[name];
      ++changes;
      EXPECT_FALSE(verify(plan).empty()) << name << " in plan " << i << "\n" << print(plan.graph);
    }
  RecordProperty("changes", int(changes));
  EXPECT_GT(changes, 1000u);
  // Every way to break a plan was tried.
  for (const auto &[name, mutate] : mutations())
    EXPECT_GT(applied[name], 0u) << name;
}

} // namespace
} // namespace kiln::plan
