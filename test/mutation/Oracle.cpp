//===- Oracle.cpp - what a synchronised program does in all executions ------------------------===//

#include "Oracle.h"

#include "Footprint.h"
#include "kiln/ISA/Accumulators.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>

using namespace kilnrt;
using namespace kilnrt::mutation;
using isa::AccumulatorStep;
using isa::machine;

namespace {

constexpr size_t kStreams = size_t(isa::Engine::Sync) + 1;
/// Iterations of the loops around two accesses that are compared one by one. Beyond, they count as
/// touching the same bytes.
constexpr int64_t kMaxIterations = int64_t{1} << 16;

bool isEdge(const isa::Instruction &inst) {
  return inst.opcode == isa::Opcode::LoopBegin || inst.opcode == isa::Opcode::LoopEnd;
}

//---- the schedule: what the streams wait for and raise --------------------------------------===//

struct Step {
  uint32_t record = 0; ///< index into Streams::records
  uint32_t order = 0;
  Sync sync;
  bool isTransfer = false;
  bool operator==(const Step &) const = default;
};
/// What stands between two edges of loops, stream by stream.
using Epoch = std::array<std::vector<Step>, kStreams>;

struct Loop {
  int64_t tripCount = 1;
  uint32_t first = UINT32_MAX, last = 0; ///< order numbers of its edges
};

/// A program without its tensors.
struct Streams {
  std::vector<Epoch> epochs;
  std::vector<std::vector<uint32_t>>
      loopsOf; ///< of each epoch: the loops around it, outermost first
  std::vector<Loop> loops;
  std::vector<Record> records;                         ///< by order, edges left out
  std::vector<uint32_t> epochOf, streamOf, positionOf; ///< of each record

