//===- Bitvec.cpp - operators on raw integers and on native integers --------------------------===//
//
// Plain loops: the compiler vectorises them for the baseline, and integer operations have one
// result everywhere.
//
//===------------------------------------------------------------------------------------------===//

#include "kilnrt/Numerics/Alu.h"
#include "kilnrt/Numerics/Convert.h"
#include "kilnrt/Numerics/Fold.h"

#include <algorithm>
#include <cassert>
#include <cstring>

using kiln::isa::AluOp;
using kiln::isa::DType;

namespace kilnrt {
namespace {

template <typename T>
T bitvec(AluOp op, T x, T y) {
  constexpr unsigned width = 8 * sizeof(T);
  switch (op) {
  case AluOp::Invert:
    return T(~x);
  case AluOp::BitwiseAnd:
    return x & y;
  case AluOp::BitwiseOr:
    return x | y;
  case AluOp::BitwiseXor:
    return x ^ y;
  case AluOp::LeftShift:
    return y < width ? T(uint32_t(x) << y) : T(0);
  case AluOp::RightShift:
    return y < width ? T(x >> y) : T(0);
  default:
    assert(false && "not a bitvec operator");
    return x;
  }
}

/// Elements of a row, or one value repeated.
template <typename T>
struct Source {
  const std::byte *row; // null: `value`
  T value;

