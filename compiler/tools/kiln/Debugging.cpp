//===- Debugging.cpp - the options that look into a run ---------------------------------------===//

#include "Debugging.h"

#include "kilnrt/HostData/Npy.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace kiln::tool {

using kilnrt::MemoryRegion;
using kilnrt::RunPoint;
using kilnrt::Status;
using nlohmann::ordered_json;

std::unique_ptr<Debugging> Debugging::of(const DebugOptions &options,
                                         const kilnrt::Program &program, FILE *out,
                                         std::function<void()> clear, Reporter &reporter) {
  // Who asks for no line need not have the streams decoded for it.
  const bool needsLines = !options.dumps.empty() || !options.stopAt.empty();
  const kilnrt::Program none;
  auto lines = kilnrt::SourceLines::of(needsLines ? program : none);
  if (!lines) {
    reporter.report(lines.error());
    return nullptr;
  }
  std::unique_ptr<Debugging> debugging(new Debugging(program, out, std::move(clear)));
  bool isFine = true;
  const auto check = [&](const Status &status) {
    if (!status)
      reporter.report(status.error());
    isFine &= bool(status);
  };
  for (const std::string &text : options.dumps)
    check(debugging->addDump(text, *lines));
  for (const std::string &text : options.watches)
    check(debugging->addWatch(text, options.watchReads));
  for (const std::string &text : options.whoWrote)
    check(debugging->addWhoWrote(text));
  if (!options.stopAt.empty())
    check(debugging->addStop(options.stopAt, *lines));
  if (options.watchReads && options.watches.empty())
    check(kilnrt::makeError(Fault::Usage, "--watch-reads has nothing to watch",
                            "say what with --watch, as in --watch sbuf:0:0-63"));
  return isFine ? std::move(debugging) : nullptr;
}

//---- options ------------------------------------------------------------===//

Status Debugging::addDump(const std::string &text, const kilnrt::SourceLines &lines) {
  const size_t equals = text.rfind('=');
  if (equals == std::string::npos || equals + 1 == text.size() || equals == 0)
    return kilnrt::makeError(Fault::Usage, fmt::format("'{}' names no tensor and file", text),
                             "write --dump TENSOR@FILE:LINE=OUT.npy, or --dump TENSOR=OUT.npy for "
                             "the end of the run");
  Dump dump;
  dump.text = text;
  dump.file = text.substr(equals + 1);
  const std::string what = text.substr(0, equals);
  const size_t at = what.find('@');
  auto tensors = kilnrt::findTensors(what.substr(0, at), program);
  if (!tensors)
    return tensors.error();
  if (at != std::string::npos) {
    auto point = lines.find(what.substr(at + 1), kilnrt::WhichOfLine::Last);
    if (!point)
      return point.error();
    dump.point = *point;
  }
  dump.observer = std::make_unique<kilnrt::DumpTensor>(*tensors, dump.point);
  observers.add(*dump.observer);
  dumps.push_back(std::move(dump));
  return Status::ok();
}

Status Debugging::addWatch(const std::string &text, bool reads) {
  auto region = kilnrt::parseRegion(text, program);
  if (!region)
    return region.error();
  const auto show = [this, text](const kilnrt::WatchEvent &event) {
    clear();
    fmt::print(out, "watch {}: {}", text, kilnrt::toText(event, program));
    std::fflush(out); // what follows may fault
  };
  kilnrt::WatchOptions options;
  options.reads = reads;
  watches.push_back(std::make_unique<kilnrt::Watch>(std::move(*region), options, show));
  observers.add(*watches.back());
  return Status::ok();
}

Status Debugging::addWhoWrote(const std::string &text) {
  auto region = kilnrt::parseRegion(text, program);
  if (!region)
    return region.error();
  if (region->bytes() > kilnrt::LastWriters::kMaxBytes)
    return kilnrt::makeError(Fault::Usage,
                             fmt::format("'{}' is {} bytes, who wrote can be asked of {}", text,
                                         region->bytes(), kilnrt::LastWriters::kMaxBytes),
                             "name a part of it");
  writers.push_back({text, std::make_unique<kilnrt::LastWriters>(std::move(*region))});
  observers.add(*writers.back().observer);
  return Status::ok();
}

Status Debugging::addStop(const std::string &text, const kilnrt::SourceLines &lines) {
  auto point = lines.find(text, kilnrt::WhichOfLine::First);
  if (!point)
    return point.error();
  stop = std::make_unique<kilnrt::StopAt>(*point);
  observers.add(*stop);
  return Status::ok();
}

//---- after the run ------------------------------------------------------===//

void Debugging::reportDump(const Dump &dump, bool raw, Reporter &reporter,
                           ordered_json &json) const {
  const std::optional<kilnrt::TensorDump> &taken = dump.observer->result();
  const std::string when = dump.point ? fmt::format("after {} ({} of {} of that line)",
                                                    kilnrt::whereText(dump.point->step(), program),
                                                    dump.point->number, dump.point->count)
                                      : "at the end of the run";
  if (!taken) {
    fmt::print(out, "dump {}: the run ended before it was {}\n", dump.text, when);
    return;
  }
  kilnrt::NpyWriteOptions options;
  options.raw = raw;
  if (auto status = kilnrt::writeNpyFile(dump.file, taken->value, options); !status)
    return reporter.report(status.error());
  const kilnrt::TensorInfo &info = program.tensors[taken->tensor];
  fmt::print(out, "dump {} {} [{}] {} -> {}\n", info.name, isa::name(info.dtype),
             fmt::join(info.shape, ", "), when, dump.file);
  std::vector<int64_t> index(info.shape.size());
  int64_t flat = taken->firstUnwritten;
  for (size_t d = index.size(); d-- > 0; flat /= info.shape[d])
    index[d] = flat % info.shape[d];
  if (taken->unwritten > 0)
    fmt::print(out, "  {} of {} elements {}, the first is ({})\n", taken->unwritten,
               taken->value.elements(),
               taken->overwrittenBy == kilnrt::kNone
                   ? std::string("are not written")
                   : fmt::format("are lost to '{}', which took their bytes",
                                 program.tensors[taken->overwrittenBy].name),
               fmt::join(index, ", "));
  json["dumps"].push_back({{"tensor", info.name},
                           {"file", dump.file},
                           {"when", when},
                           {"unwritten", taken->unwritten}});
}

void Debugging::reportWriters(const WhoWrote &asked, ordered_json &json) const {
  constexpr size_t kShown = 200;
  const std::vector<kilnrt::WrittenStretch> stretches = asked.observer->stretches();
  fmt::print(out, "who wrote {}\n", asked.text);
  ordered_json list = ordered_json::array();
  for (size_t i = 0; i < std::min(stretches.size(), kShown); ++i) {
    const std::string text = kilnrt::toText(stretches[i], program);
    fmt::print(out, "  {}\n", text);
    list.push_back(text);
  }
  if (stretches.size() > kShown)
    fmt::print(out, "  {} more stretches of bytes\n", stretches.size() - kShown);
  json["who_wrote"].push_back({{"bytes", asked.text}, {"stretches", list}});
}

void Debugging::report(bool raw, Reporter &reporter, ordered_json &json) const {
  for (const Dump &dump : dumps)
    reportDump(dump, raw, reporter, json);
  for (const WhoWrote &asked : writers)
    reportWriters(asked, json);
  std::fflush(out);
}

} // namespace kiln::tool
