//===- Traffic.cpp - bytes a plan moves from and to HBM
//-----------------------------------------===//
//
// Follows the loops as the emitter does, without their instructions: tiles by their sizes and how
// often each size occurs, operands of matmuls by the pieces that are in SBUF when a block begins.
//
//===------------------------------------------------------------------------------------------===//

#include "kiln/Plan/Pieces.h"
#include "kiln/Plan/Plan.h"

#include <algorithm>

namespace kiln::plan {

using tile::Node;

namespace {

int64_t ceilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

/// A size of tiles along a dim, and how many there are.
struct Sizes {
  int64_t size = 0, count = 0;
};

std::vector<Sizes> sizesOf(int64_t extent, int64_t tile) {
  std::vector<Sizes> out{{tile, extent / tile}};
  if (extent % tile != 0)
    out.push_back({extent % tile, 1});
  return out;
}

class Counter {
public:
  Counter(const Plan &plan, Group &group) : plan(plan), group(group) {}

  void run() {
    group.transfers.clear();
    if (group.skeleton == Skeleton::Copy) {
      for (NodeId id : group.nodes)
        add(id, plan.graph[id].elements());
    } else {
      setSizes();
      for (const Step &step : group.steps)
        if (step.kind == Step::Kind::Load || (step.kind == Step::Kind::Store && !group.isInlined))
          countStep(step);
      if (group.skeleton == Skeleton::Contraction)
        countOperands();
    }
    group.readBytes = group.writtenBytes = 0;
    for (const Transfer &transfer : group.transfers)
      (plan.graph[transfer.node].isEffect() ? group.writtenBytes : group.readBytes) +=
          transfer.bytes;
  }

private:
  bool isInHbm(NodeId id) const {
    return plan.graph.buffers[plan.graph[id].view.buffer].memory == isa::Memory::Hbm;
  }

  /// `node` moves so many elements more.
  void add(NodeId node, int64_t elements) {
    if (!isInHbm(node))
      return;
    const auto known = std::find_if(group.transfers.begin(), group.transfers.end(),
                                    [&](const Transfer &t) { return t.node == node; });
    Transfer &transfer = known == group.transfers.end() ? group.transfers.emplace_back() : *known;
    transfer.node = node;
    transfer.bytes +=
        elements * isa::bytesOf(plan.graph.buffers[plan.graph[node].view.buffer].dtype);
  }

  //---- tiles ------------------------------------------------------------//

  unsigned movingDim() const {
    const unsigned last = unsigned(group.extents.size()) - 1;
    return group.partition == last ? last - 1 : last;
  }

  void setSizes() {
    for (size_t d = 0; d < group.extents.size(); ++d)
      sizes.push_back(sizesOf(group.extents[d], group.tile[d]));
    if (group.skeleton != Skeleton::Contraction)
      return;
    // Tiles end where blocks do.
    const ContractionPlan &loops = group.contraction;
    for (const bool isStationary : {true, false}) {
      const unsigned d = isStationary ? group.partition : movingDim();
      sizes[d].clear();
      for (const Sizes &block :
           sizesOf(group.extents[d], isStationary ? loops.stationaryBlock : loops.movingBlock)) {
        blocks[isStationary ? 0 : 1] += block.count;
        for (const Sizes &tile : sizesOf(block.size, std::min(block.size, group.tile[d])))
          sizes[d].push_back({tile.size, tile.count * block.count});
      }
    }
  }

  void countStep(const Step &step) {
    const bool isLoad = step.kind == Step::Kind::Load;
    const Tile &tile = group.tiles[isLoad ? step.dst : step.x.tile];
    // How often one place is met: iterations of loops that do not move it.
    int64_t times = 1;
    for (size_t l = 0; l < group.loops.size(); ++l) {
      const unsigned d = group.loops[l];
      if (tile.dims >> d & 1)
        continue;
      int64_t trips = 0;
      for (const Sizes &each : sizes[d])
        trips += each.count;
      if (l < step.level)
        times *= trips;
      else if (group.skeleton == Skeleton::Contraction && l + 1 == group.loops.size() &&
               step.level + 1 == group.loops.size())
        times *= blocks[d == group.partition ? 0 : 1]; // rows of tiles begin in every block
    }
    const bool isSpread = group.partition != kNone && (tile.dims >> group.partition & 1);
    const int64_t rows =
        isLoad && group.partition != kNone && !isSpread ? group.tile[group.partition] : 1;
    add(step.node, times * elements(tile, 0, 1, rows));
  }

  /// Elements moved for all tiles like `tile`, from dim `d` on, `size` in a tile so far. `rows`
  /// partitions hold each.
  int64_t elements(const Tile &tile, size_t d, int64_t size, int64_t rows) const {
    if (d == group.extents.size()) {
      const bool isShort = size * isa::bytesOf(tile.dtype) <= kRepeatedRowBytes;
      return size * (isShort ? rows : 1);
    }
    if (!(tile.dims >> d & 1))
      return elements(tile, d + 1, size, rows);
    if (group.ragged != 0 && d == group.partition) // and the dim behind, which are one
      return group.ragged * elements(tile, d + 2, size, rows);
    if (d == group.partition) // never repeated
      return group.extents[d] * elements(tile, d + 1, size, rows);
    int64_t sum = 0;
    for (const Sizes &each : sizes[d])
      sum += each.count * elements(tile, d + 1, size * each.size, rows);
    return sum;
  }

