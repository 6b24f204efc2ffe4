//===- NpyConvert.cpp - .npy files in, .npy files out -----------------------------------------===//
//
// The C++ side of the test against NumPy. Each line of standard input is a
// job of four words separated by tabs: the file to read, the file to write,
// the dtype to cast to (or "-"), and "raw" or "values". Each line of output is
// "ok DTYPE SHAPE", or "error MESSAGE".
//
//===------------------------------------------------------------------------------------------===//

#include "Text.h"
#include "kilnrt/HostData/Argument.h"

#include <iostream>
#include <sstream>

using namespace kilnrt;

namespace {

std::string run(const std::string &job) {
  std::istringstream words(job);
  std::string from, to, cast, form;
  std::getline(words, from, '\t');
  std::getline(words, to, '\t');
  std::getline(words, cast, '\t');
  std::getline(words, form, '\t');
  auto argument = parseArgument(cast == "-" ? from : from + ":" + cast);
  if (!argument)
    return "error " + argument.error().message;
  std::vector<Diagnostic> notes;
  auto array = materialise(std::get<TensorArgument>(argument->value), notes);
  if (!array)
    return "error " + array.error().message;
  if (Status status = writeNpyFile(to, *array, {.raw = form == "raw"}); !status)
    return "error " + status.error().message;
  return "ok " + std::string(kiln::isa::name(array->dtype)) + " " +
         detail::describeShape(array->shape);
}

} // namespace

int main() {
  for (std::string job; std::getline(std::cin, job);)
    std::cout << run(job) << '\n';
}
