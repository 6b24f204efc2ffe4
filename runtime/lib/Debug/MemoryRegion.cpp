//===- MemoryRegion.cpp - bytes by address or by tensor ---------------------------------------===//

#include "kilnrt/Debug/Select.h"

#include "Text.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

using namespace kilnrt;
using isa::machine;

namespace {

Diagnostic usage(std::string message, std::string help) {
  return makeError(Fault::Usage, std::move(message), std::move(help));
}

template <typename Number>
bool parseNumber(std::string_view text, Number &number) {
  auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  return problem == std::errc() && end == text.data() + text.size();
}

/// The text before `separator`, which is removed from `text`; all of it when there is none.
std::string_view takeUntil(std::string_view &text, char separator) {
  const size_t end = text.find(separator);
  const std::string_view part = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return part;
}

std::string_view trimmed(std::string_view text) {
  while (text.starts_with(' '))
    text.remove_prefix(1);
  while (text.ends_with(' '))
    text.remove_suffix(1);
  return text;
}

struct Range {
  int64_t begin = 0, end = 0; ///< the end is not part of it
};

constexpr std::string_view kAddressHelp =
    "write sbuf:PARTITIONS:BYTES, as in sbuf:0-3:1024-2047; the bytes may be left out";

/// "7" or "0-3", both ends included, of [0, limit).
Expected<Range> parseSpan(std::string_view text, std::string_view what, int64_t limit) {
  Range range;
  std::string_view rest = text;
  const std::string_view first = takeUntil(rest, '-');
  if (!parseNumber(first, range.begin) || range.begin < 0)
    return usage(fmt::format("'{}' is no range of {}s", text, what), std::string(kAddressHelp));
  range.end = range.begin;
  if (first.size() != text.size() && !parseNumber(rest, range.end))
    return usage(fmt::format("'{}' is no range of {}s", text, what), std::string(kAddressHelp));
  if (range.end < range.begin)
    return usage(fmt::format("the range of {}s {} ends before it begins", what, text),
                 fmt::format("write {}-{}", range.end, range.begin));
  if (range.end >= limit)
    return usage(fmt::format("{} {} is outside the memory, whose last one is {}", what, range.end,
                             limit - 1),
                 fmt::format("{}s are 0 to {}", what, limit - 1));
  ++range.end;
  return range;
}

class Parser {
public:
  Parser(std::string_view text, const Program &program)
      : text(text), program(program), layout(program) {}

  Expected<MemoryRegion> run() {
    region.text = text;
    for (isa::Memory memory : {isa::Memory::Sbuf, isa::Memory::Psum}) {
      std::string_view rest = text;
      if (takeUntil(rest, ':') == isa::name(memory) && text.find(':') != std::string_view::npos)
        return byAddress(memory, rest);
    }
    if (text.starts_with("hbm:"))
      return usage("HBM has no addresses here", "name a tensor, as in x[0:2, 16:32]");
    return byName();
  }

private:
  Expected<MemoryRegion> byAddress(isa::Memory memory, std::string_view rest) {
    if (!program.flags.placed)
      return usage("the program is not placed: its tensors have no addresses",
                   "name a tensor, as in t[0:2, 16:32]");
    const int64_t limit = memory == isa::Memory::Sbuf
                              ? int64_t(machine.sbufUsableBytesPerPartition)
                              : machine.psumBanks * machine.psumBankBytesPerPartition;
    const std::string_view partitions = takeUntil(rest, ':');
    Expected<Range> p = parseSpan(partitions, "partition", machine.numPartitions);
    if (!p)
      return p.error();
    Expected<Range> bytes = Range{0, limit};
    if (!rest.empty())
      bytes = parseSpan(rest, "byte", limit);
    if (!bytes)
      return bytes.error();
    // Placed programs have a block for each memory on chip, in the order of their numbers.
    region.windows.push_back({uint32_t(memory), uint32_t(p->begin), uint32_t(p->end - p->begin),
                              bytes->begin, bytes->end, memory});
    return std::move(region);
  }

