//===- Verify.cpp - whether a plan holds together
//-----------------------------------------------===//
//
// Checks what the emitter and the hardware rely on, from the plan's own numbers and the graph. It
// shares no code with the planner: sizes, extents and lives are counted again.
//
//===------------------------------------------------------------------------------------------===//

#include "kiln/Plan/Plan.h"

#include "kiln/ISA/Text.h"

#include <algorithm>
#include <set>

namespace kiln::plan {

using tile::Node;
using tile::Op;

namespace {

constexpr auto &kMachine = isa::machine;

int64_t up(int64_t n, int64_t unit) { return (n + unit - 1) / unit; }
bool has(uint32_t dims, size_t d) { return dims >> d & 1; }

class Checker {
public:
  explicit Checker(const Plan &plan) : plan(plan), groupOf(plan.graph.nodes.size(), kNone) {}

  std::vector<std::string> run() {
    checkNodes();
    if (!problems.empty()) // what follows looks nodes up
      return std::move(problems);
    checkMemory();
    int64_t most = 0;
    for (at = 0; at < plan.groups.size(); ++at) {
      group = &plan.groups[at];
      checkGroup();
      most = std::max(most, group->sbufBytes);
      if (at > 0 && group->position < plan.groups[at - 1].position)
        wrong("stands in front of its predecessor");
    }
    at = kNone;
    if (plan.sbufBytes != most)
      wrong("claims ", plan.sbufBytes, " bytes of SBUF, its groups ", most);
    return std::move(problems);
  }

private:
  template <typename... Parts>
  void wrong(const Parts &...parts) {
    problems.push_back(at == kNone ? text("the plan ", parts...)
                                   : text("group ", at, " ", parts...));
  }

  //---- nodes and memory -------------------------------------------------//

  void checkNodes() {
    const auto count = NodeId(plan.graph.nodes.size());
    for (at = 0; at < plan.groups.size(); ++at) {
      NodeId previous = kNone;
      for (NodeId id : plan.groups[at].nodes) {
        if (id >= count)
          wrong("names node ", id, " of ", count);
        else if (groupOf[id] != kNone)
          wrong("has node ", id, ", which belongs to group ", groupOf[id]);
        else
          groupOf[id] = at;
        if (previous != kNone && id <= previous)
          wrong("has node ", id, " behind ", previous);
        previous = id;
      }
    }
    at = kNone;
    for (NodeId id = 0; id < count; ++id) {
      const Node &node = plan.graph[id];
      if (groupOf[id] == kNone)
        wrong("leaves node ", id, " out");
      for (NodeId operand : node.operands)
        if (operand >= id || groupOf[operand] != groupOf[id])
          wrong("has node ", id, " read node ", operand, ", which is no earlier one of its group");
      checkOrder(id);
      if ((node.op == Op::Load || node.isEffect()) && !liesInside(node))
        wrong("has node ", id, " reach out of '",
              node.view.buffer < plan.graph.buffers.size()
                  ? plan.graph.buffers[node.view.buffer].name
                  : "",
              "'");
    }
  }

  void checkOrder(NodeId id) {
    const Node &node = plan.graph[id];
    using Kind = tile::Order::Kind;
    if (node.op == Op::Matmul &&
        (node.order.kind != Kind::Chunks || node.order.chunk != kMachine.matmulMaxContraction))
      wrong("has a matmul, node ", id, ", in another order than the array's");
    if (node.op != Op::Reduce)
      return;
    const bool isCut = groupOf[id] != kNone && plan.groups[groupOf[id]].isChunked;
    if (isCut ? node.order.kind != Kind::Chunks || node.order.chunk < 1
              : node.order.kind != Kind::LeftToRight)
      wrong("has a fold, node ", id, ", without the order it is computed in");
  }

