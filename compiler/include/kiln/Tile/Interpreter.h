//===- Interpreter.h - what a graph computes, by definition -----------------------------------===//
//
// One function for each operation, each a formula; nothing is fused, tiled or laid out. This is
// what compiled kernels are compared with, bit for bit where the order of operations is defined:
//
//   elementwise   fp32, one rounding to the node's dtype; int32 and uint32 operands with a result
//   of
//                 these dtypes work on the integers themselves
//   movement      bits as they are
//   reduce        LeftToRight: one fold in fp32; Chunks: a fold for each chunk, and one of their
//                 results; Any: in double, rounded once
//   matmul        Chunks: the Tensor Engine's sum for each chunk (kilnrt/Numerics/Matmul.h), the
//                 results added in fp32, ascending; Any: in double, rounded once
//   composites    their decomposition
//
// Functions (exp, ...) and conversions are those of kilnrt/Numerics; everything else is independent
// of the executor.
//
//===------------------------------------------------------------------------------------------===//

#ifndef KILN_TILE_INTERPRETER_H
#define KILN_TILE_INTERPRETER_H

#include "kiln/Tile/Graph.h"

#include <cstddef>
#include <span>

namespace kiln::tile {

/// The elements of a tensor in row-major order.
struct Value {
  isa::DType dtype = isa::DType::Float32;
  Shape shape;
  std::vector<std::byte> bytes; ///< elements * bytesOf(dtype)
};

struct InterpreterOptions {
  /// Values and buffers may take this many bytes at a time; more is a Fault::Limit.
  int64_t maxBytes = int64_t(8) << 30;
  /// Not null: receives the value of every node of the graph (nothing for effects).
  std::vector<Value> *nodes = nullptr;
};

/// Runs the nodes in order. buffers[i] is graph.buffers[i]: of an Input it holds the elements, with
/// the buffer's shape and dtype; others are made here, and hold what was written afterwards, zeros
/// elsewhere. An on-chip buffer holds partition after partition.
///
/// Returns what went wrong: a broken rule, buffers that do not fit the graph, a read of what no
/// node wrote (M-08), too much memory, or a graph in whose program instructions stand between the
/// values: they write buffers, and the interpreter knows no instructions.
std::optional<Diagnostic> evaluate(const Graph &graph, std::span<Value> buffers,
                                   const InterpreterOptions &options = {});

} // namespace kiln::tile

#endif // KILN_TILE_INTERPRETER_H
