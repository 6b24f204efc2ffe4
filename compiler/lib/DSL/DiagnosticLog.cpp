//===- DiagnosticLog.cpp - collecting the errors of a trace -----------------------------------===//

#include "TraceState.h"

#include <algorithm>
#include <mutex>

namespace kiln::trace {

void DiagnosticLog::report(const Fault &fault, Place place, std::vector<Note> notes) {
  ++errors;
  auto [slot, isNew] = seen.try_emplace({fault.rule, place, fault.subject}, entries.size());
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

namespace {

/// Call sites before the statement, so that errors follow the text of the kernel function.
bool inSourceOrder(const Diagnostic &a, const Diagnostic &b) {
  auto before = [](const FileLine &x, const FileLine &y) {
    return std::tie(x.file, x.line) < std::tie(y.file, y.line);
  };
  if (a.place != b.place)
    return std::lexicographical_compare(a.place.rbegin(), a.place.rend(), b.place.rbegin(),
                                        b.place.rend(), before);
  return std::tie(a.rule, a.message) < std::tie(b.rule, b.message);
}

} // namespace

std::vector<Diagnostic> DiagnosticLog::finish() {
  std::vector<Diagnostic> out;
  for (Entry &entry : entries) {
    Diagnostic d;
    d.rule = entry.fault.rule;
    d.message = entry.fault.message;
    d.help = entry.fault.help;
    d.place = locations.chain(entry.place);
    for (const Note &note : entry.notes)
      d.notes.push_back({note.message, locations.chain(note.place)});
    if (entry.repetitions)
      d.notes.push_back({text("the statement breaks this rule ", entry.repetitions,
                              entry.repetitions == 1 ? " more time" : " more times"),
                         d.place});
    out.push_back(std::move(d));
  }
  std::stable_sort(out.begin(), out.end(), inSourceOrder);
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
