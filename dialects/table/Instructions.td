//===- Instructions.td - the whole table, one include a family --------------------------------------===//

include "TensorEngine.td"
include "ScalarEngine.td"
include "VectorEngine.td"
include "GpSimd.td"
include "Dma.td"
include "Sync.td"
include "Registers.td"
include "Debug.td"
include "RuleCatalogue.td"
