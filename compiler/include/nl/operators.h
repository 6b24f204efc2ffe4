//===- operators.h - what instructions and math compute with ----------------------------------===//
//
// Operators are objects: `nl::add`, `nl::exp`. An instruction takes one as an argument, and called
// they are functions of whole tensors (nl/math.h).
//
//===------------------------------------------------------------------------------------------===//

#ifndef NL_OPERATORS_H
#define NL_OPERATORS_H

#include "nl/core.h"

namespace nl {

//---- operators ----------------------------------------------------------===//

/// An operand of a function of whole tensors (nl/math.h): a value, a tensor in memory, of which the
/// function takes a snapshot, or a number.
struct Term {
  Tensor tensor{};
  double number = 0;
  bool isNumber = false;
  bool isInteger = false; ///< the number was written as a whole number
  SrcLoc loc; ///< where the operand was written; operators, which take no place, are found there
  Term(const Tensor &t, SrcLoc place = SrcLoc::current()) : tensor(t), loc(place) {}
  template <class T>
    requires(std::is_arithmetic_v<T> && !std::is_same_v<T, bool>)
  Term(T v, SrcLoc place = SrcLoc::current())
      : number(static_cast<double>(v)), isNumber(true), isInteger(std::is_integral_v<T>),
        loc(place) {}
  template <std::same_as<Index> T>
  Term(const T &) {
    static_assert(detail::never<T>, "[C-02] the index of nl::affine_for has no value while the "
                                    "kernel is traced (nl::iota gives the indices of elements)");
  }
};

/// Options of functions of whole tensors.
struct MathOptions {
  std::optional<DType> dtype = {}; ///< of the result, rounded once; float32 when absent
};

/// An operator: of the ALUs (`op`, `op0`, `op1`, `reduce_op`), a function of the Scalar Engine
/// (`op` of nisa::activation), or both. A default-constructed one is Python's None.
///
/// Called, it is the function of whole tensors: `nl::exp(x)`, `nl::add(x, y, {.dtype = ...})`. It
/// computes in float32, element by element, with NumPy's broadcasting. Checks T-01, D-08.
struct Op {
  const char *name = nullptr;
  int16_t alu = -1;      ///< number in the table of ALU operators; -1: none
  int16_t function = -1; ///< number in the table of Scalar Engine functions; -1: none

