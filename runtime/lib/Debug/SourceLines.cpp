//===- SourceLines.cpp - the instructions of a line -------------------------------------------===//

#include "kilnrt/Debug/Select.h"

#include "kiln/ISA/Args.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <set>

using namespace kilnrt;

namespace {

Diagnostic usage(std::string message, std::string help) {
  return makeError(Fault::Usage, std::move(message), std::move(help));
}

bool isEdge(isa::Opcode opcode) {
  return opcode == isa::Opcode::LoopBegin || opcode == isa::Opcode::LoopEnd;
}

/// One path is the end of the other, folder by folder.
bool isSameFile(std::string_view a, std::string_view b) {
  if (a.size() < b.size())
    std::swap(a, b);
  return !b.empty() && a.ends_with(b) &&
         (a.size() == b.size() || b.front() == '/' || a[a.size() - b.size() - 1] == '/');
}

template <typename Number>
bool parseNumber(std::string_view text, Number &number) {
  auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  return problem == std::errc() && end == text.data() + text.size();
}

uint64_t multiply(uint64_t a, uint64_t b) {
  uint64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
}

uint64_t add(uint64_t a, uint64_t b) { return a > UINT64_MAX - b ? UINT64_MAX : a + b; }

/// "1, 2 and 3".
std::string listText(const std::vector<std::string> &items) {
  std::string out;
  for (size_t i = 0; i < items.size(); ++i)
    out += (i == 0 ? "" : i + 1 == items.size() ? " and " : ", ") + items[i];
  return out;
}

} // namespace

RunStep RunPoint::step() const {
  RunStep step;
  step.opcode = opcode;
  step.engine = engine;
  step.index = index;
  step.order = order;
  step.location = location;
  step.iteration = iteration;
  step.loops = loops;
  return step;
}

/// Iterations a loop may have.
static int64_t tripCountOf(const isa::LoopBeginArgs &loop) {
  return loop.kind == isa::LoopKind::Count ? int64_t(loop.tripCount) : INT64_MAX;
}

Expected<SourceLines> SourceLines::of(const Program &program) {
  SourceLines lines(program);
  for (const Stream &stream : program.streams) {
    Expected<std::vector<Record>> records = decodeStream(stream);
    if (!records)
      return records.error();
    std::vector<uint32_t> open;
    uint32_t begun = 0;
    for (uint32_t i = 0; i < records->size(); ++i) {
      const Record &record = (*records)[i];
      if (record.inst.opcode == isa::Opcode::LoopEnd)
        open.pop_back();
      if (record.inst.opcode == isa::Opcode::LoopBegin) {
        if (begun == lines.tripCounts.size())
          lines.tripCounts.push_back(tripCountOf(isa::LoopBeginArgs(record.inst)));
        open.push_back(begun++);
      }
      if (isEdge(record.inst.opcode) || record.inst.opcode == isa::Opcode::SemaphoreWait)
        continue;
      Entry entry;
      entry.point.opcode = record.inst.opcode;
      entry.point.engine = stream.engine;
      entry.point.index = i;
      entry.point.order = record.order;
      entry.point.location = record.location;
      for (const isa::Access &access : record.inst.operands)
        if (access.present())
          entry.point.tensors.push_back(access.tensor);
      entry.loops = open;
      entry.point.loops = unsigned(open.size());
      lines.entries.push_back(std::move(entry));
    }
  }
  std::ranges::sort(lines.entries, {}, [](const Entry &e) { return e.point.order; });
  return lines;
}

bool SourceLines::comesFrom(const Entry &entry, std::string_view file, unsigned line) const {
  for (uint32_t at = entry.point.location; at != kNone; at = program->locations[at].caller) {
    const Location &frame = program->locations[at];
    if ((line == 0 || frame.line == line) && isSameFile(program->files[frame.file], file))
      return true;
  }
  return false;
}

Diagnostic SourceLines::unknownFile(std::string_view file) const {
  constexpr size_t kShown = 8;
  std::vector<std::string> names;
  for (const std::string &name : program->files)
    if (names.size() < kShown)
      names.push_back(name);
  return usage(fmt::format("no instruction comes from a file '{}'", file),
               names.empty() ? "the program knows no lines"
                             : "files of the program: " + listText(names));
}

