//===- StorageReport.cpp - which bytes exactly ------------------------------------------------===//
//
// What a run that stops wants to know about its memories. Asked once; byte by byte.
//
//===------------------------------------------------------------------------------------------===//

#include "kilnrt/Machine/Storage.h"

#include <algorithm>

using namespace kilnrt;
using isa::machine;

/// The bytes a place touches in each of its partitions, in the block.
static std::vector<ByteInterval> intervalsOf(const Place &place) {
  std::vector<ByteInterval> intervals;
  forEachRun(place.pattern->runs, place.byte, [&](int64_t first, int64_t count, int64_t) {
    intervals.push_back({first, first + count});
  });
  return merged(std::move(intervals));
}

static int64_t lengthOf(const std::vector<ByteInterval> &intervals) {
  int64_t bytes = 0;
  for (const ByteInterval &i : intervals)
    bytes += i.end - i.first;
  return bytes;
}

/// The parts of `intervals` where `isMeant(byte)`, moved back by `origin`.
template <typename Fn>
static std::vector<ByteInterval> partsOf(const std::vector<ByteInterval> &intervals, int64_t origin,
                                         const Fn &isMeant) {
  std::vector<ByteInterval> parts;
  for (const ByteInterval &i : intervals)
    for (int64_t byte = i.first; byte < i.end; ++byte) {
      if (!isMeant(byte))
        continue;
      const int64_t first = byte;
      while (byte < i.end && isMeant(byte))
        ++byte;
      parts.push_back({first - origin, byte - origin});
    }
  return merged(std::move(parts));
}

ByteSet kilnrt::bytesOf(const Place &place, const Layout &layout) {
  const TensorPlace &where = layout.tensors()[place.tensor];
  std::vector<ByteInterval> intervals = intervalsOf(place);
  for (ByteInterval &i : intervals) {
    i.first -= where.byte;
    i.end -= where.byte;
  }
  ByteSet result;
  for (uint32_t p = place.partition; p < place.partition + place.partitions(); ++p)
    result.add(p - where.partition, intervals);
  return result;
}

bool Storage::isByteWritten(const Block &block, uint32_t partition, int64_t byte) const {
  if (!block.linear.empty())
    return block.linear.get(byte);
  return !block.bytes.empty() && block.bytes.get(partition, byte);
}

ByteSet Storage::unwrittenAmong(uint32_t tensor, uint32_t first, uint32_t partitions,
                                const std::vector<ByteInterval> &asked) const {
  const TensorPlace &where = layout.tensors()[tensor];
  const Block &block = blocks[where.block];
  const TensorState &state = states[tensor];
  // Bits of a tensor that is not live are those of another one or of none.
  const bool isNothingWritten = isLazy(where.block) && !state.live;
  ByteSet result;
  for (uint32_t p = first; p < first + partitions; ++p)
    result.add(p - where.partition, partsOf(asked, where.byte, [&](int64_t byte) {
                 return isNothingWritten || !isByteWritten(block, p, byte);
               }));
  return result;
}

UnwrittenBytes Storage::whyUnwritten(uint32_t tensor) const {
  const TensorState &state = states[tensor];
  UnwrittenBytes why;
  why.wasWrittenEarlier = state.wasWrittenEarlier;
  why.earlierAuthor = state.earlierAuthor;
  if (state.activations == 0)
    return why;
  why.kind = UnwrittenBytes::Partly;
  why.author = state.author;
  if (isLazy(layout.tensors()[tensor].block) && !state.live) {
    why.kind = UnwrittenBytes::Overwritten;
    why.other = state.overwrittenBy;
    why.author = state.takenBy;
  }
  return why;
}

UnwrittenBytes Storage::unwritten(const Place &place) const {
  UnwrittenBytes why = whyUnwritten(place.tensor);
  const std::vector<ByteInterval> asked = intervalsOf(place);
  why.asked = lengthOf(asked) * place.partitions();
  why.bytes = why.kind == UnwrittenBytes::Overwritten
                  ? taken(place)
                  : unwrittenAmong(place.tensor, place.partition, place.partitions(), asked);
  return why;
}

std::optional<UnwrittenBytes> Storage::unwritten(uint32_t tensor) const {
  if (states[tensor].full || mode == ShadowMode::Off)
    return std::nullopt;
  const TensorPlace &where = layout.tensors()[tensor];
  UnwrittenBytes why = whyUnwritten(tensor);
  why.asked = int64_t(where.partitions) * where.bytes;
  why.bytes = unwrittenAmong(tensor, where.partition, where.partitions,
                             {{where.byte, where.byte + where.bytes}});
  if (why.bytes.empty())
    return std::nullopt;
  return why;
}

ByteSet Storage::taken(const Place &place) const {
  const TensorState &state = states[place.tensor];
  const TensorPlace &where = layout.tensors()[place.tensor];
  std::vector<const TensorPlace *> takers;
  for (uint32_t t = 0; t < states.size(); ++t)
    if (t != place.tensor && states[t].activatedAt >= state.retiredAt &&
        layout.tensors()[t].block == where.block && mayOverlap(layout.tensors()[t], where))
      takers.push_back(&layout.tensors()[t]);
  const std::vector<ByteInterval> asked = intervalsOf(place);
  ByteSet result;
  for (uint32_t p = place.partition; p < place.partition + place.partitions(); ++p)
    result.add(p - where.partition, partsOf(asked, where.byte, [&](int64_t byte) {
                 return std::any_of(takers.begin(), takers.end(), [&](const TensorPlace *t) {
                   return p >= t->partition && p < t->partition + t->partitions &&
                          byte >= t->byte && byte < t->byte + t->bytes;
                 });
               }));
  return result;
}

ByteSet Storage::withoutSums(const Place &place) const {
  const TensorPlace &where = layout.tensors()[place.tensor];
  const std::vector<ByteInterval> asked = intervalsOf(place);
  ByteSet result;
  for (uint32_t p = place.partition; p < place.partition + place.partitions(); ++p)
    result.add(p - where.partition,
               partsOf(asked, where.byte, [&](int64_t byte) { return !cell(place, p, byte); }));
  return result;
}
