//===- Loops.cpp - iterations that are claimed to be independent ------------------------------===//
//
// C-11. A tensor declared inside the body belongs to one iteration, so only tensors that several
// iterations touch are looked at. Equal accesses are found by looking them up; different ones are
// compared pair by pair, up to a bound. Where a register places an access is not known. Matmuls
// that add to one accumulator are what the claim allows.
//
//===------------------------------------------------------------------------------------------===//

#include "Findings.h"
#include "kiln/ISA/Args.h"
#include "kiln/ISA/Overlap.h"

#include <algorithm>

namespace kiln::lint {
namespace {

using isa::Access;

/// Uses kept of one tensor and iteration: what a long body does is rarely all different.
constexpr size_t kMaxUses = 64;

struct Use {
  Access access;
  uint32_t iteration;
  uint32_t location;
  bool isWrite;
};

/// Uses of each tensor by the iterations of a loop.
using Uses = std::map<uint32_t, std::vector<Use>>;

bool isAccumulator(const trace::Trace &trace, const isa::Instruction &inst, unsigned operand) {
  return inst.opcode == isa::Opcode::NcMatmul && operand == isa::NcMatmulArgs::dst &&
         trace.tensors[inst.operands[operand].tensor].memory == isa::Memory::Psum;
}

/// Whether the list, in the order of iterations, lacks `use` and has room for it.
bool isNews(const std::vector<Use> &list, const Use &use) {
  size_t kept = 0;
  for (auto u = list.rbegin(); u != list.rend() && u->iteration == use.iteration; ++u)
    if (++kept == kMaxUses || (u->isWrite == use.isWrite && u->access == use.access))
      return false;
  return true;
}

Uses usesOf(const trace::Trace &trace, const trace::ClaimedLoop &loop) {
  Uses uses;
  for (uint32_t k = 0; k + 1 < loop.iterations.size(); ++k)
    for (uint32_t i = loop.iterations[k]; i < loop.iterations[k + 1]; ++i) {
      const trace::Instruction &instruction = trace.instructions[i];
      const isa::InstDesc &desc = instruction.inst.desc();
      for (unsigned o = 0; o < desc.operands.size(); ++o) {
        const Access &a = instruction.inst.operands[o];
        if (!a.present() || a.isIndexed() || isAccumulator(trace, instruction.inst, o))
          continue;
        std::vector<Use> &list = uses[a.tensor];
        const Use use{a, k, instruction.location, desc.operands[o].isOutput};
        if (isNews(list, use))
          list.push_back(use);
      }
    }
  return uses;
}

/// Two uses of different iterations that share bytes, one of them writing; the earlier one first.
std::optional<std::pair<Use, Use>> conflictOf(const isa::TensorView &tensor,
                                              const std::vector<Use> &uses, size_t &budget) {
  for (size_t j = 0; j < uses.size(); ++j)
    for (size_t i = 0; i < j; ++i) {
      if (uses[i].iteration == uses[j].iteration || !(uses[i].isWrite || uses[j].isWrite))
        continue;
      if (budget == 0)
        return std::nullopt;
      --budget;
      if (isa::shareBytes(uses[i].access, uses[j].access, tensor))
        return std::pair(uses[i], uses[j]);
    }
  return std::nullopt;
}

Finding describe(const Findings &findings, uint32_t tensor, const Use &a, const Use &b) {
  const std::string name = findings.nameOf(tensor);
  const auto line = [&](const Use &u) {
    const CallChain at = findings.trace.chain(u.location);
    return at.empty() ? 0u : at.front().line;
  };
  const std::string what = a.isWrite && b.isWrite ? text("iterations ", a.iteration, " and ",
                                                         b.iteration, " both write ", name)
                           : a.isWrite ? text("iteration ", b.iteration, " reads what iteration ",
                                              a.iteration, " wrote to ", name)
                                       : text("iteration ", b.iteration, " writes what iteration ",
                                              a.iteration, " read of ", name);
  const std::string where = line(a) == line(b) ? text(" (line ", line(a), ")")
                                               : text(" (lines ", line(a), " and ", line(b), ")");
  return {text("affine_range promises independent iterations, but ", what, where),
          "index by the loop variable, declare the tile inside the loop, or use nl::range",
          {{tensor}}};
}

} // namespace

void lintLoops(Findings &findings) {
  if (!findings.wants("C-11"))
    return;
  const trace::Trace &trace = findings.trace;
  // Pairs of accesses that are compared: enough for every kernel of reasonable size, and linear.
  size_t budget = 100'000 + 8 * trace.instructions.size();
  std::map<std::pair<uint32_t, uint32_t>, bool> reported; // by file and line
  for (const trace::ClaimedLoop &loop : trace.claimedLoops) {
    const trace::Location &at = trace.locations[loop.location];
    bool &isReported = reported[{at.file, at.line}];
    if (isReported)
      continue;
    for (const auto &[tensor, uses] : usesOf(trace, loop)) {
      const trace::Tensor &t = trace.tensors[tensor];
      isa::TensorView view{t.name, t.memory, t.dtype, t.shape, 0};
      auto conflict = conflictOf(view, uses, budget);
      if (!conflict)
        continue;
      findings.add("C-11", loop.location,
                   [&] { return describe(findings, tensor, conflict->first, conflict->second); });
      isReported = true;
      break;
    }
  }
}

} // namespace kiln::lint
