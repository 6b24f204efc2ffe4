//===- NumberModel.h - dtypes, slowly ---------------------------------------------------------===//
//
// An independent model of storage and rounding for tests: values are doubles or bits, every
// conversion is spelled from the definition of the format. Shares no code with the runtime.
//
//===------------------------------------------------------------------------------------------===//

#ifndef KILN_TEST_UNIT_EXECUTOR_NUMBERMODEL_H
#define KILN_TEST_UNIT_EXECUTOR_NUMBERMODEL_H

#include "kilnrt/HostArray.h"

#include <cstdint>
#include <vector>

namespace kilnrt::test {

/// The stored bits of `value` in `dtype`: rounded once to nearest even; overflow to Inf, or
/// saturated for integers; NaN becomes the canonical NaN, or 0 for integers.
uint32_t encode(DType dtype, double value);
/// The value of stored bits.
double decode(DType dtype, uint32_t bits);
/// `value` rounded once to fp32.
float f32(double value);

/// An array of `shape` holding `bits`, element by element.
HostArray fromBits(DType dtype, std::vector<int64_t> shape, const std::vector<uint32_t> &bits);
/// The bits of every element.
std::vector<uint32_t> bitsOf(const HostArray &array);

/// Bits of `count` elements of `dtype`: special values first (NaN with payload, infinities, zeros,
/// denormals, extremes), then pseudo-random ones of moderate size.
std::vector<uint32_t> samples(DType dtype, size_t count, uint64_t seed);

} // namespace kilnrt::test

#endif // KILN_TEST_UNIT_EXECUTOR_NUMBERMODEL_H
