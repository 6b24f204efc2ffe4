//===- VerifyPlacement.cpp - an independent look at a placement -------------------------------===//
//
// One sweep over program order. A tensor enters at its first access and leaves
// after its last, read off the instructions here and not taken from the
// allocator. What is inside stands in a list by address, where neighbours that
// touch are seen at once.
//
//===------------------------------------------------------------------------------------------===//

#include "kiln/Analysis/Placement.h"

#include <algorithm>
#include <map>

namespace kiln::analysis {
namespace {

constexpr size_t kMaxReports = 20;

/// Where a tensor lies, as the checker sees it.
struct Box {
  int64_t firstPartition, endPartition, firstByte, endByte;
};

class PlacementChecker {
public:
  PlacementChecker(const Kernel &kernel, const Placement &placement)
      : kernel(kernel), placement(placement) {}

  std::vector<Diagnostic> run() {
    if (placement.addresses.size() != kernel.tensors.size()) {
      report("the placement names " + std::to_string(placement.addresses.size()) +
                 " tensors, the kernel has " + std::to_string(kernel.tensors.size()),
             kNone);
      return std::move(diagnostics);
    }
    for (uint32_t t = 0; t < kernel.tensors.size(); ++t)
      if (kernel.tensors[t].isOnChip())
        checkAddress(t);
    // Overlaps of tensors outside their memory would only repeat what has been
    // said.
    if (diagnostics.empty())
      sweep();
    return std::move(diagnostics);
  }

private:
  Box box(uint32_t t) const {
    const KernelTensor &tensor = kernel.tensors[t];
    int64_t bytes = isa::bytesOf(tensor.dtype);
    for (size_t i = 1; i < tensor.shape.size(); ++i)
      bytes *= tensor.shape[i];
    const int64_t partition = placement.addresses[t].partition;
    const int64_t byte = int64_t(placement.addresses[t].byte);
    return {partition, partition + tensor.shape.front(), byte, byte + bytes};
  }

  void report(std::string message, uint32_t location) {
    if (diagnostics.size() >= kMaxReports)
      return;
    Diagnostic diagnostic;
    diagnostic.fault = Fault::Internal;
    diagnostic.message = std::move(message);
    diagnostic.place = kernel.chain(location);
    diagnostics.push_back(std::move(diagnostic));
  }

  std::string place(uint32_t t) const {
    const Box b = box(t);
    return quotedName(kernel.tensors[t]) + " (" + std::string(isa::name(kernel.tensors[t].memory)) +
           ", partitions " + std::to_string(b.firstPartition) + " to " +
           std::to_string(b.endPartition - 1) + ", bytes " + std::to_string(b.firstByte) + " to " +
           std::to_string(b.endByte - 1) + ")";
  }

  void checkAddress(uint32_t t) {
    const KernelTensor &tensor = kernel.tensors[t];
    const bool isPsum = tensor.memory == isa::Memory::Psum;
    const int64_t limit =
        isPsum ? isa::machine.psumBytesPerPartition : isa::machine.sbufUsableBytesPerPartition;
    const Box b = box(t);
    if (b.endPartition > isa::machine.numPartitions || b.endByte > limit)
      report(place(t) + " lies outside its memory of " +
                 std::to_string(isa::machine.numPartitions) + " partitions and " +
                 std::to_string(limit) + " bytes",
             tensor.location);
    int64_t alignment = isPsum ? isa::machine.psumMinAlign : isa::machine.sbufMinAlign;
    if (tensor.address) {
      if (!isPsum)
        alignment = std::max<int64_t>(isa::machine.sbufMinAlign, isa::bytesOf(tensor.dtype));
      if (tensor.address->partition != placement.addresses[t].partition ||
          tensor.address->byte != placement.addresses[t].byte)
        report(place(t) + " was placed by hand at partition " +
                   std::to_string(tensor.address->partition) + ", byte " +
                   std::to_string(tensor.address->byte),
               tensor.location);
    } else if (b.firstPartition != 0) {
      report(place(t) + " starts at partition " + std::to_string(b.firstPartition) +
                 " instead of 0 without being placed by hand",
             tensor.location);
    }
    if (b.firstByte % alignment != 0)
      report(place(t) + " starts at byte " + std::to_string(b.firstByte) +
                 ", which is no multiple of " + std::to_string(alignment),
             tensor.location);
  }

  //---- the sweep ----------------------------------------------------------------------------===//

