//===- Schedule.cpp - the order of instructions -----------------------------------------------===//
//
// Authors pick the order of their instructions, and it is kept on each engine;
// what overlaps is decided by placement and synchronisation.
//
//===------------------------------------------------------------------------------------------===//

#include "kiln/Transforms/Passes.h"

namespace kiln {
#define GEN_PASS_DEF_SCHEDULEPASS
#include "kiln/Transforms/Passes.h.inc"

namespace {

struct Schedule : impl::SchedulePassBase<Schedule> {
  void runOnOperation() override { getOperation().setScheduled(true); }
};

} // namespace
} // namespace kiln
