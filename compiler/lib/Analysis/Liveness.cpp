//===- Liveness.cpp - when a tensor is needed -------------------------------------------------===//
//
// One pass in program order: the first access opens a life, each later one
// extends it.
//
//===------------------------------------------------------------------------------------------===//

#include "kiln/Analysis/Liveness.h"

namespace kiln::analysis {

std::vector<Lifetime> computeLifetimes(const Kernel &kernel) {
  std::vector<Lifetime> lifetimes(kernel.tensors.size());
  for (uint32_t position = 0; position < kernel.instructions.size(); ++position)
    for (const isa::Access &access : kernel.instructions[position].inst.operands) {
      if (!access.present() || access.tensor >= lifetimes.size())
        continue;
      Lifetime &life = lifetimes[access.tensor];
      if (life.empty())
        life.begin = position;
      life.end = position + 1;
    }
  return lifetimes;
}

} // namespace kiln::analysis
