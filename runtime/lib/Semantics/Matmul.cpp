//===- Matmul.cpp - products of tiles ---------------------------------------------------------===//
//
// The sum itself is Numerics' business; here are the patterns its kernels do not know.
//
//===------------------------------------------------------------------------------------------===//

#include "kilnrt/Semantics/Matmul.h"

#include "FloatStream.h"
#include "kilnrt/Semantics/Copy.h"

#include <cstring>

using namespace kilnrt;

/// `tile` as equally spaced elements; a pattern of several dims is copied to `packed` first.
static OperandRows operandRows(const ConstTile &tile, std::vector<std::byte> &packed) {
  if (tile.rank == 1)
    return {tile.dtype, tile.base, tile.rowStep, tile.step[0]};
  packed.resize(size_t(tile.packedBytes()));
  const Tile copy(tile.packed(), packed.data());
  copyTile(tile, copy);
  return {copy.dtype, copy.base, copy.rowStep, copy.step[0]};
}

/// The rows of a tile whose partitions hold two each, all first ones before the second ones.
static OperandRows splitRows(const ConstTile &tile, std::vector<std::byte> &split) {
  std::vector<std::byte> packed(size_t(tile.packedBytes()));
  copyTile(tile, Tile(tile.packed(), packed.data()));
  split.resize(packed.size());
  const size_t rows = tile.rows, half = packed.size() / rows / 2;
  for (size_t i = 0; i < 2; ++i)
    for (size_t k = 0; k < rows; ++k)
      std::memcpy(&split[(i * rows + k) * half], &packed[(2 * k + i) * half], half);
  return {tile.dtype, split.data(), int64_t(half), tile.elementBytes()};
}

void kilnrt::loadStationary(const ConstTile &stationary, bool isDoubleRow,
                            LoadedStationary &loaded) {
  std::vector<std::byte> packed;
  loaded.dtype = stationary.dtype;
  loaded.isDoubleRow = isDoubleRow;
  const size_t rows = stationary.rows, columns = size_t(stationary.elements);
  if (isDoubleRow)
    loaded.tile.pack(splitRows(stationary, packed), 2 * rows, columns / 2);
  else
    loaded.tile.pack(operandRows(stationary, packed), rows, columns);
}

void kilnrt::matmul(const LoadedStationary &stationary, const ConstTile &moving, MatmulWrite write,
                    const Tile &dst) {
  std::vector<std::byte> packed;
  const bool isDouble = stationary.isDoubleRow;
  const OperandRows rows = isDouble ? splitRows(moving, packed) : operandRows(moving, packed);
  const auto columns = size_t(moving.elements / (isDouble ? 2 : 1));
  const SumOrder order = sumOrder(stationary.dtype, moving.dtype);
  if (dst.isContiguous()) {
    matmulTile(order, stationary.tile, rows, columns, dst.base, dst.rowStep, write);
    return;
  }
  // Gathered, so that the sum enters each cell by the kernel's own addition, then put back.
  std::vector<float> result(size_t(dst.rows) * size_t(dst.elements));
  const Tile dense(dst.packed(), reinterpret_cast<std::byte *>(result.data()));
  if (write == MatmulWrite::Add)
    copyTile(dst, dense);
  matmulTile(order, stationary.tile, rows, columns, dense.base, dense.rowStep, write);
  copyTile(dense, dst);
}

std::vector<float> kilnrt::matmulProduct(const LoadedStationary &stationary,
                                         const ConstTile &moving) {
  const int64_t columns = moving.elements / (stationary.isDoubleRow ? 2 : 1);
  std::vector<float> result(stationary.tile.columns() * size_t(columns));
  TileShape shape;
  shape.rows = uint32_t(stationary.tile.columns());
  shape.elements = columns;
  matmul(stationary, moving, MatmulWrite::Overwrite,
         {shape.packed(), reinterpret_cast<std::byte *>(result.data())});
  return result;
}

std::optional<MatrixElement> kilnrt::findNonIdentity(const ConstTile &tile) {
  std::vector<float> row(size_t(tile.elements));
  FloatReader reader(tile);
  for (uint32_t r = 0; r < tile.rows; ++r) {
    const float *values = reader.read(row.data(), tile.elements);
    for (int64_t c = 0; c < tile.elements; ++c)
      if (values[c] != (c == int64_t(r) ? 1.0f : 0.0f))
        return MatrixElement{r, c};
  }
  return std::nullopt;
}
