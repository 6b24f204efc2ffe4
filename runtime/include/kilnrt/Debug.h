//===- Debug.h - a run, step by step ----------------------------------------------------------===//
//
// RunOptions::observer is told of every instruction: before it begins, what it reads, what it is
// about to write, and when its bytes are there. It may end the run before an instruction. It sees
// the memory and changes nothing. kilnrt/Debug/Observers.h has observers for the usual questions.
//
// Everything is called on the thread of the run. A run without an observer pays for one comparison
// an operand.
//
//===------------------------------------------------------------------------------------------===//

#ifndef KILNRT_DEBUG_H
#define KILNRT_DEBUG_H

#include "kilnrt/Machine/Storage.h"

namespace kilnrt {

/// An instruction of a stream at work, or one DMA engine at its share of a transfer.
struct RunStep {
  static constexpr uint32_t kWhole = kNone;

  isa::Opcode opcode{};
  isa::Engine engine = isa::Engine::Unknown;
  uint32_t index = 0; ///< in its stream
  uint32_t order = 0; ///< in the program
  uint32_t location = kNone;
  /// Number of the iteration of each loop of the program around it, outermost first. Loops the
  /// compiler wrote out are none, and one that it wrote in groups counts groups.
  std::array<int64_t, isa::kMaxLoopDepth> iteration{};
  unsigned loops = 0; ///< of `iteration` that mean something
  /// The DMA engine whose share it is; kWhole: all of the instruction. Only schedules other than
  /// program order move transfers in shares.
  uint32_t share = kWhole;
  bool completes = true; ///< the instruction is over when the step is: no share is left

  bool operator==(const RunStep &) const = default;
};

/// "instruction 5 of the vector stream, tensor_copy".
std::string stepText(const RunStep &step);

/// What an observer may look at, as long as the run lasts.
struct RunView {
  const Program &program; ///< without its streams
  const Layout &layout;
  const Storage &memory;
};

class RunObserver {
public:
  virtual ~RunObserver();

  /// The memory is made, the inputs are there.
  virtual void starts(const RunView & /*view*/) {}
  /// A stream is about to execute `step`, or to hand it to a DMA ring. False ends the run before
  /// it. Not asked for the edges of loops.
  virtual bool permits(const RunStep & /*step*/) { return true; }
  /// The step reads the bytes of `place`, which were written. A matmul that adds to a sum and an
  /// instruction that keeps elements of its output do not read it.
  virtual void reads(const RunStep & /*step*/, unsigned /*operand*/, const Place & /*place*/) {}
  /// The step is about to write the bytes of `place`, all of them and no others; memory and shadow
  /// are still as they were. A step may write in several pieces.
  virtual void writes(const RunStep & /*step*/, unsigned /*operand*/, const Place & /*place*/) {}
  /// The step is done. A step that faults is not.
  virtual void ends(const RunStep & /*step*/) {}
  /// The run is over: to its end, at a fault, or because it was not permitted to go on.
  virtual void finishes() {}
};

/// Several observers, asked in order. A run ends before a step unless all permit it.
class RunObservers final : public RunObserver {
public:
  /// `observer` outlives the run.
  void add(RunObserver &observer) { all.push_back(&observer); }
  bool empty() const { return all.empty(); }

  void starts(const RunView &view) override;
  bool permits(const RunStep &step) override;
  void reads(const RunStep &step, unsigned operand, const Place &place) override;
  void writes(const RunStep &step, unsigned operand, const Place &place) override;
  void ends(const RunStep &step) override;
  void finishes() override;

private:
  std::vector<RunObserver *> all;
};

} // namespace kilnrt

#endif // KILNRT_DEBUG_H
