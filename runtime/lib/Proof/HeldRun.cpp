//===- HeldRun.cpp - what may start before one event is complete ------------------------------===//

#include "HeldRun.h"

using namespace kilnrt;
using namespace kilnrt::proof;

SemaphoreValues HeldRun::run(EventId held, EventId blocked) {
  current = blocked == kNone ? held : kNone;
  front = epoch.begin;
  SemaphoreValues values{};
  std::array<bool, kEngineSlots> isBusy{}; // with the held event, for ever
  for (bool hasMoved = true; hasMoved;) {
    hasMoved = false;
    for (size_t s = 0; s < kEngineSlots; ++s)
      for (; !isBusy[s] && front[s] < epoch.end[s]; hasMoved = true) {
        const Event &event = events.events[front[s]];
        if (front[s] == blocked)
          break;
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
  return values;
}

bool HeldRun::mayStart(EventId event, EventId held) {
  if (current != held)
    run(held, kNone);
  return event < front[size_t(events.events[event].engine)];
}

std::optional<uint64_t> HeldRun::valueProving(EventId earlier, EventId later) {
  const Event &event = events.events[earlier];
  if (!event.updates())
    return std::nullopt;
  const uint64_t without = run(earlier, later)[event.sync.updateSemaphore];
  const uint64_t with = run(kNone, later)[event.sync.updateSemaphore];
  return with > without ? std::optional(without + 1) : std::nullopt;
}
