//===- ReferenceNumbers.cpp - the number formats and fp32 arithmetic, written a second time ---===//
//
//===------------------------------------------------------------------------------------------===//

#include "ReferenceNumbers.h"

#include <array>
#include <bit>
#include <cassert>
#include <cmath>
#include <limits>

namespace kiln::reference {

using isa::AluOp;
using isa::DType;

namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();
constexpr double kNotANumber = std::numeric_limits<double>::quiet_NaN();

/// A float format: sign, exponent, mantissa from the top, and unused low bits.
struct Format {
  int exponentBits, mantissaBits, unusedBits;
  bool hasInfinity; ///< else all ones is the only NaN, and its exponent has ordinary numbers too
  int bias() const { return (1 << (exponentBits - 1)) - 1; }
  int lowest() const { return 1 - bias(); } ///< exponent of the smallest normal number
  uint32_t ones() const { return (1u << exponentBits) - 1; }
  uint32_t signBit() const { return 1u << (exponentBits + mantissaBits); }
  uint32_t infinity() const { return ones() << mantissaBits; }
  uint32_t nan() const {
    return hasInfinity ? infinity() | 1u << (mantissaBits - 1) : signBit() - 1;
  }
  double largest() const {
    double units =
        hasInfinity ? double((2u << mantissaBits) - 1) : double((2u << mantissaBits) - 2);
    return std::ldexp(units, int(ones()) - (hasInfinity ? 1 : 0) - bias() - mantissaBits);
  }
};

Format formatOf(DType dtype) {
  switch (dtype) {
  case DType::Float32:
    return {8, 23, 0, true};
  case DType::TFloat32:
    return {8, 10, 13, true};
  case DType::BFloat16:
    return {8, 7, 0, true};
  case DType::Float16:
    return {5, 10, 0, true};
  case DType::Float8E5M2:
    return {5, 2, 0, true};
  case DType::Float8E4M3:
    return {4, 3, 0, true};
  case DType::Float8E4M3FN:
    return {4, 3, 0, false};
  default:
    assert(false && "an integer has no float format");
    return {};
  }
}

/// Nearest whole number, ties to even, of 0 <= x < 2^52.
double nearestWhole(double x) {
  double below = std::floor(x);
  double rest = x - below;
  if (rest > 0.5 || (rest == 0.5 && std::fmod(below, 2) != 0))
    return below + 1;
  return below;
}

uint32_t encodeFloat(const Format &format, double value) {
  if (std::isnan(value))
    return format.nan() << format.unusedBits;
  uint32_t sign = std::signbit(value) ? format.signBit() : 0;
  uint32_t overflow = sign | (format.hasInfinity ? format.infinity() : format.nan());
  double magnitude = std::fabs(value);
  // One unit in the last place of the result; doubles below fp32's denormals count as such.
  int exponent =
      magnitude == 0 ? format.lowest() : std::max(std::ilogb(magnitude), format.lowest());
  uint32_t bits = overflow;
  if (!std::isinf(magnitude) && exponent < 200) {
    double units = nearestWhole(std::ldexp(magnitude, format.mantissaBits - exponent));
    if (std::ldexp(units, exponent - format.mantissaBits) <= format.largest()) {
      // Rounding up into the next binade carries into the exponent by itself.
      bits =
          uint32_t(int64_t(units) + (int64_t(exponent - format.lowest()) << format.mantissaBits));
      bits |= sign;
    }
  }
  return bits << format.unusedBits;
}

double decodeFloat(const Format &format, uint32_t bits) {
  uint32_t exponent = bits >> format.mantissaBits & format.ones();
  uint32_t mantissa = bits & ((1u << format.mantissaBits) - 1);
  double sign = bits & format.signBit() ? -1 : 1;
  if (format.hasInfinity && exponent == format.ones())
    return mantissa ? kNotANumber : sign * kInfinite;
  if (!format.hasInfinity && (bits & (format.signBit() - 1)) == format.nan())
    return kNotANumber;
  if (exponent == 0)
    return sign * std::ldexp(double(mantissa), format.lowest() - format.mantissaBits);
  return sign * std::ldexp(double(mantissa) + double(1u << format.mantissaBits),
                           int(exponent) - format.bias() - format.mantissaBits);
}

struct Range {
  int64_t low, high;
};
Range rangeOf(DType dtype) {
  unsigned bits = isa::bytesOf(dtype) * 8;
  if (isa::info(dtype).isSigned)
    return {-(int64_t(1) << (bits - 1)), (int64_t(1) << (bits - 1)) - 1};
  return {0, (int64_t(1) << bits) - 1};
}

uint32_t maskOf(unsigned bytes) { return bytes == 4 ? UINT32_MAX : (1u << (8 * bytes)) - 1; }

} // namespace

bool isNaN(Single x) { return (x & 0x7FFFFFFF) > kInfinity; }
double valueOf(Single x) {
  if (isNaN(x))
    return kNotANumber;
  return double(std::bit_cast<float>(x));
}
Single rounded(double value) {
  return std::isnan(value) ? kNaN : std::bit_cast<Single>(float(value));
}
Single canonical(Single x) { return isNaN(x) ? kNaN : x; }

//---- elements ------------------------------------------------------------------------------===//

double decode(DType dtype, uint32_t bits) {
  if (!isa::isFloat(dtype))
    return double(integerOf(dtype, bits));
  // What a tf32 element has in its unused bits is read as well.
  return decodeFloat(formatOf(dtype == DType::TFloat32 ? DType::Float32 : dtype), bits);
}

