//===- ReferenceLoops.cpp - programs around edges of loops and waits --------------------------===//
//
// An edge of a loop stands in every stream, a wait needs another stream that does something: these
// trials are programs of their own.
//
//===------------------------------------------------------------------------------------------===//

#include "ReferenceTrial.h"

#include "ReferenceWriter.h"

namespace kiln::reference {

using isa::AluOp;
using isa::Engine;
using isa::Instruction;
using isa::LoopKind;
using isa::Memory;
using isa::Opcode;

namespace {

constexpr Engine kEngines[] = {Engine::Tensor, Engine::Scalar, Engine::Gpsimd, Engine::Vector,
                               Engine::Sync};
constexpr int64_t kColumns = 7;

/// A nest of loops whose bodies count in registers and move along tensors.
class LoopWriter {
public:
  explicit LoopWriter(const Trial &trial) : trial(trial), rng(trial.seed) {}

  kilnrt::Program write() {
    for (Engine engine : kEngines)
      if (engine == Engine::Sync || engine == Engine::Vector || isOneIn(rng, 2))
        engines.push_back(engine);
    const unsigned depth = 1 + unsigned(below(rng, isa::kMaxLoopDepth));
    target = writer.tensorWith({Memory::Sbuf, isa::DType::Float32, {2, 4096}},
                               drawElements(isa::DType::Float32, 2 * 4096, Style::Plain, rng));
    source = writer.tensorWith({Memory::Sbuf, isa::DType::Float32, {2, 64}},
                               drawElements(isa::DType::Float32, 2 * 64, Style::Bits, rng));
    for (unsigned reg = 0; reg < kCounter + 8; ++reg)
      setAll(uint16_t(reg), int32_t(reg));
    nest(0, depth);
    readOut();
    return writer.take();
  }

private:
  static constexpr uint16_t kCounter = 16; ///< registers below are the loops' own

  /// The same instruction in every stream.
  void addAll(Instruction inst) {
    for (Engine engine : engines) {
      inst.engine = engine;
      writer.add(inst);
    }
  }
  void setAll(uint16_t reg, int32_t value) {
    Instruction move = isa::makeInstruction(Opcode::RegisterMove);
    move.setWord("dst", reg);
    move.setWord("value", value);
    addAll(move);
  }
  void countAll(uint16_t reg, int32_t value) {
    Instruction alu = isa::makeInstruction(Opcode::RegisterAlu);
    alu.setWord("dst", reg);
    alu.setWord("src", reg);
    alu.setWord("op", int64_t(AluOp::Add));
    alu.setWord("value", value);
    addAll(alu);
  }

  void nest(unsigned level, unsigned depth);
  Instruction head(unsigned level);
  void copy(unsigned depth);
  void readOut();