  /// Of one operand: functions, and the ALU's nl::invert.
  Tensor operator()(const Term &x, const MathOptions &options = {},
                    SrcLoc loc = SrcLoc::current()) const;
  /// Of two operands: ALU operators.
  Tensor operator()(const Term &x, const Term &y, const MathOptions &options = {},
                    SrcLoc loc = SrcLoc::current()) const;
};

namespace detail {
constexpr Op alu(const char *name, int16_t number) { return {name, number, -1}; }
constexpr Op function(const char *name, int16_t number) { return {name, -1, number}; }
} // namespace detail

// Arithmetic and logic, on float32 inside; x is the left argument, y the right. The first five and
// the logical and bitwise and/or/xor are legal reduction operators (D-17).
inline constexpr Op add = detail::alu("add", detail::table::aluAdd);                ///< x + y
inline constexpr Op subtract = detail::alu("subtract", detail::table::aluSubtract); ///< x - y
inline constexpr Op multiply = detail::alu("multiply", detail::table::aluMultiply); ///< x * y
inline constexpr Op maximum =
    detail::alu("maximum", detail::table::aluMaximum); ///< the larger; NaN if either is NaN
inline constexpr Op minimum =
    detail::alu("minimum", detail::table::aluMinimum); ///< the smaller; NaN if either is NaN
inline constexpr Op equal = detail::alu("equal", detail::table::aluEqual); ///< 1 if x == y, else 0
inline constexpr Op not_equal =
    detail::alu("not_equal", detail::table::aluNotEqual); ///< 1 if x != y, else 0
inline constexpr Op greater_equal =
    detail::alu("greater_equal", detail::table::aluGreaterEqual); ///< 1 if x >= y, else 0
inline constexpr Op greater =
    detail::alu("greater", detail::table::aluGreater); ///< 1 if x > y, else 0
inline constexpr Op less_equal =
    detail::alu("less_equal", detail::table::aluLessEqual);             ///< 1 if x <= y, else 0
inline constexpr Op less = detail::alu("less", detail::table::aluLess); ///< 1 if x < y, else 0
inline constexpr Op logical_and =
    detail::alu("logical_and", detail::table::aluLogicalAnd); ///< 1 if both are not 0
inline constexpr Op logical_or =
    detail::alu("logical_or", detail::table::aluLogicalOr); ///< 1 if one is not 0
inline constexpr Op logical_xor =
    detail::alu("logical_xor", detail::table::aluLogicalXor); ///< 1 if exactly one is not 0
inline constexpr Op power =
    detail::alu("power", detail::table::aluPower); ///< x to the power y; GpSimd only

// Raw bits of integer tiles, on the Vector Engine (D-08).
inline constexpr Op invert =
    detail::alu("invert", detail::table::aluInvert); ///< every bit of x inverted
inline constexpr Op bitwise_and =
    detail::alu("bitwise_and", detail::table::aluBitwiseAnd);                            ///< x & y
inline constexpr Op bitwise_or = detail::alu("bitwise_or", detail::table::aluBitwiseOr); ///< x | y
inline constexpr Op bitwise_xor =
    detail::alu("bitwise_xor", detail::table::aluBitwiseXor); ///< x ^ y
inline constexpr Op left_shift =
    detail::alu("left_shift", detail::table::aluLeftShift); ///< x << y, zero fill
inline constexpr Op right_shift = detail::alu(
    "right_shift", detail::table::aluRightShift); ///< x >> y, zero fill, signed types too

// Both an ALU operator and a function of the Scalar Engine.
inline constexpr Op abs{"abs", detail::table::aluAbs,
                        detail::table::functionAbs}; ///< x without its sign
inline constexpr Op rsqrt{
    "rsqrt", detail::table::aluRsqrt,
    detail::table::functionRsqrt}; ///< 1 / sqrt(x); as a function in [2^-87, 2^97]
inline constexpr Op reciprocal{
    "reciprocal", detail::table::aluReciprocal,
    detail::table::functionReciprocal}; ///< 1 / x; as a function in [2^-42, 2^42]

// Functions of the Scalar Engine: exact, rounded once. Outside a stated domain hardware
// extrapolates.
inline constexpr Op copy = detail::function("copy", detail::table::functionCopy);       ///< x
inline constexpr Op square = detail::function("square", detail::table::functionSquare); ///< x * x
inline constexpr Op sigmoid =
    detail::function("sigmoid", detail::table::functionSigmoid); ///< 1 / (1 + exp(-x))
inline constexpr Op relu = detail::function("relu", detail::table::functionRelu); ///< max(x, 0)
inline constexpr Op gelu = detail::function("gelu", detail::table::functionGelu); ///< x * Phi(x)
inline constexpr Op gelu_dx =
    detail::function("gelu_dx", detail::table::functionGeluDx); ///< its derivative
inline constexpr Op gelu_apprx_tanh =
    detail::function("gelu_apprx_tanh", detail::table::functionGeluApprxTanh); ///< gelu by tanh
inline constexpr Op gelu_apprx_sigmoid = detail::function(
    "gelu_apprx_sigmoid", detail::table::functionGeluApprxSigmoid); ///< x * sigmoid(1.702 x)
inline constexpr Op gelu_apprx_sigmoid_dx = detail::function(
    "gelu_apprx_sigmoid_dx", detail::table::functionGeluApprxSigmoidDx); ///< its derivative
inline constexpr Op silu =
    detail::function("silu", detail::table::functionSilu); ///< x * sigmoid(x)
inline constexpr Op silu_dx =
    detail::function("silu_dx", detail::table::functionSiluDx); ///< its derivative
inline constexpr Op tanh = detail::function("tanh", detail::table::functionTanh); ///< tanh(x)
inline constexpr Op softplus =
    detail::function("softplus", detail::table::functionSoftplus); ///< ln(1 + exp(x))
inline constexpr Op mish =
    detail::function("mish", detail::table::functionMish); ///< x * tanh(softplus(x))
inline constexpr Op erf = detail::function("erf", detail::table::functionErf); ///< erf(x)
inline constexpr Op erf_dx =
    detail::function("erf_dx", detail::table::functionErfDx);                  ///< its derivative
inline constexpr Op exp = detail::function("exp", detail::table::functionExp); ///< e to the power x
inline constexpr Op log =
    detail::function("log", detail::table::functionLog); ///< ln(x), x in [2^-64, 2^64]
inline constexpr Op sin =
    detail::function("sin", detail::table::functionSin); ///< sin(x), x in [-pi, pi]
inline constexpr Op arctan =
    detail::function("arctan", detail::table::functionArctan); ///< atan(x), x in [-pi/2, pi/2]
inline constexpr Op sqrt =
    detail::function("sqrt", detail::table::functionSqrt); ///< sqrt(x), x in [2^-116, 2^118]
inline constexpr Op sign = detail::function("sign", detail::table::functionSign); ///< -1, 0 or 1

} // namespace nl

#endif // NL_OPERATORS_H
