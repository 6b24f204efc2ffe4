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
  void findStaging(Operation &op);
  uint32_t planTransfer(const Operation &op, const isa::DmaCopyArgs &args);

  Image &image;
};

} // namespace

const Place *Decoder::placesOf(const isa::Instruction &inst, unsigned count) {
  constexpr size_t chunkPlaces = 4096;
  auto &chunks = image.placeChunks;
  if (chunks.empty() || chunks.back().size() + count > chunks.back().capacity()) {
    chunks.emplace_back();
    chunks.back().reserve(chunkPlaces);
  }
  const size_t first = chunks.back().size();
  for (unsigned i = 0; i < count; ++i) {
    chunks.back().push_back(image.layout.place(inst.operands[i]));
    if (inst.operands[i].present())
      ++image.accessCounts[inst.operands[i].tensor];
  }
  return chunks.back().data() + first;
}

/// An input that shares bytes with an output is read in full before the output
/// is written, unless both are the same elements: then each is read before it
/// is written anyway.
void Decoder::findStaging(Operation &op) {
  const bool isElementwise = op.opcode != isa::Opcode::NcTranspose;
  for (unsigned out = 0; out < op.operands; ++out) {
    if (!(op.outputs >> out & 1))
      continue;
    for (unsigned in = 0; in < op.operands; ++in)
      if (!(op.outputs >> in & 1) && mayOverlap(op.places[out], op.places[in]) &&
          !(isElementwise && sameElements(op.places[out], op.places[in])))
        op.staged |= 1u << in;
  }
}

uint32_t Decoder::planTransfer(const Operation &op, const isa::DmaCopyArgs &args) {
  TransferPlan plan;
  plan.dst = op.places[isa::DmaCopyArgs::dst];
  plan.src = op.places[isa::DmaCopyArgs::src];
  plan.ring = args.ring;
  plan.isStaged = mayOverlap(plan.dst, plan.src);

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
    for (unsigned more : {0, 1}) {
      const uint32_t count = plan.rows / uint32_t(machine.dmaEngines) + more;
      if (count == 0 || count > plan.rows)
        continue;
      plan.dstRows[more] = image.layout.patternOfRows(plan.dst, count);
      plan.srcRows[more] = image.layout.patternOfRows(plan.src, count);
    }
  image.transfers.push_back(plan);
  return uint32_t(image.transfers.size() - 1);
}

RowRange kilnrt::shareOf(const TransferPlan &plan, unsigned k) {
  const uint64_t engines = machine.dmaEngines;
  const uint32_t first = uint32_t(k * plan.rows / engines);
  const uint32_t end = uint32_t((k + 1) * plan.rows / engines);
  return {first, end - first};
}

Status Decoder::decodeStream(const Stream &stream) {
  std::vector<Operation> &operations = image.streams[size_t(stream.engine)];
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
    for (unsigned i = 0; i < op.operands; ++i)
      if (desc.operands[i].isOutput && inst.operands[i].present())
        op.outputs |= 1u << i;
    op.notesOwnWrites = inst.opcode == isa::Opcode::NcMatmul;
    op.sync = record->sync;
    op.index = uint32_t(operations.size());
    op.order = record->order;
    op.location = record->location;
    if (inst.opcode == isa::Opcode::DmaCopy)
      op.transfer = planTransfer(op, op.argsAs<isa::DmaCopyArgs>());
    else
      findStaging(op);
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
  return image;
}