  explicit Streams(const Program &program);

private:
  void addStream(const Stream &stream);
  /// Index into `records`.
  size_t indexOf(uint32_t order) const {
    const auto at = std::lower_bound(records.begin(), records.end(), order,
                                     [](const Record &r, uint32_t o) { return r.order < o; });
    return size_t(at - records.begin());
  }
};

Streams::Streams(const Program &program) {
  for (const Stream &stream : program.streams)
    addStream(stream);
  std::sort(records.begin(), records.end(),
            [](const Record &a, const Record &b) { return a.order < b.order; });
  epochOf.resize(records.size());
  streamOf.resize(records.size());
  positionOf.resize(records.size());
  for (uint32_t e = 0; e < epochs.size(); ++e)
    for (uint32_t s = 0; s < kStreams; ++s)
      for (uint32_t p = 0; p < epochs[e][s].size(); ++p) {
        const size_t i = indexOf(epochs[e][s][p].order);
        epochs[e][s][p].record = uint32_t(i);
        epochOf[i] = e;
        streamOf[i] = s;
        positionOf[i] = p;
      }
}

// All streams have the same loops, so each of them finds or makes the same epochs.
void Streams::addStream(const Stream &stream) {
  Expected<std::vector<Record>> decoded = decodeStream(stream);
  assert(decoded && "the program passes the verifier");
  size_t epoch = 0;
  uint32_t begun = 0;
  std::vector<uint32_t> open;
  const auto enter = [&] {
    if (epoch == epochs.size()) {
      epochs.emplace_back();
      loopsOf.push_back(open);
    }
  };
  enter();
  for (Record &record : *decoded) {
    if (!isEdge(record.inst)) {
      epochs[epoch][size_t(stream.engine)].push_back(
          {0, record.order, record.sync, record.inst.desc().isTransfer});
      records.push_back(std::move(record));
      continue;
    }
    if (record.inst.opcode == isa::Opcode::LoopBegin) {
      if (begun == loops.size())
        loops.push_back({record.inst.word("trip_count")});
      open.push_back(begun++);
    }
    Loop &loop = loops[open.back()];
    loop.first = std::min(loop.first, record.order);
    loop.last = std::max(loop.last, record.order);
    if (record.inst.opcode == isa::Opcode::LoopEnd)
      open.pop_back();
    ++epoch;
    enter();
  }
}

/// Runs an epoch as far as it goes and notes what starts; indices of records. The completion of
/// `held` (or kNone) is held back: a transfer lacks its last increment, an engine stays at the
/// instruction.
void run(const Epoch &epoch, uint32_t held, std::vector<bool> &started) {
  std::array<uint64_t, machine.numSemaphores> values{};
  std::array<size_t, kStreams> next{};
  for (bool hasMoved = true; hasMoved;) {
    hasMoved = false;
    for (size_t s = 0; s < kStreams; ++s)
      while (next[s] < epoch[s].size()) {
        const Step &step = epoch[s][next[s]];
        if (step.sync.waitSemaphore != Sync::kNoSemaphore &&
            values[step.sync.waitSemaphore] < step.sync.waitValue)
          break;
        started[step.record] = true;
        hasMoved = true;
        ++next[s];
        const bool isHeld = step.record == held;
        if (step.sync.updateSemaphore != Sync::kNoSemaphore && (!isHeld || step.isTransfer))
          values[step.sync.updateSemaphore] += step.sync.updateValue - isHeld;
        if (isHeld && !step.isTransfer) {
          next[s] = SIZE_MAX; // the engine is busy with it for ever
          break;
        }
      }
  }
}

//---- what has to be ordered -----------------------------------------------------------------===//

enum class Reason : uint8_t { Bytes, Registers, Reuse };

/// `second` has to start after `first` is complete; indices of records.
struct Dependence {
  uint32_t first, second;
  Reason reason;
  auto operator<=>(const Dependence &) const = default;
};

/// An access, and the record it belongs to.
struct Use {
  uint32_t record;
  unsigned operand;
  Footprint footprint;
};

/// The order numbers between which a tensor is accessed, loops that come back to it included.
struct Life {
  uint32_t first = UINT32_MAX, last = 0;
  bool isEmpty() const { return first > last; }
  bool isBefore(const Life &other) const { return last < other.first; }
};

/// Finds the dependences of a program.
class Dependences {
public:
  Dependences(const Program &program, const Streams &streams)
      : program(program), streams(streams), uses(program.tensors.size()),
        lives(program.tensors.size()) {
    for (uint32_t r = 0; r < streams.records.size(); ++r)
      addUses(r);
    for (uint32_t t = 0; t < uses.size(); ++t)
      addBytes(t);
    addRegisters();
    addPrints();
    addReuse();
    std::sort(found.begin(), found.end());
    found.erase(std::unique(found.begin(), found.end()), found.end());
  }

  std::vector<Dependence> found;
  /// Two tensors that overlap while both are in use; names, or empty.
  std::string overlapping;

private:
  const Program &program;
  const Streams &streams;
  Footprints footprints;
  std::vector<std::vector<Use>> uses; ///< by tensor, in program order
  std::vector<Life> lives;

  void addUses(uint32_t r) {
    const isa::Instruction &inst = streams.records[r].inst;
    const isa::InstDesc &desc = inst.desc();
    for (unsigned o = 0; o < desc.operands.size(); ++o)
      if (inst.operands[o].present()) {
        const uint32_t tensor = inst.operands[o].tensor;
        uses[tensor].push_back(
            {r, o, footprints.of(program, inst.operands[o], desc.operands[o].isOutput)});
        extendLife(tensor, r);
      }
  }

