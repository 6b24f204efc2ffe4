//===- ActivationKernels.h - the row kernels behind Activation.h, one per family --------------===//
//
// Each function picks the best instruction set of the host and returns false when `fn` belongs to
// another family. Private to the library.
//
//===------------------------------------------------------------------------------------------===//

#ifndef KILNRT_NUMERICS_ACTIVATIONKERNELS_H
#define KILNRT_NUMERICS_ACTIVATIONKERNELS_H

#include "kiln/ISA/Types.h"

#include <cstddef>

namespace kilnrt {

/// exp, tanh, sigmoid, softplus and the functions made of them.
bool activationExpRow(kiln::isa::ActFn fn, const float *x, float *out, size_t n);
/// erf, gelu, gelu_dx.
bool activationErfRow(kiln::isa::ActFn fn, const float *x, float *out, size_t n);
/// log, sin, arctan, rsqrt.
bool activationLogTrigRow(kiln::isa::ActFn fn, const float *x, float *out, size_t n);
/// Functions that are one fp32 operation: copy, square, relu, sqrt, reciprocal, sign, abs.
bool activationSimpleRow(kiln::isa::ActFn fn, const float *x, float *out, size_t n);

} // namespace kilnrt

#endif // KILNRT_NUMERICS_ACTIVATIONKERNELS_H
