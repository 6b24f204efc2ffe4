//===- MemoryMap.h - what lies where when a memory is fullest ---------------------------------===//
//
// The picture behind `kiln compile --memory-report`: how full a memory gets, the bound below which
// no placement can get, every tile that is live at that moment, what each partition holds, the
// single change that would save most, and how deep every declaration rotates. A measure of what
// placement did, also of a kernel that found no place.
//
//===------------------------------------------------------------------------------------------===//

#ifndef KILN_ANALYSIS_MEMORYMAP_H
#define KILN_ANALYSIS_MEMORYMAP_H

#include "kiln/Analysis/Placement.h"

namespace kiln::analysis {

/// One tile that is live at the fullest moment.
struct MappedTile {
  uint32_t tensor = kNone;
  uint32_t partition = 0;       ///< its first partition; 0 when not placed
  uint32_t partitions = 0;      ///< how many
  std::optional<uint64_t> byte; ///< its first byte; nothing when not placed
  int64_t bytes = 0;            ///< it takes of each partition; whole banks in PSUM
  Lifetime life;
};

/// Partitions that hold equally many live bytes.
struct PartitionLoad {
  uint32_t first = 0, last = 0;
  int64_t liveBytes = 0;
};

/// What one change would do to the most live bytes.
struct MemorySaving {
  LiveGroup group; ///< the tensors of one declaration; count 0: nothing is live
  int64_t bytes = 0;
};

struct MemoryMap {
  isa::Memory memory = isa::Memory::Sbuf;
  int64_t limitBytes = 0;          ///< of a partition
  std::optional<int64_t> endBytes; ///< end of the highest byte any tensor was placed at
  int64_t liveBytes = 0; ///< most bytes of one partition live at once: no placement needs less
  uint32_t position = 0; ///< the instruction at which they are
  std::vector<MappedTile> tiles;         ///< live there; by address, then by tensor
  std::vector<PartitionLoad> partitions; ///< ascending; partitions without a live byte left out
  MemorySaving saving;                   ///< without this declaration the peak is lowest
  std::vector<RotationDepth> rotations;  ///< of this memory; empty when not placed
};

/// The map of `memory`, SBUF or PSUM. `placement` may be null: then nothing has an address.
/// O(n log n) in tensors and instructions.
MemoryMap mapMemory(const Kernel &kernel, const Placement *placement, isa::Memory memory);

} // namespace kiln::analysis

#endif // KILN_ANALYSIS_MEMORYMAP_H
