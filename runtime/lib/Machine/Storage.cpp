//===- Storage.cpp - blocks, live tensors and written bytes -----------------------------------===//

#include "kilnrt/Machine/Storage.h"

#include <algorithm>
#include <cstring>
#include <new>

using namespace kilnrt;
using isa::machine;

static constexpr std::align_val_t kBlockAlign{64};
/// Stretch of a partition whose live tensors share one list.
static constexpr int64_t kGranuleBytes = machine.psumBankBytesPerPartition;

void Storage::AlignedDelete::operator()(std::byte *data) const {
  ::operator delete(data, kBlockAlign);
}

Storage::Storage(const Layout &layout, ShadowMode mode, const Poison &poison, bool refills)
    : layout(layout), mode(mode), poison(poison), refills(refills && mode != ShadowMode::Bytes),
      blocks(layout.blocks().size()), states(layout.tensors().size()) {
  for (size_t b = 0; b < blocks.size(); ++b) {
    const BlockInfo &info = layout.blocks()[b];
    if (info.tensor == kNone)
      blocks[b].granules.resize((info.bytes + kGranuleBytes - 1) / kGranuleBytes);
  }
  for (size_t t = 0; t < states.size(); ++t)
    states[t].hasCells = layout.blocks()[layout.tensors()[t].block].memory == isa::Memory::Psum;
}

void Storage::bind(uint32_t tensor, std::byte *data, bool written) {
  const TensorPlace &place = layout.tensors()[tensor];
  blocks[place.block].data = data;
  if (!written) {
    poison.fill(data, place.bytes);
    return;
  }
  states[tensor].live = true;
  states[tensor].full = true;
}

void Storage::allocate(uint32_t b) {
  Block &block = blocks[b];
  if (block.data)
    return;
  const int64_t bytes = layout.blocks()[b].allocationBytes();
  block.owned.reset(static_cast<std::byte *>(::operator new(size_t(bytes), kBlockAlign)));
  block.data = block.owned.get();
  poison.fill(block.data, bytes);
}

void Storage::release(uint32_t tensor) {
  if (remaining.empty() || --remaining[tensor] > 0)
    return;
  Block &block = blocks[layout.tensors()[tensor].block];
  if (!block.owned || layout.blocks()[layout.tensors()[tensor].block].tensor == kNone)
    return;
  block.owned.reset();
  block.data = nullptr;
  block.bytes = {};
  block.cells = {};
  block.linear = {};
}

PartitionMask Storage::maskOf(uint32_t tensor) const {
  const TensorPlace &place = layout.tensors()[tensor];
  return PartitionMask::range(place.partition, place.partitions);
}

//---- live tensors -------------------------------------------------------===//

std::span<std::vector<uint32_t>> Storage::granulesOf(uint32_t tensor) {
  const TensorPlace &p = layout.tensors()[tensor];
  return std::span(blocks[p.block].granules)
      .subspan(p.byte / kGranuleBytes,
               (p.byte + p.bytes - 1) / kGranuleBytes - p.byte / kGranuleBytes + 1);
}

void Storage::forget(uint32_t tensor) {
  TensorState &state = states[tensor];
  if (state.activations == 0)
    return;
  if (refills && state.live)
    refill(tensor);
  const uint32_t b = layout.tensors()[tensor].block;
  if (layout.blocks()[b].tensor != kNone) {
    blocks[b].bytes = {}; // its own: the bits of a new life start clear
    blocks[b].linear = {};
  } else if (state.live && tracksOwners()) {
    for (std::vector<uint32_t> &granule : granulesOf(tensor))
      std::erase(granule, tensor);
  }
  // Writes go on counting: they tell contents apart.
  state = {.hasCells = state.hasCells,
           .wasWrittenEarlier = true,
           .writes = state.writes,
           .activatedAt = state.activatedAt,
           .earlierAuthor = state.author};
}