  bool liesInside(const Node &node) const {
    if (node.view.buffer >= plan.graph.buffers.size() ||
        node.view.stride.size() != node.shape.size())
      return false;
    const tile::Buffer &buffer = plan.graph.buffers[node.view.buffer];
    const bool isOnChip = buffer.memory != isa::Memory::Hbm;
    int64_t elements = 1, low = node.view.offset, high = node.view.offset;
    for (size_t i = isOnChip ? 1 : 0; i < buffer.shape.size(); ++i)
      elements *= buffer.shape[i];
    for (size_t i = isOnChip ? 1 : 0; i < node.shape.size(); ++i)
      (node.view.stride[i] < 0 ? low : high) += node.view.stride[i] * (node.shape[i] - 1);
    if (isOnChip && !node.shape.empty() &&
        int64_t(node.view.partition) + node.shape[0] > buffer.shape[0])
      return false;
    return low >= 0 && high < elements;
  }

  /// What a group loads of the plan's own buffers was stored before, all of it.
  void checkMemory() {
    std::vector<int64_t> stored(plan.graph.buffers.size(), 0);
    std::vector<int64_t> size(plan.graph.buffers.size(), 1);
    for (size_t b = 0; b < size.size(); ++b)
      for (int64_t extent : plan.graph.buffers[b].shape)
        size[b] *= extent;
    for (at = 0; at < plan.groups.size(); ++at) {
      for (NodeId id : plan.groups[at].nodes) {
        const Node &node = plan.graph[id];
        if (node.op == Op::Load && node.view.buffer >= plan.ownBuffers &&
            stored[node.view.buffer] != size[node.view.buffer])
          wrong("loads '", plan.graph.buffers[node.view.buffer].name, "', of which ",
                stored[node.view.buffer], " of ", size[node.view.buffer],
                " elements are stored before");
      }
      for (NodeId id : plan.groups[at].nodes)
        if (plan.graph[id].isEffect())
          stored[plan.graph[id].view.buffer] += plan.graph[id].elements();
    }
  }

  //---- a group ----------------------------------------------------------//

  void checkGroup() {
    if (group->skeleton == Skeleton::Copy) {
      if (group->nodes.size() != 2 || plan.graph[group->nodes[0]].op != Op::Load ||
          !plan.graph[group->nodes[1]].isEffect() ||
          plan.graph[group->nodes[0]].elements() != plan.graph[group->nodes[1]].elements())
        wrong("is no copy of one place to another");
      return;
    }
    if (!checkSpace() || !checkReferences())
      return;
    checkSteps();
    checkSlots();
    checkPlaces();
    const bool isContraction = group->skeleton == Skeleton::Contraction;
    const int64_t pieces = isContraction ? checkContraction() : 0;
    int64_t frames = 0;
    for (size_t l = 0; l < group->slotBytes.size(); ++l)
      for (int64_t slot : group->slotBytes[l])
        frames += slot * group->copies[l];
    if (frames + pieces != group->sbufBytes)
      wrong("claims ", group->sbufBytes, " bytes of SBUF, its frames take ", frames,
            " and its operands ", pieces);
    if (group->sbufBytes > plan.sbufLimit)
      wrong("takes ", group->sbufBytes, " of ", plan.sbufLimit, " bytes of SBUF");
    if (group->psumBanks > kMachine.psumBanks || (!isContraction && group->psumBanks != 0))
      wrong("claims ", group->psumBanks, " PSUM banks");
  }

  size_t rank() const { return group->extents.size(); }