  // A loop that comes back to a tensor declared outside it keeps the tensor in use all the way.
  void extendLife(uint32_t tensor, uint32_t r) {
    Life &life = lives[tensor];
    life.first = std::min(life.first, streams.records[r].order);
    life.last = std::max(life.last, streams.records[r].order);
    const std::vector<uint32_t> &around = streams.loopsOf[streams.epochOf[r]];
    auto inside = around.begin();
    if (const uint32_t scope = program.tensors[tensor].loop; scope != kNone)
      inside = std::find(around.begin(), around.end(), scope) + 1;
    for (; inside < around.end(); ++inside)
      if (const Loop &loop = streams.loops[*inside]; loop.tripCount > 1) {
        life.first = std::min(life.first, loop.first);
        life.last = std::max(life.last, loop.last);
        return;
      }
  }

  void addBytes(uint32_t tensor) {
    const std::vector<Use> &list = uses[tensor];
    for (size_t j = 0; j < list.size(); ++j)
      for (size_t i = 0; i < j; ++i)
        if (list[i].record != list[j].record &&
            (list[i].footprint.isWrite || list[j].footprint.isWrite) &&
            streams.epochOf[list[i].record] == streams.epochOf[list[j].record] &&
            meetInSomeIteration(list[i], list[j]))
          found.push_back({list[i].record, list[j].record, Reason::Bytes});
  }

  bool meetInSomeIteration(const Use &a, const Use &b) const {
    const std::vector<uint32_t> &around = streams.loopsOf[streams.epochOf[a.record]];
    std::vector<std::pair<int64_t, int64_t>> moves; // bytes, iterations
    int64_t iterations = 1;
    for (size_t depth = 0; depth < around.size(); ++depth) {
      const int64_t step = b.footprint.loopStep[depth] - a.footprint.loopStep[depth];
      const int64_t trips = streams.loops[around[depth]].tripCount;
      if (step == 0 || trips <= 1)
        continue;
      if (trips > kMaxIterations || (iterations *= trips) > kMaxIterations)
        return true;
      moves.push_back({step, trips});
    }
    for (int64_t i = 0; i < iterations; ++i) {
      int64_t shift = 0, rest = i;
      for (const auto &[step, trips] : moves) {
        shift += rest % trips * step;
        rest /= trips;
      }
      if (meet(a.footprint, b.footprint, shift))
        return true;
    }
    return false;
  }

  // The registers of an engine are set, continued, read and lost; only reads may change places.
  void addRegisters() {
    std::array<uint32_t, kStreams> lastWrite;
    lastWrite.fill(kNone);
    std::array<std::vector<uint32_t>, kStreams> readsSince;
    std::array<uint32_t, kStreams> epoch{};
    for (uint32_t r = 0; r < streams.records.size(); ++r) {
      const isa::Instruction &inst = streams.records[r].inst;
      const AccumulatorStep step = isa::accumulatorStep(inst, inst.desc());
      if (step == AccumulatorStep::None)
        continue;
      const size_t s = streams.streamOf[r];
      if (epoch[s] != streams.epochOf[r]) {
        epoch[s] = streams.epochOf[r];
        lastWrite[s] = kNone;
        readsSince[s].clear();
      }
      if (lastWrite[s] != kNone)
        found.push_back({lastWrite[s], r, Reason::Registers});
      if (step == AccumulatorStep::Read) {
        readsSince[s].push_back(r);
        continue;
      }
      for (const uint32_t read : readsSince[s])
        found.push_back({read, r, Reason::Registers});
      readsSince[s].clear();
      lastWrite[s] = r;
    }
  }

  // The author sees prints in the order they come.
  void addPrints() {
    uint32_t last = kNone;
    for (uint32_t r = 0; r < streams.records.size(); ++r)
      if (streams.records[r].inst.desc().isObserver) {
        if (last != kNone && streams.epochOf[last] == streams.epochOf[r])
          found.push_back({last, r, Reason::Registers});
        last = r;
      }
  }

