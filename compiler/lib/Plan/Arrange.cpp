//===- Arrange.cpp - which loop a step stands in, and frames of tiles -------------------------===//
//
// A step stands inside the innermost loop its tiles move with; what moves with none is done once.
// Tiles of one loop level share a frame; inside the innermost one, tiles that never live together
// share a slot of it.
//
//===------------------------------------------------------------------------------------------===//

#include "Rows.h"

#include <algorithm>

namespace kiln::plan {

namespace {

constexpr int64_t kSlotAlign = isa::machine.sbufAllocAlign;

/// Tiles a step reads.
std::vector<uint32_t> readsOf(const Step &step) {
  std::vector<uint32_t> out;
  for (const Argument *a : {&step.x, &step.y, &step.z})
    if (a->isTile())
      out.push_back(a->tile);
  if (step.kind == Step::Kind::Predicated)
    out.push_back(step.dst);
  return out;
}

unsigned levelOfDims(const Group &group, uint32_t dims) {
  for (size_t l = group.loops.size(); l-- > 0;)
    if (dims >> group.loops[l] & 1)
      return unsigned(l + 1);
  return 0;
}

class Arranger {
public:
  explicit Arranger(Group &group) : group(group), inner(unsigned(group.loops.size())) {}

  void run() {
    setLevels();
    followTiles();
    setStages();
    if (group.isChunked)
      duplicate();
    setSlots();
  }

private:
  uint32_t chunkBit() const { return group.isChunked ? 1u << group.loops.back() : 0; }

  bool foldsChunk(const Step &step) const {
    return step.kind == Step::Kind::Reduce && (step.dims & chunkBit());
  }
  bool sumsChunk(const Step &step) const {
    return step.sum != kNone && group.isChunked && !(group.tiles[step.sum].dims & chunkBit()) &&
           (group.tiles[step.dst].dims & chunkBit());
  }

  void setLevels() {
    for (Step &step : group.steps) {
      uint32_t dims = step.dims | (step.dst == kNone ? 0 : group.tiles[step.dst].dims);
      for (uint32_t t : readsOf(step))
        dims |= group.tiles[t].dims;
      if (step.kind == Step::Kind::Load && group.tiles[step.dst].isWhole)
        dims &= ~chunkBit();
      step.level = levelOfDims(group, dims);
      if (step.kind == Step::Kind::Store)
        step.level = std::max(step.level, levelOfDims(group, storeDims(step.node)));
      // What a later iteration of an outer loop would have to find again moves with its reader.
      for (uint32_t t : readsOf(step))
        step.level = std::max(step.level, group.tiles[t].level);
      if (step.dst != kNone && group.tiles[step.dst].place != kNone)
        step.level =
            std::max(step.level, levelOfDims(group, storeDims(group.tiles[step.dst].place)));
      if (step.dst != kNone)
        group.tiles[step.dst].level =
            foldsChunk(step) ? levelOfDims(group, group.tiles[step.dst].dims) : step.level;
      if (step.sum != kNone)
        group.tiles[step.sum].level =
            sumsChunk(step) ? levelOfDims(group, group.tiles[step.sum].dims) : step.level;
      step.isPartial = foldsChunk(step) || sumsChunk(step);
      if (step.isPartial) {
        Tile part = group.tiles[foldsChunk(step) ? step.dst : step.sum];
        part.level = inner;
        part.node = kNone;
        step.part = uint32_t(group.tiles.size());
        group.tiles.push_back(part);
      }
    }
  }

  /// What a tile holds before it is picked into is made where that happens: a number moves with no
  /// loop, and the tile with the loops of the accumulator it is picked from.
  void followTiles() {
    for (Step &step : group.steps)
      if (step.kind == Step::Kind::Fill || step.kind == Step::Kind::Copy)
        step.level = std::max(step.level, group.tiles[step.dst].level);
  }

  uint32_t storeDims(NodeId node) const {
    for (const Footprint &footprint : group.footprints)
      if (footprint.node == node) {
        uint32_t dims = 0;
        for (size_t d = 0; d < footprint.stride.size(); ++d)
          if (footprint.stride[d] != 0)
            dims |= 1u << d;
        return dims;
      }
    return 0;
  }

  void setStages() {
    std::vector<unsigned> ready(group.tiles.size(), 0);
    group.stages = 1;
    for (Step &step : group.steps) {
      step.stage = 0;
      for (uint32_t t : readsOf(step))
        step.stage = std::max(step.stage, ready[t]);
      const bool isFold = foldsChunk(step);
      if (step.dst != kNone)
        ready[step.dst] = std::max(ready[step.dst], step.stage + (isFold ? 1 : 0));
      if (step.sum != kNone)
        ready[step.sum] = step.stage + (sumsChunk(step) ? 1 : 0);
      group.stages = std::max(group.stages, step.stage + 1);
      if (isFold || sumsChunk(step))
        group.stages = std::max(group.stages, step.stage + 2);
    }
  }

