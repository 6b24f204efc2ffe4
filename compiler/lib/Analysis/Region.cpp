//===- Region.cpp - accesses as rectangles of physical memory ---------------------------------===//
//
// An access becomes a pattern in bytes: where it starts, and its dims by
// ascending step. Everything else is arithmetic on patterns.
//
//===------------------------------------------------------------------------------------------===//

#include "kiln/Analysis/Region.h"

#include <algorithm>

namespace kiln::analysis {
namespace {

constexpr size_t kMaxPitches = 12;

struct Dim {
  int64_t step, num; ///< step > 0 in bytes, num > 1
};

/// Runs of `width` bytes, the first at `first`.
struct Pattern {
  int64_t first = 0;
  int64_t width = 0;
  std::array<Dim, isa::kMaxFreeDims + 1> dims{};
  unsigned rank = 0;

  void add(int64_t step, int64_t num) {
    if (num <= 1 || step == 0)
      return;
    if (step < 0) {
      first += step * (num - 1);
      step = -step;
    }
    unsigned i = rank++;
    for (; i > 0 && dims[i - 1].step > step; --i)
      dims[i] = dims[i - 1];
    dims[i] = {step, num};
  }

  /// Grows `width` by the dims that leave no gap and drops them.
  void join() {
    unsigned kept = 0;
    for (unsigned i = 0; i < rank; ++i)
      if (kept == 0 && dims[i].step <= width)
        width += dims[i].step * (dims[i].num - 1);
      else
        dims[kept++] = dims[i];
    rank = kept;
  }

  int64_t span() const {
    int64_t bytes = width;
    for (unsigned i = 0; i < rank; ++i)
      bytes += dims[i].step * (dims[i].num - 1);
    return bytes;
  }
  int64_t runs() const {
    int64_t n = 1;
    for (unsigned i = 0; i < rank; ++i)
      n *= dims[i].num;
    return n;
  }
};

Pattern rowPattern(const isa::Access &access) {
  const int64_t size = isa::bytesOf(access.dtype);
  Pattern pattern;
  pattern.first = access.offset * size;
  pattern.width = size;
  for (unsigned i = 0; i < access.rank; ++i)
    pattern.add(access.step[i] * size, access.num[i]);
  return pattern;
}

Pattern flatPattern(const isa::Access &access) {
  Pattern pattern = rowPattern(access);
  pattern.add(access.rowStep * isa::bytesOf(access.dtype), access.partitionCount);
  return pattern;
}

/// Appends the runs of `pattern`, on the rows of `rows`; one large run when
/// there are too many.
void addRuns(Pattern pattern, const Region &rows, RegionMap::Pieces &pieces) {
  pattern.join();
  if (pattern.runs() > RegionMap::kMaxPieces) {
    pattern.width = pattern.span();
    pattern.rank = 0;
  }
  const int64_t count = pattern.runs();
  for (int64_t run = 0; run < count; ++run) {
    int64_t at = pattern.first;
    for (int64_t rest = run, i = 0; i < pattern.rank; ++i) {
      at += rest % pattern.dims[i].num * pattern.dims[i].step;
      rest /= pattern.dims[i].num;
    }
    Region region = rows;
    region.lo = at;
    region.hi = at + pattern.width;
    pieces.regions[pieces.count++] = region;
  }
}

/// A pattern seen as rows of `pitch` bytes: which rows, and which bytes in each
/// of them.
struct Rows {
  bool isRegular = false; ///< the same bytes in every row
  bool isExact = false;   ///< and no row or byte too many
  int64_t rowLo = 0, rowHi = 0;
  Pattern columns;
};

Rows cut(const Pattern &pattern, int64_t pitch) {
  Rows result;
  result.columns.first = pattern.first % pitch;
  result.columns.width = pattern.width;
  Pattern rows;
  rows.width = 1;
  for (unsigned i = 0; i < pattern.rank; ++i) {
    const Dim &dim = pattern.dims[i];
    if (dim.step % pitch == 0)
      rows.add(dim.step / pitch, dim.num);
    else
      result.columns.add(dim.step, dim.num);
  }
  result.rowLo = pattern.first / pitch;
  result.rowHi = result.rowLo + rows.span();
  result.isRegular = result.columns.first + result.columns.span() <= pitch;
  rows.join();
  Pattern dense = result.columns;
  dense.join();
  result.isExact = result.isRegular && rows.rank == 0 && dense.rank == 0;
  return result;
}

/// The flat bytes [lo, hi) as rectangles: the end of a row, whole rows, the
/// start of a row.
void addFlat(int64_t lo, int64_t hi, int64_t pitch, uint32_t space, RegionMap::Pieces &pieces) {
  const auto add = [&](int64_t rowLo, int64_t rowHi, int64_t from, int64_t to) {
    if (rowLo < rowHi && from < to)
      pieces.regions[pieces.count++] = {space, rowLo, rowHi, from, to};
  };
  const int64_t firstRow = lo / pitch, lastRow = (hi - 1) / pitch;
  if (firstRow == lastRow)
    return add(firstRow, firstRow + 1, lo % pitch, (hi - 1) % pitch + 1);
  const bool wholeFirst = lo % pitch == 0, wholeLast = hi % pitch == 0;
  if (!wholeFirst)
    add(firstRow, firstRow + 1, lo % pitch, pitch);
  add(firstRow + !wholeFirst, lastRow + wholeLast, 0, pitch);
  if (!wholeLast)
    add(lastRow, lastRow + 1, 0, hi % pitch);
}

//---- pitches --------------------------------------------------------------------------------===//

/// Pitches worth trying for one tensor, and how many accesses each makes exact.
struct Candidates {
  std::vector<int64_t> pitches;
  std::vector<uint32_t> scores;

