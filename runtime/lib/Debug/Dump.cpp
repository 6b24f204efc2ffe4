//===- Dump.cpp - a tensor at one moment of a run ---------------------------------------------===//

#include "kilnrt/Debug/Observers.h"

#include <algorithm>
#include <cstring>

using namespace kilnrt;

static uint32_t chosen(const std::vector<uint32_t> &tensors, const std::optional<RunPoint> &point) {
  if (point)
    for (uint32_t tensor : tensors)
      if (std::ranges::find(point->tensors, tensor) != point->tensors.end())
        return tensor;
  return tensors.front();
}

DumpTensor::DumpTensor(const std::vector<uint32_t> &tensors, const std::optional<RunPoint> &point)
    : tensor(chosen(tensors, point)), point(point) {}

void DumpTensor::ends(const RunStep &step) {
  if (point && step.completes && point->isAt(step))
    take();
}

void DumpTensor::finishes() {
  if (!point)
    take();
}

void DumpTensor::take() {
  const TensorInfo &info = view->program.tensors[tensor];
  const TensorPlace &where = view->layout.tensors()[tensor];
  TensorDump taken;
  taken.tensor = tensor;
  taken.value = {info.dtype, info.shape,
                 std::vector<std::byte>(size_t(where.bytes) * where.partitions)};
  std::byte *out = taken.value.data.data();
  const int64_t width = isa::bytesOf(info.dtype);
  const bool hasBytes = view->memory.hasBytes(where.block);
  if (!hasBytes)
    PoisonFill(Poison()).fill(out, int64_t(taken.value.data.size()));
  for (uint32_t p = 0; p < where.partitions; ++p) {
    Place row;
    row.block = where.block;
    row.partition = where.partition + p;
    row.byte = where.byte;
    if (hasBytes)
      std::memcpy(out + int64_t(p) * where.bytes, view->memory.address(row), size_t(where.bytes));
    for (int64_t e = 0; e < where.bytes / width; ++e) {
      bool isWritten = hasBytes;
      for (int64_t b = 0; b < width && isWritten; ++b)
        isWritten = view->memory.isWritten(tensor, row.partition, row.byte + e * width + b);
      if (!isWritten && taken.unwritten++ == 0)
        taken.firstUnwritten = int64_t(p) * (where.bytes / width) + e;
    }
  }
  if (taken.unwritten > 0)
    taken.overwrittenBy = view->memory.overwrittenBy(tensor);
  dump = std::move(taken);
}