  void sweep() {
    const uint32_t count = uint32_t(kernel.instructions.size());
    std::vector<uint32_t> firstUse(kernel.tensors.size(), kNone),
        lastUse(kernel.tensors.size(), kNone);
    for (uint32_t i = count; i-- > 0;)
      for (const isa::Access &access : kernel.instructions[i].inst.operands)
        if (access.present()) {
          firstUse[access.tensor] = i;
          if (lastUse[access.tensor] == kNone)
            lastUse[access.tensor] = i;
        }
    keepThroughLoops(firstUse, lastUse);
    // Who enters before and leaves after each instruction, by tensor number.
    std::vector<std::vector<uint32_t>> atLoopBegin(kernel.loops.empty() ? 0 : count + 1),
        atLoopEnd(atLoopBegin.size());
    for (uint32_t t = 0; t < kernel.tensors.size() && !kernel.loops.empty(); ++t)
      if (firstUse[t] != kNone) {
        atLoopBegin[firstUse[t]].push_back(t);
        atLoopEnd[lastUse[t]].push_back(t);
      }
    for (uint32_t i = 0; i < count; ++i) {
      const isa::Instruction &inst = kernel.instructions[i].inst;
      for (const isa::Access &access : inst.operands)
        if (access.present() && firstUse[access.tensor] == i)
          enter(access.tensor);
      if (!kernel.loops.empty())
        for (uint32_t t : atLoopBegin[i])
          enter(t);
      // Leave only when all of this instruction's operands have entered.
      for (const isa::Access &access : inst.operands)
        if (access.present() && lastUse[access.tensor] == i)
          leave(access.tensor);
      if (!kernel.loops.empty())
        for (uint32_t t : atLoopEnd[i])
          leave(t);
    }
  }

  /// A tensor used in a loop, but not declared there, stays from the loop's first instruction to
  /// its last: what one iteration leaves, the next may need. Inner loops first, so that a life
  /// that grew to fill one is seen by the loop around it.
  void keepThroughLoops(std::vector<uint32_t> &firstUse, std::vector<uint32_t> &lastUse) const {
    for (uint32_t l = uint32_t(kernel.loops.size()); l-- > 0;) {
      const KernelLoop &loop = kernel.loops[l];
      for (uint32_t i = loop.begin; i < loop.end; ++i)
        for (const isa::Access &access : kernel.instructions[i].inst.operands) {
          if (!access.present() || isDeclaredInside(access.tensor, l))
            continue;
          firstUse[access.tensor] = std::min(firstUse[access.tensor], loop.begin);
          lastUse[access.tensor] = std::max(lastUse[access.tensor], loop.end - 1);
        }
    }
  }

  bool isDeclaredInside(uint32_t tensor, uint32_t loop) const {
    uint32_t scope = kernel.tensors[tensor].loop;
    while (scope != kNone && scope != loop)
      scope = kernel.loops[scope].parent;
    return scope == loop;
  }

  std::multimap<int64_t, uint32_t> &inside(uint32_t t) {
    return kernel.tensors[t].memory == isa::Memory::Psum ? psum : sbuf;
  }

  void enter(uint32_t t) {
    if (!kernel.tensors[t].isOnChip())
      return;
    const Box mine = box(t);
    std::multimap<int64_t, uint32_t> &here = inside(t);
    for (auto [it, end] = here.equal_range(mine.firstByte); it != end; ++it)
      if (it->second == t)
        return; // two operands of one instruction
    int64_t &widest = kernel.tensors[t].memory == isa::Memory::Psum ? widestPsum : widestSbuf;
    for (auto it = here.lower_bound(mine.firstByte - widest);
         it != here.end() && it->first < mine.endByte; ++it) {
      const Box other = box(it->second);
      const bool bothByHand = kernel.tensors[t].address && kernel.tensors[it->second].address;
      if (!bothByHand && other.endByte > mine.firstByte &&
          other.firstPartition < mine.endPartition && mine.firstPartition < other.endPartition)
        report(place(t) + " overlaps " + place(it->second) + " while both are live",
               kernel.tensors[t].location);
    }
    here.emplace(mine.firstByte, t);
    widest = std::max(widest, mine.endByte - mine.firstByte);
  }

  void leave(uint32_t t) {
    if (!kernel.tensors[t].isOnChip())
      return;
    std::multimap<int64_t, uint32_t> &here = inside(t);
    for (auto [it, end] = here.equal_range(box(t).firstByte); it != end; ++it)
      if (it->second == t) {
        here.erase(it);
        return;
      }
  }

  const Kernel &kernel;
  const Placement &placement;
  std::vector<Diagnostic> diagnostics;
  std::multimap<int64_t, uint32_t> sbuf, psum; ///< live tensors by first byte
  int64_t widestSbuf = 0, widestPsum = 0;
};

} // namespace

std::vector<Diagnostic> verifyPlacement(const Kernel &kernel, const Placement &placement) {
  return PlacementChecker(kernel, placement).run();
}

} // namespace kiln::analysis
