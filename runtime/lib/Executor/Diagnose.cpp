//===- Diagnose.cpp - the words of faults in memory -------------------------------------------===//

#include "Diagnose.h"

using namespace kilnrt;

static std::string quoted(std::string_view text) { return "'" + std::string(text) + "'"; }

static std::string nameOf(const Image &image, uint32_t tensor) {
  const std::string &name = image.info.tensors[tensor].name;
  return quoted(name.empty() ? "tensor " + std::to_string(tensor) : name);
}

std::string kilnrt::operationText(const Operation &op) {
  return "instruction " + std::to_string(op.index) + " of the " +
         std::string(isa::name(op.engine)) + " stream, " + std::string(op.desc().mnemonic);
}

/// "sbuf partitions 0-127, bytes 2048-4095" of the tensor's memory, or "hbm
/// bytes 0-511 of 'x'".
static std::string rangeText(const Image &image, const Place &place) {
  const TensorInfo &info = image.info.tensors[place.tensor];
  const TensorPlace &where = image.layout.tensors()[place.tensor];
  auto span = [](int64_t first, int64_t last) {
    return std::to_string(first) + "-" + std::to_string(last);
  };
  if (!place.onChip)
    return "hbm bytes " + span(place.firstByte, place.endByte - 1) + " of " +
           nameOf(image, place.tensor);
  const int64_t partition = int64_t(info.partition) + place.partition - where.partition;
  const int64_t shift = int64_t(info.byte) - where.byte;
  return std::string(isa::name(info.memory)) + " partitions " +
         span(partition, partition + place.partitions() - 1) + ", bytes " +
         span(place.firstByte + shift, place.endByte - 1 + shift) + " (" +
         nameOf(image, place.tensor) + ")";
}

Diagnostic kilnrt::faultAt(const Image &image, const Operation &op, int operand, std::string rule,
                           std::string message, std::string help) {
  Diagnostic d = makeError(Fault::Check, std::move(message), std::move(help), std::move(rule));
  d.place = image.info.chain(op.location);
  std::string note = operationText(op);
  if (operand >= 0)
    note += ": operand " + quoted(op.desc().operands[operand].name) +
            (op.outputs >> operand & 1 ? " writes " : " reads ") +
            rangeText(image, op.places[operand]);
  d.notes.push_back({std::move(note), {}});
  return d;
}

static void addDeclaration(const Image &image, uint32_t tensor, Diagnostic &d) {
  kiln::CallChain chain = image.info.chain(image.info.tensors[tensor].location);
  if (!chain.empty())
    d.notes.push_back({nameOf(image, tensor) + " was declared here", std::move(chain)});
}

/// "(0, 96), partition 0, byte 384" or, in HBM, "(3, 448), byte 9984".
static std::string placeText(const TensorInfo &info, const UnwrittenByte &byte) {
  std::string text = elementText(info, byte.partition, byte.byte);
  if (info.memory != isa::Memory::Hbm)
    text += ", partition " + std::to_string(byte.partition);
  return text + ", byte " + std::to_string(byte.byte);
}

Diagnostic kilnrt::unwrittenRead(const Image &image, const Operation &op, unsigned operand,
                                 const UnwrittenByte &byte) {
  const uint32_t tensor = op.places[operand].tensor;
  const TensorInfo &info = image.info.tensors[tensor];
  const std::string name = nameOf(image, tensor);
  const std::string reader = std::string(op.desc().mnemonic) + " reads " + name;
  const std::string where = placeText(info, byte);
  Diagnostic d;
  switch (byte.kind) {
  case UnwrittenByte::Never:
    d = faultAt(image, op, int(operand), "M-08",
                reader + ", which was never written; the first unwritten element is " + where,
                "write " + name + " first: dma_copy, memset or a matmul");
    break;
  case UnwrittenByte::Partly:
    d = faultAt(image, op, int(operand), "M-09",
                reader + " where it was not written; the first unwritten element is " + where,
                "read only what was written, or clear " + name + " with memset first");
    break;
  case UnwrittenByte::Overwritten:
    d = faultAt(image, op, int(operand), "M-04",
                reader + " after " + nameOf(image, byte.other) +
                    " was written to the same memory; the first lost element is " + where,
                "place " + name + " and " + nameOf(image, byte.other) + " at different addresses");
    break;
  }
  addDeclaration(image, tensor, d);
  if (byte.kind == UnwrittenByte::Overwritten)
    addDeclaration(image, byte.other, d);
  return d;
}

Diagnostic kilnrt::unwrittenOutput(const Image &image, uint32_t tensor, const UnwrittenByte &byte) {
  const std::string name = nameOf(image, tensor);
  const bool isNever = byte.kind == UnwrittenByte::Never;
  Diagnostic d = makeError(
      Fault::Check,
      "output " + name + (isNever ? " was never written" : " was not written as a whole") +
          "; the first unwritten element is " + placeText(image.info.tensors[tensor], byte),
      "store every element of " + name + " before the kernel returns", isNever ? "M-08" : "M-09");
  d.place = image.info.chain(image.info.tensors[tensor].location);
  return d;
}

void kilnrt::addSchedule(Diagnostic &diagnostic, const Schedule &schedule) {
  if (schedule != Schedule::Program)
    diagnostic.notes.push_back({"schedule: " + scheduleText(schedule), {}});
}
