//===- MemoryReport.h - why a kernel does not fit ---------------------------------------------===//
//
// Turns the measure of a memory at its fullest moment into the message an
// author reads: how much, where, what is live, and the largest saving that
// would make it fit. Private to the placement.
//
//===------------------------------------------------------------------------------------------===//

#ifndef KILN_LIB_ANALYSIS_MEMORYREPORT_H
#define KILN_LIB_ANALYSIS_MEMORYREPORT_H

#include "kiln/Analysis/Placement.h"

namespace kiln::analysis {

/// Bytes a partition of `tensor` takes from its memory: whole banks in PSUM.
int64_t occupiedBytes(const KernelTensor &tensor);

/// Bytes of one partition of `memory` that a kernel may use.
int64_t capacityBytes(isa::Memory memory);

/// Most live bytes of a partition of `memory` if the tensors of `group` were not there.
int64_t liveBytesWithout(const Kernel &kernel, std::span<const Lifetime> lifetimes,
                         isa::Memory memory, const LiveGroup &group);

/// M-01 or S-04 for `memory`, in which `tensor` found no place.
Diagnostic describeOveruse(const Kernel &kernel, std::span<const Lifetime> lifetimes,
                           isa::Memory memory, uint32_t tensor);

} // namespace kiln::analysis

#endif // KILN_LIB_ANALYSIS_MEMORYREPORT_H
