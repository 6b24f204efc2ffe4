//===- Runner.cpp - lets agents step to the end -----------------------------------------------===//

#include "Runner.h"

#include "Orders.h"

using namespace kilnrt;
using isa::machine;

//---- steps --------------------------------------------------------------===//

Status Runner::countStep() {
  if (stats.steps >= options.maxSteps)
    return stepLimit(image, agents.next, options.maxSteps);
  if (options.stop && options.stop->load(std::memory_order_relaxed))
    return stopped(image, agents.next, stats.steps);
  ++stats.steps;
  return Status::ok();
}

Status Runner::stepStream(size_t stream, bool isImmediate) {
  const Operation &decoded = image.streams[stream][agents.next[stream]];
  if (Status status = countStep(); !status)
    return status;
  bool isSkipped = false;
  if (decoded.indices)
    if (Status status = core.readIndices(decoded, core.indices, isSkipped); !status)
      return status;
  uint32_t number = 0;
  if (clocks) {
    number = clocks->start(decoded.engine, decoded.index,
                           decoded.indices ? std::span<const int64_t>(core.indices)
                                           : std::span<const int64_t>());
    if (clocks->race())
      return *clocks->race();
  }
  if (decoded.isDma() && !isImmediate) {
    Transfer &transfer = agents.rings[image.transfers[decoded.transfer].ring].push(decoded, number);
    if (decoded.indices)
      transfer.indices = core.indices;
    transfer.isSkipped = isSkipped;
  } else {
    const Operation &op = core.atIteration(decoded);
    core.beginStep(op, RunStep::kWhole, /*completes=*/true);
    if (!isSkipped)
      if (Status status = op.isDma() ? op.run(core, op) : core.execute(op); !status)
        return status;
    core.endStep();
    core.release(op);
    if (op.sync.updateSemaphore != Sync::kNoSemaphore)
      core.semaphores[op.sync.updateSemaphore] +=
          op.isDma() ? uint64_t(machine.dmaEngines) : op.sync.updateValue;
    if (clocks && op.isDma())
      for (unsigned engine = 0; engine < kEnginesOfRing; ++engine)
        clocks->moved(op.engine, op.index, number, engine);
    else if (clocks)
      clocks->complete(op.engine, op.index);
  }
  ++agents.next[stream];
  ++stats.instructions;
  return Status::ok();
}

Status Runner::stepRing(Ring &ring, unsigned engine) {
  if (Status status = countStep(); !status)
    return status;
  Transfer &transfer = ring.current(engine);
  if (transfer.op->indices)
    core.indices = transfer.indices;
  const Operation &op = core.atIteration(*transfer.op);
  const TransferPlan &plan = image.transfers[op.transfer];
  const RowRange share = shareOf(plan, engine);
  const bool isLast = transfer.sharesDone + 1 == kEnginesOfRing;
  core.beginStep(op, engine, isLast);
  if (!transfer.isSkipped)
    if (Status status = core.executeShare(op, share); !status)
      return status;
  if (share.count > 0 && !transfer.isSkipped && transfer.activations == kNone)
    transfer.activations = core.memory.activations(plan.dst.tensor);
  if (op.sync.updateSemaphore != Sync::kNoSemaphore)
    ++core.semaphores[op.sync.updateSemaphore];
  if (clocks)
    clocks->moved(op.engine, op.index, transfer.number, engine);
  if (isLast) {
    if (plan.dst.whole && core.memory.activations(plan.dst.tensor) == transfer.activations)
      core.memory.noteWholeWrite(plan.dst.tensor);
    core.release(op);
  }
  core.endStep();
  ring.advance(engine);
  return Status::ok();
}

bool Runner::mayGoOn(size_t stream) {
  if (!options.observer || core.mayBegin(*agents.head(stream)))
    return true;
  stop = stoppedBefore(image, agents.next, *agents.head(stream));
  addIterations(*stop);
  return false;
}

//---- loops --------------------------------------------------------------===//

void Runner::startIteration() {
  for (uint32_t tensor : image.loops[open.back()].tensors)
    core.memory.forget(tensor);
}

// The verifier has seen that all streams have the same loops: what the first stream stands at, all
// do.
Status Runner::meet() {
  const Operation *edge = nullptr;
  for (size_t s = 0; s < kEngineSlots; ++s) {
    if (image.streams[s].empty())
      continue;
    edge = agents.head(s);
    if (Status status = countStep(); !status)
      return status;
    ++stats.instructions;
    ++agents.next[s];
  }
  core.semaphores.fill(0);
  for (Ring &ring : agents.rings)
    ring.clear();
  Status status = passEdge(*edge);
  if (clocks)
    clocks->meet(core.iteration);
  return status;
}

void Runner::setNext(const std::array<uint32_t, kEngineSlots> &edges) {
  for (size_t s = 0; s < kEngineSlots; ++s)
    if (!image.streams[s].empty())
      agents.next[s] = edges[s] + 1;
}