uint32_t encode(DType dtype, double value) {
  if (isa::isFloat(dtype))
    return encodeFloat(formatOf(dtype), value);
  if (std::isnan(value))
    return 0;
  Range range = rangeOf(dtype);
  if (value <= double(range.low))
    return saturate(dtype, range.low);
  if (value >= double(range.high))
    return saturate(dtype, range.high);
  double whole = nearestWhole(std::fabs(value));
  return saturate(dtype, value < 0 ? -int64_t(whole) : int64_t(whole));
}

Single widen(DType dtype, uint32_t bits) {
  if (dtype == DType::Float32 || dtype == DType::TFloat32)
    return bits;
  return encode(DType::Float32, decode(dtype, bits));
}

uint32_t narrow(DType dtype, Single x) {
  return dtype == DType::Float32 ? x : encode(dtype, decode(DType::Float32, x));
}

uint32_t convert(DType to, DType from, uint32_t bits) {
  return to == from ? bits : narrow(to, widen(from, bits));
}

int64_t integerOf(DType dtype, uint32_t bits) {
  unsigned width = isa::bytesOf(dtype) * 8;
  int64_t value = bits & maskOf(isa::bytesOf(dtype));
  if (isa::info(dtype).isSigned && value >> (width - 1) & 1)
    value -= int64_t(1) << width;
  return value;
}

uint32_t saturate(DType dtype, int64_t value) {
  Range range = rangeOf(dtype);
  value = std::min(std::max(value, range.low), range.high);
  return uint32_t(uint64_t(value)) & maskOf(isa::bytesOf(dtype));
}

//---- arithmetic ----------------------------------------------------------------------------===//

// Sums, products and quotients of two fp32 numbers rounded to double and then to fp32 are rounded
// as if once: a double has more than twice the digits.
Single add(Single x, Single y) { return rounded(valueOf(x) + valueOf(y)); }
Single subtract(Single x, Single y) { return rounded(valueOf(x) - valueOf(y)); }
Single multiply(Single x, Single y) { return rounded(valueOf(x) * valueOf(y)); }
Single divide(Single x, Single y) { return rounded(valueOf(x) / valueOf(y)); }

Single fuse(Single x, Single y, Single z) {
  double product = valueOf(x) * valueOf(y); // exact
  double addend = valueOf(z);
  double sum = product + addend;
  if (!std::isfinite(sum))
    return rounded(sum);
  // What the sum has lost, exactly (Knuth). A sum made odd remembers that there was something.
  double back = sum - product;
  double lost = (product - (sum - back)) + (addend - back);
  if (lost != 0 && (std::bit_cast<uint64_t>(sum) & 1) == 0)
    sum = std::nextafter(sum, lost > 0 ? kInfinite : -kInfinite);
  return rounded(sum);
}

Single applyArithmetic(AluOp op, Single x, Single y) {
  double a = valueOf(x), b = valueOf(y);
  auto truth = [](bool isTrue) { return isTrue ? kOne : kZero; };
  switch (op) {
  case AluOp::Add:
    return add(x, y);
  case AluOp::Subtract:
    return subtract(x, y);
  case AluOp::Multiply:
    return multiply(x, y);
  case AluOp::Maximum:
  case AluOp::Minimum: {
    if (isNaN(x) || isNaN(y))
      return kNaN;
    bool isMaximum = op == AluOp::Maximum;
    if (a == 0 && b == 0)
      return isMaximum ? x & y : x | y; // the sign bits
    return (a > b) == isMaximum ? x : y;
  }
  case AluOp::Equal:
    return truth(a == b);
  case AluOp::NotEqual:
    return truth(!(a == b));
  case AluOp::GreaterEqual:
    return truth(a >= b);
  case AluOp::Greater:
    return truth(a > b);
  case AluOp::LessEqual:
    return truth(a <= b);
  case AluOp::Less:
    return truth(a < b);
  case AluOp::LogicalAnd:
    return truth(!(a == 0) && !(b == 0));
  case AluOp::LogicalOr:
    return truth(!(a == 0) || !(b == 0));
  case AluOp::LogicalXor:
    return truth(!(a == 0) != !(b == 0));
  case AluOp::Power:
    return power(x, y);
  case AluOp::Abs:
    return canonical(x) & 0x7FFFFFFF;
  case AluOp::Rsqrt:
    return reciprocalRoot(x);
  case AluOp::Reciprocal:
    return divide(kOne, x);
  case AluOp::None:
  case AluOp::Invert:
  case AluOp::BitwiseAnd:
  case AluOp::BitwiseOr:
  case AluOp::BitwiseXor:
  case AluOp::LeftShift:
  case AluOp::RightShift:
    break;
  }
  assert(false && "not an arithmetic operator");
  return kNaN;
}

uint32_t applyBits(AluOp op, unsigned bytes, uint32_t x, uint32_t y) {
  uint64_t wide = x;
  switch (op) {
  case AluOp::Invert:
    wide = ~wide;
    break;
  case AluOp::BitwiseAnd:
    wide &= y;
    break;
  case AluOp::BitwiseOr:
    wide |= y;
    break;
  case AluOp::BitwiseXor:
    wide ^= y;
    break;
  case AluOp::LeftShift:
    wide = y < 8 * bytes ? wide << y : 0;
    break;
  case AluOp::RightShift:
    wide = y < 8 * bytes ? wide >> y : 0;
    break;
  default:
    assert(false && "not a bitvec operator");
  }
  return uint32_t(wide) & maskOf(bytes);
}

Single identityOf(AluOp op) {
  switch (op) {
  case AluOp::Multiply:
  case AluOp::LogicalAnd:
    return kOne;
  case AluOp::Maximum:
    return kMinusInfinity;
  case AluOp::Minimum:
    return kInfinity;
  default:
    return kZero;
  }
}

} // namespace kiln::reference
