//===- Oracle.h - the verdict on a small program from all of its runs -------------------------===//
//
// Explores every state that the streams and transfers of a program can be in, epoch by epoch, and
// compares accesses byte by byte in every iteration; where registers decide how often a loop runs,
// for none to three iterations each time it is reached. Knows nothing of clocks, thresholds that prove
// something, patterns or rectangles: what kilnrt::prove must agree with.
//
//===------------------------------------------------------------------------------------------===//

#ifndef KILN_TEST_UNIT_PROOF_ORACLE_H
#define KILN_TEST_UNIT_PROOF_ORACLE_H

#include "kilnrt/Program.h"

#include <compare>
#include <set>

namespace kilnrt::test {

/// A record: its stream, its number in it.
struct RecordId {
  isa::Engine engine = isa::Engine::Unknown;
  uint32_t index = 0;
  auto operator<=>(const RecordId &) const = default;
};
/// Two records, the first in program order first.
using RecordPair = std::pair<RecordId, RecordId>;

struct Verdict {
  bool isTooLarge = false; ///< more states than allowed: nothing else holds
  bool hasDeadlock = false;
  /// Conflicting accesses, by what happens in some schedule. After a deadlock: of the epochs before
  /// it.
  std::set<RecordPair> races, reversed;
  /// A tensor is read that nothing has written: `overlaps` and `reuses` do not count.
  bool readsUnwritten = false;
  std::set<RecordPair> overlaps; ///< who took the bytes, who reads the old tensor
  std::set<RecordPair> reuses;   ///< a use of the old tensor, one of the new that may come first
  uint64_t states = 0;
  uint64_t runs = 0; ///< ways for the loops to run
};

enum class Increments {
  Each,       ///< a transfer raises its semaphore in sixteen steps
  AllButLast, ///< in two: a wait is a threshold, so nothing needs fewer of the first fifteen
};

/// `program` is verified and synchronised. Explores at most `maxStates` states of an epoch.
Verdict explore(const Program &program, Increments increments = Increments::AllButLast,
                uint64_t maxStates = 200000);

} // namespace kilnrt::test

#endif // KILN_TEST_UNIT_PROOF_ORACLE_H
