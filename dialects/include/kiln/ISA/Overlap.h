//===- Overlap.h - whether two accesses of one tensor meet ------------------------------------===//

#ifndef KILN_ISA_OVERLAP_H
#define KILN_ISA_OVERLAP_H

#include "kiln/ISA/Rules.h"

namespace kiln::isa {

/// Whether `a` and `b`, accesses of `tensor`, share a byte. Exact for up to four million contiguous
/// runs each; more are taken to meet where their hulls do, since finding out would take longer than
/// the transfer. Precondition: both pass checkInstruction.
bool shareBytes(const Access &a, const Access &b, const TensorView &tensor);

} // namespace kiln::isa

#endif // KILN_ISA_OVERLAP_H