  Expected<MemoryRegion> byName() {
    std::string_view name = text, indices;
    if (const size_t open = text.find('['); open != std::string_view::npos) {
      if (!text.ends_with(']'))
        return usage(fmt::format("'{}' lacks a ']' at its end", text),
                     "write NAME[0:2, 16:32], the indices of a tensor as in Python");
      name = text.substr(0, open);
      indices = text.substr(open + 1, text.size() - open - 2);
      if (trimmed(indices).empty())
        return usage(fmt::format("'{}' has no index between its brackets", text),
                     fmt::format("write {} for all of it", name));
    }
    Expected<std::vector<uint32_t>> tensors = findTensors(name, program);
    if (!tensors)
      return tensors.error();
    region.tensors = *tensors;
    for (uint32_t tensor : *tensors)
      if (Status status = addTensor(tensor, indices); !status)
        return status.error();
    return std::move(region);
  }

  Status addTensor(uint32_t tensor, std::string_view indices) {
    const TensorInfo &info = program.tensors[tensor];
    std::vector<Range> dims;
    for (int64_t extent : info.shape)
      dims.push_back({0, extent});
    for (size_t d = 0; !indices.empty(); ++d) {
      const std::string_view index = trimmed(takeUntil(indices, ','));
      if (d == dims.size())
        return usage(fmt::format("'{}' has more indices than '{}' has dims, {}", text, info.name,
                                 dims.size()),
                     "leave the last ones out");
      Expected<Range> range = parseIndex(index, d, info);
      if (!range)
        return range.error();
      dims[d] = *range;
    }
    return addWindows(tensor, dims);
  }

  /// "3", "0:16", ":", "16:".
  Expected<Range> parseIndex(std::string_view index, size_t dim, const TensorInfo &info) const {
    const int64_t extent = info.shape[dim];
    Range range{0, extent};
    std::string_view rest = index;
    const std::string_view first = trimmed(takeUntil(rest, ':'));
    const bool isSlice = index.find(':') != std::string_view::npos;
    rest = trimmed(rest);
    if ((!first.empty() && !parseNumber(first, range.begin)) || (first.empty() && !isSlice) ||
        (!rest.empty() && !parseNumber(rest, range.end)))
      return usage(fmt::format("'{}' is no index", index), "write 3 or 0:16; steps have no form");
    if (!isSlice)
      range.end = range.begin + 1;
    if (range.begin < 0 || range.end > extent || range.begin >= range.end)
      return usage(
          fmt::format("index {} is outside dim {} of '{}', which has extent {}", index, dim,
                      info.name, extent),
          fmt::format("indices are 0 to {}; the end of a slice is not part of it", extent - 1));
    return range;
  }

  /// The runs of neighbouring bytes of a box of elements.
  Status addWindows(uint32_t tensor, std::vector<Range> dims) {
    const TensorInfo &info = program.tensors[tensor];
    const TensorPlace &where = layout.tensors()[tensor];
    const bool onChip = info.memory != isa::Memory::Hbm;
    ByteWindow window = windowOf(tensor, program, layout);
    if (onChip) {
      window.partition += uint32_t(dims[0].begin);
      window.partitions = uint32_t(dims[0].end - dims[0].begin);
    }
    const size_t first = onChip ? 1 : 0;
    // Dims behind `inner` are whole, so `inner` and they are one run.
    size_t inner = dims.size() - 1;
    int64_t step = isa::bytesOf(info.dtype);
    while (inner > first && dims[inner].begin == 0 && dims[inner].end == info.shape[inner])
      step *= info.shape[inner--];
    std::vector<int64_t> at;
    for (size_t d = first; d < inner; ++d)
      at.push_back(dims[d].begin);
    for (;;) {
      int64_t flat = 0;
      for (size_t d = first; d < inner; ++d)
        flat = flat * info.shape[d] + at[d - first];
      flat *= info.shape[inner];
      window.begin = where.byte + (flat + dims[inner].begin) * step;
      window.end = where.byte + (flat + dims[inner].end) * step;
      region.windows.push_back(window);
      if (int64_t(region.windows.size()) > MemoryRegion::kMaxWindows)
        return usage(
            fmt::format("'{}' is more than {} pieces of memory", text, MemoryRegion::kMaxWindows),
            "name whole rows, or fewer of them");
      size_t d = at.size();
      while (d > 0 && ++at[d - 1] == dims[first + d - 1].end) {
        at[d - 1] = dims[first + d - 1].begin;
        --d;
      }
      if (d == 0)
        return Status::ok();
    }
  }

