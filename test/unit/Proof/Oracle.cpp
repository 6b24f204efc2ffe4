//===- Oracle.cpp - the verdict on a small program from all of its runs -----------------------===//

#include "Oracle.h"

#include <algorithm>
#include <bit>
#include <functional>
#include <unordered_set>

using namespace kilnrt;
using namespace kilnrt::test;

namespace {

/// One byte of the machine, or the reduction registers of an engine.
using ByteKey = uint64_t;

struct Event {
  RecordId id;
  Record record;
  bool isTransfer() const { return record.inst.desc().isTransfer; }
};

/// The events between two edges of loops. Bit i of a mask is event i.
constexpr uint64_t kMaxRuns = 4000; ///< ways for the loops to run

struct Epoch {
  std::vector<Event> events;
  std::vector<std::vector<unsigned>> streams; ///< numbers of events
  std::vector<uint64_t> mayPrecede; ///< by event: what may lack its completion when it starts
  bool hasDeadlock = false;
};

/// A visit of an epoch in the unfolded program, or the start of an iteration.
struct Visit {
  bool isIteration = false;
  uint32_t index = 0; ///< of the epoch or of the loop
  std::vector<int64_t> iterations;
};

//---- cutting ------------------------------------------------------------===//

/// The beginning of a loop, or an end.
struct Edge {
  bool begins = false;
  int64_t least = 0, most = 0; ///< iterations
};

/// The choices of one run, and the next run's, until all have been made.
class Choices {
public:
  /// One of [least, most].
  int64_t choose(int64_t least, int64_t most) {
    if (at == made.size())
      made.push_back({least, most});
    return made[at++].first;
  }
  bool next() {
    at = 0;
    while (!made.empty() && made.back().first == made.back().second)
      made.pop_back();
    if (made.empty())
      return false;
    ++made.back().first;
    return true;
  }

private:
  std::vector<std::pair<int64_t, int64_t>> made; ///< and the last one there is
  size_t at = 0;
};

struct Cut {
  std::vector<Epoch> epochs;
  std::vector<Edge> edges; ///< edge i lies between epochs i and i + 1
};

/// Edges of the loops in one stream, in order.
std::vector<Edge> edgesOf(const std::vector<Record> &records) {
  std::vector<Edge> edges;
  for (const Record &record : records) {
    if (record.inst.opcode == isa::Opcode::LoopEnd)
      edges.push_back({});
    if (record.inst.opcode != isa::Opcode::LoopBegin)
      continue;
    switch (isa::LoopKind(record.inst.word("kind"))) {
    case isa::LoopKind::Count:
      edges.push_back({true, record.inst.word("trip_count"), record.inst.word("trip_count")});
      break;
    case isa::LoopKind::Once:
      edges.push_back({true, 0, 1});
      break;
    case isa::LoopKind::Range:
    case isa::LoopKind::While:
      edges.push_back({true, 0, 3});
      break;
    }
  }
  return edges;
}

Cut cut(const Program &program) {
  Cut result;
  std::vector<Edge> &edges = result.edges;
  for (const Stream &stream : program.streams) {
    const std::vector<Record> records = *decodeStream(stream);
    edges = edgesOf(records);
    result.epochs.resize(edges.size() + 1);
    size_t epoch = 0;
    std::vector<unsigned> numbers;
    for (uint32_t i = 0; i < records.size(); ++i) {
      const isa::Opcode opcode = records[i].inst.opcode;
      if (opcode == isa::Opcode::LoopBegin || opcode == isa::Opcode::LoopEnd) {
        result.epochs[epoch++].streams.push_back(std::move(numbers));
        numbers = {};
        continue;
      }
      numbers.push_back(unsigned(result.epochs[epoch].events.size()));
      result.epochs[epoch].events.push_back({{stream.engine, i}, records[i]});
    }
    result.epochs[epoch].streams.push_back(std::move(numbers));
  }
  result.epochs.resize(edges.size() + 1);
  return result;
}

/// The end of the loop that begins at `edge`.
size_t endOf(const std::vector<Edge> &edges, size_t edge) {
  for (size_t depth = 0;; ++edge) {
    depth += edges[edge].begins ? 1 : -1;
    if (depth == 0)
      return edge;
  }
}

std::vector<Visit> unfold(const std::vector<Edge> &edges, Choices &choices) {
  std::vector<Visit> visits;
  std::function<size_t(size_t, std::vector<int64_t>)> walk = [&](size_t edge,
                                                                 std::vector<int64_t> iterations) {
    visits.push_back({false, uint32_t(edge), iterations});
    while (edge < edges.size() && edges[edge].begins) {
      const int64_t trips = choices.choose(edges[edge].least, edges[edge].most);
      const uint32_t loopsBefore =
          uint32_t(std::count_if(edges.begin(), edges.begin() + std::ptrdiff_t(edge),
                                 [](const Edge &e) { return e.begins; }));
      const size_t end = endOf(edges, edge);
      for (int64_t i = 0; i < trips; ++i) {
        visits.push_back({true, loopsBefore, {}});
        std::vector<int64_t> inner = iterations;
        inner.push_back(i);
        walk(edge + 1, inner);
      }
      edge = end + 1;
      visits.push_back({false, uint32_t(edge), iterations});
    }
    return edge;
  };
  walk(0, {});
  return visits;
}

//---- states -------------------------------------------------------------===//

/// All states of one epoch. A state: of each stream twice its position, plus one while its
/// instruction runs; of each transfer the increments made.
class Explorer {
public:
  Explorer(Epoch &epoch, Increments increments, uint64_t maxStates)
      : epoch(epoch), maxStates(maxStates) {
    steps = increments == Increments::Each ? std::vector<unsigned>(16, 1)
                                           : std::vector<unsigned>{15, 1};
    for (unsigned e = 0; e < epoch.events.size(); ++e)
      if (epoch.events[e].isTransfer())
        transfers.push_back(e);
  }

