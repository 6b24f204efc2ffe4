//===- Schedules.cpp - runs a program in several orders ---------------------------------------===//

#include "Schedules.h"

#include "ResultText.h"
#include "kilnrt/HostData/ArrayText.h"

#include <fmt/format.h>

#include <algorithm>

namespace kiln::tool {
namespace {

using kilnrt::HostArray;
using kilnrt::Schedule;

constexpr std::string_view kAllAdversarial = "adversarial";

/// Where two results of one shape differ first, as an element; nothing when they are equal.
std::optional<size_t> firstDifference(const HostArray &a, const HostArray &b) {
  const auto [at, other] = std::ranges::mismatch(a.data, b.data);
  if (at == a.data.end())
    return std::nullopt;
  return size_t(at - a.data.begin()) / isa::bytesOf(a.dtype);
}

} // namespace

kilnrt::Status compareResults(const Schedule &first, std::span<const HostArray> a,
                              const Schedule &second, std::span<const HostArray> b,
                              std::span<const std::string> names) {
  for (size_t i = 0; i < a.size(); ++i)
    if (const auto element = firstDifference(a[i], b[i])) {
      const std::string one = scheduleText(first), two = scheduleText(second);
      return kilnrt::makeError(
          Fault::Check,
          fmt::format("schedules {} and {} disagree on result '{}': element {} is {} and {}", one,
                      two, names[i], indexText(a[i], *element),
                      kilnrt::valueText(a[i], int64_t(*element)),
                      kilnrt::valueText(b[i], int64_t(*element))),
          fmt::format(
              "a wait is missing: run with --no-proof --schedule={} to see this order alone", two));
    }
  return kilnrt::Status::ok();
}

kilnrt::Expected<std::vector<Schedule>> schedulesOf(const std::string &text,
                                                    const kilnrt::Program &program) {
  if (text == kAllAdversarial) {
    std::vector<Schedule> schedules = adversarialSchedules(program);
    schedules.insert(schedules.begin(), Schedule::Program);
    return schedules;
  }
  const auto schedule = kilnrt::parseSchedule(text);
  if (!schedule)
    return schedule.error();
  return std::vector{*schedule};
}

kilnrt::Status checkScheduleName(const std::string &text) {
  if (text == kAllAdversarial)
    return kilnrt::Status::ok();
  const auto schedule = kilnrt::parseSchedule(text);
  return schedule ? kilnrt::Status::ok() : kilnrt::Status(schedule.error());
}

kilnrt::Expected<kilnrt::RunResult> runSchedules(const kilnrt::Executable &executable,
                                                 std::span<const HostArray> inputs,
                                                 kilnrt::RunOptions options,
                                                 std::span<const Schedule> schedules,
                                                 std::span<const std::string> names) {
  options.schedule = schedules.front();
  auto first = executable.run(inputs, options);
  if (!first || first->stop)
    return first;
  // Seen once.
  options.onPrint = [](const kilnrt::DevicePrint &) {};
  options.observer = nullptr;
  for (const Schedule &schedule : schedules.subspan(1)) {
    options.schedule = schedule;
    const auto result = executable.run(inputs, options);
    if (!result)
      return result.error();
    if (auto equal =
            compareResults(schedules.front(), first->outputs, schedule, result->outputs, names);
        !equal)
      return equal.error();
  }
  return first;
}

} // namespace kiln::tool
