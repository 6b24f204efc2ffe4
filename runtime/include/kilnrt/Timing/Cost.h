//===- Cost.h - what one instruction costs its engine -----------------------------------------===//
//
// The table's cost terms, evaluated. Waiting, DMA service and overlap are not here: this is the
// time an engine is busy with one instruction and the time until its result is there.
//
//===------------------------------------------------------------------------------------------===//

#ifndef KILNRT_TIMING_COST_H
#define KILNRT_TIMING_COST_H

#include "kiln/ISA/Instruction.h"

#include <optional>

namespace kilnrt {

/// Cost of one instruction, in cycles of its engine's clock and in nanoseconds.
struct InstructionCost {
  double issueCycles = 0;   ///< until the engine can start the next instruction
  double latencyCycles = 0; ///< until the result is written
  double issueNs = 0;
  double latencyNs = 0;
  const kiln::isa::CostDesc *term = nullptr; ///< the row's term, with its source and confidence
};

/// Cost of `opcode` on `engine` with `elements` per partition in its main input; of a matmul,
/// moving columns, which with double_row are half the elements. Empty when the engine does not run
/// the instruction.
std::optional<InstructionCost> costOf(kiln::isa::Opcode opcode, kiln::isa::Engine engine,
                                      int64_t elements);

} // namespace kilnrt

#endif // KILNRT_TIMING_COST_H
