//===- ReferenceTrial.cpp - the program around an instruction ---------------------------------===//
//
//===------------------------------------------------------------------------------------------===//

#include "ReferenceTrial.h"

#include "ReferenceWriter.h"

#include <algorithm>

namespace kiln::reference {

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
    for (unsigned i = 0; i < isa::kMaxOperands; ++i)
      if (isUsed(i))
        place(i);
    addFrame();
    for (const Instruction &inst : before)
      writer.add(placed(inst));
    writer.add(placed(instance.inst));
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
  void place(unsigned tensor);
  void addFrame();
  void addAccumulatorFrame();
  void addMatmulFrame();
  void addRegisterFrame();
  Instruction setRegister(uint16_t reg);

  /// `inst` with the program's numbers of the tensors.
  Instruction placed(Instruction inst) const {
    for (isa::Access &access : inst.operands)
      if (access.present() && access.tensor < isa::kMaxOperands)
        access.tensor = places[access.tensor];
      else if (access.present())
        access.tensor -= isa::kMaxOperands; // of the frame, numbered in the program already
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

void TrialWriter::place(unsigned tensor) {
  const InstanceTensor &info = instance.tensors[tensor];
  int64_t elements = 1;
  for (int64_t extent : info.shape)
    elements *= extent;
  // Plain and ordinary contents are the ones that sums survive.
  Style style = Style(below(dataRng, isPlain ? 2 : kStyles));
  Bytes data = drawElements(info.dtype, size_t(elements), style, dataRng);
  if (instance.inst.opcode == Opcode::NcMatmul && tensor == isa::NcMatmulArgs::moving &&
      instance.inst.word("is_transpose")) {
    kilnrt::TensorInfo description{"", info.memory, info.dtype, {}, info.shape};
    MemoryTensor memory{description, data, {}};
    Elements identity(memory, instance.inst.operands[tensor], 0);
    for (size_t i = 0; i < identity.size(); ++i)
      identity.setBits(
          i, encode(info.dtype, i / identity.columns() == i % identity.columns() ? 1 : 0));
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
