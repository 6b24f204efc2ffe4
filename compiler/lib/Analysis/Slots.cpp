//===- Slots.cpp - packing lives into one memory ----------------------------------------------===//
//
// Two engines. `OnlineAllocator` sweeps over time with a list of free runs,
// which is fast and can rotate. `packOffline` places slots in any order and
// looks up those that live at the same time, which fragments less.
// `assignSlots` is the ladder of both.
//
//===------------------------------------------------------------------------------------------===//

#include "Slots.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <queue>

namespace kiln::analysis {
namespace {

int64_t roundUp(int64_t value, int64_t unit) { return (value + unit - 1) / unit * unit; }

/// Bytes [lo, hi).
struct Run {
  int64_t lo, hi;
  bool operator<(const Run &other) const {
    return std::pair(lo, hi) < std::pair(other.lo, other.hi);
  }
};

//---- lives by time --------------------------------------------------------------------------===//

/// Which marked slots live at the same time as a given one. A tree over the
/// slots by begin keeps the latest end among the marked, so a query visits only
/// what it returns, times a logarithm.
class LifeIndex {
public:
  explicit LifeIndex(const std::vector<Slot> &slots) : slots(slots), order(slots.size()) {
    std::iota(order.begin(), order.end(), size_t(0));
    std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
      return std::pair(slots[a].life.begin, a) < std::pair(slots[b].life.begin, b);
    });
    rank.resize(slots.size());
    for (size_t i = 0; i < order.size(); ++i)
      rank[order[i]] = i;
    while (leaves < slots.size())
      leaves *= 2;
    latestEnd.assign(2 * leaves, 0);
  }

  void mark(size_t slot) {
    for (size_t node = leaves + rank[slot]; node > 0; node /= 2)
      latestEnd[node] = std::max(latestEnd[node], slots[slot].life.end);
  }

  /// Calls `visit(slot)` for every marked slot whose life overlaps `life`, by
  /// begin.
  template <typename Visit>
  void forEachOverlap(const Lifetime &life, Visit visit) const {
    descend(/*node=*/1, /*first=*/0, leaves, life, visit);
  }

private:
  template <typename Visit>
  void descend(size_t node, size_t first, size_t count, const Lifetime &life, Visit &visit) const {
    if (first >= order.size() || latestEnd[node] <= life.begin ||
        slots[order[first]].life.begin >= life.end)
      return;
    if (count == 1)
      return visit(order[first]);
    descend(2 * node, first, count / 2, life, visit);
    descend(2 * node + 1, first + count / 2, count / 2, life, visit);
  }

  const std::vector<Slot> &slots;
  std::vector<size_t> order, rank;
  size_t leaves = 1;
  std::vector<uint32_t> latestEnd;
};

//---- sweep over time ------------------------------------------------------------------------===//

enum class Fit { Next, Lowest };

/// Allocates in order of begin from a list of free runs. Fixed slots are never
/// in the list: a new slot avoids those that live at the same time, also the
/// ones that begin later.
class OnlineAllocator {
public:
  OnlineAllocator(std::vector<Slot> &slots, const SlotMemory &memory,
                  const std::vector<bool> &fixed)
      : slots(slots), memory(memory), fixed(fixed), fixedIndex(slots) {
    for (size_t i = 0; i < slots.size(); ++i)
      if (fixed[i]) {
        fixedIndex.mark(i);
        hasFixed = true;
      }
    // In whole units: what lies between the capacity and the next unit is never
    // handed out.
    freeRuns[0] = roundUp(memory.capacity, memory.alignment);
  }

  std::optional<size_t> run(const std::vector<size_t> &byBegin, Fit fit) {
    for (size_t i : byBegin) {
      if (fixed[i])
        continue;
      releaseUntil(slots[i].life.begin);
      const int64_t address = find(slots[i], fit);
      if (address < 0)
        return i;
      take(address, i);
      cursor = address + roundUp(slots[i].size, memory.alignment);
    }
    return std::nullopt;
  }

private:
  void releaseUntil(uint32_t time) {
    while (!ends.empty() && ends.top().first <= time) {
      const Slot &slot = slots[ends.top().second];
      ends.pop();
      release(slot.address, slot.address + roundUp(slot.size, memory.alignment));
    }
  }

  void release(int64_t lo, int64_t hi) {
    auto next = freeRuns.lower_bound(lo);
    if (next != freeRuns.end() && next->first == hi) {
      hi = next->second;
      next = freeRuns.erase(next);
    }
    if (next != freeRuns.begin())
      if (auto previous = std::prev(next); previous->second == lo) {
        previous->second = hi;
        return;
      }
    freeRuns.emplace_hint(next, lo, hi);
  }

