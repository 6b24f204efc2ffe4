//===- ExactPower.h - powers that are exact, or exact ties ------------------------------------===//
//
// x^y can be a float, or lie exactly in the middle between two floats; no approximation can tell
// the latter from a value just beside it. Such powers are small integer powers of small odd
// numbers.
//
//===------------------------------------------------------------------------------------------===//

#ifndef KILNRT_NUMERICS_EXACTPOWER_H
#define KILNRT_NUMERICS_EXACTPOWER_H

namespace kilnrt {

/// Whether x^y, x positive and finite, y finite, has at most 26 significant bits; then stores it.
/// Results below 2^-1000 or above 2^1000 count as inexact.
bool exactPower(float x, float y, double *result);

} // namespace kilnrt

#endif // KILNRT_NUMERICS_EXACTPOWER_H
