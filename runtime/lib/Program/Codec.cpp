//===- Codec.cpp - records to bytes and back --------------------------------------------------===//
//
// Driven by the instruction table alone: nothing here names an instruction.
// The encoding is canonical: each record has one, and the decoder takes no
// other, so that comparing bytes compares programs.
//
//===------------------------------------------------------------------------------------------===//

#include "Layout.h"
#include "Text.h"
#include "kilnrt/Program.h"

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <limits>
#include <numeric>

namespace kilnrt {

using isa::Access;
using isa::FieldDesc;
using isa::FieldKind;
using isa::InstDesc;
using layout::kAccessBytes;
using layout::kHeaderBytes;

//---- floats -------------------------------------------------------------===//

namespace layout {

namespace {
constexpr uint64_t kExponentMask = uint64_t{0x7FF} << 52;
constexpr unsigned kDropped = 52 - 23; // mantissa bits a float does not have
} // namespace

std::optional<uint32_t> narrowBits(int64_t bits) {
  const auto wide = std::bit_cast<uint64_t>(bits);
  const auto value = std::bit_cast<double>(bits);
  if (std::isnan(value)) {
    const uint64_t mantissa = wide & ~(kExponentMask | uint64_t{1} << 63);
    if (mantissa & ((uint64_t{1} << kDropped) - 1))
      return std::nullopt;
    return uint32_t(wide >> 63 << 31 | 0x7F800000u | mantissa >> kDropped);
  }
  if (std::isfinite(value) && std::fabs(value) > double(std::numeric_limits<float>::max()))
    return std::nullopt;
  const auto narrow = float(value);
  if (double(narrow) != value)
    return std::nullopt;
  return std::bit_cast<uint32_t>(narrow);
}

int64_t widenBits(uint32_t bits) {
  const auto value = std::bit_cast<float>(bits);
  if (!std::isnan(value))
    return std::bit_cast<int64_t>(double(value));
  const uint64_t sign = uint64_t{bits >> 31} << 63;
  const uint64_t mantissa = uint64_t{bits & 0x7FFFFFu} << kDropped;
  return std::bit_cast<int64_t>(sign | kExponentMask | mantissa);
}

} // namespace layout

namespace {

//---- bytes --------------------------------------------------------------===//

template <typename T>
void put(std::byte *at, T value) {
  auto bits = static_cast<std::make_unsigned_t<T>>(value);
  for (size_t i = 0; i < sizeof(T); ++i)
    at[i] = std::byte(bits >> (8 * i) & 0xFF);
}

template <typename T>
T get(const std::byte *at) {
  std::make_unsigned_t<T> bits = 0;
  for (size_t i = 0; i < sizeof(T); ++i)
    bits |= std::make_unsigned_t<T>(std::make_unsigned_t<T>(at[i]) << (8 * i));
  return static_cast<T>(bits);
}

constexpr std::string_view kMalformed = "X-06";

Diagnostic malformed(std::string message) {
  return makeError(Fault::User, std::move(message), {}, std::string(kMalformed));
}

Diagnostic broken(const InstDesc &desc, std::string what) {
  return malformed(fmt::format("'{}': {}", desc.mnemonic, what));
}

Diagnostic unknownOpcode(unsigned opcode) {
  return malformed(fmt::format("unknown opcode {:#06x}", opcode));
}

bool allZero(const std::byte *from, const std::byte *to) {
  for (; from != to; ++from)
    if (*from != std::byte{0})
      return false;
  return true;
}

//---- field values -------------------------------------------------------===//

/// Why `word` is not a value of `field`; empty when it is one.
std::string fieldFault(const FieldDesc &field, int64_t word) {
  auto fault = [&](auto value, std::string_view allowed) {
    return fmt::format("field '{}' holds {}, {}", field.name, value, allowed);
  };
  switch (field.kind) {
  case FieldKind::Bool:
    return word == 0 || word == 1 ? "" : fault(word, "a bool is 0 or 1");
  case FieldKind::Enum:
    if (word >= 0 && word <= UINT8_MAX && text::hasCase(field.cases, uint32_t(word)))
      return {};
    return fault(word, "which is no value of its enum");
  case FieldKind::I32:
    return word == int32_t(word) ? "" : fault(word, "which does not fit 32 bits");
  case FieldKind::U32:
    return word == uint32_t(word) ? "" : fault(word, "which does not fit 32 bits without a sign");
  case FieldKind::F32:
    return layout::narrowBits(word) ? "" : fault(isa::realOf(word), "which is no float32");
  case FieldKind::Register:
    if (word == uint16_t(word) && !(field.required && word == isa::kNoRegister))
      return {};
    return fault(word, "which is no register");
  case FieldKind::F64:
    break;
  }
  return {};
}

void putValue(std::byte *at, FieldKind kind, int64_t word) {
  switch (kind) {
  case FieldKind::Bool:
  case FieldKind::Enum:
    return put(at, uint8_t(word));
  case FieldKind::Register:
    return put(at, uint16_t(word));
  case FieldKind::I32:
  case FieldKind::U32:
    return put(at, uint32_t(word));
  case FieldKind::F32:
    return put(at, layout::narrowBits(word).value_or(0));
  case FieldKind::F64:
    return put(at, word);
  }
}

int64_t getValue(const std::byte *at, FieldKind kind) {
  switch (kind) {
  case FieldKind::Bool:
  case FieldKind::Enum:
    return get<uint8_t>(at);
  case FieldKind::Register:
    return get<uint16_t>(at);
  case FieldKind::I32:
    return get<int32_t>(at);
  case FieldKind::U32:
    return get<uint32_t>(at);
  case FieldKind::F32:
    return layout::widenBits(get<uint32_t>(at));
  case FieldKind::F64:
    break;
  }
  return get<int64_t>(at);
}

//---- accesses -----------------------------------------------------------===//

/// Why a present access has no encoding; empty when it has one.
std::string accessFault(std::string_view operand, const Access &access) {
  auto fault = [&](std::string what) { return fmt::format("operand '{}' {}", operand, what); };
  if (!text::hasCase(isa::dtypeCases(), uint32_t(access.dtype)))
    return fault(fmt::format("has dtype number {}, which the table lacks", unsigned(access.dtype)));
  if (access.rank > isa::kMaxFreeDims)
    return fault(fmt::format("has {} free dims, an access holds at most {}", access.rank,
                             isa::kMaxFreeDims));
  for (unsigned i = access.rank; i < isa::kMaxFreeDims; ++i)
    if (access.step[i] != 0 || access.num[i] != 0)
      return fault(fmt::format("has {} free dims, but free dim {} is not zero", access.rank, i));
  if (access.indexing > isa::Indexing::Vector)
    return fault(
        fmt::format("is indexed in way {}, which there is not", unsigned(access.indexing)));
  if (!access.isIndexed() && (access.indexStep != 0 || access.indexExtent != 0))
    return fault("is not indexed, but has a step or an extent for it");
  if ((access.indexRegister != isa::kNoRegister) != (access.indexing == isa::Indexing::Scalar))
    return fault("is indexed by a register, or has one, but not both");
  return {};
}

/// Bytes behind the slots for the loop steps and indices of all operands.
size_t extraBytes(const isa::Instruction &inst) {
  size_t steps = 0, indices = 0;
  for (const Access &access : inst.operands) {
    steps += access.loopSteps();
    indices += access.isIndexed();
  }
  return steps * layout::kLoopStepBytes + indices * layout::kIndexBytes;
}

void putAccess(std::byte *at, const Access &access) {
  put(at, access.tensor);
  put(at + 4, uint8_t(access.dtype));
  put(at + 5, access.rank);
  put(at + 6, uint8_t(access.loopSteps()));
  put(at + 7, uint8_t(access.indexing));
  put(at + 8, access.partitionStart);
  put(at + 12, access.partitionCount);
  put(at + 16, access.rowStep);
  put(at + 24, access.offset);
  for (unsigned i = 0; i < isa::kMaxFreeDims; ++i) {
    put(at + 32 + 8 * i, access.step[i]);
    put(at + 32 + 8 * isa::kMaxFreeDims + 8 * i, access.num[i]);
  }
}

Access getAccess(const std::byte *at) {
  Access access;
  access.tensor = get<uint32_t>(at);
  access.dtype = isa::DType(get<uint8_t>(at + 4));
  access.rank = get<uint8_t>(at + 5);
  access.indexing = isa::Indexing(get<uint8_t>(at + 7));
  access.partitionStart = get<uint32_t>(at + 8);
  access.partitionCount = get<uint32_t>(at + 12);
  access.rowStep = get<int64_t>(at + 16);
  access.offset = get<int64_t>(at + 24);
  for (unsigned i = 0; i < isa::kMaxFreeDims; ++i) {
    access.step[i] = get<int64_t>(at + 32 + 8 * i);
    access.num[i] = get<int64_t>(at + 32 + 8 * isa::kMaxFreeDims + 8 * i);
  }
  return access;
}

//---- parts of a record --------------------------------------------------===//

Record getHeader(const std::byte *at, uint8_t &present) {
  Record record;
  record.inst.opcode = isa::Opcode(get<uint16_t>(at));
  record.inst.engine = isa::Engine(get<uint8_t>(at + 2));
  present = get<uint8_t>(at + 3);
  record.sync.waitSemaphore = get<uint16_t>(at + 4);
  record.sync.updateSemaphore = get<uint16_t>(at + 6);
  record.sync.waitValue = get<uint32_t>(at + 8);
  record.sync.updateValue = get<uint32_t>(at + 12);
  record.order = get<uint32_t>(at + 16);
  record.location = get<uint32_t>(at + 20);
  return record;
}

void putHeader(std::byte *at, const Record &record, uint8_t present) {
  put(at, uint16_t(record.inst.opcode));
  put(at + 2, uint8_t(record.inst.engine));
  put(at + 3, present);
  put(at + 4, record.sync.waitSemaphore);
  put(at + 6, record.sync.updateSemaphore);
  put(at + 8, record.sync.waitValue);
  put(at + 12, record.sync.updateValue);
  put(at + 16, record.order);
  put(at + 20, record.location);
}

Status decodeFields(const std::byte *at, const InstDesc &desc, isa::Instruction &inst) {
  std::string fault;
  size_t end = kHeaderBytes; // first byte no value has claimed
  auto checkGap = [&](size_t next) {
    if (fault.empty() && !allZero(at + end, at + next))
      fault = fmt::format("padding byte {} is not zero", end);
  };
  size_t slots = layout::visitFields(desc, [&](const FieldDesc &field, size_t first) {
    checkGap(first);
    const size_t bytes = layout::valueBytes(field.kind);
    for (unsigned i = 0; i < field.words; ++i) {
      int64_t word = getValue(at + first + i * bytes, field.kind);
      if (fault.empty())
        fault = fieldFault(field, word);
      inst.fields[field.word + i] = word;
    }
    end = first + bytes * field.words;
  });
  checkGap(slots);
  return fault.empty() ? Status::ok() : broken(desc, std::move(fault));
}

/// Reads the indices of the operands that are indexed.
Status decodeIndices(const std::byte *at, const InstDesc &desc, isa::Instruction &inst) {
  for (size_t i = 0; i < desc.operands.size(); ++i) {
    Access &access = inst.operands[i];
    if (!access.isIndexed())
      continue;
    if (!allZero(at + sizeof(uint16_t), at + 8))
      return broken(desc, fmt::format("the index of operand '{}' has padding that is not zero",
                                      desc.operands[i].name));
    access.indexRegister = get<uint16_t>(at);
    access.indexStep = get<int64_t>(at + 8);
    access.indexExtent = get<int64_t>(at + 16);
    at += layout::kIndexBytes;
  }
  return Status::ok();
}

/// Reads the slots at the start of `bytes`, the loop steps and the indices behind them; `bytes`
/// then starts at the next record.
Status decodeOperands(std::span<const std::byte> &bytes, const InstDesc &desc, uint8_t present,
                      isa::Instruction &inst) {
  const std::byte *at = bytes.data();
  std::array<uint8_t, isa::kMaxOperands> loopSteps{};
  size_t indexed = 0;
  if (present >> desc.operands.size())
    return broken(desc, fmt::format("operand mask {:#x} names operands the "
                                    "instruction lacks, it has {}",
                                    present, desc.operands.size()));
  for (size_t i = 0; i < desc.operands.size(); ++i, at += kAccessBytes) {
    const std::string_view name = desc.operands[i].name;
    if (!(present >> i & 1)) {
      if (!allZero(at, at + kAccessBytes))
        return broken(desc, fmt::format("operand '{}' is absent, but its bytes are not "
                                        "zero",
                                        name));
      continue;
    }
    loopSteps[i] = get<uint8_t>(at + 6);
    if (loopSteps[i] > isa::kMaxLoopDepth)
      return broken(desc, fmt::format("operand '{}' moves with {} loops, at most {} stand inside "
                                      "one another",
                                      name, loopSteps[i], isa::kMaxLoopDepth));
    Access access = getAccess(at);
    if (!access.present())
      return broken(desc, fmt::format("operand '{}' is present, but names no tensor", name));
    indexed += access.isIndexed();
    inst.operands[i] = access;
  }
  const size_t slots = desc.operands.size() * kAccessBytes;
  const size_t steps = size_t(std::accumulate(loopSteps.begin(), loopSteps.end(), 0));
  if (bytes.size() - slots < steps * layout::kLoopStepBytes)
    return broken(desc, fmt::format("truncated record: {} bytes are left for {} loop steps of {}",
                                    bytes.size() - slots, steps, layout::kLoopStepBytes));
  for (size_t i = 0; i < desc.operands.size(); ++i) {
    for (unsigned l = 0; l < loopSteps[i]; ++l, at += layout::kLoopStepBytes)
      inst.operands[i].loopStep[l] = get<int64_t>(at);
    if (inst.operands[i].loopSteps() != loopSteps[i])
      return broken(desc,
                    fmt::format("the last loop step of operand '{}' is 0", desc.operands[i].name));
  }
  const size_t before = slots + steps * layout::kLoopStepBytes;
  if (bytes.size() - before < indexed * layout::kIndexBytes)
    return broken(desc, fmt::format("truncated record: {} bytes are left for {} indices of {}",
                                    bytes.size() - before, indexed, layout::kIndexBytes));
  if (Status status = decodeIndices(at, desc, inst); !status)
    return status;
  for (size_t i = 0; i < desc.operands.size(); ++i)
    if (inst.operands[i].present())
      if (std::string fault = accessFault(desc.operands[i].name, inst.operands[i]); !fault.empty())
        return broken(desc, std::move(fault));
  bytes = bytes.subspan(before + indexed * layout::kIndexBytes);
  return Status::ok();
}

} // namespace

//---- interface ----------------------------------------------------------===//

size_t recordBytes(isa::Opcode opcode) {
  const InstDesc *desc = isa::findInstruction(opcode);
  return desc ? layout::recordBytes(*desc) : 0;
}

size_t recordBytes(const isa::Instruction &inst) {
  return recordBytes(inst.opcode) + extraBytes(inst);
}

Status checkEncodable(const Record &record) {
  const isa::Instruction &inst = record.inst;
  const InstDesc *desc = isa::findInstruction(inst.opcode);
  if (!desc)
    return unknownOpcode(unsigned(inst.opcode));
  if (!text::hasCase(isa::engineCases(), uint32_t(inst.engine)))
    return broken(*desc, fmt::format("unknown engine {}", unsigned(inst.engine)));
  std::array<bool, isa::kMaxFieldWords> used{};
  for (const FieldDesc &field : desc->fields)
    for (unsigned i = field.word; i < unsigned(field.word) + field.words; ++i) {
      used[i] = true;
      if (auto fault = fieldFault(field, inst.fields[i]); !fault.empty())
        return broken(*desc, std::move(fault));
    }
  for (unsigned i = 0; i < isa::kMaxFieldWords; ++i)
    if (!used[i] && inst.fields[i] != 0)
      return broken(*desc, fmt::format("field word {} belongs to no field, but "
                                       "is not zero",
                                       i));
  for (unsigned i = 0; i < isa::kMaxOperands; ++i) {
    const Access &access = inst.operands[i];
    const bool exists = i < desc->operands.size();
    if (!access.present() || !exists) {
      if (access != Access{})
        return broken(*desc, fmt::format("operand {} is absent, but not at its "
                                         "defaults",
                                         i));
      continue;
    }
    if (auto fault = accessFault(desc->operands[i].name, access); !fault.empty())
      return broken(*desc, std::move(fault));
  }
  return Status::ok();
}

void encodeRecord(const Record &record, std::vector<std::byte> &out) {
  assert(checkEncodable(record) && "the record has no encoding");
  const isa::Instruction &inst = record.inst;
  const InstDesc &desc = inst.desc();
  const size_t start = out.size();
  const size_t base = layout::recordBytes(desc);
  out.resize(start + base + extraBytes(inst));
  std::byte *at = out.data() + start;
  size_t slots = layout::visitFields(desc, [&](const FieldDesc &field, size_t first) {
    const size_t bytes = layout::valueBytes(field.kind);
    for (unsigned i = 0; i < field.words; ++i)
      putValue(at + first + i * bytes, field.kind, inst.fields[field.word + i]);
  });
  uint8_t present = 0;
  static_assert(isa::kMaxOperands <= 8, "the operand mask has 8 bits");
  std::byte *steps = at + base;
  for (size_t i = 0; i < desc.operands.size(); ++i)
    if (const Access &access = inst.operands[i]; access.present()) {
      present |= uint8_t(1u << i);
      putAccess(at + slots + i * kAccessBytes, access);
      for (unsigned l = 0; l < access.loopSteps(); ++l, steps += layout::kLoopStepBytes)
        put(steps, access.loopStep[l]);
    }
  for (const Access &access : inst.operands)
    if (access.isIndexed()) {
      put(steps, access.indexRegister);
      put(steps + 8, access.indexStep);
      put(steps + 16, access.indexExtent);
      steps += layout::kIndexBytes;
    }
  putHeader(at, record, present);
}

Expected<Record> decodeRecord(std::span<const std::byte> &bytes) {
  if (bytes.size() < sizeof(uint16_t))
    return malformed(fmt::format("truncated record: {} bytes are left, an "
                                 "opcode takes {}",
                                 bytes.size(), sizeof(uint16_t)));
  const auto opcode = get<uint16_t>(bytes.data());
  const InstDesc *desc = isa::findInstruction(isa::Opcode(opcode));
  if (!desc)
    return unknownOpcode(opcode);
  const size_t size = layout::recordBytes(*desc);
  if (bytes.size() < size)
    return broken(*desc, fmt::format("truncated record: {} bytes are left, the "
                                     "instruction takes {}",
                                     bytes.size(), size));
  const std::byte *at = bytes.data();
  uint8_t present = 0;
  Record record = getHeader(at, present);
  if (!text::hasCase(isa::engineCases(), uint32_t(record.inst.engine)))
    return broken(*desc, fmt::format("unknown engine {}", unsigned(record.inst.engine)));
  if (Status status = decodeFields(at, *desc, record.inst); !status)
    return status.error();
  std::span<const std::byte> rest = bytes.subspan(size - desc->operands.size() * kAccessBytes);
  if (Status status = decodeOperands(rest, *desc, present, record.inst); !status)
    return status.error();
  bytes = rest;
  return record;
}

Expected<std::vector<Record>> decodeStream(const Stream &stream) {
  std::vector<Record> records;
  std::span<const std::byte> rest = stream.bytes;
  while (!rest.empty()) {
    Expected<Record> record = decodeRecord(rest);
    if (!record) {
      Diagnostic error = record.error();
      error.notes.push_back({text::placeInStream(stream.engine, records.size(), {}), {}});
      return error;
    }
    records.push_back(*record);
  }
  return records;
}

} // namespace kilnrt