  void take(int64_t address, size_t i) {
    slots[i].address = address;
    const int64_t end = address + roundUp(slots[i].size, memory.alignment);
    auto run = std::prev(freeRuns.upper_bound(address));
    const int64_t lo = run->first, hi = run->second;
    freeRuns.erase(run);
    if (lo < address)
      freeRuns[lo] = address;
    if (end < hi)
      freeRuns[end] = hi;
    ends.push({slots[i].life.end, i});
  }

  int64_t find(const Slot &slot, Fit fit) {
    blocked.clear();
    if (hasFixed) {
      fixedIndex.forEachOverlap(slot.life, [&](size_t other) {
        blocked.push_back({slots[other].address, slots[other].address + slots[other].size});
      });
      std::sort(blocked.begin(), blocked.end());
    }
    if (fit == Fit::Next)
      for (auto run = firstRunAfter(cursor); run != freeRuns.end(); ++run)
        if (int64_t at = findIn(std::max(run->first, cursor), run->second, slot.size); at >= 0)
          return at;
    for (const auto &[lo, hi] : freeRuns)
      if (int64_t at = findIn(lo, hi, slot.size); at >= 0)
        return at;
    return -1;
  }

  /// The run that holds `at`, or the next one.
  std::map<int64_t, int64_t>::iterator firstRunAfter(int64_t at) {
    auto run = freeRuns.upper_bound(at);
    if (run != freeRuns.begin() && std::prev(run)->second > at)
      --run;
    return run;
  }

  /// Lowest address in [lo, hi) with room for `size` bytes beside the blocked
  /// runs, or -1.
  int64_t findIn(int64_t lo, int64_t hi, int64_t size) const {
    hi = std::min(hi, memory.capacity);
    int64_t at = roundUp(lo, memory.alignment);
    for (const Run &run : blocked) {
      if (run.hi <= at)
        continue;
      if (run.lo >= at + size)
        break;
      at = roundUp(run.hi, memory.alignment);
    }
    return at + size <= hi ? at : -1;
  }

  using End = std::pair<uint32_t, size_t>;
  std::vector<Slot> &slots;
  const SlotMemory &memory;
  const std::vector<bool> &fixed;
  LifeIndex fixedIndex;
  bool hasFixed = false;
  std::map<int64_t, int64_t> freeRuns; ///< disjoint, not adjacent
  std::priority_queue<End, std::vector<End>, std::greater<>> ends;
  std::vector<Run> blocked;
  int64_t cursor = 0;
};

//---- any order ------------------------------------------------------------------------------===//

/// Places the slots of `order` one by one at the lowest address free during
/// their whole life, beside what is fixed. Gives up when `budget`, a number of
/// steps, is spent: a crowd of tiny slots must not cost a quadratic search.
std::optional<size_t> packOffline(std::vector<Slot> &slots, const SlotMemory &memory,
                                  std::vector<bool> &fixed, const std::vector<size_t> &order,
                                  size_t &budget) {
  LifeIndex index(slots);
  for (size_t i = 0; i < slots.size(); ++i)
    if (fixed[i])
      index.mark(i);
  std::vector<Run> busy;
  for (size_t i : order) {
    if (fixed[i])
      continue;
    busy.clear();
    index.forEachOverlap(slots[i].life, [&](size_t other) {
      busy.push_back({slots[other].address, slots[other].address + slots[other].size});
    });
    if (busy.size() >= budget)
      return i;
    budget -= busy.size() + 1;
    std::sort(busy.begin(), busy.end());
    int64_t at = 0;
    for (const Run &run : busy) {
      if (run.lo >= at + slots[i].size)
        break;
      at = std::max(at, roundUp(run.hi, memory.alignment));
    }
    if (at + slots[i].size > memory.capacity)
      return i;
    slots[i].address = at;
    fixed[i] = true;
    index.mark(i);
  }
  return std::nullopt;
}

//---- the ladder -----------------------------------------------------------------------------===//

class Ladder {
public:
  Ladder(std::vector<Slot> &slots, const SlotMemory &memory)
      : slots(slots), memory(memory), budget(256 * slots.size() + 8'000'000) {
    for (const Slot &slot : slots)
      given.push_back(slot.isFixed);
    byBegin = sorted([&](size_t i) { return int64_t(slots[i].life.begin); });
  }

  std::optional<size_t> firstFit() {
    return OnlineAllocator(slots, memory, given).run(byBegin, Fit::Lowest);
  }

