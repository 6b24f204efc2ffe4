//===- ReferenceTrial.cpp - the program around an instruction ---------------------------------===//
//
//===------------------------------------------------------------------------------------------===//

#include "ReferenceTrial.h"

#include "ReferenceWriter.h"

#include <algorithm>

namespace kiln::reference {

using isa::DType;
using isa::Instruction;
using isa::Memory;
using isa::Opcode;
using isa::ReduceCmd;

namespace {

/// One trial on its way into a program.
class TrialWriter {
public:
  TrialWriter(ProgramWriter &writer, const Trial &trial)
      : writer(writer), instance(trial.instance), desc(instance.inst.desc()), dataRng(trial.seed),
        choices(trial.seed ^ 0x9E3779B97F4A7C15), isPlain(trial.isPlain) {}

  void write() {
    adjust();
    if (isOneIn(choices, 4))
      shareTensor();
    if (isOneIn(choices, 4))
      viewTensors();
    if (isOneIn(choices, 6))
      indexOperand();
    else if (isOneIn(choices, 6))
      moveInLoop();
    for (unsigned i = 0; i < isa::kMaxOperands; ++i)
      if (isUsed(i))
        place(i);
    addFrame();
    for (const Instruction &inst : before)
      writer.add(placed(inst));
    if (trips > 0)
      addEdges(Opcode::LoopBegin);
    writer.add(placed(instance.inst, true));
    if (trips > 0)
      addEdges(Opcode::LoopEnd);
    for (const Instruction &inst : after)
      writer.add(placed(inst));
    for (unsigned i = 0; i < isa::kMaxOperands; ++i)
      if (isUsed(i))
        writer.readOut(places[i]);
    for (uint32_t extra : extras)
      writer.readOut(extra);
  }

private:
  bool isUsed(unsigned tensor) const {
    return std::any_of(instance.inst.operands.begin(), instance.inst.operands.end(),
                       [&](const isa::Access &a) { return a.tensor == tensor; });
  }

  void adjust();
  void shareTensor();
  void viewTensors();
  void indexOperand();
  void moveInLoop();
  bool stretch(Instance &trial, unsigned operand, int64_t elements);
  /// The same edge of a loop in every stream there could be.
  void addEdges(Opcode opcode) {
    Instruction edge = isa::makeInstruction(opcode);
    if (opcode == Opcode::LoopBegin)
      edge.setWord("trip_count", trips);
    for (isa::Engine engine : edge.desc().engines) {
      edge.engine = engine;
      writer.add(edge);
    }
  }
  void place(unsigned tensor);
  void addFrame();
  void addAccumulatorFrame();
  void addMatmulFrame();
  void addRegisterFrame();
  Instruction setRegister(uint16_t reg);

  /// `inst` with the program's numbers of the tensors. Outside the loop nothing moves.
  Instruction placed(Instruction inst, bool isInLoop = false) const {
    for (isa::Access &access : inst.operands) {
      if (!isInLoop)
        access.loopStep = {};
      if (access.present() && access.tensor < isa::kMaxOperands)
        access.tensor = places[access.tensor];
      else if (access.present())
        access.tensor -= isa::kMaxOperands; // of the frame, numbered in the program already
    }
    return inst;
  }

