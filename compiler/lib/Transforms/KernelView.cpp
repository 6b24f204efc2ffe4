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

} // namespace

KernelView readKernel(nisa::KernelOp kernel) {
  KernelView view;
  LocationTable locations(view.data);
  llvm::DenseMap<Value, uint32_t> numbers;
  for (Operation &op : kernel.getBody().front()) {
    uint32_t location = locations.number(op.getLoc());
    if (auto alloc = dyn_cast<nisa::AllocOp>(op)) {
      nisa::BufType type = alloc.getType();
      analysis::KernelTensor tensor;
      tensor.name = alloc.getTensorName().str();
      tensor.memory = type.getMemory();
      tensor.dtype = type.getDtype();
      tensor.role = roleOf(alloc);
      tensor.shape.assign(type.getShape().begin(), type.getShape().end());
      tensor.address = alloc.getAddress();
      tensor.location = location;
      numbers[alloc.getBuffer()] = uint32_t(view.tensors.size());
      view.data.tensors.push_back(std::move(tensor));
      view.tensors.push_back(alloc);
    } else if (auto inst = dyn_cast<nisa::InstOpInterface>(op)) {
      view.data.instructions.push_back(
          {nisa::toInstruction(inst, [&](Value buffer) { return numbers.lookup(buffer); }),
           location});
      view.instructions.push_back(inst);
    }
  }
  return view;
}

analysis::Placement placementOf(const KernelView &view) {
  analysis::Placement placement;
  for (nisa::AllocOp alloc : view.tensors)
    placement.addresses.push_back(alloc.getAddress().value_or(isa::TensorAddress()));
  return placement;
}

} // namespace kiln
