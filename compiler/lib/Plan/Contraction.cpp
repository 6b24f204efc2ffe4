//===- Contraction.cpp - loops and residency of matmuls ---------------------------------------===//
//
// Two ways to spend SBUF. Either a block of one side stays with its whole contraction dim and the
// other side streams past it, once for each block: the fewer blocks, the less traffic. Or, when not
// even one tile of both sides fits with all of K, both stream along K into as many PSUM banks as
// there are: the block is what the banks hold. All choices of both are compared by the bytes they
// move; of equal ones, the one with longer instructions and more in flight wins.
//
//===------------------------------------------------------------------------------------------===//

#include "Contraction.h"

#include "Rows.h"
#include "kiln/ISA/Text.h"

#include <algorithm>

namespace kiln::plan {

using tile::Graph;
using tile::Node;
using tile::Op;

namespace {

constexpr int64_t kHeight = isa::machine.matmulMaxContraction;
constexpr int64_t kStationary = isa::machine.matmulMaxStationaryFree;
constexpr int64_t kMoving = isa::machine.matmulMaxMovingFree;
/// Columns a moving block is a multiple of: whole cells of memory for elements of two bytes.
constexpr int64_t kMovingUnit = 2;
// What choices that move equal bytes are told apart by; only the order of magnitude matters. The
// columns are those of the Tensor Engine's published cost, the rest public trn2 profiles.
constexpr double kLeastColumns = 64;           ///< a matmul takes as long as this many, at least
constexpr double kColumnsBetween = 16;         ///< lost from one matmul to the next
constexpr double kTransferNs = 60;             ///< to trigger one
constexpr double kTransposedBytesPerNs = 1000; ///< lost by turning them, beside what moving costs
constexpr int64_t kPieceBytes = 4 * isa::machine.dmaLongRowBytes;
constexpr int64_t kAlign = isa::machine.sbufMinAlign;

int64_t ceilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }
int64_t aligned(int64_t bytes) { return ceilDiv(bytes, kAlign) * kAlign; }

/// The load behind operand `id`, and the dtype it has in SBUF.
std::pair<NodeId, isa::DType> loadOf(const Graph &graph, NodeId id) {
  const isa::DType dtype = graph[id].dtype;
  if (graph[id].op == Op::Cast)
    id = graph[id].operands[0];
  return {id, dtype};
}

Side sideOf(const Graph &graph, NodeId operand, bool isX, bool isTransposed, size_t rank) {
  Side side;
  std::tie(side.load, side.dtype) = loadOf(graph, operand);
  const Node &load = graph[side.load];
  const size_t own = load.shape.size();
  const auto strideAt = [&](size_t i) { return load.shape[i] == 1 ? 0 : load.view.stride[i]; };
  // x is [M, K], y is [K, N], unless transposed.
  const bool isContractionLast = isX != isTransposed;
  side.contractionStride = strideAt(isContractionLast ? own - 1 : own - 2);
  side.sideStride = strideAt(isContractionLast ? own - 2 : own - 1);
  for (size_t i = 0; i + 2 < rank; ++i) {
    const bool has = i + own >= rank;
    side.batchStride.push_back(has ? strideAt(i + own - rank) : 0);
  }
  return side;
}

bool operator==(const Side &a, const Side &b) {
  return a.load == b.load && a.dtype == b.dtype && a.contractionStride == b.contractionStride &&
         a.sideStride == b.sideStride && a.batchStride == b.batchStride;
}

uint32_t addSide(std::vector<Side> &sides, const Side &side) {
  for (size_t i = 0; i < sides.size(); ++i)
    if (sides[i] == side)
      return uint32_t(i);
  sides.push_back(side);
  return uint32_t(sides.size() - 1);
}

/// Sets sides, products and steps for one choice of the partition dim.
void orient(const Graph &graph, Group &group, bool stationaryIsN, const Producers &producers) {
  ContractionPlan plan;
  plan.stationaryIsN = stationaryIsN;
  const Space space = makeSpace(graph, group);
  const unsigned rank = unsigned(group.extents.size());
  group.partition = stationaryIsN ? rank - 1 : rank - 2;
  selectSteps(graph, space, group);
  for (NodeId id : group.nodes) {
    const Node &node = graph[id];
    if (node.op != Op::Matmul)
      continue;
    Side x = sideOf(graph, node.operands[0], true, node.transposeX, rank);
    Side y = sideOf(graph, node.operands[1], false, node.transposeY, rank);
    for (auto [load, producer] : producers.ofLoad)
      for (Side *side : {&x, &y})
        if (side->load == load)
          side->producer = producer;
    Product product;
    for (uint32_t t = 0; t < group.tiles.size(); ++t)
      if (group.tiles[t].memory == isa::Memory::Psum && group.tiles[t].node == id)
        product.tile = t;
    product.stationary = addSide(plan.stationary, stationaryIsN ? y : x);
    product.moving = addSide(plan.moving, stationaryIsN ? x : y);
    const auto &shape = graph[node.operands[0]].shape;
    product.contraction = shape[shape.size() - (node.transposeX ? 2 : 1)];
    plan.products.push_back(product);
  }
  group.contraction = std::move(plan);
}

/// One way to run the loops, and what it costs.
struct Choice {
  ContractionPlan plan;
  int64_t movingTile = 0;
  double traffic = 0;
  double work = 0; ///< of engines, for equal traffic: matmuls and transposing transfers
  bool isBetterThan(const Choice &other) const {
    // A five-hundredth of the traffic is not worth a worse pipeline.
    if (traffic < 0.998 * other.traffic || other.traffic < 0.998 * traffic)
      return traffic < other.traffic;
    if (work != other.work)
      return work < other.work;
    return plan.innerSlots > other.plan.innerSlots;
  }
};

/// Elements of a result tile: of the side on partitions, and of the other.
struct TileSize {
  int64_t stationary = kStationary, moving = kMoving;
  bool isAsked = false; ///< by a hint: blocks hold whole tiles
};

class Search {
public:
  Search(const Group &group, int64_t limit, int64_t banks, int64_t epilogueBytes, TileSize tile)
      : group(group), limit(limit), banks(banks), epilogueBytes(epilogueBytes),
        tileStationary(tile.stationary), tileMoving(tile.moving), isAsked(tile.isAsked) {
    for (const Product &p : group.contraction.products)
      depth = std::max(depth, p.contraction);
    products = int64_t(group.contraction.products.size());
    chunks = ceilDiv(depth, kHeight);
    batches = 1;
    for (size_t i = 0; i + 2 < group.extents.size(); ++i)
      batches *= group.extents[i];
  }

