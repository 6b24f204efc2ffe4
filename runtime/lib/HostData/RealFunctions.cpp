//===- RealFunctions.cpp - float64 functions with the same bits on every host -----------------===//
//
// Reduction to a small interval that is exact, then the Taylor series to its
// last term that matters. The compiler must not contract products and sums
// (-ffp-contract=off).
//
//===------------------------------------------------------------------------------------------===//

#include "RealFunctions.h"

#include <bit>
#include <cstdint>

namespace kilnrt::detail {

double logOf(double x) {
  // x = m * 2^e with m in [sqrt(1/2), sqrt(2)).
  uint64_t bits = std::bit_cast<uint64_t>(x);
  int e = static_cast<int>(bits >> 52) - 1023;
  double m = std::bit_cast<double>((bits & 0x000fffffffffffff) | 0x3ff0000000000000);
  if (m > 0x1.6a09e667f3bcdp0) {
    m /= 2;
    ++e;
  }
  // log m = 2 atanh(s) = 2 (s + s^3/3 + s^5/5 + ...), |s| < 0.172. m - 1 is
  // exact.
  const double s = (m - 1) / (m + 1), z = s * s;
  double series = 0;
  for (int n = 23; n >= 3; n -= 2)
    series = (series + 1.0 / n) * z;
  // ln 2 in two parts: the high one times any exponent is exact.
  constexpr double ln2High = 0x1.62e42fee00000p-1, ln2Low = 0x1.a39ef35793c76p-33;
  return e * ln2High + (2 * s + (2 * s * series + e * ln2Low));
}

SinCos sinCosOfTurns(double turns) {
  // The nearest quarter turn; what is left is exact, at most an eighth of a
  // turn.
  const int quarter = static_cast<int>(4 * turns + 0.5);
  constexpr double twoPi = 0x1.921fb54442d18p2;
  const double x = (turns - quarter * 0.25) * twoPi, z = x * x;
  double sin = 0, cos = 0;
  for (int n = 17; n >= 3; n -= 2)
    sin = (1 + sin) * (-z / (n * (n - 1)));
  for (int n = 16; n >= 4; n -= 2)
    cos = (1 + cos) * (-z / (n * (n - 1)));
  sin = x + x * sin;
  cos = 1 - (z / 2 + z / 2 * cos);
  switch (quarter & 3) {
  case 0:
    return {sin, cos};
  case 1:
    return {cos, -sin};
  case 2:
    return {-sin, -cos};
  default:
    return {-cos, sin};
  }
}

} // namespace kilnrt::detail
