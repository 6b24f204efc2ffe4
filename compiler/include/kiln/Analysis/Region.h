//===- Region.h - accesses as rectangles of physical memory -----------------------------------===//
//
// Dependences are about bytes, not about tensors: an address is reused, and two
// tiles of one tensor may have nothing in common. A region is a rectangle of
// one space.
//
//   space          row                     byte
//   SBUF, PSUM     partition               byte of the partition
//   HBM tensor     flat byte / pitch       flat byte % pitch
//
// The pitch of an HBM tensor is chosen so that most of its accesses are whole
// rectangles: blocks (m, n1) and (m, n2) of a 2-D result are disjoint although
// their flat ranges interleave. An access that is no rectangle becomes several,
// or a larger one: a region may be too large, never too small.
//
//===------------------------------------------------------------------------------------------===//

#ifndef KILN_ANALYSIS_REGION_H
#define KILN_ANALYSIS_REGION_H

#include "kiln/Analysis/Placement.h"

namespace kiln::analysis {

/// Rows [rowLo, rowHi), in each of them bytes [lo, hi).
struct Region {
  uint32_t space = 0;
  int64_t rowLo = 0, rowHi = 0;
  int64_t lo = 0, hi = 0;

  bool operator==(const Region &) const = default;
};

/// Turns the accesses of one placed kernel into regions.
class RegionMap {
public:
  static constexpr unsigned kMaxPieces = 8;
  /// The regions of one access.
  struct Pieces {
    std::array<Region, kMaxPieces> regions;
    unsigned count = 0;
    const Region *begin() const { return regions.data(); }
    const Region *end() const { return regions.data() + count; }
  };

  /// Chooses the pitches. `kernel` and `placement` must outlive the map. Linear
  /// in the operands.
  RegionMap(const Kernel &kernel, const Placement &placement);

  /// The regions of `access`. Precondition: it is present and lies in its
  /// tensor.
  Pieces regions(const isa::Access &access) const;
  /// False for HBM tensors that are only read, which order nothing. An on-chip
  /// tensor shares its address with others, whatever is done to it.
  bool canDepend(uint32_t tensor) const {
    return written[tensor] || kernel.tensors[tensor].isOnChip();
  }
  /// Bytes of a row of an HBM tensor.
  int64_t pitchBytes(uint32_t tensor) const { return pitches[tensor]; }

private:
  const Kernel &kernel;
  const Placement &placement;
  std::vector<bool> written;
  std::vector<int64_t> pitches; ///< HBM tensors that are written; 0 for others
};

} // namespace kiln::analysis

#endif // KILN_ANALYSIS_REGION_H