  //---- operands of matmuls ----------------------------------------------//

  struct Operand {
    const Side *side = nullptr;
    int64_t depth = 1, block = 1, extent = 1;
    PieceSlots slots{0};
    int64_t offset = 0, loaded = 0;
  };

  void countOperands() {
    const ContractionPlan &loops = group.contraction;
    std::vector<Operand> operands[2];
    int64_t pieces = 1;
    for (const bool isStationary : {true, false}) {
      const bool isOuter = loops.isSpannedOutside || isStationary == loops.outerIsStationary;
      const auto &sides = isStationary ? loops.stationary : loops.moving;
      for (uint32_t i = 0; i < sides.size(); ++i) {
        Operand operand;
        operand.side = &sides[i];
        for (const Product &product : loops.products)
          if ((isStationary ? product.stationary : product.moving) == i)
            operand.depth = product.contraction;
        operand.block = isStationary ? loops.stationaryBlock : loops.movingBlock;
        operand.extent = group.extents[isStationary ? group.partition : movingDim()];
        operand.slots = PieceSlots(size_t(isOuter ? loops.outerSlots : loops.innerSlots));
        pieces = std::max(pieces, piecesOf(operand));
        operands[isStationary ? 0 : 1].push_back(std::move(operand));
      }
    }
    std::vector<int64_t> index(group.extents.size() - 2, 0);
    for (;;) {
      for (auto &list : operands)
        for (Operand &operand : list)
          startBatch(operand, index);
      countBatch(operands, pieces);
      size_t d = index.size();
      while (d > 0 && ++index[d - 1] == group.extents[d - 1])
        index[--d] = 0;
      if (d == 0)
        break;
    }
    for (const auto &list : operands)
      for (const Operand &operand : list)
        if (operand.side->producer == kNone)
          add(operand.side->load, operand.loaded);
  }

  int64_t piecesOf(const Operand &operand) const {
    return ceilDiv(ceilDiv(operand.depth, isa::machine.matmulMaxContraction),
                   group.contraction.pieceChunks);
  }

  static void startBatch(Operand &operand, const std::vector<int64_t> &index) {
    int64_t offset = 0;
    for (size_t d = 0; d < index.size(); ++d)
      offset += index[d] * operand.side->batchStride[d];
    if (offset == operand.offset)
      return;
    operand.offset = offset;
    operand.slots.clear();
  }

  void countBatch(std::vector<Operand> (&operands)[2], int64_t pieces) const {
    const bool outerIsStationary = group.contraction.outerIsStationary;
    const int64_t outer = blocks[outerIsStationary ? 0 : 1];
    const int64_t inner = blocks[outerIsStationary ? 1 : 0];
    for (int64_t o = 0; o < outer; ++o) {
      for (auto &list : operands)
        for (Operand &operand : list)
          operand.slots.startSweep();
      for (int64_t i = 0; i < inner; ++i) {
        const int64_t turned = o % 2 == 0 ? i : inner - 1 - i;
        for (int64_t piece = 0; piece < pieces; ++piece)
          for (const int which : {0, 1})
            for (Operand &operand : operands[which])
              meet(operand, (which == 0) == outerIsStationary ? o : turned, piece);
      }
    }
  }

  /// Piece `piece` of block `block` is needed.
  void meet(Operand &operand, int64_t block, int64_t piece) const {
    if (piece >= piecesOf(operand))
      return;
    if (!operand.slots.take(block, piece).isHere)
      operand.loaded += pieceElements(operand, block, piece);
  }

  int64_t pieceElements(const Operand &operand, int64_t block, int64_t piece) const {
    constexpr int64_t height = isa::machine.matmulMaxContraction;
    const int64_t columns = std::min(operand.block, operand.extent - block * operand.block);
    const int64_t first = piece * group.contraction.pieceChunks * height;
    const int64_t rows = std::min(group.contraction.pieceChunks * height, operand.depth - first);
    if (operand.side->contractionStride != 0)
      return rows * columns;
    // One row for all partitions, in one transfer of whole chunks and one of the rest.
    int64_t sum = 0;
    const int64_t rest = rows > height ? rows % height : 0;
    for (const int64_t part : {rows - rest, rest}) {
      if (part == 0)
        continue;
      const int64_t partitions = std::min(part, height);
      const int64_t row = ceilDiv(part, height) * columns;
      const bool isShort = row * isa::bytesOf(operand.side->dtype) <= kRepeatedRowBytes;
      sum += row * (isShort ? partitions : 1);
    }
    return sum;
  }

  const Plan &plan;
  Group &group;
  std::vector<std::vector<Sizes>> sizes; ///< by dim
  int64_t blocks[2] = {0, 0};            ///< of the stationary and of the moving side
};

} // namespace

void countTraffic(Plan &plan) {
  plan.readBytes = plan.writtenBytes = 0;
  for (Group &group : plan.groups) {
    Counter(plan, group).run();
    plan.readBytes += group.readBytes;
    plan.writtenBytes += group.writtenBytes;
  }
}

int64_t compulsoryBytes(const tile::Graph &graph, NodeId id) {
  const Node &node = graph[id];
  int64_t bytes = isa::bytesOf(graph.buffers[node.view.buffer].dtype);
  for (size_t i = 0; i < node.shape.size(); ++i)
    if (node.view.stride[i] != 0)
      bytes *= node.shape[i];
  return bytes;
}

} // namespace kiln::plan
