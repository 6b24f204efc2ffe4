//===- Placement.h - where on-chip tensors lie ------------------------------------------------===//
//
// Gives every SBUF and PSUM tensor an address. Tensors placed by hand keep
// theirs; the others start at partition 0 and avoid, in bytes, everything that
// is live at the same time.
//
//   rotation   (default) next fit: a cursor moves on from tensor to tensor and
//   wraps around, so that an
//              address is used again as late as capacity allows and unrolled
//              iterations overlap
//   compact    lowest address first: the smallest peak
//
// When rotation does not fit because memory is fragmented, offline strategies
// (long lives first, then by size, by life and by start) are tried before
// anything is reported. The order is fixed, so equal kernels get equal
// placements. `verifyPlacement` checks a placement without any of this.
//
//===------------------------------------------------------------------------------------------===//

#ifndef KILN_ANALYSIS_PLACEMENT_H
#define KILN_ANALYSIS_PLACEMENT_H

#include "kiln/Analysis/Liveness.h"

#include <span>

namespace kiln::analysis {

enum class PlacementStrategy { Rotation, Compact };

struct PlacementOptions {
  PlacementStrategy strategy = PlacementStrategy::Rotation;
  /// Tensors placed by hand may share bytes while both live: M-04 is a warning
  /// (-Wno-error=M-04).
  bool allowManualOverlap = false;
  /// The same for tensors of one declaration, whose addresses rotate: M-05.
  bool allowShallowRotation = false;
};

/// Address of every tensor, in the order of Kernel::tensors; {0, 0} for HBM
/// tensors.
struct Placement {
  std::vector<isa::TensorAddress> addresses;
  uint64_t sbufPeakBytes = 0; ///< end of the highest byte used in any SBUF partition
  uint64_t psumPeakBytes = 0; ///< the same for PSUM
};

/// Live tensors of one declaration and size, which an unrolled loop makes many
/// of.
struct LiveGroup {
  uint32_t tensor = kNone; ///< the first of them
  uint32_t count = 0;
  int64_t bytesEach = 0; ///< bytes per partition
};

/// The memory at the moment it is fullest.
struct MemoryReport {
  isa::Memory memory = isa::Memory::Sbuf;
  uint32_t position = 0; ///< instruction at which the most bytes are live
  int64_t liveBytes = 0; ///< bytes per partition live there
  int64_t limitBytes = 0;
  uint32_t liveTensors = 0;
  std::vector<LiveGroup> groups; ///< most bytes first, then in order of the tensors
};

/// Measures `memory` at its fullest moment. O(n log n) in the number of
/// tensors.
MemoryReport measureMemory(const Kernel &kernel, std::span<const Lifetime> lifetimes,
                           isa::Memory memory);

struct PlacementResult {
  /// Present when every tensor has an address, also when M-04 was reported.
  std::optional<Placement> placement;
  /// M-01, M-02, M-03, M-04, M-05, M-06, M-07 and S-04.
  std::vector<Diagnostic> diagnostics;
};

/// Places all on-chip tensors of `kernel`. About O(n log n) in tensors and
/// instructions.
PlacementResult place(const Kernel &kernel, const PlacementOptions &options = {});

/// Checks `placement` on its own: every on-chip tensor has an address inside
/// its memory, aligned, as the author chose if they did; and no two tensors
/// live at the same time share a byte of a partition. One sweep over time.
/// Everything found is a fault of the compiler, except overlaps placed by hand,
/// which are skipped (`place` reports them).
std::vector<Diagnostic> verifyPlacement(const Kernel &kernel, const Placement &placement);

/// How many addresses the tensors of one declaration rotate over.
struct RotationDepth {
  uint32_t location = kNone;
  isa::Memory memory = isa::Memory::Sbuf;
  uint32_t tensors = 0;
  uint32_t addresses = 0; ///< distinct ones among them
};
/// Rotation depth per declaration and memory, in order of the first tensor of
/// each; automatic on-chip tensors only.
std::vector<RotationDepth> rotationDepths(const Kernel &kernel, const Placement &placement);

} // namespace kiln::analysis

#endif // KILN_ANALYSIS_PLACEMENT_H