Diagnostic SourceLines::emptyLine(std::string_view file, unsigned line) const {
  constexpr size_t kShown = 4;
  std::set<unsigned> known;
  for (const Entry &entry : entries)
    for (uint32_t at = entry.point.location; at != kNone; at = program->locations[at].caller)
      if (isSameFile(program->files[program->locations[at].file], file))
        known.insert(program->locations[at].line);
  std::vector<unsigned> near(known.begin(), known.end());
  const auto distance = [line](unsigned l) { return std::pair(l < line ? line - l : l - line, l); };
  std::ranges::sort(near, {}, distance);
  near.resize(std::min(near.size(), kShown));
  std::ranges::sort(near);
  std::vector<std::string> texts;
  for (unsigned l : near)
    texts.push_back(std::to_string(l));
  return usage(fmt::format("no instruction comes from line {} of '{}'", line, file),
               fmt::format("{} {} {} some", texts.size() == 1 ? "line" : "lines", listText(texts),
                           texts.size() == 1 ? "has" : "have"));
}

/// How often the instructions run in one iteration of the `depth` loops they share.
uint64_t SourceLines::executions(std::span<const Entry *const> group, size_t depth) const {
  uint64_t total = 0;
  for (size_t i = 0; i < group.size();) {
    if (group[i]->loops.size() == depth) {
      total = add(total, 1);
      ++i;
      continue;
    }
    const uint32_t loop = group[i]->loops[depth];
    size_t end = i;
    while (end < group.size() && group[end]->loops.size() > depth &&
           group[end]->loops[depth] == loop)
      ++end;
    total = add(total, multiply(uint64_t(tripCounts[loop]),
                                executions(group.subspan(i, end - i), depth + 1)));
    i = end;
  }
  return total;
}

/// Execution `number`, from 0, of those that `executions` counts.
RunPoint SourceLines::pick(std::span<const Entry *const> group, size_t depth,
                           uint64_t number) const {
  for (size_t i = 0; i < group.size();) {
    if (group[i]->loops.size() == depth) {
      if (number-- == 0)
        return group[i]->point;
      ++i;
      continue;
    }
    const uint32_t loop = group[i]->loops[depth];
    size_t end = i;
    while (end < group.size() && group[end]->loops.size() > depth &&
           group[end]->loops[depth] == loop)
      ++end;
    const uint64_t each = executions(group.subspan(i, end - i), depth + 1);
    if (number < multiply(each, uint64_t(tripCounts[loop]))) {
      RunPoint point = pick(group.subspan(i, end - i), depth + 1, number % each);
      point.iteration[depth] = int64_t(number / each);
      return point;
    }
    number -= multiply(each, uint64_t(tripCounts[loop]));
    i = end;
  }
  return {};
}

Expected<RunPoint> SourceLines::find(std::string_view text, WhichOfLine which) const {
  std::string_view rest = text;
  uint64_t number = 0;
  if (const size_t hash = rest.rfind('#'); hash != std::string_view::npos) {
    if (!parseNumber(rest.substr(hash + 1), number) || number == 0)
      return usage(fmt::format("'{}' is no number of an instruction", rest.substr(hash + 1)),
                   "write FILE:LINE#N, counted from 1");
    rest = rest.substr(0, hash);
  }
  const size_t colon = rest.rfind(':');
  unsigned line = 0;
  if (colon == std::string_view::npos || colon == 0 || !parseNumber(rest.substr(colon + 1), line) ||
      line == 0)
    return usage(fmt::format("'{}' names no line", text), "write FILE:LINE, as in softmax.cpp:17");
  const std::string_view file = rest.substr(0, colon);

  std::vector<const Entry *> found;
  bool isFile = false;
  for (const Entry &entry : entries) {
    if (comesFrom(entry, file, line))
      found.push_back(&entry);
    else if (!isFile)
      isFile = comesFrom(entry, file, 0);
  }
  if (found.empty())
    return isFile ? emptyLine(file, line) : unknownFile(file);
  const uint64_t count = executions(found, 0);
  if (number > count)
    return usage(fmt::format("line {} of '{}' executes {} instruction{}, there is no number {}",
                             line, file, count, count == 1 ? "" : "s", number),
                 fmt::format("give a number from 1 to {}", count));
  if (number == 0)
    number = which == WhichOfLine::First ? 1 : count;
  RunPoint point = pick(found, 0, number - 1);
  point.number = number;
  point.count = count;
  return point;
}
