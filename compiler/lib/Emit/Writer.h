//===- Writer.h - what the emitters of all skeletons share ------------------------------------===//
//
// Views are written as plain strides, not by the view functions of tensors: a matmul of a million
// instructions makes millions of them.
//
//===------------------------------------------------------------------------------------------===//

#ifndef KILN_LIB_EMIT_WRITER_H
#define KILN_LIB_EMIT_WRITER_H

#include "kiln/Plan/Plan.h"
#include "kiln/Trace/Session.h"
#include "nl/isa.h"

#include <span>

namespace kiln::emit {

/// One dim of a view.
struct Dim {
  int64_t size = 1, stride = 0;
};

/// What a group is written with.
struct Context {
  trace::Session &session;
  const plan::Plan &plan;
  const std::vector<nl::Tensor> &buffers; ///< of the graph
  bool isPlaced; ///< tiles have the plan's addresses; otherwise they are left to the placer

  const tile::Node &node(plan::NodeId id) const { return plan.graph[id]; }
};

/// Rows of `rows` partitions of an on-chip tile, from its first on.
nl::Tensor onChip(const nl::Tensor &tile, int64_t rows, std::span<const Dim> free,
                  int64_t offset = 0, int64_t partition = 0);
/// A view of an HBM tensor, outermost dim first.
nl::Tensor inHbm(const nl::Tensor &buffer, int64_t offset, std::span<const Dim> dims);

nl::DType toNl(isa::DType dtype);
nl::Op aluOp(isa::AluOp op);
nl::Op function(isa::ActFn fn);

/// dst[r, free...] = elements of an HBM buffer, row r at `row` of it. Transposes where the rows are
/// what lies side by side in memory; repeats one row where `row.stride` is 0.
void load(const nl::Tensor &tile, const nl::Tensor &buffer, int64_t offset, Dim row,
          std::span<const Dim> free);
/// The other way.
void store(const nl::Tensor &buffer, int64_t offset, Dim row, std::span<const Dim> free,
           const nl::Tensor &tile);

void writeCopy(const Context &context, const plan::Group &group);
void writeRows(const Context &context, const plan::Group &group);
void writeContraction(const Context &context, const plan::Group &group);

} // namespace kiln::emit

#endif // KILN_LIB_EMIT_WRITER_H