  /// Loops and tiles cover the iteration space once.
  bool checkSpace() {
    const size_t before = problems.size();
    if (rank() == 0 || rank() > kMachine.maxRank || group->tile.size() != rank() ||
        (group->partition != kNone && group->partition >= rank())) {
      wrong("has no iteration space");
      return false;
    }
    if (rank() - (group->partition != kNone ? 1 : 0) > isa::kMaxFreeDims)
      wrong("has ", rank(), " dims, none on partitions");
    std::vector<unsigned> times(rank(), 0);
    for (unsigned d : group->loops)
      if (d < rank())
        ++times[d];
      else
        wrong("loops over dim ", d, " of ", rank());
    for (size_t d = 0; d < rank(); ++d) {
      const int64_t extent = group->extents[d], tile = group->tile[d];
      if (tile < 1 || tile > extent)
        wrong("has tiles of ", tile, " along dim ", d, " of ", extent);
      const bool isLooped = group->skeleton == Skeleton::Contraction || tile < extent;
      if (times[d] != (isLooped ? 1 : 0))
        wrong("loops ", times[d], " times over dim ", d, " of ", extent, " in tiles of ", tile);
    }
    if (group->partition != kNone && group->tile[group->partition] > kMachine.numPartitions)
      wrong("needs ", group->tile[group->partition], " partitions");
    if (group->ragged != 0)
      checkRagged();
    if (group->isChunked && group->loops.empty())
      wrong("cuts what it folds without a loop");
    return problems.size() == before;
  }

  void checkRagged() {
    if (group->partition == kNone || group->partition + 1 >= rank())
      return wrong("cuts a dim into rows that are nowhere");
    const int64_t rows = group->extents[group->partition];
    const int64_t length = group->extents[group->partition + 1];
    if (group->ragged <= (rows - 1) * length || group->ragged > rows * length)
      return wrong("cuts ", group->ragged, " elements into ", rows, " rows of ", length);
    // A shorter last row is a tile of its own, where a tile begins.
    const int64_t whole = group->ragged / length;
    if (whole < rows && whole % group->tile[group->partition] != 0)
      wrong("leaves out the last ", group->ragged - whole * length, " elements");
  }

  /// Numbers that index something do.
  bool checkReferences() {
    const size_t before = problems.size(), levels = group->loops.size() + 1;
    if (group->slotBytes.size() != levels || group->copies.size() != levels)
      wrong("has frames for ", group->slotBytes.size(), " of ", levels, " levels");
    for (int64_t copies : group->copies)
      if (copies < 1)
        wrong("has ", copies, " frames in turn");
    const auto count = uint32_t(group->tiles.size());
    for (const Tile &tile : group->tiles)
      if (tile.level >= levels || tile.dims >> rank() != 0 ||
          (tile.inPlaceOf != kNone && tile.inPlaceOf >= count) ||
          (tile.place != kNone && (tile.place >= groupOf.size() || groupOf[tile.place] != at)))
        wrong("has a tile of level ", tile.level, " and dims ", tile.dims);
    for (const Step &step : group->steps) {
      for (uint32_t t : {step.dst, step.sum, step.part})
        if (t != kNone && t >= count)
          wrong("writes tile ", t, " of ", count);
      for (const Argument *a : {&step.x, &step.y, &step.z})
        if (a->isTile() && a->tile >= count)
          wrong("reads tile ", a->tile, " of ", count);
      if (step.level >= levels || step.stage >= group->stages)
        wrong("has a step of level ", step.level, " in pass ", step.stage);
      if (step.node >= groupOf.size() || groupOf[step.node] != at)
        wrong("has a step of node ", step.node, ", which is not its own");
    }
    return problems.size() == before;
  }

  //---- steps ------------------------------------------------------------//

  static std::vector<uint32_t> readsOf(const Step &step) {
    std::vector<uint32_t> out;
    for (const Argument *a : {&step.x, &step.y, &step.z})
      if (a->isTile())
        out.push_back(a->tile);
    return out;
  }

