//===- Activation.h - the Scalar Engine's functions -------------------------------------------===//
//
// Every function of isa::ActFn is the exact real function rounded once to fp32 (round to nearest
// even, denormals kept), so any implementation that rounds correctly gives the same bits, and so
// does every host. No rule of the instruction set is checked here.
//
//   function              formula, and what is special
//   copy                  x (a NaN becomes the canonical one, as in every other function)
//   relu                  x if x > 0, else +0
//   sign                  -1, +0 or 1; sign(-0) = +0
//   gelu, silu, mish ...  tails keep relative accuracy; -0 at -Inf
//   log                   -Inf at +0 and -0, NaN below
//   sqrt, rsqrt           NaN below 0; rsqrt(+0) = +Inf, rsqrt(-0) = -Inf
//   sin                   exact on [-pi, pi]; outside the cubic -d + d^3/6, d = x -+ pi; +-Inf at
//   +-Inf
//
// A NaN result always has the bits 0x7FC00000.
//
//===------------------------------------------------------------------------------------------===//

#ifndef KILNRT_NUMERICS_ACTIVATION_H
#define KILNRT_NUMERICS_ACTIVATION_H

#include "kiln/ISA/Types.h"

#include <cstddef>

namespace kilnrt {

/// fn(x).
float applyActivation(kiln::isa::ActFn fn, float x);

/// out[i] = fn(x[i]) for i < n. `out` may be `x`, but must not overlap it otherwise.
void activationRow(kiln::isa::ActFn fn, const float *x, float *out, size_t n);

} // namespace kilnrt

#endif // KILNRT_NUMERICS_ACTIVATION_H
