//===- Frames.h - the tiles of a group and the instructions on them ---------------------------===//

#ifndef KILN_LIB_EMIT_FRAMES_H
#define KILN_LIB_EMIT_FRAMES_H

#include "Writer.h"

#include <functional>

namespace kiln::emit {

/// The part of the iteration space that is being worked on.
struct Region {
  std::vector<int64_t> start, size; ///< by dim
  int64_t chunk = 0;                ///< number of the chunk of a cut reduction
};

/// Writes steps. Every run of one makes new tiles; with the plan's addresses, in the frame whose
/// turn it is.
class Body {
public:
  /// Frames begin at byte `base` of each partition.
  Body(const Context &context, const plan::Group &group, int64_t base = 0);

  /// An iteration of the loop around `level` begins.
  void next(unsigned level) { ++turn[level]; }
  void write(const plan::Step &step, const Region &region);
  /// Stores hand their tile to `taker` instead of writing it to memory.
  void redirect(std::function<void(const nl::Tensor &, const Region &)> taker) {
    take = std::move(taker);
  }
  /// Gives tile `t` the elements of a tensor made elsewhere, such as an accumulator: those of each
  /// partition are the free dims of the region in row-major order.
  void bind(uint32_t t, const nl::Tensor &tensor, const Region &region);

private:
  int64_t sizeOf(const plan::Tile &tile, unsigned d, const Region &region) const;
  nl::Tensor inPlace(plan::NodeId node, uint32_t dims, const Region &region) const;
  nl::Tensor make(uint32_t t, const Region &region);
  /// Tile `t` with the free dims `dims`, repeated along those it does not have.
  nl::Tensor view(uint32_t t, uint32_t dims, const Region &region) const;
  /// One element for each partition of a tile with `dims`, or a number.
  nl::Operand scalar(const plan::Argument &argument, uint32_t dims, const Region &region) const;
  int64_t rowsOf(uint32_t dims, const Region &region) const;
  std::vector<unsigned> freeDims(uint32_t dims) const;
  const plan::Footprint &footprint(plan::NodeId node) const;
  int64_t offsetOf(plan::NodeId node, const Region &region) const;

  void writeLoad(const plan::Step &step, const Region &region);
  void writeStore(const plan::Step &step, const Region &region);
  void writeReduce(const plan::Step &step, const Region &region);
  void writeActivation(const plan::Step &step, const Region &region);
  /// Folds a chunk's result into the whole one.
  void combine(isa::AluOp op, uint32_t whole, uint32_t part, const Region &region);

  const Context &context;
  const plan::Group &group;
  std::function<void(const nl::Tensor &, const Region &)> take;
  std::vector<nl::Tensor> tiles;
  std::vector<int64_t> turn;       ///< by level
  std::vector<int64_t> levelBase;  ///< by level: byte of its first frame
  std::vector<int64_t> frameBytes; ///< by level
};

} // namespace kiln::emit

#endif // KILN_LIB_EMIT_FRAMES_H
