//===- Rows.cpp - layout and tiles of maps and row reductions ---------------------------------===//
//
// The partition dim is chosen by what engines and transfers would take, over all dims that no
// reduction folds, and over the one dim there is cut into rows. Free dims grow from the inside out
// until a tile is large enough for long transfers, or memory is full. Rows that do not fit are cut,
// and each reduction becomes a pass over the pieces.
//
//===------------------------------------------------------------------------------------------===//

#include "Rows.h"

#include <algorithm>
#include <cmath>

namespace kiln::plan {

using tile::Graph;
using tile::Node;
using tile::Op;
using tile::Shape;

namespace {

constexpr int64_t kPartitions = isa::machine.numPartitions;
/// Bytes of a partition from which on larger tiles gain nothing: transfers are at full rate.
constexpr int64_t kTileBytes = 8 * isa::machine.dmaLongRowBytes;
/// Frames of the innermost loop: load, compute, store, and one to spare.
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
    // A descriptor costs what some 128 bytes cost; sixteen engines, a byte lane each.
    cost += (size(dims) * bytes + pieces * 128) / 400;
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
void choosePartition(const Graph &graph, Group &group, Space &space, const tile::Hint &hint) {
  // Tiles of the kernel say it.
  for (const Footprint &footprint : group.footprints)
    for (unsigned d = 0; d < group.extents.size(); ++d)
      if (footprint.stride[d] == kPartitionStep) {
        group.partition = d;
        return;
      }
  const uint32_t reduced = allReduced(space);
  double best = costOf(graph, group, space, kNone);
  group.partition = kNone;
  (void)hint;
  for (unsigned d = 0; d < group.extents.size(); ++d) {
    if (reduced >> d & 1)
      continue;
    const double cost = costOf(graph, group, space, d);
    if (cost < best || (group.partition == kNone && group.extents.size() > isa::kMaxFreeDims)) {
      best = cost;
      group.partition = d;
    }
  }
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

/// Copies of each level's frame, as many as fit.
void chooseCopies(Group &group, int64_t limit) {
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
    const int64_t most = l == inner ? std::min(kFrames, iterations) : 2;
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

} // namespace

bool planRows(Graph &graph, Group &group, const tile::Hint &hint, int64_t sbufBytes) {
  Space space = makeSpace(graph, group);
  choosePartition(graph, group, space, hint);
  const uint32_t reduced = allReduced(space);
  group.tile.assign(group.extents.size(), 1);
  if (group.partition != kNone) {
    int64_t rows = std::min(group.extents[group.partition], kPartitions);
    if (group.ragged)
      rows = std::min(rows, group.ragged / group.extents[group.partition + 1]);
    group.tile[group.partition] = std::max<int64_t>(rows, 1);
  }
  for (unsigned d = 0; d < group.extents.size(); ++d)
    if (reduced >> d & 1)
      group.tile[d] = group.extents[d];
  group.isChunked = false;
  selectSteps(graph, space, group);
  Fitter fitter{graph, group, space, sbufBytes, group.steps, group.tiles};
  if (fitter.fits()) {
    fitter.grow(reduced);
    chooseCopies(group, sbufBytes);
    return true;
  }
  // Rows are too long: cut the outermost reduced dim. All reductions must fold the same dims.
  unsigned chunked = kNone;
  for (size_t i = 0; i < group.nodes.size(); ++i)
    if (space.reduced[i] != 0 && space.reduced[i] != reduced)
      return false;
  for (unsigned d = 0; d < group.extents.size() && chunked == kNone; ++d)
    if (reduced >> d & 1)
      chunked = d;
  if (chunked == kNone)
    return false;
  group.isChunked = true;
  selectSteps(graph, space, group);
  fitter.steps = group.steps;
  fitter.tiles = group.tiles;
  int64_t low = 0, high = group.extents[chunked];
  while (low + 1 < high) {
    const int64_t middle = (low + high) / 2;
    group.tile[chunked] = middle;
    // Half the memory: pieces come while others are worked on.
    (2 * frameBytes(group, fitter.steps, fitter.tiles, chunked) <= sbufBytes ? low : high) = middle;
  }
  if (low == 0)
    return false;
  group.tile[chunked] = low;
  frameBytes(group, fitter.steps, fitter.tiles, chunked);
  chooseCopies(group, sbufBytes);
  int64_t chunk = low;
  for (unsigned d = chunked + 1; d < group.extents.size(); ++d)
    if (reduced >> d & 1)
      chunk *= group.extents[d];
  for (NodeId id : group.nodes)
    if (graph[id].op == Op::Reduce)
      graph[id].order = {tile::Order::Kind::Chunks, chunk, true};
  return true;
}

bool planProducer(const Graph &graph, Group &group, NodeId store, int64_t sbufBytes) {
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
  chooseCopies(group, sbufBytes);
  return true;
}

} // namespace kiln::plan
