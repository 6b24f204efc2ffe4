//===- MemoryMap.cpp - what lies where when a memory is fullest -------------------------------===//

#include "kiln/Analysis/MemoryMap.h"

#include "MemoryReport.h"

#include <algorithm>

namespace kiln::analysis {
namespace {

std::vector<MappedTile> tilesAt(const Kernel &kernel, std::span<const Lifetime> lifetimes,
                                const Placement *placement, const MemoryMap &map) {
  std::vector<MappedTile> tiles;
  for (uint32_t t = 0; t < kernel.tensors.size(); ++t) {
    const KernelTensor &tensor = kernel.tensors[t];
    if (tensor.memory != map.memory || map.position < lifetimes[t].begin ||
        map.position >= lifetimes[t].end)
      continue;
    MappedTile tile;
    tile.tensor = t;
    tile.partitions = uint32_t(tensor.partitions());
    tile.bytes = occupiedBytes(tensor);
    tile.life = lifetimes[t];
    if (placement || tensor.address) {
      const isa::TensorAddress at = placement ? placement->addresses[t] : *tensor.address;
      tile.partition = at.partition;
      tile.byte = at.byte;
    }
    tiles.push_back(tile);
  }
  std::stable_sort(tiles.begin(), tiles.end(), [](const MappedTile &a, const MappedTile &b) {
    return std::pair(a.byte.value_or(UINT64_MAX), a.partition) <
           std::pair(b.byte.value_or(UINT64_MAX), b.partition);
  });
  return tiles;
}

std::vector<PartitionLoad> loadsOf(const std::vector<MappedTile> &tiles) {
  std::vector<int64_t> bytes(isa::machine.numPartitions);
  for (const MappedTile &tile : tiles)
    for (uint32_t p = 0; p < tile.partitions && tile.partition + p < bytes.size(); ++p)
      bytes[tile.partition + p] += tile.bytes;
  std::vector<PartitionLoad> loads;
  for (uint32_t p = 0; p < bytes.size(); ++p) {
    if (bytes[p] == 0)
      continue;
    if (!loads.empty() && loads.back().last + 1 == p && loads.back().liveBytes == bytes[p])
      loads.back().last = p;
    else
      loads.push_back({p, p, bytes[p]});
  }
  return loads;
}

/// The declaration without which the fullest moment holds least. Tried one by one, largest first:
/// another moment may be as full.
MemorySaving findSaving(const Kernel &kernel, std::span<const Lifetime> lifetimes,
                        const MemoryReport &report) {
  constexpr size_t kTried = 8;
  MemorySaving best;
  for (size_t i = 0; i < report.groups.size() && i < kTried; ++i) {
    const int64_t rest = liveBytesWithout(kernel, lifetimes, report.memory, report.groups[i]);
    if (best.group.count == 0 || report.liveBytes - rest > best.bytes)
      best = {report.groups[i], report.liveBytes - rest};
  }
  return best;
}

} // namespace

MemoryMap mapMemory(const Kernel &kernel, const Placement *placement, isa::Memory memory) {
  const std::vector<Lifetime> lifetimes = computeLifetimes(kernel);
  const MemoryReport report = measureMemory(kernel, lifetimes, memory);
  MemoryMap map;
  map.memory = memory;
  map.limitBytes = report.limitBytes;
  map.liveBytes = report.liveBytes;
  map.position = report.position;
  map.tiles = tilesAt(kernel, lifetimes, placement, map);
  map.partitions = loadsOf(map.tiles);
  map.saving = findSaving(kernel, lifetimes, report);
  if (!placement)
    return map;
  map.endBytes = 0;
  for (uint32_t t = 0; t < kernel.tensors.size(); ++t)
    if (kernel.tensors[t].memory == memory && !lifetimes[t].empty())
      map.endBytes = std::max(*map.endBytes, int64_t(placement->addresses[t].byte) +
                                                 occupiedBytes(kernel.tensors[t]));
  for (const RotationDepth &depth : rotationDepths(kernel, *placement))
    if (depth.memory == memory)
      map.rotations.push_back(depth);
  return map;
}

} // namespace kiln::analysis
