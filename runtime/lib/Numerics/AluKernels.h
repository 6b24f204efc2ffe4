//===- AluKernels.h - the fp32 row kernels behind Alu.h and Fold.h ----------------------------===//
//
// Each picks the best instruction set of the host. Private to the library.
//
//===------------------------------------------------------------------------------------------===//

#ifndef KILNRT_NUMERICS_ALUKERNELS_H
#define KILNRT_NUMERICS_ALUKERNELS_H

#include "kiln/ISA/Types.h"

#include <cstddef>

namespace kilnrt {

/// n floats, or one repeated.
struct FloatSource {
  const float *row; // null: `value`
  float value;
};

/// out[i] = op(x[i], y[i]) for an arithmetic operator other than none, power and rsqrt.
void aluSources(kiln::isa::AluOp op, FloatSource x, FloatSource y, float *out, size_t n);

/// out[i] = x[i] to the power y[i].
void powerSources(FloatSource x, FloatSource y, float *out, size_t n);

} // namespace kilnrt

#endif // KILNRT_NUMERICS_ALUKERNELS_H
