//===- DiagnosticLog.cpp - collecting the errors of a trace -----------------------------------===//

#include "TraceState.h"

#include <algorithm>
#include <mutex>

namespace kiln::trace {

void DiagnosticLog::report(const Fault &fault, Place place, std::vector<Note> notes) {
  ++errors;
  auto [slot, isNew] =
      seen.try_emplace({fault.rule, place, fault.subject, fault.declared}, entries.size());
  if (!isNew) {
    ++entries[slot->second].repetitions;
    return;
  }
  if (entries.size() >= limit) {
    seen.erase(slot);
    ++dropped;
    return;
  }
  entries.push_back({fault, place, std::move(notes)});
}

std::vector<Diagnostic> DiagnosticLog::finish() {
  // Within a line; sortBySource keeps it.
  std::stable_sort(entries.begin(), entries.end(), [](const Entry &a, const Entry &b) {
    if (a.fault.isArgument != b.fault.isArgument)
      return a.fault.isArgument;
    return a.fault.isArgument &&
           std::tie(a.fault.rule, a.fault.message) < std::tie(b.fault.rule, b.fault.message);
  });
  std::vector<Diagnostic> out;
  for (Entry &entry : entries) {
    Diagnostic d;
    d.rule = entry.fault.rule;
    d.message = entry.fault.message;
    d.help = entry.fault.help;
    d.place = locations.chain(entry.place);
    for (const Note &note : entry.notes)
      d.notes.push_back({note.message, locations.chain(note.place), note.rule});
    if (entry.repetitions)
      d.notes.push_back({text("the statement breaks this rule ", entry.repetitions,
                              entry.repetitions == 1 ? " more time" : " more times"),
                         d.place});
    out.push_back(std::move(d));
  }
  sortBySource(out);
  if (dropped) {
    Diagnostic more;
    more.severity = Severity::Note;
    more.message = text("and ", dropped, dropped == 1 ? " more error" : " more errors");
    out.push_back(std::move(more));
  }
  return out;
}

//---- calls outside a kernel ---------------------------------------------===//

namespace {

struct OutsideCalls {
  std::mutex mutex;
  std::vector<std::pair<std::string, FileLine>> calls;
};
OutsideCalls &outsideCalls() {
  static OutsideCalls calls;
  return calls;
}

/// The first ones tell the story.
constexpr size_t kMaxOutsideCalls = 8;

} // namespace

void reportOutsideKernel(std::string_view function, const nl::SrcLoc &loc) {
  OutsideCalls &all = outsideCalls();
  std::lock_guard lock(all.mutex);
  if (all.calls.size() < kMaxOutsideCalls)
    all.calls.push_back({std::string(function), {loc.file, loc.line}});
}

bool calledOutsideKernel() {
  OutsideCalls &all = outsideCalls();
  std::lock_guard lock(all.mutex);
  return !all.calls.empty();
}

std::vector<Diagnostic> takeCallsOutsideKernel(const std::string &kernelFile) {
  std::vector<std::pair<std::string, FileLine>> calls;
  {
    OutsideCalls &all = outsideCalls();
    std::lock_guard lock(all.mutex);
    calls.swap(all.calls);
  }
  std::vector<Diagnostic> out;
  for (auto &[function, place] : calls) {
    Diagnostic d;
    d.rule = "K-07";
    d.message = text(function, " called outside a kernel");
    d.help = "call it from the kernel function, on the thread that runs it";
    d.place = {{relativeToKernel(place.file, kernelFile), place.line}};
    if (std::none_of(out.begin(), out.end(), [&d](const Diagnostic &other) {
          return other.message == d.message && other.place == d.place;
        }))
      out.push_back(std::move(d));
  }
  return out;
}

} // namespace kiln::trace
