//===- Footprint.cpp - the exact bytes an operand touches -------------------------------------===//

#include "Footprint.h"

#include <algorithm>

using namespace kilnrt;
using namespace kilnrt::mutation;

namespace {

struct Dim {
  int64_t step, num; // in bytes, not negative
};

/// `starts` are the first bytes of runs of `length` bytes each.
Runs joined(std::vector<int64_t> starts, int64_t length) {
  std::sort(starts.begin(), starts.end());
  Runs runs;
  for (const int64_t start : starts) {
    if (!runs.empty() && start <= runs.back().end)
      runs.back().end = std::max(runs.back().end, start + length);
    else
      runs.push_back({start, start + length});
  }
  return runs;
}

/// The bytes of elements of `length` bytes that lie at all sums of the dims, from `low` on.
Runs runsOf(std::vector<Dim> dims, int64_t length, int64_t low) {
  std::sort(dims.begin(), dims.end(), [](Dim a, Dim b) { return a.step < b.step; });
  // A dim whose step is no larger than what the smaller ones cover leaves no gap.
  size_t first = 0;
  for (; first < dims.size() && dims[first].step <= length; ++first)
    length += dims[first].step * (dims[first].num - 1);
  std::vector<int64_t> starts = {low};
  for (; first < dims.size(); ++first) {
    const size_t before = starts.size();
    for (int64_t i = 1; i < dims[first].num; ++i)
      for (size_t k = 0; k < before; ++k)
        starts.push_back(starts[k] + i * dims[first].step);
  }
  return joined(std::move(starts), length);
}

} // namespace

Footprint Footprints::of(const Program &program, const isa::Access &access, bool isWrite) {
  const TensorInfo &tensor = program.tensors[access.tensor];
  const bool isOnChip = tensor.memory != isa::Memory::Hbm;
  const int64_t size = isa::bytesOf(access.dtype);

  Footprint footprint;
  footprint.tensor = access.tensor;
  footprint.isWrite = isWrite;
  footprint.base = access.offset * size;
  std::vector<Dim> dims;
  int64_t low = 0;
  const auto add = [&](int64_t step, int64_t num) {
    if (num <= 1 || step == 0)
      return;
    if (step < 0)
      low += step * (num - 1) * size;
    dims.push_back({std::abs(step) * size, num});
  };
  for (unsigned i = 0; i < access.rank; ++i)
    add(access.step[i], access.num[i]);
  if (isOnChip) {
    footprint.base += int64_t(tensor.byte);
    footprint.firstPartition = tensor.partition + access.partitionStart;
    footprint.endPartition = footprint.firstPartition + access.partitionCount;
  } else {
    add(access.rowStep, access.partitionCount);
  }
  for (unsigned i = 0; i < isa::kMaxLoopDepth; ++i)
    footprint.loopStep[i] = access.loopStep[i] * size;

  std::vector<int64_t> key = {size, low};
  for (const Dim dim : dims)
    key.insert(key.end(), {dim.step, dim.num});
  std::unique_ptr<Runs> &runs = patterns[key];
  if (!runs)
    runs = std::make_unique<Runs>(runsOf(dims, size, low));
  footprint.runs = runs.get();
  return footprint;
}

bool kilnrt::mutation::meet(const Footprint &a, const Footprint &b, int64_t shift) {
  if (a.endPartition <= b.firstPartition || b.endPartition <= a.firstPartition)
    return false;
  const int64_t moved = b.base + shift - a.base; // b's runs, relative to a's base
  if (a.runs->back().end <= b.runs->front().first + moved ||
      b.runs->back().end + moved <= a.runs->front().first)
    return false;
  auto i = a.runs->begin();
  auto j = b.runs->begin();
  while (i != a.runs->end() && j != b.runs->end()) {
    if (i->end <= j->first + moved)
      ++i;
    else if (j->end + moved <= i->first)
      ++j;
    else
      return true;
  }
  return false;
}

bool kilnrt::mutation::overlap(const TensorInfo &a, const TensorInfo &b) {
  if (a.memory != b.memory || a.memory == isa::Memory::Hbm)
    return &a == &b;
  const auto rows = [](const TensorInfo &t) { return uint32_t(t.shape[0]); };
  return a.partition < b.partition + rows(b) && b.partition < a.partition + rows(a) &&
         a.byte < b.byte + uint64_t(b.freeBytes()) && b.byte < a.byte + uint64_t(a.freeBytes());
}