  std::optional<size_t> rotate() {
    std::optional<size_t> failed = OnlineAllocator(slots, memory, given).run(byBegin, Fit::Next);
    // A slot that stays while many others come and go cuts the memory in two
    // wherever the cursor left it. Packed first at the low end, such slots
    // leave one run to rotate in.
    for (uint32_t factor : {16, 4, 2})
      if (failed)
        failed = rotateAround(factor);
    if (failed)
      failed = firstFit();
    if (failed)
      failed = squeaked(lifeOrder());
    if (failed)
      failed = squeaked(sizeOrder());
    return failed;
  }

  /// The lowest peak of all strategies.
  std::optional<size_t> compact() {
    std::optional<size_t> failed = firstFit();
    int64_t best = failed ? INT64_MAX : peak();
    std::vector<Slot> bestSlots = slots;
    const auto keepBetter = [&](std::optional<size_t> attempt) {
      if (attempt || peak() >= best)
        return;
      best = peak();
      bestSlots = slots;
      failed.reset();
    };
    keepBetter(packed(sizeOrder()));
    keepBetter(packed(lifeOrder()));
    keepBetter(rotate());
    slots = std::move(bestSlots);
    return failed;
  }

private:
  /// Slots by ascending `key`, then by number.
  template <typename Key>
  std::vector<size_t> sorted(Key key) const {
    std::vector<size_t> order(slots.size());
    std::iota(order.begin(), order.end(), size_t(0));
    std::sort(order.begin(), order.end(),
              [&](size_t a, size_t b) { return std::pair(key(a), a) < std::pair(key(b), b); });
    return order;
  }
  /// Largest first, the longest of them first.
  std::vector<size_t> sizeOrder() const {
    return sorted(
        [&](size_t i) { return std::pair(-slots[i].size, -int64_t(slots[i].life.length())); });
  }
  /// Longest life first, the largest of them first.
  std::vector<size_t> lifeOrder() const {
    return sorted(
        [&](size_t i) { return std::pair(-int64_t(slots[i].life.length()), -slots[i].size); });
  }

  std::optional<size_t> packed(const std::vector<size_t> &order) {
    std::vector<bool> fixed = given;
    return packOffline(slots, memory, fixed, order, budget);
  }

  /// Packs again and again, each time with what found no place moved to the
  /// front: slots that are hard to place get to choose first.
  std::optional<size_t> squeaked(std::vector<size_t> order) {
    constexpr int kAttempts = 32;
    std::optional<size_t> failed = order.front();
    for (int attempt = 0; attempt < kAttempts && budget > 0; ++attempt) {
      failed = packed(order);
      if (!failed)
        break;
      const auto squeaky = std::find(order.begin(), order.end(), *failed);
      std::rotate(order.begin(), squeaky, std::next(squeaky));
    }
    return failed;
  }

  std::optional<size_t> rotateAround(uint32_t factor) {
    std::vector<size_t> order = lifeOrder();
    const uint64_t longLife = uint64_t(factor) * slots[order[order.size() / 2]].life.length();
    while (!order.empty() && slots[order.back()].life.length() <= longLife)
      order.pop_back();
    std::vector<bool> fixed = given;
    if (std::optional<size_t> failed = packOffline(slots, memory, fixed, order, budget))
      return failed;
    return OnlineAllocator(slots, memory, fixed).run(byBegin, Fit::Next);
  }

  int64_t peak() const {
    int64_t end = 0;
    for (const Slot &slot : slots)
      end = std::max(end, slot.address + slot.size);
    return end;
  }

  std::vector<Slot> &slots;
  const SlotMemory &memory;
  std::vector<bool> given;
  std::vector<size_t> byBegin;
  size_t budget; ///< steps all offline attempts together may take
};

/// True when more bytes are live at some time than there are, whatever the
/// addresses.
bool exceedsCapacity(const std::vector<Slot> &slots, int64_t capacity) {
  std::vector<std::pair<uint32_t, int64_t>> changes;
  for (const Slot &slot : slots) {
    if (slot.isFixed)
      return false; // fixed slots may share bytes
    changes.push_back({slot.life.begin, slot.size});
    changes.push_back({slot.life.end, -slot.size});
  }
  std::sort(changes.begin(), changes.end());
  int64_t live = 0;
  for (const auto &[time, size] : changes)
    if ((live += size) > capacity)
      return true;
  return false;
}

} // namespace

std::optional<size_t> assignSlots(std::vector<Slot> &slots, const SlotMemory &memory,
                                  SlotStrategy strategy) {
  if (slots.empty())
    return std::nullopt;
  Ladder ladder(slots, memory);
  if (exceedsCapacity(slots, memory.capacity))
    return ladder.firstFit();
  return strategy == SlotStrategy::Compact ? ladder.compact() : ladder.rotate();
}

} // namespace kiln::analysis
