//===- SanitizerBench.cpp - what the checks of a run cost, as ratios --------------------------===//
//
//   SanitizerBench [--samples=N] [--round-robin] PROGRAM.kiln=RATIO ...
//
// Runs each program with everything on, the clocks that watch a program whose races are not proven
// absent among it, and with nothing, turn by turn, and prints both times, their ratio and the ratio
// that is wanted. Times are the medians of samples of the thread's own CPU
// time; a sample during which the thread was taken off its core is thrown away, as long as enough
// others come. Memory is the peak of resident bytes of a process that does one run and nothing
// else, once with checks and once without. `--round-robin` lets the engines take turns, which also
// cuts every transfer into sixteen shares, instead of program order.
//
//===------------------------------------------------------------------------------------------===//

#include "kilnrt/Executor.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string>
#include <vector>

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace kilnrt;

namespace {

[[noreturn]] void fail(const std::string &message) {
  std::fprintf(stderr, "SanitizerBench: %s\n", message.c_str());
  std::exit(1);
}

/// A program, decoded, with inputs of the right types.
struct Prepared {
  Executable executable;
  RacePlan races;
  std::vector<HostArray> inputs;
};

/// Bytes that are a number between -2 and 2 in every float dtype.
HostArray numbers(const TensorInfo &info) {
  HostArray array{info.dtype, info.shape, {}};
  const size_t width = size_t(isa::bytesOf(info.dtype));
  array.data.resize(size_t(array.elements()) * width);
  uint32_t state = 12345;
  for (size_t i = 0; i < array.data.size(); ++i) {
    state = state * 1664525 + 1013904223;
    const bool isTop = i % width == width - 1;
    array.data[i] = isTop ? std::byte(0x3E | (state >> 31) << 7) : std::byte(state >> 24);
  }
  return array;
}

Prepared prepare(const std::string &path) {
  Expected<Program> program = loadFile(path);
  if (!program)
    fail(path + ": " + program.error().message);
  std::vector<const TensorInfo *> arguments;
  for (const TensorInfo &tensor : program->tensors)
    if (tensor.role == TensorRole::Input)
      arguments.push_back(&tensor);
  std::sort(arguments.begin(), arguments.end(),
            [](const TensorInfo *a, const TensorInfo *b) { return a->index < b->index; });
  std::vector<HostArray> inputs;
  for (const TensorInfo *tensor : arguments)
    inputs.push_back(numbers(*tensor));
  Expected<Executable> executable = Executable::prepare(*program);
  if (!executable)
    fail(path + ": " + executable.error().message);
  Expected<RacePlan> races = RacePlan::prepare(*program);
  if (!races)
    fail(path + ": " + races.error().message);
  return {std::move(*executable), std::move(*races), std::move(inputs)};
}

Schedule schedule = Schedule::Program;

void runOnce(const Prepared &prepared, bool isChecked) {
  Expected<RunResult> result =
      prepared.executable.run(prepared.inputs, {.schedule = schedule,
                                                .checkUninitialised = isChecked,
                                                .races = isChecked ? &prepared.races : nullptr});
  if (!result)
    fail(result.error().message);
}

//---- time ---------------------------------------------------------------===//

struct Sample {
  double seconds;
  long switches; ///< times the thread was taken off its core
};

double threadSeconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return double(now.tv_sec) + 1e-9 * double(now.tv_nsec);
}

long involuntarySwitches() {
  rusage usage{};
  getrusage(RUSAGE_THREAD, &usage);
  return usage.ru_nivcsw;
}

Sample measure(const Prepared &prepared, bool isChecked, int runs) {
  const long before = involuntarySwitches();
  const double start = threadSeconds();
  for (int i = 0; i < runs; ++i)
    runOnce(prepared, isChecked);
  return {(threadSeconds() - start) / runs, involuntarySwitches() - before};
}

/// The median of the undisturbed samples; of the `wanted` least disturbed ones when there are not
/// as many.
double medianOf(std::vector<Sample> samples, size_t wanted) {
  std::stable_sort(samples.begin(), samples.end(),
                   [](const Sample &a, const Sample &b) { return a.switches < b.switches; });
  size_t kept = std::min(wanted, samples.size());
  while (kept < samples.size() && samples[kept].switches == 0)
    ++kept;
  samples.resize(kept);
  std::sort(samples.begin(), samples.end(),
            [](const Sample &a, const Sample &b) { return a.seconds < b.seconds; });
  return samples[kept / 2].seconds;
}

