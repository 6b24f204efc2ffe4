//===- Overlap.cpp - the bytes two accesses share ---------------------------------------------===//
//
// Bounding boxes decide most pairs, remainders modulo a step most others: the columns of a matrix.
// What is left is decided by descending into both patterns, outermost step first, only where their
// boxes meet.
//
//===------------------------------------------------------------------------------------------===//

#include "kilnrt/Machine/Overlap.h"

#include <algorithm>
#include <numeric>

using namespace kilnrt;

namespace {

/// Nodes of the descent before it gives up.
constexpr uint32_t kMaxVisits = 1u << 20;

/// `size` bytes at base + sum of step * index for every combination of indices; steps are positive
/// and descend, counts are above 1.
struct Runs {
  struct Dim {
    int64_t step, num;
  };
  int64_t base = 0, size = 1;
  std::array<Dim, kMaxTileDims + isa::kMaxLoopDepth> dims;
  /// span[i]: bytes from the first to the end of what dims i, i + 1, ... reach.
  std::array<int64_t, kMaxTileDims + isa::kMaxLoopDepth + 1> span;
  unsigned rank = 0;

  void add(int64_t step, int64_t num) {
    if (num < 2 || step == 0)
      return;
    base += std::min<int64_t>(0, step * (num - 1));
    dims[rank++] = {std::abs(step), num};
  }
  /// Folds dims that leave no gap into the run, orders the others.
  void finish() {
    std::sort(dims.begin(), dims.begin() + rank,
              [](const Dim &x, const Dim &y) { return x.step > y.step; });
    while (rank > 0 && dims[rank - 1].step <= size) {
      --rank;
      size += dims[rank].step * (dims[rank].num - 1);
    }
    span[rank] = size;
    for (unsigned i = rank; i > 0; --i)
      span[i - 1] = span[i] + dims[i - 1].step * (dims[i - 1].num - 1);
  }
};

Runs runsOf(const Place &place, const Motion *motion) {
  Runs runs;
  runs.base = place.byte;
  const TileShape &shape = place.pattern->runs;
  for (unsigned i = 0; i < shape.rank; ++i)
    runs.add(shape.step[i], shape.num[i]);
  if (motion)
    for (unsigned l = 0; l < isa::kMaxLoopDepth; ++l)
      runs.add(motion->step[l], motion->num[l]);
  runs.finish();
  return runs;
}

struct Interval {
  int64_t first, end;
};

/// The bytes of `runs` modulo `step` where they stay within one period; [0, 0) where they do not.
Interval remainders(const Runs &runs, int64_t step) {
  int64_t length = runs.size;
  for (unsigned i = 0; i < runs.rank; ++i)
    if (runs.dims[i].step % step != 0)
      length += runs.dims[i].step * (runs.dims[i].num - 1);
  const int64_t first = ((runs.base % step) + step) % step;
  return first + length <= step ? Interval{first, first + length} : Interval{0, 0};
}

bool areApartModulo(const Runs &a, const Runs &b, int64_t step) {
  const Interval x = remainders(a, step), y = remainders(b, step);
  return x.end > x.first && y.end > y.first && (x.end <= y.first || y.end <= x.first);
}

int64_t floorDiv(int64_t n, int64_t d) { return n / d - (n % d != 0 && n < 0); }

/// Looks for runs of both that share bytes.
class Descent {
public:
  Descent(const Runs &a, const Runs &b) : a(a), b(b) {}

  /// What dims i.. of `a` reach from `x`, against dims j.. of `b` from `y`.
  bool search(unsigned i, int64_t x, unsigned j, int64_t y) {
    if (x + a.span[i] <= y || y + b.span[j] <= x || visits == kMaxVisits)
      return false;
    ++visits;
    if (i == a.rank && j == b.rank) {
      first = std::max(x, y);
      end = std::min(x + a.size, y + b.size);
      return true;
    }
    if (j == b.rank || (i < a.rank && a.dims[i].step >= b.dims[j].step)) {
      const auto [from, to] = indices(a.dims[i], x, a.span[i + 1], y, b.span[j]);
      for (int64_t t = from; t <= to; ++t)
        if (search(i + 1, x + t * a.dims[i].step, j, y))
          return true;
      return false;
    }
    const auto [from, to] = indices(b.dims[j], y, b.span[j + 1], x, a.span[i]);
    for (int64_t t = from; t <= to; ++t)
      if (search(i, x, j + 1, y + t * b.dims[j].step))
        return true;
    return false;
  }

