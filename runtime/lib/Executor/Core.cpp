//===- Core.cpp - one instruction on the memories of a run ------------------------------------===//

#include "Core.h"

#include "Diagnose.h"
#include "kilnrt/Semantics/Copy.h"

using namespace kilnrt;

static ShadowMode shadowMode(const RunOptions &options) {
  if (!options.checkUninitialised)
    return ShadowMode::Off;
  return options.checkOverwritten ? ShadowMode::Tensors : ShadowMode::Bytes;
}

Core::Core(const Image &image, const RunOptions &options)
    : image(image), options(options),
      memory(image.layout, shadowMode(options), options.poison.value_or(Poison()),
             options.poison && options.checkOverwritten) {
  if (!options.observer) // who may ask for any tensor at the end
    memory.expectAccesses(image.accessCounts);
}

const Operation &Core::moved(const Operation &op) {
  movedOp = op;
  for (unsigned i = 0; i < op.operands; ++i)
    movedPlaces[i] = shifted(op.places[i], shiftOf(op, i));
  movedOp.places = movedPlaces.data();
  return movedOp;
}

Status Core::checkInput(const Operation &op, unsigned operand, const Place &place) {
  if (memory.isWritten(place)) {
    if (options.observer)
      options.observer->reads(step, operand, place);
    return Status::ok();
  }
  // Of the whole operand, also where `place` is a share of it: the same report in every schedule.
  return unwrittenRead(image, op, operand, memory.unwritten(op.places[operand]));
}

void Core::stage(const Operation &op, unsigned operand) {
  const Place &place = op.places[operand];
  stagedBytes[operand].resize(size_t(place.shape().packedBytes()));
  const Tile copy(place.shape().packed(), stagedBytes[operand].data());
  copyTile(memory.tile(place), copy);
  staged[operand] = copy;
}

uint8_t Core::inputsToStage(const Operation &op) const {
  bool takesOver = false;
  uint8_t inputs = 0;
  for (unsigned i = 0; i < op.operands; ++i) {
    if (!op.places[i].present())
      continue;
    if (op.outputs >> i & 1)
      takesOver |= memory.isTakingOver(op.places[i].tensor);
    else
      inputs |= uint8_t(1u << i);
  }
  return takesOver ? inputs : op.staged;
}

Status Core::execute(const Operation &op) {
  memory.setAuthor(authorOf(op));
  for (unsigned i = 0; i < op.operands; ++i)
    if (op.places[i].present() && !(op.outputs >> i & 1))
      if (Status status = checkInput(op, i, op.places[i]); !status)
        return status;
  stagedInputs = memory.refillsBytes() ? inputsToStage(op) : op.staged;
  for (unsigned i = 0; i < op.operands; ++i)
    if (stagedInputs >> i & 1)
      stage(op, i);
  if (!op.notesOwnWrites)
    for (unsigned i = 0; i < op.operands; ++i)
      if (op.outputs >> i & 1)
        noteWrite(i, op.places[i]);
  return op.run(*this, op);
}

bool Core::isStill(Source &source, const Place &place) const {
  const std::optional<uint64_t> version = memory.contentVersion(place);
  if (version && source.place.present() && *version == source.version &&
      sameElements(place, source.place))
    return true;
  source.place = version ? place : Place();
  source.version = version.value_or(0);
  return false;
}

const LoadedStationary &Core::stationary(const Operation &op) {
  using Args = isa::NcMatmulArgs;
  const bool isDoubleRow = op.argsAs<Args>().perfMode == isa::MatmulPerfMode::DoubleRow;
  if (!isStill(loadedFrom, op.places[Args::stationary]) || loaded.isDoubleRow != isDoubleRow)
    loadStationary(input(op, Args::stationary), isDoubleRow, loaded);
  return loaded;
}

std::optional<MatrixElement> Core::movingNonIdentity(const Operation &op) {
  if (isStill(knownIdentity, op.places[isa::NcMatmulArgs::moving]))
    return std::nullopt;
  std::optional<MatrixElement> wrong = findNonIdentity(input(op, isa::NcMatmulArgs::moving));
  if (wrong)
    knownIdentity.place = Place();
  return wrong;
}