  std::optional<Choice> best;
  int64_t least = INT64_MAX; ///< bytes of a partition that anything takes

  void run() {
    for (const bool outerIsStationary : {true, false})
      staying(outerIsStationary);
    spanned();
  }

private:
  static int64_t bytes(const std::vector<Side> &sides) {
    int64_t sum = 0;
    for (const Side &side : sides)
      sum += isa::bytesOf(side.dtype);
    return sum;
  }
  int64_t extent(bool stationary) const {
    return stationary ? stationaryExtent(group) : movingExtent(group);
  }

  /// Pieces of a block of `block` elements.
  int64_t pieceChunksFor(int64_t block, int64_t element) const {
    return std::clamp<int64_t>(kPieceBytes / std::max<int64_t>(1, block * element), 1, chunks);
  }

  /// Nanoseconds of the Tensor Engine's columns and of issuing transfers, roughly.
  double workOf(const Choice &choice, double transposedBytes) const {
    const ContractionPlan &plan = choice.plan;
    const double stationaryTiles = double(ceilDiv(stationaryExtent(group), tileStationary));
    double columns = 0;
    const int64_t width = movingExtent(group);
    for (int64_t block = 0; block < width; block += plan.movingBlock) {
      const int64_t size = std::min(plan.movingBlock, width - block);
      for (int64_t tile = 0; tile < size; tile += choice.movingTile)
        columns += std::max(double(std::min(choice.movingTile, size - tile)), kLeastColumns) +
                   kColumnsBetween;
    }
    const double pieces = double(ceilDiv(chunks, plan.pieceChunks));
    const double transfers = pieces *
                             double(ceilDiv(stationaryExtent(group), plan.stationaryBlock)) *
                             double(ceilDiv(width, plan.movingBlock));
    const double columnsPerNs = isa::info(isa::Engine::Tensor).clockMHz / 1000.0;
    return double(products) * double(chunks) * stationaryTiles * columns / columnsPerNs +
           kTransferNs * transfers + transposedBytes / kTransposedBytesPerNs;
  }

