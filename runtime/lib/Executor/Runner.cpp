//===- Runner.cpp - the orders agents move in -------------------------------------------------===//

#include "Runner.h"

#include "SplitMix.h"

using namespace kilnrt;
using isa::machine;

//---- steps --------------------------------------------------------------===//

bool Runner::mayStep(Agent agent) const {
  if (agent < kEngineSlots) {
    const Operation *op = head(agent);
    return op && mayExecute(*op);
  }
  const Ring &ring = rings[(agent - kEngineSlots) / machine.dmaEngines];
  return ring.next[(agent - kEngineSlots) % machine.dmaEngines] < ring.transfers.size();
}

Status Runner::countStep() {
  if (stats.steps >= options.maxSteps)
    return stepLimit(image, next, options.maxSteps);
  ++stats.steps;
  return Status::ok();
}

Status Runner::stepStream(size_t stream, bool isImmediate) {
  const Operation &decoded = image.streams[stream][next[stream]];
  if (Status status = countStep(); !status)
    return status;
  if (decoded.isDma() && !isImmediate) {
    rings[image.transfers[decoded.transfer].ring].transfers.push_back({&decoded});
  } else {
    const Operation &op = core.atIteration(decoded);
    if (Status status = op.isDma() ? op.run(core, op) : core.execute(op); !status)
      return status;
    core.release(op);
    if (op.sync.updateSemaphore != Sync::kNoSemaphore)
      core.semaphores[op.sync.updateSemaphore] +=
          op.isDma() ? uint64_t(machine.dmaEngines) : op.sync.updateValue;
  }
  ++next[stream];
  ++stats.instructions;
  return Status::ok();
}

Status Runner::stepRing(Ring &ring, unsigned engine) {
  if (Status status = countStep(); !status)
    return status;
  Transfer &transfer = ring.transfers[ring.next[engine]];
  const Operation &op = core.atIteration(*transfer.op);
  const TransferPlan &plan = image.transfers[op.transfer];
  const RowRange share = shareOf(plan, engine);
  if (Status status = core.executeShare(op, share); !status)
    return status;
  ++ring.next[engine];
  if (share.count > 0 && transfer.activations == kNone)
    transfer.activations = core.memory.activations(plan.dst.tensor);
  if (op.sync.updateSemaphore != Sync::kNoSemaphore)
    ++core.semaphores[op.sync.updateSemaphore];
  if (++transfer.sharesDone == uint32_t(machine.dmaEngines)) {
    ++ring.complete;
    if (plan.dst.whole && core.memory.activations(plan.dst.tensor) == transfer.activations)
      core.memory.noteWholeWrite(plan.dst.tensor);
    core.release(op);
  }
  return Status::ok();
}

Status Runner::step(Agent agent) {
  if (agent < kEngineSlots)
    return stepStream(agent, /*isImmediate=*/false);
  return stepRing(rings[(agent - kEngineSlots) / machine.dmaEngines],
                  (agent - kEngineSlots) % machine.dmaEngines);
}

bool Runner::standsAtEdge() const {
  bool isAny = false;
  for (size_t s = 0; s < kEngineSlots; ++s) {
    if (image.streams[s].empty())
      continue;
    const Operation *op = head(s);
    if (!op || !op->isLoopEdge())
      return false;
    isAny = true;
  }
  return isAny;
}

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
    edge = head(s);
    if (Status status = countStep(); !status)
      return status;
    ++stats.instructions;
    ++next[s];
  }
  core.semaphores.fill(0);
  for (Ring &ring : rings) {
    ring.transfers.clear();
    ring.next.fill(0);
    ring.complete = 0;
  }
  if (edge->opcode == isa::Opcode::LoopBegin) {
    open.push_back(begun++);
    startIteration();
    return Status::ok();
  }
  const Loop &loop = image.loops[open.back()];
  int64_t &iteration = core.iteration[open.size() - 1];
  if (++iteration == loop.tripCount) {
    iteration = 0;
    open.pop_back();
    return Status::ok();
  }
  begun = open.back() + 1; // the loops inside begin again
  for (size_t s = 0; s < kEngineSlots; ++s)
    if (!image.streams[s].empty())
      next[s] = loop.begin[s] + 1;
  startIteration();
  return Status::ok();
}

