//===- AccessLog.h - which accesses touch the same bytes --------------------------------------===//
//
// Accesses as rectangles: partitions and bytes on chip; in HBM rows of a pitch and bytes of a row,
// so that neighbouring blocks of a matrix are apart. Each block of memory is cut into cells, each
// cell lists the accesses that still matter. An access replaces what it covers, because whoever is
// ordered after it is ordered after that too: lists do not grow with the program.
//
// Knows clocks, not where they come from: a proof's hold for every schedule, those of a run for
// that run.
//
//===------------------------------------------------------------------------------------------===//

#ifndef KILNRT_LIB_PROOF_ACCESSLOG_H
#define KILNRT_LIB_PROOF_ACCESSLOG_H

#include "Events.h"
#include "Order.h"

namespace kilnrt::proof {

/// A rectangle of a block.
struct Rect {
  int64_t rowLo = 0, rowHi = 1; ///< partitions, or rows of the pitch
  int64_t lo = 0, hi = 0;       ///< bytes of the partition or of the row
  bool isDense = false;         ///< every byte of it is touched, in every iteration

  bool meets(const Rect &other) const {
    return rowLo < other.rowHi && other.rowLo < rowHi && lo < other.hi && other.lo < hi;
  }
};

/// An access that was made.
struct LoggedAccess {
  const Touch *touch = nullptr;
  EventId event = kNone;
  Stamp stamp;
  Rect rect;
};

class AccessLog {
public:
  /// Looks at all accesses of a program to choose pitches and cells.
  explicit AccessLog(const Events &events);

  /// A new epoch begins: everything before is complete. `epoch` is its number.
  void startEpoch(size_t epoch);

  /// Forgets what was logged, for a caller whose touches are where the iteration at hand has them.
  void clear();

  /// Calls `visit(earlier, later)` for each logged access that shares its rectangle with the access
  /// at hand, one of them a write, and whose stamp is not known to `isKnown`; then logs it. A pair
  /// may be visited more than once. `touch` must live until the next epoch.
  template <typename IsKnown, typename Visit>
  void add(const Touch &touch, EventId event, Stamp stamp, const IsKnown &isKnown,
           const Visit &visit) {
    if (!events.isWritten[touch.place.block])
      return;
    Space &space = spaces[touch.place.block];
    LoggedAccess access{&touch, event, stamp, rectOf(touch)};
    forEachCell(space, access.rect, [&](Cell &cell, const Rect &) {
      for (const LoggedAccess &old : cell.accesses) {
        ++comparisons;
        if ((old.touch->writes || touch.writes) && old.event != event &&
            old.rect.meets(access.rect) && !isKnown(old.stamp))
          visit(old, access);
      }
    });
    log(space, access);
  }

  uint64_t comparisons = 0;

private:
  struct Cell {
    std::vector<LoggedAccess> accesses;
  };
  struct Space {
    int64_t pitch = 0;                     ///< of HBM rows; 0: on chip
    int64_t rows = 1, columns = 1;         ///< of the block
    int64_t cellRows = 1, cellColumns = 1; ///< of a cell
    int64_t across = 1;                    ///< cells side by side
    std::vector<Cell> cells;               ///< made when first used
    std::vector<uint32_t> touched;         ///< cells that are not empty
  };
  struct Statistics {
    std::vector<int64_t> pitches;
    std::vector<uint32_t> scores;
    int64_t accesses = 0, rows = 0, columns = 0;
  };

  Rect rectOf(const Touch &touch) const;
  /// Of the first iteration.
  Rect stillRect(const Touch &touch) const;
  bool covers(const LoggedAccess &access, const LoggedAccess &old, const Rect &cell) const;
  void choosePitches(std::vector<Statistics> &statistics);
  void chooseCells(const std::vector<Statistics> &statistics);
  void log(Space &space, const LoggedAccess &access);

  template <typename Fn>
  void forEachCell(Space &space, const Rect &rect, const Fn &fn) {
    if (space.cells.empty())
      space.cells.resize(
          size_t(space.across * ((space.rows + space.cellRows - 1) / space.cellRows)));
    const int64_t firstRow = rect.rowLo / space.cellRows;
    const int64_t lastRow = (rect.rowHi - 1) / space.cellRows;
    const int64_t firstColumn = rect.lo / space.cellColumns;
    const int64_t lastColumn = (rect.hi - 1) / space.cellColumns;
    for (int64_t r = firstRow; r <= lastRow; ++r)
      for (int64_t c = firstColumn; c <= lastColumn; ++c)
        fn(space.cells[size_t(r * space.across + c)],
           Rect{r * space.cellRows, (r + 1) * space.cellRows, c * space.cellColumns,
                (c + 1) * space.cellColumns, true});
  }

  const Events &events;
  std::vector<Space> spaces;
  /// By tensor: the one motion of its accesses in the epoch at hand; they keep their distances and
  /// need not be moved. kMixed where there are several, or where other tensors lie in its block:
  /// then an access is taken to be wherever its loops take it.
  std::vector<uint32_t> motionOf;
  static constexpr uint32_t kMixed = kNone;
  size_t epoch = 0;
};

} // namespace kilnrt::proof

#endif // KILNRT_LIB_PROOF_ACCESSLOG_H
