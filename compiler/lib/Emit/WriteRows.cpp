//===- WriteRows.cpp - instructions of maps and row reductions --------------------------------===//

#include "Frames.h"

#include <algorithm>

namespace kiln::emit {

using nl::Tensor;
using plan::Group;
using plan::Step;

namespace {

class RowsWriter {
public:
  RowsWriter(const Context &context, const Group &group)
      : group(group), inner(unsigned(group.loops.size())), body(context, group),
        region{std::vector<int64_t>(group.extents.size(), 0), group.tile} {
    for (size_t d = 0; d < region.size.size(); ++d)
      region.size[d] = std::min(region.size[d], group.extents[d]);
  }

  void run() { enter(0); }

private:
  /// The steps of `level`, and everything inside it.
  void enter(unsigned level) {
    if (level == inner)
      return write(level, group.isChunked ? std::optional(pass) : std::nullopt);
    if (!group.isChunked || level + 1 != inner) {
      write(level, std::nullopt);
      return iterate(level);
    }
    for (pass = 0; pass < group.stages; ++pass) {
      write(level, pass);
      if (std::any_of(group.steps.begin(), group.steps.end(),
                      [&](const Step &step) { return step.level == inner && step.stage == pass; }))
        iterate(level);
    }
  }

  void write(unsigned level, std::optional<unsigned> stage) {
    for (const Step &step : group.steps)
      if (step.level == level && (!stage || step.stage == *stage))
        body.write(step, region);
  }

  void iterate(unsigned level) {
    const unsigned d = group.loops[level];
    for (int64_t start = 0, index = 0; start < group.extents[d]; start += group.tile[d], ++index) {
      region.start[d] = start;
      region.size[d] = std::min(group.tile[d], group.extents[d] - start);
      if (group.ragged && d == group.partition && !cutRagged())
        continue;
      if (group.ragged && group.partition != plan::kNone && d == group.partition + 1 &&
          !cutRagged())
        continue;
      body.next(level + 1);
      region.chunk = group.isChunked && level + 1 == inner ? index : 0;
      enter(level + 1);
    }
    region.start[d] = 0;
    region.size[d] = std::min(group.tile[d], group.extents[d]);
  }

  /// Keeps the region of a cut dim inside its elements; false when nothing is left of it.
  bool cutRagged() {
    const unsigned p = group.partition, f = p + 1;
    const int64_t length = group.extents[f];
    const int64_t fullRows = group.ragged / length;
    const int64_t row = region.start[p];
    const bool isLoopedInside = group.tile[f] < length;
    int64_t limit = length; // of the free dim
    if (row >= fullRows) {
      limit = group.ragged - fullRows * length;
      region.size[p] = 1;
    } else {
      region.size[p] = std::min(region.size[p], fullRows - row);
    }
    if (!isLoopedInside)
      region.start[f] = 0;
    region.size[f] = std::min(group.tile[f], limit - region.start[f]);
    return region.size[f] > 0;
  }

  const Group &group;
  const unsigned inner;
  Body body;
  Region region;
  unsigned pass = 0;
};

} // namespace

void writeRows(const Context &context, const Group &group) { RowsWriter(context, group).run(); }

} // namespace kiln::emit
