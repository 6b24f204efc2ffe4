//===- KernelView.cpp - a nisa kernel as the plain data analyses take -------------------------===//

#include "kiln/Transforms/KernelView.h"

#include "kiln/Dialect/Nisa/IR/Locations.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;

namespace kiln {
namespace {

/// Numbers locations in the order they are met. Frames are shared: unrolled
/// loops repeat a handful of locations thousands of times.
class LocationTable {
public:
  explicit LocationTable(analysis::Kernel &kernel) : kernel(kernel) {}

  uint32_t number(Location loc) {
    auto [it, isNew] = known.try_emplace(loc, analysis::kNone);
    if (isNew) {
      CallChain chain = nisa::chainOf(loc);
      uint32_t caller = analysis::kNone;
      for (const FileLine &frame : llvm::reverse(chain))
        caller = frameNumber(frame, caller);
      known[loc] = caller;
      return caller;
    }
    return it->second;
  }

private:
  uint32_t frameNumber(const FileLine &frame, uint32_t caller) {
    auto file = files.try_emplace(frame.file, uint32_t(kernel.files.size()));
    if (file.second)
      kernel.files.push_back(frame.file);
    auto key = std::make_tuple(file.first->second, frame.line, caller);
    auto [it, isNew] = frames.try_emplace(key, uint32_t(kernel.locations.size()));
    if (isNew)
      kernel.locations.push_back({file.first->second, frame.line, caller});
    return it->second;
  }

  analysis::Kernel &kernel;
  llvm::DenseMap<Location, uint32_t> known;
  llvm::StringMap<uint32_t> files;
  llvm::DenseMap<std::tuple<uint32_t, unsigned, uint32_t>, uint32_t> frames;
};

analysis::TensorRole roleOf(nisa::AllocOp alloc) {
  if (alloc.getInput())
    return analysis::TensorRole::Input;
  if (alloc.getOutput())
    return analysis::TensorRole::Output;
  return alloc.getData() ? analysis::TensorRole::Constant : analysis::TensorRole::Internal;
}

class KernelReader {
public:
  KernelView run(nisa::KernelOp kernel) {
    read(kernel.getBody().front(), analysis::kNone);
    return std::move(view);
  }

private:
  void read(Block &block, uint32_t loop) {
    for (Operation &op : block) {
      if (auto alloc = dyn_cast<nisa::AllocOp>(op))
        addTensor(alloc, loop);
      else if (auto inst = dyn_cast<nisa::InstOpInterface>(op))
        addInstruction(inst);
      else if (auto nested = dyn_cast<nisa::ForOp>(op))
        addLoop(nested, loop);
    }
  }

  void addTensor(nisa::AllocOp alloc, uint32_t loop) {
    nisa::BufType type = alloc.getType();
    analysis::KernelTensor tensor;
    tensor.name = alloc.getTensorName().str();
    tensor.memory = type.getMemory();
    tensor.dtype = type.getDtype();
    tensor.role = roleOf(alloc);
    tensor.shape.assign(type.getShape().begin(), type.getShape().end());
    tensor.address = alloc.getAddress();
    tensor.location = locations.number(alloc.getLoc());
    tensor.loop = loop;
    numbers[alloc.getBuffer()] = uint32_t(view.tensors.size());
    view.data.tensors.push_back(std::move(tensor));
    view.tensors.push_back(alloc);
  }

  void addInstruction(nisa::InstOpInterface inst) {
    uint32_t location = locations.number(inst->getLoc());
    isa::Instruction data =
        nisa::toInstruction(inst, [&](Value buffer) { return numbers.lookup(buffer); });
    // Analyses take an access that the run places for everything it may touch.
    for (isa::Access &access : data.operands)
      if (access.isIndexed()) {
        const analysis::KernelTensor &tensor = view.data.tensors[access.tensor];
        access = isa::hullOf(access, tensor.isOnChip(), tensor.dtype,
                             tensor.bytes() / isa::bytesOf(tensor.dtype));
      }
    view.data.instructions.push_back({std::move(data), location});
    view.instructions.push_back(inst);
  }

  /// A loop is known to hold an instruction only once its body has been read; its tensors and the
  /// loops inside need its number before.
  void addLoop(nisa::ForOp loop, uint32_t parent) {
    bool isEmpty =
        !loop.walk([](nisa::InstOpInterface) { return WalkResult::interrupt(); }).wasInterrupted();
    if (isEmpty)
      return read(loop.getBody().front(), parent);
    const uint32_t number = uint32_t(view.loops.size());
    view.loops.push_back(loop);
    const uint32_t begin = uint32_t(view.instructions.size());
    view.data.loops.push_back(
        {begin, begin, loop.getIterations(), parent, locations.number(loop.getLoc())});
    read(loop.getBody().front(), number);
    view.data.loops[number].end = uint32_t(view.instructions.size());
  }

  KernelView view;
  LocationTable locations{view.data};
  llvm::DenseMap<Value, uint32_t> numbers;
};

} // namespace

KernelView readKernel(nisa::KernelOp kernel) { return KernelReader().run(kernel); }

analysis::Placement placementOf(const KernelView &view) {
  analysis::Placement placement;
  for (nisa::AllocOp alloc : view.tensors)
    placement.addresses.push_back(alloc.getAddress().value_or(isa::TensorAddress()));
  return placement;
}

} // namespace kiln