  T operator[](size_t i) const {
    if (!row)
      return value;
    T element;
    std::memcpy(&element, row + i * sizeof(T), sizeof(T));
    return element;
  }
};

template <typename T>
void bitvecLoop(AluOp op, Source<T> x, Source<T> y, std::byte *out, size_t n) {
  const auto loop = [&](auto f) {
    for (size_t i = 0; i < n; ++i) {
      const T result = f(x[i], y[i]);
      std::memcpy(out + i * sizeof(T), &result, sizeof(T));
    }
  };
  // A constant operator per loop lets each be vectorised.
  switch (op) {
  case AluOp::BitwiseAnd:
    return loop([](T a, T b) { return bitvec<T>(AluOp::BitwiseAnd, a, b); });
  case AluOp::BitwiseOr:
    return loop([](T a, T b) { return bitvec<T>(AluOp::BitwiseOr, a, b); });
  case AluOp::BitwiseXor:
    return loop([](T a, T b) { return bitvec<T>(AluOp::BitwiseXor, a, b); });
  case AluOp::LeftShift:
    return loop([](T a, T b) { return bitvec<T>(AluOp::LeftShift, a, b); });
  case AluOp::RightShift:
    return loop([](T a, T b) { return bitvec<T>(AluOp::RightShift, a, b); });
  default:
    return loop([op](T a, T b) { return bitvec<T>(op, a, b); });
  }
}

template <typename T>
void bitvecSources(AluOp op, const std::byte *x, const std::byte *y, uint32_t scalar, bool reverse,
                   std::byte *out, size_t n) {
  const bool swap = reverse && !kiln::isa::info(op).isUnary;
  const Source<T> left{x, 0}, right{y, T(scalar)};
  bitvecLoop<T>(op, swap ? right : left, swap ? left : right, out, n);
}

void bitvecAnyWidth(AluOp op, unsigned bytes, const std::byte *x, const std::byte *y,
                    uint32_t scalar, bool reverse, std::byte *out, size_t n) {
  if (bytes == 1)
    return bitvecSources<uint8_t>(op, x, y, scalar, reverse, out, n);
  if (bytes == 2)
    return bitvecSources<uint16_t>(op, x, y, scalar, reverse, out, n);
  assert(bytes == 4 && "integers have 1, 2 or 4 bytes");
  bitvecSources<uint32_t>(op, x, y, scalar, reverse, out, n);
}

template <typename T>
uint32_t foldLoop(AluOp op, const std::byte *data, int64_t strideBytes, size_t n, uint32_t acc) {
  T result = T(acc);
  for (size_t i = 0; i < n; ++i) {
    T element;
    std::memcpy(&element, data + int64_t(i) * strideBytes, sizeof(T));
    result = bitvec<T>(op, result, element);
  }
  return result;
}

} // namespace

uint32_t applyBitvec(AluOp op, unsigned bytes, uint32_t x, uint32_t y) {
  if (bytes == 1)
    return bitvec<uint8_t>(op, uint8_t(x), uint8_t(y));
  if (bytes == 2)
    return bitvec<uint16_t>(op, uint16_t(x), uint16_t(y));
  return bitvec<uint32_t>(op, x, y);
}

void bitvecRow(AluOp op, unsigned bytes, const std::byte *x, const std::byte *y, std::byte *out,
               size_t n) {
  bitvecAnyWidth(op, bytes, x, y, 0, /*reverse=*/false, out, n);
}

void bitvecRowScalar(AluOp op, unsigned bytes, const std::byte *x, uint32_t y, bool reverse,
                     std::byte *out, size_t n) {
  bitvecAnyWidth(op, bytes, x, nullptr, y, reverse, out, n);
}

uint32_t bitvecFoldIdentity(AluOp op, unsigned bytes) {
  return op == AluOp::BitwiseAnd ? applyBitvec(AluOp::Invert, bytes, 0, 0) : 0;
}

uint32_t foldBitvec(AluOp op, unsigned bytes, const std::byte *data, int64_t strideBytes, size_t n,
                    uint32_t acc) {
  assert(kiln::isa::info(op).isBitvec && kiln::isa::info(op).isReduction &&
         "not a bitvec reduction");
  if (bytes == 1)
    return foldLoop<uint8_t>(op, data, strideBytes, n, acc);
  if (bytes == 2)
    return foldLoop<uint16_t>(op, data, strideBytes, n, acc);
  return foldLoop<uint32_t>(op, data, strideBytes, n, acc);
}

namespace {

/// The value of an int32 or uint32 of these bits.
int64_t valueOf(DType type, uint32_t bits) {
  return type == DType::UInt32 ? int64_t(bits) : int64_t(int32_t(bits));
}

/// `value`, saturated to int32 or uint32.
uint32_t saturated(DType type, int64_t value) {
  const kiln::isa::IntegerRange range = kiln::isa::integerRange(type);
  return uint32_t(std::clamp(value, int64_t(range.low), int64_t(range.high)));
}

/// Operators that are not modular arithmetic, on exact values.
int64_t applyExact(AluOp op, int64_t x, int64_t y) {
  switch (op) {
  case AluOp::None:
    return x;
  case AluOp::Maximum:
    return std::max(x, y);
  case AluOp::Minimum:
    return std::min(x, y);
  case AluOp::Equal:
    return x == y;
  case AluOp::NotEqual:
    return x != y;
  case AluOp::GreaterEqual:
    return x >= y;
  case AluOp::Greater:
    return x > y;
  case AluOp::LessEqual:
    return x <= y;
  case AluOp::Less:
    return x < y;
  case AluOp::LogicalAnd:
    return x != 0 && y != 0;
  case AluOp::LogicalOr:
    return x != 0 || y != 0;
  case AluOp::LogicalXor:
    return (x != 0) != (y != 0);
  default:
    assert(false && "not an operator on exact integers");
    return x;
  }
}

} // namespace

uint32_t applyAluInteger(AluOp op, DType xType, uint32_t x, DType yType, uint32_t y,
                         DType resultType) {
  switch (op) {
  case AluOp::Add:
    return x + y;
  case AluOp::Subtract:
    return x - y;
  case AluOp::Multiply:
    return x * y;
  case AluOp::Abs:
    return valueOf(xType, x) < 0 ? 0u - x : x;
  case AluOp::Power:
  case AluOp::Rsqrt:
  case AluOp::Reciprocal: {
    const float result = applyAlu(op, float(valueOf(xType, x)), float(valueOf(yType, y)));
    return resultType == DType::UInt32 ? floatToUint32(result) : uint32_t(floatToInt32(result));
  }
  default:
    return saturated(resultType, applyExact(op, valueOf(xType, x), valueOf(yType, y)));
  }
}

void aluIntegerRow(AluOp op, DType xType, const std::byte *x, DType yType, const std::byte *y,
                   DType resultType, std::byte *out, size_t n) {
  const Source<uint32_t> left{x, 0}, right{y, 0};
  const auto loop = [&](auto f) {
    for (size_t i = 0; i < n; ++i) {
      const uint32_t result = f(left[i], right[i]);
      std::memcpy(out + i * sizeof(result), &result, sizeof(result));
    }
  };
  // Modular arithmetic has no sign, and a constant operator lets each loop be vectorised.
  switch (op) {
  case AluOp::Add:
    return loop([](uint32_t a, uint32_t b) { return a + b; });
  case AluOp::Subtract:
    return loop([](uint32_t a, uint32_t b) { return a - b; });
  case AluOp::Multiply:
    return loop([](uint32_t a, uint32_t b) { return a * b; });
  default:
    return loop([&](uint32_t a, uint32_t b) {
      return applyAluInteger(op, xType, a, yType, b, resultType);
    });
  }
}

} // namespace kilnrt
