//===- HardCases.h - inputs whose single rounding needs more than a double-double
//------------------===//
//
// Found by evaluating every one of the 2^32 floats and settling each result near a rounding border
// with MPFR (ActivationExhaustiveTest). Plain data, shared by all targets.
//
//===--------------------------------------------------------------------------------------------===//

#ifndef KILNRT_NUMERICS_HARDCASES_H
#define KILNRT_NUMERICS_HARDCASES_H

#include "kiln/ISA/Types.h"

#include <cstddef>
#include <cstdint>

namespace kilnrt {

/// Bits of an input and of its correctly rounded result.
struct HardCase {
  uint32_t input, result;
};

struct HardCases {
  const HardCase *data;
  size_t count;
};

/// The cases of `fn`; none for most.
HardCases hardCases(kiln::isa::ActFn fn);

} // namespace kilnrt

#endif // KILNRT_NUMERICS_HARDCASES_H
