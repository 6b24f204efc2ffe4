//===- ByteSet.cpp - some bytes of a tensor, exactly ------------------------------------------===//

#include "kilnrt/Machine/ByteSet.h"

#include <algorithm>

using namespace kilnrt;

std::vector<ByteInterval> kilnrt::merged(std::vector<ByteInterval> intervals) {
  std::sort(intervals.begin(), intervals.end(),
            [](const ByteInterval &a, const ByteInterval &b) { return a.first < b.first; });
  std::vector<ByteInterval> result;
  for (const ByteInterval &next : intervals) {
    if (next.first >= next.end)
      continue;
    if (!result.empty() && next.first <= result.back().end)
      result.back().end = std::max(result.back().end, next.end);
    else
      result.push_back(next);
  }
  return result;
}

void ByteSet::add(uint32_t partition, std::vector<ByteInterval> intervals) {
  if (intervals.empty())
    return;
  if (!groups.empty()) {
    Group &last = groups.back();
    if (last.partition + last.partitions == partition && last.intervals == intervals) {
      ++last.partitions;
      return;
    }
  }
  groups.push_back({partition, 1, std::move(intervals)});
}

int64_t ByteSet::bytes() const {
  int64_t total = 0;
  for (const Group &group : groups)
    for (const ByteInterval &i : group.intervals)
      total += int64_t(group.partitions) * (i.end - i.first);
  return total;
}

/// How many intervals from `first` on have its length and follow each other at one distance.
static size_t equalRuns(const std::vector<ByteInterval> &intervals, size_t first) {
  const int64_t length = intervals[first].end - intervals[first].first;
  size_t end = first + 1;
  while (end < intervals.size() && intervals[end].end - intervals[end].first == length &&
         intervals[end].first - intervals[end - 1].first ==
             intervals[first + 1].first - intervals[first].first)
    ++end;
  return end - first;
}

std::vector<ByteRectangle> ByteSet::rectangles() const {
  std::vector<ByteRectangle> result;
  for (const Group &group : groups)
    for (size_t i = 0; i < group.intervals.size();) {
      const ByteInterval &at = group.intervals[i];
      ByteRectangle rectangle{group.partition, group.partitions, at.first, at.end - at.first};
      size_t runs = equalRuns(group.intervals, i);
      if (runs < 3)
        runs = 1;
      else {
        rectangle.step = group.intervals[i + 1].first - at.first;
        rectangle.runs = int64_t(runs);
      }
      result.push_back(rectangle);
      i += runs;
    }
  return result;
}

namespace {

/// Grows a box by stretches of elements that follow each other in row-major order.
class BoxBuilder {
public:
  explicit BoxBuilder(std::span<const int64_t> extents) : extents(extents) {
    first.assign(extents.begin(), extents.end());
    last.assign(extents.size(), -1);
  }

  /// Elements [begin, end) by their number.
  void add(int64_t begin, int64_t end) {
    elements += end - begin;
    // Where the first and the last element have different indices the stretch goes to the end of
    // the next dim and on from its beginning.
    int64_t low = begin, high = end - 1, below = 1;
    for (int64_t extent : extents)
      below *= extent;
    bool isWrapped = false;
    for (size_t d = 0; d < extents.size(); ++d) {
      below /= extents[d];
      const int64_t from = low / below, to = high / below;
      first[d] = std::min(first[d], isWrapped ? 0 : from);
      last[d] = std::max(last[d], isWrapped ? extents[d] - 1 : to);
      isWrapped = isWrapped || from != to;
      low %= below;
      high %= below;
    }
  }

  std::span<const int64_t> extents;
  std::vector<int64_t> first, last;
  int64_t elements = 0;
};

} // namespace

ElementBox ByteSet::elements(std::span<const int64_t> shape, int64_t elementBytes,
                             bool isOnChip) const {
  BoxBuilder box(isOnChip ? shape.subspan(1) : shape);
  int64_t lowest = INT64_MAX, highest = 0, elements = 0;
  for (const Group &group : groups) {
    box.elements = 0;
    int64_t done = 0; // elements below are counted: two runs may lie in one
    for (const ByteInterval &i : group.intervals) {
      const int64_t begin = std::max(done, i.first / elementBytes),
                    end = (i.end + elementBytes - 1) / elementBytes;
      if (begin < end)
        box.add(begin, end);
      done = end;
    }
    elements += box.elements * group.partitions;
    lowest = std::min<int64_t>(lowest, group.partition);
    highest = std::max<int64_t>(highest, group.partition + group.partitions - 1);
  }
  ElementBox result{box.first, box.last, elements, false};
  if (isOnChip) {
    result.first.insert(result.first.begin(), lowest);
    result.last.insert(result.last.begin(), highest);
  }
  int64_t volume = 1;
  for (size_t d = 0; d < result.first.size(); ++d)
    volume *= result.last[d] - result.first[d] + 1;
  result.isExact = volume == elements;
  return result;
}
