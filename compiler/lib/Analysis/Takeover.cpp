//===- Takeover.cpp - when one tensor takes the place of another ------------------------------===//

#include "Takeover.h"

#include <algorithm>

namespace kiln::analysis {

TakeoverTracker::TakeoverTracker(const Kernel &kernel, const Placement &placement)
    : kernel(kernel), placement(placement), placed(kernel.tensors.size()),
      lastAccess(kernel.tensors.size()), before(kernel.tensors.size()) {}

void TakeoverTracker::collect(uint32_t position, StreamPositions &needed) {
  for (const isa::Access &access : kernel.instructions[position].inst.operands) {
    if (!access.present() || !kernel.tensors[access.tensor].isOnChip())
      continue;
    if (!placed[access.tensor])
      replace(access.tensor);
    for (unsigned s = 0; s < kNumStreams; ++s)
      needed[s] = std::max(needed[s], before[access.tensor][s]);
  }
}

void TakeoverTracker::record(uint32_t position, unsigned stream) {
  for (const isa::Access &access : kernel.instructions[position].inst.operands)
    if (access.present() && kernel.tensors[access.tensor].isOnChip())
      lastAccess[access.tensor][stream] = position + 1;
}

void TakeoverTracker::split(Memory &memory, int64_t at) {
  auto segment = memory.lower_bound(at);
  if (segment == memory.begin() || (--segment)->second.hi <= at)
    return;
  Segment right = segment->second;
  segment->second.hi = at;
  memory.emplace_hint(std::next(segment), at, std::move(right));
}

void TakeoverTracker::replace(uint32_t tensor) {
  placed[tensor] = true;
  const KernelTensor &own = kernel.tensors[tensor];
  const auto firstPartition = [&](uint32_t t) { return placement.addresses[t].partition; };
  const auto endPartition = [&](uint32_t t) {
    return firstPartition(t) + uint32_t(kernel.tensors[t].partitions());
  };
  Memory &memory = memories[own.memory == isa::Memory::Psum];
  const int64_t lo = int64_t(placement.addresses[tensor].byte), hi = lo + own.bytes();
  split(memory, lo);
  split(memory, hi);

  // Tensors in other partitions of the same bytes stay where they are.
  std::vector<Memory::value_type> kept;
  auto segment = memory.lower_bound(lo);
  int64_t at = lo;
  const auto keep = [&](int64_t from, int64_t to, std::vector<uint32_t> owners) {
    owners.push_back(tensor);
    if (!kept.empty() && kept.back().second.owners == owners)
      kept.back().second.hi = to;
    else
      kept.push_back({from, {to, std::move(owners)}});
  };
  while (segment != memory.end() && segment->first < hi) {
    if (at < segment->first)
      keep(at, segment->first, {});
    std::vector<uint32_t> others;
    for (uint32_t owner : segment->second.owners) {
      const bool meets = firstPartition(owner) < endPartition(tensor) &&
                         firstPartition(tensor) < endPartition(owner);
      if (meets)
        for (unsigned s = 0; s < kNumStreams; ++s)
          before[tensor][s] = std::max(before[tensor][s], lastAccess[owner][s]);
      const bool covered = firstPartition(tensor) <= firstPartition(owner) &&
                           endPartition(owner) <= endPartition(tensor);
      if (!covered)
        others.push_back(owner);
    }
    at = segment->second.hi;
    keep(segment->first, at, std::move(others));
    segment = memory.erase(segment);
  }
  if (at < hi)
    keep(at, hi, {});
  for (Memory::value_type &piece : kept)
    memory.emplace(piece.first, std::move(piece.second));
}

} // namespace kiln::analysis
