//===- Pieces.h - which pieces of an operand are in SBUF --------------------------------------===//
//
// Operands of a contraction come in pieces of blocks, into a fixed number of slots. Who emits the
// transfers and who counts their bytes follow the same rule: a piece that is there is not loaded
// again, and one that is not takes the place of a piece this sweep over the blocks has passed, the
// one used longest ago. What an earlier sweep left and this one has not met yet stays, because
// sweeps go back and forth and meet it soon.
//
//===------------------------------------------------------------------------------------------===//

#ifndef KILN_PLAN_PIECES_H
#define KILN_PLAN_PIECES_H

#include <cstddef>
#include <cstdint>
#include <vector>

namespace kiln::plan {

class PieceSlots {
public:
  /// Precondition: as many slots as a block has pieces, or blocks are used piece by piece.
  explicit PieceSlots(size_t count) : slots(count) {}

  size_t size() const { return slots.size(); }

  /// The slots hold nothing of use any more.
  void clear() {
    for (Slot &slot : slots)
      slot.block = -1;
  }
  /// From here on the blocks come in another order.
  void startSweep() { ++sweep; }

  /// The slot of a piece, or size().
  size_t find(int64_t block, int64_t piece) const {
    for (size_t i = 0; i < slots.size(); ++i)
      if (slots[i].block == block && slots[i].piece == piece)
        return i;
    return slots.size();
  }

  struct Place {
    size_t slot;
    bool isHere; ///< it was there before
  };
  /// The slot of a piece from now on.
  Place take(int64_t block, int64_t piece) {
    size_t at = find(block, piece);
    const bool isHere = at < slots.size();
    if (!isHere)
      at = victim(block);
    slots[at] = {block, piece, ++clock, sweep};
    return {at, isHere};
  }

private:
  struct Slot {
    int64_t block = -1, piece = -1;
    uint64_t used = 0, sweep = 0;
  };

  /// Unused slots first, then what this sweep has passed, then the rest, pieces of the block itself
  /// last; of each the one used longest ago.
  size_t victim(int64_t block) const {
    size_t best = 0;
    const auto rank = [&](const Slot &slot) {
      return slot.block < 0 ? 0 : slot.block == block ? 3 : slot.sweep == sweep ? 1 : 2;
    };
    for (size_t i = 1; i < slots.size(); ++i)
      if (const int a = rank(slots[i]), b = rank(slots[best]);
          a < b || (a == b && slots[i].used < slots[best].used))
        best = i;
    return best;
  }

  std::vector<Slot> slots;
  uint64_t clock = 0, sweep = 0;
};

} // namespace kiln::plan

#endif // KILN_PLAN_PIECES_H
