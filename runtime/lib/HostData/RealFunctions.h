//===- RealFunctions.h - float64 functions with the same bits on every host -------------------===//
//
// Sums and products of IEEE float64 only: no call into the C library, no fused
// operation. The error is below 2 units in the last place, which is far below
// what the float32 the results end in can show.
//
//===------------------------------------------------------------------------------------------===//

#ifndef KILNRT_LIB_HOSTDATA_REALFUNCTIONS_H
#define KILNRT_LIB_HOSTDATA_REALFUNCTIONS_H

namespace kilnrt::detail {

/// Natural logarithm of a normal number above 0.
double logOf(double x);

struct SinCos {
  double sin, cos;
};
/// Sine and cosine of `turns` full turns, a multiple of 2^-53 in [0, 1).
SinCos sinCosOfTurns(double turns);

} // namespace kilnrt::detail

#endif // KILNRT_LIB_HOSTDATA_REALFUNCTIONS_H
