//===- Accumulate.cpp - instructions that fold rows into registers
//--------------------------------===//

#include "kilnrt/Semantics/Accumulate.h"

#include "RowBlocks.h"
#include "kilnrt/Numerics/Alu.h"

using namespace kilnrt;

static std::vector<float> valuesOf(const Scalar &scalar, uint32_t rows) {
  std::vector<float> values(rows);
  loadScalar(scalar, rows, values.data());
  return values;
}

//---- tensor_scalar_reduce -----------------------------------------------===//

void kilnrt::tensorScalarReduce(const ConstTile &data, const ScalarStage &stage, AluOp op,
                                const Tile &dst, float *registers) {
  const std::vector<float> scalars = valuesOf(stage.y, dst.rows);
  RowReaders in(data);
  writeRowBlocks(dst, op, registers, [&](uint32_t r, int64_t, float *t, int64_t n) {
    const float *x = in.read(r, t, n);
    aluRowScalar(stage.op, x, scalars[r], stage.isReversed, t, size_t(n));
  });
}

//---- selections ---------------------------------------------------------===//

void kilnrt::rangeSelect(const ConstTile &onTrue, const RangeBound &first, const RangeBound &second,
                         int64_t start, float fill, const Tile &dst, float *maxima) {
  std::vector<float> positions(size_t(dst.elements));
  for (int64_t f = 0; f < dst.elements; ++f)
    positions[size_t(f)] = float(start + f);
  const std::vector<float> bounds0 = valuesOf({0, &first.bound}, dst.rows),
                           bounds1 = valuesOf({0, &second.bound}, dst.rows);
  RowReaders in(onTrue);
  writeRowBlocks(dst, AluOp::Maximum, maxima, [&](uint32_t r, int64_t done, float *y, int64_t n) {
    float meets0[kBlockColumns], meets1[kBlockColumns];
    const float *x = in.read(r, y, n), *i = positions.data() + done;
    aluRowScalar(first.comparison, i, bounds0[r], false, meets0, size_t(n));
    aluRowScalar(second.comparison, i, bounds1[r], false, meets1, size_t(n));
    for (int64_t f = 0; f < n; ++f)
      y[f] = meets0[f] != 0 && meets1[f] != 0 ? x[f] : fill;
  });
}

void kilnrt::selectReduce(const ConstTile &predicate, bool isReversed, const ConstTile &onTrue,
                          const Scalar &onFalse, const Tile &dst, float *maxima) {
  const std::vector<float> fallback = valuesOf(onFalse, dst.rows);
  RowReaders conditions(predicate), in(onTrue);
  writeRowBlocks(dst, AluOp::Maximum, maxima, [&](uint32_t r, int64_t, float *y, int64_t n) {
    float buffer[kBlockColumns];
    const float *condition = conditions.read(r, buffer, n), *x = in.read(r, y, n);
    for (int64_t f = 0; f < n; ++f)
      y[f] = (condition[f] != 0) != isReversed ? x[f] : fallback[r];
  });
}

//---- columns ------------------------------------------------------------===//

void kilnrt::loadScalar(const Scalar &scalar, uint32_t rows, float *values) {
  if (scalar.column)
    loadColumn(*scalar.column, values);
  else
    std::fill(values, values + rows, float(scalar.value));
}

void kilnrt::storeColumn(const float *values, bool isNegated, const Tile &column) {
  std::vector<float> negated;
  if (isNegated) {
    negated.reserve(column.rows);
    for (uint32_t r = 0; r < column.rows; ++r)
      negated.push_back(canonicalNan(-values[r]));
    values = negated.data();
  }
  storeRow(column.dtype, values, column.base, column.rowStep, column.rows);
}