void Runner::addIterations(Diagnostic &diagnostic) const {
  for (size_t depth = open.size(); depth-- > 0;) {
    const Loop &loop = image.loops[open[depth]];
    diagnostic.notes.push_back({"in iteration " + std::to_string(core.iteration[depth]) +
                                    " of a loop of " + std::to_string(loop.tripCount) +
                                    ", counted from 0",
                                image.info.chain(loop.location)});
  }
}

Status Runner::finish() const {
  for (size_t s = 0; s < kEngineSlots; ++s)
    if (head(s))
      return deadlock(image, next, core.semaphores);
  return Status::ok();
}

//---- orders -------------------------------------------------------------===//

Status Runner::runInOrder(bool isSynchronised) {
  for (;;) {
    const Operation *first = nullptr;
    for (size_t s = 0; s < kEngineSlots; ++s) {
      const Operation *op = head(s);
      if (op && !op->isLoopEdge() && (!isSynchronised || isReached(*op)) &&
          (!first || op->order < first->order))
        first = op;
    }
    if (!first && !standsAtEdge())
      return finish();
    Status status = first ? stepStream(size_t(first->engine), /*isImmediate=*/true) : meet();
    if (!status)
      return status;
  }
}

Status Runner::runRoundRobin() {
  Agent agent = 0;
  for (;;) {
    Agent tried = 0;
    while (tried < kAgents && !mayStep(agent)) {
      agent = (agent + 1) % kAgents;
      ++tried;
    }
    if (tried == kAgents) {
      if (!standsAtEdge())
        return finish();
      if (Status status = meet(); !status)
        return status;
      continue;
    }
    if (Status status = step(agent); !status)
      return status;
    agent = (agent + 1) % kAgents;
  }
}

Status Runner::runRandom() {
  // Agents carry weights that change now and then, so that a seed also tries
  // what a fair choice hardly ever does: one engine far ahead of the others, or
  // one DMA engine far behind.
  constexpr std::array<uint32_t, 4> weightClasses = {0, 1, 8, 64};
  constexpr uint32_t longestPhase = 256;
  SplitMix random(options.seed);
  std::array<uint32_t, kAgents> weight{};
  uint32_t phaseLeft = 0;
  std::vector<Agent> ready;
  for (;;) {
    if (phaseLeft-- == 0) {
      phaseLeft = 1 + random.below(longestPhase);
      for (uint32_t &w : weight)
        w = weightClasses[random.below(weightClasses.size())];
    }
    ready.clear();
    uint32_t total = 0;
    for (Agent agent = 0; agent < kAgents; ++agent) {
      if (agent >= kEngineSlots && rings[(agent - kEngineSlots) / machine.dmaEngines].isIdle()) {
        agent += machine.dmaEngines - 1;
        continue;
      }
      if (!mayStep(agent))
        continue;
      ready.push_back(agent);
      total += weight[agent];
    }
    if (ready.empty()) {
      if (!standsAtEdge())
        return finish();
      if (Status status = meet(); !status)
        return status;
      continue;
    }
    Agent chosen = ready[random.below(uint32_t(ready.size()))];
    if (total > 0) {
      uint32_t ticket = random.below(total);
      for (Agent agent : ready) {
        chosen = agent;
        if (ticket < weight[agent])
          break;
        ticket -= weight[agent];
      }
    }
    if (Status status = step(chosen); !status)
      return status;
  }
}

Status Runner::run() {
  Status status;
  if (!image.info.flags.synchronised)
    status = runInOrder(/*isSynchronised=*/false);
  else if (options.schedule == Schedule::Program)
    status = runInOrder(/*isSynchronised=*/true);
  else if (options.schedule == Schedule::RoundRobin)
    status = runRoundRobin();
  else
    status = runRandom();
  if (status)
    return status;
  Diagnostic diagnostic = status.error();
  addIterations(diagnostic);
  if (image.info.flags.synchronised)
    addSchedule(diagnostic, options);
  return diagnostic;
}
