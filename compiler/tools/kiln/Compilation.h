//===- Compilation.h - from a command line to a program ---------------------------------------===//
//
// What `run` and `compile` share: split KERNEL, parse ARGs, ask libkiln,
// report.
//
//===------------------------------------------------------------------------------------------===//

#ifndef KILN_TOOLS_KILN_COMPILATION_H
#define KILN_TOOLS_KILN_COMPILATION_H

#include "Commands.h"
#include "kiln/Driver/CompileApi.h"
#include "kilnrt/HostData/Argument.h"

#include <optional>

namespace kiln::tool {

/// KERNEL split at its last colon: a file and, perhaps, a kernel's name.
struct KernelName {
  std::string file, name;
  bool isProgram() const; ///< a .kiln file, which needs no compiler
};
KernelName splitKernel(const std::string &text);

/// Parses every ARG; reports notes and errors. Empty on error.
std::optional<std::vector<kilnrt::Argument>> parseArguments(const std::vector<std::string> &texts,
                                                            Reporter &reporter);

/// Parses the -W flags; reports wrong ones. Empty on error.
std::optional<WarningOptions> parseWarnings(const std::vector<std::string> &flags,
                                            Reporter &reporter);

/// Compiles to `emit`. Reports everything; empty unless it succeeded.
std::optional<driver::CompileResult> compile(const CompileOptions &options,
                                             const WarningOptions &warnings,
                                             const std::vector<kilnrt::Argument> &arguments,
                                             driver::Emit emit, const std::string &stopAfter,
                                             Reporter &reporter);

/// How the report of a command begins: its version, KERNEL, the target.
nlohmann::ordered_json startReport(const CompileOptions &options);
/// Writes the report of a command to the file of its --json option, with how it ended and what was
/// reported; nothing where `file` is empty.
kilnrt::Status finishReport(const std::string &file, nlohmann::ordered_json &json,
                            const Reporter &reporter);

/// Replaces the file `path` as a whole; devices and pipes are written to. "-" is standard output.
kilnrt::Status writeFile(const std::string &path, std::string_view bytes);

} // namespace kiln::tool

#endif // KILN_TOOLS_KILN_COMPILATION_H
