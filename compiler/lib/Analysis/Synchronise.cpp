//===- Synchronise.cpp - streams and semaphores from dependences ------------------------------===//
//
// One walk in program order decides who waits for whom; a second over the
// records turns "wait for instruction i" into a value, once it is known which
// instructions are waited for at all.
//
//===------------------------------------------------------------------------------------------===//

#include "kiln/Analysis/Synchronise.h"

#include "Epochs.h"
#include "Takeover.h"

#include <algorithm>

namespace kiln::analysis {
namespace {

void merge(StreamPositions &into, const StreamPositions &from) {
  for (unsigned s = 0; s < kNumStreams; ++s)
    into[s] = std::max(into[s], from[s]);
}

class Builder {
public:
  Builder(const Kernel &kernel, const Placement &placement, SyncLog *log)
      : kernel(kernel), tracker(kernel, placement), takeovers(kernel, placement),
        clocks(kernel.instructions.size()), isAwaited(kernel.instructions.size()),
        batchOf(kernel.instructions.size(), kNone), log(log) {}

  Synchronisation run() {
    for (uint32_t i = 0; i < kernel.instructions.size(); ++i)
      add(i);
    countValues();
    return std::move(result);
  }

private:
  void add(uint32_t i) {
    const isa::Instruction &inst = kernel.instructions[i].inst;
    const unsigned engine = engineStream(inst.engine);
    waits.clear();
    StreamPositions needed = tracker.collect(i);
    const StreamPositions ofBytes = needed;
    takeovers.collect(i, needed);
    const StreamPositions ofMemory = needed;

    unsigned stream = engine;
    if (isTransfer(inst)) {
      // The ring is chosen before anything is waited for, because its last transfer may be the
      // latest of all and then answers for the others.
      const unsigned ring = chooseRing(knownAfter(engine, needed));
      stream = ringStream(ring);
      needed[stream] = std::max(needed[stream], lastClosed(ring));
    }
    learn(i, engine, needed);
    if (log)
      logDecisions(i, engine, ofBytes, ofMemory, needed);
    tracker.record(i, stream);
    takeovers.record(i, stream);
    emit(i, engine, stream);
    if (stream != engine)
      joinBatch(i, stream);
  }

  /// Transfers of a ring nobody has waited for yet are one batch: they are complete together, when
  /// the semaphore reaches their total. Once somebody waits, the batch is closed, and a transfer of
  /// the ring is triggered only when all closed batches are known complete: its increments must
  /// not answer a wait for them.
  struct RingState {
    uint32_t last = 0;            ///< last transfer, position plus one; 0: none yet
    uint32_t beforeLastBatch = 0; ///< last transfer of the batch before that
  };

  bool isOpen(const RingState &ring) const { return ring.last != 0 && !isAwaited[ring.last - 1]; }

  /// The last transfer of the closed batches of `ring`, position plus one.
  uint32_t lastClosed(unsigned ring) const {
    return isOpen(rings[ring]) ? rings[ring].beforeLastBatch : rings[ring].last;
  }

  void joinBatch(uint32_t i, unsigned stream) {
    RingState &ring = rings[stream - kNumEngines];
    if (isOpen(ring)) {
      merge(clocks[i], clocks[ring.last - 1]);
      batchOf[i] = batchOf[ring.last - 1];
    } else {
      ring.beforeLastBatch = ring.last;
      batchOf[i] = uint32_t(batchEnds.size());
      batchEnds.push_back(i);
    }
    batchEnds[batchOf[i]] = i;
    ring.last = i + 1;
  }

  /// What has to be waited for to know the instruction of `stamp` complete: of a transfer, the
  /// last one of its batch.
  uint32_t awaitable(unsigned stream, uint32_t stamp) const {
    return stream < kNumEngines ? stamp - 1 : batchEnds[batchOf[stamp - 1]];
  }

