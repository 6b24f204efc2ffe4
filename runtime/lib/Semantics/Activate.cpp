//===- Activate.cpp - function, scale, bias and row sum ---------------------------------------===//
//
// Without sums rows are independent and go chunk by chunk. Sums are strict left-to-right folds,
// which are fast only when many rows are folded side by side: then rows are computed into a block
// first.
//
//===------------------------------------------------------------------------------------------===//

#include "kilnrt/Semantics/Activate.h"

#include "FloatStream.h"
#include "RowBlocks.h"
#include "kilnrt/Numerics/Activation.h"
#include "kilnrt/Numerics/Alu.h"
#include "kilnrt/Numerics/Fold.h"

#include <vector>

using namespace kilnrt;

namespace {

/// scale and bias of each row.
struct RowFactors {
  std::vector<float> scale, bias;
  bool isUniform; ///< the same in every row

  RowFactors(const Scalar &scaleOperand, const Scalar &biasOperand, uint32_t rows)
      : scale(rows, float(scaleOperand.value)), bias(rows, float(biasOperand.value)),
        isUniform(!scaleOperand.column && !biasOperand.column) {
    if (scaleOperand.column)
      loadColumn(*scaleOperand.column, scale.data());
    if (biasOperand.column)
      loadColumn(*biasOperand.column, bias.data());
  }
};

/// out[i] = fn(x[i] * scale + bias) for `n` elements from flat position `done` of rows of
/// `elements`.
void activateChunk(kiln::isa::ActFn fn, const RowFactors &factors, int64_t elements, int64_t done,
                   const float *x, float *out, int64_t n) {
  if (factors.isUniform || elements >= kWideRowElements) {
    const size_t row = size_t(done / elements);
    scaleBiasRow(x, factors.scale[row], factors.bias[row], out, size_t(n));
  } else if (elements == 1) {
    aluRow(AluOp::Multiply, x, factors.scale.data() + done, out, size_t(n));
    aluRow(AluOp::Add, out, factors.bias.data() + done, out, size_t(n));
  } else {
    for (int64_t i = 0; i < n;) {
      const int64_t row = (done + i) / elements;
      const int64_t count = std::min(n - i, (row + 1) * elements - (done + i));
      scaleBiasRow(x + i, factors.scale[size_t(row)], factors.bias[size_t(row)], out + i,
                   size_t(count));
      i += count;
    }
  }
  activationRow(fn, out, out, size_t(n));
}

/// The general case with sums.
void activateBlocks(kiln::isa::ActFn fn, const RowFactors &factors, const ConstTile &data,
                    const Tile &dst, float *sums) {
  RowReaders in(data);
  writeRowBlocks(dst, AluOp::Add, sums, [&](uint32_t r, int64_t, float *y, int64_t n) {
    const float *x = in.read(r, y, n);
    scaleBiasRow(x, factors.scale[r], factors.bias[r], y, size_t(n));
    activationRow(fn, y, y, size_t(n));
  });
}

} // namespace

void kilnrt::activation(kiln::isa::ActFn fn, const ConstTile &data, const Scalar &scale,
                        const Scalar &bias, const Tile &dst, float *sums) {
  const RowFactors factors(scale, bias, dst.rows);
  const bool isPlain = dst.dtype == DType::Float32 && dst.isContiguous();
  const bool isShort = dst.elements < kWideRowElements;
  if (sums && !isPlain && !isShort) {
    activateBlocks(fn, factors, data, dst, sums);
    return;
  }
  FloatReader reader(data);
  FloatWriter writer(dst);
  float buffer[kChunkElements];
  const int64_t total = int64_t(dst.rows) * dst.elements;
  for (int64_t done = 0; done < total;) {
    int64_t n = chunkLength(dst.rows, dst.elements, done);
    if (isShort)
      n -= n % dst.elements; // whole rows, for the sums
    const float *x = reader.read(buffer, n);
    float *y = writer.target(buffer, n);
    activateChunk(fn, factors, dst.elements, done, x, y, n);
    if (sums && isShort)
      foldRows(AluOp::Add, y, dst.elements, size_t(n / dst.elements), size_t(dst.elements),
               sums + done / dst.elements);
    writer.write(y, n);
    done += n;
  }
  if (sums && !isShort)
    foldRows(AluOp::Add, reinterpret_cast<const float *>(dst.base), dst.rowStep / 4, dst.rows,
             size_t(dst.elements), sums);
}
