//===- ReferenceData.cpp - what the memory of a trial holds at the start ----------------------===//
//
//===------------------------------------------------------------------------------------------===//

#include "ReferenceData.h"

#include <cmath>
#include <iterator>
#include <limits>

namespace kiln::reference {

using isa::DType;

namespace {

/// Numbers at which something changes: ends of formats, ties of roundings, domains of functions.
/// Formats too small for one take the nearest they have.
constexpr double kEdges[] = {0.0,
                             1.0,
                             0.5,
                             1.5,
                             2.5,
                             0.49999997,
                             3.0,
                             127.0,
                             127.5,
                             128.0,
                             240.0,
                             247.99998,
                             248.0,
                             255.0,
                             255.5,
                             256.0,
                             448.0,
                             464.0,
                             32767.0,
                             32767.5,
                             32768.0,
                             57344.0,
                             61440.0,
                             65504.0,
                             65519.996,
                             65520.0,
                             65535.0,
                             65535.5,
                             16777215.0,
                             16777216.0,
                             16777217.0,
                             2147483520.0,
                             2147483648.0,
                             4294967040.0,
                             4294967296.0,
                             3.4028234663852886e38,
                             3.3895313892515355e38,
                             0x1p-149,
                             0x1.8p-148,
                             0x1p-126,
                             0x1.fffffcp-127,
                             0x1p-133,
                             0x1p-24,
                             0x1p-25,
                             0x1p-14,
                             0x1p-9,
                             0x1p-10,
                             0x1p-16,
                             0x1.004p0,
                             0x1.008p0,
                             0x1.01p0,
                             3.14159274,
                             3.1415925,
                             1.57079637,
                             88.72284,
                             -103.97,
                             std::numeric_limits<double>::infinity()};

constexpr int64_t kIntegerEdges[] = {
    0,     1,        2,        7,        8,        31,         32,         33,
    127,   128,      129,      255,      256,      32767,      32768,      65535,
    65536, 16777215, 16777216, 16777217, 16777219, 2147483647, 2147483648, 4294967295};

uint32_t drawInteger(DType dtype, Style style, Rng &rng) {
  const uint32_t mask = isa::bytesOf(dtype) == 4 ? UINT32_MAX : (1u << 8 * isa::bytesOf(dtype)) - 1;
  const bool isNegative = isa::info(dtype).isSigned && isOneIn(rng, 2);
  auto signedBits = [&](int64_t value) { return uint32_t(isNegative ? -value : value) & mask; };
  switch (style) {
  case Style::Plain:
  case Style::Ordinary:
    return signedBits(int64_t(below(rng, 65)));
  case Style::Counts:
    return uint32_t(below(rng, 41));
  case Style::Gaps:
    return isOneIn(rng, 2) ? 0 : uint32_t(rng()) & mask;
  case Style::Specials:
    return signedBits(kIntegerEdges[below(rng, std::size(kIntegerEdges))]);
  case Style::Sprinkled:
    if (isOneIn(rng, 4))
      return signedBits(kIntegerEdges[below(rng, std::size(kIntegerEdges))]);
    [[fallthrough]];
  default:
    return uint32_t(rng()) & mask;
  }
}

double drawOrdinary(Rng &rng) {
  double digits = 1 + double(below(rng, 1 << 24)) / double(1 << 24);
  double value = std::ldexp(digits, int(below(rng, 13)) - 6);
  return isOneIn(rng, 2) ? -value : value;
}

} // namespace

uint32_t drawElement(DType dtype, Style style, Rng &rng) {
  if (!isa::isFloat(dtype))
    return drawInteger(dtype, style, rng);
  const uint32_t mask = isa::bytesOf(dtype) == 4 ? UINT32_MAX : (1u << 8 * isa::bytesOf(dtype)) - 1;
  switch (style) {
  case Style::Plain:
    return encode(dtype, (double(below(rng, 65)) - 32) / 4);
  case Style::Ordinary:
    return encode(dtype, drawOrdinary(rng));
  case Style::Counts:
    return encode(dtype, double(below(rng, 41)));
  case Style::Gaps:
    return isOneIn(rng, 2) ? 0 : encode(dtype, drawOrdinary(rng));
  case Style::Sprinkled:
    return drawElement(dtype, isOneIn(rng, 16) ? Style::Specials : Style::Ordinary, rng);
  case Style::Wide:
    for (;;) {
      uint32_t bits = uint32_t(rng()) & mask;
      if (std::isfinite(decode(dtype, bits)))
        return bits;
    }
  case Style::Specials: {
    if (isOneIn(rng, 8)) // some NaN, with any payload and sign
      for (;;) {
        uint32_t bits = (encode(dtype, std::nan("")) | uint32_t(rng())) & mask;
        if (std::isnan(decode(dtype, bits)))
          return bits;
      }
    double edge = kEdges[below(rng, std::size(kEdges))];
    return encode(dtype, isOneIn(rng, 2) ? -edge : edge);
  }
  case Style::Bits:
    break;
  }
  return uint32_t(rng()) & mask;
}

Bytes drawElements(DType dtype, size_t count, Style style, Rng &rng) {
  Bytes bytes;
  bytes.reserve(count * isa::bytesOf(dtype));
  for (size_t i = 0; i < count; ++i) {
    uint32_t bits = drawElement(dtype, style, rng);
    for (unsigned b = 0; b < isa::bytesOf(dtype); ++b)
      bytes.push_back(std::byte(bits >> 8 * b));
  }
  return bytes;
}

} // namespace kiln::reference
