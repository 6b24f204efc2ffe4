//===- Conflicts.h - which accesses touch the same bytes --------------------------------------===//
//
// A log of accesses between two edges of loops (all loops of the kernel are
// around all its instructions), by brute force: each space is cut into equal buckets, each
// bucket lists the accesses that may still matter, and a new access is compared
// with all of them. Exact for strided patterns. Shares no code with Region.h
// and Dependence.h, which it is there to check. Private to the checker.
//
//===------------------------------------------------------------------------------------------===//

#ifndef KILN_LIB_ANALYSIS_CONFLICTS_H
#define KILN_LIB_ANALYSIS_CONFLICTS_H

#include "kiln/Analysis/Placement.h"

#include <functional>

namespace kiln::analysis {

/// A logged access and the bytes it touches.
struct LoggedAccess {
  uint32_t instruction = 0;
  uint32_t agent = 0; ///< a later read of the same agent replaces an earlier one it covers
  int32_t rowLo = 0, rowHi = 1; ///< partitions on chip
  int64_t lo = 0, hi = 0; ///< first byte and end in any iteration, in the partition or in the HBM
                          ///< tensor
  uint8_t operand = 0;
  bool writes = false;
  bool isDense = false; ///< every byte of the range is touched in every iteration
};

class AccessLog {
public:
  /// True when the second instruction need not be compared with the first.
  using Filter = std::function<bool(uint32_t, uint32_t)>;
  /// Called with an earlier access and the one at hand; they share bytes and
  /// one of them writes.
  using Visit = std::function<void(const LoggedAccess &, const LoggedAccess &)>;

  AccessLog(const Kernel &kernel, const Placement &placement);

  /// Visits what conflicts with instruction `i` and is not ordered, then logs its accesses.
  /// Instructions come in program order. A pair may be visited more than once.
  void add(uint32_t i, uint32_t agent, const Filter &isOrdered, const Visit &visit);

private:
  struct Space {
    int64_t bytesPerBucket = 1;
    std::vector<std::vector<LoggedAccess>> buckets;
  };

  const isa::Access &accessOf(const LoggedAccess &entry) const {
    return kernel.instructions[entry.instruction].inst.operands[entry.operand];
  }
  uint32_t spaceOf(const isa::Access &access) const;
  LoggedAccess measure(const isa::Access &access) const;
  bool shareBytes(const LoggedAccess &a, const LoggedAccess &b) const;
  void log(Space &space, const LoggedAccess &entry);
  template <typename Fn>
  static void forEachBucket(Space &space, const LoggedAccess &entry, Fn fn);

  const Kernel &kernel;
  const Placement &placement;
  /// False for HBM tensors that are only read. On-chip tensors share addresses.
  std::vector<bool> canConflict;
  std::vector<Space> spaces; ///< SBUF, PSUM, then one for each tensor
};

} // namespace kiln::analysis

#endif // KILN_LIB_ANALYSIS_CONFLICTS_H
