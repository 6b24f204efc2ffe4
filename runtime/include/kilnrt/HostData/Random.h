//===- Random.h - random tensors that are equal on every host ---------------------------------===//
//
// Philox4x32-10 (Salmon et al., "Parallel Random Numbers: As Easy as 1, 2, 3"):
// a counter goes in, four words come out, no state. An element is a function of
// (seed, stream, element index) only, so neither shape nor dtype nor the order
// of generation matters. Normals use this library's own logarithm, sine and
// cosine, made of plain IEEE operations: no bit depends on the host's C
// library.
//
//===------------------------------------------------------------------------------------------===//

#ifndef KILNRT_HOSTDATA_RANDOM_H
#define KILNRT_HOSTDATA_RANDOM_H

#include "kilnrt/HostArray.h"

#include <array>
#include <cstdint>

namespace kilnrt {

/// One block of Philox4x32-10.
std::array<uint32_t, 4> philox4x32(std::array<uint32_t, 4> counter, std::array<uint32_t, 2> key);

/// Names an infinite sequence of values; two that differ in any field are
/// independent.
struct RandomSequence {
  uint64_t seed = 0;
  uint32_t stream = 0;
};

/// Element `index` of the uniform sequence: a multiple of 2^-24 in [0, 1).
double uniformAt(RandomSequence sequence, uint64_t index);
/// Element `index` of the normal sequence (mean 0, variance 1) in float64;
/// |value| is below 8.58.
double normalAt(RandomSequence sequence, uint64_t index);

/// Fills an array of a float dtype with uniformAt(0, 1, ...). Rounded to
/// nearest even to the dtype, but never up to 1: what would round to 1 becomes
/// the largest value below it.
void fillUniform(HostArray &array, RandomSequence sequence);
/// Fills an array of a float dtype with normalAt(0, 1, ...), each rounded once
/// to the dtype.
void fillNormal(HostArray &array, RandomSequence sequence);

} // namespace kilnrt

#endif // KILNRT_HOSTDATA_RANDOM_H