  /// Steps of the innermost loop stand once in each pass that needs them.
  void duplicate() {
    std::vector<Step> out;
    for (unsigned stage = 0; stage < group.stages; ++stage) {
      for (const Step &step : group.steps)
        if (step.level < inner && step.stage == stage)
          out.push_back(step);
      std::vector<bool> wanted(group.steps.size(), false);
      std::vector<bool> wantedTile(group.tiles.size(), false);
      for (size_t s = group.steps.size(); s-- > 0;) {
        const Step &step = group.steps[s];
        if (step.level < inner)
          continue;
        const bool isRoot = step.stage == stage && (step.isPartial || step.dst == kNone);
        const bool isRead = step.dst != kNone && wantedTile[step.dst];
        if (!isRoot && !isRead)
          continue;
        wanted[s] = true;
        for (uint32_t t : readsOf(step))
          if (group.tiles[t].level == inner)
            wantedTile[t] = true;
      }
      for (size_t s = 0; s < group.steps.size(); ++s)
        if (wanted[s]) {
          Step step = group.steps[s];
          // A sum is taken in its own pass only.
          if (step.sum != kNone && step.stage != stage) {
            step.sum = kNone;
            step.isPartial = false;
            step.part = kNone;
          }
          step.stage = stage;
          out.push_back(step);
        }
    }
    group.steps = std::move(out);
  }

  struct Life {
    size_t first = SIZE_MAX, last = 0;
  };

  void setSlots() {
    std::vector<Life> lives(group.tiles.size());
    for (size_t s = 0; s < group.steps.size(); ++s) {
      const Step &step = group.steps[s];
      const auto touch = [&](uint32_t t) {
        lives[t].first = std::min(lives[t].first, s);
        lives[t].last = std::max(lives[t].last, s);
      };
      for (uint32_t t : readsOf(step))
        touch(t);
      for (uint32_t t : {step.dst, step.sum, step.part})
        if (t != kNone)
          touch(t);
    }
    group.slotBytes.assign(inner + 1, {});
    std::vector<std::vector<size_t>> freeFrom(inner + 1); // by slot: step behind its last use
    std::vector<uint32_t> order;
    for (uint32_t t = 0; t < group.tiles.size(); ++t)
      if (lives[t].first != SIZE_MAX && group.tiles[t].memory == isa::Memory::Sbuf &&
          group.tiles[t].place == kNone)
        order.push_back(t);
    std::stable_sort(order.begin(), order.end(),
                     [&](uint32_t a, uint32_t b) { return lives[a].first < lives[b].first; });
    for (uint32_t t : order) {
      Tile &tile = group.tiles[t];
      tile.inPlaceOf = kNone;
      const int64_t bytes = (bytesOf(group, tile) + kSlotAlign - 1) / kSlotAlign * kSlotAlign;
      auto &slots = group.slotBytes[tile.level];
      auto &free = freeFrom[tile.level];
      const bool mayShare = tile.level == inner;
      std::optional<size_t> slot;
      if (mayShare) {
        if (const uint32_t source = replaced(t, lives); source != kNone) {
          slot = group.tiles[source].slot;
          tile.inPlaceOf = source;
        }
        for (size_t i = 0; i < slots.size() && !slot; ++i)
          if (free[i] <= lives[t].first && slots[i] >= bytes)
            slot = i;
      }
      if (!slot) {
        slot = slots.size();
        slots.push_back(0);
        free.push_back(0);
      }
      tile.slot = unsigned(*slot);
      slots[*slot] = std::max(slots[*slot], bytes);
      free[*slot] = lives[t].last + 1;
    }
  }

  /// The tile that dies in the step that makes `t`, when that step may overwrite it element by
  /// element.
  uint32_t replaced(uint32_t t, const std::vector<Life> &lives) const {
    const Step &step = group.steps[lives[t].first];
    using Kind = Step::Kind;
    const bool isMap = step.kind == Kind::Activation || step.kind == Kind::TensorScalar ||
                       step.kind == Kind::TensorTensor || step.kind == Kind::ScalarTensorTensor ||
                       step.kind == Kind::Reciprocal;
    if (!isMap || step.dst != t)
      return kNone;
    for (const Argument *a : {&step.x, &step.y, &step.z}) {
      if (!a->isTile())
        continue;
      const Tile &tile = group.tiles[t], &source = group.tiles[a->tile];
      if (lives[a->tile].last == lives[t].first && source.dims == tile.dims &&
          source.dtype == tile.dtype && source.level == tile.level && source.place == kNone &&
          source.memory == isa::Memory::Sbuf && !isScalarOf(step, a))
        return a->tile;
    }
    return kNone;
  }
  /// A column beside a tile is read for every element; it cannot be overwritten on the way.
  static bool isScalarOf(const Step &step, const Argument *a) {
    using Kind = Step::Kind;
    if (step.kind == Kind::Activation || step.kind == Kind::TensorScalar)
      return a != &step.x;
    return step.kind == Kind::ScalarTensorTensor && a == &step.y;
  }

  Group &group;
  const unsigned inner;
};

} // namespace

int64_t bytesOf(const Group &group, const Tile &tile) {
  int64_t elements = 1;
  for (size_t d = 0; d < group.extents.size(); ++d)
    if ((tile.dims >> d & 1) && d != group.partition)
      elements *= tile.isWhole && d == group.loops.back() ? group.extents[d] : group.tile[d];
  return elements * isa::bytesOf(tile.dtype);
}

int64_t trips(const Group &group, size_t l) {
  const unsigned d = group.loops[l];
  return (group.extents[d] + group.tile[d] - 1) / group.tile[d];
}

void arrange(Group &group) { Arranger(group).run(); }

} // namespace kiln::plan