void Storage::refill(uint32_t tensor) {
  const TensorPlace &place = layout.tensors()[tensor];
  Block &block = blocks[place.block];
  if (!block.data)
    return; // its block was given back
  const int64_t stride = layout.blocks()[place.block].stride;
  for (uint32_t p = place.partition; p < place.partition + place.partitions; ++p)
    poison.fill(block.data + p * stride + place.byte, place.bytes);
  ++states[tensor].writes;
}

void Storage::retireOverlapping(uint32_t tensor) {
  const TensorPlace &place = layout.tensors()[tensor];
  Block &block = blocks[place.block];

  std::vector<uint32_t> victims;
  for (const std::vector<uint32_t> &granule : granulesOf(tensor))
    for (uint32_t other : granule)
      if (mayOverlap(place, layout.tensors()[other]))
        victims.push_back(other);
  for (uint32_t victim : victims) {
    TensorState &state = states[victim];
    if (!state.live)
      continue; // found in more than one granule
    const TensorPlace &where = layout.tensors()[victim];
    if (refills)
      refill(victim);
    state.lostSums =
        mode == ShadowMode::Tensors &&
        (state.cells == CellState::Set ||
         (state.cells == CellState::Mixed &&
          block.cells.any(maskOf(victim), where.byte / machine.psumCellBytes,
                          (where.bytes + machine.psumCellBytes - 1) / machine.psumCellBytes)));
    state.live = state.full = false;
    state.overwrittenBy = tensor;
    state.takenBy = author;
    state.retiredAt = clock;
    for (std::vector<uint32_t> &granule : granulesOf(victim))
      std::erase(granule, victim);
  }
  for (std::vector<uint32_t> &granule : granulesOf(tensor))
    granule.push_back(tensor);
}

void Storage::activateSlow(const Place &place) {
  const uint32_t tensor = place.tensor;
  const TensorPlace &where = layout.tensors()[tensor];
  const bool isShared = layout.blocks()[where.block].tensor == kNone;
  TensorState &state = states[tensor];
  allocate(where.block);
  Block &block = blocks[where.block];
  state.activatedAt = ++clock;
  if (isShared && tracksOwners()) {
    retireOverlapping(tensor);
    if (!place.whole && !block.bytes.empty())
      block.bytes.clear(maskOf(tensor), where.byte, where.bytes);
  }
  state.live = true;
  state.lostSums = false;
  ++state.activations;
  state.cells = CellState::Clear;
  if (state.hasCells && !isLazy(where.block))
    spreadCells(tensor);
}

//---- written bytes ------------------------------------------------------===//

void Storage::setWritten(const Place &place) {
  if (mode == ShadowMode::Off)
    return;
  TensorState &state = states[place.tensor];
  if (place.whole && isLazy(place.block)) {
    state.full = true;
    return;
  }
  Block &block = blocks[place.block];
  const int64_t bytes = layout.blocks()[place.block].bytes;
  if (place.onChip) {
    if (block.bytes.empty())
      block.bytes = ColumnBits(bytes);
    const PartitionMask mask = PartitionMask::range(place.partition, place.partitions());
    forEachRun(place.pattern->runs, place.byte,
               [&](int64_t first, int64_t count, int64_t) { block.bytes.set(mask, first, count); });
  } else {
    if (block.linear.empty())
      block.linear = LinearBits(bytes);
    forEachRun(place.pattern->runs, place.byte,
               [&](int64_t first, int64_t count, int64_t) { block.linear.set(first, count); });
  }
  state.full = place.whole;
}