  double transposedBytes(bool stationary, double times) const {
    double sum = 0;
    const auto &sides = stationary ? group.contraction.stationary : group.contraction.moving;
    for (const Side &side : sides)
      if (side.contractionStride == 1 && side.sideStride != 1)
        sum += double(depth) * double(extent(stationary)) * double(isa::bytesOf(side.dtype));
    return sum * times;
  }

  bool isProduced(bool stationary) const {
    const auto &sides = stationary ? group.contraction.stationary : group.contraction.moving;
    return std::any_of(sides.begin(), sides.end(),
                       [](const Side &side) { return side.producer != kNone; });
  }

  /// Bytes of HBM that loading a side once takes.
  double sideBytes(bool stationary) const {
    double sum = 0;
    for (const Side &side : stationary ? group.contraction.stationary : group.contraction.moving)
      if (side.producer == kNone)
        sum += isa::bytesOf(side.dtype);
    return double(depth) * double(extent(stationary)) * sum * double(batches);
  }

  void consider(Choice choice) {
    if (!best || choice.isBetterThan(*best))
      best = std::move(choice);
  }

  /// A block of the outer side stays, the inner side streams.
  void staying(bool outerIsStationary) {
    const ContractionPlan &base = group.contraction;
    const int64_t outerElement = bytes(outerIsStationary ? base.stationary : base.moving);
    const int64_t innerElement = bytes(outerIsStationary ? base.moving : base.stationary);
    const int64_t outerExtent = extent(outerIsStationary), innerExtent = extent(!outerIsStationary);
    // Blocks hold whole tiles; without a wish, also parts of those that are as wide as a bank. A
    // moving block may have any width, so that equal ones leave the most memory.
    const int64_t innerTile = outerIsStationary ? tileMoving : tileStationary;
    const int64_t unit = outerIsStationary ? tileStationary : isAsked ? tileMoving : kMovingUnit;
    const std::vector<int64_t> innerSizes =
        isAsked ? std::vector<int64_t>{8 * innerTile, 4 * innerTile, 2 * innerTile, innerTile}
                : std::vector<int64_t>{4 * tileMoving, 2 * tileMoving, tileMoving, tileMoving / 2,
                                       tileStationary};
    const bool isInnerProduced = isProduced(!outerIsStationary);
    for (int64_t blocks = 1; blocks <= ceilDiv(outerExtent, unit); ++blocks) {
      const int64_t outerBlock =
          std::min(outerExtent, ceilDiv(ceilDiv(outerExtent, blocks), unit) * unit);
      if (ceilDiv(outerExtent, outerBlock) != blocks)
        continue;
      if (isInnerProduced && blocks > 1)
        break; // computed once, or not here
      for (int64_t innerBlock : innerSizes) {
        if (innerBlock > innerExtent && innerBlock != innerSizes.back() &&
            innerBlock / 2 >= innerExtent)
          continue;
        Choice choice;
        choice.plan = base;
        choice.plan.outerIsStationary = outerIsStationary;
        const int64_t inner = std::min(innerBlock, innerExtent);
        choice.plan.stationaryBlock = outerIsStationary ? outerBlock : inner;
        choice.plan.movingBlock = outerIsStationary ? inner : outerBlock;
        const int64_t wide = std::max(outerBlock * outerElement, inner * innerElement);
        choice.plan.pieceChunks = pieceChunksFor(1, wide);
        const int64_t pieces = ceilDiv(chunks, choice.plan.pieceChunks);
        const int64_t innerPiece = pieceBytes(choice.plan.pieceChunks, inner, !outerIsStationary);
        const int64_t outerPiece =
            pieceBytes(choice.plan.pieceChunks, outerBlock, outerIsStationary);
        const int64_t innerBlocks = ceilDiv(innerExtent, inner);
        int64_t free = limit - epilogueBytes - pieces * outerPiece;
        const int64_t most = pieces * innerBlocks;
        const int64_t slots = std::min(most, free / std::max<int64_t>(innerPiece, 1));
        if (free < 0 || slots < std::min(most, pieces + 1))
          continue;
        choice.plan.innerSlots = slots;
        choice.plan.outerSlots = pieces;
        free -= slots * innerPiece;
        if (blocks > 1 && free >= outerPiece)
          choice.plan.outerSlots += std::min(pieces, free / outerPiece);
        const double innerBytes = sideBytes(!outerIsStationary);
        // At each turn the pieces still in SBUF are met again.
        const double kept = double(slots) / double(most);
        choice.traffic = sideBytes(outerIsStationary) + innerBytes * double(blocks) -
                         innerBytes * double(blocks - 1) * std::min(1.0, kept);
        choice.movingTile = std::min({tileMoving, choice.plan.movingBlock});
        choice.work = workOf(choice, transposedBytes(outerIsStationary, 1) +
                                         transposedBytes(!outerIsStationary, double(blocks)));
        consider(choice);
      }
      if (best && double(blocks) > 64)
        break;
    }
  }

