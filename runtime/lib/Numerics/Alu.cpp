//===- Alu.cpp - scalar fp32 operators and the entries of the row kernels ---------------------===//
//
// The scalar function is the definition; the row kernels are tested against it.
//
//===------------------------------------------------------------------------------------------===//

#include "kilnrt/Numerics/Alu.h"

#include "AluKernels.h"
#include "kilnrt/Numerics/Activation.h"
#include "kilnrt/Numerics/Convert.h"

#include <cassert>
#include <cmath>
#include <cstring>

using kiln::isa::AluOp;

namespace kilnrt {
namespace {

float maximum(float x, float y) {
  if (x != x || y != y)
    return canonicalNan(x + y);
  if (x == y)
    return std::signbit(x) ? y : x;
  return x > y ? x : y;
}

float minimum(float x, float y) {
  if (x != x || y != y)
    return canonicalNan(x + y);
  if (x == y)
    return std::signbit(x) ? x : y;
  return x < y ? x : y;
}

/// Operators that are not one loop over vectors; true if `op` was one.
bool specialSources(AluOp op, FloatSource x, FloatSource y, float *out, size_t n) {
  if (op == AluOp::None || op == AluOp::Rsqrt) {
    if (out != x.row)
      std::memmove(out, x.row, n * sizeof(float));
    if (op == AluOp::Rsqrt)
      activationRow(kiln::isa::ActFn::Rsqrt, out, out, n);
    return true;
  }
  if (op != AluOp::Power)
    return false;
  powerSources(x, y, out, n);
  return true;
}

} // namespace

float applyAlu(AluOp op, float x, float y) {
  switch (op) {
  case AluOp::None:
    return x;
  case AluOp::Add:
    return canonicalNan(x + y);
  case AluOp::Subtract:
    return canonicalNan(x - y);
  case AluOp::Multiply:
    return canonicalNan(x * y);
  case AluOp::Maximum:
    return maximum(x, y);
  case AluOp::Minimum:
    return minimum(x, y);
  case AluOp::Equal:
    return float(x == y);
  case AluOp::NotEqual:
    return float(x != y);
  case AluOp::GreaterEqual:
    return float(x >= y);
  case AluOp::Greater:
    return float(x > y);
  case AluOp::LessEqual:
    return float(x <= y);
  case AluOp::Less:
    return float(x < y);
  case AluOp::LogicalAnd:
    return float(x != 0.0f && y != 0.0f);
  case AluOp::LogicalOr:
    return float(x != 0.0f || y != 0.0f);
  case AluOp::LogicalXor:
    return float((x != 0.0f) != (y != 0.0f));
  case AluOp::Power:
    return applyPower(x, y);
  case AluOp::Abs:
    return canonicalNan(std::fabs(x));
  case AluOp::Rsqrt:
    return applyActivation(kiln::isa::ActFn::Rsqrt, x);
  case AluOp::Reciprocal:
    return canonicalNan(1.0f / x);
  default:
    assert(false && "not an arithmetic operator");
    return x;
  }
}

void aluRow(AluOp op, const float *x, const float *y, float *out, size_t n) {
  const FloatSource left{x, 0.0f}, right{y, 0.0f};
  if (!specialSources(op, left, right, out, n))
    aluSources(op, left, right, out, n);
}

void aluRowScalar(AluOp op, const float *x, float y, bool reverse, float *out, size_t n) {
  const bool swap = reverse && !kiln::isa::info(op).isUnary;
  const FloatSource row{x, 0.0f}, scalar{nullptr, y};
  const FloatSource left = swap ? scalar : row, right = swap ? row : scalar;
  if (!specialSources(op, left, right, out, n))
    aluSources(op, left, right, out, n);
}

float applyPower(float x, float y) {
  float result = 0.0f;
  powerSources({&x, 0.0f}, {&y, 0.0f}, &result, 1);
  return result;
}

} // namespace kilnrt
