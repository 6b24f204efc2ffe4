//===- Emit.h - from a plan to instructions ---------------------------------------------------===//
//
// Walks a plan and calls the builders authors use, so that every instruction passes the rules an
// author's passes, and a planned kernel and a hand-written one meet at the same level.
//
//===------------------------------------------------------------------------------------------===//

#ifndef KILN_PLAN_EMIT_H
#define KILN_PLAN_EMIT_H

#include "kiln/Plan/Plan.h"
#include "kiln/Trace/Trace.h"

#include <variant>

namespace kiln::plan {

/// What a plan became. Tensors are the graph's buffers, in their order, and the tiles behind them;
/// locations are those of the plan's nodes.
struct Emitted {
  std::vector<trace::Tensor> tensors;
  std::vector<trace::Instruction> instructions;
  std::vector<size_t> groupEnds; ///< instructions up to the end of each group
};

/// The instructions of `plan`. `isAlone`: no other code uses memory on chip, so tiles take the
/// addresses of the plan. A diagnostic, without a place, is a fault of the planner, but for K-12.
std::variant<Emitted, Diagnostic> emit(const Plan &plan, bool isAlone);

} // namespace kiln::plan

#endif // KILN_PLAN_EMIT_H
