//===- ExactPower.cpp - powers that are exact, or exact ties ----------------------------------===//

#include "ExactPower.h"

#include <bit>
#include <cmath>
#include <cstdint>

namespace kilnrt {
namespace {

/// The square root of m if m is a square, else 0. m < 2^24.
uint32_t exactRoot(uint32_t m) {
  const auto root = uint32_t(std::sqrt(double(m)));
  return root * root == m ? root : 0;
}

/// 2^e as a double, |e| <= 1022.
double powerOfTwo(int e) { return std::bit_cast<double>(uint64_t(e + 1023) << 52); }

} // namespace

bool exactPower(float x, float y, double *result) {
  // x = m 2^e, m odd.
  const uint32_t bits = std::bit_cast<uint32_t>(x);
  uint32_t m = bits & 0x7FFFFF;
  int e = int(bits >> 23) - 150;
  if (e == -150)
    e = -149;
  else
    m |= 0x800000;
  if (m == 0)
    return false;
  const int zeros = std::countr_zero(m);
  m >>= zeros;
  e += zeros;
  // A fractional y needs x to be a square, and so on; 3^32 is already out of range.
  double n = y;
  while (n != std::nearbyint(n)) {
    m = exactRoot(m);
    if (m == 0 || e % 2 != 0)
      return false;
    e /= 2;
    n *= 2;
    if (e == 0 && m == 1)
      break;
  }
  if (m == 1) {
    const double exponent = e * n;
    if (std::fabs(exponent) > 1000)
      return false;
    *result = powerOfTwo(int(exponent));
    return true;
  }
  if (n < 0 || n > 26)
    return false;
  uint64_t power = 1;
  for (int i = 0; i < int(n); ++i) {
    power *= m;
    if (power >> 26)
      return false;
  }
  const double exponent = e * n;
  if (std::fabs(exponent) > 1000)
    return false;
  *result = double(power) * powerOfTwo(int(exponent));
  return true;
}

} // namespace kilnrt
