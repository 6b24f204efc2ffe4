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

/// "instruction 5 of the vector stream, tensor_copy".
std::string operationText(const Operation &op);

/// A fault of class Check at `op`, with a note that names the instruction and,
/// unless `operand` is -1, the bytes of the operand. The message is the
/// caller's.
Diagnostic faultAt(const Image &image, const Operation &op, int operand, std::string rule,
                   std::string message, std::string help);

/// Operand `operand` reads bytes that were never written, or that another
/// tensor was written over.
Diagnostic unwrittenRead(const Image &image, const Operation &op, unsigned operand,
                         const UnwrittenByte &byte);
/// An output of the kernel is not complete at the end of the run.
Diagnostic unwrittenOutput(const Image &image, uint32_t tensor, const UnwrittenByte &byte);

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
