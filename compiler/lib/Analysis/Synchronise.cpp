//===- Synchronise.cpp - streams and semaphores from dependences ------------------------------===//
//
// One walk in program order decides who waits for whom; a second over the
// records turns "wait for instruction i" into a value, once it is known which
// instructions are waited for at all.
//
//===------------------------------------------------------------------------------------------===//

#include "kiln/Analysis/Synchronise.h"

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
  Builder(const Kernel &kernel, const Placement &placement)
      : kernel(kernel), tracker(kernel, placement), takeovers(kernel, placement),
        clocks(kernel.instructions.size()), isAwaited(kernel.instructions.size()) {}

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
    takeovers.collect(i, needed);
    learn(engine, needed);

    unsigned stream = engine;
    if (isTransfer(inst)) {
      const unsigned ring = chooseRing(engine);
      stream = ringStream(ring);
      // One transfer in flight on each ring: its semaphore tells nothing about
      // two.
      needed = {};
      needed[stream] = lastTransfer[ring];
      learn(engine, needed);
      lastTransfer[ring] = i + 1;
    }
    tracker.record(i, stream);
    takeovers.record(i, stream);
    emit(i, engine, stream);
  }

  /// Adds the waits `engine` lacks to know that `needed` is complete.
  void learn(unsigned engine, const StreamPositions &needed) {
    StreamPositions &known = engineKnows[engine];
    std::array<uint32_t, kNumStreams> latestFirst;
    std::copy(needed.begin(), needed.end(), latestFirst.begin());
    std::sort(latestFirst.begin(), latestFirst.end(), std::greater<>());
    // The latest instruction saw the most, so what it knew often answers for
    // the earlier ones.
    for (uint32_t stamp : latestFirst) {
      if (stamp == 0)
        break;
      const unsigned stream =
          unsigned(std::find(needed.begin(), needed.end(), stamp) - needed.begin());
      if (known[stream] >= stamp)
        continue;
      isAwaited[stamp - 1] = true;
      waits.push_back({uint16_t(stream), stamp - 1});
      merge(known, clocks[stamp - 1]);
    }
  }

  /// The next ring whose last transfer `engine` knows complete, else the one
  /// whose last transfer was triggered first.
  unsigned chooseRing(unsigned engine) {
    constexpr unsigned rings = isa::machine.dmaRings;
    unsigned chosen = nextRing;
    for (unsigned i = 0; i < rings; ++i) {
      const unsigned ring = (nextRing + i) % rings;
      if (engineKnows[engine][ringStream(ring)] >= lastTransfer[ring]) {
        chosen = ring;
        break;
      }
      if (lastTransfer[ring] < lastTransfer[chosen])
        chosen = ring;
    }
    nextRing = (chosen + 1) % rings;
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
  std::array<uint32_t, isa::machine.dmaRings> lastTransfer{}; ///< position plus one; 0: none yet
  unsigned nextRing = 0;
  std::vector<Wait> waits; ///< of the instruction at hand
};

} // namespace

Synchronisation synchronise(const Kernel &kernel, const Placement &placement) {
  return Builder(kernel, placement).run();
}

} // namespace kiln::analysis