Expected<LoopState> Runner::stateOf(const Loop &loop) const {
  const isa::LoopBeginArgs &control = loop.control;
  std::optional<LoopState> all;
  size_t first = 0; // stream that has one
  for (size_t s = 0; s < kEngineSlots; ++s) {
    if (image.streams[s].empty())
      continue;
    const auto &registers = core.registers[s];
    const auto valueOf = [&](uint16_t number, int32_t otherwise) {
      return number == isa::kNoRegister ? otherwise : registers[number];
    };
    LoopState own;
    switch (control.kind) {
    case isa::LoopKind::Count:
      own = {0, control.tripCount};
      break;
    case isa::LoopKind::Range:
      own = {valueOf(control.firstRegister, control.first),
             valueOf(control.lastRegister, control.last)};
      break;
    case isa::LoopKind::While:
    case isa::LoopKind::Once:
      own = {0, registers[control.reg] != 0};
      break;
    }
    if (!all) {
      all = own;
      first = s;
    } else if (*all != own) {
      return loopsDiffer(image, loop, isa::Engine(first), *all, isa::Engine(s), own);
    }
  }
  return all.value_or(LoopState());
}

void Runner::setCounter(const Loop &loop, int64_t value) {
  if (loop.control.kind == isa::LoopKind::Range)
    for (auto &registers : core.registers)
      registers[loop.control.reg] = int32_t(value);
}

Status Runner::passEdge(const Operation &edge) {
  if (edge.opcode == isa::Opcode::LoopBegin) {
    const Loop &loop = image.loops[begun];
    const Expected<LoopState> state = stateOf(loop);
    if (!state)
      return state.error();
    if (state->next >= state->last) { // not once
      begun = loop.after;
      setNext(loop.end);
      return Status::ok();
    }
    states[open.size()] = *state;
    open.push_back(begun++);
    setCounter(loop, state->next);
    startIteration();
    return Status::ok();
  }
  const Loop &loop = image.loops[open.back()];
  LoopState &state = states[open.size() - 1];
  if (loop.control.kind == isa::LoopKind::While) {
    const Expected<LoopState> again = stateOf(loop);
    if (!again)
      return again.error();
    state = *again;
  } else {
    state.next += loop.isCounted() ? 1 : int64_t(loop.control.step);
  }
  int64_t &iteration = core.iteration[open.size() - 1];
  ++iteration;
  if (state.next >= state.last) {
    iteration = 0;
    open.pop_back();
    return Status::ok();
  }
  begun = open.back() + 1; // the loops inside begin again
  setNext(loop.begin);
  setCounter(loop, state.next);
  startIteration();
  return Status::ok();
}

void Runner::addIterations(Diagnostic &diagnostic) const {
  for (size_t depth = open.size(); depth-- > 0;) {
    const Loop &loop = image.loops[open[depth]];
    const std::string which = loop.isCounted()
                                  ? "a loop of " + std::to_string(loop.control.tripCount)
                              : loop.control.kind == isa::LoopKind::Range
                                  ? "a loop whose counter is " + std::to_string(states[depth].next)
                                  : "a loop";
    diagnostic.notes.push_back({"in iteration " + std::to_string(core.iteration[depth]) + " of " +
                                    which + ", counted from 0",
                                image.info.chain(loop.location)});
  }
}

Status Runner::finish() const {
  for (size_t s = 0; s < kEngineSlots; ++s)
    if (agents.head(s))
      return deadlock(image, agents.next, core.semaphores);
  return Status::ok();
}

//---- the run ------------------------------------------------------------===//

template <typename Order>
Status Runner::runIn(Order order) {
  for (;;) {
    const Agent agent = order.pick(agents);
    Status status;
    if (agent == kNoAgent) {
      if (!agents.standAtEdge())
        return finish();
      status = meet();
    } else if (isStream(agent)) {
      if (!mayGoOn(agent))
        return Status::ok();
      status = stepStream(agent, Order::movesAtOnce);
    } else {
      status = stepRing(agents.rings[ringOf(agent)], engineOf(agent));
    }
    if (!status)
      return status;
  }
}

Status Runner::runScheduled() {
  const Schedule &schedule = options.schedule;
  switch (schedule.kind) {
  case Schedule::Program:
    return runIn(ProgramOrder(/*waits=*/true));
  case Schedule::Random:
    return runIn(RandomOrder(schedule.number));
  case Schedule::ReverseDma:
    for (Ring &ring : agents.rings)
      ring.reverse();
    return runIn(NewestFirstOrder());
  case Schedule::RoundRobin:
  case Schedule::StarveEngine:
  case Schedule::StarveRing:
  case Schedule::DelayDma:
    break;
  }
  return runIn(TurnOrder(heldBy(schedule)));
}

Status Runner::run() {
  const bool isSynchronised = image.info.flags.synchronised;
  Status status = isSynchronised ? runScheduled() : runIn(ProgramOrder(/*waits=*/false));
  if (status)
    return status;
  Diagnostic diagnostic = status.error();
  addIterations(diagnostic);
  if (isSynchronised)
    addSchedule(diagnostic, options.schedule);
  return diagnostic;
}
