//===- Debugging.h - the options that look into a run -----------------------------------------===//

#ifndef KILN_TOOLS_KILN_DEBUGGING_H
#define KILN_TOOLS_KILN_DEBUGGING_H

#include "Commands.h"
#include "kilnrt/Debug/Observers.h"

#include <memory>

namespace kiln::tool {

/// What --dump, --watch, --who-wrote and --stop-at ask of one run.
class Debugging {
public:
  /// Reads the options for `program`, which outlives this. Reports what is wrong with them; null
  /// then. What is seen during the run goes to `out`; `clear` is called before.
  static std::unique_ptr<Debugging> of(const DebugOptions &options, const kilnrt::Program &program,
                                       FILE *out, std::function<void()> clear, Reporter &reporter);

  /// For RunOptions; null when nothing is asked.
  kilnrt::RunObserver *observer() { return observers.empty() ? nullptr : &observers; }
  /// Writes and prints what there is to say once the run is over, however it ended.
  void report(bool raw, Reporter &reporter, nlohmann::ordered_json &json) const;

private:
  struct Dump {
    std::string file;
    std::optional<kilnrt::RunPoint> point;
    std::unique_ptr<kilnrt::DumpTensor> observer;
    std::string text; ///< the option
  };
  struct WhoWrote {
    std::string text;
    std::unique_ptr<kilnrt::LastWriters> observer;
  };

  Debugging(const kilnrt::Program &program, FILE *out, std::function<void()> clear)
      : program(program), out(out), clear(std::move(clear)) {}
  kilnrt::Status addDump(const std::string &text, const kilnrt::SourceLines &lines);
  kilnrt::Status addWatch(const std::string &text, bool reads);
  kilnrt::Status addWhoWrote(const std::string &text);
  kilnrt::Status addStop(const std::string &text, const kilnrt::SourceLines &lines);
  void reportDump(const Dump &dump, bool raw, Reporter &reporter,
                  nlohmann::ordered_json &json) const;
  void reportWriters(const WhoWrote &asked, nlohmann::ordered_json &json) const;

  const kilnrt::Program &program;
  FILE *out;
  std::function<void()> clear;
  std::vector<Dump> dumps;
  std::vector<std::unique_ptr<kilnrt::Watch>> watches;
  std::vector<WhoWrote> writers;
  std::unique_ptr<kilnrt::StopAt> stop;
  kilnrt::RunObservers observers;
};

} // namespace kiln::tool

#endif // KILN_TOOLS_KILN_DEBUGGING_H
