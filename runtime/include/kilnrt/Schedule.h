//===- Schedule.h - the order agents take their steps in --------------------------------------===//
//
// Every order gives the same bits, or the program has a race. Besides the program's own order and
// fair ones there are adversarial orders: each holds one part of the core back, or turns one order
// around that nothing promises.
//
//===------------------------------------------------------------------------------------------===//

#ifndef KILNRT_SCHEDULE_H
#define KILNRT_SCHEDULE_H

#include "kilnrt/Expected.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kilnrt {

struct Program;

struct Schedule {
  enum Kind : uint8_t {
    Program,      ///< the runnable instruction that is first in program order
    RoundRobin,   ///< engines and DMA engines in turn
    Random,       ///< by weights drawn from a seed
    StarveEngine, ///< one engine's stream steps only when nothing else can
    StarveRing,   ///< one DMA ring moves only when nothing else can
    ReverseDma,   ///< transfers move only when no stream can step, the newest first
    DelayDma,     ///< one DMA engine, in every ring, moves only when nothing else can
  };

  Kind kind = Program;
  /// Random: the seed. StarveEngine: the engine, by its number in the table. StarveRing: the ring.
  /// DelayDma: the DMA engine. Else 0.
  uint64_t number = 0;

  constexpr Schedule() = default;
  constexpr Schedule(Kind kind, uint64_t number = 0) : kind(kind), number(number) {}
  bool operator==(const Schedule &) const = default;
  bool isAdversarial() const { return kind >= StarveEngine; }
};

/// "program", "round-robin", "random:SEED" or "adversarial:NAME", where NAME is starve-ENGINE,
/// starve-ringN, reverse-dma or delay-dmaN, N counted from 0. An error of class Usage says which
/// there are.
Expected<Schedule> parseSchedule(std::string_view text);
/// What parseSchedule reads.
std::string scheduleText(const Schedule &schedule);

/// The adversarial schedules that differ for `program`: one for each engine with instructions and
/// for each ring with transfers, and, if there are transfers, the reverse and the delays. None for
/// a program that is not synchronised, which always runs in its own order. Precondition: `load` or
/// `verify` has accepted the program.
std::vector<Schedule> adversarialSchedules(const Program &program);

} // namespace kilnrt

#endif // KILNRT_SCHEDULE_H