  /// False when there are too many.
  bool run(uint64_t &states) {
    epoch.mayPrecede.assign(epoch.events.size(), 0);
    if (epoch.events.size() > 64 || !fits())
      return false;
    State start{std::vector<unsigned>(epoch.streams.size()),
                std::vector<unsigned>(transfers.size())};
    visit(start);
    while (!pending.empty()) {
      const State state = unpack(pending.back());
      pending.pop_back();
      expand(state);
      if (seen.size() > maxStates)
        return false;
    }
    states += seen.size();
    return true;
  }

private:
  struct State {
    std::vector<unsigned> streams, transfers;
  };

  using Semaphores = std::array<uint64_t, isa::machine.numSemaphores>;

  void raise(Semaphores &semaphores, unsigned event, uint64_t by) const {
    const uint16_t semaphore = epoch.events[event].record.sync.updateSemaphore;
    if (semaphore != Sync::kNoSemaphore)
      semaphores[semaphore] += by;
  }
  bool fits() const {
    double product = 1;
    for (const std::vector<unsigned> &stream : epoch.streams)
      product *= double(2 * stream.size() + 1);
    for (size_t i = 0; i < transfers.size(); ++i)
      product *= double(steps.size() + 1);
    return product < 1e18;
  }
  uint64_t pack(const State &state) const {
    uint64_t key = 0;
    for (size_t s = 0; s < state.streams.size(); ++s)
      key = key * (2 * epoch.streams[s].size() + 1) + state.streams[s];
    for (unsigned made : state.transfers)
      key = key * (steps.size() + 1) + made;
    return key;
  }
  State unpack(uint64_t key) const {
    State state{std::vector<unsigned>(epoch.streams.size()),
                std::vector<unsigned>(transfers.size())};
    for (size_t t = transfers.size(); t-- > 0; key /= steps.size() + 1)
      state.transfers[t] = unsigned(key % (steps.size() + 1));
    for (size_t s = epoch.streams.size(); s-- > 0;) {
      const uint64_t base = 2 * epoch.streams[s].size() + 1;
      state.streams[s] = unsigned(key % base);
      key /= base;
    }
    return state;
  }
  void visit(const State &state) {
    const uint64_t key = pack(state);
    if (seen.insert(key).second)
      pending.push_back(key);
  }