  /// Calls `visit(stream, stamp)` for what `needed` names and `known` does not hold, the latest
  /// instruction first: it saw the most, so what it knew often answers for the earlier ones.
  /// `visit` may raise `known`.
  template <typename Visit>
  static void forEachUnknown(const StreamPositions &known, const StreamPositions &needed,
                             Visit visit) {
    std::array<uint32_t, kNumStreams> latestFirst;
    std::copy(needed.begin(), needed.end(), latestFirst.begin());
    std::sort(latestFirst.begin(), latestFirst.end(), std::greater<>());
    for (uint32_t stamp : latestFirst) {
      if (stamp == 0)
        break;
      const unsigned stream =
          unsigned(std::find(needed.begin(), needed.end(), stamp) - needed.begin());
      if (known[stream] < stamp)
        visit(stream, stamp);
    }
  }

  /// What `engine` will know once it has waited for `needed`.
  StreamPositions knownAfter(unsigned engine, const StreamPositions &needed) const {
    StreamPositions known = engineKnows[engine];
    forEachUnknown(known, needed, [&](unsigned stream, uint32_t stamp) {
      merge(known, clocks[awaitable(stream, stamp)]);
    });
    return known;
  }

  /// Adds the waits `engine` lacks to know that `needed` is complete.
  void learn(uint32_t i, unsigned engine, const StreamPositions &needed) {
    StreamPositions &known = engineKnows[engine];
    forEachUnknown(known, needed, [&](unsigned stream, uint32_t stamp) {
      const uint32_t target = awaitable(stream, stamp);
      isAwaited[target] = true;
      waits.push_back({uint16_t(stream), target});
      const StreamPositions &taught = clocks[target];
      if (log)
        for (unsigned s = 0; s < kNumStreams; ++s)
          if (taught[s] > known[s])
            lessons[engine][s] = {i, target};
      merge(known, taught);
    });
  }

  /// Says for everything instruction `i` needs how it is known to be complete.
  void logDecisions(uint32_t i, unsigned engine, const StreamPositions &ofBytes,
                    const StreamPositions &ofMemory, const StreamPositions &needed) {
    for (unsigned s = 0; s < kNumStreams; ++s) {
      if (needed[s] == 0)
        continue;
      SyncDecision decision;
      decision.instruction = i;
      decision.source = needed[s] - 1;
      decision.need = needed[s] == ofBytes[s]    ? SyncNeed::Bytes
                      : needed[s] == ofMemory[s] ? SyncNeed::Takeover
                                                 : SyncNeed::Ring;
      const bool isWaited = std::any_of(waits.begin(), waits.end(), [&](const Wait &wait) {
        return wait.instruction == awaitable(s, needed[s]);
      });
      if (s == engine) {
        decision.means = SyncMeans::ProgramOrder;
      } else if (isWaited) {
        decision.means = SyncMeans::Wait;
      } else {
        decision.means = SyncMeans::Known;
        decision.learnedAt = lessons[engine][s].learnedAt;
        decision.through = lessons[engine][s].through;
      }
      log->decisions.push_back(decision);
    }
  }

  /// The next ring whose last transfer is complete by what is `known`; else of the rings that need
  /// no wait, else of all, the one whose last transfer was triggered first.
  unsigned chooseRing(const StreamPositions &known) {
    constexpr unsigned count = isa::machine.dmaRings;
    const auto rank = [&](unsigned ring) -> std::pair<int, uint32_t> {
      const uint32_t last = rings[ring].last, complete = known[ringStream(ring)];
      if (complete >= last)
        return {0, 0};
      return {complete >= lastClosed(ring) ? 1 : 2, last};
    };
    unsigned chosen = nextRing;
    for (unsigned i = 1; i < count; ++i)
      if (const unsigned ring = (nextRing + i) % count; rank(ring) < rank(chosen))
        chosen = ring;
    nextRing = (chosen + 1) % count;
    return chosen;
  }

