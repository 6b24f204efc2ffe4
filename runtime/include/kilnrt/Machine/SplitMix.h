//===- SplitMix.h - the generator behind random schedules and bytes ---------------------------===//
//
// SplitMix64 (Steele, Lea and Flood, 2014): one 64-bit state, the same numbers
// on every host.
//
//===------------------------------------------------------------------------------------------===//

#ifndef KILNRT_MACHINE_SPLITMIX_H
#define KILNRT_MACHINE_SPLITMIX_H

#include <cstdint>

namespace kilnrt {

class SplitMix {
public:
  explicit SplitMix(uint64_t seed) : state(seed) {}

  uint64_t next() {
    uint64_t z = state += 0x9E3779B97F4A7C15;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9;
    z = (z ^ z >> 27) * 0x94D049BB133111EB;
    return z ^ z >> 31;
  }
  /// A number in [0, bound); bound >= 1. The bias is below bound / 2^32.
  uint32_t below(uint32_t bound) { return uint32_t((next() >> 32) * bound >> 32); }

private:
  uint64_t state;
};

} // namespace kilnrt

#endif // KILNRT_MACHINE_SPLITMIX_H