  /// Bytes of a partition of one piece of all operands of a side.
  int64_t pieceBytes(int64_t pieceChunks, int64_t block, bool stationary) const {
    int64_t sum = 0;
    for (const Side &side : stationary ? group.contraction.stationary : group.contraction.moving)
      sum += aligned(pieceChunks * block * isa::bytesOf(side.dtype));
    return sum;
  }

  /// Both sides stream along K into a block of PSUM banks.
  void spanned() {
    const ContractionPlan &base = group.contraction;
    if (isProduced(true) || isProduced(false))
      return;
    for (int64_t rows = 1; rows <= banks; rows *= 2)
      for (int64_t columns = 1; rows * columns * products <= banks; columns *= 2) {
        Choice choice;
        choice.plan = base;
        choice.plan.isSpannedOutside = true;
        choice.plan.stationaryBlock = std::min(rows * tileStationary, stationaryExtent(group));
        choice.plan.movingBlock = std::min(columns * tileMoving, movingExtent(group));
        const int64_t stationaryElement = bytes(base.stationary),
                      movingElement = bytes(base.moving);
        choice.plan.pieceChunks =
            pieceChunksFor(1, std::max(choice.plan.stationaryBlock * stationaryElement,
                                       choice.plan.movingBlock * movingElement));
        const auto pieceOfBoth = [&] {
          return pieceBytes(choice.plan.pieceChunks, choice.plan.stationaryBlock, true) +
                 pieceBytes(choice.plan.pieceChunks, choice.plan.movingBlock, false);
        };
        while (choice.plan.pieceChunks > 1 && pieceOfBoth() > limit - epilogueBytes)
          choice.plan.pieceChunks /= 2;
        const int64_t pieces = pieceOfBoth();
        least = std::min(least, epilogueBytes + pieces);
        const int64_t slots = std::min<int64_t>(4, (limit - epilogueBytes) / pieces);
        if (slots < 1)
          continue;
        choice.plan.outerSlots = choice.plan.innerSlots = slots;
        const double stationaryBlocks =
            double(ceilDiv(stationaryExtent(group), choice.plan.stationaryBlock));
        const double movingBlocks = double(ceilDiv(movingExtent(group), choice.plan.movingBlock));
        choice.traffic = sideBytes(true) * movingBlocks + sideBytes(false) * stationaryBlocks;
        choice.movingTile = std::min(tileMoving, choice.plan.movingBlock);
        choice.work = workOf(choice, transposedBytes(true, movingBlocks) +
                                         transposedBytes(false, stationaryBlocks));
        consider(choice);
      }
  }