  void expand(State state) {
    Semaphores semaphores{};
    uint64_t complete = 0, triggered = 0;
    for (size_t s = 0; s < epoch.streams.size(); ++s)
      for (unsigned i = 0; i < state.streams[s] / 2; ++i) {
        const unsigned e = epoch.streams[s][i];
        triggered |= uint64_t{1} << e;
        if (epoch.events[e].isTransfer())
          continue;
        complete |= uint64_t{1} << e;
        raise(semaphores, e, epoch.events[e].record.sync.updateValue);
      }
    for (size_t t = 0; t < transfers.size(); ++t) {
      for (unsigned i = 0; i < state.transfers[t]; ++i)
        raise(semaphores, transfers[t], steps[i]);
      if (state.transfers[t] == steps.size())
        complete |= uint64_t{1} << transfers[t];
    }
    bool isStuck = true;
    for (size_t s = 0; s < epoch.streams.size(); ++s)
      isStuck &= !advance(state, s, semaphores, complete);
    for (size_t t = 0; t < transfers.size(); ++t) {
      if (!(triggered >> transfers[t] & 1) || state.transfers[t] == steps.size())
        continue;
      isStuck = false;
      ++state.transfers[t];
      visit(state);
      --state.transfers[t];
    }
    const bool isEnd = size_t(std::popcount(complete)) == epoch.events.size();
    epoch.hasDeadlock |= isStuck && !isEnd;
  }

  /// The next step of a stream, if it has one.
  bool advance(State &state, size_t s, Semaphores &semaphores, uint64_t complete) {
    unsigned &position = state.streams[s];
    if (position == 2 * epoch.streams[s].size())
      return false;
    const unsigned e = epoch.streams[s][position / 2];
    const Event &event = epoch.events[e];
    unsigned by = 1;
    if (position % 2 == 0) { // starts
      const Sync &sync = event.record.sync;
      if (sync.waitSemaphore != Sync::kNoSemaphore &&
          semaphores[sync.waitSemaphore] < sync.waitValue)
        return false;
      epoch.mayPrecede[e] |= ~complete;
      by = event.isTransfer() ? 2 : 1;
    }
    position += by;
    visit(state);
    position -= by;
    return true;
  }

  Epoch &epoch;
  uint64_t maxStates;
  std::vector<unsigned> steps;
  std::vector<unsigned> transfers;
  std::unordered_set<uint64_t> seen;
  std::vector<uint64_t> pending;
};

//---- bytes --------------------------------------------------------------===//

class Bytes {
public:
  explicit Bytes(const Program &program) : program(program) {}

  /// The bytes of an access in an iteration, sorted.
  std::vector<ByteKey> of(const isa::Access &access, const std::vector<int64_t> &iterations) const {
    const TensorInfo &tensor = program.tensors[access.tensor];
    int64_t offset = access.offset;
    for (size_t l = 0; l < iterations.size(); ++l)
      offset += access.loopStep[l] * iterations[l];
    std::vector<ByteKey> keys;
    const int64_t size = isa::bytesOf(access.dtype);
    for (uint32_t row = 0; row < access.partitionCount; ++row) {
      std::vector<int64_t> elements = {offset + int64_t(row) * access.rowStep};
      for (unsigned d = 0; d < access.rank; ++d) {
        std::vector<int64_t> next;
        for (int64_t e : elements)
          for (int64_t i = 0; i < access.num[d]; ++i)
            next.push_back(e + i * access.step[d]);
        elements = std::move(next);
      }
      for (int64_t e : elements)
        for (int64_t b = 0; b < size; ++b)
          keys.push_back(key(tensor, access.tensor, access.partitionStart + row, e * size + b));
    }
    std::sort(keys.begin(), keys.end());
    return keys;
  }

  bool doTensorsOverlap(uint32_t a, uint32_t b) const {
    const TensorInfo &s = program.tensors[a], &t = program.tensors[b];
    return a != b && program.flags.placed && s.memory != isa::Memory::Hbm && s.memory == t.memory &&
           s.partition < t.partition + uint64_t(t.shape[0]) &&
           t.partition < s.partition + uint64_t(s.shape[0]) &&
           s.byte < t.byte + uint64_t(t.freeBytes()) && t.byte < s.byte + uint64_t(s.freeBytes());
  }

private:
  ByteKey key(const TensorInfo &tensor, uint32_t number, uint64_t partition, int64_t byte) const {
    if (tensor.memory == isa::Memory::Hbm)
      return uint64_t(number + 2) << 48 | uint64_t(byte);
    const uint64_t block =
        program.flags.placed ? (tensor.memory == isa::Memory::Sbuf ? 0 : 1) : number + 2;
    return block << 48 | (tensor.partition + partition) << 32 |
           (uint64_t(byte) + (program.flags.placed ? tensor.byte : 0));
  }

