//===- Liveness.cpp - when a tensor is needed -------------------------------------------------===//
//
// One pass in program order: the first access opens a life, each later one
// extends it. A loop around an access takes the place of the access.
//
//===------------------------------------------------------------------------------------------===//

#include "kiln/Analysis/Liveness.h"

#include <algorithm>

namespace kiln::analysis {

namespace {

/// The loops around the instruction at hand, outermost first, as positions ascend.
class OpenLoops {
public:
  explicit OpenLoops(const Kernel &kernel) : kernel(kernel) {}

  void moveTo(uint32_t position) {
    while (!open.empty() && kernel.loops[open.back()].end <= position)
      open.pop_back();
    for (; next < kernel.loops.size() && kernel.loops[next].begin <= position; ++next)
      open.push_back(next);
  }

  /// What an access at `position` keeps alive of a tensor declared in loop `scope`.
  Lifetime span(uint32_t position, uint32_t scope) const {
    size_t inner = 0; // the first loop inside the scope
    while (scope != kNone && inner < open.size() && open[inner] != scope)
      ++inner;
    inner += scope != kNone;
    if (inner >= open.size())
      return {position, position + 1};
    return {kernel.loops[open[inner]].begin, kernel.loops[open[inner]].end};
  }

private:
  const Kernel &kernel;
  std::vector<uint32_t> open;
  uint32_t next = 0;
};

} // namespace

std::vector<Lifetime> computeLifetimes(const Kernel &kernel) {
  std::vector<Lifetime> lifetimes(kernel.tensors.size());
  OpenLoops loops(kernel);
  for (uint32_t position = 0; position < kernel.instructions.size(); ++position) {
    loops.moveTo(position);
    for (const isa::Access &access : kernel.instructions[position].inst.operands) {
      if (!access.present() || access.tensor >= lifetimes.size())
        continue;
      const Lifetime span = loops.span(position, kernel.tensors[access.tensor].loop);
      Lifetime &life = lifetimes[access.tensor];
      if (life.empty())
        life = span;
      life.begin = std::min(life.begin, span.begin);
      life.end = std::max(life.end, span.end);
    }
  }
  return lifetimes;
}

} // namespace kiln::analysis
