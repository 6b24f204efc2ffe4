//===- Process.h - run a program and keep what it says ----------------------------------------===//

#ifndef KILN_LIB_DRIVER_PROCESS_H
#define KILN_LIB_DRIVER_PROCESS_H

#include <atomic>
#include <optional>
#include <string>
#include <vector>

namespace kiln::driver {

struct ProcessResult {
  bool started = false; ///< false: the program could not be executed; `errors` says why
  int exitCode = -1;    ///< 128 + signal when a signal ended it
  bool stopped = false; ///< it was ended because `stop` was set
  std::string output, errors;
};

/// Runs `arguments[0]` (a path) with standard input closed and both outputs
/// captured. A missing PATH is replaced by the system's own folders, since a
/// host compiler looks for its assembler there. When `stop` is set, the program and all it started
/// are told to end, and after half a second made to. Null: nobody stops it.
ProcessResult runProcess(const std::vector<std::string> &arguments,
                         const std::atomic<bool> *stop = nullptr);

/// The path of program `name`: itself when it has a slash, else searched in
/// PATH and then in the system's folders.
std::optional<std::string> findProgram(const std::string &name);

} // namespace kiln::driver

#endif // KILN_LIB_DRIVER_PROCESS_H