  const Program &program;
};

bool haveCommon(const std::vector<ByteKey> &a, const std::vector<ByteKey> &b) {
  if (a.empty() || b.empty() || a.back() < b.front() || b.back() < a.front())
    return false;
  for (auto x = a.begin(), y = b.begin(); x != a.end() && y != b.end();) {
    if (*x == *y)
      return true;
    *x < *y ? ++x : ++y;
  }
  return false;
}

struct TouchedBytes {
  bool writes;
  std::vector<ByteKey> bytes;
};

/// The registers count as one byte that every use replaces.
void addRegisters(const isa::Instruction &inst, std::vector<TouchedBytes> &touches) {
  const isa::AccumulatorDesc &desc = inst.desc().accumulators;
  if (!desc.isUsed)
    return;
  const isa::ReduceCmd command =
      desc.field < 0 ? desc.command
                     : isa::ReduceCmd(inst.word(inst.desc().fields[size_t(desc.field)].name));
  if (command == isa::ReduceCmd::Idle && !desc.idleLoses)
    return;
  touches.push_back({true, {~uint64_t{0} - uint64_t(inst.engine)}});
}

//---- verdicts -----------------------------------------------------------===//

bool mayStartBefore(const Epoch &epoch, unsigned event, unsigned other) {
  return epoch.mayPrecede[event] >> other & 1;
}

void compareAccesses(const Epoch &epoch, const std::vector<int64_t> &iterations, const Bytes &bytes,
                     Verdict &verdict) {
  std::vector<std::vector<TouchedBytes>> touched;
  for (const Event &event : epoch.events) {
    std::vector<TouchedBytes> touches;
    for (size_t o = 0; o < event.record.inst.desc().operands.size(); ++o)
      if (const isa::Access &access = event.record.inst.operands[o]; access.present())
        touches.push_back(
            {event.record.inst.desc().operands[o].isOutput, bytes.of(access, iterations)});
    addRegisters(event.record.inst, touches);
    touched.push_back(std::move(touches));
  }
  for (unsigned a = 0; a < epoch.events.size(); ++a)
    for (unsigned b = 0; b < epoch.events.size(); ++b) {
      if (epoch.events[a].record.order >= epoch.events[b].record.order ||
          !mayStartBefore(epoch, b, a))
        continue;
      bool conflict = false;
      for (const TouchedBytes &x : touched[a])
        for (const TouchedBytes &y : touched[b])
          conflict |= (x.writes || y.writes) && haveCommon(x.bytes, y.bytes);
      if (conflict)
        (mayStartBefore(epoch, a, b) ? verdict.races : verdict.reversed)
            .insert({epoch.events[a].id, epoch.events[b].id});
    }
}

/// What becomes of the on-chip tensors in program order.
class MemoryWalk {
public:
  MemoryWalk(const Program &program, const Bytes &bytes, Verdict &verdict)
      : program(program), bytes(bytes), verdict(verdict), states(program.tensors.size()) {}

  void startIteration(uint32_t loop) {
    for (size_t t = 0; t < states.size(); ++t)
      if (program.tensors[t].loop == loop)
        states[t] = {};
  }

  void visit(const Epoch &epoch) {
    for (TensorState &state : states) {
      state.uses = 0;
      state.predecessors = 0;
      state.takers.clear();
    }
    std::vector<unsigned> sequence;
    for (unsigned e = 0; e < epoch.events.size(); ++e)
      sequence.push_back(e);
    std::sort(sequence.begin(), sequence.end(), [&](unsigned a, unsigned b) {
      return epoch.events[a].record.order < epoch.events[b].record.order;
    });
    for (unsigned e : sequence)
      for (const bool writes : {false, true})
        for (size_t o = 0; o < epoch.events[e].record.inst.desc().operands.size(); ++o) {
          const isa::Access &access = epoch.events[e].record.inst.operands[o];
          if (access.present() &&
              epoch.events[e].record.inst.desc().operands[o].isOutput == writes &&
              program.tensors[access.tensor].memory != isa::Memory::Hbm)
            use(epoch, e, access.tensor, writes);
        }
  }

private:
  struct TensorState {
    bool isLive = false, isTaken = false;
    RecordId taker;
    uint64_t uses = 0, predecessors = 0; ///< masks of the events of this visit
    std::vector<uint32_t> takers;        ///< that took bytes of it since it ended
  };

