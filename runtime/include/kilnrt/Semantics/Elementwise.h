//===- Elementwise.h - combining elements of equal position -----------------------------------===//
//
// All tiles of a call have the same rows and elements; free patterns may differ. Every input is
// disjoint from the output or the same elements. Arithmetic is fp32, rounded to the output's dtype
// once, at the end.
//
//===------------------------------------------------------------------------------------------===//

#ifndef KILNRT_SEMANTICS_ELEMENTWISE_H
#define KILNRT_SEMANTICS_ELEMENTWISE_H

#include "kilnrt/Semantics/Tile.h"

namespace kilnrt {

using kiln::isa::AluOp;

/// dst[p, f] = round(op(a[p, f], b[p, f])).
void tensorTensor(AluOp op, const ConstTile &a, const ConstTile &b, const Tile &dst);
/// dst[p, f] = op(a[p, f], b[p, f]) on the integers themselves; each tile is int32 or uint32.
void tensorTensorIntegers(AluOp op, const ConstTile &a, const ConstTile &b, const Tile &dst);
/// dst[p, f] = op(a[p, f], b[p, f]) on raw bits; integer tiles of one width.
void tensorTensorBits(AluOp op, const ConstTile &a, const ConstTile &b, const Tile &dst);

/// One stage of tensor_scalar: op(x, y), or op(y, x) when reversed. `op` is AluOp::None in an
/// absent stage.
struct ScalarStage {
  AluOp op = AluOp::None;
  Scalar y;
  bool isReversed = false;
};

/// dst[p, f] = round(second(first(data[p, f]))).
void tensorScalar(const ConstTile &data, const ScalarStage &first, const ScalarStage &second,
                  const Tile &dst);
/// The same on raw bits of integer tiles of one width; a column may be of another integer dtype.
void tensorScalarBits(const ConstTile &data, const ScalarStage &first, const ScalarStage &second,
                      const Tile &dst);

} // namespace kilnrt

#endif // KILNRT_SEMANTICS_ELEMENTWISE_H