  const Trial &trial;
  Rng rng;
  ProgramWriter writer;
  std::vector<Engine> engines;
  std::vector<int64_t> trips; ///< of the counted loops around; 1 for others
  uint32_t target = 0, source = 0;
};

/// The instance under test at the outermost level, made to end; other loops are drawn. Sets the
/// registers it reads.
Instruction LoopWriter::head(unsigned level) {
  Instruction inst = isa::makeInstruction(Opcode::LoopBegin);
  const bool isTested = level == 0 && trial.instance.inst.opcode == Opcode::LoopBegin;
  if (isTested)
    inst = trial.instance.inst;
  const LoopKind kind = isTested ? LoopKind(inst.word("kind")) : LoopKind(below(rng, 4));
  inst.setWord("kind", int64_t(kind));
  const uint16_t own = uint16_t(4 * level);
  for (const char *name : {"first_register", "last_register", "reg"})
    inst.setWord(name, isa::kNoRegister);
  switch (kind) {
  case LoopKind::Count:
    inst.setWord("trip_count", 1 + int64_t(below(rng, 4)));
    break;
  case LoopKind::Range: {
    int32_t first = int32_t(below(rng, 9)) - 4;
    int32_t last = first + int32_t(below(rng, 12)) - 2;
    if (isOneIn(rng, 8)) // where counting on would wrap
      last = INT32_MAX, first = INT32_MAX - int32_t(below(rng, 6));
    inst.setWord("step", 1 + int64_t(below(rng, 4)));
    inst.setWord("first", first);
    inst.setWord("last", last);
    inst.setWord("reg", own);
    if (isOneIn(rng, 2)) {
      setAll(own + 1, first);
      inst.setWord("first", 0);
      inst.setWord("first_register", own + 1);
    }
    if (isOneIn(rng, 2)) {
      setAll(own + 2, last);
      inst.setWord("last", 0);
      inst.setWord("last_register", own + 2);
    }
    break;
  }
  case LoopKind::While:
  case LoopKind::Once:
    setAll(own, int32_t(below(rng, 4)));
    inst.setWord("reg", own);
    break;
  }
  if (kind != LoopKind::Count)
    inst.setWord("trip_count", 1);
  if (kind != LoopKind::Range) {
    inst.setWord("first", 0);
    inst.setWord("last", 0);
    inst.setWord("step", 1);
  }
  return inst;
}

void LoopWriter::nest(unsigned level, unsigned depth) {
  Instruction begin = head(level);
  const LoopKind kind = LoopKind(begin.word("kind"));
  addAll(begin);
  trips.push_back(kind == LoopKind::Count ? begin.word("trip_count") : 1);
  countAll(uint16_t(kCounter + level), 1 + int32_t(below(rng, 5)));
  copy(level + 1);
  if (level + 1 < depth)
    nest(level + 1, depth);
  copy(level + 1);
  if (kind == LoopKind::Range) { // the counter is seen, and what is written to it does not matter
    Instruction sum = isa::makeInstruction(Opcode::RegisterAlu);
    sum.setWord("dst", kCounter + 4 + level);
    sum.setWord("src", kCounter + 4 + level);
    sum.setWord("op", int64_t(AluOp::Add));
    sum.setWord("src1", begin.word("reg"));
    addAll(sum);
  }
  if (kind == LoopKind::While)
    countAll(uint16_t(begin.word("reg")), -1);
  addAll(isa::makeInstruction(Opcode::LoopEnd));
  trips.pop_back();
  if (isOneIn(rng, 2))
    copy(level);
}

/// Copies a few columns to a place that moves with the `depth` loops around.
void LoopWriter::copy(unsigned depth) {
  Instruction inst = isa::makeInstruction(Opcode::TensorCopy);
  inst.engine = Engine::Vector;
  const int64_t columns = 1 + int64_t(below(rng, 3));
  for (unsigned operand : {isa::TensorCopyArgs::dst, isa::TensorCopyArgs::src}) {
    isa::Access access = writer.whole(operand == isa::TensorCopyArgs::dst ? target : source);
    access.num[0] = columns;
    access.offset = int64_t(below(rng, kColumns));
    for (unsigned loop = 0; loop < depth && loop < trips.size(); ++loop)
      if (trips[loop] > 1 && !isOneIn(rng, 3))
        access.loopStep[loop] = int64_t(below(rng, 5));
    inst.operands[operand] = access;
  }
  writer.add(inst);
}

void LoopWriter::readOut() {
  std::vector<uint32_t> words;
  for (Engine engine : {Engine::Vector, Engine::Sync})
    for (unsigned reg = kCounter; reg < kCounter + 8u; ++reg) {
      words.push_back(writer.tensorWith({Memory::Hbm, isa::DType::Int32, {1}}, Bytes(4)));
      Instruction store = isa::makeInstruction(Opcode::RegisterStore);
      store.engine = engine;
      store.setWord("src", reg);
      store.operands[isa::RegisterStoreArgs::dst] = writer.whole(words.back());
      writer.add(store);
    }
  for (uint32_t word : words)
    writer.readOut(word);
  writer.readOut(target);
}

/// One engine fills a tile several times, another waits for the last time and passes that on, the
/// Sync Engine then copies the tile out.
kilnrt::Program waitProgram(const Trial &trial) {
  Rng rng(trial.seed);
  const Engine waiter = trial.instance.inst.engine;
  const Engine filler = waiter == Engine::Vector || (waiter != Engine::Gpsimd && isOneIn(rng, 2))
                            ? Engine::Gpsimd
                            : Engine::Vector;
  const uint64_t fills = 1 + below(rng, 6);
  const uint64_t most = isOneIn(rng, 4) ? 100000 : 3;
  uint64_t order = 0, sum = 0;
  std::map<Engine, std::string> streams;
  for (uint64_t i = 0; i < fills; ++i) {
    uint64_t update = 1 + below(rng, most);
    sum += update;
    streams[filler] += "  memset dst=a[0+2, 0: 1x8] value=" + std::to_string(1 + below(rng, 99)) +
                       " update s0+=" + std::to_string(update) + " #" + std::to_string(order++) +
                       "\n";
  }
  streams[waiter] += "  wait s0>=" + std::to_string(sum) + " semaphore_wait update s1+=1 #" +
                     std::to_string(order++) + "\n";
  streams[Engine::Sync] += "  wait s1>=1 dma_copy dst=y[2 rows of 8, 0: 1x8] src=a[0+2, 0: 1x8] "
                           "update s2+=16 #" +
                           std::to_string(order++) + "\n";
  std::string text = ".kernel \"wait\"\n.target \"trn2\"\n.flags placed scheduled synchronised\n"
                     ".tensor %0 a sbuf 2x8xf32 at 0,0\n.tensor %1 y hbm 2x8xf32 output 0\n";
  for (Engine engine : kEngines)
    if (streams.contains(engine))
      text += ".stream " + std::string(isa::name(engine)) + "\n" + streams[engine];
  auto program = kilnrt::assemble(text, "wait.s");
  return program ? *program : kilnrt::Program();
}

} // namespace

bool standsAlone(Opcode opcode) {
  return opcode == Opcode::LoopBegin || opcode == Opcode::LoopEnd ||
         opcode == Opcode::SemaphoreWait;
}

kilnrt::Program programAlone(const Trial &trial) {
  if (trial.instance.inst.opcode == Opcode::SemaphoreWait)
    return waitProgram(trial);
  return LoopWriter(trial).write();
}

} // namespace kiln::reference