  void checkSteps() {
    std::vector<bool> isMade(group->tiles.size(), false);
    for (const Product &product : group->contraction.products)
      if (product.tile < isMade.size())
        isMade[product.tile] = true;
    std::multiset<NodeId> stores;
    for (size_t t = 0; t < isMade.size(); ++t)
      if (const NodeId place = group->tiles[t].place; place != kNone) {
        if (plan.graph[place].isEffect())
          stores.insert(place); // written where it belongs
        else
          isMade[t] = true;
      }
    for (const Step &step : group->steps) {
      std::vector<uint32_t> reads = readsOf(step);
      if (step.kind == Step::Kind::Predicated)
        reads.push_back(step.dst);
      for (uint32_t t : reads) {
        if (t == kNone || !isMade[t])
          wrong("reads tile ", t, " before it is made");
        else if (group->tiles[t].level > step.level)
          wrong("reads tile ", t, " of level ", group->tiles[t].level, " at level ", step.level);
      }
      for (uint32_t t : {step.dst, step.sum})
        if (t != kNone)
          isMade[t] = true;
      if (step.kind == Step::Kind::Store)
        stores.insert(step.node);
      checkFold(step);
    }
    for (NodeId id : group->nodes)
      if (plan.graph[id].isEffect() && stores.count(id) != 1)
        wrong("stores node ", id, " ", stores.count(id), " times");
    // What a tile holds of a looped dim is one piece of it; of a cut row it may be all.
    for (const Tile &tile : group->tiles)
      for (size_t l = 0; l < group->loops.size(); ++l)
        if (has(tile.dims, group->loops[l]) && tile.level <= l &&
            tile.memory == isa::Memory::Sbuf && tile.place == kNone && !isAllOf(tile, l))
          wrong("keeps a piece of dim ", group->loops[l], " outside of its loop");
  }

  void checkFold(const Step &step) {
    uint32_t folded = step.kind == Step::Kind::Reduce ? step.dims : 0;
    if (step.sum != kNone && step.dst != kNone)
      folded |= group->tiles[step.dst].dims & ~group->tiles[step.sum].dims;
    if (group->partition != kNone && has(folded, group->partition))
      wrong("folds the dim on partitions");
    if (step.kind == Step::Kind::Reduce && step.dst != kNone &&
        (group->tiles[step.dst].dims & step.dims))
      wrong("folds dims ", step.dims, " that the result has");
    bool isPiece = false; // of what is folded
    for (unsigned d : group->loops)
      isPiece |= has(folded, d);
    if (isPiece != step.isPartial || (step.isPartial && (!group->isChunked || step.part == kNone)))
      wrong("folds a dim that is cut as if it were whole, or the other way");
  }

  //---- slots ------------------------------------------------------------//

  /// All pieces of the dim that loop `l` cuts.
  bool isAllOf(const Tile &tile, size_t l) const {
    return tile.isWhole && group->isChunked && l + 1 == group->loops.size();
  }

  int64_t bytesOf(const Tile &tile) const {
    int64_t bytes = isa::bytesOf(tile.dtype);
    for (size_t d = 0; d < rank(); ++d)
      if (has(tile.dims, d) && d != group->partition)
        bytes *= tile.isWhole && d == group->loops.back() ? group->extents[d] : group->tile[d];
    return bytes;
  }

  void checkSlots() {
    struct Life {
      size_t first = SIZE_MAX, last = 0;
    };
    std::vector<Life> lives(group->tiles.size());
    for (size_t s = 0; s < group->steps.size(); ++s) {
      const Step &step = group->steps[s];
      std::vector<uint32_t> touched = readsOf(step);
      for (uint32_t t : {step.dst, step.sum, step.part})
        if (t != kNone)
          touched.push_back(t);
      for (uint32_t t : touched)
        lives[t] = {std::min(lives[t].first, s), std::max(lives[t].last, s)};
    }
    // By level and slot, in order of their lives.
    std::vector<uint32_t> order;
    for (uint32_t t = 0; t < lives.size(); ++t)
      if (lives[t].first != SIZE_MAX && group->tiles[t].memory == isa::Memory::Sbuf &&
          group->tiles[t].place == kNone)
        order.push_back(t);
    std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
      const Tile &x = group->tiles[a], &y = group->tiles[b];
      return std::tuple(x.level, x.slot, lives[a].first) <
             std::tuple(y.level, y.slot, lives[b].first);
    });
    for (size_t i = 0; i < order.size(); ++i) {
      const uint32_t t = order[i];
      const Tile &tile = group->tiles[t];
      const auto &slots = group->slotBytes[tile.level];
      if (tile.slot >= slots.size() || slots[tile.slot] < bytesOf(tile) ||
          slots[tile.slot] % kMachine.sbufAllocAlign != 0) {
        wrong("has no slot for the ", bytesOf(tile), " bytes of tile ", t);
        continue;
      }
      if (i == 0)
        continue;
      const uint32_t other = order[i - 1];
      if (group->tiles[other].level != tile.level || group->tiles[other].slot != tile.slot)
        continue;
      const bool isTaken = tile.inPlaceOf == other && lives[other].last == lives[t].first;
      if (tile.level != group->loops.size() || (lives[other].last >= lives[t].first && !isTaken))
        wrong("has tiles ", other, " and ", t, " in one slot at one time");
    }
  }

