//===- Movement.h - movement of elements becomes views of memory ------------------------------===//
//
// The first step of planning. Transposes, slices, reshapes, concatenations and pads compute
// nothing: what they do to a tensor in HBM is another view of it, and what they do to arithmetic
// can be done to its operands. After `lowerMovement` a graph holds loads, stores, sources,
// arithmetic and sums only. Values that must lie in memory for a view to exist go through buffers
// the graph gains.
//
//===------------------------------------------------------------------------------------------===//

#ifndef KILN_PLAN_MOVEMENT_H
#define KILN_PLAN_MOVEMENT_H

#include "kiln/Tile/Graph.h"

#include <map>

namespace kiln::plan {

/// A write of the program to a tensor, by an instruction.
struct Write {
  uint32_t position; ///< instructions in front of it
  uint32_t buffer;
};

/// The graph without Transpose, Reshape, Slice, Concat, Pad and Broadcast. Precondition: verified,
/// composites decomposed. `writes` are those of the program's own instructions: a load that one of
/// them, or a store, may overtake is copied where it stands. Buffers keep their numbers; new ones
/// come behind them. Bits do not change. `reasons` becomes, by new buffer, why there is one.
tile::Graph lowerMovement(const tile::Graph &graph, const std::vector<Write> &writes,
                          std::map<uint32_t, std::string> *reasons = nullptr);

/// The view that reads `view`, of a value of shape `from`, as `to`, in row-major order; nothing
/// when no strides can say that.
std::optional<std::vector<int64_t>>
reshapeStrides(const tile::Shape &from, const std::vector<int64_t> &stride, const tile::Shape &to);

/// Strides of a contiguous row-major tensor.
std::vector<int64_t> contiguousStrides(const tile::Shape &shape);

} // namespace kiln::plan

#endif // KILN_PLAN_MOVEMENT_H
