//===- GenerateSupport.h - values that do not come from tiles ---------------------------------===//
//
// Shared by the instructions that make values from their fields. Private to the library.
//
//===------------------------------------------------------------------------------------------===//

#ifndef KILNRT_LIB_SEMANTICS_GENERATESUPPORT_H
#define KILNRT_LIB_SEMANTICS_GENERATESUPPORT_H

#include "kiln/ISA/Types.h"

#include <cstdint>
#include <span>
#include <vector>

namespace kilnrt {

/// The stored bits of `value` in `dtype`, rounded once; integers saturate, a NaN becomes the
/// canonical one or 0.
uint32_t encodeValue(kiln::isa::DType dtype, double value);

/// For each of `count` indices of a pattern ([step, num] pairs, outermost first), in order: the sum
/// of step * index, modulo 2^32. Precondition: the nums multiply to `count`.
std::vector<uint32_t> patternValues(std::span<const int32_t> pattern, int64_t count);

} // namespace kilnrt

#endif // KILNRT_LIB_SEMANTICS_GENERATESUPPORT_H
