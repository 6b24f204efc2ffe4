//===- Overlap.cpp - whether two accesses of one tensor meet ----------------------------------===//
//
// Bytes of a tensor lie on a line: HBM as it is, on chip one partition after the other. Most
// accesses are blocks of one grid, which two comparisons tell apart; for the rest the runs are
// listed.
//
//===------------------------------------------------------------------------------------------===//

#include "kiln/ISA/Overlap.h"

#include <algorithm>
#include <vector>

namespace kiln::isa {
namespace {

/// Bytes [lo, hi) of a tensor.
struct Run {
  int64_t lo, hi;
};

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

/// The bytes between the first and the last one of the first row.
Run rowHull(const Access &a, const TensorView &tensor) {
  int64_t lo = firstByte(a, tensor), hi = lo;
  for (unsigned i = 0; i < a.rank; ++i)
    (a.step[i] < 0 ? lo : hi) += a.step[i] * (a.num[i] - 1) * bytesOf(a.dtype);
  return {lo, hi + bytesOf(a.dtype)};
}

Run hullOf(const Access &a, const TensorView &tensor) {
  Run hull = rowHull(a, tensor);
  int64_t reach = rowBytes(a, tensor) * (int64_t(a.partitionCount) - 1);
  (reach < 0 ? hull.lo : hull.hi) += reach;
  return hull;
}

bool meet(Run a, Run b) { return a.lo < b.hi && b.lo < a.hi; }

/// A block of the grid whose rows are `pitch` bytes long.
struct Block {
  int64_t rowLo, rowHi;
  Run columns;
};

/// The smallest block around the access, if it lies in the grid.
std::optional<Block> blockOf(const Access &a, const TensorView &tensor, int64_t pitch) {
  const Run row = rowHull(a, tensor);
  const int64_t step = rowBytes(a, tensor);
  if (row.lo < 0 || (a.partitionCount > 1 && step != pitch))
    return std::nullopt;
  const int64_t first = row.lo / pitch, column = row.lo % pitch, length = row.hi - row.lo;
  if (column + length > pitch)
    return std::nullopt;
  return Block{first, first + a.partitionCount, {column, column + length}};
}

/// Proves that the accesses share nothing, for blocks of one grid.
bool areDisjointBlocks(const Access &a, const Access &b, const TensorView &tensor) {
  const int64_t pitch = rowBytes(a.partitionCount > 1 ? a : b, tensor);
  if (pitch <= 0)
    return false;
  std::optional<Block> x = blockOf(a, tensor, pitch), y = blockOf(b, tensor, pitch);
  return x && y && (x->rowHi <= y->rowLo || y->rowHi <= x->rowLo || !meet(x->columns, y->columns));
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
    if (meet(*x, *y))
      return true;
    x->hi <= y->lo ? ++x : ++y;
  }
  return false;
}

} // namespace

bool shareBytes(const Access &a, const Access &b, const TensorView &tensor) {
  if (!meet(hullOf(a, tensor), hullOf(b, tensor)) || areDisjointBlocks(a, b, tensor))
    return false;
  if (a == b || std::max(a.elements(), b.elements()) > kMaxRuns)
    return true;
  return meet(runsOf(a, tensor), runsOf(b, tensor));
}

} // namespace kiln::isa
