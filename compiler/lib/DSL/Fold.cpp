//===- Fold.cpp - merging the dims of a view into an access pattern ---------------------------===//

#include "Fold.h"

#include "Text.h"

#include <algorithm>

namespace kiln::trace {
namespace {

struct Dim {
  int64_t step, num;
};

/// Dims of a view, outermost first. One spare place: foldRows splits a dim.
struct DimList {
  std::array<Dim, nl::detail::maxRank + 1> dims;
  unsigned count = 0;
  void push(Dim d) { dims[count++] = d; }
};

/// Appends `d`, merged with the dim before it when the two are one run of at most `limit` elements.
void pushMerged(DimList &list, Dim d, int64_t limit) {
  if (d.num == 1)
    return;
  if (list.count) {
    Dim &outer = list.dims[list.count - 1];
    if (outer.step == multiply(d.step, d.num) && multiply(outer.num, d.num) <= limit) {
      outer = {d.step, outer.num * d.num};
      return;
    }
  }
  list.push(d);
}

/// Free dims of `view` from dim `first` on.
DimList freeDims(const nl::detail::View &view, unsigned first, FreeDims mode) {
  // A hardware pattern counts to 65535; HBM patterns have no such limit.
  int64_t limit = nl::is_on_chip(view.buffer) ? int64_t(isa::machine.maxFreeCount) : INT64_MAX;
  DimList list;
  for (unsigned i = first; i < view.rank; ++i) {
    if (mode == FreeDims::Merge)
      pushMerged(list, {view.stride[i], view.shape[i]}, limit);
    else
      // The step of a single element is never taken; 1 is its one spelling.
      list.push({view.shape[i] == 1 ? 1 : view.stride[i], view.shape[i]});
  }
  if (list.count == 0)
    list.push({1, 1});
  return list;
}

void setFreeDims(isa::Access &access, const DimList &list, unsigned first = 0) {
  access.rank = static_cast<uint8_t>(list.count - first);
  for (unsigned i = first; i < list.count; ++i) {
    access.step[i - first] = list.dims[i].step;
    access.num[i - first] = list.dims[i].num;
  }
}

isa::Access common(const nl::detail::View &view, uint32_t tensor) {
  isa::Access access;
  access.tensor = tensor;
  access.dtype = toIsa(view.dtype);
  access.offset = view.offset;
  static_assert(isa::kMaxLoopDepth == nl::detail::maxLoopDepth);
  std::copy(std::begin(view.moves.step), std::end(view.moves.step), access.loopStep.begin());
  if (view.index != 0) {
    access.indexing = isa::Indexing::Scalar;
    access.indexRegister = uint16_t(view.index - 1);
    access.indexStep = view.indexStep;
    access.indexExtent = view.indexExtent;
  }
  return access;
}

} // namespace

isa::Access foldView(const nl::detail::View &view, uint32_t tensor, FreeDims dims) {
  isa::Access access = common(view, tensor);
  bool onChip = nl::is_on_chip(view.buffer);
  bool oneRow = !onChip && view.rank == 1;
  if (onChip)
    access.partitionStart = view.partition;
  if (!oneRow) {
    access.partitionCount = static_cast<uint32_t>(std::min<int64_t>(view.shape[0], UINT32_MAX));
    access.rowStep = onChip || view.shape[0] == 1 ? 0 : view.stride[0];
  }
  setFreeDims(access, freeDims(view, oneRow ? 0 : 1, dims));
  return access;
}

isa::Access foldRows(const nl::detail::View &view, uint32_t tensor, int64_t rows) {
  DimList list = freeDims(view, 0, FreeDims::Merge);
  Dim outer = list.dims[0];
  bool exact = outer.num == rows;
  if (rows == 1 && list.count <= isa::kMaxFreeDims) {
    isa::Access access = common(view, tensor);
    setFreeDims(access, list);
    return access;
  }
  if (outer.num % rows != 0 || (!exact && list.count > isa::kMaxFreeDims))
    return foldView(view, tensor);
  isa::Access access = common(view, tensor);
  access.partitionCount = static_cast<uint32_t>(rows);
  access.rowStep = multiply(outer.step, outer.num / rows);
  if (exact && list.count == 1)
    list.push({1, 1});
  if (!exact)
    list.dims[0].num = outer.num / rows;
  setFreeDims(access, list, exact ? 1 : 0);
  return access;
}

} // namespace kiln::trace
