//===- RulesOverlap.cpp - a transfer onto its own source --------------------------------------===//
//
// The shares of one transfer run on sixteen DMA engines in no order, so a transfer between
// overlapping views of one tensor would give bits that depend on chance.
//
//===------------------------------------------------------------------------------------------===//

#include "RuleHelpers.h"
#include "kiln/ISA/Args.h"

#include <algorithm>
#include <vector>

namespace kiln::isa::rules {
namespace {

/// Bytes [lo, hi) of a tensor, partitions laid one after the other.
struct Run {
  int64_t lo, hi;
};

/// More runs than this are taken to overlap where their hulls do: nobody moves so many single
/// elements on purpose, and finding out would take longer than the transfer.
constexpr int64_t kMaxRuns = int64_t{1} << 22;

/// Step from row to row, in bytes.
int64_t rowBytes(const Access &a, const TensorView &tensor) {
  return tensor.memory == Memory::Hbm ? a.rowStep * bytesOf(a.dtype)
                                      : tensor.freeElements() * bytesOf(tensor.dtype);
}

int64_t firstByte(const Access &a, const TensorView &tensor) {
  return int64_t(a.partitionStart) * (tensor.memory == Memory::Hbm ? 0 : rowBytes(a, tensor)) +
         a.offset * bytesOf(a.dtype);
}

Run hullOf(const Access &a, const TensorView &tensor) {
  int64_t lo = firstByte(a, tensor), hi = lo;
  const auto extend = [&](int64_t step, int64_t num) { (step < 0 ? lo : hi) += step * (num - 1); };
  extend(rowBytes(a, tensor), a.partitionCount);
  for (unsigned i = 0; i < a.rank; ++i)
    extend(a.step[i] * bytesOf(a.dtype), a.num[i]);
  return {lo, hi + bytesOf(a.dtype)};
}

/// Contiguous runs of the access, sorted; a contiguous innermost dim is one run.
std::vector<Run> runsOf(const Access &a, const TensorView &tensor) {
  unsigned rank = a.rank;
  int64_t length = bytesOf(a.dtype);
  if (rank > 0 && a.step[rank - 1] == 1)
    length *= a.num[--rank];
  std::vector<Run> runs = {{firstByte(a, tensor), firstByte(a, tensor) + length}};
  const auto repeat = [&runs](int64_t step, int64_t num) {
    const size_t count = runs.size();
    for (int64_t i = 1; i < num; ++i)
      for (size_t r = 0; r < count; ++r)
        runs.push_back({runs[r].lo + i * step, runs[r].hi + i * step});
  };
  for (unsigned i = 0; i < rank; ++i)
    repeat(a.step[i] * bytesOf(a.dtype), a.num[i]);
  repeat(rowBytes(a, tensor), a.partitionCount);
  std::ranges::sort(runs, {}, &Run::lo);
  return runs;
}

bool meet(const std::vector<Run> &a, const std::vector<Run> &b) {
  auto x = a.begin();
  auto y = b.begin();
  while (x != a.end() && y != b.end()) {
    if (x->lo < y->hi && y->lo < x->hi)
      return true;
    x->hi <= y->lo ? ++x : ++y;
  }
  return false;
}

} // namespace

void dmaOverlap(const InstView &view, std::string_view id, const RuleSink &sink) {
  const Access &dst = view.access(DmaCopyArgs::dst), &src = view.access(DmaCopyArgs::src);
  // The same elements onto themselves are read before they are written, each by one engine.
  if (dst.tensor != src.tensor || (dst == src && !view.desc.crossesPartitions))
    return;
  const TensorView &tensor = view.tensors[DmaCopyArgs::dst];
  const Run to = hullOf(dst, tensor), from = hullOf(src, tensor);
  if (to.lo >= from.hi || from.lo >= to.hi)
    return;
  if (dst.elements() <= kMaxRuns && !meet(runsOf(dst, tensor), runsOf(src, tensor)))
    return;
  report(
      sink, id, DmaCopyArgs::dst,
      text(view.describe(DmaCopyArgs::dst), " and src overlap in one tensor: a transfer's ",
           machine.dmaEngines, " engines move their shares in no order"),
      "copy to a second tensor first, or split the transfer so that no part reads what it writes");
}

} // namespace kiln::isa::rules
