//===- Fold.h - reductions along rows, strictly left to right ---------------------------------===//
//
// acc = op(acc, x[0]), acc = op(acc, x[1]), ...: each step rounded to fp32, in this order and no
// other, whatever the host. Speed comes from folding many rows side by side.
//
//===------------------------------------------------------------------------------------------===//

#ifndef KILNRT_NUMERICS_FOLD_H
#define KILNRT_NUMERICS_FOLD_H

#include "kiln/ISA/Types.h"

#include <cstddef>
#include <cstdint>

namespace kilnrt {

/// What `op` starts from: add 0, multiply 1, maximum -Inf, minimum +Inf, logical_and 1, logical_or
/// and logical_xor 0. subtract has no identity (a fold starts from the first element): returns 0.
float foldIdentity(kiln::isa::AluOp op);

/// For r < rows: acc[r] = op(... op(acc[r], row[0]) ..., row[n - 1]) with row = data + r *
/// rowStride. `op` is add, subtract, multiply, maximum, minimum or logical_*. A NaN result has the
/// bits 0x7FC00000, except that with n == 0 acc is left alone.
void foldRows(kiln::isa::AluOp op, const float *data, ptrdiff_t rowStride, size_t rows, size_t n,
              float *acc);

/// What a bitvec fold starts from: bitwise_and all ones, bitwise_or and bitwise_xor 0.
uint32_t bitvecFoldIdentity(kiln::isa::AluOp op, unsigned bytes);

/// Folds n raw integers of `bytes` (1, 2 or 4) bytes, strideBytes apart, into acc; `op` is
/// bitwise_and, bitwise_or or bitwise_xor.
uint32_t foldBitvec(kiln::isa::AluOp op, unsigned bytes, const std::byte *data, int64_t strideBytes,
                    size_t n, uint32_t acc);

} // namespace kilnrt

#endif // KILNRT_NUMERICS_FOLD_H
