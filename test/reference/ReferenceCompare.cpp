//===- ReferenceCompare.cpp - a program on the executor and on the reference ------------------===//
//
//===------------------------------------------------------------------------------------------===//

#include "ReferenceTrial.h"

#include "kilnrt/Executor.h"

#include <cstdio>

namespace kiln::reference {

namespace {

std::string hex(uint32_t bits) {
  char text[16];
  std::snprintf(text, sizeof text, "0x%x", bits);
  return text;
}

uint32_t bitsAt(const Bytes &bytes, size_t element, unsigned size) {
  uint32_t bits = 0;
  for (unsigned b = 0; b < size; ++b)
    bits |= uint32_t(bytes[element * size + b]) << 8 * b;
  return bits;
}

/// The first element of an output that differs, and how many do; empty when none does.
std::string difference(size_t output, const kilnrt::HostArray &got, const Bytes &want) {
  const unsigned size = isa::bytesOf(got.dtype);
  size_t first = want.size(), count = 0;
  for (size_t i = 0; i < want.size() / size; ++i)
    if (bitsAt(got.data, i, size) != bitsAt(want, i, size)) {
      first = std::min(first, i);
      ++count;
    }
  if (count == 0)
    return {};
  const int64_t columns = got.shape.back();
  uint32_t has = bitsAt(got.data, first, size), wants = bitsAt(want, first, size);
  char values[80];
  std::snprintf(values, sizeof values, "%.9g, reference %.9g", decode(got.dtype, has),
                decode(got.dtype, wants));
  return "output " + std::to_string(output) + ": " + std::to_string(count) + " of " +
         std::to_string(want.size() / size) + " elements differ, first (" +
         std::to_string(int64_t(first) / columns) + ", " +
         std::to_string(int64_t(first) % columns) + ") of " + std::string(isa::name(got.dtype)) +
         ": " + hex(has) + ", reference " + hex(wants) + " (" + values + ")";
}

std::string compareRun(const kilnrt::RunResult &result, const Machine &machine) {
  std::vector<Bytes> want = machine.outputs();
  for (size_t i = 0; i < want.size(); ++i)
    if (std::string text = difference(i, result.outputs[i], want[i]); !text.empty())
      return text;
  std::vector<Shown> shown;
  for (const kilnrt::DevicePrint &print : result.prints)
    shown.push_back({print.prefix, print.value.data, print.iterations});
  if (shown != machine.shown())
    return "what was printed differs: " + std::to_string(shown.size()) + " prints, reference " +
           std::to_string(machine.shown().size());
  return {};
}

} // namespace

std::string compare(const kilnrt::Program &program) {
  if (kilnrt::Status status = kilnrt::verify(program); !status)
    return "the program is refused: [" + status.error().rule + "] " + status.error().message;
  auto executable = kilnrt::Executable::prepare(program);
  if (!executable)
    return "the program cannot be prepared: " + executable.error().message;
  Machine machine(program);
  kilnrt::Status reference = machine.run();
  std::vector<kilnrt::Schedule> schedules{kilnrt::Schedule::Program};
  if (program.flags.synchronised)
    for (const kilnrt::Schedule &schedule : kilnrt::adversarialSchedules(program))
      schedules.push_back(schedule);
  for (const kilnrt::Schedule &schedule : schedules) {
    kilnrt::RunOptions options;
    options.schedule = schedule;
    auto result = executable->run({}, options);
    if (!result && !reference)
      continue;
    if (!result)
      return "the run stopped: [" + result.error().rule + "] " + result.error().message;
    if (!reference)
      return "the reference refuses it: " + reference.error().message;
    if (std::string text = compareRun(*result, machine); !text.empty())
      return text + " (" + scheduleText(schedule) + ")";
  }
  return {};
}

} // namespace kiln::reference