  //---- places in memory -------------------------------------------------//

  /// Elements that a load or store touches over all iterations, and the last of them.
  void checkPlaces() {
    for (const Step &step : group->steps) {
      const bool isStore = step.kind == Step::Kind::Store;
      if (!isStore && step.kind != Step::Kind::Load)
        continue;
      const auto place =
          std::find_if(group->footprints.begin(), group->footprints.end(),
                       [&](const Footprint &footprint) { return footprint.node == step.node; });
      if (place == group->footprints.end() || place->stride.size() != rank()) {
        wrong("does not know where node ", step.node, " lies");
        continue;
      }
      const Node &node = plan.graph[step.node];
      const bool isOnChip = plan.graph.buffers[node.view.buffer].memory != isa::Memory::Hbm;
      int64_t touched = 1, elements = 1, reach = 0, farthest = 0;
      for (size_t d = 0; d < rank(); ++d) {
        const bool isCut = group->ragged != 0 && d == group->partition;
        if (isCut && place->stride[d] != 0) {
          touched *= group->ragged;
          reach += place->stride[d + 1] * (group->ragged - 1);
          if (place->stride[d] != place->stride[d + 1] * group->extents[d + 1])
            wrong("cuts rows of node ", step.node, " that do not follow each other");
          ++d; // the rows' elements
        } else if (place->stride[d] == kPartitionStep) {
          touched *= group->extents[d];
        } else if (place->stride[d] != 0) {
          touched *= group->extents[d];
          reach += place->stride[d] * (group->extents[d] - 1);
        }
      }
      for (size_t i = 0; i < node.shape.size(); ++i)
        if (node.shape[i] != 1 && node.view.stride[i] != 0) {
          elements *= node.shape[i];
          farthest += i == 0 && isOnChip ? 0 : node.view.stride[i] * (node.shape[i] - 1);
        }
      if (touched != elements || reach != farthest)
        wrong(isStore ? "stores " : "loads ", touched, " elements up to ", reach, " for the ",
              elements, " up to ", farthest, " of node ", step.node);
    }
  }

  //---- contractions -----------------------------------------------------//

