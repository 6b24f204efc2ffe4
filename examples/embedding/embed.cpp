//===- embed.cpp - runs a compiled kernel inside another program ------------------------------===//
//
// embed PROGRAM.kiln INPUT.npy... prints the results.
//
//===------------------------------------------------------------------------------------------===//

#include "kiln/ISA/DiagnosticText.h"
#include "kilnrt/Executor.h"
#include "kilnrt/HostData/ArrayText.h"
#include "kilnrt/HostData/Npy.h"

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
  const auto executable = valueOf(kilnrt::Executable::prepare(program));
  std::vector<kilnrt::HostArray> inputs;
  for (int i = 2; i < argc; ++i)
    inputs.push_back(valueOf(kilnrt::readNpyFile(argv[i])).array);
  for (const kilnrt::HostArray &output : valueOf(executable.run(inputs)).outputs)
    std::puts(kilnrt::arrayText(output).c_str());
}
