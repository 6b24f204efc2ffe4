//===- HandlersTensor.cpp - matmul and transpose ----------------------------------------------===//
//
// Accumulation is decided cell by cell of PSUM; tiles whose cells are all alike take one path as a
// whole.
//
//===------------------------------------------------------------------------------------------===//

#include "Core.h"
#include "Diagnose.h"
#include "kilnrt/Numerics/Convert.h"
#include "kilnrt/Semantics/Copy.h"
#include "kilnrt/Semantics/Matmul.h"

using namespace kilnrt;
using isa::Accumulate;

static std::string nameOf(const Core &core, const Operation &op, unsigned operand) {
  return nameOf(core.image, op.places[operand].tensor);
}

/// The matmul adds to cells that hold no sum: all of them are named, not only the first.
/// `before`: who wrote dst last.
static Diagnostic addOnClear(const Core &core, const Operation &op, Author before) {
  const Place &place = op.places[isa::NcMatmulArgs::dst];
  const Image &image = core.image;
  const ByteSet clear = core.memory.withoutSums(place);
  const int64_t asked = bytesOf(place, image.layout).bytes();
  const std::string name = nameOf(image, place.tensor);
  Diagnostic d =
      faultAt(image, op, isa::NcMatmulArgs::dst, "M-10",
              "nc_matmul adds to " + name + " where it holds no matmul result: " +
                  bytesText(image.info.tensors[place.tensor], clear, asked),
              "let the first matmul overwrite: leave accumulate out, or set it to false");
  addBytes(image, place.tensor, "without a sum", clear, asked, d);
  addAuthor(image, before, name + " was last written", d);
  addDeclaration(image, place.tensor, d);
  return d;
}

/// The matmul adds to sums that another tensor has destroyed.
static Diagnostic addToLost(const Core &core, const Operation &op) {
  const Place &place = op.places[isa::NcMatmulArgs::dst];
  const Image &image = core.image;
  const uint32_t taker = core.memory.overwrittenBy(place.tensor);
  const std::string name = nameOf(image, place.tensor), other = nameOf(image, taker);
  const ByteSet lost = core.memory.taken(place);
  const int64_t asked = bytesOf(place, image.layout).bytes();
  const std::string loss =
      lost.empty() ? "the " + std::to_string(asked) + " bytes written are not among those"
                   : bytesText(image.info.tensors[place.tensor], lost, asked) + ", are lost";
  Diagnostic d =
      faultAt(image, op, isa::NcMatmulArgs::dst, "M-04",
              "nc_matmul accumulates into " + name + " after " + other +
                  " was written to the same memory: " + loss,
              "let the first matmul of the new sum overwrite, or place the tensors apart");
  addBytes(image, place.tensor, "lost", lost, asked, d);
  addAuthor(image, core.memory.takenBy(place.tensor), other + " was written there", d);
  addDeclaration(image, place.tensor, d);
  addDeclaration(image, taker, d);
  return d;
}

/// Calls `fn(row, index, byte)` for the elements of `place` in order; stops at a fault.
template <typename Fn>
static Status forEachElement(const Place &place, const Fn &fn) {
  Status status;
  for (uint32_t r = 0; r < place.shape().rows && status; ++r) {
    int64_t index = 0;
    forEachRun(place.shape(), place.byte, [&](int64_t first, int64_t count, int64_t step) {
      for (int64_t i = 0; i < count && status; ++i)
        status = fn(r, index++, first + i * step);
    });
  }
  return status;
}

/// Cells differ, or dst names a cell twice: each element looks at its own bit, in order.
static Status accumulateByCell(Core &core, const Operation &op, Accumulate mode, Author before) {
  const Place &place = op.places[isa::NcMatmulArgs::dst];
  const std::vector<float> product =
      matmulProduct(core.stationary(op), core.input(op, isa::NcMatmulArgs::moving));
  const Tile dst = core.output(op, isa::NcMatmulArgs::dst);
  return forEachElement(place, [&](uint32_t row, int64_t index, int64_t byte) -> Status {
    auto *cell = reinterpret_cast<float *>(dst.row(row) + (byte - place.byte));
    const float value = product[size_t(row * dst.elements + index)];
    const bool isSet = core.memory.cell(place, place.partition + row, byte);
    if (mode == Accumulate::Add && !isSet)
      return addOnClear(core, op, before);
    const bool isAdding = mode != Accumulate::Overwrite && isSet;
    *cell = isAdding ? canonicalNan(*cell + value) : value;
    core.memory.setCell(place, place.partition + row, byte);
    return Status::ok();
  });
}

static Status accumulate(Core &core, const Operation &op, Accumulate mode) {
  const Place &place = op.places[isa::NcMatmulArgs::dst];
  Storage &memory = core.memory;
  // An earlier sum that another tensor destroyed must not silently count as none.
  if (mode != Accumulate::Overwrite && memory.lostSums(place.tensor))
    return addToLost(core, op);
  const Author before = memory.lastAuthor(place.tensor);
  core.noteMatmul(isa::NcMatmulArgs::dst, place);
  const CellState cells = mode == Accumulate::Overwrite ? CellState::Clear : memory.cells(place);
  if (cells == CellState::Mixed || !place.injective)
    return accumulateByCell(core, op, mode, before);
  if (mode == Accumulate::Add && cells == CellState::Clear)
    return addOnClear(core, op, before);
  matmul(core.stationary(op), core.input(op, isa::NcMatmulArgs::moving),
         cells == CellState::Set ? MatmulWrite::Add : MatmulWrite::Overwrite,
         core.output(op, isa::NcMatmulArgs::dst));
  memory.setCells(place, CellState::Set);
  return Status::ok();
}

/// Bytes into elements of two, whose upper bytes become zeros.
static void transposeWidened(const ConstTile &data, const Tile &dst) {
  Tile low = dst;
  low.dtype = data.dtype; // steps are in bytes
  for (uint32_t r = 0; r < dst.rows; ++r)
    forEachRun(low, low.row(r), [](std::byte *run, int64_t count, int64_t step) {
      for (int64_t i = 0; i < count; ++i)
        run[i * step + 1] = std::byte{0};
    });
  transposeTile(data, low);
}

/// The array moves bits when the moving operand is an identity; anything else would compute.
static Status transposeThroughArray(Core &core, const Operation &op) {
  if (std::optional<MatrixElement> wrong = core.movingNonIdentity(op))
    return faultAt(core.image, op, isa::NcMatmulArgs::moving, "",
                   "a transposing nc_matmul moves an identity, but element (" +
                       std::to_string(wrong->row) + ", " + std::to_string(wrong->column) + ") of " +
                       nameOf(core, op, isa::NcMatmulArgs::moving) + " is not that of one",
                   "use nc_transpose, which brings its own identity");
  core.noteWrite(isa::NcMatmulArgs::dst, op.places[isa::NcMatmulArgs::dst]);
  const ConstTile data = core.input(op, isa::NcMatmulArgs::stationary);
  const Tile dst = core.output(op, isa::NcMatmulArgs::dst);
  if (data.elementBytes() == dst.elementBytes())
    transposeTile(data, dst);
  else
    transposeWidened(data, dst);
  return Status::ok();
}

Status kilnrt::execNcMatmul(Core &core, const Operation &op, const isa::NcMatmulArgs &args) {
  return args.isTranspose ? transposeThroughArray(core, op) : accumulate(core, op, args.accumulate);
}

Status kilnrt::execNcTranspose(Core &core, const Operation &op, const isa::NcTransposeArgs &args) {
  transposeTile(core.input(op, args.data), core.output(op, args.dst));
  return Status::ok();
}
