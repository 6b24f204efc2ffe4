//===- Conflicts.cpp - which accesses touch the same bytes ------------------------------------===//
//
// Bounding ranges decide most pairs. What is left is decided by remainders
// modulo a step (columns of a matrix), then by walking both lists of runs; only
// patterns too large for that are taken to conflict.
//
//===------------------------------------------------------------------------------------------===//

#include "Conflicts.h"

#include <algorithm>

namespace kiln::analysis {
namespace {

constexpr size_t kMaxRuns = 8192;
constexpr int64_t kMaxBuckets = 65536;
/// Buckets an access of average length falls into.
constexpr int64_t kBucketsPerAccess = 4;

/// One loop of an access: `count` times, `step` bytes apart.
struct Loop {
  int64_t step, count;
};

/// `size` bytes at base + sum of step * index, index below count, for every
/// combination. Steps are positive and counts above 1.
struct Strided {
  int64_t base = 0, size = 0;
  std::array<Loop, isa::kMaxFreeDims + 1> all{};
  size_t used = 0;

  std::span<const Loop> loops() const { return std::span(all).first(used); }

  void loop(int64_t step, int64_t count) {
    if (count < 2 || step == 0)
      return;
    base += std::min<int64_t>(0, step * (count - 1));
    all[used++] = {step < 0 ? -step : step, count};
  }
  int64_t end() const {
    int64_t last = base;
    for (const Loop &loop : loops())
      last += loop.step * (loop.count - 1);
    return last + size;
  }
  /// Folds loops whose bytes join up into one longer run, in whatever order
  /// they do.
  void fold() {
    for (size_t i = 0; i < used;) {
      if (all[i].step > size) {
        ++i;
        continue;
      }
      size += all[i].step * (all[i].count - 1);
      all[i] = all[--used];
      i = 0;
    }
  }
};

Strided stridedOf(const isa::Access &access, bool isOnChip, int64_t firstByte) {
  const int64_t element = isa::bytesOf(access.dtype);
  Strided result;
  result.base = firstByte + access.offset * element;
  result.size = element;
  for (unsigned i = 0; i < access.rank; ++i)
    result.loop(access.step[i] * element, access.num[i]);
  if (!isOnChip)
    result.loop(access.rowStep * element, access.partitionCount);
  result.fold();
  return result;
}

/// The bytes of `s` modulo `step` when they stay within one period: [first,
/// end). Empty otherwise.
std::pair<int64_t, int64_t> remainders(const Strided &s, int64_t step) {
  int64_t end = s.size;
  for (const Loop &loop : s.loops())
    if (loop.step % step != 0)
      end += loop.step * (loop.count - 1);
  const int64_t first = s.base % step;
  return first + end <= step ? std::pair(first, first + end) : std::pair<int64_t, int64_t>(0, 0);
}

bool areApartModulo(const Strided &a, const Strided &b, int64_t step) {
  const auto [aLo, aHi] = remainders(a, step);
  const auto [bLo, bHi] = remainders(b, step);
  return aHi > aLo && bHi > bLo && (aHi <= bLo || bHi <= aLo);
}

/// First bytes of all runs, ascending; empty when there are too many.
std::vector<int64_t> runsOf(const Strided &s) {
  std::vector<int64_t> runs{s.base};
  for (const auto &[step, count] : s.loops()) {
    if (runs.size() * uint64_t(count) > kMaxRuns)
      return {};
    const size_t before = runs.size();
    for (int64_t i = 1; i < count; ++i)
      for (size_t r = 0; r < before; ++r)
        runs.push_back(runs[r] + i * step);
  }
  std::sort(runs.begin(), runs.end());
  return runs;
}

bool runsMeet(const Strided &a, const Strided &b) {
  const std::vector<int64_t> aRuns = runsOf(a), bRuns = runsOf(b);
  if (aRuns.empty() || bRuns.empty())
    return true;
  size_t i = 0, j = 0;
  while (i < aRuns.size() && j < bRuns.size()) {
    if (aRuns[i] + a.size <= bRuns[j])
      ++i;
    else if (bRuns[j] + b.size <= aRuns[i])
      ++j;
    else
      return true;
  }
  return false;
}

} // namespace

/// Both accesses are the same distance apart in every iteration.
static bool moveAlike(const isa::Access &a, const isa::Access &b) {
  for (unsigned l = 0; l < isa::kMaxLoopDepth; ++l)
    if (a.loopStep[l] * isa::bytesOf(a.dtype) != b.loopStep[l] * isa::bytesOf(b.dtype))
      return false;
  return true;
}

AccessLog::AccessLog(const Kernel &kernel, const Placement &placement)
    : kernel(kernel), placement(placement), canConflict(kernel.tensors.size()),
      spaces(2 + kernel.tensors.size()) {
  for (uint32_t t = 0; t < kernel.tensors.size(); ++t)
    canConflict[t] = kernel.tensors[t].isOnChip();
  struct Statistics {
    int64_t accesses = 0, bytes = 0;
  };
  std::vector<Statistics> statistics(spaces.size());
  for (const KernelInstruction &entry : kernel.instructions) {
    for (size_t o = 0; o < entry.inst.operands.size(); ++o) {
      const isa::Access &access = entry.inst.operands[o];
      if (!access.present())
        continue;
      if (entry.inst.desc().operands[o].isOutput)
        canConflict[access.tensor] = true;
      const LoggedAccess measured = measure(access);
      Statistics &s = statistics[spaceOf(access)];
      ++s.accesses;
      s.bytes += measured.hi - measured.lo;
    }
  }
  for (size_t s = 0; s < spaces.size(); ++s) {
    if (statistics[s].accesses == 0)
      continue;
    const int64_t total = s == 0   ? isa::machine.sbufUsableBytesPerPartition
                          : s == 1 ? isa::machine.psumBytesPerPartition
                                   : std::max<int64_t>(1, kernel.tensors[s - 2].bytes());
    const int64_t average = std::max<int64_t>(1, statistics[s].bytes / statistics[s].accesses);
    const int64_t count =
        std::clamp<int64_t>(kBucketsPerAccess * (total / average), 1, kMaxBuckets);
    spaces[s].bytesPerBucket = (total + count - 1) / count;
    spaces[s].buckets.resize(size_t(count));
  }
}

uint32_t AccessLog::spaceOf(const isa::Access &access) const {
  switch (kernel.tensors[access.tensor].memory) {
  case isa::Memory::Sbuf:
    return 0;
  case isa::Memory::Psum:
    return 1;
  case isa::Memory::Hbm:
    break;
  }
  return 2 + access.tensor;
}

LoggedAccess AccessLog::measure(const isa::Access &access) const {
  const bool isOnChip = kernel.tensors[access.tensor].isOnChip();
  const isa::TensorAddress &address = placement.addresses[access.tensor];
  const Strided strided = stridedOf(access, isOnChip, isOnChip ? int64_t(address.byte) : 0);
  LoggedAccess entry;
  entry.lo = strided.base;
  entry.hi = strided.end();
  entry.isDense = strided.used == 0 && !access.moves();
  for (size_t l = 0; l < kernel.loops.size(); ++l) {
    const int64_t way =
        access.loopStep[l] * isa::bytesOf(access.dtype) * (kernel.loops[l].tripCount - 1);
    (way < 0 ? entry.lo : entry.hi) += way;
  }
  if (isOnChip) {
    entry.rowLo = int32_t(address.partition + access.partitionStart);
    entry.rowHi = entry.rowLo + int32_t(access.partitionCount);
  }
  return entry;
}

bool AccessLog::shareBytes(const LoggedAccess &a, const LoggedAccess &b) const {
  if (a.rowHi <= b.rowLo || b.rowHi <= a.rowLo || a.hi <= b.lo || b.hi <= a.lo)
    return false;
  if (a.isDense && b.isDense)
    return true;
  // Accesses that move apart, or past each other, are taken to meet somewhere on their ways. Those
  // that move alike keep their distance.
  if (!moveAlike(accessOf(a), accessOf(b)))
    return true;
  const auto strided = [&](const LoggedAccess &entry) {
    const isa::Access &access = accessOf(entry);
    const bool isOnChip = kernel.tensors[access.tensor].isOnChip();
    return stridedOf(access, isOnChip,
                     isOnChip ? int64_t(placement.addresses[access.tensor].byte) : 0);
  };
  const Strided x = strided(a), y = strided(b);
  for (const Strided *s : {&x, &y})
    for (const auto &[step, count] : s->loops())
      if (areApartModulo(x, y, step))
        return false;
  const KernelTensor &tensor = kernel.tensors[accessOf(a).tensor];
  if (!tensor.isOnChip()) {
    int64_t row = isa::bytesOf(tensor.dtype);
    for (size_t d = tensor.shape.size(); d-- > 1;)
      if (row *= tensor.shape[d]; row > 0 && areApartModulo(x, y, row))
        return false;
  }
  return runsMeet(x, y);
}

template <typename Fn>
void AccessLog::forEachBucket(Space &space, const LoggedAccess &entry, Fn fn) {
  const int64_t first = entry.lo / space.bytesPerBucket;
  const int64_t last = (entry.hi - 1) / space.bytesPerBucket;
  for (int64_t b = first; b <= last && b < int64_t(space.buckets.size()); ++b)
    fn(space.buckets[size_t(b)], b * space.bytesPerBucket, (b + 1) * space.bytesPerBucket);
}

void AccessLog::log(Space &space, const LoggedAccess &entry) {
  forEachBucket(space, entry, [&](std::vector<LoggedAccess> &bucket, int64_t from, int64_t to) {
    // Whoever is ordered after `entry` is then ordered after what it
    // replaces: a write has just been compared with all it covers, and
    // reads of one agent are complete in order.
    const auto isReplaced = [&](const LoggedAccess &old) {
      const bool isImplied = entry.writes || (!old.writes && old.agent == entry.agent);
      if (!isImplied || old.rowLo < entry.rowLo || old.rowHi > entry.rowHi)
        return false;
      const bool isInside = std::max(old.lo, from) >= entry.lo && std::min(old.hi, to) <= entry.hi;
      return isInside && (entry.isDense || accessOf(old) == accessOf(entry));
    };
    bucket.erase(std::remove_if(bucket.begin(), bucket.end(), isReplaced), bucket.end());
    bucket.push_back(entry);
  });
}

void AccessLog::add(uint32_t i, uint32_t agent, const Filter &isOrdered, const Visit &visit) {
  const isa::Instruction &inst = kernel.instructions[i].inst;
  std::array<LoggedAccess, isa::kMaxOperands> entries;
  std::array<uint32_t, isa::kMaxOperands> where;
  size_t count = 0;
  for (const bool writes : {false, true})
    for (size_t o = 0; o < inst.operands.size(); ++o) {
      const isa::Access &access = inst.operands[o];
      if (!access.present() || !canConflict[access.tensor] ||
          inst.desc().operands[o].isOutput != writes)
        continue;
      LoggedAccess entry = measure(access);
      entry.instruction = i;
      entry.agent = agent;
      entry.operand = uint8_t(o);
      entry.writes = writes;
      where[count] = spaceOf(access);
      entries[count++] = entry;
    }
  for (size_t e = 0; e < count; ++e)
    forEachBucket(spaces[where[e]], entries[e],
                  [&](const std::vector<LoggedAccess> &bucket, int64_t, int64_t) {
                    for (const LoggedAccess &old : bucket)
                      if ((old.writes || entries[e].writes) && !isOrdered(old.instruction, i) &&
                          shareBytes(old, entries[e]))
                        visit(old, entries[e]);
                  });
  // Reads were collected first: a result on its own operand replaces it.
  for (size_t e = 0; e < count; ++e)
    log(spaces[where[e]], entries[e]);
}

} // namespace kiln::analysis