  void emit(uint32_t i, unsigned engine, unsigned stream) {
    StreamPositions &known = engineKnows[engine];
    std::vector<ScheduledRecord> &records = result.streams[engine];
    for (size_t w = 0; w < waits.size(); ++w) {
      ScheduledRecord record;
      record.instruction = i;
      record.waitSemaphore = waits[w].semaphore;
      record.waitValue = waits[w].instruction; // becomes a value in countValues
      record.isWaitOnly = w + 1 < waits.size();
      if (record.isWaitOnly)
        records.push_back(record);
    }
    ScheduledRecord record;
    record.instruction = i;
    if (!waits.empty()) {
      record.waitSemaphore = waits.back().semaphore;
      record.waitValue = waits.back().instruction;
    }
    if (stream != engine)
      record.ring = uint8_t(stream - kNumEngines);
    else
      known[engine] = i + 1; // the engine itself runs in order
    records.push_back(record);
    clocks[i] = known;
    clocks[i][stream] = i + 1;
  }

  /// Gives every awaited instruction its update, and every wait the value that
  /// update leads to.
  void countValues() {
    std::vector<uint32_t> valueAfter(kernel.instructions.size());
    std::array<uint32_t, kNumStreams> total{};
    // Transfers of one ring come from several engines: count in program order.
    std::vector<ScheduledRecord *> byInstruction(kernel.instructions.size());
    for (std::vector<ScheduledRecord> &records : result.streams)
      for (ScheduledRecord &record : records)
        if (!record.isWaitOnly)
          byInstruction[record.instruction] = &record;
    for (uint32_t i = 0; i < byInstruction.size(); ++i) {
      ScheduledRecord &record = *byInstruction[i];
      if (record.ring != kNoRing) {
        record.updateSemaphore = uint16_t(ringStream(record.ring));
        record.updateValue = isa::machine.dmaEngines;
      } else if (isAwaited[i]) {
        record.updateSemaphore = uint16_t(engineStream(kernel.instructions[i].inst.engine));
        record.updateValue = 1;
      } else {
        continue;
      }
      valueAfter[i] = total[record.updateSemaphore] += record.updateValue;
    }
    for (std::vector<ScheduledRecord> &records : result.streams)
      for (ScheduledRecord &record : records)
        if (record.waitSemaphore != kNoSemaphore)
          record.waitValue = valueAfter[record.waitValue];
  }

  struct Wait {
    uint16_t semaphore;
    uint32_t instruction;
  };

  const Kernel &kernel;
  DependenceTracker tracker;
  TakeoverTracker takeovers;
  Synchronisation result;
  std::vector<StreamPositions> clocks; ///< what is known once an instruction is complete
  std::vector<bool> isAwaited;
  std::array<StreamPositions, kNumEngines> engineKnows{};
  std::array<RingState, isa::machine.dmaRings> rings{};
  std::vector<uint32_t> batchOf;   ///< of a transfer: index into batchEnds
  std::vector<uint32_t> batchEnds; ///< the last transfer of each batch so far
  unsigned nextRing = 0;
  std::vector<Wait> waits; ///< of the instruction at hand

  /// How an engine came to know the latest it knows of a stream.
  struct Lesson {
    uint32_t learnedAt = kNone, through = kNone;
  };
  SyncLog *log;
  std::array<std::array<Lesson, kNumStreams>, kNumEngines> lessons;
};

} // namespace

Synchronisation synchronise(const Kernel &kernel, const Placement &placement, SyncLog *log) {
  if (kernel.loops.empty())
    return Builder(kernel, placement, log).run();
  Synchronisation result;
  for (const Epoch &epoch : findEpochs(kernel)) {
    EpochKernel part(kernel, placement, epoch, /*withLocations=*/false);
    holdStill(part.kernel);
    SyncLog partLog;
    const Synchronisation own =
        Builder(part.kernel, part.placement, log ? &partLog : nullptr).run();
    for (unsigned engine = 0; engine < kNumEngines; ++engine)
      for (ScheduledRecord record : own.streams[engine]) {
        record.instruction += epoch.begin;
        result.streams[engine].push_back(record);
      }
    for (SyncDecision decision : partLog.decisions) {
      for (uint32_t *position :
           {&decision.instruction, &decision.source, &decision.learnedAt, &decision.through})
        if (*position != kNone)
          *position += epoch.begin;
      log->decisions.push_back(decision);
    }
  }
  return result;
}

} // namespace kiln::analysis
