//===- RulesLoops.h - instructions whose operands move with loops -----------------------------===//

#ifndef KILN_LIB_ISA_RULESLOOPS_H
#define KILN_LIB_ISA_RULESLOOPS_H

#include "kiln/ISA/Rules.h"

namespace kiln::isa::rules {

/// Checks one iteration of an instruction, given without loop steps; false when a rule is broken.
using CheckOnce = std::function<bool(const Instruction &)>;

/// Checks the iterations of `view` that decide for all of them. Reports what is wrong with the
/// steps themselves to `sink`; everything else is `checkOnce`'s business. Returns true when nothing
/// was reported; stops at the first iteration in which something was.
bool checkInLoops(const InstView &view, const CheckOnce &checkOnce, const RuleSink &sink);

} // namespace kiln::isa::rules

#endif // KILN_LIB_ISA_RULESLOOPS_H