struct Times {
  double plain, checked;
  size_t undisturbed, taken;
};

Times timesOf(const Prepared &prepared, size_t wanted) {
  constexpr double sampleSeconds = 4e-3;
  const double once = measure(prepared, true, 1).seconds; // warms up as well
  const int runs = std::max(1, int(sampleSeconds / once));
  std::vector<Sample> plain, checked;
  const auto clean = [](const std::vector<Sample> &samples) {
    return size_t(std::count_if(samples.begin(), samples.end(),
                                [](const Sample &s) { return s.switches == 0; }));
  };
  for (size_t i = 0; i < 4 * wanted && (clean(plain) < wanted || clean(checked) < wanted); ++i) {
    plain.push_back(measure(prepared, false, runs));
    checked.push_back(measure(prepared, true, runs));
  }
  return {medianOf(plain, wanted), medianOf(checked, wanted), clean(plain) + clean(checked),
          plain.size() + checked.size()};
}

//---- memory -------------------------------------------------------------===//

/// Peak of resident KiB of a process that runs `program` once.
long peakOf(const char *self, const std::string &program, bool isChecked) {
  const pid_t child = fork();
  if (child < 0)
    fail("fork failed");
  if (child == 0) {
    execl(self, self, isChecked ? "--once=checked" : "--once=plain", program.c_str(), nullptr);
    _exit(127);
  }
  int status = 0;
  rusage usage{};
  if (wait4(child, &status, 0, &usage) != child || !WIFEXITED(status) || WEXITSTATUS(status) != 0)
    fail("the process that runs " + program + " failed");
  return usage.ru_maxrss;
}

struct Task {
  std::string path, name, limit;
  long plainPeak = 0, checkedPeak = 0;
};

Task taskOf(const std::string &argument) {
  const size_t equals = argument.rfind('=');
  if (equals == std::string::npos)
    fail("expected PROGRAM=RATIO, found " + argument);
  const std::string path = argument.substr(0, equals);
  return {path, path.substr(path.rfind('/') + 1), argument.substr(equals + 1)};
}

void report(const Task &task, size_t wanted) {
  const Times times = timesOf(prepare(task.path), wanted);
  std::printf("%-32s time   %9.3f ms plain %9.3f ms checked  ratio %5.2f, at most %s wanted "
              "(%zu of %zu samples undisturbed)\n",
              task.name.c_str(), times.plain * 1e3, times.checked * 1e3,
              times.checked / times.plain, task.limit.c_str(), times.undisturbed, times.taken);
  std::printf("%-32s memory %9.1f MB plain %9.1f MB checked  ratio %5.2f, at most 2 wanted\n",
              task.name.c_str(), double(task.plainPeak) / 1024, double(task.checkedPeak) / 1024,
              double(task.checkedPeak) / double(task.plainPeak));
}

} // namespace

int main(int argc, char **argv) {
  if (argc == 3 && std::strncmp(argv[1], "--once=", 7) == 0) {
    runOnce(prepare(argv[2]), std::strcmp(argv[1], "--once=checked") == 0);
    return 0;
  }
  size_t wanted = 15;
  std::vector<Task> tasks;
  for (int i = 1; i < argc; ++i)
    if (std::strncmp(argv[i], "--samples=", 10) == 0)
      wanted = std::max(1ul, std::strtoul(argv[i] + 10, nullptr, 10));
    else if (std::strcmp(argv[i], "--round-robin") == 0)
      schedule = Schedule::RoundRobin;
    else
      tasks.push_back(taskOf(argv[i]));
  // Memory first, while this process is small: the peak of a process counts what it was before it
  // became another program.
  for (Task &task : tasks) {
    task.plainPeak = peakOf(argv[0], task.path, false);
    task.checkedPeak = peakOf(argv[0], task.path, true);
  }
  for (const Task &task : tasks)
    report(task, wanted);
  return 0;
}
