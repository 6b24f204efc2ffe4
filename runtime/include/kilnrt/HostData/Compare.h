//===- Compare.h - is a result close enough to its reference? ---------------------------------===//
//
// NumPy's rule, in float64: |actual - expected| <= atol + rtol * |expected|,
// NaN equals NaN, an infinity equals only itself. The dtypes may differ (a
// bfloat16 result against a float32 reference).
//
//===------------------------------------------------------------------------------------------===//

#ifndef KILNRT_HOSTDATA_COMPARE_H
#define KILNRT_HOSTDATA_COMPARE_H

#include "kilnrt/Expected.h"
#include "kilnrt/HostArray.h"

#include <string>

namespace kilnrt {

struct Tolerance {
  double rtol = 0; ///< relative to the reference; finite, at least 0
  double atol = 0; ///< absolute; finite, at least 0
};

/// One element of both arrays.
struct ComparedElement {
  std::vector<int64_t> index;
  double actual = 0;
  double expected = 0;
};

/// Outcome of a comparison. Errors are over the elements that are finite on
/// both sides.
struct Comparison {
  DType actualType = DType::Float32;
  DType expectedType = DType::Float32;
  int64_t elements = 0;
  int64_t mismatches = 0;
  int64_t nonFiniteMismatches = 0; ///< mismatches with a NaN or an infinity on a side
  ComparedElement first;           ///< first mismatch in C order; meaningful when there is one

  /// Mismatches that are zero where the reference is not, and the first and last index of dim 0
  /// they have: what a forgotten store looks like.
  int64_t zeroMismatches = 0;
  int64_t firstZeroRow = 0, lastZeroRow = 0;

  double maxAbsError = 0;
  ComparedElement maxAbsAt; ///< first of the largest; index is empty while no
                            ///< element is finite
  double maxRelError = 0;   ///< |actual - expected| / |expected|, over expected
                            ///< values other than 0
  ComparedElement maxRelAt;

  /// sqrt(sum of squared errors / sum of squared references); 0 when there is
  /// no error, Inf when only the reference is all zeros.
  double l2RelError = 0;

  bool matches() const { return mismatches == 0; }
  /// One line for people, without a final period.
  std::string describe() const;
};

/// Compares element by element. Different shapes and tolerances below 0 or not
/// finite are errors.
Expected<Comparison> compareArrays(const HostArray &actual, const HostArray &expected,
                                   Tolerance tolerance);

} // namespace kilnrt

#endif // KILNRT_HOSTDATA_COMPARE_H