bool Storage::isWrittenSlow(const Place &place) {
  Block &block = blocks[place.block];
  if (mode == ShadowMode::Off) {
    allocate(place.block);
    return true;
  }
  TensorState &state = states[place.tensor];
  if (isLazy(place.block) && !state.live)
    return false;
  bool isAll = true;
  if (place.onChip) {
    if (block.bytes.empty())
      return false;
    const PartitionMask mask = PartitionMask::range(place.partition, place.partitions());
    forEachRun(place.pattern->runs, place.byte, [&](int64_t first, int64_t count, int64_t) {
      isAll = isAll && block.bytes.all(mask, first, count);
    });
  } else {
    if (block.linear.empty())
      return false;
    forEachRun(place.pattern->runs, place.byte, [&](int64_t first, int64_t count, int64_t) {
      isAll = isAll && block.linear.all(first, count);
    });
  }
  state.full = isAll && place.whole;
  return isAll;
}

bool Storage::isWritten(uint32_t tensor, uint32_t partition, int64_t byte) const {
  const TensorState &state = states[tensor];
  const uint32_t block = layout.tensors()[tensor].block;
  if (state.full || mode == ShadowMode::Off)
    return true;
  return !(isLazy(block) && !state.live) && isByteWritten(blocks[block], partition, byte);
}

//---- matmul cells -------------------------------------------------------===//

/// Calls `fn(first, count)` for each run of cells whose bytes `place` touches.
template <typename Fn>
static void forEachCellRun(const Place &place, const Fn &fn) {
  constexpr int64_t cell = machine.psumCellBytes;
  forEachRun(place.pattern->runs, place.byte, [&](int64_t first, int64_t count, int64_t) {
    fn(first / cell, (first + count - 1) / cell - first / cell + 1);
  });
}

void Storage::spreadCells(uint32_t tensor) {
  TensorState &state = states[tensor];
  if (state.cells == CellState::Mixed)
    return;
  constexpr int64_t cell = machine.psumCellBytes;
  const TensorPlace &where = layout.tensors()[tensor];
  ColumnBits &bits = blocks[where.block].cells;
  if (bits.empty())
    bits = ColumnBits((layout.blocks()[where.block].bytes + cell - 1) / cell);
  const int64_t first = where.byte / cell, count = (where.bytes + cell - 1) / cell;
  if (state.cells == CellState::Set)
    bits.set(maskOf(tensor), first, count);
  else
    bits.clear(maskOf(tensor), first, count);
  state.cells = CellState::Mixed;
}

CellState Storage::cells(const Place &place) const {
  const TensorState &state = states[place.tensor];
  if (state.cells != CellState::Mixed)
    return state.cells;
  const ColumnBits &bits = blocks[place.block].cells;
  const PartitionMask mask = PartitionMask::range(place.partition, place.partitions());
  bool isAny = false, isAll = true;
  forEachCellRun(place, [&](int64_t first, int64_t count) {
    isAny = isAny || bits.any(mask, first, count);
    isAll = isAll && bits.all(mask, first, count);
  });
  return isAll ? CellState::Set : isAny ? CellState::Mixed : CellState::Clear;
}

void Storage::setCells(const Place &place, CellState target) {
  TensorState &state = states[place.tensor];
  if (state.cells == target)
    return;
  if (place.whole && isLazy(place.block)) {
    state.cells = target;
    return;
  }
  spreadCells(place.tensor);
  ColumnBits &bits = blocks[place.block].cells;
  const PartitionMask mask = PartitionMask::range(place.partition, place.partitions());
  forEachCellRun(place, [&](int64_t first, int64_t count) {
    if (target == CellState::Set)
      bits.set(mask, first, count);
    else
      bits.clear(mask, first, count);
  });
}

bool Storage::cell(const Place &place, uint32_t partition, int64_t byte) const {
  const TensorState &state = states[place.tensor];
  if (state.cells != CellState::Mixed)
    return state.cells == CellState::Set;
  return blocks[place.block].cells.get(partition, byte / machine.psumCellBytes);
}

void Storage::setCell(const Place &place, uint32_t partition, int64_t byte) {
  spreadCells(place.tensor);
  blocks[place.block].cells.set(PartitionMask::range(partition, 1), byte / machine.psumCellBytes,
                                1);
}
