//===- Orders.cpp - the next agent, by each schedule ------------------------------------------===//

#include "Orders.h"

using namespace kilnrt;
using isa::machine;

//---- in turn ------------------------------------------------------------===//

Agent TurnOrder::pick(const Agents &agents) {
  Agent last = kNoAgent; // the first of those held back
  auto search = [&](Agent from, Agent end) {
    for (Agent agent = agents.firstReady(from, end); agent < end;
         agent = agents.firstReady(agent + 1, end)) {
      if (!held[agent])
        return agent;
      if (last == kNoAgent)
        last = agent;
    }
    return kNoAgent;
  };
  Agent agent = search(turn, kAgents);
  if (agent == kNoAgent)
    agent = search(0, turn);
  if (agent == kNoAgent)
    agent = last;
  if (agent != kNoAgent)
    turn = (agent + 1) % kAgents;
  return agent;
}

TurnOrder::Set kilnrt::heldBy(const Schedule &schedule) {
  TurnOrder::Set held;
  if (schedule.kind == Schedule::StarveEngine)
    held.set(size_t(schedule.number));
  if (schedule.kind == Schedule::StarveRing)
    for (unsigned engine = 0; engine < kEnginesOfRing; ++engine)
      held.set(agentOf(size_t(schedule.number), engine));
  if (schedule.kind == Schedule::DelayDma)
    for (size_t ring = 0; ring < size_t(machine.dmaRings); ++ring)
      held.set(agentOf(ring, unsigned(schedule.number)));
  return held;
}

//---- by weights ---------------------------------------------------------===//

void RandomOrder::drawWeights() {
  constexpr std::array<uint32_t, 4> weightClasses = {0, 1, 8, 64};
  constexpr uint32_t longestPhase = 256;
  phaseLeft = 1 + random.below(longestPhase);
  for (uint32_t &w : weight)
    w = weightClasses[random.below(weightClasses.size())];
}

Agent RandomOrder::pick(const Agents &agents) {
  if (phaseLeft-- == 0)
    drawWeights();
  ready.clear();
  uint32_t total = 0;
  for (Agent agent = agents.firstReady(0, kAgents); agent < kAgents;
       agent = agents.firstReady(agent + 1, kAgents)) {
    ready.push_back(agent);
    total += weight[agent];
  }
  if (ready.empty())
    return kNoAgent;
  const Agent any = ready[random.below(uint32_t(ready.size()))];
  if (total == 0)
    return any;
  uint32_t ticket = random.below(total);
  for (Agent agent : ready) {
    if (ticket < weight[agent])
      return agent;
    ticket -= weight[agent];
  }
  return any;
}

//---- newest first -------------------------------------------------------===//

Agent NewestFirstOrder::pick(const Agents &agents) {
  constexpr Agent streams = Agent(kEngineSlots);
  Agent stream = agents.firstReady(turn, streams);
  if (stream == streams)
    stream = agents.firstReady(0, turn);
  if (stream < streams && agents.mayStep(stream)) {
    turn = (stream + 1) % streams;
    return stream;
  }
  const Transfer *newest = nullptr;
  size_t ring = 0;
  for (size_t r = 0; r < agents.rings.size(); ++r)
    if (!agents.rings[r].isIdle() &&
        (!newest || agents.rings[r].newest().op->order > newest->op->order)) {
      newest = &agents.rings[r].newest();
      ring = r;
    }
  return newest ? agentOf(ring, Ring::lastEngineLeft(*newest)) : kNoAgent;
}
