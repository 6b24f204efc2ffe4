//===- Schedules.h - runs a program in several orders -----------------------------------------===//

#ifndef KILN_TOOLS_KILN_SCHEDULES_H
#define KILN_TOOLS_KILN_SCHEDULES_H

#include "kilnrt/Executor.h"

namespace kiln::tool {

/// What `--schedule` stands for: the schedule it names or, for "adversarial" alone, program order
/// and every adversarial schedule of `program`. An error of class Usage for a wrong name.
kilnrt::Expected<std::vector<kilnrt::Schedule>> schedulesOf(const std::string &text,
                                                            const kilnrt::Program &program);
/// Whether `schedulesOf` would accept `text`, before there is a program.
kilnrt::Status checkScheduleName(const std::string &text);

/// Compares the results of two runs, bit by bit. A diagnostic of class Check with the element where
/// they disagree; `names` are those of the results.
kilnrt::Status compareResults(const kilnrt::Schedule &first, std::span<const kilnrt::HostArray> a,
                              const kilnrt::Schedule &second, std::span<const kilnrt::HostArray> b,
                              std::span<const std::string> names);

/// Runs in each of `schedules` and compares the bits. The result of the first one; or the first
/// fault, or a diagnostic of class Check with the two schedules that disagree and the element
/// where. Prints are those of the first one too. `names` are those of the results, for messages.
/// Precondition: `schedules` is not empty.
kilnrt::Expected<kilnrt::RunResult> runSchedules(const kilnrt::Executable &executable,
                                                 std::span<const kilnrt::HostArray> inputs,
                                                 kilnrt::RunOptions options,
                                                 std::span<const kilnrt::Schedule> schedules,
                                                 std::span<const std::string> names);

} // namespace kiln::tool

#endif // KILN_TOOLS_KILN_SCHEDULES_H
