//===- Args.h - the fields of each instruction as a typed struct ------------------------------===//
//
// `NcMatmulArgs(inst)` gives inst's fields with their types, and constants for
// the places of its operands: `inst.operands[NcMatmulArgs::moving]`.
//
//===------------------------------------------------------------------------------------------===//

#ifndef KILN_ISA_ARGS_H
#define KILN_ISA_ARGS_H

#include "kiln/ISA/Instruction.h"

namespace kiln::isa {

#include "kiln/ISA/Args.h.inc"

} // namespace kiln::isa

#endif // KILN_ISA_ARGS_H
