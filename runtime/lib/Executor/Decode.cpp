//===- Decode.cpp - records to operations -----------------------------------------------------===//
//
// Trusts the verifier: what it proves is not checked again here, nor in any
// run.
//
//===------------------------------------------------------------------------------------------===//

#include "Operation.h"

#include <algorithm>
#include <cassert>
#include <new>
#include <type_traits>

using namespace kilnrt;
using isa::machine;

namespace {

/// What the table's row of one opcode becomes.
struct Binding {
  Operation::Run run;
  void (*storeArgs)(const isa::Instruction &, Operation &);
};

template <typename Args>
void storeArgs(const isa::Instruction &inst, Operation &op) {
  static_assert(sizeof(Args) <= kMaxArgsBytes && std::is_trivially_copyable_v<Args>);
  new (op.args.data()) Args(inst);
}

Binding bindingOf(isa::Opcode opcode) {
  switch (opcode) {
#define KILN_INST(Name, mnemonic, value)                                                           \
  case isa::Opcode::Name:                                                                          \
    return {[](Core &core, const Operation &op) {                                                  \
              return exec##Name(core, op, op.argsAs<isa::Name##Args>());                           \
            },                                                                                     \
            storeArgs<isa::Name##Args>};
#include "kiln/ISA/Insts.inc"
#undef KILN_INST
  }
  return {};
}

class Decoder {
public:
  explicit Decoder(Image &image) : image(image) {}

  Status decodeStream(const Stream &stream);

private:
  const Place *placesOf(const isa::Instruction &inst, unsigned count);
  const LoopShift *shiftsOf(const isa::Instruction &inst, unsigned count);
  const IndexedPlace *indicesOf(const isa::Instruction &inst, const Place *places, unsigned count);
  void passEdge(const isa::Instruction &inst, const Operation &op);
  /// Operand `i` wherever the loops around it take it.
  Place everywhere(const Operation &op, unsigned i) const;
  /// Two operands keep their distance in every iteration.
  bool moveAlike(const Operation &op, unsigned a, unsigned b) const {
    return (!op.shifts || op.shifts[a] == op.shifts[b]) &&
           (!op.indices || op.indices[a] == op.indices[b]);
  }
  bool mayMeet(const Operation &op, unsigned a, unsigned b) const {
    return moveAlike(op, a, b) ? mayOverlap(op.places[a], op.places[b])
                               : mayOverlap(everywhere(op, a), everywhere(op, b));
  }
  void findStaging(Operation &op);
  uint32_t planTransfer(const Operation &op, uint32_t ring);
  void planCopy(TransferPlan &plan);
  void planTranspose(TransferPlan &plan);

  Image &image;
  // Of the stream at hand:
  std::vector<uint32_t> open; ///< loops, outermost first
  uint32_t begun = 0;
};

/// Chunks of `T` that never grow, so that what lies in them stays.
template <typename T>
std::vector<T> &chunkFor(std::vector<std::vector<T>> &chunks, size_t count) {
  constexpr size_t chunkSize = 4096;
  if (chunks.empty() || chunks.back().size() + count > chunks.back().capacity()) {
    chunks.emplace_back();
    chunks.back().reserve(chunkSize);
  }
  return chunks.back();
}

} // namespace

const Place *Decoder::placesOf(const isa::Instruction &inst, unsigned count) {
  std::vector<Place> &chunk = chunkFor(image.placeChunks, count);
  const size_t first = chunk.size();
  uint64_t runs = 1;
  for (uint32_t loop : open)
    if (!image.loops[loop].isCounted() ||
        __builtin_mul_overflow(runs, uint64_t(image.loops[loop].control.tripCount), &runs))
      runs = UINT64_MAX; // or as often as the run decides
  for (unsigned i = 0; i < count; ++i) {
    chunk.push_back(image.layout.place(inst.operands[i]));
    if (inst.operands[i].isIndexed())
      chunk.back().whole = false;
    if (!inst.operands[i].present())
      continue;
    uint64_t &total = image.accessCounts[inst.operands[i].tensor];
    if (__builtin_add_overflow(total, runs, &total))
      total = UINT64_MAX;
  }
  return chunk.data() + first;
}

const LoopShift *Decoder::shiftsOf(const isa::Instruction &inst, unsigned count) {
  if (std::ranges::none_of(inst.operands, &isa::Access::moves))
    return nullptr;
  std::vector<LoopShift> &chunk = chunkFor(image.shiftChunks, count);
  const size_t first = chunk.size();
  for (unsigned i = 0; i < count; ++i) {
    LoopShift &shift = chunk.emplace_back();
    for (unsigned l = 0; l < isa::kMaxLoopDepth; ++l)
      shift[l] = inst.operands[i].loopStep[l] * isa::bytesOf(inst.operands[i].dtype);
  }
  return chunk.data() + first;
}

const IndexedPlace *Decoder::indicesOf(const isa::Instruction &inst, const Place *places,
                                       unsigned count) {
  if (std::ranges::none_of(inst.operands, &isa::Access::isIndexed))
    return nullptr;
  std::vector<IndexedPlace> &chunk = chunkFor(image.indexChunks, count);
  const size_t first = chunk.size();
  for (unsigned i = 0; i < count; ++i) {
    IndexedPlace &index = chunk.emplace_back();
    const isa::Access &access = inst.operands[i];
    if (!access.isIndexed())
      continue;
    const TensorPlace &tensor = image.layout.tensors()[access.tensor];
    index.isIndexed = true;
    index.number = access.indexRegister;
    index.stepBytes = access.indexStep * isa::bytesOf(access.dtype);
    index.extent = access.indexExtent;
    index.lastByte = (places[i].onChip ? tensor.byte : 0) + tensor.bytes;
  }
  return chunk.data() + first;
}

void Decoder::passEdge(const isa::Instruction &inst, const Operation &op) {
  if (inst.opcode == isa::Opcode::LoopEnd) {
    image.loops[open.back()].end[size_t(op.engine)] = op.index;
    image.loops[open.back()].after = begun;
    open.pop_back();
    return;
  }
  if (begun == image.loops.size()) {
    image.loops.emplace_back();
    image.loops.back().control = isa::LoopBeginArgs(inst);
    image.loops.back().location = op.location;
  }
  image.loops[begun].begin[size_t(op.engine)] = op.index;
  open.push_back(begun++);
}

Place Decoder::everywhere(const Operation &op, unsigned i) const {
  Place hull = op.places[i];
  if (op.indices && op.indices[i].isIndexed) {
    hull.firstByte = 0;
    hull.endByte = op.indices[i].lastByte;
  }
  for (size_t l = 0; op.shifts && l < open.size(); ++l) {
    const int64_t way = op.shifts[i][l] * (image.loops[open[l]].control.tripCount - 1);
    (way < 0 ? hull.firstByte : hull.endByte) += way;
  }
  return hull;
}

/// An input that shares bytes with an output is read in full before the output
/// is written, unless both are the same elements in every iteration: then each
/// is read before it is written anyway.
void Decoder::findStaging(Operation &op) {
  const bool isElementwise = !op.desc().crossesPartitions;
  for (unsigned out = 0; out < op.operands; ++out) {
    if (!(op.outputs >> out & 1))
      continue;
    for (unsigned in = 0; in < op.operands; ++in)
      if (!(op.outputs >> in & 1) && mayMeet(op, out, in) &&
          !(isElementwise && moveAlike(op, out, in) && sameElements(op.places[out], op.places[in])))
        op.staged |= 1u << in;
  }
}

/// Calls `fn(more, count)` for the row counts a share may have.
template <typename Fn>
static void forEachShareSize(uint32_t rows, const Fn &fn) {
  for (unsigned more : {0, 1})
    if (const uint32_t count = rows / uint32_t(machine.dmaEngines) + more;
        count > 0 && count <= rows)
      fn(more, count);
}

void Decoder::planTranspose(TransferPlan &plan) {
  plan.rows = plan.dst.shape().rows;
  plan.blocks = plan.src.shape().elements / plan.rows;
  forEachShareSize(plan.rows, [&](unsigned more, uint32_t count) {
    plan.dstRows[more] = image.layout.patternOfRows(plan.dst, count);
    plan.srcRows[more] = image.layout.patternOfColumns(plan.src, plan.rows, count);
  });
}

void Decoder::planCopy(TransferPlan &plan) {
  const uint32_t dstRows = plan.dst.shape().rows, srcRows = plan.src.shape().rows;
  plan.rows = plan.dst.onChip ? dstRows : plan.src.onChip ? srcRows : std::max(dstRows, srcRows);
  plan.rowElements = plan.dst.shape().elements * dstRows / plan.rows;
  plan.isByRows = true;
  for (Place *side : {&plan.dst, &plan.src}) {
    if (side->shape().rows == plan.rows)
      continue;
    std::optional<Place> reshaped;
    if (!side->onChip)
      reshaped = image.layout.reshapeRows(*side, plan.rows);
    if (reshaped)
      *side = *reshaped;
    else
      plan.isByRows = false;
  }
  if (plan.isByRows)
    forEachShareSize(plan.rows, [&](unsigned more, uint32_t count) {
      plan.dstRows[more] = image.layout.patternOfRows(plan.dst, count);
      plan.srcRows[more] = image.layout.patternOfRows(plan.src, count);
    });
}

uint32_t Decoder::planTransfer(const Operation &op, uint32_t ring) {
  TransferPlan plan;
  plan.dst = op.places[kTransferDst];
  plan.src = op.places[kTransferSrc];
  plan.ring = ring;
  plan.isStaged = mayMeet(op, kTransferDst, kTransferSrc);
  if (op.opcode == isa::Opcode::DmaTranspose)
    planTranspose(plan);
  else
    planCopy(plan);
  image.transfers.push_back(plan);
  return uint32_t(image.transfers.size() - 1);
}

RowRange kilnrt::shareOf(const TransferPlan &plan, unsigned k) {
  const uint64_t engines = machine.dmaEngines;
  const uint32_t first = uint32_t(k * plan.rows / engines);
  const uint32_t end = uint32_t((k + 1) * plan.rows / engines);
  return {first, end - first};
}

/// The dims of a printed tensor as the author sees them.
static std::vector<int64_t> printShape(const isa::Instruction &inst) {
  const isa::Access &data = inst.operands[isa::DevicePrintArgs::data];
  std::vector<int64_t> shape(data.num.begin(), data.num.begin() + data.rank);
  if (!isa::DevicePrintArgs(inst).flat)
    shape.insert(shape.begin(), data.partitionCount);
  return shape;
}

Status Decoder::decodeStream(const Stream &stream) {
  std::vector<Operation> &operations = image.streams[size_t(stream.engine)];
  begun = 0;
  std::span<const std::byte> bytes = stream.bytes;
  while (!bytes.empty()) {
    Expected<Record> record = decodeRecord(bytes);
    if (!record)
      return record.error();
    const isa::Instruction &inst = record->inst;
    const isa::InstDesc &desc = inst.desc();
    const Binding binding = bindingOf(inst.opcode);

    Operation op;
    op.run = binding.run;
    binding.storeArgs(inst, op);
    op.opcode = inst.opcode;
    op.engine = stream.engine;
    op.operands = uint8_t(desc.operands.size());
    op.places = placesOf(inst, op.operands);
    op.shifts = shiftsOf(inst, op.operands);
    op.indices = indicesOf(inst, op.places, op.operands);
    op.loops = uint8_t(open.size());
    for (unsigned i = 0; i < op.operands; ++i)
      if (desc.operands[i].isOutput && inst.operands[i].present())
        op.outputs |= 1u << i;
    op.notesOwnWrites = inst.opcode == isa::Opcode::NcMatmul;
    for (const isa::OperandDesc &operand : desc.operands)
      op.notesOwnWrites |= operand.keepsOld;
    op.sync = record->sync;
    op.index = uint32_t(operations.size());
    op.order = record->order;
    op.location = record->location;
    if (desc.isObserver)
      image.printShapes[op.order] = printShape(inst);
    if (desc.isTransfer)
      op.transfer = planTransfer(op, uint32_t(inst.word("ring")));
    else
      findStaging(op);
    if (op.isLoopEdge())
      passEdge(inst, op);
    operations.push_back(op);
  }
  return Status::ok();
}

Expected<std::unique_ptr<Image>> kilnrt::decodeImage(const Program &program) {
  auto image = std::make_unique<Image>(program);
  image->info.kernel = program.kernel;
  image->info.flags = program.flags;
  image->info.tensors = program.tensors;
  image->info.constants = program.constants;
  image->info.files = program.files;
  image->info.locations = program.locations;
  image->info.texts = program.texts;
  image->accessCounts.resize(program.tensors.size());

  for (uint32_t t = 0; t < program.tensors.size(); ++t) {
    const TensorInfo &info = program.tensors[t];
    auto collect = [&](std::vector<uint32_t> &list) {
      list.resize(std::max<size_t>(list.size(), info.index + 1), kNone);
      list[info.index] = t;
    };
    if (info.role == TensorRole::Input)
      collect(image->inputs);
    if (info.role == TensorRole::Output)
      collect(image->outputs);
  }

  Decoder decoder(*image);
  for (const Stream &stream : program.streams)
    if (Status status = decoder.decodeStream(stream); !status)
      return status.error();
  for (uint32_t t = 0; t < program.tensors.size(); ++t)
    if (program.tensors[t].loop != kNone)
      image->loops[program.tensors[t].loop].tensors.push_back(t);
  return image;
}
