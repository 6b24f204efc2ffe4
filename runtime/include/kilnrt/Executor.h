//===- Executor.h - runs a program on the model of one core -----------------------------------===//
//
// Physical SBUF, PSUM and HBM with a shadow of written bytes; five engine
// streams and the DMA rings as concurrent agents that meet at semaphores; the
// order in which agents move is a parameter. The first fault stops the run with
// the instruction, the operand, the bytes and the author's line.
//
//===------------------------------------------------------------------------------------------===//

#ifndef KILNRT_EXECUTOR_H
#define KILNRT_EXECUTOR_H

#include "kilnrt/HostArray.h"
#include "kilnrt/Machine/Poison.h"
#include "kilnrt/Program.h"
#include "kilnrt/RaceClocks.h"
#include "kilnrt/Schedule.h"

#include <atomic>
#include <functional>
#include <memory>
#include <optional>

namespace kilnrt {

class RunObserver;

/// A tensor that an nl::device_print of the kernel showed.
struct DevicePrint {
  std::string prefix; ///< the author's text
  std::string tensor; ///< name of the tensor, of which `value` may be a view
  HostArray value;    ///< in the shape the author sees
  CallChain place;    ///< of the nl::device_print, innermost first
  /// Number of the iteration of each nl::affine_for around it, outermost first.
  std::vector<int64_t> iterations;
};

struct RunOptions {
  Schedule schedule = Schedule::Program;
  uint64_t maxSteps = 1'000'000'000; ///< more stops the run with Fault::Limit
  bool checkUninitialised = true;    ///< reads of bytes never written stop the run
  /// Reads through a tensor after another one was written over it stop the run
  /// too. Off: such a read sees what the chip would see. Means nothing without
  /// checkUninitialised.
  bool checkOverwritten = true;
  /// What memory is filled with that nothing was written to; a right program never depends on it.
  /// If it is given, and checkOverwritten is on, the bytes of a tensor are also filled when another
  /// tensor takes its memory and when the iteration ends that it is declared in, which costs time.
  std::optional<Poison> poison = std::nullopt;
  /// Any thread or signal handler may set it: the run ends before its next step with Fault::Limit
  /// and says where each stream stood. Null: nobody stops it. Outlives the run.
  const std::atomic<bool> *stop = nullptr;
  /// Called with each print as it happens, on the thread of the run; what comes before a fault is
  /// seen that way too. Without it they are collected in RunResult::prints.
  std::function<void(const DevicePrint &)> onPrint = {};
  /// Vector clocks watch a synchronised run for races; the first one stops it. For programs that
  /// `prove` leaves undecided. Null: nobody looks. Outlives the run.
  const RacePlan *races = nullptr;
  /// Sees the run step by step and may end it; see Debug.h. It outlives the run.
  RunObserver *observer = nullptr;
};

struct RunStats {
  uint64_t instructions = 0; ///< records executed, DMA transfers included
  uint64_t steps = 0;        ///< agent steps, waits included
};

struct RunResult {
  std::vector<HostArray> outputs; ///< in result order; none when the run was stopped
  RunStats stats;
  std::vector<DevicePrint> prints; ///< in program order, whatever the schedule
  /// The observer ended the run: a note that says where each stream stands. No output was asked
  /// whether it is complete.
  std::optional<Diagnostic> stop;
  std::vector<Diagnostic> warnings;
};

/// A program decoded once, ready to run any number of times.
class Executable {
public:
  /// Decodes a program that `load` or `verify` has accepted.
  static Expected<Executable> prepare(const Program &program);
  Executable(Executable &&) noexcept;
  Executable &operator=(Executable &&) noexcept;
  ~Executable();

  /// Inputs in argument order; dtype and shape must equal the program's. No
  /// state survives a run.
  Expected<RunResult> run(std::span<const HostArray> inputs, const RunOptions &options = {}) const;

private:
  struct Impl;
  explicit Executable(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl;
};

} // namespace kilnrt

#endif // KILNRT_EXECUTOR_H
