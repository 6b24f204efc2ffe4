//===- Accumulate.h - instructions that fold rows into registers
//----------------------------------===//
//
// Registers are fp32, one for each row, and belong to the caller. A row is folded left to right on
// top of what its register holds, before its elements are narrowed to dst's dtype. Where an
// instruction folds only on demand, a null pointer asks for no fold.
//
//===------------------------------------------------------------------------------------------===//

#ifndef KILNRT_SEMANTICS_ACCUMULATE_H
#define KILNRT_SEMANTICS_ACCUMULATE_H

#include "kilnrt/Semantics/Elementwise.h"

namespace kilnrt {

/// t[p, f] = stage(data[p, f]); dst = round(t); registers[p] = op(registers[p], t[p, f]) for every
/// f.
void tensorScalarReduce(const ConstTile &data, const ScalarStage &stage, AluOp op, const Tile &dst,
                        float *registers);

/// A position must compare so with the bound of its row.
struct RangeBound {
  AluOp comparison;
  ConstTile bound; ///< [P, 1], fp32
};
/// y[p, f] = onTrue[p, f] where start + f, as fp32, meets both bounds, else `fill`; dst = round(y);
/// maxima[p] = the maximum of it and y[p, :], a NaN if there is one.
void rangeSelect(const ConstTile &onTrue, const RangeBound &first, const RangeBound &second,
                 int64_t start, float fill, const Tile &dst, float *maxima);

/// y[p, f] = onTrue[p, f] where predicate[p, f] is not 0, or is 0 when reversed, else onFalse;
/// dst = round(y); maxima as in rangeSelect.
void selectReduce(const ConstTile &predicate, bool isReversed, const ConstTile &onTrue,
                  const Scalar &onFalse, const Tile &dst, float *maxima);

/// values[p] = the scalar of row p, for p < rows.
void loadScalar(const Scalar &scalar, uint32_t rows, float *values);
/// column[p, 0] = round(values[p]), or round(-values[p]).
void storeColumn(const float *values, bool isNegated, const Tile &column);

} // namespace kilnrt

#endif // KILNRT_SEMANTICS_ACCUMULATE_H
