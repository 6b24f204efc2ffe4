//===- RulesOverlap.cpp - a transfer onto its own source --------------------------------------===//
//
// The shares of one transfer run on sixteen DMA engines in no order, so a transfer between
// overlapping views of one tensor would give bits that depend on chance.
//
//===------------------------------------------------------------------------------------------===//

#include "RuleHelpers.h"
#include "kiln/ISA/Args.h"
#include "kiln/ISA/Overlap.h"

namespace kiln::isa::rules {

void dmaOverlap(const InstView &view, std::string_view id, const RuleSink &sink) {
  const Access &dst = view.access(DmaCopyArgs::dst), &src = view.access(DmaCopyArgs::src);
  // The same elements onto themselves are read before they are written, each by one engine.
  if (dst.tensor != src.tensor || dst == src)
    return;
  if (!shareBytes(dst, src, view.tensors[DmaCopyArgs::dst]))
    return;
  report(
      sink, id, DmaCopyArgs::dst,
      text(view.describe(DmaCopyArgs::dst), " and src overlap in one tensor: a transfer's ",
           machine.dmaEngines, " engines move their shares in no order"),
      "copy to a second tensor first, or split the transfer so that no part reads what it writes");
}

} // namespace kiln::isa::rules
