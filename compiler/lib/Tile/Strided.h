//===- Strided.h - walking several layouts of one shape together ------------------------------===//
//
// A broadcast operand has stride 0, a transposed one its strides in another order: with that, every
// operation on whole tensors is a loop over rows of equally spaced elements.
//
//===------------------------------------------------------------------------------------------===//

#ifndef KILN_LIB_TILE_STRIDED_H
#define KILN_LIB_TILE_STRIDED_H

#include "kiln/Tile/Graph.h"

#include <algorithm>
#include <array>

namespace kiln::tile {

using Strides = std::vector<int64_t>;

/// Strides of row-major order.
inline Strides rowMajor(const Shape &shape) {
  Strides out(shape.size());
  int64_t step = 1;
  for (size_t i = shape.size(); i-- > 0; step *= shape[i])
    out[i] = step;
  return out;
}

/// Strides of a row-major value of shape `from` as one of shape `to`, which it broadcasts to.
inline Strides broadcastStrides(const Shape &from, const Shape &to) {
  const Strides own = rowMajor(from);
  Strides out(to.size(), 0);
  for (size_t i = 0; i < from.size(); ++i)
    if (from[i] != 1)
      out[to.size() - from.size() + i] = own[i];
  return out;
}

/// N layouts of one shape: element (i0, i1, ...) of layout k is at offset[k] + sum of
/// stride[k][j] * i_j.
template <size_t N>
struct Walk {
  Shape shape;
  std::array<Strides, N> stride;
  std::array<int64_t, N> offset{};

  /// Makes neighbouring dims one where every layout allows it.
  void collapse() {
    Walk out;
    out.offset = offset;
    for (size_t i = 0; i < shape.size(); ++i) {
      if (shape[i] == 1)
        continue;
      bool joins = !out.shape.empty();
      for (size_t k = 0; k < N && joins; ++k)
        joins = out.stride[k].back() == stride[k][i] * shape[i];
      if (joins)
        out.shape.back() *= shape[i];
      else
        out.shape.push_back(shape[i]);
      for (size_t k = 0; k < N; ++k) {
        if (joins)
          out.stride[k].back() = stride[k][i];
        else
          out.stride[k].push_back(stride[k][i]);
      }
    }
    if (out.shape.empty()) {
      out.shape = {1};
      for (Strides &own : out.stride)
        own = {0};
    }
    *this = std::move(out);
  }

  /// Step of layout k inside a row.
  int64_t step(size_t k) const { return stride[k].back(); }

  /// Calls `fn(at, n)` for every piece of a row, at most `longest` elements, in row-major order:
  /// element j of it is at at[k] + j * step(k) in layout k.
  template <typename Fn>
  void forEachRow(int64_t longest, const Fn &fn) const {
    const size_t rank = shape.size();
    std::vector<int64_t> index(rank, 0);
    std::array<int64_t, N> at = offset;
    for (;;) {
      for (int64_t done = 0; done < shape.back(); done += longest) {
        std::array<int64_t, N> piece = at;
        for (size_t k = 0; k < N; ++k)
          piece[k] += done * step(k);
        fn(piece, std::min(longest, shape.back() - done));
      }
      size_t dim = rank - 1;
      for (;; --dim) {
        if (dim == 0)
          return;
        const size_t outer = dim - 1;
        for (size_t k = 0; k < N; ++k)
          at[k] += stride[k][outer];
        if (++index[outer] < shape[outer])
          break;
        for (size_t k = 0; k < N; ++k)
          at[k] -= stride[k][outer] * shape[outer];
        index[outer] = 0;
      }
    }
  }
};

/// Elements handled at a time where values pass through fp32.
inline constexpr int64_t kPiece = 1024;

/// Moves elements of `width` bytes: layout 0 of `walk` is of `to`, layout 1 of `from`.
void moveElements(Walk<2> walk, unsigned width, std::byte *to, const std::byte *from);

} // namespace kiln::tile

#endif // KILN_LIB_TILE_STRIDED_H
