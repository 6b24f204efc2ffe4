//===- Select.h - lines and bytes an author asks about ----------------------------------------===//
//
// What "softmax.cpp:17#3" and "t[0, 0:16]" mean in a program. Errors are of class Usage and name a
// way out.
//
//===------------------------------------------------------------------------------------------===//

#ifndef KILNRT_DEBUG_SELECT_H
#define KILNRT_DEBUG_SELECT_H

#include "kilnrt/Debug.h"

#include <functional>
#include <string_view>

namespace kilnrt {

//---- lines --------------------------------------------------------------===//

/// One execution of one instruction of a line.
struct RunPoint {
  isa::Opcode opcode{};
  isa::Engine engine = isa::Engine::Unknown;
  uint32_t index = 0, order = 0, location = kNone; ///< as in RunStep
  std::array<int64_t, isa::kMaxLoopDepth> iteration{};
  unsigned loops = 0;            ///< around it
  std::vector<uint32_t> tensors; ///< that it names
  /// It is instruction `number` of `count` that the line executes, counted from 1.
  uint64_t number = 1, count = 1;

  /// The step of a run that is this execution.
  RunStep step() const;
  bool isAt(const RunStep &step) const {
    return step.order == order && step.iteration == iteration;
  }
};

/// Which of a line's instructions is meant when the text says no number.
enum class WhichOfLine { First, Last };

/// The instructions of a program by line.
class SourceLines {
public:
  /// `program` passed the verifier and outlives this.
  static Expected<SourceLines> of(const Program &program);

  /// "FILE:LINE" or "FILE:LINE#N". A line has the instructions of its statements and of the
  /// functions called there; they count each time they are executed, in program order, from 1.
  /// Waits and the edges of loops do not count. FILE is a path of the program or the end of one.
  Expected<RunPoint> find(std::string_view text, WhichOfLine which) const;

private:
  struct Entry {
    RunPoint point;
    std::vector<uint32_t> loops; ///< around it, outermost first
  };
  explicit SourceLines(const Program &program) : program(&program) {}
  bool comesFrom(const Entry &entry, std::string_view file, unsigned line) const;
  Diagnostic unknownFile(std::string_view file) const;
  Diagnostic emptyLine(std::string_view file, unsigned line) const;
  uint64_t executions(std::span<const Entry *const> entries, size_t depth) const;
  RunPoint pick(std::span<const Entry *const> entries, size_t depth, uint64_t number) const;

  const Program *program;
  std::vector<Entry> entries; ///< in program order
  std::vector<int64_t> tripCounts;
};

//---- bytes --------------------------------------------------------------===//

/// Bytes [begin, end) of each of some partitions of a block of memory. HBM has one partition.
struct ByteWindow {
  uint32_t block = 0;
  uint32_t partition = 0, partitions = 1;
  int64_t begin = 0, end = 0;
  isa::Memory memory = isa::Memory::Sbuf;
  uint32_t tensor = kNone; ///< by name: the tensor it is part of
  /// What people call partition 0 and byte 0 of the block: not 0 where a tensor has a block of its
  /// own because the program is not placed.
  int64_t firstPartition = 0, firstByte = 0;
  int64_t bytes() const { return (end - begin) * partitions; }
};

/// Part of a window, in people's numbers; both ends are part of it.
struct ShownRange {
  isa::Memory memory = isa::Memory::Sbuf;
  uint32_t tensor = kNone; ///< in HBM: the tensor whose bytes they are
  int64_t firstPartition = 0, lastPartition = 0;
  int64_t firstByte = 0, lastByte = 0;
};
/// "sbuf partitions 0-3, bytes 0-63", "psum partition 5, byte 0", "hbm bytes 0-511 of 'x'".
std::string toText(const ShownRange &range, const Program &program);

/// Bytes of memory by address or by tensor.
struct MemoryRegion {
  static constexpr int64_t kMaxWindows = 65536;

  std::string text; ///< what the author wrote
  /// By name: the tensors, which lie in `windows`. Empty: by address.
  std::vector<uint32_t> tensors;
  std::vector<ByteWindow> windows;

  int64_t bytes() const;
  bool names(uint32_t tensor) const;
};

/// "sbuf:0-3:0-63", "psum:0:0-2047", "sbuf:5" (all bytes of a partition), or a tensor: "t",
/// "t[3]", "t[0:2, 16:32]". Partitions are physical, bytes count in the usable part of each, and
/// both ends belong to the range; the indices of a tensor are Python's, without steps. A name also
/// means the copies "t.1", "t.2" that the compiler made of it in loops it wrote out.
Expected<MemoryRegion> parseRegion(std::string_view text, const Program &program);

/// The window of all of a tensor.
ByteWindow windowOf(uint32_t tensor, const Program &program, const Layout &layout);

/// The tensors called `name`, and the compiler's copies of it.
Expected<std::vector<uint32_t>> findTensors(std::string_view name, const Program &program);

/// Calls `fn(partition, byte, elements)` for stretches of neighbouring elements of `place` of which
/// a byte lies in `window`. What is touched several times is visited several times.
void forEachStretch(const Place &place, const ByteWindow &window,
                    const std::function<void(uint32_t, int64_t, int64_t)> &fn);

} // namespace kilnrt

#endif // KILNRT_DEBUG_SELECT_H
