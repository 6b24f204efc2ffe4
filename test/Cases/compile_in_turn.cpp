// compile_in_turn INCLUDE FILE KERNEL OUT SHAPE...: compiles a kernel of one float32 tensor for
// each shape in turn, in this one process, and writes the programs to OUT0, OUT1, ... What an
// earlier compilation left behind must change none of them.

#include "kiln/Driver/CompileApi.h"
#include "kiln/ISA/DiagnosticText.h"

#include <cstdio>
#include <fstream>
#include <sstream>

int main(int argc, char **argv) {
  if (argc < 6)
    return 2;
  for (int i = 5; i < argc; ++i) {
    kiln::driver::TensorArg tensor;
    std::istringstream extents(argv[i]);
    for (std::string extent; std::getline(extents, extent, 'x');)
      tensor.shape.push_back(std::stoll(extent));
    kiln::driver::CompileRequest request;
    request.includeDir = argv[1];
    request.kernelFile = argv[2];
    request.kernel = argv[3];
    request.args.emplace_back(tensor);
    kiln::driver::CompileResult result;
    kiln_compile(&request, &result);
    for (const kiln::Diagnostic &d : result.diagnostics)
      std::fputs(kiln::toText(d).c_str(), stderr);
    if (!result.ok)
      return 1;
    std::ofstream out(argv[4] + std::to_string(i - 5), std::ios::binary);
    out.write(reinterpret_cast<const char *>(result.program.data()),
              static_cast<std::streamsize>(result.program.size()));
  }
  return 0;
}
