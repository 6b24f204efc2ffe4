//===- Samples.h - programs by hand whose answers are known -----------------------------------===//

#ifndef KILN_TEST_MUTATION_SAMPLES_H
#define KILN_TEST_MUTATION_SAMPLES_H

#include "kilnrt/Program.h"

#include <gtest/gtest.h>

namespace kilnrt::mutation::test {

/// A synchronised program with the given tensors and streams, as assembler text. A text that does
/// not assemble, or that the verifier refuses, fails the test.
inline Program programOf(const std::string &tensors, const std::string &streams) {
  const std::string text = ".kernel \"sample\"\n.target \"trn2\"\n"
                           ".flags placed scheduled synchronised\n.file 0 \"sample.cpp\"\n"
                           ".loc @0 0:7\n" +
                           tensors + streams;
  Expected<Program> program = assemble(text, "sample.s");
  if (!program) {
    ADD_FAILURE() << program.error().message << "\n" << text;
    return {};
  }
  if (Status status = verify(*program); !status)
    ADD_FAILURE() << status.error().message << "\n" << text;
  return *program;
}

/// In and out, with a copy between them: x -> t -> u -> y. Nothing is left over.
inline constexpr char kCopyTensors[] = R"(.tensor %0 x hbm 128x64xf32 input 0
.tensor %1 y hbm 128x64xf32 output 0
.tensor %2 t sbuf 128x64xf32 at 0,0
.tensor %3 u sbuf 128x64xf32 at 0,256
)";
inline constexpr char kCopyStreams[] = R"(.stream vector
  wait s0>=16 tensor_copy dst=u[0+128, 0: 1x64] src=t[0+128, 0: 1x64] update s1+=1 #1
.stream sync
  dma_copy dst=t[0+128, 0: 1x64] src=x[128 rows of 64, 0: 1x64] update s0+=16 #0
  wait s1>=1 dma_copy dst=y[128 rows of 64, 0: 1x64] src=u[0+128, 0: 1x64] update s2+=16 #2
)";

} // namespace kilnrt::mutation::test

#endif // KILN_TEST_MUTATION_SAMPLES_H
