//===- Registers.cpp - which engine needs which register, and under which number --------------===//

#include "kiln/Analysis/Registers.h"

#include <algorithm>

namespace kiln::analysis {
namespace {

/// Positions at which a register holds a value somebody may want.
struct Range {
  size_t first, last;
};

/// The loops of the list, as pairs of positions, inner ones after their outer ones.
std::vector<Range> loopsOf(const std::vector<RegisterUse> &uses) {
  std::vector<Range> loops;
  std::vector<size_t> open;
  for (size_t i = 0; i < uses.size(); ++i) {
    if (uses[i].edge == RegisterUse::Begin) {
      open.push_back(loops.size());
      loops.push_back({i, i});
    } else if (uses[i].edge == RegisterUse::End) {
      loops[open.back()].last = i;
      open.pop_back();
    }
  }
  return loops;
}

/// From the first to the last place that names each register, and over every loop that it enters,
/// leaves or goes round with a value.
std::map<uint16_t, Range> rangesOf(const std::vector<RegisterUse> &uses) {
  std::map<uint16_t, Range> ranges;
  std::map<uint16_t, bool> startsWithRead;
  const auto touch = [&](uint16_t number, size_t at, bool reads) {
    auto [it, isNew] = ranges.try_emplace(number, Range{at, at});
    it->second.last = at;
    if (isNew)
      startsWithRead[number] = reads;
  };
  for (size_t i = 0; i < uses.size(); ++i) {
    for (uint16_t number : uses[i].reads)
      touch(number, i, true);
    if (uses[i].sets != isa::kNoRegister)
      touch(uses[i].sets, i, false);
  }
  std::vector<Range> loops = loopsOf(uses);
  // A counter lives as long as its loop.
  for (const Range &loop : loops)
    if (uint16_t counter = uses[loop.first].sets; counter != isa::kNoRegister)
      ranges[counter].last = std::max(ranges[counter].last, loop.last);
  // Inner loops first: growing over one may enter the one around it.
  std::reverse(loops.begin(), loops.end());
  for (const Range &loop : loops)
    for (auto &[number, range] : ranges) {
      const bool isInside = loop.first < range.first && range.last < loop.last;
      const bool meets = range.first <= loop.last && loop.first <= range.last;
      // First set in a loop that may run no iteration, and wanted behind it: what it held before
      // may be wanted.
      if (uses[loop.first].any() && loop.first <= range.first && range.first <= loop.last &&
          loop.last < range.last)
        startsWithRead[number] = true;
      if (!meets || (isInside && !startsWithRead[number]))
        continue;
      range.first = std::min(range.first, loop.first);
      range.last = std::max(range.last, loop.last);
    }
  return ranges;
}

/// The lowest number that is free from the beginning of each range on.
void number(const std::map<uint16_t, Range> &ranges, RegisterPlan &plan) {
  std::vector<std::pair<Range, uint16_t>> order;
  for (const auto &[name, range] : ranges)
    order.push_back({range, name});
  std::ranges::sort(order, {},
                    [](const auto &entry) { return std::pair(entry.first.first, entry.second); });
  std::vector<std::optional<size_t>> busyUntil; ///< by number: the position its range ends at
  for (const auto &[range, name] : order) {
    size_t free = 0;
    uint32_t live = 1;
    for (size_t n = busyUntil.size(); n-- > 0;) {
      const bool isBusy = busyUntil[n] && *busyUntil[n] >= range.first;
      live += isBusy;
    }
    while (free < busyUntil.size() && busyUntil[free] && *busyUntil[free] >= range.first)
      ++free;
    busyUntil.resize(std::max(busyUntil.size(), free + 1));
    busyUntil[free] = range.last;
    plan.numbers[name] = uint16_t(free);
    if (live > uint32_t(isa::machine.maxSequencerRegisters) && live > plan.tooMany) {
      plan.tooMany = live;
      plan.at = range.first;
    }
  }
}

} // namespace

std::vector<isa::Engine> RegisterPlan::enginesOf(const RegisterUse &use) const {
  if (use.sets == isa::kNoRegister) // it writes memory, once
    return {std::ranges::find(engines, isa::Engine::Sync) != engines.end() ? isa::Engine::Sync
                                                                           : engines.front()};
  std::vector<isa::Engine> result;
  if (auto found = needed.find(use.sets); found != needed.end())
    std::ranges::copy_if(engines, std::back_inserter(result),
                         [&](isa::Engine e) { return found->second.contains(e); });
  return result;
}

RegisterPlan planRegisters(const std::vector<RegisterUse> &uses) {
  RegisterPlan plan;
  std::set<isa::Engine> present;
  for (const RegisterUse &use : uses)
    if (use.edge == RegisterUse::None && !use.isSequencer)
      present.insert(use.engine);
  if (present.empty())
    present.insert(isa::Engine::Sync);
  std::ranges::copy_if(kEngines, std::back_inserter(plan.engines),
                       [&](isa::Engine e) { return present.contains(e); });

  // Who needs a register needs what it is computed from.
  bool isGrowing = true;
  const auto need = [&](uint16_t number, isa::Engine engine) {
    isGrowing |= plan.needed[number].insert(engine).second;
  };
  while (isGrowing) {
    isGrowing = false;
    for (const RegisterUse &use : uses) {
      std::vector<isa::Engine> engines;
      if (use.edge != RegisterUse::None)
        engines = plan.engines;
      else if (use.isSequencer)
        engines = plan.enginesOf(use);
      else
        engines = {use.engine};
      for (uint16_t number : use.reads)
        for (isa::Engine engine : engines)
          need(number, engine);
    }
  }
  number(rangesOf(uses), plan);
  return plan;
}

} // namespace kiln::analysis
