//===- VerifyTakeover.cpp - whole tensors follow whole tensors --------------------------------===//

#include "VerifyTakeover.h"

#include <algorithm>
#include <map>

namespace kiln::analysis {
namespace {

/// What the order between two tensors depends on: where each engine begins with the new one, and
/// where each agent is done with the old one. Everything between follows by program order.
struct TensorUse {
  std::map<unsigned, uint32_t> firstOfEngine;
  std::map<uint32_t, uint32_t> lastOfAgent;
};

std::vector<TensorUse> usesOf(const Kernel &kernel, const HappensBefore &order) {
  std::vector<TensorUse> uses(kernel.tensors.size());
  for (uint32_t i = 0; i < kernel.instructions.size(); ++i) {
    const isa::Instruction &inst = kernel.instructions[i].inst;
    for (const isa::Access &access : inst.operands) {
      if (!access.present() || !kernel.tensors[access.tensor].isOnChip())
        continue;
      TensorUse &use = uses[access.tensor];
      use.firstOfEngine.try_emplace(engineStream(inst.engine), i);
      use.lastOfAgent[order.agent(i)] = i;
    }
  }
  return uses;
}

/// Partitions and bytes of a tensor.
struct Extent {
  int64_t rowLo, rowHi, lo, hi;
  bool meets(const Extent &other) const {
    return rowLo < other.rowHi && other.rowLo < rowHi && lo < other.hi && other.lo < hi;
  }
};

class TakeoverCheck {
public:
  TakeoverCheck(const Kernel &kernel, const Placement &placement, const HappensBefore &order,
                size_t limit)
      : kernel(kernel), placement(placement), order(order), limit(limit),
        lifetimes(computeLifetimes(kernel)), uses(usesOf(kernel, order)) {}

  std::vector<OpenTakeover> run() {
    std::vector<uint32_t> arrivals;
    for (uint32_t t = 0; t < kernel.tensors.size(); ++t)
      if (kernel.tensors[t].isOnChip() && !lifetimes[t].empty())
        arrivals.push_back(t);
    std::stable_sort(arrivals.begin(), arrivals.end(), [&](uint32_t a, uint32_t b) {
      return lifetimes[a].begin < lifetimes[b].begin;
    });
    for (uint32_t t : arrivals)
      arrive(t);
    return std::move(open);
  }

private:
  static constexpr int64_t kBucketBytes = 4096;

  Extent extentOf(uint32_t tensor) const {
    const KernelTensor &own = kernel.tensors[tensor];
    const isa::TensorAddress at = placement.addresses[tensor];
    return {int64_t(at.partition), int64_t(at.partition) + own.partitions(), int64_t(at.byte),
            int64_t(at.byte) + own.bytes()};
  }

  void arrive(uint32_t tensor) {
    const Extent own = extentOf(tensor);
    auto &buckets = memories[kernel.tensors[tensor].memory == isa::Memory::Psum];
    const size_t end = size_t((own.hi + kBucketBytes - 1) / kBucketBytes);
    buckets.resize(std::max(buckets.size(), end));
    for (size_t b = size_t(own.lo / kBucketBytes); b < end; ++b) {
      const int64_t lo = int64_t(b) * kBucketBytes, hi = lo + kBucketBytes;
      std::erase_if(buckets[b], [&](uint32_t old) {
        const Extent other = extentOf(old);
        if (own.meets(other) && lifetimes[old].end <= lifetimes[tensor].begin)
          check(old, tensor);
        // What is covered can meet a later tensor only where this one lies in between.
        return own.rowLo <= other.rowLo && other.rowHi <= own.rowHi &&
               own.lo <= std::max(other.lo, lo) && std::min(other.hi, hi) <= own.hi;
      });
      buckets[b].push_back(tensor);
    }
  }

  void check(uint32_t oldTensor, uint32_t newTensor) {
    if (open.size() >= limit ||
        (!open.empty() && open.back().oldTensor == oldTensor && open.back().newTensor == newTensor))
      return;
    for (const auto &[engine, later] : uses[newTensor].firstOfEngine)
      for (const auto &[agent, earlier] : uses[oldTensor].lastOfAgent)
        if (!order.isOrdered(earlier, later)) {
          open.push_back({oldTensor, newTensor, earlier, later});
          return;
        }
  }

  const Kernel &kernel;
  const Placement &placement;
  const HappensBefore &order;
  size_t limit;
  std::vector<Lifetime> lifetimes;
  std::vector<TensorUse> uses;
  std::array<std::vector<std::vector<uint32_t>>, 2> memories; ///< SBUF, PSUM: tensors by bucket
  std::vector<OpenTakeover> open;
};

} // namespace

std::vector<OpenTakeover> findOpenTakeovers(const Kernel &kernel, const Placement &placement,
                                            const HappensBefore &order, size_t limit) {
  return TakeoverCheck(kernel, placement, order, limit).run();
}

} // namespace kiln::analysis
