//===- Observers.h - the usual questions about a run ------------------------------------------===//
//
// A tensor's elements after an instruction, the accesses of some bytes, who wrote them last, and a
// run that stops at a line. Each is an observer to put into RunOptions, alone or in RunObservers.
//
//===------------------------------------------------------------------------------------------===//

#ifndef KILNRT_DEBUG_OBSERVERS_H
#define KILNRT_DEBUG_OBSERVERS_H

#include "kilnrt/Debug/Select.h"
#include "kilnrt/HostArray.h"

#include <functional>
#include <optional>

namespace kilnrt {

/// Remembers the run's view.
class ViewingObserver : public RunObserver {
public:
  void starts(const RunView &given) override { view.emplace(given); }

protected:
  std::optional<RunView> view;
};

//---- stop ---------------------------------------------------------------===//

/// Ends the run before an instruction.
class StopAt final : public RunObserver {
public:
  explicit StopAt(RunPoint point) : point(std::move(point)) {}
  bool permits(const RunStep &step) override { return !point.isAt(step); }

private:
  RunPoint point;
};

//---- dump ---------------------------------------------------------------===//

/// A tensor as it was at one moment.
struct TensorDump {
  uint32_t tensor = kNone;
  HostArray value; ///< in the shape of its declaration
  /// Elements with a byte that nobody wrote, or that another tensor took; their bits are those of
  /// the memory. `firstUnwritten` is the C-order index of the first.
  int64_t unwritten = 0, firstUnwritten = 0;
  uint32_t overwrittenBy = kNone; ///< the tensor that took the bytes, if one did
};

/// Takes the elements of a tensor right after an instruction, a transfer when its last share is
/// there; without a point at the end of the run, whatever ended it.
class DumpTensor final : public ViewingObserver {
public:
  /// Of several `tensors`, copies of one in loops that were written out, it takes the one the
  /// instruction names, else the first.
  DumpTensor(const std::vector<uint32_t> &tensors, const std::optional<RunPoint> &point);

  void ends(const RunStep &step) override;
  void finishes() override;
  /// Nothing when the run ended before the instruction.
  const std::optional<TensorDump> &result() const { return dump; }

private:
  void take();

  uint32_t tensor;
  std::optional<RunPoint> point;
  std::optional<TensorDump> dump;
};

//---- watch --------------------------------------------------------------===//

/// An element that a write changed.
struct ElementChange {
  uint32_t partition = 0; ///< of the tensor
  int64_t byte = 0;       ///< of the tensor's partition (on chip) or of the tensor (HBM)
  std::string before;     ///< "unwritten", or the value
  std::string after;
};

/// One operand of one step that touched watched bytes.
struct WatchEvent {
  RunStep step;
  unsigned operand = 0;
  bool isWrite = false;
  uint32_t tensor = kNone; ///< through which it did
  ShownRange range;        ///< a box around what it touched of the watched bytes
  int64_t elements = 0;    ///< it touched, in the dtype of the access
  /// The first elements whose bits are others now, and how many there are.
  std::vector<ElementChange> changes;
  int64_t changed = 0;
};

struct WatchOptions {
  bool reads = false;    ///< report reads too
  size_t maxChanges = 4; ///< elements of WatchEvent::changes
};

/// Reports the accesses of a region as they happen: a write when it is done.
class Watch final : public ViewingObserver {
public:
  using Callback = std::function<void(const WatchEvent &)>;
  Watch(MemoryRegion region, WatchOptions options, Callback callback)
      : region(std::move(region)), options(options), callback(std::move(callback)) {}

  void reads(const RunStep &step, unsigned operand, const Place &place) override;
  void writes(const RunStep &step, unsigned operand, const Place &place) override;
  void ends(const RunStep &step) override;

private:
  /// Neighbouring elements that are about to be written.
  struct Stretch {
    uint32_t partition;
    int64_t byte, elements;
    size_t old;              ///< of its bytes in `before`
    std::vector<bool> known; ///< of each element: it was written
  };
  struct Write {
    WatchEvent event;
    DType dtype = DType::Float32;
    uint32_t block = 0;
    std::vector<Stretch> stretches;
  };
  WatchEvent eventOf(const RunStep &step, unsigned operand, bool isWrite, const Place &place) const;
  const std::byte *bytesAt(uint32_t block, uint32_t partition, int64_t byte) const;
  void compare(Write &write) const;

  MemoryRegion region;
  WatchOptions options;
  Callback callback;
  std::vector<Write> pending; ///< of the step at hand, one for each operand
  std::vector<std::byte> before;
};

/// A line that says who and where, one that says what, and the changes:
///   instruction 5 of the vector stream, tensor_copy, at softmax.cpp:17, iteration 3
///     writes dst 't': sbuf partitions 0-1, bytes 0-15, 8 elements
///     (0, 0): unwritten -> 3, (0, 1): 2 -> 4, 5 more
std::string toText(const WatchEvent &event, const Program &program);

//---- who wrote ----------------------------------------------------------===//

/// A write.
struct Writer {
  RunStep step;
  unsigned operand = 0;
  uint32_t tensor = kNone; ///< through which it wrote
};

/// Bytes that one write left, or nobody.
struct WrittenStretch {
  ShownRange range;
  std::optional<Writer> writer; ///< nothing: never written by the program
};

/// Remembers for each byte of a region which write was the last.
class LastWriters final : public RunObserver {
public:
  static constexpr int64_t kMaxBytes = int64_t{64} << 20;
  /// Precondition: the region has at most kMaxBytes.
  explicit LastWriters(MemoryRegion region);

  void writes(const RunStep &step, unsigned operand, const Place &place) override;

  /// The region, stretch by stretch: partition by partition, bytes ascending; neighbouring
  /// partitions with the same stretches are one.
  std::vector<WrittenStretch> stretches() const;

private:
  uint32_t number(const RunStep &step, unsigned operand, uint32_t tensor);
  void forgetLost();

  MemoryRegion region;
  std::vector<std::vector<uint32_t>> writers; ///< of each window, by byte: index into known
  std::vector<Writer> known;
  size_t compactAt = 4096;
};

/// "sbuf partitions 0-3, bytes 0-31: instruction 5 of ..., wrote dst 't'", or "never written".
std::string toText(const WrittenStretch &stretch, const Program &program);

//---- text ---------------------------------------------------------------===//

/// "instruction 5 of the vector stream, tensor_copy, at softmax.cpp:17, iteration 3".
std::string whereText(const RunStep &step, const Program &program);

} // namespace kilnrt

#endif // KILNRT_DEBUG_OBSERVERS_H
