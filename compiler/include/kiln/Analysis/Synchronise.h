//===- Synchronise.h - streams and semaphores from dependences --------------------------------===//
//
// Splits a placed kernel into one list of records per engine, in program order,
// and adds the waits and updates that make every dependence hold.
//
//   engine semaphores   one for each engine, plus 1 at each instruction
//   somebody waits for ring semaphores     one for each DMA ring, plus 16 for
//   each transfer, as sixteen increments by 1
//
// Sixteen increments of two transfers in flight may mix, so "at least 16" would
// prove neither complete; their total proves both. So transfers of a ring that
// nobody has waited for are one batch, and a wait for any of them is for the
// total. From then on the batch is closed: the next transfer of the ring is
// triggered only by a stream that knows the batch complete.
// What a stream knows is a vector clock: waiting for an instruction also
// teaches what its stream knew when it issued it. Waits that teach nothing are
// left out.
//
// At the edges of loops all streams meet with nothing in flight and semaphores
// restart at 0, so each stretch between two edges is synchronised for itself.
// The edges themselves are no records here: they follow from Kernel::loops.
//
// A record carries one wait and one update; more waits become wait records
// before it. All waits point back in program order, so the streams cannot
// deadlock. `verifySynchronisation` proves the result from the records alone.
//
//===------------------------------------------------------------------------------------------===//

#ifndef KILN_ANALYSIS_SYNCHRONISE_H
#define KILN_ANALYSIS_SYNCHRONISE_H

#include "kiln/Analysis/Dependence.h"

namespace kiln::analysis {

inline constexpr uint16_t kNoSemaphore = 0xFFFF;
inline constexpr uint8_t kNoRing = 0xFF;

/// Semaphores are numbered like streams: engines first, then rings.
static_assert(kNumStreams <= isa::machine.numSemaphores);

struct ScheduledRecord {
  uint32_t instruction = kNone; ///< the instruction; of a wait record, the one it precedes
  uint32_t waitValue = 0;       ///< the semaphore must be at least this
  uint32_t updateValue = 0;     ///< added at completion; a transfer adds 1 from
                                ///< each of its DMA engines
  uint16_t waitSemaphore = kNoSemaphore;
  uint16_t updateSemaphore = kNoSemaphore;
  uint8_t ring = kNoRing;  ///< DMA ring of a transfer
  bool isWaitOnly = false; ///< a `semaphore_wait` that the compiler adds
  bool operator==(const ScheduledRecord &) const = default;
};

struct Synchronisation {
  /// Records of each engine, in the order of kEngines.
  std::array<std::vector<ScheduledRecord>, kNumEngines> streams;
};

//---- why
//--------------------------------------------------------------------------------------===//

/// Why an instruction needs another one complete.
enum class SyncNeed : uint8_t {
  Bytes,    ///< both touch the same bytes, one of them writes
  Takeover, ///< its tensor lies where the other one's lay: all of the old before all of the new
  Ring,     ///< the last transfer of the ring it takes
};

/// How it is known to be complete.
enum class SyncMeans : uint8_t {
  Wait,         ///< a wait of its own
  ProgramOrder, ///< the same engine ran it before
  Known,        ///< an earlier wait of the engine taught it
};

/// One need of one instruction. Without transitive reduction each would be a wait.
struct SyncDecision {
  uint32_t instruction = kNone;
  uint32_t source = kNone; ///< what must be complete
  SyncNeed need = SyncNeed::Bytes;
  SyncMeans means = SyncMeans::Wait;
  /// Known: the instruction that waited, and the one it waited for, whose completion implied
  /// that of `source`.
  uint32_t learnedAt = kNone, through = kNone;
  bool operator==(const SyncDecision &) const = default;
};

/// Every decision of one synchronisation, in program order.
struct SyncLog {
  std::vector<SyncDecision> decisions;
};

/// Streams of `kernel`. About O(n log n). Precondition: `placement` verifies,
/// engines are resolved. With `log`, every decision is appended to it.
Synchronisation synchronise(const Kernel &kernel, const Placement &placement,
                            SyncLog *log = nullptr);

/// Proves `result` from its records: every instruction once, on its engine, in
/// program order; every wait satisfiable; every dependence ordered by program
/// order and semaphores. Happens-before follows from one rule: "semaphore s is
/// at least v" proves an update complete when, without its last increment, the
/// others that need not come after it cannot add up to v. Dependences are found
/// again with other code than `synchronise` uses. About O(n log n); reports at
/// most 20 faults, all of them the compiler's.
std::vector<Diagnostic> verifySynchronisation(const Kernel &kernel, const Placement &placement,
                                              const Synchronisation &result);

} // namespace kiln::analysis

#endif // KILN_ANALYSIS_SYNCHRONISE_H
