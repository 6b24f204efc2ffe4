//===- ProgramFacts.h - what a program's streams execute, counted -----------------------------===//

#ifndef KILN_TEST_TRAFFIC_PROGRAMFACTS_H
#define KILN_TEST_TRAFFIC_PROGRAMFACTS_H

#include "kilnrt/Program.h"

namespace kiln::test {

/// Bytes that transfers move from and to one HBM tensor. Bytes read twice count twice.
struct TensorTraffic {
  int64_t readBytes = 0, writtenBytes = 0;
};

/// Totals of one execution: what stands in loops counts as often as it is executed.
struct ProgramFacts {
  int64_t instructions = 0; ///< of all streams, waits included, edges of loops not
  int64_t waits = 0;        ///< instructions that only wait
  int64_t transfers = 0;
  std::vector<TensorTraffic> tensors; ///< like Program::tensors; those in HBM are counted
  int64_t readBytes = 0, writtenBytes = 0;
  int64_t sbufEnd = 0; ///< of the usable bytes of a partition: the end of the last tensor
};

/// Counts from the encoded records of a verified, placed program.
kilnrt::Expected<ProgramFacts> factsOf(const kilnrt::Program &program);

} // namespace kiln::test

#endif // KILN_TEST_TRAFFIC_PROGRAMFACTS_H
