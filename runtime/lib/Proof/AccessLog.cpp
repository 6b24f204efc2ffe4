//===- AccessLog.cpp - which accesses touch the same bytes ------------------------------------===//

#include "AccessLog.h"

#include <algorithm>

using namespace kilnrt;
using namespace kilnrt::proof;

static constexpr size_t kMaxPitches = 12;
/// Accesses of a tensor that are asked for its pitch.
static constexpr uint32_t kMaxAsked = 4096;
static constexpr int64_t kMaxCells = 1 << 16;

//---- rectangles ---------------------------------------------------------===//

namespace {

/// The rows and columns of an HBM access for one pitch.
struct Cut {
  Rect rect;
  bool isRegular = false; ///< the same bytes in every row
};

/// Bytes [first, first + length) in `count` places `step` apart: dense when they join up.
struct Extent {
  int64_t length = 1;
  bool isDense = true;

  /// Dims come with ascending steps.
  void add(int64_t step, int64_t num) {
    isDense = isDense && step <= length;
    length += step * (num - 1);
  }
};

Cut cut(const Place &place, int64_t pitch) {
  const TileShape &runs = place.pattern->runs;
  std::array<std::pair<int64_t, int64_t>, kMaxTileDims> dims; // |step|, num; steps ascend
  unsigned rank = 0;
  for (unsigned i = 0; i < runs.rank; ++i) {
    const std::pair<int64_t, int64_t> dim = {std::abs(runs.step[i]), runs.num[i]};
    unsigned at = rank++;
    for (; at > 0 && dims[at - 1] > dim; --at)
      dims[at] = dims[at - 1];
    dims[at] = dim;
  }
  Extent rows, columns;
  for (unsigned i = 0; i < rank; ++i) {
    const auto [step, num] = dims[i];
    if (num < 2 || step == 0)
      continue;
    if (step % pitch == 0)
      rows.add(step / pitch, num);
    else
      columns.add(step, num);
  }
  Cut result;
  Rect &rect = result.rect;
  rect.lo = place.firstByte % pitch;
  rect.hi = rect.lo + columns.length;
  rect.rowLo = place.firstByte / pitch;
  rect.rowHi = rect.rowLo + rows.length;
  rect.isDense = rows.isDense && columns.isDense;
  result.isRegular = rect.hi <= pitch;
  if (result.isRegular)
    return result;
  rect = {place.firstByte / pitch, (place.endByte - 1) / pitch + 1, 0, pitch, false};
  return result;
}

} // namespace

Rect AccessLog::stillRect(const Touch &touch) const {
  const Place &place = touch.place;
  const int64_t pitch = spaces[place.block].pitch;
  if (pitch > 0)
    return cut(place, pitch).rect;
  const TileShape &runs = place.pattern->runs;
  Extent bytes;
  bytes.isDense = runs.rank == 1 && runs.step[0] <= 1;
  return {int64_t(place.partition), int64_t(place.partition) + place.partitions(), place.firstByte,
          place.endByte, bytes.isDense};
}

Rect AccessLog::rectOf(const Touch &touch) const {
  if (!touch.isMemory() || motionOf[touch.place.tensor] != kMixed)
    return stillRect(touch);
  Touch everywhere = touch;
  const std::vector<int64_t> &trips = events.tripCounts[epoch];
  for (size_t l = 0; l < trips.size(); ++l) {
    const int64_t way = events.motions[touch.motion][l] * (trips[l] - 1);
    (way < 0 ? everywhere.place.firstByte : everywhere.place.endByte) += way;
  }
  const int64_t pitch = spaces[touch.place.block].pitch;
  Rect rect = stillRect(everywhere);
  if (touch.motion == 0)
    return rect;
  if (pitch > 0)
    rect = {everywhere.place.firstByte / pitch, (everywhere.place.endByte - 1) / pitch + 1, 0,
            pitch, false};
  rect.isDense = false;
  return rect;
}

//---- spaces -------------------------------------------------------------===//

static bool isOnChip(const Events &events, size_t block) {
  return block >= events.layout.blocks().size() ||
         events.layout.blocks()[block].memory != isa::Memory::Hbm;
}

AccessLog::AccessLog(const Events &events)
    : events(events), spaces(events.isWritten.size()), motionOf(events.program.tensors.size()) {
  std::vector<Statistics> statistics(spaces.size());
  for (size_t b = 0; b < events.layout.blocks().size(); ++b) {
    const BlockInfo &block = events.layout.blocks()[b];
    spaces[b].rows = isOnChip(events, b) ? block.partitions : 1;
    spaces[b].columns = std::max<int64_t>(1, block.bytes);
  }
  choosePitches(statistics);
  for (const Touch &touch : events.touches) {
    if (!events.isWritten[touch.place.block])
      continue;
    Statistics &s = statistics[touch.place.block];
    const Rect rect = stillRect(touch);
    ++s.accesses;
    s.rows += rect.rowHi - rect.rowLo;
    s.columns += rect.hi - rect.lo;
  }
  chooseCells(statistics);
}