  ProgramWriter &writer;
  Instance instance;
  const isa::InstDesc &desc;
  Rng dataRng, choices;
  bool isPlain;
  std::array<uint32_t, isa::kMaxOperands> places{};
  std::vector<uint32_t> extras;
  std::vector<Instruction> before, after;
  int64_t trips = 0; ///< of the loop around the instruction; 0: none
};

/// What the rules of a single instruction leave open and a run does not.
void TrialWriter::adjust() {
  Instruction &inst = instance.inst;
  if (inst.opcode == Opcode::DevicePrint) {
    inst.setWord("text", int64_t(choices() % writer.texts()));
    for (unsigned l = 0; l < isa::kMaxLoopDepth; ++l)
      inst.setWord("step", 0, l); // there is no loop around it
  }
  if (inst.opcode == Opcode::NcMatmul && inst.word("is_transpose")) {
    // An identity has no elements in two places.
    isa::Access &moving = inst.operands[isa::NcMatmulArgs::moving];
    moving.num = {moving.freeElements()};
    moving.rank = 1;
    moving.step = {1};
    moving.offset = 0;
    fitTensor(instance, isa::NcMatmulArgs::moving);
  }
}

/// Lets two operands share a tensor, where that is legal: element by element, shifted, or a column
/// inside a tile. Inputs are read in full first, and of two outputs the later one wins.
void TrialWriter::shareTensor() {
  if (desc.operands.size() < 2 || desc.isTransfer)
    return;
  const unsigned one = unsigned(below(choices, desc.operands.size()));
  const unsigned other = unsigned(below(choices, desc.operands.size()));
  Instance trial = instance;
  isa::Access &moved = trial.inst.operands[one];
  const isa::Access &stays = trial.inst.operands[other];
  if (one == other || !moved.present() || !stays.present() || moved.dtype != stays.dtype ||
      trial.tensors[one].memory != trial.tensors[other].memory)
    return;
  const bool isSame = desc.operands[one].isOutput != desc.operands[other].isOutput &&
                      moved.partitionCount == stays.partitionCount &&
                      moved.freeElements() == stays.freeElements() && !isOneIn(choices, 3);
  if (isSame) {
    for (unsigned dim = 0; dim < stays.rank; ++dim)
      if (stays.step[dim] == 0 && stays.num[dim] > 1)
        return; // an output has no element twice
    moved = stays;
  }
  moved.tensor = other;
  std::vector<int64_t> &shape = trial.tensors[other].shape;
  for (size_t dim = 0; dim < shape.size(); ++dim)
    shape[dim] = std::max(shape[dim], trial.tensors[one].shape[dim]);
  trial.tensors[one] = trial.tensors[other];
  if (!brokenRule(trial))
    instance = trial;
}

/// Tensors of another dtype than their accesses, of the same size.
void TrialWriter::viewTensors() {
  for (unsigned i = 0; i < isa::kMaxOperands; ++i) {
    DType dtype = DType(isa::dtypeCases()[below(choices, isa::dtypeCases().size())].value);
    if (!isUsed(i) || isa::bytesOf(dtype) != isa::bytesOf(instance.tensors[i].dtype))
      continue;
    Instance trial = instance;
    for (unsigned operand = 0; operand < isa::kMaxOperands; ++operand)
      if (trial.inst.operands[operand].tensor == i)
        trial.tensors[operand].dtype = dtype;
    trial.tensors[i].dtype = dtype;
    if (!brokenRule(trial))
      instance = trial;
  }
}

/// Makes room for `elements` more behind the access of `operand`. No room: the tensor is shared.
bool TrialWriter::stretch(Instance &trial, unsigned operand, int64_t elements) {
  const uint32_t tensor = trial.inst.operands[operand].tensor;
  if (tensor != operand)
    return false;
  for (unsigned i = 0; i < isa::kMaxOperands; ++i)
    if (i != operand && trial.inst.operands[i].tensor == tensor)
      return false;
  trial.tensors[operand].shape.back() += elements;
  return true;
}

/// Lets a register say where an operand lies.
void TrialWriter::indexOperand() {
  if (desc.operands.empty() || desc.isObserver || desc.isSequencer)
    return;
  const unsigned operand = unsigned(below(choices, desc.operands.size()));
  Instance trial = instance;
  isa::Access &access = trial.inst.operands[operand];
  if (!access.present() || access.isIndexed())
    return;
  access.indexing = isa::Indexing::Scalar;
  access.indexRegister = uint16_t(below(choices, isa::machine.maxSequencerRegisters));
  access.indexStep = int64_t(below(choices, 9));
  access.indexExtent = 1 + int64_t(below(choices, 6));
  if (!stretch(trial, operand, access.indexStep * (access.indexExtent - 1)) || brokenRule(trial))
    return;
  instance = trial;
  Instruction move = isa::makeInstruction(Opcode::RegisterMove);
  move.engine = instance.inst.engine;
  move.setWord("dst", access.indexRegister);
  move.setWord("value", int64_t(below(choices, uint64_t(access.indexExtent))));
  before.push_back(move);
}

/// Puts the instruction into a loop, with operands that move.
void TrialWriter::moveInLoop() {
  if (desc.isSequencer || desc.isObserver)
    return;
  const int64_t count = 2 + int64_t(below(choices, 3));
  Instance trial = instance;
  for (unsigned operand = 0; operand < desc.operands.size(); ++operand) {
    isa::Access &access = trial.inst.operands[operand];
    int64_t step = int64_t(below(choices, 6));
    if (!access.present() || isOneIn(choices, 2) || !stretch(trial, operand, step * (count - 1)))
      continue;
    access.loopStep[0] = step;
  }
  if (brokenRule(trial, {&count, 1}))
    return;
  instance = trial;
  trips = count;
}

void TrialWriter::place(unsigned tensor) {
  const InstanceTensor &info = instance.tensors[tensor];
  int64_t elements = 1;
  for (int64_t extent : info.shape)
    elements *= extent;
  // Plain and ordinary contents are the ones that sums survive.
  Style style = Style(below(dataRng, isPlain ? 2 : kStyles));
  DType dtype = info.dtype; // as the instruction sees it
  for (const isa::Access &access : instance.inst.operands)
    if (access.tensor == tensor)
      dtype = access.dtype;
  Bytes data = drawElements(dtype, size_t(elements), style, dataRng);
  if (instance.inst.opcode == Opcode::NcMatmul && tensor == isa::NcMatmulArgs::moving &&
      instance.inst.word("is_transpose")) {
    kilnrt::TensorInfo description{"", info.memory, info.dtype, {}, info.shape};
    MemoryTensor memory{description, data, {}};
    Elements identity(memory, instance.inst.operands[tensor], 0);
    for (size_t i = 0; i < identity.size(); ++i)
      identity.setBits(i, encode(dtype, i / identity.columns() == i % identity.columns() ? 1 : 0));
    data = memory.bytes;
  }
  places[tensor] = writer.tensorWith(info, std::move(data));
}

void TrialWriter::addFrame() {
  if (desc.accumulators.isUsed)
    addAccumulatorFrame();
  if (instance.inst.opcode == Opcode::NcMatmul)
    addMatmulFrame();
  if (desc.isSequencer)
    addRegisterFrame();
}

/// Registers that the instruction continues or reads are set before, and continued afterwards.
void TrialWriter::addAccumulatorFrame() {
  if (desc.accumulators.field < 0)
    return;
  const isa::FieldDesc &field = desc.fields[size_t(desc.accumulators.field)];
  auto with = [&](ReduceCmd command) {
    Instruction inst = instance.inst;
    inst.setWord(field.name, int64_t(command));
    if (inst.opcode == Opcode::Activation)
      inst.setWord("reduce_op", int64_t(isa::AluOp::Add));
    int init = desc.operandIndex("reduce_init");
    if (init >= 0)
      inst.operands[size_t(init)] = {};
    if (const isa::FieldDesc *immediate = desc.field("imm_reduce_init"))
      inst.fields[immediate->word] = immediate->init;
    return inst;
  };
  const ReduceCmd command = ReduceCmd(instance.inst.fields[field.word]);
  if (command == ReduceCmd::Reduce || command == ReduceCmd::Idle)
    before.push_back(with(ReduceCmd::ResetReduce));
  const bool isLost = command == ReduceCmd::Idle && desc.accumulators.idleLoses;
  if (!isLost && isOneIn(choices, 2))
    after.push_back(with(ReduceCmd::Reduce));
}

/// A sum to add to, part of it sometimes written over by another engine.
void TrialWriter::addMatmulFrame() {
  const Instruction &inst = instance.inst;
  if (inst.word("is_transpose"))
    return;
  const isa::Accumulate accumulate = isa::Accumulate(inst.word("accumulate"));
  auto with = [&](isa::Accumulate how) {
    Instruction copy = inst;
    copy.setWord("accumulate", int64_t(how));
    return copy;
  };
  if (accumulate == isa::Accumulate::Add || isOneIn(choices, 2))
    before.push_back(with(isa::Accumulate::Overwrite));
  if (accumulate == isa::Accumulate::Automatic && isOneIn(choices, 2)) {
    Instruction fill = isa::makeInstruction(Opcode::Memset);
    fill.engine = isa::Engine::Vector;
    fill.operands[0] = inst.operands[isa::NcMatmulArgs::dst];
    int64_t &num = fill.operands[0].num[fill.operands[0].rank - 1];
    num = (num + 1) / 2;
    fill.setReal("value", 3);
    before.push_back(fill);
  }
  if (isOneIn(choices, 4))
    after.push_back(with(isa::Accumulate::Automatic));
}

Instruction TrialWriter::setRegister(uint16_t reg) {
  Instruction move = isa::makeInstruction(Opcode::RegisterMove);
  move.engine = instance.inst.engine;
  move.setWord("dst", reg);
  Style style = isPlain ? Style::Plain : Style(below(dataRng, kStyles));
  move.setWord("value", int32_t(drawElement(isa::DType::Int32, style, dataRng)));
  return move;
}

/// Registers are set before; the one the instruction sets is stored afterwards.
void TrialWriter::addRegisterFrame() {
  const Instruction &inst = instance.inst;
  for (const isa::FieldDesc &field : desc.fields)
    if (field.kind == isa::FieldKind::Register && inst.fields[field.word] != isa::kNoRegister &&
        (field.name != "dst" || isOneIn(choices, 2)))
      before.push_back(setRegister(uint16_t(inst.fields[field.word])));
  const isa::FieldDesc *set = desc.field("dst");
  if (!set)
    return;
  InstanceTensor word{Memory::Sbuf, isa::DType::Int32, {1, 1}};
  extras.push_back(writer.tensorWith(word, drawElements(word.dtype, 1, Style::Bits, dataRng)));
  Instruction store = isa::makeInstruction(Opcode::RegisterStore);
  store.engine = inst.engine;
  store.setWord("src", inst.fields[set->word]);
  store.operands[isa::RegisterStoreArgs::dst] = writer.whole(extras.back());
  store.operands[isa::RegisterStoreArgs::dst].tensor += isa::kMaxOperands;
  after.push_back(store);
}

} // namespace

kilnrt::Program programOf(std::span<const Trial> trials, std::vector<size_t> *outputs) {
  if (standsAlone(trials.front().instance.inst.opcode))
    return programAlone(trials.front());
  ProgramWriter writer;
  for (const Trial &trial : trials) {
    if (outputs)
      outputs->push_back(writer.outputs());
    TrialWriter(writer, trial).write();
  }
  if (outputs)
    outputs->push_back(writer.outputs());
  return writer.take();
}

} // namespace kiln::reference
