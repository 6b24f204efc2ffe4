//===- ReferenceNumbers.h - the number formats and fp32 arithmetic, written a second time -----===//
//
// Nothing here comes from the product: formats are a table of bit fields, rounding is exact
// arithmetic on doubles, functions are MPFR's. A value of the machine is the 32 bits of an fp32
// number, so that a NaN keeps its payload where an instruction only moves it.
//
//===------------------------------------------------------------------------------------------===//

#ifndef KILN_TEST_REFERENCE_REFERENCENUMBERS_H
#define KILN_TEST_REFERENCE_REFERENCENUMBERS_H

#include "kiln/ISA/Types.h"

#include <cstdint>

namespace kiln::reference {

/// An fp32 number by its bits.
using Single = uint32_t;

/// The one NaN that arithmetic makes.
inline constexpr Single kNaN = 0x7FC00000;
inline constexpr Single kZero = 0;
inline constexpr Single kOne = 0x3F800000;
inline constexpr Single kInfinity = 0x7F800000;
inline constexpr Single kMinusInfinity = 0xFF800000;

bool isNaN(Single x);
/// The number, exactly. Any NaN gives a NaN.
double valueOf(Single x);
/// `value` rounded to the nearest fp32 number, ties to even; a NaN becomes kNaN.
Single rounded(double value);
/// kNaN for a NaN, else `x`.
Single canonical(Single x);

//---- elements ------------------------------------------------------------------------------===//

/// What `bits`, an element of `dtype`, says: exactly, or NaN.
double decode(isa::DType dtype, uint32_t bits);
/// The element of `dtype` nearest to `value`, ties to even. Past the largest finite number floats
/// become infinite and integers stay at the end of their range; a NaN is 0 as an integer.
uint32_t encode(isa::DType dtype, double value);
/// An element on its way into fp32 arithmetic: fp32 and tf32 as they are, the others by value.
Single widen(isa::DType dtype, uint32_t bits);
/// An fp32 value on its way into an element: fp32 as it is, the others rounded once.
uint32_t narrow(isa::DType dtype, Single x);
/// An element moved to another dtype: bits where both are one dtype, else through fp32.
uint32_t convert(isa::DType to, isa::DType from, uint32_t bits);
/// An integer element, extended by its sign if its dtype has one.
int64_t integerOf(isa::DType dtype, uint32_t bits);
/// `value`, or the end of the range of the integer dtype it lies beyond.
uint32_t saturate(isa::DType dtype, int64_t value);

//---- arithmetic ----------------------------------------------------------------------------===//

Single add(Single x, Single y);
Single subtract(Single x, Single y);
Single multiply(Single x, Single y);
Single divide(Single x, Single y);
/// x * y + z rounded once.
Single fuse(Single x, Single y, Single z);
/// An arithmetic operator of the table; y means nothing to a unary one.
Single applyArithmetic(isa::AluOp op, Single x, Single y);
/// A bitvec operator on elements of `bytes` bytes.
uint32_t applyBits(isa::AluOp op, unsigned bytes, uint32_t x, uint32_t y);
/// What a fold with `op` starts at; none for subtract, which starts at its first element.
Single identityOf(isa::AluOp op);
/// A function of the Scalar Engine: exact, rounded once.
Single applyFunction(isa::ActFn fn, Single x);
/// 1 / sqrt(x) and x to the power y, exact, rounded once.
Single reciprocalRoot(Single x);
Single power(Single x, Single y);

} // namespace kiln::reference

#endif // KILN_TEST_REFERENCE_REFERENCENUMBERS_H
