//===- RuleCatalogue.td - the text behind every rule id ----------------------------------------===//
//
// `kiln explain ID` prints an entry. Messages of the compiler and the executor carry the id, the numbers
// and the place; what the rule is, why, and what a kernel that breaks or keeps it looks like stands here.
// A test compiles both kernels of every rule: the wrong one gives the rule's message first, the right one
// none.
//
//===--------------------------------------------------------------------------------------------===//

#ifndef KILN_TABLE_RULECATALOGUE_TD
#define KILN_TABLE_RULECATALOGUE_TD

include "rules/Partitions.td"
include "rules/Buffers.td"
include "rules/Dtypes.td"
include "rules/Sizes.td"
include "rules/Views.td"
include "rules/ControlFlow.td"
include "rules/Memory.td"
include "rules/Interface.td"
include "rules/Performance.td"
include "rules/Cplusplus.td"
include "rules/Running.td"
include "rules/Values.td"

#endif // KILN_TABLE_RULECATALOGUE_TD