  bool holds(uint32_t tensor, int64_t partition, int64_t byte) const {
    const TensorInfo &info = program.tensors[tensor];
    return partition >= info.partition && partition < int64_t(info.partition) + info.shape[0] &&
           byte >= int64_t(info.byte) && byte < int64_t(info.byte) + info.freeBytes();
  }

  /// Each byte that the two share, byte by byte, was taken by one tensor since `other` ended.
  bool isTakenBetween(uint32_t other, uint32_t tensor) const {
    const TensorInfo &info = program.tensors[other];
    const auto hasAll = [&](uint32_t taker) {
      for (int64_t p = info.partition; p < int64_t(info.partition) + info.shape[0]; ++p)
        for (int64_t b = int64_t(info.byte); b < int64_t(info.byte) + info.freeBytes(); ++b)
          if (holds(tensor, p, b) && !holds(taker, p, b))
            return false;
      return true;
    };
    const std::vector<uint32_t> &takers = states[other].takers;
    return std::any_of(takers.begin(), takers.end(), hasAll);
  }

  void use(const Epoch &epoch, unsigned event, uint32_t tensor, bool writes) {
    TensorState &state = states[tensor];
    if (!state.isLive && !writes) {
      if (state.isTaken)
        verdict.overlaps.insert({state.taker, epoch.events[event].id});
      else
        verdict.readsUnwritten = true;
    }
    if (!state.isLive && writes) {
      state = {};
      state.isLive = true;
      for (uint32_t other = 0; other < states.size(); ++other) {
        if (other == tensor || !bytes.doTensorsOverlap(tensor, other))
          continue;
        if (states[other].isLive || !isTakenBetween(other, tensor))
          state.predecessors |= states[other].uses;
        if (states[other].isLive) {
          states[other].isTaken = true;
          states[other].taker = epoch.events[event].id;
        }
        states[other].isLive = false;
        states[other].takers.push_back(tensor);
      }
    }
    state.uses |= uint64_t{1} << event;
    if (state.isLive)
      for (unsigned old = 0; old < epoch.events.size(); ++old)
        if (old != event && state.predecessors >> old & 1 && mayStartBefore(epoch, event, old))
          verdict.reuses.insert({epoch.events[old].id, epoch.events[event].id});
  }

  const Program &program;
  const Bytes &bytes;
  Verdict &verdict;
  std::vector<TensorState> states;
};

} // namespace

Verdict kilnrt::test::explore(const Program &program, Increments increments, uint64_t maxStates) {
  Verdict verdict;
  Cut parts = cut(program);
  size_t reached = 0; // epochs that are run to their ends
  for (Epoch &epoch : parts.epochs) {
    if (!Explorer(epoch, increments, maxStates).run(verdict.states)) {
      verdict.isTooLarge = true;
      return verdict;
    }
    verdict.hasDeadlock = epoch.hasDeadlock;
    if (verdict.hasDeadlock)
      break;
    ++reached;
  }
  const Bytes bytes(program);
  std::set<std::pair<uint32_t, std::vector<int64_t>>> compared;
  Choices choices;
  do {
    if (++verdict.runs > kMaxRuns) {
      verdict.isTooLarge = true;
      return verdict;
    }
    MemoryWalk memory(program, bytes, verdict);
    for (const Visit &visit : unfold(parts.edges, choices)) {
      if (visit.isIteration) {
        memory.startIteration(visit.index);
        continue;
      }
      if (visit.index >= reached)
        continue;
      const Epoch &epoch = parts.epochs[visit.index];
      if (compared.insert({visit.index, visit.iterations}).second)
        compareAccesses(epoch, visit.iterations, bytes, verdict);
      if (!verdict.hasDeadlock)
        memory.visit(epoch);
    }
  } while (choices.next());
  return verdict;
}
