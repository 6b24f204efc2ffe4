//===- Obtain.h - the program and the inputs of a command line --------------------------------===//
//
// What `run` and `check` begin with: KERNEL as a program, ARGs as arrays.
//
//===------------------------------------------------------------------------------------------===//

#ifndef KILN_TOOLS_KILN_OBTAIN_H
#define KILN_TOOLS_KILN_OBTAIN_H

#include "Compilation.h"
#include "kilnrt/HostArray.h"
#include "kilnrt/Program.h"

namespace kiln::tool {

/// The program KERNEL names: loaded, or compiled for the arguments. Reports what is wrong; empty
/// then.
std::optional<kilnrt::Program> obtainProgram(const CompileOptions &options,
                                             const WarningOptions &warnings,
                                             const std::vector<kilnrt::Argument> &arguments,
                                             Reporter &reporter);

/// The values of the tensor arguments; scalars went into the compilation. `compiled`: there was
/// one. Reports what is wrong; empty then.
std::optional<std::vector<kilnrt::HostArray>>
inputsOf(const std::vector<kilnrt::Argument> &arguments, bool compiled, Reporter &reporter);

/// Names of the results, in result order.
std::vector<std::string> resultNames(const kilnrt::Program &program);

} // namespace kiln::tool

#endif // KILN_TOOLS_KILN_OBTAIN_H
