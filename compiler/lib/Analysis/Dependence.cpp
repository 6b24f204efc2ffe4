//===- Dependence.cpp - which instructions must come before another ---------------------------===//
//
// The history of memory as columns of cells. See the header for the picture.
//
//===------------------------------------------------------------------------------------------===//

#include "kiln/Analysis/Dependence.h"

#include <algorithm>

namespace kiln::analysis {
namespace {

template <typename Fn>
void forEachUse(const Kernel &kernel, const RegionMap &map, uint32_t position, Fn fn) {
  const isa::Instruction &inst = kernel.instructions[position].inst;
  for (unsigned i = 0; i < isa::kMaxOperands; ++i) {
    const OperandUse use = operandUse(inst, i);
    if ((!use.reads && !use.writes) || !map.canDepend(inst.operands[i].tensor))
      continue;
    for (const Region &region : map.regions(inst.operands[i]))
      fn(region, use.writes);
  }
}

/// First cell that ends after `row`.
template <typename Cells>
auto firstCellAfter(Cells &cells, int64_t row) {
  return std::partition_point(cells.begin(), cells.end(),
                              [row](const auto &cell) { return cell.rowHi <= row; });
}

} // namespace

DependenceTracker::DependenceTracker(const Kernel &kernel, const Placement &placement)
    : kernel(kernel), regionMap(kernel, placement), spaces(2 + kernel.tensors.size()) {}

StreamPositions DependenceTracker::collect(uint32_t position) const {
  StreamPositions result{};
  forEachUse(kernel, regionMap, position,
             [&](const Region &region, bool writes) { collect(region, writes, result); });
  return result;
}

uint32_t DependenceTracker::depthBefore(uint32_t position) const {
  uint32_t depth = 0;
  forEachUse(kernel, regionMap, position, [&](const Region &region, bool writes) {
    forEachCell(region, [&](const Cell &cell) {
      depth =
          std::max(depth, writes ? std::max(cell.writerDepth, cell.readerDepth) : cell.writerDepth);
    });
  });
  return depth;
}

void DependenceTracker::record(uint32_t position, unsigned stream, uint32_t depth) {
  // Reads first: where a result lies on its own operand, the write is the later
  // of the two.
  for (const bool pass : {false, true})
    forEachUse(kernel, regionMap, position, [&](const Region &region, bool writes) {
      if (writes != pass)
        return;
      if (writes)
        write(region, position + 1, stream, depth);
      else
        read(region, position + 1, stream, depth);
    });
}

/// Calls `visit` for every cell that shares bytes with `region`.
template <typename Visit>
void DependenceTracker::forEachCell(const Region &region, Visit visit) const {
  const Space &space = spaces[region.space];
  auto column = space.upper_bound(region.lo);
  if (column != space.begin() && std::prev(column)->second.hi > region.lo)
    --column;
  for (; column != space.end() && column->first < region.hi; ++column) {
    const std::vector<Cell> &cells = column->second.cells;
    for (auto cell = firstCellAfter(cells, region.rowLo);
         cell != cells.end() && cell->rowLo < region.rowHi; ++cell)
      visit(*cell);
  }
}

void DependenceTracker::collect(const Region &region, bool writes, StreamPositions &result) const {
  forEachCell(region, [&](const Cell &cell) {
    uint32_t &writer = result[cell.writerStream];
    writer = std::max(writer, cell.writer);
    if (writes)
      for (unsigned s = 0; s < kNumStreams; ++s)
        result[s] = std::max(result[s], cell.readers[s]);
  });
}

void DependenceTracker::split(Space &space, int64_t at) {
  auto column = space.lower_bound(at);
  if (column == space.begin() || (--column)->second.hi <= at)
    return;
  Column right = column->second;
  column->second.hi = at;
  space.emplace_hint(std::next(column), at, std::move(right));
}

void DependenceTracker::read(const Region &region, uint32_t stamp, unsigned stream,
                             uint32_t depth) {
  Space &space = spaces[region.space];
  split(space, region.lo);
  split(space, region.hi);
  // Rows nobody has touched need a cell as well: a later write must find this
  // reader.
  Cell fresh{region.rowLo, region.rowHi};
  fresh.readers[stream] = stamp;
  fresh.readerDepth = depth;
  const auto readRows = [&](std::vector<Cell> &cells) {
    const auto first = firstCellAfter(cells, region.rowLo);
    if (first != cells.end() && first->rowLo == region.rowLo && first->rowHi == region.rowHi) {
      first->readers[stream] = stamp;
      first->readerDepth = std::max(first->readerDepth, depth);
      return;
    }
    std::vector<Cell> pieces;
    int64_t row = region.rowLo;
    auto cell = first;
    for (; cell != cells.end() && cell->rowLo < region.rowHi; ++cell) {
      const auto add = [&](int64_t rowLo, int64_t rowHi, Cell piece, bool isRead) {
        if (rowLo >= rowHi)
          return;
        piece.rowLo = rowLo;
        piece.rowHi = rowHi;
        if (isRead) {
          piece.readers[stream] = stamp;
          piece.readerDepth = std::max(piece.readerDepth, depth);
        }
        pieces.push_back(piece);
      };
      add(row, cell->rowLo, fresh, true);
      add(cell->rowLo, std::min(cell->rowHi, region.rowLo), *cell, false);
      add(std::max(cell->rowLo, region.rowLo), std::min(cell->rowHi, region.rowHi), *cell, true);
      add(std::max(cell->rowLo, region.rowHi), cell->rowHi, *cell, false);
      row = cell->rowHi;
    }
    if (row < region.rowHi) {
      fresh.rowLo = row;
      pieces.push_back(fresh);
      fresh.rowLo = region.rowLo;
    }
    cells.insert(cells.erase(first, cell), pieces.begin(), pieces.end());
  };
  int64_t at = region.lo;
  auto column = space.lower_bound(region.lo);
  for (; column != space.end() && column->first < region.hi; ++column) {
    if (column->first > at)
      space.emplace_hint(column, at, Column{column->first, {fresh}});
    readRows(column->second.cells);
    at = column->second.hi;
  }
  if (at < region.hi)
    space.emplace_hint(column, at, Column{region.hi, {fresh}});
}

void DependenceTracker::write(const Region &region, uint32_t stamp, unsigned stream,
                              uint32_t depth) {
  Space &space = spaces[region.space];
  split(space, region.lo);
  split(space, region.hi);
  const Cell fresh{region.rowLo, region.rowHi, stamp, stream, {}, depth, 0};
  const auto first = space.lower_bound(region.lo);
  auto end = first;
  bool coversAllRows = true;
  for (; end != space.end() && end->first < region.hi; ++end)
    coversAllRows = coversAllRows && end->second.cells.front().rowLo >= region.rowLo &&
                    end->second.cells.back().rowHi <= region.rowHi;
  if (coversAllRows) {
    space.emplace_hint(space.erase(first, end), region.lo, Column{region.hi, {fresh}});
    return;
  }

  const auto writeRows = [&](std::vector<Cell> &cells) {
    auto cell = firstCellAfter(cells, region.rowLo);
    Cell above{}, below{};
    auto last = cell;
    for (; last != cells.end() && last->rowLo < region.rowHi; ++last) {
      if (last->rowLo < region.rowLo) {
        above = *last;
        above.rowHi = region.rowLo;
      }
      if (last->rowHi > region.rowHi) {
        below = *last;
        below.rowLo = region.rowHi;
      }
    }
    cell = cells.insert(cells.erase(cell, last), fresh);
    if (below.rowHi != 0)
      cell = std::prev(cells.insert(std::next(cell), below));
    if (above.rowHi != 0)
      cells.insert(cell, above);
  };
  int64_t at = region.lo;
  auto column = first;
  for (; column != end; ++column) {
    if (column->first > at)
      space.emplace_hint(column, at, Column{column->first, {fresh}});
    writeRows(column->second.cells);
    at = column->second.hi;
  }
  if (at < region.hi)
    space.emplace_hint(end, at, Column{region.hi, {fresh}});
  // Columns that only earlier accesses told apart become one again.
  for (column = space.lower_bound(region.lo); column != end;) {
    const auto next = std::next(column);
    if (next == end || next->second.cells != column->second.cells) {
      column = next;
      continue;
    }
    column->second.hi = next->second.hi;
    space.erase(next);
  }
}

Dependences findDependences(const Kernel &kernel, const Placement &placement) {
  DependenceTracker tracker(kernel, placement);
  Dependences result;
  result.offsets.push_back(0);
  unsigned ring = 0;
  for (uint32_t i = 0; i < kernel.instructions.size(); ++i) {
    const isa::Instruction &inst = kernel.instructions[i].inst;
    const unsigned engine = engineStream(inst.engine);
    const StreamPositions needed = tracker.collect(i);
    for (unsigned s = 0; s < kNumStreams; ++s)
      if (needed[s] != 0 && s != engine)
        result.sources.push_back(needed[s] - 1);
    std::sort(result.sources.begin() + result.offsets.back(), result.sources.end());
    result.offsets.push_back(uint32_t(result.sources.size()));
    tracker.record(i, isTransfer(inst) ? ringStream(ring++ % isa::machine.dmaRings) : engine);
  }
  return result;
}

} // namespace kiln::analysis