  std::string_view text;
  const Program &program;
  Layout layout;
  MemoryRegion region;
};

} // namespace

ByteWindow kilnrt::windowOf(uint32_t tensor, const Program &program, const Layout &layout) {
  const TensorInfo &info = program.tensors[tensor];
  const TensorPlace &where = layout.tensors()[tensor];
  return {where.block,
          where.partition,
          where.partitions,
          where.byte,
          where.byte + where.bytes,
          info.memory,
          tensor,
          int64_t(info.partition) - where.partition,
          int64_t(info.byte) - where.byte};
}

std::string kilnrt::toText(const ShownRange &range, const Program &program) {
  const auto span = [](std::string_view what, int64_t first, int64_t last) {
    return first == last ? fmt::format("{} {}", what, first)
                         : fmt::format("{}s {}-{}", what, first, last);
  };
  const std::string bytes = span("byte", range.firstByte, range.lastByte);
  if (range.memory == isa::Memory::Hbm)
    return fmt::format("hbm {} of {}", bytes, text::quoted(program.tensors[range.tensor].name));
  return fmt::format("{} {}, {}", isa::name(range.memory),
                     span("partition", range.firstPartition, range.lastPartition), bytes);
}

int64_t MemoryRegion::bytes() const {
  int64_t total = 0;
  for (const ByteWindow &window : windows)
    total += window.bytes();
  return total;
}

bool MemoryRegion::names(uint32_t tensor) const {
  return tensors.empty() || std::ranges::find(tensors, tensor) != tensors.end();
}

Expected<std::vector<uint32_t>> kilnrt::findTensors(std::string_view name, const Program &program) {
  const auto isCopy = [name](std::string_view other) {
    if (other.size() < name.size() + 2 || !other.starts_with(name) || other[name.size()] != '.')
      return false;
    other.remove_prefix(name.size() + 1);
    return std::ranges::all_of(other, [](char c) { return c >= '0' && c <= '9'; });
  };
  std::vector<uint32_t> found;
  std::vector<std::string_view> names;
  for (uint32_t t = 0; t < program.tensors.size(); ++t) {
    const std::string &other = program.tensors[t].name;
    if (!name.empty() && (other == name || isCopy(other)))
      found.push_back(t);
    names.push_back(other);
  }
  if (!found.empty())
    return found;
  return usage(fmt::format("there is no tensor {}", text::quoted(name)),
               text::suggest(name, names));
}

Expected<MemoryRegion> kilnrt::parseRegion(std::string_view text, const Program &program) {
  return Parser(text, program).run();
}

void kilnrt::forEachStretch(const Place &place, const ByteWindow &window,
                            const std::function<void(uint32_t, int64_t, int64_t)> &fn) {
  const TileShape &shape = place.shape();
  const int64_t width = shape.elementBytes();
  if (place.block != window.block || place.firstByte >= window.end ||
      place.endByte <= window.begin || place.partition >= window.partition + window.partitions ||
      window.partition >= place.partition + place.partitions())
    return;
  const auto visit = [&](uint32_t partition, int64_t first, int64_t count, int64_t step) {
    if (step != width) {
      for (int64_t i = 0; i < count; ++i)
        if (const int64_t byte = first + i * step; byte < window.end && byte + width > window.begin)
          fn(partition, byte, 1);
      return;
    }
    const int64_t skipped = std::max<int64_t>(0, (window.begin - first) / width);
    const int64_t end = std::min(count, (window.end - first + width - 1) / width);
    if (skipped < end)
      fn(partition, first + skipped * width, end - skipped);
  };
  for (uint32_t r = 0; r < shape.rows; ++r) {
    const uint32_t partition = place.onChip ? place.partition + r : 0;
    if (partition < window.partition || partition >= window.partition + window.partitions)
      continue;
    const int64_t row = place.byte + (place.onChip ? 0 : int64_t(r) * shape.rowStep);
    forEachRun(shape, row, [&](int64_t first, int64_t count, int64_t step) {
      visit(partition, first, count, step);
    });
  }
}
