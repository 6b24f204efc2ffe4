//===- ExampleStreams.h - example kernels as scheduled kernels --------------------------------===//
//
// Traces an example and takes it through the real passes up to the last level before streams.
//
//===------------------------------------------------------------------------------------------===//

#ifndef KILN_TEST_UNIT_STREAMS_EXAMPLESTREAMS_H
#define KILN_TEST_UNIT_STREAMS_EXAMPLESTREAMS_H

#include "kiln/Analysis/Synchronise.h"
#include "kiln/Driver/CompileApi.h"

namespace kiln::test {

struct ScheduledKernel {
  analysis::Kernel kernel;
  analysis::Placement placement;
};

/// The kernel `name` of the examples for arguments `args`, placed and in its final order. Fails the
/// test when it does not compile.
ScheduledKernel scheduleExample(const std::string &name, const std::vector<driver::Arg> &args);

} // namespace kiln::test

#endif // KILN_TEST_UNIT_STREAMS_EXAMPLESTREAMS_H
