//===- ConvertKernels.h - contiguous conversions behind Convert.h -----------------------------===//
//
// Each picks the best instruction set of the host. Pointers to elements need no alignment. Private
// to the library.
//
//===------------------------------------------------------------------------------------------===//

#ifndef KILNRT_NUMERICS_CONVERTKERNELS_H
#define KILNRT_NUMERICS_CONVERTKERNELS_H

#include "kiln/ISA/Types.h"

#include <cstddef>

namespace kilnrt {

/// out[i] = element i of `src` as fp32. `type` is not float32.
void widenRow(kiln::isa::DType type, const void *src, float *out, size_t n);
/// Element i of `dst` = in[i] converted. `type` is not float32.
void narrowRow(kiln::isa::DType type, const float *in, void *dst, size_t n);

} // namespace kilnrt

#endif // KILNRT_NUMERICS_CONVERTKERNELS_H
