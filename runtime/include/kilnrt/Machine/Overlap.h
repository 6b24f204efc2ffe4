//===- Overlap.h - the bytes two accesses share -----------------------------------------------===//
//
// Exact for strided patterns, also where the two move apart from iteration to iteration of loops.
//
//===------------------------------------------------------------------------------------------===//

#ifndef KILNRT_MACHINE_OVERLAP_H
#define KILNRT_MACHINE_OVERLAP_H

#include "kilnrt/Machine/Layout.h"

namespace kilnrt {

/// How far one access moves against another: `step[l]` bytes in each of the `num[l]` iterations of
/// loop l.
struct Motion {
  std::array<int64_t, isa::kMaxLoopDepth> step{}, num{};
};

/// A stretch of bytes that both touch, in a block; on chip the same in each of the partitions.
struct SharedBytes {
  uint32_t firstPartition = 0, partitions = 1;
  int64_t first = 0, end = 0;
  /// Of each loop of the motion, counted from 0: where the stretch is shared.
  std::array<int64_t, isa::kMaxLoopDepth> iteration{};
};

enum class Meeting : uint8_t {
  Apart,   ///< no byte is touched by both, in any iteration
  Meet,    ///< some byte is
  Unknown, ///< patterns too intricate for the work allowed
};

/// Whether `a` and `b` share bytes in some iteration; `motion` is how `a` moves against `b`, null
/// when they keep their distance. If they meet and `shared` is given, it becomes a stretch that
/// they share in the first iteration they meet in, counted where the first iteration of all has
/// `b`. `work`, if given, grows by the steps that took; at most a few million.
Meeting meet(const Place &a, const Place &b, const Motion *motion = nullptr,
             SharedBytes *shared = nullptr, uint64_t *work = nullptr);

} // namespace kilnrt

#endif // KILNRT_MACHINE_OVERLAP_H
