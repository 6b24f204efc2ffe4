//===- ProgramBuilder.cpp - small programs by hand --------------------------------------------===//

#include "ProgramBuilder.h"

#include <algorithm>

using namespace kilnrt;
using namespace kilnrt::test;

uint32_t ProgramBuilder::hbm(std::string name, DType dtype, std::vector<int64_t> shape,
                             TensorRole role) {
  TensorInfo info;
  info.name = std::move(name);
  info.dtype = dtype;
  info.role = role;
  info.shape = std::move(shape);
  info.location = location;
  if (role != TensorRole::Internal)
    info.index = uint32_t(std::count_if(program.tensors.begin(), program.tensors.end(),
                                        [&](const TensorInfo &t) { return t.role == role; }));
  program.tensors.push_back(std::move(info));
  return uint32_t(program.tensors.size() - 1);
}

uint32_t ProgramBuilder::onChip(std::string name, Memory memory, DType dtype,
                                std::vector<int64_t> shape, std::optional<uint64_t> byte,
                                uint32_t partition) {
  TensorInfo info;
  info.name = std::move(name);
  info.memory = memory;
  info.dtype = dtype;
  info.shape = std::move(shape);
  info.partition = partition;
  info.location = location;
  const uint64_t align = memory == Memory::Psum ? 2048 : 64;
  uint64_t &next = nextByte[unsigned(memory)];
  info.byte = byte.value_or(next);
  next = std::max(next, (info.byte + uint64_t(info.freeBytes()) + align - 1) / align * align);
  program.tensors.push_back(std::move(info));
  return uint32_t(program.tensors.size() - 1);
}

isa::Access ProgramBuilder::all(uint32_t tensor) const {
  const TensorInfo &info = program.tensors[tensor];
  isa::Access access;
  access.tensor = tensor;
  access.dtype = info.dtype;
  access.partitionCount = uint32_t(info.shape[0]);
  int64_t step = 1;
  for (size_t i = info.shape.size(); i > 1; --i)
    step *= info.shape[i - 1];
  access.rowStep = info.memory == Memory::Hbm ? step : 0;
  access.rank = uint8_t(std::max<size_t>(info.shape.size() - 1, 1));
  access.num[0] = access.step[0] = 1;
  for (size_t i = 1; i < info.shape.size(); ++i) {
    step /= info.shape[i];
    access.step[i - 1] = step;
    access.num[i - 1] = info.shape[i];
  }
  return access;
}

static void setDims(isa::Access &access, const std::vector<Dim> &dims) {
  access.rank = uint8_t(dims.size());
  for (size_t i = 0; i < dims.size(); ++i) {
    access.step[i] = dims[i].step;
    access.num[i] = dims[i].num;
  }
}

isa::Access ProgramBuilder::at(uint32_t tensor, uint32_t firstPartition, uint32_t partitions,
                               int64_t offset, std::vector<Dim> dims) const {
  isa::Access access;
  access.tensor = tensor;
  access.dtype = program.tensors[tensor].dtype;
  access.partitionStart = firstPartition;
  access.partitionCount = partitions;
  access.offset = offset;
  setDims(access, dims);
  return access;
}

isa::Access ProgramBuilder::rows(uint32_t tensor, int64_t offset, uint32_t rows, int64_t rowStep,
                                 std::vector<Dim> dims) const {
  isa::Access access = at(tensor, 0, rows, offset, std::move(dims));
  access.rowStep = rowStep;
  return access;
}

Record &ProgramBuilder::add(Engine engine, Opcode opcode, std::vector<isa::Access> operands) {
  auto record = std::make_unique<Record>();
  record->inst = isa::makeInstruction(opcode);
  record->inst.engine = engine;
  std::copy(operands.begin(), operands.end(), record->inst.operands.begin());
  record->order = nextOrder++;
  record->location = location;
  records[engine].push_back(std::move(record));
  return *records[engine].back();
}

ProgramBuilder &ProgramBuilder::line(uint32_t line) {
  program.locations.push_back({0, line, kNone});
  location = uint32_t(program.locations.size() - 1);
  return *this;
}

Record &ProgramBuilder::dma(isa::Access dst, isa::Access src, uint32_t ring) {
  Record &record = add(Engine::Sync, Opcode::DmaCopy, {dst, src});
  record.inst.setWord("ring", ring);
  return record;
}

void ProgramBuilder::serialise() {
  std::map<uint32_t, Record *> inOrder;
  for (auto &[engine, list] : records)
    for (auto &record : list)
      inOrder[record->order] = record.get();
  uint32_t value = 0;
  for (auto &[order, record] : inOrder) {
    const bool isDma = record->inst.desc().isTransfer;
    record->sync = {};
    if (record->inst.opcode == Opcode::LoopBegin || record->inst.opcode == Opcode::LoopEnd) {
      value = 0;
      continue;
    }
    if (value > 0)
      waitFor(*record, 0, value);
    raise(*record, 0, isDma ? 16 : 1);
    value += record->sync.updateValue;
  }
  program.flags.synchronised = true;
}

Program ProgramBuilder::finish() {
  program.streams.clear();
  for (auto &[engine, list] : records) {
    Stream stream{engine, {}};
    for (const auto &record : list)
      encodeRecord(*record, stream.bytes);
    program.streams.push_back(std::move(stream));
  }
  return program;
}
