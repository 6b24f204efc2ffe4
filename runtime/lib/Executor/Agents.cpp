//===- Agents.cpp - who may step --------------------------------------------------------------===//

#include "Agents.h"

using namespace kilnrt;

void Ring::advance(unsigned engine) {
  Transfer &transfer = current(engine);
  ++next[engine];
  if (++transfer.sharesDone < kEnginesOfRing)
    return;
  if (newestFirst)
    transfers.pop_back();
  else
    ++complete;
}

void Ring::clear() {
  transfers.clear();
  next.fill(0);
  complete = 0;
}

Agent Agents::firstReady(Agent from, Agent end) const {
  for (Agent agent = from; agent < end; ++agent) {
    if (!isStream(agent) && rings[ringOf(agent)].isIdle()) {
      agent = agentOf(ringOf(agent), kEnginesOfRing - 1);
      continue;
    }
    if (mayStep(agent))
      return agent;
  }
  return end;
}

bool Agents::standAtEdge() const {
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
