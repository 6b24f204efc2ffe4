//===- Rows.cpp - layout and tiles of maps and row reductions ---------------------------------===//
//
// The partition dim is chosen by what engines and transfers would take, over all dims that no
// reduction folds, and over the one dim there is cut into rows. Free dims grow from the inside out
// until a tile is large enough for long transfers, or memory is full. Rows that do not fit are cut,
// and each reduction becomes a pass over the pieces.
//
//===------------------------------------------------------------------------------------------===//

#include "Rows.h"

#include "kiln/ISA/Text.h"

#include <algorithm>
#include <cmath>

namespace kiln::plan {

using tile::Graph;
using tile::Node;
using tile::Op;
using tile::Shape;

namespace {

/// A descriptor of a transfer takes as long as this many bytes: 4.7 ns at 27.2 bytes a nanosecond
/// (public trn2 profiles).
constexpr double kDescriptorBytes = 128;
/// Bytes that all transfers together move while an engine lane passes one element: some 400 bytes a
/// nanosecond, some 1 GHz (the same profiles).
constexpr double kBytesPerElement = 400;
constexpr int64_t kPartitions = isa::machine.numPartitions;
/// Bytes of a partition from which on larger tiles gain nothing: transfers are at full rate.
constexpr int64_t kTileBytes = 8 * isa::machine.dmaLongRowBytes;
/// Frames of the innermost loop: load, compute, store, and one to spare.
constexpr int64_t kShortPiece =
    256; ///< elements; shorter pieces of rows are not worth keeping rows
constexpr int64_t kFrames = 4;

uint32_t allReduced(const Space &space) {
  uint32_t dims = 0;
  for (uint32_t r : space.reduced)
    dims |= r;
  return dims;
}

//---- which dim lies on partitions ---------------------------------------===//

/// Time of a layout, in elements an engine lane would pass. Only comparisons matter.
double costOf(const Graph &graph, const Group &group, const Space &space, unsigned partition) {
  double cost = 0;
  const auto size = [&](uint32_t dims) {
    double n = 1;
    for (size_t d = 0; d < group.extents.size(); ++d)
      if (dims >> d & 1)
        n *= double(group.extents[d]);
    return n;
  };
  for (size_t i = 0; i < group.nodes.size(); ++i) {
    const Node &node = graph[group.nodes[i]];
    if (node.op == Op::Splat || node.op == Op::Load || node.op == Op::Store)
      continue;
    uint32_t dims = space.dims[i] | space.reduced[i];
    const bool isSpread = partition != kNone && (dims >> partition & 1);
    const double rows = isSpread ? double(group.extents[partition]) : 1;
    // Tiles of partitions, each as long as its rows.
    cost += std::max(1.0, std::ceil(rows / kPartitions)) * size(dims) / std::max(rows, 1.0);
  }
  for (const Footprint &footprint : group.footprints) {
    uint32_t dims = 0;
    int64_t run = 1;
    for (size_t d = 0; d < group.extents.size(); ++d)
      if (footprint.stride[d] != 0)
        dims |= 1u << d;
    for (size_t d = group.extents.size(); d-- > 0;) {
      if (!(dims >> d & 1))
        continue;
      if (d == partition || footprint.stride[d] != run)
        break;
      run *= group.extents[d];
    }
    const double bytes = isa::bytesOf(graph[footprint.node].dtype);
    // A load whose partitions lie side by side is transposed on the way, at nearly full rate.
    const unsigned last = dims ? 31 - unsigned(__builtin_clz(dims)) : 0;
    if (graph[footprint.node].op == Op::Load && partition != kNone && bytes > 1 &&
        footprint.stride[partition] == 1 && last != partition)
      run = std::max(run, group.extents[last] / 2);
    const double pieces = size(dims) / double(run);
    cost += (size(dims) * bytes + pieces * kDescriptorBytes) / kBytesPerElement;
  }
  return cost;
}

/// The dim `d` as rows of F elements: dim d becomes rows, a new dim behind it the elements.
bool cutDim(const Graph &graph, Group &group, Space &space, unsigned d) {
  for (NodeId id : group.nodes)
    if (graph[id].op == Op::Iota)
      return false;
  const int64_t n = group.extents[d];
  if (group.extents.size() >= isa::kMaxFreeDims || n < 2)
    return false;
  const int64_t length = (n + kPartitions - 1) / kPartitions;
  const int64_t rows = n / length, rest = n - rows * length;
  group.ragged = n;
  group.extents[d] = rows + (rest ? 1 : 0);
  group.extents.insert(group.extents.begin() + d + 1, length);
  const auto widen = [d](uint32_t dims) {
    const uint32_t low = dims & ((2u << d) - 1), high = dims >> (d + 1);
    return low | (high << (d + 2)) | ((dims >> d & 1) << (d + 1));
  };
  for (uint32_t &dims : space.dims)
    dims = widen(dims);
  for (uint32_t &dims : space.reduced)
    dims = widen(dims);
  for (Footprint &footprint : group.footprints) {
    const int64_t stride = footprint.stride[d];
    footprint.stride[d] = stride * length;
    footprint.stride.insert(footprint.stride.begin() + d + 1, stride);
  }
  return true;
}

/// Chooses `partition`, perhaps after cutting a dim.
void choosePartition(const Graph &graph, Group &group, Space &space, const Wish &wish) {
  // Tiles of the kernel say it.
  for (const Footprint &footprint : group.footprints)
    for (unsigned d = 0; d < group.extents.size(); ++d)
      if (footprint.stride[d] == kPartitionStep) {
        group.partition = d;
        return;
      }
  const uint32_t reduced = allReduced(space);
  group.partition = kNone;
  if (wish.hasPartition) {
    group.partition = wish.partition;
    return;
  }
  double best = costOf(graph, group, space, kNone);
  for (unsigned d = 0; d < group.extents.size(); ++d) {
    if ((reduced >> d & 1) || wish.tile[d] > kPartitions)
      continue;
    const double cost = costOf(graph, group, space, d);
    if (cost < best || (group.partition == kNone && group.extents.size() > isa::kMaxFreeDims)) {
      best = cost;
      group.partition = d;
    }
  }
  if (wish.hasTile()) // it names dims as they are
    return;
  Group cutBest;
  Space cutSpace;
  for (unsigned d = 0; d < group.extents.size(); ++d) {
    if (reduced >> d & 1)
      continue;
    Group candidate = group;
    Space wider = space;
    if (!cutDim(graph, candidate, wider, d))
      continue;
    const double cost = costOf(graph, candidate, wider, d);
    if (cost < 0.9 * best) {
      best = cost;
      candidate.partition = d;
      cutBest = candidate;
      cutSpace = wider;
    }
  }
  if (!cutBest.nodes.empty()) {
    group = std::move(cutBest);
    space = std::move(cutSpace);
  }
}

//---- tiles --------------------------------------------------------------===//

/// Sets loops, levels and frames for the tile extents and returns the bytes one frame of every
/// level takes.
int64_t frameBytes(Group &group, const std::vector<Step> &steps, const std::vector<Tile> &tiles,
                   unsigned chunked = kNone) {
  group.steps = steps;
  group.tiles = tiles;
  group.loops.clear();
  for (unsigned d = 0; d < group.extents.size(); ++d)
    if (group.tile[d] < group.extents[d] && d != group.partition)
      group.loops.push_back(d);
  if (group.partition != kNone && group.tile[group.partition] < group.extents[group.partition])
    group.loops.insert(group.loops.begin(), group.partition);
  // What is cut goes innermost: results of rows stay while the pieces pass.
  if (group.isChunked)
    std::stable_partition(group.loops.begin(), group.loops.end(),
                          [&](unsigned d) { return d != chunked; });
  arrange(group);
  int64_t bytes = 0;
  for (const auto &level : group.slotBytes)
    for (int64_t slot : level)
      bytes += slot;
  return bytes;
}

struct Fitter {
  Graph &graph;
  Group &group;
  const Space &space;
  int64_t limit;
  std::vector<Step> steps;
  std::vector<Tile> tiles;

