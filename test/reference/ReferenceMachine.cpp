//===- ReferenceMachine.cpp - what a program of the table means, instruction by instruction ---===//
//
//===------------------------------------------------------------------------------------------===//

#include "ReferenceMachine.h"

#include <algorithm>
#include <bit>

namespace kiln::reference {

using isa::LoopKind;
using isa::Memory;
using kilnrt::Record;
using kilnrt::Status;

namespace {

bool isOnChip(const MemoryTensor &tensor) { return tensor.info.memory != Memory::Hbm; }

kilnrt::Diagnostic error(std::string message) {
  return kilnrt::makeError(kilnrt::Fault::Usage, std::move(message));
}

} // namespace

//---- elements ------------------------------------------------------------------------------===//

Elements::Elements(MemoryTensor &tensor, const isa::Access &access, int64_t extraOffset)
    : tensor(&tensor), type(access.dtype), rowCount(access.partitionCount) {
  const int64_t size = isa::bytesOf(type);
  std::vector<int64_t> inRow{access.offset + extraOffset};
  for (unsigned dim = 0; dim < access.rank; ++dim) {
    std::vector<int64_t> next;
    for (int64_t start : inRow)
      for (int64_t i = 0; i < access.num[dim]; ++i)
        next.push_back(start + i * access.step[dim]);
    inRow = std::move(next);
  }
  for (size_t w = 0; w < rowCount; ++w) {
    int64_t row = isOnChip(tensor) ? int64_t(access.partitionStart + w) * tensor.info.freeBytes()
                                   : int64_t(w) * access.rowStep * size;
    for (int64_t element : inRow)
      places.push_back(size_t(row + element * size));
  }
}

uint32_t Elements::bits(size_t i) const {
  uint32_t bits = 0;
  for (unsigned b = 0; b < isa::bytesOf(type); ++b)
    bits |= uint32_t(tensor->bytes[places[i] + b]) << 8 * b;
  return bits;
}

std::vector<uint32_t> Elements::allBits() const {
  std::vector<uint32_t> all(size());
  for (size_t i = 0; i < all.size(); ++i)
    all[i] = bits(i);
  return all;
}

std::vector<Single> Elements::allSingles() const {
  std::vector<Single> all(size());
  for (size_t i = 0; i < all.size(); ++i)
    all[i] = widen(type, bits(i));
  return all;
}

void Elements::setBits(size_t i, uint32_t bits) {
  for (unsigned b = 0; b < isa::bytesOf(type); ++b)
    tensor->bytes[places[i] + b] = std::byte(bits >> 8 * b);
  if (!tensor->isSum.empty())
    tensor->isSum[places[i] / isa::machine.psumCellBytes] = false;
}

bool Elements::isSum(size_t i) const {
  return tensor->isSum[places[i] / isa::machine.psumCellBytes];
}
void Elements::setSum(size_t i) { tensor->isSum[places[i] / isa::machine.psumCellBytes] = true; }

//---- programs ------------------------------------------------------------------------------===//

Machine::Machine(const kilnrt::Program &program) : program(program) {
  for (const kilnrt::TensorInfo &info : program.tensors) {
    MemoryTensor tensor{info, {}, {}};
    int64_t rows = isOnChip(tensor) ? info.shape[0] : 1;
    tensor.bytes.resize(size_t(rows * info.freeBytes()));
    if (info.memory == Memory::Psum)
      tensor.isSum.resize(tensor.bytes.size() / isa::machine.psumCellBytes + 1);
    if (info.role == kilnrt::TensorRole::Constant)
      tensor.bytes = program.constants[info.index].data;
    tensors.push_back(std::move(tensor));
  }
}

std::vector<Bytes> Machine::outputs() const {
  std::vector<Bytes> all;
  for (const MemoryTensor &tensor : tensors) {
    if (tensor.info.role != kilnrt::TensorRole::Output)
      continue;
    all.resize(std::max<size_t>(all.size(), tensor.info.index + 1));
    all[tensor.info.index] = tensor.bytes;
  }
  return all;
}

Machine::Nodes Machine::nest(const std::vector<Record> &stream, size_t &next) const {
  Nodes nodes;
  while (next < stream.size()) {
    const Record &record = stream[next++];
    if (record.inst.opcode == isa::Opcode::LoopEnd)
      break;
    Node node;
    node.record = &record;
    node.isLoop = record.inst.opcode == isa::Opcode::LoopBegin;
    if (node.isLoop)
      node.body = nest(stream, next);
    nodes.push_back(std::move(node));
  }
  return nodes;
}

Status Machine::run() {
  for (const kilnrt::Stream &stream : program.streams) {
    auto decoded = kilnrt::decodeStream(stream);
    if (!decoded)
      return decoded.error();
    records.push_back(std::move(*decoded));
  }
  std::vector<Nodes> streams;
  for (const std::vector<Record> &stream : records) {
    size_t next = 0;
    streams.push_back(nest(stream, next));
  }
  std::vector<const Nodes *> all;
  for (const Nodes &stream : streams)
    all.push_back(&stream);
  return runAll(all);
}

Status Machine::runAll(const std::vector<const Nodes *> &streams) {
  std::vector<size_t> next(streams.size());
  for (;;) {
    // What stands before the next loop, in program order.
    for (;;) {
      const Record *first = nullptr;
      size_t from = 0;
      for (size_t s = 0; s < streams.size(); ++s) {
        if (next[s] == streams[s]->size() || (*streams[s])[next[s]].isLoop)
          continue;
        const Record *record = (*streams[s])[next[s]].record;
        if (!first || record->order < first->order) {
          first = record;
          from = s;
        }
      }
      if (!first)
        break;
      ++next[from];
      if (Status status = runRecord(*first); !status)
        return status;
    }
    std::vector<const Node *> loop;
    for (size_t s = 0; s < streams.size(); ++s)
      if (next[s] < streams[s]->size())
        loop.push_back(&(*streams[s])[next[s]++]);
    if (loop.empty())
      return Status::ok();
    if (Status status = runLoop(loop); !status)
      return status;
  }
}

Status Machine::runLoop(const std::vector<const Node *> &loop) {
  std::vector<const Nodes *> bodies;
  for (const Node *node : loop)
    bodies.push_back(&node->body);
  const isa::Instruction &head = loop.front()->record->inst;
  const isa::LoopBeginArgs args(head);
  auto registerOf = [&](const Node *node, uint16_t index) -> int32_t & {
    return registers[size_t(node->record->inst.engine)][index];
  };
  auto bound = [&](uint16_t index, int32_t number) {
    return index == isa::kNoRegister ? number : registerOf(loop.front(), index);
  };
  const int32_t first = bound(args.firstRegister, args.first);
  const int32_t last = bound(args.lastRegister, args.last);
  loops.push_back(0);
  for (int64_t i = 0;; ++i) {
    int64_t counter = first + i * int64_t(args.step);
    bool goesOn = false;
    switch (args.kind) {
    case LoopKind::Count:
      goesOn = i < int64_t(args.tripCount);
      break;
    case LoopKind::Range:
      goesOn = counter < last;
      break;
    case LoopKind::While:
      goesOn = registerOf(loop.front(), args.reg) != 0;
      break;
    case LoopKind::Once:
      goesOn = i == 0 && registerOf(loop.front(), args.reg) != 0;
      break;
    }
    if (!goesOn)
      break;
    if (args.kind == LoopKind::Range && args.reg != isa::kNoRegister)
      for (const Node *node : loop)
        registerOf(node, args.reg) = int32_t(counter);
    loops.back() = i;
    if (Status status = runAll(bodies); !status)
      return status;
  }
  loops.pop_back();
  return Status::ok();
}

Status Machine::runRecord(const Record &record) {
  Row row = findRow(record.inst.desc().mnemonic);
  if (!row)
    return error("no reference for " + std::string(record.inst.desc().mnemonic));
  current = &record.inst;
  failure.clear();
  row(*this);
  return failure.empty() ? Status::ok() : Status(error(failure));
}

Elements Machine::operand(unsigned index) {
  const isa::Access &access = current->operands[index];
  if (!access.present())
    return {};
  int64_t moved = 0;
  for (size_t loop = 0; loop < loops.size(); ++loop)
    moved += loops[loop] * access.loopStep[loop];
  if (access.indexing == isa::Indexing::Scalar)
    moved += access.indexStep * reg(access.indexRegister);
  return Elements(tensors[access.tensor], access, moved);
}

std::vector<Single> Machine::column(unsigned index, float immediate, size_t rows) {
  Elements elements = operand(index);
  if (elements.present())
    return elements.allSingles();
  return std::vector<Single>(rows, std::bit_cast<Single>(immediate));
}

} // namespace kiln::reference