  /// Returns the bytes of a partition that operands take.
  int64_t checkContraction() {
    const ContractionPlan &loops = group->contraction;
    if (rank() < 2 || group->partition == kNone || group->partition + 2 < rank()) {
      wrong("has the partitions of its matmuls on no dim of a matrix");
      return 0;
    }
    const size_t p = group->partition, m = p + 1 == rank() ? p - 1 : p + 1;
    if (loops.stationaryIsN != (p + 1 == rank()))
      wrong("has the other side of its matmuls on partitions");
    if (group->tile[p] > kMachine.matmulMaxStationaryFree ||
        group->tile[m] > kMachine.matmulMaxMovingFree ||
        group->tile[m] * isa::bytesOf(isa::DType::Float32) > kMachine.psumBankBytesPerPartition)
      wrong("has results of ", group->tile[p], "x", group->tile[m]);
    if (loops.stationaryBlock < 1 || loops.stationaryBlock > group->extents[p] ||
        loops.movingBlock < 1 || loops.movingBlock > group->extents[m] || loops.pieceChunks < 1 ||
        loops.outerSlots < 1 || loops.innerSlots < 1) {
      wrong("has blocks of ", loops.stationaryBlock, "x", loops.movingBlock);
      return 0;
    }
    const int64_t cells = loops.isSpannedOutside ? up(loops.stationaryBlock, group->tile[p]) *
                                                       up(loops.movingBlock, group->tile[m])
                                                 : 1;
    if (cells * int64_t(loops.products.size()) > kMachine.psumBanks)
      wrong("adds up ", cells * int64_t(loops.products.size()), " results at a time");
    int64_t matmuls = 0;
    for (NodeId id : group->nodes)
      matmuls += plan.graph[id].op == Op::Matmul;
    if (matmuls != int64_t(loops.products.size()))
      wrong("computes ", loops.products.size(), " of ", matmuls, " matmuls");
    std::vector<int64_t> depths[2]; // of stationary and moving operands
    depths[0].assign(loops.stationary.size(), 0);
    depths[1].assign(loops.moving.size(), 0);
    for (const Product &product : loops.products) {
      if (product.tile >= group->tiles.size() || product.stationary >= depths[0].size() ||
          product.moving >= depths[1].size()) {
        wrong("has a product of operands it does not have");
        return 0;
      }
      if (group->tiles[product.tile].memory != isa::Memory::Psum)
        wrong("adds up a product outside of PSUM");
      depths[0][product.stationary] = depths[1][product.moving] = product.contraction;
    }
    int64_t bytes = 0;
    for (const int which : {0, 1}) {
      const bool isStationary = which == 0;
      const bool isOuter = loops.isSpannedOutside || isStationary == loops.outerIsStationary;
      const int64_t slots = isOuter ? loops.outerSlots : loops.innerSlots;
      const int64_t block = isStationary ? loops.stationaryBlock : loops.movingBlock;
      const int64_t extent = group->extents[isStationary ? p : m];
      const auto &sides = isStationary ? loops.stationary : loops.moving;
      for (size_t i = 0; i < sides.size(); ++i) {
        const int64_t pieces =
            up(up(depths[which][i], kMachine.matmulMaxContraction), loops.pieceChunks);
        if (!loops.isSpannedOutside && slots < pieces)
          wrong("keeps ", slots, " of ", pieces, " pieces of an operand it needs at once");
        bytes +=
            slots *
            up(loops.pieceChunks * block * isa::bytesOf(sides[i].dtype), kMachine.sbufMinAlign) *
            kMachine.sbufMinAlign;
        checkSide(sides[i], depths[which][i], extent);
        if (const uint32_t producer = sides[i].producer; producer != kNone) {
          if (producer >= at || !plan.groups[producer].isInlined)
            wrong("computes an operand by group ", producer);
          else
            bytes += plan.groups[producer].sbufBytes;
        }
      }
    }
    return bytes;
  }

  /// An operand is all of its load.
  void checkSide(const Side &side, int64_t depth, int64_t extent) {
    if (side.load >= groupOf.size() || groupOf[side.load] != at ||
        plan.graph[side.load].op != Op::Load || side.batchStride.size() + 2 != rank())
      return wrong("has an operand that nothing loads");
    const Node &node = plan.graph[side.load];
    int64_t farthest = 0;
    for (size_t i = 0; i < node.shape.size(); ++i)
      if (node.shape[i] != 1)
        farthest += node.view.stride[i] * (node.shape[i] - 1);
    int64_t reach = side.contractionStride * (depth - 1) + side.sideStride * (extent - 1);
    for (size_t d = 0; d < side.batchStride.size(); ++d)
      reach += side.batchStride[d] * (group->extents[d] - 1);
    if (reach != farthest)
      wrong("reads an operand up to element ", reach, " of ", farthest);
  }

  const Plan &plan;
  std::vector<uint32_t> groupOf;
  std::vector<std::string> problems;
  uint32_t at = kNone; ///< the group being checked
  const Group *group = nullptr;
};

} // namespace

std::vector<std::string> verify(const Plan &plan) { return Checker(plan).run(); }

} // namespace kiln::plan