  void addReuse() {
    std::vector<uint32_t> inOrder; // tensors on chip by the beginning of their lives
    for (uint32_t t = 0; t < uses.size(); ++t)
      if (!lives[t].isEmpty() && program.tensors[t].memory != isa::Memory::Hbm)
        inOrder.push_back(t);
    std::stable_sort(inOrder.begin(), inOrder.end(), [&](uint32_t a, uint32_t b) {
      return std::pair(lives[a].first, lives[a].last) < std::pair(lives[b].first, lives[b].last);
    });
    for (size_t j = 0; j < inOrder.size(); ++j)
      addPredecessors(inOrder, j);
  }

  // Pairs with a third tensor between them in time that overlaps both follow from its two pairs.
  void addPredecessors(const std::vector<uint32_t> &inOrder, size_t j) {
    const uint32_t later = inOrder[j];
    std::vector<uint32_t> old; // overlap `later`, latest beginning first
    for (size_t i = j; i-- > 0;) {
      const uint32_t t = inOrder[i];
      if (!overlap(program.tensors[t], program.tensors[later]))
        continue;
      if (!lives[t].isBefore(lives[later]) && !isHandedOver(t, later)) {
        if (overlapping.empty())
          overlapping =
              fmt::format("'{}' and '{}'", program.tensors[t].name, program.tensors[later].name);
        continue;
      }
      const bool isImplied = std::any_of(old.begin(), old.end(), [&](uint32_t between) {
        return lives[t].isBefore(lives[between]) &&
               overlap(program.tensors[t], program.tensors[between]);
      });
      old.push_back(t);
      if (!isImplied)
        addPairs(t, later);
    }
  }

  /// Whether two lives meet in one instruction only, and may: nothing of `later` is used
  /// afterwards, or the instruction writes `later` behind all it does to `old`. It reads before it
  /// writes, and reduce_res wins where it overlaps dst. A transfer may not: its shares come in any
  /// order.
  bool isHandedOver(uint32_t old, uint32_t later) const {
    if (lives[old].last != lives[later].first)
      return false;
    const uint32_t at = uses[later].front().record;
    const isa::InstDesc &desc = streams.records[at].inst.desc();
    if (streams.records[at].order != lives[old].last || desc.isTransfer)
      return false; // a loop that comes back to both, or shares
    if (lives[later].last == lives[later].first)
      return true;
    const auto rankOf = [&](const Use &use) { // what comes first has a lower rank
      return !use.footprint.isWrite ? 0 : desc.operands[use.operand].name == "reduce_res" ? 2 : 1;
    };
    int last = 0, first = 3;
    for (const Use &use : uses[old])
      last = use.record == at ? std::max(last, rankOf(use)) : last;
    for (const Use &use : uses[later])
      first = use.record == at ? std::min(first, rankOf(use)) : first;
    return last < first;
  }

  void addPairs(uint32_t old, uint32_t later) {
    for (const Use &a : uses[old])
      for (const Use &b : uses[later])
        if (a.record != b.record && streams.epochOf[a.record] == streams.epochOf[b.record])
          found.push_back({a.record, b.record, Reason::Reuse});
  }
};

} // namespace

//---- verdicts -------------------------------------------------------------------------------===//

struct Oracle::Impl {
  explicit Impl(const Program &program) : tensors(program.tensors), streams(program) {
    Dependences dependences(program, streams);
    found = std::move(dependences.found);
    overlapping = std::move(dependences.overlapping);
    own = judge(streams, nullptr);
  }

  std::vector<TensorInfo> tensors;
  Streams streams;
  std::vector<Dependence> found; ///< sorted by `first`
  std::string overlapping;
  Verdict own;

  /// Whether `found` holds for the other program, too.
  bool isAlike(const Program &program, const Streams &other) const {
    if (program.tensors != tensors || other.records.size() != streams.records.size() ||
        other.epochOf != streams.epochOf || other.streamOf != streams.streamOf ||
        other.epochs.size() != streams.epochs.size())
      return false;
    for (size_t i = 0; i < other.loops.size(); ++i)
      if (other.loops[i].tripCount != streams.loops[i].tripCount)
        return false;
    for (size_t r = 0; r < other.records.size(); ++r)
      if (other.records[r].order != streams.records[r].order ||
          other.records[r].inst != streams.records[r].inst)
        return false;
    return true;
  }

