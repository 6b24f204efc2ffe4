//===- Placement.cpp - where on-chip tensors lie ----------------------------------------------===//
//
// Declarations first (rules of the table, overlaps by hand), then each memory
// as a packing problem.
//
//===------------------------------------------------------------------------------------------===//

#include "kiln/Analysis/Placement.h"

#include "MemoryReport.h"
#include "Slots.h"

#include <algorithm>
#include <map>
#include <set>

namespace kiln::analysis {
namespace {

constexpr size_t kMaxOverlaps = 20;

//---- declarations ---------------------------------------------------------------------------===//

/// Checks every on-chip tensor on its own, with the rules the DSL and the op
/// verifier use too.
void checkDeclarations(const Kernel &kernel, std::vector<Diagnostic> &diagnostics) {
  for (const KernelTensor &tensor : kernel.tensors) {
    if (!tensor.isOnChip())
      continue;
    isa::TensorView view;
    view.name = tensor.name;
    view.memory = tensor.memory;
    view.dtype = tensor.dtype;
    view.shape = tensor.shape;
    view.partitionBase = tensor.address ? tensor.address->partition : 0;
    isa::checkTensor(view, tensor.address, [&](isa::Violation violation) {
      Diagnostic diagnostic;
      diagnostic.rule = std::string(violation.rule);
      diagnostic.message = std::move(violation.message);
      diagnostic.help = std::move(violation.help);
      diagnostic.place = kernel.chain(tensor.location);
      diagnostics.push_back(std::move(diagnostic));
    });
  }
}

//---- overlaps by hand -----------------------------------------------------------------------===//

struct ByteRange {
  int64_t lo, hi;
};
ByteRange bytesOf(const KernelTensor &tensor) {
  const int64_t lo = int64_t(tensor.address->byte);
  return {lo, lo + tensor.bytes()};
}
std::string text(const ByteRange &range) {
  return "bytes " + std::to_string(range.lo) + " to " + std::to_string(range.hi - 1);
}

bool sharePartitions(const KernelTensor &a, const KernelTensor &b) {
  const int64_t aLo = a.address->partition, bLo = b.address->partition;
  return aLo < bLo + b.partitions() && bLo < aLo + a.partitions();
}

Diagnostic describeOverlap(const Kernel &kernel, std::span<const Lifetime> lifetimes,
                           uint32_t older, uint32_t newer, bool isAllowed) {
  const KernelTensor &a = kernel.tensors[older], &b = kernel.tensors[newer];
  const auto at = [&](uint32_t position) {
    return lineText(kernel, kernel.instructions[position].location);
  };
  Diagnostic diagnostic;
  diagnostic.severity = isAllowed ? Severity::Warning : Severity::Error;
  diagnostic.rule = "M-04";
  diagnostic.message = quotedName(b) + " (" + text(bytesOf(b)) + " of " +
                       std::string(isa::name(b.memory)) + ") overwrites " + quotedName(a) + " (" +
                       text(bytesOf(a)) + "), which is used again at " +
                       at(lifetimes[older].end - 1);
  diagnostic.help = "give " + quotedName(b) + " an address outside " + text(bytesOf(a)) +
                    ", or none: the compiler then finds one";
  diagnostic.place = kernel.chain(b.location);
  for (uint32_t t : {older, newer})
    diagnostic.notes.push_back({quotedName(kernel.tensors[t]) + " is live from " +
                                    at(lifetimes[t].begin) + " to " + at(lifetimes[t].end - 1),
                                kernel.chain(kernel.tensors[t].location)});
  return diagnostic;
}

/// Tensors of one declaration placed by hand: what rotates.
struct HandRotation {
  uint32_t addresses = 0; ///< distinct ones
  uint32_t live = 0;      ///< most of them live at once
};

HandRotation measureRotation(const Kernel &kernel, std::span<const Lifetime> lifetimes,
                             uint32_t location, isa::Memory memory) {
  std::set<std::pair<uint32_t, uint64_t>> addresses;
  std::vector<std::pair<uint32_t, int>> changes;
  for (uint32_t t = 0; t < kernel.tensors.size(); ++t) {
    const KernelTensor &tensor = kernel.tensors[t];
    if (tensor.location != location || tensor.memory != memory || !tensor.address ||
        lifetimes[t].empty())
      continue;
    addresses.insert({tensor.address->partition, tensor.address->byte});
    changes.push_back({lifetimes[t].begin, 1});
    changes.push_back({lifetimes[t].end, -1});
  }
  std::sort(changes.begin(), changes.end());
  HandRotation rotation{uint32_t(addresses.size()), 0};
  int live = 0;
  for (const auto &[position, change] : changes)
    rotation.live = uint32_t(std::max<int>(int(rotation.live), live += change));
  return rotation;
}

/// Whether `a` and `b` come from one declaration that goes through several addresses.
bool isRotation(const Kernel &kernel, std::span<const Lifetime> lifetimes, const KernelTensor &a,
                const KernelTensor &b) {
  return a.location != kNone && a.location == b.location &&
         measureRotation(kernel, lifetimes, b.location, b.memory).addresses > 1;
}

/// Two tiles of one declaration, which repeat their addresses too soon.
Diagnostic describeShallowRotation(const Kernel &kernel, std::span<const Lifetime> lifetimes,
                                   uint32_t older, uint32_t newer, bool isAllowed) {
  const KernelTensor &a = kernel.tensors[older], &b = kernel.tensors[newer];
  const HandRotation rotation = measureRotation(kernel, lifetimes, b.location, b.memory);
  const auto at = [&](uint32_t position) {
    return lineText(kernel, kernel.instructions[position].location);
  };
  Diagnostic diagnostic;
  diagnostic.severity = isAllowed ? Severity::Warning : Severity::Error;
  diagnostic.rule = "M-05";
  diagnostic.message = quotedName(b) + " (" + text(bytesOf(b)) + " of " +
                       std::string(isa::name(b.memory)) + ") is written at " +
                       at(lifetimes[newer].begin) + " before the last use of " + quotedName(a) +
                       " (" + text(bytesOf(a)) + ") at " + at(lifetimes[older].end - 1) +
                       "; the declaration rotates over " + std::to_string(rotation.addresses) +
                       (rotation.addresses == 1 ? " address" : " addresses") + ", and " +
                       std::to_string(rotation.live) + " of its tiles are live at once";
  diagnostic.help = "rotate over " + std::to_string(rotation.live) +
                    " tiles that share no byte, or leave the address out: the compiler then "
                    "rotates as deep as memory allows";
  diagnostic.place = kernel.chain(b.location);
  return diagnostic;
}

/// Reports tensors placed by hand that share bytes while both live, one pair
/// for each two declarations.
void checkManualOverlaps(const Kernel &kernel, std::span<const Lifetime> lifetimes,
                         isa::Memory memory, const PlacementOptions &options,
                         std::vector<Diagnostic> &diagnostics) {
  std::vector<uint32_t> byBegin;
  for (uint32_t t = 0; t < kernel.tensors.size(); ++t)
    if (kernel.tensors[t].memory == memory && kernel.tensors[t].address && !lifetimes[t].empty())
      byBegin.push_back(t);
  std::sort(byBegin.begin(), byBegin.end(), [&](uint32_t a, uint32_t b) {
    return std::pair(lifetimes[a].begin, a) < std::pair(lifetimes[b].begin, b);
  });
  std::set<std::pair<uint32_t, uint32_t>> reported;
  std::multimap<int64_t, uint32_t> live; // by first byte
  int64_t longest = 0;
  for (uint32_t t : byBegin) {
    const ByteRange range = bytesOf(kernel.tensors[t]);
    for (auto it = live.lower_bound(range.lo - longest);
         it != live.end() && it->first < range.hi;) {
      const uint32_t other = it->second;
      if (lifetimes[other].end <= lifetimes[t].begin) {
        it = live.erase(it);
        continue;
      }
      ++it;
      const KernelTensor &a = kernel.tensors[other], &b = kernel.tensors[t];
      if (bytesOf(a).hi <= range.lo || !sharePartitions(a, b))
        continue;
      const bool isNew = a.location == kNone || b.location == kNone ||
                         reported.insert({a.location, b.location}).second;
      if (isNew && diagnostics.size() < kMaxOverlaps)
        diagnostics.push_back(
            isRotation(kernel, lifetimes, a, b)
                ? describeShallowRotation(kernel, lifetimes, other, t, options.allowShallowRotation)
                : describeOverlap(kernel, lifetimes, other, t, options.allowManualOverlap));
    }
    live.emplace(range.lo, t);
    longest = std::max(longest, range.hi - range.lo);
  }
}

//---- one memory -----------------------------------------------------------------------------===//

/// Fills the addresses of `memory`; returns the tensor that found no place, if
/// any.
std::optional<uint32_t> placeMemory(const Kernel &kernel, std::span<const Lifetime> lifetimes,
                                    isa::Memory memory, PlacementStrategy strategy,
                                    Placement &placement) {
  std::vector<Slot> slots;
  std::vector<uint32_t> owners;
  for (uint32_t t = 0; t < kernel.tensors.size(); ++t) {
    const KernelTensor &tensor = kernel.tensors[t];
    if (tensor.memory != memory)
      continue;
    if (tensor.address)
      placement.addresses[t] = *tensor.address;
    if (lifetimes[t].empty())
      continue; // never accessed: any address will do, and it costs no memory
    Slot slot{lifetimes[t], occupiedBytes(tensor)};
    if (tensor.address) {
      slot.address = int64_t(tensor.address->byte);
      slot.isFixed = true;
    }
    slots.push_back(slot);
    owners.push_back(t);
  }
  const bool isPsum = memory == isa::Memory::Psum;
  SlotMemory shape{capacityBytes(memory),
                   isPsum ? isa::machine.psumMinAlign : isa::machine.sbufAllocAlign};
  const SlotStrategy slotStrategy =
      strategy == PlacementStrategy::Compact ? SlotStrategy::Compact : SlotStrategy::Rotation;
  std::optional<size_t> failed = assignSlots(slots, shape, slotStrategy);
  // The coarse units of SBUF are a comfort; a kernel that needs every byte goes without.
  shape.alignment = isPsum ? isa::machine.psumMinAlign : isa::machine.sbufMinAlign;
  if (failed && assignSlots(slots, shape, slotStrategy))
    return owners[*failed];
  uint64_t &peak = isPsum ? placement.psumPeakBytes : placement.sbufPeakBytes;
  for (size_t i = 0; i < slots.size(); ++i) {
    if (!slots[i].isFixed)
      placement.addresses[owners[i]] = {0, uint64_t(slots[i].address)};
    peak = std::max(peak, uint64_t(slots[i].address + slots[i].size));
  }
  return std::nullopt;
}

} // namespace

PlacementResult place(const Kernel &kernel, const PlacementOptions &options) {
  PlacementResult result;
  checkDeclarations(kernel, result.diagnostics);
  if (!result.diagnostics.empty())
    return result;
  const std::vector<Lifetime> lifetimes = computeLifetimes(kernel);
  Placement placement;
  placement.addresses.resize(kernel.tensors.size());
  bool fits = true;
  for (isa::Memory memory : {isa::Memory::Sbuf, isa::Memory::Psum}) {
    checkManualOverlaps(kernel, lifetimes, memory, options, result.diagnostics);
    if (std::optional<uint32_t> failed =
            placeMemory(kernel, lifetimes, memory, options.strategy, placement)) {
      result.diagnostics.push_back(describeOveruse(kernel, lifetimes, memory, *failed));
      fits = false;
    }
  }
  if (fits)
    result.placement = std::move(placement);
  return result;
}

std::vector<RotationDepth> rotationDepths(const Kernel &kernel, const Placement &placement) {
  std::vector<RotationDepth> depths;
  std::map<std::pair<uint32_t, isa::Memory>, size_t> byDeclaration;
  std::set<std::pair<size_t, uint64_t>> seen;
  for (uint32_t t = 0; t < kernel.tensors.size(); ++t) {
    const KernelTensor &tensor = kernel.tensors[t];
    if (!tensor.isOnChip() || tensor.address)
      continue;
    const auto [it, isNew] =
        byDeclaration.try_emplace({tensor.location, tensor.memory}, depths.size());
    if (isNew)
      depths.push_back({tensor.location, tensor.memory});
    RotationDepth &depth = depths[it->second];
    ++depth.tensors;
    depth.addresses += seen.insert({it->second, placement.addresses[t].byte}).second;
  }
  return depths;
}

} // namespace kiln::analysis
