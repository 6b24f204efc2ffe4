//===- Inline.h - operands computed inside their contraction ----------------------------------===//

#ifndef KILN_LIB_PLAN_INLINE_H
#define KILN_LIB_PLAN_INLINE_H

#include "Wish.h"

namespace kiln::plan {

/// Plans contraction `index`. Where it pays, groups whose only result is an operand of it become
/// part of it: the operand is computed in SBUF, row by row, and turned into place. Groups in front
/// are planned. A refusal when the contraction does not fit, or a hint cannot be kept.
std::optional<Refusal> planWithProducers(Plan &plan, uint32_t index, int64_t sbufBytes,
                                         int64_t psumBanks);

} // namespace kiln::plan

#endif // KILN_LIB_PLAN_INLINE_H
