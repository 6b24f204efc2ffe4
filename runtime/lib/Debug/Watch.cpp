//===- Watch.cpp - the accesses of some bytes -------------------------------------------------===//

#include "kilnrt/Debug/Observers.h"
#include "kilnrt/Debug/PrintText.h"
#include "kilnrt/HostData/ArrayText.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>

using namespace kilnrt;

/// Makes the box around what an event touched larger.
static void extend(WatchEvent &event, const ByteWindow &window, uint32_t partition, int64_t byte,
                   int64_t elements, int64_t width) {
  // An element at the edge of a window may stand out of it.
  const int64_t first = std::max(byte, window.begin) + window.firstByte;
  const int64_t last = std::min(byte + elements * width, window.end) - 1 + window.firstByte;
  const int64_t p = partition + window.firstPartition;
  ShownRange &range = event.range;
  if (event.elements == 0)
    range = {window.memory, event.tensor, p, p, first, last};
  range.firstPartition = std::min(range.firstPartition, p);
  range.lastPartition = std::max(range.lastPartition, p);
  range.firstByte = std::min(range.firstByte, first);
  range.lastByte = std::max(range.lastByte, last);
  event.elements += elements;
}

WatchEvent Watch::eventOf(const RunStep &step, unsigned operand, bool isWrite,
                          const Place &place) const {
  WatchEvent event;
  event.step = step;
  event.operand = operand;
  event.isWrite = isWrite;
  event.tensor = place.tensor;
  return event;
}

/// Null: the block has no bytes yet.
const std::byte *Watch::bytesAt(uint32_t block, uint32_t partition, int64_t byte) const {
  if (!view->memory.hasBytes(block))
    return nullptr;
  Place place;
  place.block = block;
  place.partition = partition;
  place.byte = byte;
  return view->memory.address(place);
}

void Watch::reads(const RunStep &step, unsigned operand, const Place &place) {
  if (!options.reads || !region.names(place.tensor))
    return;
  WatchEvent event = eventOf(step, operand, false, place);
  const int64_t width = place.shape().elementBytes();
  for (const ByteWindow &window : region.windows)
    forEachStretch(place, window, [&](uint32_t partition, int64_t byte, int64_t elements) {
      extend(event, window, partition, byte, elements, width);
    });
  if (event.elements > 0)
    callback(event);
}

void Watch::writes(const RunStep &step, unsigned operand, const Place &place) {
  if (!region.names(place.tensor))
    return;
  auto write = std::ranges::find(pending, operand, [](const Write &w) { return w.event.operand; });
  const int64_t width = place.shape().elementBytes();
  for (const ByteWindow &window : region.windows)
    forEachStretch(place, window, [&](uint32_t partition, int64_t byte, int64_t elements) {
      if (write == pending.end()) {
        write = pending.insert(write, Write());
        write->event = eventOf(step, operand, true, place);
        write->dtype = place.shape().dtype;
        write->block = place.block;
      }
      extend(write->event, window, partition, byte, elements, width);
      Stretch stretch{partition, byte, elements, before.size(), std::vector<bool>(elements)};
      const std::byte *old = bytesAt(place.block, partition, byte);
      before.resize(before.size() + size_t(elements * width));
      if (old)
        std::memcpy(before.data() + stretch.old, old, size_t(elements * width));
      for (int64_t i = 0; old && i < elements; ++i)
        stretch.known[size_t(i)] =
            view->memory.isWritten(place.tensor, partition, byte + i * width);
      write->stretches.push_back(std::move(stretch));
    });
}

void Watch::compare(Write &write) const {
  const size_t width = size_t(isa::bytesOf(write.dtype));
  const TensorPlace &where = view->layout.tensors()[write.event.tensor];
  HostArray element{write.dtype, {1}, std::vector<std::byte>(width)};
  const auto textOf = [&](const std::byte *bytes) {
    std::memcpy(element.data.data(), bytes, width);
    return valueText(element, 0);
  };
  for (const Stretch &stretch : write.stretches)
    for (int64_t i = 0; i < stretch.elements; ++i) {
      const int64_t byte = stretch.byte + i * int64_t(width);
      const std::byte *old = before.data() + stretch.old + size_t(i) * width;
      const std::byte *now = bytesAt(write.block, stretch.partition, byte);
      const bool wasWritten = stretch.known[size_t(i)];
      if (wasWritten && std::memcmp(old, now, width) == 0)
        continue;
      if (write.event.changes.size() < options.maxChanges)
        write.event.changes.push_back({stretch.partition - where.partition, byte - where.byte,
                                       wasWritten ? textOf(old) : "unwritten", textOf(now)});
      ++write.event.changed;
    }
}

void Watch::ends(const RunStep &) {
  for (Write &write : pending) {
    compare(write);
    callback(write.event);
  }
  pending.clear();
  before.clear();
}

//---- text ---------------------------------------------------------------===//

std::string kilnrt::whereText(const RunStep &step, const Program &program) {
  std::string text = stepText(step);
  if (step.share != RunStep::kWhole)
    text += fmt::format(", DMA engine {} of {}", step.share, int64_t(isa::machine.dmaEngines));
  text += ", at " + placeText(program.chain(step.location));
  if (step.loops > 0)
    text +=
        fmt::format(", iteration{} {}", step.loops == 1 ? "" : "s",
                    fmt::join(step.iteration.begin(), step.iteration.begin() + step.loops, ", "));
  return text;
}

std::string kilnrt::toText(const WatchEvent &event, const Program &program) {
  const isa::InstDesc &desc = *isa::findInstruction(event.step.opcode);
  const TensorInfo &tensor = program.tensors[event.tensor];
  std::string text = whereText(event.step, program);
  text += fmt::format("\n  {} {} '{}': {}, {} element{}\n", event.isWrite ? "writes" : "reads",
                      desc.operands[event.operand].name, tensor.name, toText(event.range, program),
                      event.elements, event.elements == 1 ? "" : "s");
  if (!event.isWrite)
    return text;
  std::string changes;
  for (const ElementChange &change : event.changes)
    changes += fmt::format("{}{}: {} -> {}", changes.empty() ? "" : ", ",
                           elementText(tensor, change.partition, change.byte), change.before,
                           change.after);
  if (event.changed > int64_t(event.changes.size()))
    changes += fmt::format(", {} more", event.changed - int64_t(event.changes.size()));
  return text + "  " + (changes.empty() ? "nothing changes" : changes) + "\n";
}
