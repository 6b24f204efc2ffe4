//===- Proving.h - proofs on the command line -------------------------------------------------===//

#ifndef KILN_TOOLS_KILN_PROVING_H
#define KILN_TOOLS_KILN_PROVING_H

#include "Render.h"
#include "kilnrt/Proof.h"

namespace kiln::tool {

/// Proves `program` before it runs, so that the run need not look for races. Reports findings and
/// returns false when there are any. `judgesMemory`: an overlap of tensors is one; off for an
/// author who accepts overlaps. What was not proven is no finding.
bool proveBeforeRun(const kilnrt::Program &program, bool judgesMemory, Reporter &reporter);

/// Drops what is about memory alone from `proof`, for an author who accepts overlaps.
void acceptOverlaps(kilnrt::Proof &proof);

/// The finding as one JSON object.
nlohmann::ordered_json findingJson(const kilnrt::Finding &finding);

} // namespace kiln::tool

#endif // KILN_TOOLS_KILN_PROVING_H
