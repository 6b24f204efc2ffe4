//===- Epochs.cpp - a kernel cut at the edges of its loops ------------------------------------===//

#include "Epochs.h"

#include <algorithm>
#include <unordered_map>

namespace kiln::analysis {

std::vector<Epoch> findEpochs(const Kernel &kernel) {
  const uint32_t count = uint32_t(kernel.instructions.size());
  std::vector<uint32_t> edges{0, count};
  for (const KernelLoop &loop : kernel.loops)
    edges.insert(edges.end(), {loop.begin, loop.end});
  std::sort(edges.begin(), edges.end());
  edges.erase(std::unique(edges.begin(), edges.end()), edges.end());

  std::vector<Epoch> epochs;
  // Loops are in order of their beginnings, outer ones first: one that opens inside the open one
  // is its child, and the open one is closed when the walk passes its end.
  uint32_t next = 0, open = kNone;
  for (size_t e = 0; e + 1 < edges.size(); ++e) {
    while (open != kNone && kernel.loops[open].end <= edges[e])
      open = kernel.loops[open].parent;
    while (next < kernel.loops.size() && kernel.loops[next].begin == edges[e])
      open = next++;
    epochs.push_back({edges[e], edges[e + 1], open});
  }
  return epochs;
}

EpochKernel::EpochKernel(const Kernel &whole, const Placement &wholePlacement, const Epoch &epoch,
                         bool withLocations) {
  if (withLocations) {
    kernel.files = whole.files;
    kernel.locations = whole.locations;
  }
  kernel.instructions.assign(whole.instructions.begin() + epoch.begin,
                             whole.instructions.begin() + epoch.end);
  std::unordered_map<uint32_t, uint32_t> numbers;
  for (KernelInstruction &instruction : kernel.instructions)
    for (isa::Access &access : instruction.inst.operands) {
      if (!access.present())
        continue;
      auto [it, isNew] = numbers.try_emplace(access.tensor, uint32_t(kernel.tensors.size()));
      if (isNew) {
        kernel.tensors.push_back(whole.tensors[access.tensor]);
        placement.addresses.push_back(wholePlacement.addresses[access.tensor]);
      }
      access.tensor = it->second;
    }
  for (uint32_t loop = epoch.loop; loop != kNone; loop = whole.loops[loop].parent)
    kernel.loops.push_back(whole.loops[loop]);
  std::reverse(kernel.loops.begin(), kernel.loops.end());
  // Whatever they are outside, inside the epoch tensors live from access to access.
  for (KernelTensor &tensor : kernel.tensors)
    tensor.loop = kernel.loops.empty() ? kNone : uint32_t(kernel.loops.size() - 1);
  for (uint32_t i = 0; i < kernel.loops.size(); ++i) {
    kernel.loops[i].begin = 0;
    kernel.loops[i].end = uint32_t(kernel.instructions.size());
    kernel.loops[i].parent = i == 0 ? kNone : i - 1;
  }
}

namespace {

using Steps = std::array<int64_t, isa::kMaxLoopDepth>;

Steps stepBytes(const isa::Access &access) {
  Steps bytes = access.loopStep;
  for (int64_t &step : bytes)
    step *= isa::bytesOf(access.dtype);
  return bytes;
}

/// How the accesses of one tensor move.
struct Motion {
  Steps steps{};
  bool isKnown = false, isOne = true;
};

/// Everything from the first to the last element `access` touches in any iteration.
void growToItsWay(const Kernel &epoch, isa::Access &access) {
  isa::ElementRange range = isa::elementRange(access);
  for (size_t l = 0; l < epoch.loops.size(); ++l) {
    const int64_t way = access.loopStep[l] * (epoch.loops[l].tripCount - 1);
    (way < 0 ? range.first : range.last) += way;
  }
  if (!epoch.tensors[access.tensor].isOnChip()) {
    access.partitionCount = 1;
    access.rowStep = 0;
  }
  access.offset = range.first;
  access.rank = 1;
  access.step = {1};
  access.num = {range.last - range.first + 1};
}

} // namespace

void holdStill(Kernel &epoch) {
  std::vector<Motion> motions(epoch.tensors.size());
  for (const KernelInstruction &instruction : epoch.instructions)
    for (const isa::Access &access : instruction.inst.operands) {
      if (!access.present())
        continue;
      Motion &motion = motions[access.tensor];
      const Steps steps = stepBytes(access);
      motion.isOne = motion.isOne && (!motion.isKnown || steps == motion.steps);
      motion.steps = steps;
      motion.isKnown = true;
    }
  for (KernelInstruction &instruction : epoch.instructions)
    for (isa::Access &access : instruction.inst.operands) {
      if (!access.present() || !access.moves())
        continue;
      // Tensors placed by hand may lie over each other while both are used, and then distances
      // between tensors count as well.
      if (!motions[access.tensor].isOne || epoch.tensors[access.tensor].address)
        growToItsWay(epoch, access);
      access.loopStep.fill(0);
    }
}

} // namespace kiln::analysis
