//===- HandlersSelect.cpp - instructions that leave elements of their output alone ------------===//
//
// They note the writes they make, element by element where need be: an element that was never
// written and is left alone is still unwritten afterwards.
//
//===------------------------------------------------------------------------------------------===//

#include "Core.h"
#include "Pieces.h"
#include "kilnrt/Semantics/Copy.h"
#include "kilnrt/Semantics/Select.h"

#include <algorithm>

using namespace kilnrt;
using isa::machine;

/// What is written and what is not makes no difference: every byte of `place` was written, and
/// none of it is a cell that may hold a sum.
static bool isUniform(Core &core, const Place &place) {
  return core.image.info.tensors[place.tensor].memory != isa::Memory::Psum &&
         core.memory.isWritten(place);
}

/// Notes the write of the elements of operand `dst` where `selected` has a true.
static void noteSelected(Core &core, unsigned dst, const Place &place,
                         const std::vector<bool> &selected) {
  const auto written = std::count(selected.begin(), selected.end(), true);
  if (written == 0)
    return;
  // An observer wants to know exactly.
  if (size_t(written) == selected.size() || (!core.options.observer && isUniform(core, place)))
    return core.noteWrite(dst, place);
  Piece piece;
  const int64_t total = int64_t(selected.size());
  for (int64_t position = 0; position < total;) {
    const int64_t end = position + runLength(place, position);
    for (; position < end && !selected[size_t(position)]; ++position) {
    }
    const int64_t first = position;
    for (; position < end && selected[size_t(position)]; ++position) {
    }
    if (position == first)
      continue;
    cutPiece(place, first, position - first, piece);
    core.noteWrite(dst, piece.place);
  }
}

Status kilnrt::execTensorCopyPredicated(Core &core, const Operation &op,
                                        const isa::TensorCopyPredicatedArgs &args) {
  const std::vector<bool> selected =
      selectedElements(core.input(op, args.predicate), args.reversePred);
  noteSelected(core, args.dst, op.places[args.dst], selected);
  ConstTile src;
  const bool isTile = core.has(op, args.src);
  if (isTile)
    src = core.input(op, args.src);
  copySelected(selected, isTile ? &src : nullptr, args.immSrc, core.output(op, args.dst));
  return Status::ok();
}

Status kilnrt::execNcStreamShuffle(Core &core, const Operation &op,
                                   const isa::NcStreamShuffleArgs &args) {
  constexpr uint32_t group = machine.partitionQuadrant, perWord = sizeof(uint32_t);
  const Place &place = op.places[args.dst];
  const uint32_t count = place.shape().rows;
  std::vector<int> rows(count);
  for (uint32_t r = 0; r < count; ++r) {
    const uint32_t i = r % group;
    const uint32_t entry = args.shuffleMask[i / perWord] >> 8 * (i % perWord) & 0xFF;
    rows[r] = entry == uint32_t(machine.shuffleKeepRow) ? -1 : int(r / group * group + entry);
  }
  Piece piece;
  for (uint32_t first = 0; first < count;) {
    uint32_t end = first;
    while (end < count && (rows[end] < 0) == (rows[first] < 0))
      ++end;
    if (end - first == count && rows[first] >= 0)
      core.noteWrite(args.dst, place); // the whole of it
    else if (rows[first] >= 0) {
      cutRows(place, first, end - first, piece);
      core.noteWrite(args.dst, piece.place);
    }
    first = end;
  }
  copyRows(rows, core.input(op, args.src), core.output(op, args.dst));
  return Status::ok();
}