/// Natural rows first, from the last dim outwards, so that ties fall to them; then the steps that
/// accesses take, as where a flat tensor is read as rows.
void AccessLog::choosePitches(std::vector<Statistics> &statistics) {
  const auto propose = [](Statistics &s, int64_t pitch, int64_t bytes) {
    if (pitch > 0 && pitch <= bytes && s.pitches.size() < kMaxPitches &&
        std::find(s.pitches.begin(), s.pitches.end(), pitch) == s.pitches.end())
      s.pitches.push_back(pitch);
  };
  for (size_t t = 0; t < events.program.tensors.size(); ++t) {
    const size_t block = events.layout.tensors()[t].block;
    if (isOnChip(events, block) || !events.isWritten[block])
      continue;
    const TensorInfo &tensor = events.program.tensors[t];
    int64_t pitch = isa::bytesOf(tensor.dtype);
    for (size_t d = tensor.shape.size(); d-- > 0;)
      propose(statistics[block], pitch *= tensor.shape[d], spaces[block].columns);
  }
  std::vector<uint32_t> asked(spaces.size());
  for (const Touch &touch : events.touches) {
    const size_t block = touch.place.block;
    if (isOnChip(events, block) || !events.isWritten[block] || asked[block]++ >= kMaxAsked)
      continue;
    const TileShape &runs = touch.place.pattern->runs;
    for (unsigned i = 0; i < runs.rank; ++i)
      if (runs.step[i] != 0 && std::abs(runs.step[i]) != 1)
        propose(statistics[block], std::abs(runs.step[i]), spaces[block].columns);
  }
  for (Statistics &s : statistics)
    s.scores.resize(s.pitches.size());
  std::fill(asked.begin(), asked.end(), 0);
  for (const Touch &touch : events.touches) {
    const size_t block = touch.place.block;
    Statistics &s = statistics[block];
    if (s.pitches.empty() || asked[block]++ >= kMaxAsked)
      continue;
    for (size_t i = 0; i < s.pitches.size(); ++i) {
      const Cut here = cut(touch.place, s.pitches[i]);
      s.scores[i] += here.isRegular + (here.isRegular && here.rect.isDense);
    }
  }
  for (size_t b = 0; b < spaces.size(); ++b) {
    if (isOnChip(events, b))
      continue;
    const Statistics &s = statistics[b];
    Space &space = spaces[b];
    space.pitch = s.pitches.empty()
                      ? space.columns
                      : s.pitches[size_t(std::max_element(s.scores.begin(), s.scores.end()) -
                                         s.scores.begin())];
    space.rows = (space.columns + space.pitch - 1) / space.pitch;
    space.columns = space.pitch;
  }
}

/// Cells are as large as an access on average, so that one falls into few of them.
void AccessLog::chooseCells(const std::vector<Statistics> &statistics) {
  for (size_t b = 0; b < spaces.size(); ++b) {
    Space &space = spaces[b];
    const Statistics &s = statistics[b];
    if (s.accesses == 0) {
      space.cellRows = space.rows;
      space.cellColumns = space.columns;
      continue;
    }
    space.cellRows = isOnChip(events, b) ? space.rows : std::max<int64_t>(1, s.rows / s.accesses);
    space.cellColumns = std::max<int64_t>(1, s.columns / s.accesses);
    const auto down = [&] { return (space.rows + space.cellRows - 1) / space.cellRows; };
    const auto across = [&] { return (space.columns + space.cellColumns - 1) / space.cellColumns; };
    while (down() * across() > kMaxCells)
      (down() > across() ? space.cellRows : space.cellColumns) *= 2;
    space.across = across();
  }
}

//---- epochs -------------------------------------------------------------===//

void AccessLog::clear() {
  for (Space &space : spaces) {
    for (uint32_t cell : space.touched)
      space.cells[cell].accesses.clear();
    space.touched.clear();
  }
}

void AccessLog::startEpoch(size_t number) {
  epoch = number;
  clear();
  if (events.tripCounts[number].empty())
    return; // nothing moves
  std::vector<bool> isSeen(motionOf.size());
  const Epoch &e = events.epochs[number];
  for (size_t s = 0; s < kEngineSlots; ++s)
    for (EventId id = e.begin[s]; id < e.end[s]; ++id)
      for (const Touch &touch : events.touchesOf(events.events[id])) {
        if (!touch.isMemory())
          continue;
        uint32_t &motion = motionOf[touch.place.tensor];
        const bool isShared = events.layout.blocks()[touch.place.block].tensor == kNone;
        motion = isShared                                                ? kMixed
                 : !isSeen[touch.place.tensor] || motion == touch.motion ? touch.motion
                                                                         : kMixed;
        isSeen[touch.place.tensor] = true;
      }
}

bool AccessLog::covers(const LoggedAccess &access, const LoggedAccess &old,
                       const Rect &cell) const {
  // A write was compared with all it covers, and what one agent read before is complete when it
  // has read again. Before in its own order, that is: a stream may differ from the program.
  if (!access.touch->writes && (old.touch->writes || old.stamp.agent != access.stamp.agent ||
                                old.stamp.ordinal > access.stamp.ordinal))
    return false;
  const Rect &outer = access.rect, &inner = old.rect;
  const bool isInside = std::max(inner.rowLo, cell.rowLo) >= outer.rowLo &&
                        std::min(inner.rowHi, cell.rowHi) <= outer.rowHi &&
                        std::max(inner.lo, cell.lo) >= outer.lo &&
                        std::min(inner.hi, cell.hi) <= outer.hi;
  return isInside && (outer.isDense || (access.touch->motion == old.touch->motion &&
                                        sameElements(access.touch->place, old.touch->place)));
}

void AccessLog::log(Space &space, const LoggedAccess &access) {
  forEachCell(space, access.rect, [&](Cell &cell, const Rect &area) {
    if (cell.accesses.empty())
      space.touched.push_back(uint32_t(&cell - space.cells.data()));
    else
      std::erase_if(cell.accesses,
                    [&](const LoggedAccess &old) { return covers(access, old, area); });
    cell.accesses.push_back(access);
  });
}
