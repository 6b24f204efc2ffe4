//===- Diagnose.h - the words of run-time faults ----------------------------------------------===//
//
// Every fault names the instruction, the operand, the bytes and the author's
// lines. Reached only when a run stops: nothing here is fast.
//
//===------------------------------------------------------------------------------------------===//

#ifndef KILNRT_LIB_EXECUTOR_DIAGNOSE_H
#define KILNRT_LIB_EXECUTOR_DIAGNOSE_H

#include "Operation.h"
#include "kilnrt/Executor.h"
#include "kilnrt/Machine/Storage.h"

#include <string>

namespace kilnrt {

/// "element (0, 9), 1 of 30 bytes", "elements (32-63, 2, 13-15), 192 of 8192 bytes", "elements
/// (0-3, 0-7), all 128 bytes" or, when they fill no box, "96 elements from (0, 2) to (5, 1), 384 of
/// 8192 bytes": some bytes of a tensor, by its declared shape, of `asked` bytes that are meant.
std::string bytesText(const TensorInfo &tensor, const ByteSet &bytes, int64_t asked);
/// "instruction 5 of the vector stream, tensor_copy".
std::string operationText(const Operation &op);

/// Adds a note "`what`: sbuf partitions 32-63, bytes 90-95", and the same as records, in the
/// addresses of the memory. No note when they are all of the `asked` bytes, which the message then
/// says.
void addBytes(const Image &image, uint32_t tensor, const std::string &what, const ByteSet &bytes,
              int64_t asked, Diagnostic &d);
/// Adds a note that `author` did what `text` says: "'x' was last written" becomes "'x' was last
/// written by instruction 3 of the vector stream, memset", at its line; nothing for kNoAuthor.
void addAuthor(const Image &image, Author author, std::string text, Diagnostic &d);
/// Adds a note where a tensor was declared, if that is known.
void addDeclaration(const Image &image, uint32_t tensor, Diagnostic &d);
/// "'x'", or "'tensor 4'" without a name.
std::string nameOf(const Image &image, uint32_t tensor);

/// A fault of class Check at `op`, with a note that names the instruction and,
/// unless `operand` is -1, the bytes of the operand. The message is the
/// caller's.
Diagnostic faultAt(const Image &image, const Operation &op, int operand, std::string rule,
                   std::string message, std::string help);

/// Where a loop stands: it goes on as long as `next` is below `last`. Of a range, its counter and
/// its end; of the others, numbers of iterations.
struct LoopState {
  int64_t next = 0, last = 0;
  bool operator==(const LoopState &) const = default;
};
/// Two streams come to different answers how often a loop runs.
Diagnostic loopsDiffer(const Image &image, const Loop &loop, isa::Engine one, const LoopState &a,
                       isa::Engine other, const LoopState &b);

/// Operand `operand` reads bytes that were never written, or that another
/// tensor was written over.
Diagnostic unwrittenRead(const Image &image, const Operation &op, unsigned operand,
                         const UnwrittenBytes &why);
/// An output of the kernel is not complete at the end of the run.
Diagnostic unwrittenOutput(const Image &image, uint32_t tensor, const UnwrittenBytes &why);

/// Where a stream stands: `next` is the index of the first operation not
/// executed.
using Positions = std::array<size_t, kEngineSlots>;
/// No stream can move: who waits for what, and why it does not come.
Diagnostic deadlock(const Image &image, const Positions &next,
                    std::span<const uint64_t> semaphores);
/// The step limit was reached.
Diagnostic stepLimit(const Image &image, const Positions &next, uint64_t maxSteps);

/// The run was asked to stop after so many steps.
Diagnostic stopped(const Image &image, const Positions &next, uint64_t steps);

/// A note: the observer ended the run before `op`.
Diagnostic stoppedBefore(const Image &image, const Positions &next, const Operation &op);

/// Tells how to see the fault again; no text in program order.
void addSchedule(Diagnostic &diagnostic, const Schedule &schedule);

} // namespace kilnrt

#endif // KILNRT_LIB_EXECUTOR_DIAGNOSE_H
