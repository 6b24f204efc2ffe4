//===- Decompose.h - composite operations as primitive ones -----------------------------------===//
//
//   softmax(x)    e = exp(x - max(x)), y = e * reciprocal(sum(e)), along the axis
//   rmsnorm(x)    y = x * rsqrt(sum(square(x)) * (1/n) + epsilon) (* gamma), n = the last extent
//   layernorm(x)  c0 = x - sum(x) * (1/n), c = c0 - sum(c0) * (1/n),
//                 y = c * rsqrt(sum(square(c)) * (1/n) + epsilon) (* gamma) (+ beta)
//
// 1/n is rounded to fp32 once; every step is a float32 node. The second centring of layernorm keeps
// the digits of a row whose mean is large: the first sum is off by its own rounding, the second is
// of small numbers.
//
//===------------------------------------------------------------------------------------------===//

#ifndef KILN_TILE_DECOMPOSE_H
#define KILN_TILE_DECOMPOSE_H

#include "kiln/Tile/Graph.h"

namespace kiln::tile {

/// The graph with every composite replaced by its steps; other nodes are copied. The last step of a
/// composite has its dtype, shape and hint, and every step its location and position. Sums have no
/// order yet. With `renamed`, entry i is the number that node i has in the result.
/// Precondition: every node is right by `verify`.
Graph decompose(const Graph &graph, std::vector<NodeId> *renamed = nullptr);

/// Whether `decompose` replaces the operation.
inline bool isComposite(Op op) {
  return op == Op::Softmax || op == Op::RmsNorm || op == Op::LayerNorm;
}

} // namespace kiln::tile

#endif // KILN_TILE_DECOMPOSE_H
