//===- Encode.cpp - from nisa and stream ops to a program -------------------------------------===//

#include "kiln/Target/Encode.h"

#include "kiln/Analysis/Kernel.h"
#include "kiln/Dialect/Nisa/IR/Locations.h"
#include "kiln/Dialect/Nisa/IR/NisaInst.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace kiln {
namespace {

using kilnrt::Program;
using kilnrt::Record;

class Encoder {
public:
  explicit Encoder(nisa::KernelOp kernel) : kernel(kernel) {}

  Program run() {
    program.kernel = kernel.getSymName().str();
    program.flags.placed = kernel.getPlaced();
    program.flags.scheduled = kernel.getScheduled();
    if (auto texts = kernel.getTexts())
      for (StringRef text : texts->getAsValueRange<StringAttr>())
        program.texts.push_back(text.str());
    stream::ProgramOp streams;
    for (auto found : kernel.getBody().getOps<stream::ProgramOp>())
      streams = found;
    addTensors(kernel.getBody().front(), kilnrt::kNone);
    program.flags.synchronised = bool(streams);
    if (streams)
      addQueues(streams);
    else
      addProgramOrder();
    for (isa::Engine engine : analysis::kEngines)
      if (auto it = bytes.find(unsigned(engine)); it != bytes.end())
        program.streams.push_back({engine, std::move(it->second)});
    return std::move(program);
  }

private:
  static bool isEmpty(nisa::ForOp loop) {
    return !loop.walk([](nisa::InstOpInterface) { return WalkResult::interrupt(); })
                .wasInterrupted();
  }

  /// Loops without instructions have no edges in the program, and no number.
  void addTensors(Block &block, uint32_t loop) {
    for (Operation &op : block) {
      if (auto alloc = dyn_cast<nisa::AllocOp>(op))
        addTensor(alloc, loop);
      else if (auto nested = dyn_cast<nisa::ForOp>(op))
        addTensors(nested.getBody().front(), isEmpty(nested) ? loop : loopNumber++);
    }
  }

  void addTensor(nisa::AllocOp alloc, uint32_t loop) {
    nisa::BufType type = alloc.getType();
    kilnrt::TensorInfo tensor;
    tensor.name = alloc.getTensorName().str();
    tensor.memory = type.getMemory();
    tensor.dtype = type.getDtype();
    tensor.shape.assign(type.getShape().begin(), type.getShape().end());
    tensor.location = location(alloc.getLoc());
    tensor.loop = alloc.getLoop().value_or(loop);
    if (auto input = alloc.getInput()) {
      tensor.role = kilnrt::TensorRole::Input;
      tensor.index = *input;
    } else if (auto output = alloc.getOutput()) {
      tensor.role = kilnrt::TensorRole::Output;
      tensor.index = *output;
    } else if (alloc.getData()) {
      tensor.role = kilnrt::TensorRole::Constant;
      tensor.index = uint32_t(program.constants.size());
      SmallVector<char> data = alloc.getDataBytes();
      auto *begin = reinterpret_cast<const std::byte *>(data.data());
      program.constants.push_back({{begin, begin + data.size()}});
    }
    if (type.isOnChip())
      setAddress(tensor, alloc);
    numbers[alloc.getBuffer()] = uint32_t(program.tensors.size());
    program.tensors.push_back(std::move(tensor));
  }

  /// The placed address, or the next private range.
  void setAddress(kilnrt::TensorInfo &tensor, nisa::AllocOp alloc) {
    if (program.flags.placed) {
      isa::TensorAddress address = *alloc.getAddress();
      tensor.partition = address.partition;
      tensor.byte = address.byte;
      return;
    }
    if (auto address = alloc.getAddress())
      tensor.partition = address->partition;
    bool psum = tensor.memory == isa::Memory::Psum;
    uint64_t &end = psum ? psumEnd : sbufEnd;
    tensor.byte = end;
    end = llvm::alignTo(end + uint64_t(tensor.freeBytes()),
                        psum ? uint64_t(isa::machine.psumMinAlign)
                             : uint64_t(isa::machine.sbufAllocAlign));
  }

  uint32_t location(Location loc) {
    auto [it, isNew] = locations.try_emplace(loc, kilnrt::kNone);
    if (!isNew)
      return it->second;
    uint32_t caller = kilnrt::kNone;
    CallChain chain = nisa::chainOf(loc);
    for (const FileLine &frame : llvm::reverse(chain)) {
      auto file = files.try_emplace(frame.file, uint32_t(program.files.size()));
      if (file.second)
        program.files.push_back(frame.file);
      auto key = std::make_tuple(file.first->second, frame.line, caller);
      auto [known, isNewFrame] = frames.try_emplace(key, uint32_t(program.locations.size()));
      if (isNewFrame)
        program.locations.push_back({file.first->second, frame.line, caller});
      caller = known->second;
    }
    locations[loc] = caller;
    return caller;
  }

