//===- Takeover.h - when one tensor takes the place of another --------------------------------===//
//
// Dependences between bytes are not enough where addresses are used again: the first write through
// a tensor ends every tensor it overlaps as a whole, also the bytes it never touches itself. So all
// accesses of the new tensor come after all accesses of the tensors it replaces. Where the bytes
// overlap anyway this adds nothing; synchronisation leaves out what is known.
//
//===------------------------------------------------------------------------------------------===//

#ifndef KILN_LIB_ANALYSIS_TAKEOVER_H
#define KILN_LIB_ANALYSIS_TAKEOVER_H

#include "kiln/Analysis/Dependence.h"

namespace kiln::analysis {

/// Walks a kernel in program order beside a DependenceTracker. About O(log n) an access.
class TakeoverTracker {
public:
  /// `kernel` and `placement` must outlive the tracker.
  TakeoverTracker(const Kernel &kernel, const Placement &placement);

  /// Raises `needed` to the last accesses of every tensor that the tensors of instruction
  /// `position` have replaced. The first access of a tensor replaces what lies at its address.
  void collect(uint32_t position, StreamPositions &needed);

  /// Notes that instruction `position` completes on `stream`. Positions ascend.
  void record(uint32_t position, unsigned stream);

private:
  struct Segment {
    int64_t hi = 0;
    std::vector<uint32_t> owners; ///< tensors with disjoint partitions
  };
  using Memory = std::map<int64_t, Segment>; ///< disjoint segments by their first byte

  void replace(uint32_t tensor);
  static void split(Memory &memory, int64_t at);

  const Kernel &kernel;
  const Placement &placement;
  std::array<Memory, 2> memories;          ///< SBUF, PSUM
  std::vector<bool> placed;                ///< by tensor: replaced its predecessors already
  std::vector<StreamPositions> lastAccess; ///< by tensor
  std::vector<StreamPositions> before;     ///< by tensor: what its predecessors did last
};

} // namespace kiln::analysis

#endif // KILN_LIB_ANALYSIS_TAKEOVER_H
