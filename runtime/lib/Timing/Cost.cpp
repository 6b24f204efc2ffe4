//===- Cost.cpp - what one instruction costs its engine ---------------------------------------===//

#include "kilnrt/Timing/Cost.h"

#include <algorithm>

namespace isa = kiln::isa;

namespace kilnrt {

std::optional<InstructionCost> costOf(isa::Opcode opcode, isa::Engine engine, int64_t elements) {
  const isa::InstDesc *desc = isa::findInstruction(opcode);
  if (!desc)
    return std::nullopt;
  auto term = std::ranges::find(desc->costs, engine, &isa::CostDesc::engine);
  if (term == desc->costs.end())
    return std::nullopt;
  InstructionCost cost;
  double streaming = double(elements) * term->perElementNum / term->perElementDen;
  cost.issueCycles = std::max<double>(term->floorCycles, streaming + term->issueCycles);
  cost.latencyCycles = streaming + term->latencyCycles;
  double nsPerCycle = 1e3 / isa::info(engine).clockMHz;
  cost.issueNs = cost.issueCycles * nsPerCycle;
  cost.latencyNs = cost.latencyCycles * nsPerCycle;
  cost.term = &*term;
  return cost;
}

} // namespace kilnrt