  bool fits() { return frameBytes(group, steps, tiles) <= limit; }

  int64_t largestTile() const {
    int64_t bytes = 0;
    for (const Tile &tile : group.tiles)
      bytes = std::max(bytes, bytesOf(group, tile));
    return bytes;
  }

  /// Grows free dims from the inside out, those of `frozen` excepted.
  void grow(uint32_t frozen) {
    for (size_t d = group.extents.size(); d-- > 0;) {
      if (d == group.partition || (frozen >> d & 1))
        continue;
      const int64_t whole = group.extents[d];
      int64_t low = 1, high = whole; // largest that fits and is not too large
      const auto isGood = [&](int64_t size) {
        group.tile[d] = size;
        return fits() && (size == 1 || largestTile() <= kTileBytes);
      };
      if (isGood(high)) {
        low = high;
      } else {
        while (low + 1 < high) {
          const int64_t middle = (low + high) / 2;
          (isGood(middle) ? low : high) = middle;
        }
        // Pieces of one size, none much shorter than the others.
        const int64_t count = (whole + low - 1) / low;
        low = (whole + count - 1) / count;
      }
      group.tile[d] = low;
      if (low < whole)
        break;
    }
    fits();
  }
};

/// Keeps loaded rows whole: tiles of loads that have both the rows and the dim that is cut.
void setWhole(const Group &group, Fitter &fitter, uint32_t chunkBit) {
  const uint32_t partition = group.partition == kNone ? 0 : 1u << group.partition;
  for (const Step &step : fitter.steps)
    if (step.kind == Step::Kind::Load) {
      Tile &tile = fitter.tiles[step.dst];
      tile.isWhole = (tile.dims & chunkBit) && (tile.dims & partition) == partition;
    }
}

/// Copies of each level's frame, as many as fit; of the innermost one `frames` at most.
void chooseCopies(Group &group, int64_t limit, int64_t frames) {
  const size_t inner = group.loops.size();
  group.copies.assign(inner + 1, 1);
  const auto total = [&] {
    int64_t bytes = 0;
    for (size_t l = 0; l <= inner; ++l)
      for (int64_t slot : group.slotBytes[l])
        bytes += slot * group.copies[l];
    return bytes;
  };
  int64_t iterations = 1;
  for (size_t l = 1; l <= inner; ++l)
    iterations *= trips(group, l - 1);
  for (size_t l = inner; l >= 1; --l) {
    const int64_t most = l == inner ? std::min(frames, iterations) : 2;
    while (group.copies[l] < most) {
      ++group.copies[l];
      if (total() > limit) {
        --group.copies[l];
        break;
      }
    }
  }
  group.sbufBytes = total();
}

//---- hints and limits ---------------------------------------------------===//

/// The wish that no layout of the group could keep.
std::optional<Refusal> refuseLayout(const Graph &graph, const Group &group, const Space &space,
                                    const Wish &wish) {
  const uint32_t reduced = allReduced(space);
  const auto dimOf = [&](unsigned d) { // as the author counts it
    return int64_t(space.kept[d]) - int64_t(space.rank - graph[wish.node].shape.size());
  };
  const auto foldOf = [&](unsigned d) {
    for (size_t i = 0; i < group.nodes.size(); ++i)
      if (space.reduced[i] >> d & 1)
        return group.nodes[i];
    return group.nodes.back();
  };
  const std::string value = valueText(graph, wish.node);
  if (wish.hasPartition && wish.partition != kNone && (reduced >> wish.partition & 1)) {
    const NodeId fold = foldOf(wish.partition);
    std::string others;
    for (unsigned d = 0; d < group.extents.size(); ++d)
      if (!(reduced >> d & 1))
        others += text(others.empty() ? "" : " or ", dimOf(d));
    Refusal out = refuseHint(
        graph, wish.node,
        text("nl::hint asks for dim ", dimOf(wish.partition), " of ", value, " on partitions, but ",
             nameOf(graph, fold), ", in the same group, folds the ", group.extents[wish.partition],
             " elements of that dim, which each partition holds"),
        others.empty() ? "leave partition_dim out"
                       : text("ask for dim ", others, ", or leave partition_dim out"));
    out.notes.push_back({"it is folded here", graph[fold].location});
    return out;
  }
  for (unsigned d = 0; d < group.extents.size(); ++d) {
    if (wish.tile[d] == 0)
      continue;
    if (d == wish.partition && wish.tile[d] > kPartitions)
      return refuseHint(graph, wish.node,
                        text("nl::hint asks for tiles of ", wish.tile[d], " elements of dim ",
                             dimOf(d), " of ", value,
                             ", each on a partition of its own, a tile has ", "at most ",
                             kPartitions, " partitions"),
                        text("ask for ", kPartitions, " or less, or for another partition_dim"));
    if ((reduced >> d & 1) && wish.tile[d] < group.extents[d]) {
      const NodeId fold = foldOf(d);
      Refusal out = refuseHint(
          graph, wish.node,
          text("nl::hint asks for tiles of ", wish.tile[d], " elements of dim ", dimOf(d), " of ",
               value, ", but ", nameOf(graph, fold), ", in the same group, folds all ",
               group.extents[d], " of them at a time"),
          text("ask for ", group.extents[d], ", or 0, which leaves it to the compiler"));
      out.notes.push_back({"they are folded here", graph[fold].location});
      return out;
    }
  }
  if (group.partition == kNone && group.extents.size() > isa::kMaxFreeDims)
    return refuseHint(graph, wish.node,
                      text("nl::hint asks for tiles of ", tupleText(wish.tile), " of ", value,
                           ", which leaves no dim for the partitions: each is larger than ",
                           kPartitions),
                      "0 leaves an extent to the compiler");
  return std::nullopt;
}

int64_t framesOf(const Group &group) {
  int64_t bytes = 0;
  for (const auto &level : group.slotBytes)
    for (int64_t slot : level)
      bytes += slot;
  return bytes;
}

/// A group whose smallest tiles, as they stand, are too large.
Refusal tooLarge(const Graph &graph, Group &group, Fitter &fitter, const Wish &wish,
                 int64_t sbufBytes) {
  const int64_t bytes = framesOf(group);
  const bool hasBuffers = wish.buffers > 1;
  if (wish.node == kNone || (!wish.hasTile() && !hasBuffers)) {
    return refuseSize(graph, group, bytes, sbufBytes);
  }
  std::string help = "ask for smaller tiles";
  if (hasBuffers && bytes <= sbufBytes) {
    help = text("at most ", std::max<int64_t>(1, sbufBytes / std::max<int64_t>(1, bytes)),
                " fit; ask for fewer, or for smaller tiles");
  } else {
    for (size_t d = group.extents.size(); d-- > 0;) {
      if (wish.tile[d] <= 1 || d == group.partition)
        continue;
      int64_t low = 0, high = wish.tile[d];
      while (low + 1 < high) {
        const int64_t middle = (low + high) / 2;
        group.tile[d] = middle;
        (fitter.fits() ? low : high) = middle;
      }
      if (low > 0)
        help = text("at most ", low, " elements in place of ", wish.tile[d], " fit");
      break;
    }
  }
  Refusal out = refuseHint(
      graph, wish.node,
      text("nl::hint asks for ", wish.hasTile() ? "tiles of " + tupleText(wish.tile) : "",
           wish.hasTile() && hasBuffers ? ", " : "",
           hasBuffers ? text(wish.buffers, " buffers") : "", " of ", valueText(graph, wish.node),
           ": ", hasBuffers ? text(wish.buffers, " times ") : "", bytes,
           " bytes of an SBUF partition for the tiles of its group, there are ", sbufBytes),
      help);
  out.mayCut = true;
  return out;
}

} // namespace

std::optional<Refusal> planRows(Graph &graph, Group &group, int64_t sbufBytes) {
  Space space = makeSpace(graph, group);
  Wish wish;
  if (auto refusal = gatherWish(graph, group, space, wish))
    return refusal;
  choosePartition(graph, group, space, wish);
  wish.tile.resize(group.extents.size(), 0); // a cut dim has two
  if (wish.hasLayout())
    if (auto refusal = refuseLayout(graph, group, space, wish))
      return refusal;
  const uint32_t reduced = allReduced(space);
  group.tile.assign(group.extents.size(), 1);
  if (group.partition != kNone) {
    int64_t rows = std::min(group.extents[group.partition], kPartitions);
    if (group.ragged)
      rows = std::min(rows, group.ragged / group.extents[group.partition + 1]);
    group.tile[group.partition] = std::max<int64_t>(rows, 1);
  }
  uint32_t frozen = reduced;
  for (unsigned d = 0; d < group.extents.size(); ++d) {
    if (reduced >> d & 1)
      group.tile[d] = group.extents[d];
    if (wish.tile[d] != 0) {
      group.tile[d] = wish.tile[d];
      frozen |= 1u << d;
    }
  }
  group.isChunked = false;
  selectSteps(graph, space, group);
  // Tiles small enough for as many of them as are asked for.
  const int64_t frames = wish.buffers ? wish.buffers : kFrames;
  const int64_t limit = sbufBytes / std::max<int64_t>(wish.buffers, 1);
  Fitter fitter{graph, group, space, limit, group.steps, group.tiles};
  if (fitter.fits()) {
    fitter.grow(frozen);
    chooseCopies(group, sbufBytes, frames);
    return std::nullopt;
  }
  // Rows are too long: cut the outermost reduced dim. All reductions must fold the same dims.
  unsigned chunked = kNone;
  for (size_t i = 0; i < group.nodes.size(); ++i)
    if (space.reduced[i] != 0 && space.reduced[i] != reduced)
      return tooLarge(graph, group, fitter, wish, sbufBytes);
  for (unsigned d = 0; d < group.extents.size() && chunked == kNone; ++d)
    if (reduced >> d & 1)
      chunked = d;
  if (chunked == kNone || wish.tile[chunked] != 0)
    return tooLarge(graph, group, fitter, wish, sbufBytes);
  group.isChunked = true;
  selectSteps(graph, space, group);
  fitter.steps = group.steps;
  fitter.tiles = group.tiles;
  // Pieces come while others are worked on.
  const int64_t copies = std::max<int64_t>(2, wish.buffers);
  const auto longest = [&] {
    int64_t low = 0, high = group.extents[chunked];
    while (low + 1 < high) {
      const int64_t middle = (low + high) / 2;
      group.tile[chunked] = middle;
      int64_t bytes = frameBytes(group, fitter.steps, fitter.tiles, chunked);
      for (int64_t slot : group.slotBytes.back())
        bytes += (copies - 1) * slot;
      (bytes <= sbufBytes ? low : high) = middle;
    }
    return low;
  };
  // Rows that fit by themselves are loaded once; what is made of them is made again in each pass.
  setWhole(group, fitter, 1u << chunked);
  int64_t low = longest();
  if (low < std::min(kShortPiece, group.extents[chunked] - 1)) {
    for (Tile &tile : fitter.tiles)
      tile.isWhole = false;
    low = longest();
  }
  group.tile[chunked] = std::max<int64_t>(low, 1);
  frameBytes(group, fitter.steps, fitter.tiles, chunked);
  if (low == 0)
    return tooLarge(graph, group, fitter, wish, sbufBytes);
  chooseCopies(group, sbufBytes, frames);
  int64_t chunk = low;
  for (unsigned d = chunked + 1; d < group.extents.size(); ++d)
    if (reduced >> d & 1)
      chunk *= group.extents[d];
  for (NodeId id : group.nodes)
    if (graph[id].op == Op::Reduce)
      graph[id].order = {tile::Order::Kind::Chunks, chunk, true};
  return std::nullopt;
}

bool planProducer(const Graph &graph, Group &group, NodeId store, int64_t sbufBytes) {
  // It was planned as a group of its own before.
  group.ragged = 0;
  group.isChunked = false;
  group.stages = 1;
  const Space space = makeSpace(graph, group);
  if (group.extents.size() != 2 || (allReduced(space) & 1))
    return false;
  for (const Footprint &footprint : group.footprints)
    if (footprint.node == store &&
        footprint.stride != std::vector<int64_t>{group.extents[1], int64_t{1}})
      return false;
  group.partition = 0;
  group.tile = {std::min(group.extents[0], kPartitions), group.extents[1]};
  selectSteps(graph, space, group);
  if (frameBytes(group, group.steps, group.tiles) > sbufBytes)
    return false;
  chooseCopies(group, sbufBytes, kFrames);
  return true;
}

} // namespace kiln::plan
