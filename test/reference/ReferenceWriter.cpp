//===- ReferenceWriter.cpp - programs that fill tensors, run instructions and read them out ---===//
//
//===------------------------------------------------------------------------------------------===//

#include "ReferenceWriter.h"

#include <algorithm>

namespace kiln::reference {

using isa::Engine;
using isa::Memory;
using isa::Opcode;
using kilnrt::TensorRole;

ProgramWriter::ProgramWriter() {
  program.kernel = "trial";
  program.texts = {"", "x = ", "a longer text"};
}

uint32_t ProgramWriter::addTensor(Memory memory, isa::DType dtype,
                                  const std::vector<int64_t> &shape) {
  kilnrt::TensorInfo info;
  info.name = "t" + std::to_string(program.tensors.size());
  info.memory = memory;
  info.dtype = dtype;
  info.shape = shape;
  if (memory != Memory::Hbm) {
    constexpr uint64_t kAlign = isa::machine.psumMinAlign;
    uint64_t &next = nextByte[memory == Memory::Psum];
    info.byte = next;
    next += (uint64_t(info.freeBytes()) + kAlign - 1) / kAlign * kAlign;
  }
  program.tensors.push_back(info);
  return uint32_t(program.tensors.size() - 1);
}

isa::Access ProgramWriter::whole(uint32_t tensor) const {
  const kilnrt::TensorInfo &info = program.tensors[tensor];
  isa::Access access;
  access.tensor = tensor;
  access.dtype = info.dtype;
  access.rank = 1;
  access.step[0] = 1;
  access.num[0] = info.shape.back();
  access.partitionCount = info.shape.size() > 1 ? uint32_t(info.shape.front()) : 1;
  access.rowStep = info.memory == Memory::Hbm ? info.shape.back() : 0;
  return access;
}

void ProgramWriter::copy(Opcode opcode, Engine engine, uint32_t to, uint32_t from) {
  isa::Instruction inst = isa::makeInstruction(opcode);
  inst.engine = engine;
  inst.operands[isa::DmaCopyArgs::dst] = whole(to);
  inst.operands[isa::DmaCopyArgs::src] = whole(from);
  for (isa::Access &access : inst.operands)
    if (access.dtype == isa::DType::Float8E4M3FN && opcode == Opcode::TensorCopy)
      access.dtype = isa::DType::UInt8; // no engine takes it, but its bits
  add(inst);
}

uint32_t ProgramWriter::tensorWith(const InstanceTensor &tensor, Bytes data) {
  uint32_t source = addTensor(Memory::Hbm, tensor.dtype, tensor.shape);
  program.tensors[source].role = TensorRole::Constant;
  program.tensors[source].index = uint32_t(program.constants.size());
  program.constants.push_back({std::move(data)});
  if (tensor.memory == Memory::Psum) { // DMA does not reach it
    uint32_t between = addTensor(Memory::Sbuf, tensor.dtype, tensor.shape);
    copy(Opcode::DmaCopy, Engine::Sync, between, source);
    source = between;
  }
  uint32_t to = addTensor(tensor.memory, tensor.dtype, tensor.shape);
  bool isPsum = tensor.memory == Memory::Psum;
  copy(isPsum ? Opcode::TensorCopy : Opcode::DmaCopy, isPsum ? Engine::Vector : Engine::Sync, to,
       source);
  return to;
}

void ProgramWriter::add(const isa::Instruction &inst) {
  kilnrt::Record record;
  record.inst = inst;
  record.order = order++;
  auto at = std::lower_bound(
      program.streams.begin(), program.streams.end(), inst.engine,
      [](const kilnrt::Stream &stream, Engine engine) { return stream.engine < engine; });
  if (at == program.streams.end() || at->engine != inst.engine)
    at = program.streams.insert(at, kilnrt::Stream{inst.engine, {}});
  kilnrt::encodeRecord(record, at->bytes);
}

void ProgramWriter::readOut(uint32_t tensor) {
  const kilnrt::TensorInfo info = program.tensors[tensor];
  uint32_t from = tensor;
  if (info.memory == Memory::Psum) {
    from = addTensor(Memory::Sbuf, info.dtype, info.shape);
    copy(Opcode::TensorCopy, Engine::Vector, from, tensor);
  }
  uint32_t out = addTensor(Memory::Hbm, info.dtype, info.shape);
  program.tensors[out].role = TensorRole::Output;
  program.tensors[out].index = uint32_t(outputCount++);
  copy(Opcode::DmaCopy, Engine::Sync, out, from);
}

} // namespace kiln::reference
