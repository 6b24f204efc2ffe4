//===- Overlap.cpp - reads that come after the writes of their own instruction ----------------===//

#include "kiln/ISA/Overlap.h"
#include "Findings.h"

#include <algorithm>

namespace kiln::lint {
namespace {

/// Calls `visit(first byte)` for each element of one row, in the order the engine streams them.
template <class Visit>
void forElements(const isa::Access &a, Visit visit) {
  const int64_t bytes = isa::bytesOf(a.dtype);
  std::array<int64_t, isa::kMaxFreeDims> index{};
  int64_t element = a.offset;
  for (int64_t left = a.freeElements(); left > 0; --left) {
    visit(element * bytes);
    for (unsigned i = a.rank; i-- > 0;) {
      element += a.step[i];
      if (++index[i] < a.num[i])
        break;
      element -= a.step[i] * a.num[i];
      index[i] = 0;
    }
  }
}

bool meetInPartitions(const isa::Access &a, const isa::Access &b) {
  return a.partitionStart < b.partitionStart + b.partitionCount &&
         b.partitionStart < a.partitionStart + a.partitionCount;
}

} // namespace

bool readsWhatItWrote(const isa::TensorView &tensor, const isa::Access &dst,
                      const isa::Access &src) {
  if (!meetInPartitions(dst, src) || !isa::shareBytes(dst, src, tensor))
    return false;
  // Steps count the longer of the two sequences; the shorter one takes part in several of them.
  const int64_t reads = src.freeElements(), writes = dst.freeElements();
  const int64_t perWrite = std::max<int64_t>(reads / writes, 1);
  const int64_t perRead = std::max<int64_t>(writes / reads, 1);
  const int64_t width = tensor.freeElements() * isa::bytesOf(tensor.dtype);
  std::vector<int64_t> writtenAt(size_t(width), INT64_MAX);
  int64_t step = -1;
  forElements(dst, [&](int64_t byte) {
    step += perWrite;
    std::fill_n(writtenAt.begin() + byte, isa::bytesOf(dst.dtype), step);
  });
  bool found = false;
  step = -1;
  forElements(src, [&](int64_t byte) {
    step += perRead;
    for (unsigned i = 0; i < isa::bytesOf(src.dtype); ++i)
      found |= writtenAt[byte + i] < step;
  });
  return found;
}

} // namespace kiln::lint
