//===- ExactFunctions.h - correctly rounded functions, by MPFR --------------------------------===//
//
// The yardstick of the numerics tests: formulas of the instruction table evaluated to hundreds of
// bits and rounded once to fp32. Slow, and independent of the library under test.
//
//===------------------------------------------------------------------------------------------===//

#ifndef KILN_TEST_UNIT_NUMERICS_EXACTFUNCTIONS_H
#define KILN_TEST_UNIT_NUMERICS_EXACTFUNCTIONS_H

#include "kiln/ISA/Types.h"

#include <cstdint>
#include <string>
#include <vector>

namespace kilnrt::test {

/// fn(x), rounded once; NaNs are the canonical one.
float exactActivation(kiln::isa::ActFn fn, float x);
/// x to the power y, rounded once, with the C standard's special cases; NaNs are the canonical one.
float exactPower(float x, float y);

uint32_t bitsOf(float x);
float floatOf(uint32_t bits);
/// "0x3f800000 (1)".
std::string describe(float x);

/// Floats where things happen: zeros, denormals, limits, infinities, NaNs, small integers, powers
/// of two, each with its neighbours and both signs.
std::vector<float> specialFloats();
/// `count` floats with uniformly distributed bits, so over all exponents; NaNs included.
std::vector<float> randomFloats(uint32_t seed, size_t count);

/// Every activation function.
std::vector<kiln::isa::ActFn> allActivations();

} // namespace kilnrt::test

#endif // KILN_TEST_UNIT_NUMERICS_EXACTFUNCTIONS_H
