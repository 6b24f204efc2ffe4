//===- Bitvec.cpp - operators on raw integers and on native int32 -----------------------------===//
//
// Plain loops: the compiler vectorises them for the baseline, and integer operations have one
// result everywhere.
//
//===------------------------------------------------------------------------------------------===//

#include "kilnrt/Numerics/Alu.h"
#include "kilnrt/Numerics/Convert.h"
#include "kilnrt/Numerics/Fold.h"

#include <cassert>
#include <cstring>

using kiln::isa::AluOp;

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

int32_t applyAluInt32(AluOp op, int32_t x, int32_t y) {
  // Wrapping arithmetic is unsigned arithmetic.
  const uint32_t ux = uint32_t(x), uy = uint32_t(y);
  switch (op) {
  case AluOp::None:
    return x;
  case AluOp::Add:
    return int32_t(ux + uy);
  case AluOp::Subtract:
    return int32_t(ux - uy);
  case AluOp::Multiply:
    return int32_t(ux * uy);
  case AluOp::Maximum:
    return x > y ? x : y;
  case AluOp::Minimum:
    return x < y ? x : y;
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
  case AluOp::Abs:
    return int32_t(x < 0 ? 0u - ux : ux);
  case AluOp::Power:
  case AluOp::Rsqrt:
  case AluOp::Reciprocal:
    return floatToInt32(applyAlu(op, int32ToFloat(x), int32ToFloat(y)));
  default:
    assert(false && "not an arithmetic operator");
    return x;
  }
}

void aluInt32Row(AluOp op, const int32_t *x, const int32_t *y, int32_t *out, size_t n) {
  const auto loop = [&](auto f) {
    for (size_t i = 0; i < n; ++i)
      out[i] = f(x[i], y[i]);
  };
  switch (op) {
  case AluOp::Add:
    return loop([](int32_t a, int32_t b) { return applyAluInt32(AluOp::Add, a, b); });
  case AluOp::Subtract:
    return loop([](int32_t a, int32_t b) { return applyAluInt32(AluOp::Subtract, a, b); });
  case AluOp::Multiply:
    return loop([](int32_t a, int32_t b) { return applyAluInt32(AluOp::Multiply, a, b); });
  default:
    return loop([op](int32_t a, int32_t b) { return applyAluInt32(op, a, b); });
  }
}

} // namespace kilnrt
