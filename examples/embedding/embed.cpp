//===- embed.cpp - runs a compiled kernel inside another program ------------------------------===//
//
// embed PROGRAM.kiln INPUT.npy... prints the results.
//
//===------------------------------------------------------------------------------------------===//

#include "kiln/ISA/DiagnosticText.h"
#include "kilnrt/Executor.h"
#include "kilnrt/HostData/ArrayText.h"
#include "kilnrt/HostData/Npy.h"
#include "kilnrt/Proof.h"

#include <cstdio>
#include <cstdlib>

/// The value, or the end of the program with a message that says why there is none.
template <typename T>
T valueOf(kilnrt::Expected<T> expected) {
  if (expected)
    return std::move(*expected);
  std::fputs(kiln::toText(expected.error()).c_str(), stderr);
  std::exit(1);
}

int main(int argc, char **argv) {
  const auto program = valueOf(kilnrt::loadFile(argc > 1 ? argv[1] : "program.kiln"));
  for (const kilnrt::Finding &finding : valueOf(kilnrt::prove(program)).findings)
    valueOf<int>(finding.diagnostic); // a race or a deadlock: results would be of one order only
  const auto executable = valueOf(kilnrt::Executable::prepare(program));
  std::vector<kilnrt::HostArray> inputs;
  for (int i = 2; i < argc; ++i)
    inputs.push_back(valueOf(kilnrt::readNpyFile(argv[i])).array);
  const kilnrt::RunResult result = valueOf(executable.run(inputs));
  for (const kilnrt::DevicePrint &print : result.prints)
    std::printf("%s %s\n", print.prefix.c_str(), kilnrt::arrayText(print.value).c_str());
  for (const kilnrt::HostArray &output : result.outputs)
    std::puts(kilnrt::arrayText(output).c_str());
}
