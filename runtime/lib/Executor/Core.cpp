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

/// Whether the transfer `op` moves nothing where an index is out of range.
static bool skipsRange(const Operation &op) {
  if (op.opcode == isa::Opcode::DmaCopy)
    return op.argsAs<isa::DmaCopyArgs>().oobMode == isa::OobMode::Skip;
  return op.opcode == isa::Opcode::DmaTranspose &&
         op.argsAs<isa::DmaTransposeArgs>().oobMode == isa::OobMode::Skip;
}

Status Core::readIndices(const Operation &op, IndexBytes &bytes, bool &isSkipped) const {
  for (unsigned i = 0; i < op.operands; ++i) {
    const IndexedPlace &index = op.indices[i];
    bytes[i] = 0;
    if (!index.isIndexed)
      continue;
    const int64_t value = registers[size_t(op.engine)][index.number];
    const bool isInside = value >= 0 && value < index.extent;
    int64_t loops = 0;
    for (unsigned l = 0; op.shifts && l < isa::kMaxLoopDepth; ++l)
      loops += op.shifts[i][l] * iteration[l];
    if (isInside && op.places[i].endByte + loops + value * index.stepBytes <= index.lastByte) {
      bytes[i] = value * index.stepBytes;
      continue;
    }
    if (skipsRange(op)) {
      isSkipped = true;
      continue;
    }
    const std::string name = nameOf(image, op.places[i].tensor);
    Diagnostic d = faultAt(
        image, op, -1, "V-17",
        isInside
            ? "index " + std::to_string(value) + " takes " +
                  std::string(op.desc().operands[i].name) + " beyond the end of " + name
            : "index " + std::to_string(value) + " of " + std::string(op.desc().operands[i].name) +
                  " is outside " + name + ", whose indexed dim has " +
                  std::to_string(index.extent) + " (0 to " + std::to_string(index.extent - 1) + ")",
        op.isDma() ? "keep the index in range, or let the transfer skip it: oob_mode::skip"
                   : "keep the index in range");
    // Which bytes it would be is nothing one could look at.
    d.notes.back().message += ": operand '" + std::string(op.desc().operands[i].name) +
                              "' lies where register " + std::to_string(index.number) + " says";
    return d;
  }
  return Status::ok();
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
