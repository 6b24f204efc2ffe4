//===- Observe.cpp - what a run tells its observer --------------------------------------------===//

#include "Core.h"
#include "Diagnose.h"

using namespace kilnrt;

RunObserver::~RunObserver() = default;

std::string kilnrt::stepText(const RunStep &step) {
  return "instruction " + std::to_string(step.index) + " of the " +
         std::string(isa::name(step.engine)) + " stream, " +
         std::string(isa::findInstruction(step.opcode)->mnemonic);
}

RunStep Core::stepOf(const Operation &op, uint32_t share, bool completes) const {
  RunStep step;
  step.opcode = op.opcode;
  step.engine = op.engine;
  step.index = op.index;
  step.order = op.order;
  step.location = op.location;
  step.loops = op.loops;
  for (unsigned l = 0; l < op.loops; ++l)
    step.iteration[l] = iteration[l];
  step.share = share;
  step.completes = completes;
  return step;
}

bool Core::mayBegin(const Operation &op) const {
  return options.observer->permits(stepOf(op, RunStep::kWhole, true));
}

void RunObservers::starts(const RunView &view) {
  for (RunObserver *observer : all)
    observer->starts(view);
}

bool RunObservers::permits(const RunStep &step) {
  bool isPermitted = true;
  for (RunObserver *observer : all)
    isPermitted &= observer->permits(step);
  return isPermitted;
}

void RunObservers::reads(const RunStep &step, unsigned operand, const Place &place) {
  for (RunObserver *observer : all)
    observer->reads(step, operand, place);
}

void RunObservers::writes(const RunStep &step, unsigned operand, const Place &place) {
  for (RunObserver *observer : all)
    observer->writes(step, operand, place);
}

void RunObservers::ends(const RunStep &step) {
  for (RunObserver *observer : all)
    observer->ends(step);
}

void RunObservers::finishes() {
  for (RunObserver *observer : all)
    observer->finishes();
}
