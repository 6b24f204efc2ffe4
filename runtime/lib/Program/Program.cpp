//===- Program.cpp - sizes and places of a program's parts ------------------------------------===//

#include "kilnrt/Program.h"

namespace kilnrt {
namespace {

int64_t mulSaturated(int64_t a, int64_t b) {
  int64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? INT64_MAX : product;
}

} // namespace

int64_t TensorInfo::freeElements() const {
  int64_t n = 1;
  for (size_t i = memory == isa::Memory::Hbm ? 0 : 1; i < shape.size(); ++i)
    n = mulSaturated(n, shape[i]);
  return n;
}

int64_t TensorInfo::freeBytes() const { return mulSaturated(freeElements(), isa::bytesOf(dtype)); }

kiln::CallChain Program::chain(uint32_t location) const {
  kiln::CallChain result;
  // A caller precedes its callee, so the walk ends even when the program was
  // never verified.
  for (uint32_t limit = UINT32_MAX; location < limit && location < locations.size();) {
    const Location &frame = locations[location];
    std::string file = frame.file < files.size() ? files[frame.file] : std::string();
    result.push_back({std::move(file), frame.line});
    limit = location;
    location = frame.caller;
  }
  return result;
}

std::string elementText(const TensorInfo &tensor, uint32_t partition, int64_t byte) {
  const bool isOnChip = tensor.memory != isa::Memory::Hbm;
  const size_t firstDim = isOnChip ? 1 : 0;
  int64_t flat = byte / isa::bytesOf(tensor.dtype);
  std::string text;
  for (size_t i = tensor.shape.size(); i > firstDim; --i) {
    text = std::to_string(flat % tensor.shape[i - 1]) + (text.empty() ? "" : ", ") + text;
    flat /= tensor.shape[i - 1];
  }
  if (isOnChip)
    text = std::to_string(partition) + (text.empty() ? "" : ", ") + text;
  return "(" + text + ")";
}

} // namespace kilnrt
