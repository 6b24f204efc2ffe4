//===- ProgramFacts.cpp - what a program's streams execute, counted ---------------------------===//

#include "ProgramFacts.h"

#include "kiln/ISA/Args.h"

using namespace kiln;
using namespace kiln::test;
using isa::Opcode;

namespace {

void countTraffic(const isa::Instruction &inst, const kilnrt::Program &program, int64_t executions,
                  ProgramFacts &facts) {
  const auto operands = inst.desc().operands;
  for (size_t i = 0; i < operands.size(); ++i) {
    const isa::Access &access = inst.operands[i];
    if (!access.present() || program.tensors[access.tensor].memory != isa::Memory::Hbm)
      continue;
    const int64_t bytes = access.elements() * int64_t(isa::bytesOf(access.dtype)) * executions;
    (operands[i].isOutput ? facts.tensors[access.tensor].writtenBytes
                          : facts.tensors[access.tensor].readBytes) += bytes;
    (operands[i].isOutput ? facts.writtenBytes : facts.readBytes) += bytes;
  }
}

void countStream(const std::vector<kilnrt::Record> &records, const kilnrt::Program &program,
                 ProgramFacts &facts) {
  std::vector<int64_t> executions{1};
  for (const kilnrt::Record &record : records) {
    const isa::Instruction &inst = record.inst;
    if (inst.opcode == Opcode::LoopBegin) {
      executions.push_back(executions.back() * isa::LoopBeginArgs(inst).tripCount);
      continue;
    }
    if (inst.opcode == Opcode::LoopEnd) {
      executions.pop_back();
      continue;
    }
    facts.instructions += executions.back();
    if (inst.opcode == Opcode::SemaphoreWait)
      facts.waits += executions.back();
    if (inst.desc().isTransfer)
      facts.transfers += executions.back();
    countTraffic(inst, program, executions.back(), facts);
  }
}

} // namespace

kilnrt::Expected<ProgramFacts> test::factsOf(const kilnrt::Program &program) {
  ProgramFacts facts;
  facts.tensors.resize(program.tensors.size());
  for (const kilnrt::Stream &stream : program.streams) {
    auto records = kilnrt::decodeStream(stream);
    if (!records)
      return records.error();
    countStream(*records, program, facts);
  }
  for (const kilnrt::TensorInfo &tensor : program.tensors)
    if (tensor.memory == isa::Memory::Sbuf)
      facts.sbufEnd = std::max(facts.sbufEnd, int64_t(tensor.byte) + tensor.freeBytes());
  return facts;
}
