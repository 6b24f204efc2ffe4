//===- Transfer.cpp - shares of a transfer ----------------------------------------------------===//
//
// A share of a copy moves as rows where both sides have the same rows. Where they have
// not (a one-dimensional HBM tensor that no pattern cuts into partitions, or
// two partition windows of different height), it moves as pieces: maximal
// stretches that are one run on both sides. A share of a transpose is partitions of dst and columns
// of src.
//
//===------------------------------------------------------------------------------------------===//

#include "Core.h"
#include "Diagnose.h"
#include "Pieces.h"
#include "kilnrt/Semantics/Copy.h"

#include <algorithm>

using namespace kilnrt;
using isa::machine;

/// Calls `fn(position, count)` for each stretch of [first, end) that is one run
/// on both sides.
template <typename Fn>
static Status forEachPiece(const TransferPlan &plan, int64_t first, int64_t end, const Fn &fn) {
  for (int64_t position = first; position < end;) {
    const int64_t count =
        std::min({end - position, runLength(plan.dst, position), runLength(plan.src, position)});
    if (Status status = fn(position, count); !status)
      return status;
    position += count;
  }
  return Status::ok();
}

Status Core::executeShare(const Operation &op, RowRange range) {
  if (range.count == 0)
    return Status::ok();
  memory.setAuthor(authorOf(op));
  const TransferPlan &plan = image.transfers[op.transfer];
  if (!op.shifts && !op.indices)
    return moveShare(op, plan, range);
  TransferPlan here = plan;
  here.dst = shifted(plan.dst, shiftOf(op, kTransferDst));
  here.src = shifted(plan.src, shiftOf(op, kTransferSrc));
  return moveShare(op, here, range);
}

Status Core::moveShare(const Operation &op, const TransferPlan &plan, RowRange range) {
  if (plan.blocks == 0 && !plan.isByRows)
    return executePieces(op, plan, int64_t(range.first) * plan.rowElements,
                         int64_t(range.first + range.count) * plan.rowElements);
  Place dst = plan.dst, src = plan.src;
  if (range.count != plan.rows) {
    const unsigned more = range.count - plan.rows / uint32_t(machine.dmaEngines);
    dst = rowsFrom(plan.dst, range.first, plan.dstRows[more]);
    src = plan.blocks ? columnsFrom(plan.src, range.first, plan.srcRows[more])
                      : rowsFrom(plan.src, range.first, plan.srcRows[more]);
  }
  if (Status status = checkInput(op, kTransferSrc, src); !status)
    return status;
  ConstTile from = memory.tile(src);
  if (plan.isStaged) {
    std::vector<std::byte> &bytes = stagedBytes[kTransferSrc];
    bytes.resize(size_t(from.packedBytes()));
    const Tile copy(from.packed(), bytes.data());
    copyTile(from, copy);
    from = copy;
  }
  noteWrite(kTransferDst, dst);
  if (plan.blocks)
    transposeTile(from, memory.tile(dst), plan.blocks);
  else
    copyTile(from, memory.tile(dst));
  return Status::ok();
}

Status Core::executePieces(const Operation &op, const TransferPlan &plan, int64_t first,
                           int64_t end) {
  // Everything is read before anything is written: pieces of one share may
  // overlap each other's bytes.
  std::vector<std::byte> &bytes = stagedBytes[kTransferSrc];
  const int64_t width = plan.src.shape().elementBytes();
  bytes.resize(size_t((end - first) * width));
  Piece piece;
  TileShape contiguous;
  contiguous.dtype = plan.src.shape().dtype;
  contiguous.step = {width};
  auto stagedAt = [&](int64_t position, int64_t count) {
    contiguous.elements = count;
    contiguous.num = {count};
    return Tile(contiguous, bytes.data() + (position - first) * width);
  };

  Status status = forEachPiece(plan, first, end, [&](int64_t position, int64_t count) {
    cutPiece(plan.src, position, count, piece);
    if (Status read = checkInput(op, kTransferSrc, piece.place); !read)
      return read;
    copyTile(memory.tile(piece.place), stagedAt(position, count));
    return Status::ok();
  });
  if (!status)
    return status;
  return forEachPiece(plan, first, end, [&](int64_t position, int64_t count) {
    cutPiece(plan.dst, position, count, piece);
    noteWrite(kTransferDst, piece.place);
    copyTile(stagedAt(position, count), memory.tile(piece.place));
    return Status::ok();
  });
}

Status kilnrt::execDmaCopy(Core &core, const Operation &op, const isa::DmaCopyArgs &) {
  return core.executeShare(op, {0, core.image.transfers[op.transfer].rows});
}

Status kilnrt::execDmaTranspose(Core &core, const Operation &op, const isa::DmaTransposeArgs &) {
  return core.executeShare(op, {0, core.image.transfers[op.transfer].rows});
}