  const Group &group;
  const int64_t limit, banks, epilogueBytes;
  const int64_t tileStationary, tileMoving;
  const bool isAsked;
  int64_t depth = 1, chunks = 1, products = 1, batches = 1;
};

/// Frames of the epilogue for tiles of `movingTile` columns: bytes, or nothing.
int64_t arrangeEpilogue(Group &group, TileSize tile, int64_t copies) {
  group.tile.assign(group.extents.size(), 1);
  group.tile[group.partition] = std::min(tile.stationary, stationaryExtent(group));
  group.tile[movingDim(group)] = std::min(tile.moving, movingExtent(group));
  group.loops.clear();
  for (unsigned d = 0; d + 2 < group.extents.size(); ++d)
    group.loops.push_back(d);
  const bool movingFirst = group.contraction.isMovingFirst;
  group.loops.push_back(movingFirst ? movingDim(group) : group.partition);
  group.loops.push_back(movingFirst ? group.partition : movingDim(group));
  for (Tile &tile : group.tiles)
    tile.level = tile.memory == isa::Memory::Psum ? unsigned(group.loops.size()) : 0;
  arrange(group);
  group.copies.assign(group.loops.size() + 1, 1);
  group.copies.back() = copies;
  if (group.loops.size() >= 2)
    group.copies[group.loops.size() - 1] = std::min<int64_t>(2, copies);
  int64_t bytes = 0;
  for (size_t l = 0; l < group.slotBytes.size(); ++l)
    for (int64_t slot : group.slotBytes[l])
      bytes += slot * group.copies[l];
  return bytes;
}

/// Whether some tile that is loaded or made moves with `dim` of the two inner ones, alone.
bool hasTileAlong(const Group &group, unsigned dim, unsigned other) {
  return std::any_of(group.tiles.begin(), group.tiles.end(), [&](const Tile &tile) {
    return (tile.dims >> dim & 1) && !(tile.dims >> other & 1) && tile.memory == isa::Memory::Sbuf;
  });
}

/// The wish that no orientation of the matmuls could keep.
std::optional<Refusal> refuseLayout(const Graph &graph, const Group &group, const Wish &wish) {
  if (wish.node == kNone)
    return std::nullopt;
  const size_t rank = group.extents.size();
  const int64_t skip = int64_t(rank - graph[wish.node].shape.size());
  const std::string value = valueText(graph, wish.node);
  const unsigned rows = unsigned(rank) - 2, columns = unsigned(rank) - 1;
  if (wish.hasPartition && wish.partition != kNone && wish.partition < rows)
    return refuseHint(graph, wish.node,
                      text("nl::hint asks for dim ", int64_t(wish.partition) - skip, " of ", value,
                           " on partitions, but the matmul of its group has one of its last two "
                           "dims there"),
                      text("ask for dim ", int64_t(rows) - skip, " or ", int64_t(columns) - skip,
                           ", or leave partition_dim out"));
  for (unsigned d = 0; d < rows; ++d)
    if (wish.tile[d] > 1)
      return refuseHint(graph, wish.node,
                        text("nl::hint asks for tiles of ", wish.tile[d], " elements of dim ",
                             int64_t(d) - skip, " of ", value,
                             ", but one matmul writes one matrix of the batch"),
                        "ask for 1, or 0, which leaves it to the compiler");
  const auto fits = [&](unsigned p) {
    const unsigned other = p == rows ? columns : rows;
    return wish.tile[p] <= kStationary && wish.tile[other] <= kMoving &&
           (!wish.hasPartition || wish.partition == p || wish.partition == kNone);
  };
  if (!fits(rows) && !fits(columns))
    return refuseHint(graph, wish.node,
                      text("nl::hint asks for tiles of ", tupleText(wish.tile), " of ", value,
                           ", a matmul writes at most ", kStationary,
                           " elements of the dim on partitions",
                           wish.hasPartition && wish.partition != kNone
                               ? text(", dim ", int64_t(wish.partition) - skip, ",")
                               : std::string(),
                           " and ", kMoving, " of the other"),
                      "ask for smaller tiles, or 0, which leaves an extent to the compiler");
  return std::nullopt;
}

/// Whether the wish allows the result's partitions to be dim `p`, the other one being `m`.
bool allows(const Group &group, const Wish &wish, unsigned p, unsigned m) {
  if (wish.tile[p] > kStationary || wish.tile[m] > kMoving)
    return false;
  if (!wish.hasPartition)
    return true;
  return wish.partition == kNone ? group.extents[p] == 1 || group.extents[m] != 1
                                 : wish.partition == p;
}

} // namespace

