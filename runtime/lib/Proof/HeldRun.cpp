//===- HeldRun.cpp - what may start before one event is complete ------------------------------===//

#include "HeldRun.h"

using namespace kilnrt;
using namespace kilnrt::proof;

void HeldRun::run(EventId held) {
  current = held;
  front = epoch.begin;
  SemaphoreValues values{};
  std::array<bool, kEngineSlots> isBusy{}; // with the held event, for ever
  for (bool hasMoved = true; hasMoved;) {
    hasMoved = false;
    for (size_t s = 0; s < kEngineSlots; ++s)
      for (; !isBusy[s] && front[s] < epoch.end[s]; hasMoved = true) {
        const Event &event = events.events[front[s]];
        if (event.waits() && values[event.sync.waitSemaphore] < event.sync.waitValue)
          break;
        ++visited;
        const bool isHeld = front[s]++ == held;
        if (event.updates())
          values[event.sync.updateSemaphore] +=
              event.amount() - (isHeld ? event.lastIncrement() : 0);
        isBusy[s] = isHeld && !event.isTransfer;
      }
  }
}

bool HeldRun::mayStart(EventId event, EventId held) {
  if (current != held)
    run(held);
  return event < front[size_t(events.events[event].engine)];
}
