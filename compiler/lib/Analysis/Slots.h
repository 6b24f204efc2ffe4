//===- Slots.h - packing lives into one memory ------------------------------------------------===//
//
// The allocator proper: slots have a life and a size and want an address; the
// memory is a capacity and an alignment. SBUF and PSUM differ only in these
// numbers. Private to the placement.
//
//===------------------------------------------------------------------------------------------===//

#ifndef KILN_LIB_ANALYSIS_SLOTS_H
#define KILN_LIB_ANALYSIS_SLOTS_H

#include "kiln/Analysis/Liveness.h"

namespace kiln::analysis {

struct Slot {
  Lifetime life;        ///< not empty
  int64_t size = 0;     ///< bytes, not rounded
  int64_t address = -1; ///< result, or given when isFixed
  bool isFixed = false;
};

struct SlotMemory {
  int64_t capacity = 0;
  int64_t alignment = 1;
};

enum class SlotStrategy { Rotation, Compact };

/// Gives every slot that is not fixed an address such that slots with
/// overlapping lives are disjoint, except among the fixed. Returns the index of
/// the first slot that found no place under the last strategy tried, or nothing
/// on success. Deterministic.
std::optional<size_t> assignSlots(std::vector<Slot> &slots, const SlotMemory &memory,
                                  SlotStrategy strategy);

} // namespace kiln::analysis

#endif // KILN_LIB_ANALYSIS_SLOTS_H
