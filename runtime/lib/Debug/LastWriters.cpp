//===- LastWriters.cpp - who wrote some bytes last --------------------------------------------===//

#include "kilnrt/Debug/Observers.h"

#include <fmt/format.h>

#include <algorithm>

using namespace kilnrt;

LastWriters::LastWriters(MemoryRegion given) : region(std::move(given)) {
  for (const ByteWindow &window : region.windows)
    writers.emplace_back(size_t(window.bytes()), kNone);
}

uint32_t LastWriters::number(const RunStep &step, unsigned operand, uint32_t tensor) {
  if (known.empty() || known.back().step != step || known.back().operand != operand) {
    if (known.size() >= compactAt)
      forgetLost();
    known.push_back({step, operand, tensor});
  }
  return uint32_t(known.size() - 1);
}

/// Drops writers of whom no byte is left: a loop may write a region a million times.
void LastWriters::forgetLost() {
  std::vector<uint32_t> renumbered(known.size(), kNone);
  std::vector<Writer> kept;
  for (std::vector<uint32_t> &window : writers)
    for (uint32_t &writer : window) {
      if (writer == kNone)
        continue;
      if (renumbered[writer] == kNone) {
        renumbered[writer] = uint32_t(kept.size());
        kept.push_back(known[writer]);
      }
      writer = renumbered[writer];
    }
  known = std::move(kept);
  compactAt = std::max(compactAt, 2 * known.size());
}

void LastWriters::writes(const RunStep &step, unsigned operand, const Place &place) {
  uint32_t writer = kNone;
  for (size_t w = 0; w < region.windows.size(); ++w) {
    const ByteWindow &window = region.windows[w];
    const int64_t width = place.shape().elementBytes(), length = window.end - window.begin;
    forEachStretch(place, window, [&](uint32_t partition, int64_t byte, int64_t elements) {
      if (writer == kNone)
        writer = number(step, operand, place.tensor);
      const auto row = writers[w].begin() + int64_t(partition - window.partition) * length;
      std::fill(row + std::max<int64_t>(byte - window.begin, 0),
                row + std::min(byte + elements * width - window.begin, length), writer);
    });
  }
}

std::vector<WrittenStretch> LastWriters::stretches() const {
  std::vector<WrittenStretch> all;
  for (size_t w = 0; w < region.windows.size(); ++w) {
    const ByteWindow &window = region.windows[w];
    const int64_t length = window.end - window.begin;
    for (uint32_t p = 0; p < window.partitions;) {
      const auto row = writers[w].begin() + int64_t(p) * length;
      uint32_t end = p + 1;
      while (end < window.partitions &&
             std::equal(row, row + length, writers[w].begin() + int64_t(end) * length))
        ++end;
      for (int64_t b = 0; b < length;) {
        int64_t next = b + 1;
        while (next < length && row[next] == row[b])
          ++next;
        WrittenStretch stretch;
        stretch.range = {window.memory,
                         window.tensor,
                         window.firstPartition + window.partition + p,
                         window.firstPartition + window.partition + end - 1,
                         window.firstByte + window.begin + b,
                         window.firstByte + window.begin + next - 1};
        if (row[b] != kNone)
          stretch.writer = known[row[b]];
        all.push_back(std::move(stretch));
        b = next;
      }
      p = end;
    }
  }
  return all;
}

std::string kilnrt::toText(const WrittenStretch &stretch, const Program &program) {
  const std::string range = toText(stretch.range, program);
  if (!stretch.writer) {
    const uint32_t tensor = stretch.range.tensor;
    const TensorRole role = tensor == kNone ? TensorRole::Internal : program.tensors[tensor].role;
    return range + (role == TensorRole::Input      ? ": given to the kernel"
                    : role == TensorRole::Constant ? ": a constant"
                                                   : ": never written");
  }
  const Writer &writer = *stretch.writer;
  const isa::InstDesc &desc = *isa::findInstruction(writer.step.opcode);
  return fmt::format("{}: {} of '{}', {}", range, desc.operands[writer.operand].name,
                     program.tensors[writer.tensor].name, whereText(writer.step, program));
}