std::optional<Refusal> planContraction(const Graph &graph, Group &group, int64_t sbufBytes,
                                       int64_t psumBanks, const Producers &producers,
                                       double &traffic) {
  sbufBytes -= producers.sbufBytes;
  Wish wish;
  {
    Group probe = group;
    const Space space = makeSpace(graph, probe);
    if (auto refusal = gatherWish(graph, probe, space, wish))
      return refusal;
    if (auto refusal = refuseLayout(graph, probe, wish))
      return refusal;
  }
  std::optional<Choice> best;
  Group chosen;
  int64_t least = INT64_MAX;
  for (const bool stationaryIsN : {false, true}) {
    Group candidate = group;
    orient(graph, candidate, stationaryIsN, producers);
    // A tile of the kernel that takes the result has its rows on partitions.
    if (std::any_of(candidate.footprints.begin(), candidate.footprints.end(),
                    [&](const Footprint &f) {
                      return std::find(f.stride.begin(), f.stride.end(), kPartitionStep) !=
                                 f.stride.end() &&
                             f.stride[candidate.partition] != kPartitionStep;
                    }))
      continue;
    const unsigned p = candidate.partition, m = movingDim(candidate);
    if (!allows(candidate, wish, p, m))
      continue;
    const TileSize tile{wish.tile[p] ? wish.tile[p] : kStationary,
                        wish.tile[m] ? wish.tile[m] : kMoving, wish.hasTile()};
    // Rows that every partition holds are long; loading one for each tile would cost most.
    candidate.contraction.isMovingFirst = hasTileAlong(candidate, m, p);
    for (int64_t copies : {3, 2, 1}) {
      if (wish.buffers) {
        if (copies != 1)
          continue;
        copies = wish.buffers;
      }
      Group trial = candidate;
      const int64_t epilogue = arrangeEpilogue(trial, tile, copies);
      if (epilogue > sbufBytes / 2 && copies > 1 && !wish.buffers)
        continue;
      Search search(trial, sbufBytes, psumBanks, epilogue, tile);
      search.run();
      least = std::min(least, search.least);
      if (!search.best)
        continue;
      // A row that every partition holds is loaded for each block.
      if (!best || search.best->isBetterThan(*best)) {
        best = search.best;
        chosen = trial;
        chosen.contraction = best->plan;
        arrangeEpilogue(chosen, {tile.stationary, best->movingTile, tile.isAsked}, copies);
        chosen.sbufBytes = epilogue;
      }
    }
  }
  if (!best && wish.node != kNone && (wish.buffers > 1 || wish.hasTile())) {
    Refusal out = refuseHint(
        graph, wish.node,
        text("nl::hint asks for ", wish.buffers > 1 ? text(wish.buffers, " buffers") : "tiles",
             " of ", valueText(graph, wish.node), ": with the operands of its matmul they take ",
             least, " bytes of an SBUF partition at least, there are ", sbufBytes),
        wish.buffers > 1 ? "ask for fewer buffers" : "ask for smaller tiles");
    out.mayCut = true;
    return out;
  }
  if (!best)
    return refuseSize(graph, group, least, sbufBytes);
  group = std::move(chosen);
  traffic = best->traffic;
  const ContractionPlan &plan = group.contraction;
  int64_t bytes = 0;
  for (size_t l = 0; l < group.slotBytes.size(); ++l)
    for (int64_t slot : group.slotBytes[l])
      bytes += slot * group.copies[l];
  for (const bool stationary : {true, false}) {
    const bool isOuter = plan.isSpannedOutside || stationary == plan.outerIsStationary;
    for (const Side &side : stationary ? plan.stationary : plan.moving)
      bytes += (isOuter ? plan.outerSlots : plan.innerSlots) *
               aligned(plan.pieceChunks * (stationary ? plan.stationaryBlock : plan.movingBlock) *
                       isa::bytesOf(side.dtype));
  }
  group.sbufBytes = bytes;
  group.psumBanks = psumBanks;
  return std::nullopt;
}

} // namespace kiln::plan