  /// Epochs that are those of `known`, which is right, are not run again.
  Verdict judge(const Streams &other, const Streams *known) const {
    Verdict verdict;
    const auto fail = [&](bool &property, std::string what) {
      property = false;
      if (verdict.witness.empty())
        verdict.witness = std::move(what);
    };
    if (!overlapping.empty())
      fail(verdict.hasNoOverlap, overlapping + " overlap while both are in use");
    std::vector<bool> isKnown(other.epochs.size());
    for (size_t e = 0; e < other.epochs.size(); ++e)
      isKnown[e] = known && known->epochs[e] == other.epochs[e];
    std::vector<bool> started(other.records.size());
    for (size_t e = 0; e < other.epochs.size(); ++e)
      if (!isKnown[e])
        run(other.epochs[e], kNone, started);
    for (size_t r = 0; r < started.size(); ++r)
      if (!started[r] && !isKnown[other.epochOf[r]])
        fail(verdict.isReached, fmt::format("#{} is never reached", other.records[r].order));
    checkMeetings(other, verdict, fail);

    for (size_t d = 0; d < found.size();) {
      const uint32_t first = found[d].first;
      size_t end = d;
      while (end < found.size() && found[end].first == first)
        ++end;
      if (!isKnown[other.epochOf[first]])
        checkDependences(other, {found.data() + d, end - d}, verdict, fail);
      d = end;
    }
    return verdict;
  }

  // Order numbers ascend from epoch to epoch, or what the meetings order is not the program's
  // order.
  template <typename Fail>
  static void checkMeetings(const Streams &other, Verdict &verdict, Fail fail) {
    for (size_t r = 1; r < other.records.size(); ++r)
      if (other.epochOf[r] < other.epochOf[r - 1])
        fail(verdict.isOrdered, fmt::format("#{} stands behind an edge that comes after #{}",
                                            other.records[r - 1].order, other.records[r].order));
  }

  template <typename Fail>
  void checkDependences(const Streams &other, std::span<const Dependence> dependences,
                        Verdict &verdict, Fail fail) const {
    const uint32_t first = dependences.front().first;
    const bool isTransfer = other.records[first].inst.desc().isTransfer;
    // An engine completes an instruction before the next one: no run is needed.
    const auto byPosition = [&](const Dependence &d) {
      return !isTransfer && other.streamOf[d.first] == other.streamOf[d.second];
    };
    std::vector<bool> started(other.records.size());
    if (!std::all_of(dependences.begin(), dependences.end(), byPosition))
      run(other.epochs[other.epochOf[first]], first, started);
    for (const Dependence &d : dependences) {
      const bool isKept = byPosition(d) ? other.positionOf[d.first] < other.positionOf[d.second]
                                        : !started[d.second];
      if (isKept)
        continue;
      bool &property = d.reason == Reason::Bytes       ? verdict.isOrdered
                       : d.reason == Reason::Registers ? verdict.keepsRegisters
                                                       : verdict.isReuseOrdered;
      fail(property, fmt::format("#{} may start before #{} is complete",
                                 other.records[d.second].order, other.records[d.first].order));
    }
  }
};

Oracle::Oracle(const Program &program) : impl(std::make_unique<Impl>(program)) {}
Oracle::Oracle(Oracle &&) noexcept = default;
Oracle::~Oracle() = default;

const Verdict &Oracle::verdict() const { return impl->own; }

Verdict Oracle::judge(const Program &other) const {
  const Streams streams(other);
  if (!impl->isAlike(other, streams))
    return Oracle(other).verdict();
  return impl->judge(streams, impl->own.isRight() ? &impl->streams : nullptr);
}