  void add(int64_t pitch, int64_t bytes) {
    if (pitch <= 0 || pitch > bytes || pitches.size() >= kMaxPitches ||
        std::find(pitches.begin(), pitches.end(), pitch) != pitches.end())
      return;
    pitches.push_back(pitch);
    scores.push_back(0);
  }
  void score(const Pattern &pattern) {
    Pattern joined = pattern;
    joined.join();
    for (size_t i = 0; i < pitches.size(); ++i)
      scores[i] += joined.rank == 0 || cut(pattern, pitches[i]).isExact;
  }
  /// The first of the best.
  int64_t best() const {
    if (pitches.empty())
      return 1;
    return pitches[size_t(std::max_element(scores.begin(), scores.end()) - scores.begin())];
  }
};

template <typename Visit>
void forEachHbmAccess(const Kernel &kernel, const std::vector<bool> &written, Visit visit) {
  for (const KernelInstruction &entry : kernel.instructions)
    for (const isa::Access &access : entry.inst.operands)
      if (access.present() && written[access.tensor] && !kernel.tensors[access.tensor].isOnChip())
        visit(access);
}

} // namespace

RegionMap::RegionMap(const Kernel &kernel, const Placement &placement)
    : kernel(kernel), placement(placement), written(kernel.tensors.size()),
      pitches(kernel.tensors.size()) {
  for (const KernelInstruction &entry : kernel.instructions)
    for (unsigned i = 0; i < isa::kMaxOperands; ++i)
      if (operandUse(entry.inst, i).writes)
        written[entry.inst.operands[i].tensor] = true;

  // Natural rows first, from the last dim outwards, so that ties fall to them;
  // then the steps that accesses really take, as in a 1-D tensor read as [128,
  // N / 128].
  std::vector<Candidates> candidates(kernel.tensors.size());
  for (uint32_t t = 0; t < kernel.tensors.size(); ++t) {
    const KernelTensor &tensor = kernel.tensors[t];
    if (tensor.isOnChip() || !written[t])
      continue;
    int64_t pitch = isa::bytesOf(tensor.dtype);
    for (size_t d = tensor.shape.size(); d-- > 0;)
      candidates[t].add(pitch *= tensor.shape[d], tensor.bytes());
  }
  forEachHbmAccess(kernel, written, [&](const isa::Access &access) {
    const Pattern pattern = flatPattern(access);
    for (unsigned i = 0; i < pattern.rank; ++i)
      candidates[access.tensor].add(pattern.dims[i].step, kernel.tensors[access.tensor].bytes());
  });
  forEachHbmAccess(kernel, written, [&](const isa::Access &access) {
    candidates[access.tensor].score(flatPattern(access));
  });
  for (uint32_t t = 0; t < kernel.tensors.size(); ++t)
    if (written[t] && !kernel.tensors[t].isOnChip())
      pitches[t] = candidates[t].best();
}

RegionMap::Pieces RegionMap::regions(const isa::Access &access) const {
  Pieces pieces;
  const KernelTensor &tensor = kernel.tensors[access.tensor];
  if (tensor.isOnChip()) {
    const isa::TensorAddress &address = placement.addresses[access.tensor];
    Region rows;
    rows.space = tensor.memory == isa::Memory::Psum;
    rows.rowLo = int64_t(address.partition) + access.partitionStart;
    rows.rowHi = rows.rowLo + access.partitionCount;
    Pattern pattern = rowPattern(access);
    pattern.first += int64_t(address.byte);
    addRuns(pattern, rows, pieces);
    return pieces;
  }
  const uint32_t space = 2 + access.tensor;
  const Pattern pattern = flatPattern(access);
  const int64_t pitch = std::max<int64_t>(1, pitches[access.tensor]);
  if (const Rows rows = cut(pattern, pitch); rows.isRegular)
    addRuns(rows.columns, {space, rows.rowLo, rows.rowHi, 0, 0}, pieces);
  else
    addFlat(pattern.first, pattern.first + pattern.span(), pitch, space, pieces);
  return pieces;
}

} // namespace kiln::analysis