  Record recordOf(nisa::InstOpInterface op) {
    Record record;
    record.inst = nisa::toInstruction(op, [this](Value buffer) { return numbers.lookup(buffer); });
    record.location = location(op.getLoc());
    return record;
  }

  void append(const Record &record) {
    kilnrt::encodeRecord(record, bytes[unsigned(record.inst.engine)]);
  }

  /// Every engine that does something has every edge of a loop.
  void addProgramOrder() {
    kernel.walk(
        [&](nisa::InstOpInterface inst) { bytes.try_emplace(unsigned(nisa::engineOf(inst))); });
    addProgramOrder(kernel.getBody().front());
  }

  void addProgramOrder(Block &block) {
    for (Operation &op : block) {
      if (auto inst = dyn_cast<nisa::InstOpInterface>(op)) {
        Record record = recordOf(inst);
        record.order = nextOrder++;
        append(record);
      } else if (auto loop = dyn_cast<nisa::ForOp>(op); loop && !isEmpty(loop)) {
        addEdges(loop, isa::Opcode::LoopBegin);
        addProgramOrder(loop.getBody().front());
        addEdges(loop, isa::Opcode::LoopEnd);
      }
    }
  }

  void addEdges(nisa::ForOp loop, isa::Opcode opcode) {
    for (isa::Engine engine : analysis::kEngines)
      if (bytes.contains(unsigned(engine)))
        addEdge(opcode, engine, loop, nisa::controlOf(loop), nextOrder++);
  }

  static void setControl(isa::Instruction &begin, const isa::LoopControl &control) {
    begin.setWord("kind", int64_t(control.kind));
    begin.setWord("trip_count", control.tripCount);
    begin.setWord("first", control.first);
    begin.setWord("first_register", control.firstRegister);
    begin.setWord("last", control.last);
    begin.setWord("last_register", control.lastRegister);
    begin.setWord("step", control.step);
    begin.setWord("reg", control.reg);
  }

  void addEdge(isa::Opcode opcode, isa::Engine engine, Operation *loop,
               const isa::LoopControl &control, uint32_t order) {
    Record record;
    record.inst = isa::makeInstruction(opcode);
    record.inst.engine = engine;
    if (opcode == isa::Opcode::LoopBegin)
      setControl(record.inst, control);
    record.order = order;
    record.location = location(loop->getLoc());
    append(record);
  }

  void addQueues(stream::ProgramOp streams) {
    for (auto queue : streams.getBody().front().getOps<stream::QueueOp>())
      addQueue(queue.getEngine(), queue.getBody().front());
  }

  void addQueue(isa::Engine engine, Block &block) {
    for (Operation &op : block) {
      if (auto wait = dyn_cast<stream::WaitOp>(op)) {
        addWait(engine, wait);
      } else if (auto loop = dyn_cast<stream::LoopOp>(op)) {
        const isa::LoopControl control =
            nisa::controlOf(loop.getIterations(), loop.getControlAttr());
        addEdge(isa::Opcode::LoopBegin, engine, loop, control, loop.getFirst());
        addQueue(engine, loop.getBody().front());
        addEdge(isa::Opcode::LoopEnd, engine, loop, control, loop.getLast());
      } else {
        addInstruction(cast<nisa::InstOpInterface>(op));
      }
    }
  }

  void addWait(isa::Engine engine, stream::WaitOp wait) {
    Record record;
    record.inst = isa::makeInstruction(isa::Opcode::SemaphoreWait);
    record.inst.engine = engine;
    record.order = wait.getOrder();
    record.location = location(wait.getLoc());
    record.sync.waitSemaphore = uint16_t(wait.getSemaphore());
    record.sync.waitValue = wait.getValue();
    append(record);
  }

  void addInstruction(nisa::InstOpInterface op) {
    Record record = recordOf(op);
    stream::SyncAttr sync = stream::syncOf(op);
    record.order = sync.getOrder();
    if (sync.hasWait()) {
      record.sync.waitSemaphore = uint16_t(sync.getWaitSemaphore());
      record.sync.waitValue = sync.getWaitValue();
    }
    if (sync.hasUpdate()) {
      record.sync.updateSemaphore = uint16_t(sync.getUpdateSemaphore());
      record.sync.updateValue =
          uint32_t(stream::raiseOf(record.inst.opcode, sync.getUpdateValue()));
    }
    append(record);
  }

  nisa::KernelOp kernel;
  Program program;
  uint64_t sbufEnd = 0, psumEnd = 0;
  uint32_t loopNumber = 0; ///< of the next loop with instructions
  uint32_t nextOrder = 0;
  llvm::DenseMap<Value, uint32_t> numbers;
  llvm::DenseMap<Location, uint32_t> locations;
  llvm::StringMap<uint32_t> files;
  llvm::DenseMap<std::tuple<uint32_t, unsigned, uint32_t>, uint32_t> frames;
  llvm::DenseMap<unsigned, std::vector<std::byte>> bytes; ///< by engine
};

} // namespace

kilnrt::Program encode(nisa::KernelOp kernel) { return Encoder(kernel).run(); }

} // namespace kiln
