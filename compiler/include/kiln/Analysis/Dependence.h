//===- Dependence.h - which instructions must come before another -----------------------------===//
//
// Read after write, write after read and write after write on the same bytes,
// through whatever tensors they were reached. Instructions of one engine are in
// order by themselves; of the transfers of one DMA ring, what proves one complete
// proves all before it (see Synchronise.h). So what is asked for is the latest
// instruction of every other stream.
//
//===------------------------------------------------------------------------------------------===//

#ifndef KILN_ANALYSIS_DEPENDENCE_H
#define KILN_ANALYSIS_DEPENDENCE_H

#include "kiln/Analysis/Region.h"

#include <map>

namespace kiln::analysis {

/// For every stream the position of an instruction plus one; 0 means none.
using StreamPositions = std::array<uint32_t, kNumStreams>;

/// Walks a kernel in program order and answers what the next instruction
/// depends on.
///
/// Each space is cut into columns (byte intervals), each column into cells (row
/// intervals) whose bytes share one history: the last writer and, for every
/// stream, the last reader since. An access splits cells only where it covers
/// them partly, and a write joins what it covers.
class DependenceTracker {
public:
  /// `kernel` and `placement` must outlive the tracker.
  DependenceTracker(const Kernel &kernel, const Placement &placement);

  /// The latest instruction of each stream that must be complete before
  /// instruction `position` may start. Same-engine entries are included;
  /// program order satisfies them.
  StreamPositions collect(uint32_t position) const;

  /// The greatest depth recorded with an access that conflicts with one of
  /// instruction `position`; 0 when there is none.
  uint32_t depthBefore(uint32_t position) const;

  /// Records the accesses of instruction `position`, which completes on
  /// `stream`. Positions ascend. `depth` is for depthBefore.
  void record(uint32_t position, unsigned stream, uint32_t depth = 0);

private:
  struct Cell {
    int64_t rowLo = 0, rowHi = 0;
    uint32_t writer = 0; ///< position plus one
    uint32_t writerStream = 0;
    StreamPositions readers{};
    uint32_t writerDepth = 0, readerDepth = 0;
    bool operator==(const Cell &) const = default;
  };
  struct Column {
    int64_t hi = 0;
    std::vector<Cell> cells; ///< disjoint, by row
  };
  using Space = std::map<int64_t, Column>; ///< disjoint columns by their first byte

  void collect(const Region &region, bool writes, StreamPositions &result) const;
  template <typename Visit>
  void forEachCell(const Region &region, Visit visit) const;
  void read(const Region &region, uint32_t stamp, unsigned stream, uint32_t depth);
  void write(const Region &region, uint32_t stamp, unsigned stream, uint32_t depth);
  static void split(Space &space, int64_t at);

  const Kernel &kernel;
  RegionMap regionMap;
  std::vector<Space> spaces;
};

/// The instructions each instruction must wait for, back to back: those of
/// instruction i are sources[offsets[i]] to sources[offsets[i + 1] - 1],
/// ascending, at most one of each other stream.
struct Dependences {
  std::vector<uint32_t> offsets;
  std::vector<uint32_t> sources;
  std::span<const uint32_t> of(uint32_t i) const {
    return std::span(sources).subspan(offsets[i], offsets[i + 1] - offsets[i]);
  }
};

/// Dependences of the whole kernel, the n-th transfer running on ring n modulo
/// the number of rings.
Dependences findDependences(const Kernel &kernel, const Placement &placement);

} // namespace kiln::analysis

#endif // KILN_ANALYSIS_DEPENDENCE_H
