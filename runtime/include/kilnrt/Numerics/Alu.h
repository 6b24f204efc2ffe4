//===- Alu.h - the ALU operators --------------------------------------------------------------===//
//
// x is the left argument, y the right; unary operators ignore y. A reverse flag swaps them.
//
// Arithmetic operators work on fp32 and round once:
//   add, subtract, multiply, reciprocal  the IEEE operation
//   maximum, minimum                     NaN if either is NaN; +0 is larger than -0 in both orders
//   comparisons                          1 or 0; false with a NaN, except not_equal
//   logical_*                            1 or 0; a NaN counts as true, both zeros as false
//   power, rsqrt                         the exact function rounded once; power has the special
//   cases of
//                                        the C standard (power(x, 0) = power(1, y) = 1, also for
//                                        NaN)
// A NaN result has the bits 0x7FC00000. `none` is the absent stage: it returns x.
//
// Bitvec operators work on raw unsigned integers of 1, 2 or 4 bytes; a shift by the width or more
// (also a negative count, read as unsigned) gives 0.
//
//===------------------------------------------------------------------------------------------===//

#ifndef KILNRT_NUMERICS_ALU_H
#define KILNRT_NUMERICS_ALU_H

#include "kiln/ISA/Types.h"

#include <cstddef>
#include <cstdint>

namespace kilnrt {

//---- fp32 arithmetic
//---------------------------------------------------------------------------===//

/// op(x, y). Not for bitvec operators.
float applyAlu(kiln::isa::AluOp op, float x, float y);

/// out[i] = op(x[i], y[i]) for i < n. `out` may be x or y, but must not overlap them otherwise.
void aluRow(kiln::isa::AluOp op, const float *x, const float *y, float *out, size_t n);

/// out[i] = op(x[i], y), or op(y, x[i]) with `reverse`; unary operators take x[i] either way.
void aluRowScalar(kiln::isa::AluOp op, const float *x, float y, bool reverse, float *out, size_t n);

/// out[i] = scale * x[i] + bias, rounded after the multiplication and after the addition.
void scaleBiasRow(const float *x, float scale, float bias, float *out, size_t n);

/// x to the power y: the C standard's special cases, correctly rounded.
float applyPower(float x, float y);

//---- native 32-bit integers
//------------------------------------------------------------------------------===//

/// op on the values of `x` and `y`, the bits of an int32 or uint32 each, as the bits of an int32 or
/// uint32 result. add, subtract, multiply and abs work modulo 2^32; comparisons and logical
/// operators give 1 or 0; maximum and minimum saturate a value the result cannot hold. power, rsqrt
/// and reciprocal have no integer form: they go through fp32 and saturate. Not for bitvec
/// operators.
uint32_t applyAluInteger(kiln::isa::AluOp op, kiln::isa::DType xType, uint32_t x,
                         kiln::isa::DType yType, uint32_t y, kiln::isa::DType resultType);

/// The same on rows of contiguous elements without alignment. `out` may be x or y.
void aluIntegerRow(kiln::isa::AluOp op, kiln::isa::DType xType, const std::byte *x,
                   kiln::isa::DType yType, const std::byte *y, kiln::isa::DType resultType,
                   std::byte *out, size_t n);

//---- bit vectors
//-------------------------------------------------------------------------------===//

/// op on the low `bytes` (1, 2 or 4) bytes of x and y; the result has no bits above them.
uint32_t applyBitvec(kiln::isa::AluOp op, unsigned bytes, uint32_t x, uint32_t y);

/// Element-wise on contiguous integers of `bytes` bytes. `out` may be x or y.
void bitvecRow(kiln::isa::AluOp op, unsigned bytes, const std::byte *x, const std::byte *y,
               std::byte *out, size_t n);

/// out[i] = op(x[i], y), or op(y, x[i]) with `reverse`.
void bitvecRowScalar(kiln::isa::AluOp op, unsigned bytes, const std::byte *x, uint32_t y,
                     bool reverse, std::byte *out, size_t n);

} // namespace kilnrt

#endif // KILNRT_NUMERICS_ALU_H