  bool gaveUp() const { return visits == kMaxVisits; }
  uint32_t steps() const { return visits; }
  int64_t first = 0, end = 0;

private:
  /// Indices of `dim` whose `inner` bytes from `from` on meet the `length` bytes from `at` on.
  static std::pair<int64_t, int64_t> indices(const Runs::Dim &dim, int64_t from, int64_t inner,
                                             int64_t at, int64_t length) {
    const int64_t low = floorDiv(at - inner - from, dim.step) + 1;
    const int64_t high = floorDiv(at + length - 1 - from, dim.step);
    return {std::max<int64_t>(low, 0), std::min(high, dim.num - 1)};
  }

  const Runs &a, &b;
  uint32_t visits = 0;
};

} // namespace

/// Whether they meet, with a stretch of bytes that may join those of several iterations.
static Meeting meetSomewhere(const Place &a, const Place &b, const Motion *motion,
                             SharedBytes *shared, uint64_t *work) {
  const uint32_t firstRow = std::max(a.partition, b.partition);
  const uint32_t endRow = std::min(a.partition + a.partitions(), b.partition + b.partitions());
  if (a.block != b.block || firstRow >= endRow)
    return Meeting::Apart;
  if (!motion && (a.endByte <= b.firstByte || b.endByte <= a.firstByte))
    return Meeting::Apart;
  const Runs x = runsOf(a, motion), y = runsOf(b, nullptr);
  int64_t common = 0; // what divides all steps
  for (const Runs *runs : {&x, &y})
    for (unsigned i = 0; i < runs->rank; ++i) {
      common = std::gcd(common, runs->dims[i].step);
      if (areApartModulo(x, y, runs->dims[i].step))
        return Meeting::Apart;
    }
  if (common > 1 && areApartModulo(x, y, common))
    return Meeting::Apart;
  Descent descent(x, y);
  const bool isFound = descent.search(0, x.base, 0, y.base);
  if (work)
    *work += descent.steps();
  if (!isFound)
    return descent.gaveUp() ? Meeting::Unknown : Meeting::Apart;
  if (shared)
    *shared = {firstRow, endRow - firstRow, descent.first, descent.end, shared->iteration};
  return Meeting::Meet;
}

/// The first iteration they meet in: loop after loop, the outermost first, the smallest index with
/// which they still do.
static void findIteration(const Place &a, const Place &b, Motion motion, SharedBytes &shared) {
  SharedBytes found;
  int64_t distance = 0;
  for (unsigned l = 0; l < isa::kMaxLoopDepth; ++l) {
    int64_t low = 0, high = std::max<int64_t>(motion.num[l], 1) - 1;
    while (low < high) {
      const int64_t middle = low + (high - low) / 2;
      motion.num[l] = middle + 1;
      if (meetSomewhere(shifted(a, distance), b, &motion, nullptr, nullptr) == Meeting::Meet)
        high = middle;
      else
        low = middle + 1;
    }
    motion.num[l] = 1;
    found.iteration[l] = high;
    distance += high * motion.step[l];
  }
  // After steps that were too intricate the iteration may be another: what is known stays.
  if (meetSomewhere(shifted(a, distance), b, nullptr, &found, nullptr) == Meeting::Meet)
    shared = found;
}

Meeting kilnrt::meet(const Place &a, const Place &b, const Motion *motion, SharedBytes *shared,
                     uint64_t *work) {
  const Meeting meeting = meetSomewhere(a, b, motion, shared, work);
  if (meeting == Meeting::Meet && motion && shared)
    findIteration(a, b, *motion, *shared);
  return meeting;
}
