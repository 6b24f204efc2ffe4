//===- Values.h - single values of device dtypes as float64 and back --------------------------===//
//
// Every device dtype widens exactly to float64; back, there is one rounding to
// nearest even. Bulk loops live with their callers. The device's own arithmetic
// is not here: it rounds through fp32.
//
//===------------------------------------------------------------------------------------------===//

#ifndef KILNRT_LIB_HOSTDATA_VALUES_H
#define KILNRT_LIB_HOSTDATA_VALUES_H

#include "kilnrt/HostArray.h"

#include <cstdint>
#include <cstring>
#include <span>

namespace kilnrt::detail {

/// The bits of `value` as a 16-bit float, rounded to nearest even; too large
/// gives an infinity. A NaN keeps its sign and the top of its payload, and
/// becomes quiet.
uint16_t toBFloat16(double value);
uint16_t toFloat16(double value);
double fromBFloat16(uint16_t bits);
double fromFloat16(uint16_t bits);

/// Largest finite value and, for integers, smallest value of a dtype.
struct ValueRange {
  double low, high;
};
ValueRange rangeOf(DType dtype);
/// True when every integer of magnitude `value` or less is exact in `dtype`.
bool holdsIntegersTo(DType dtype, double value);

/// Reads `out.size()` values that start at `source`.
void widen(DType dtype, const std::byte *source, std::span<double> out);
/// Writes `values` from `target` on. Integers: rounded to nearest even,
/// saturated, NaN gives 0.
void narrow(DType dtype, std::span<const double> values, std::byte *target);

/// A value of a type without alignment demands on `source`.
template <typename T>
T loadAs(const std::byte *source) {
  T value;
  std::memcpy(&value, source, sizeof(T));
  return value;
}
template <typename T>
void storeAs(std::byte *target, T value) {
  std::memcpy(target, &value, sizeof(T));
}

} // namespace kilnrt::detail

#endif // KILNRT_LIB_HOSTDATA_VALUES_H
