//===- RandomProgram.cpp - small synchronised programs, right and wrong ones ------------------===//

#include "RandomProgram.h"

#include "ProgramBuilder.h"

#include <random>
#include <set>

using namespace kilnrt;
using namespace kilnrt::test;

namespace {

constexpr int64_t kPartitions = 4, kElements = 8;

class Generator {
public:
  explicit Generator(uint64_t seed) : random(seed), b({.placed = true, .synchronised = true}) {}

  Program make() {
    b.program.flags.placed = !chance(5);
    style = Style(below(5));
    makeTensors();
    engines = {Engine::Vector, Engine::Sync};
    for (Engine engine : {Engine::Scalar, Engine::Gpsimd})
      if (chance(40))
        engines.push_back(engine);
    semaphores = uint16_t(1 + below(3));
    dropped = below(3) == 0 ? 0 : int(below(30));
    segment(2 + below(chance(30) ? 7 : 4));
    if (chance(55)) {
      loop();
      segment(1 + below(3));
    }
    return b.finish();
  }

private:
  /// How waits and updates are drawn.
  enum class Style {
    Serial,  ///< one semaphore, most wait for all that came before
    Streams, ///< a semaphore for each stream and each kind of transfer
    Shared,  ///< few semaphores, raised by anybody
    Any,     ///< any wait that may end
    Heavy    ///< one semaphore; whom a wait proves complete is told by what each adds
  };
  struct Issued {
    Record *record;
    uint16_t semaphore; ///< it raises
    uint32_t value;
    size_t writes; ///< the tensor; kNothing: none
  };
  static constexpr size_t kNothing = SIZE_MAX;
  static constexpr int64_t kDecided = 0; ///< trips of a loop that registers decide

  uint64_t below(uint64_t n) { return random() % n; }
  bool chance(unsigned percent) { return below(100) < percent; }
  template <typename T>
  const T &oneOf(const std::vector<T> &list) {
    return list[below(list.size())];
  }

  //---- tensors ----------------------------------------------------------===//

  void makeTensors() {
    hbm = {b.input("x", DType::Float32, {kPartitions, 2 * kElements}),
           b.output("y", DType::Float32, {kPartitions, 2 * kElements}),
           b.hbm("h", DType::Float32, {kPartitions, 2 * kElements})};
    const uint64_t count = style == Style::Heavy ? 6 : 2 + below(3);
    for (uint64_t i = 0; i < count; ++i)
      addTensor();
  }
  void addTensor() {
    const uint64_t i = chip.size();
    // Apart, half overlaps, whole overlaps, neighbours, other partitions.
    const uint64_t byte = !b.program.flags.placed || chance(60) ? i * 64 : below(4) * 16;
    const uint32_t partition = chance(10) ? 32 : 0;
    const uint32_t t = b.onChip("t" + std::to_string(i), chance(90) ? Memory::Sbuf : Memory::Psum,
                                DType::Float32, {kPartitions, kElements}, 0, partition);
    TensorInfo &info = b.program.tensors[t];
    info.byte = info.memory == Memory::Sbuf ? byte : (b.program.flags.placed ? below(2) : i) * 2048;
    chip.push_back(t);
    isLive.push_back(false);
    isUsed.push_back(false);
  }
  void write(size_t tensor) {
    const auto overlaps = [&](size_t other) {
      const TensorInfo &s = b.program.tensors[chip[tensor]], &t = b.program.tensors[chip[other]];
      return s.memory == t.memory && s.partition == t.partition && s.byte < t.byte + 32 &&
             t.byte < s.byte + 32;
    };
    for (size_t other = 0; other < chip.size() && !isLive[tensor]; ++other)
      if (other != tensor && overlaps(other))
        isLive[other] = false;
    isLive[tensor] = isUsed[tensor] = true;
    written = tensor;
  }
  /// A tensor to write. Without heavy waits any; else one nobody uses yet.
  size_t destination() {
    if (style == Style::Heavy && chance(85))
      for (size_t i = 0; i < chip.size(); ++i)
        if (!isUsed[i])
          return i;
    return below(chip.size());
  }
  /// A tensor to read: mostly one that holds something.
  size_t source() {
    if (waitsFor != kNothing && chance(90))
      return waitsFor;
    std::vector<size_t> live;
    for (size_t i = 0; i < chip.size(); ++i)
      if (isLive[i])
        live.push_back(i);
    return live.empty() || chance(1) ? below(chip.size()) : oneOf(live);
  }

  //---- accesses ---------------------------------------------------------===//

  struct Cut {
    uint32_t partitions;
    int64_t elements;
  };
  Cut cut() {
    if (chance(30))
      return {uint32_t(kPartitions), kElements};
    return {uint32_t(1 + below(kPartitions)), int64_t(1 + below(4))};
  }
  /// Steps and an offset that keep `span` elements inside `room` in every iteration.
  int64_t place(isa::Access &access, int64_t span, int64_t room) {
    int64_t slack = room - span, low = 0;
    for (size_t l = 0; l < trips.size() && slack > 0; ++l) {
      if (trips[l] == kDecided || chance(50))
        continue;
      const int64_t step = int64_t(below(7)) - 3;
      const int64_t way = step * (trips[l] - 1);
      if (std::abs(way) > slack)
        continue;
      slack -= std::abs(way);
      low += std::min<int64_t>(way, 0);
      access.loopStep[l] = step;
    }
    return int64_t(below(uint64_t(slack) + 1)) - low;
  }
  isa::Access onChip(size_t tensor, Cut cut) {
    const int64_t step = cut.elements <= 4 && chance(25) ? 2 : 1;
    const int64_t span = (cut.elements - 1) * step + 1;
    isa::Access access = b.at(chip[tensor], uint32_t(below(kPartitions - cut.partitions + 1)),
                              cut.partitions, 0, {{step, cut.elements}});
    if (cut.partitions < 4) // start partitions are 0, 32, 64, 96
      access.partitionStart = 0;
    access.offset = place(access, span, kElements);
    return access;
  }
  /// Rows of the tensor; now and then columns, or rows of another pitch.
  isa::Access inHbm(uint32_t tensor, Cut cut) {
    const int64_t row = 2 * kElements;
    int64_t rowStep = row, step = 1;
    if (chance(12)) {
      rowStep = 1;
      step = cut.elements <= kPartitions ? row : 3;
    } else if (chance(25)) {
      rowStep = oneOf(std::vector<int64_t>{5, 8, 12, -row});
    }
    const int64_t back = std::min<int64_t>(0, rowStep * (cut.partitions - 1));
    const int64_t span = std::abs(rowStep) * (cut.partitions - 1) + step * (cut.elements - 1) + 1;
    isa::Access access = b.rows(tensor, 0, cut.partitions, rowStep, {{step, cut.elements}});
    access.offset = place(access, span, kPartitions * row) - back;
    return access;
  }

  //---- records ----------------------------------------------------------===//

  bool isAnyLive() const { return std::find(isLive.begin(), isLive.end(), true) != isLive.end(); }
  Record &instruction(Engine engine) {
    const Cut c = cut();
    const size_t to = destination();
    if (engine == Engine::Vector && (chance(35) || !isAnyLive())) {
      Record &record = b.memset(onChip(to, c), 1);
      write(to);
      return record;
    }
    const size_t from = source();
    if (engine == Engine::Scalar && chance(25)) { // through the reduction registers
      Record &record = b.add(engine, Opcode::Activation, {onChip(to, c), onChip(from, c)});
      record.inst.setWord("op", int64_t(isa::ActFn::Copy));
      record.inst.setWord("reduce_op", int64_t(AluOp::Add));
      record.inst.setWord("reduce_cmd", int64_t(isa::ReduceCmd::ResetReduce));
      write(to);
      return record;
    }
    Record &record = b.copy(onChip(to, c), onChip(from, c), engine);
    write(to);
    return record;
  }
  Record &transfer(Engine engine) {
    const Cut c = cut();
    isa::Access dst, src;
    const uint64_t kind = below(10);
    if (kind < 5 || !isAnyLive()) {
      const size_t to = destination();
      src = inHbm(hbm[chance(70) ? 0 : 2], c);
      dst = onChip(to, c);
      write(to);
    } else if (kind < 9) {
      src = onChip(source(), c);
      dst = inHbm(hbm[1 + below(2)], c);
    } else {
      src = inHbm(hbm[0], c);
      dst = inHbm(hbm[1 + below(2)], c);
    }
    Record &record = b.add(engine, Opcode::DmaCopy, {dst, src});
    record.inst.setWord("ring", int64_t(below(2)));
    record.inst.setWord("dge_mode", int64_t(engine == Engine::Sync     ? isa::DgeMode::Unknown
                                            : engine == Engine::Scalar ? isa::DgeMode::Hwdge
                                                                       : isa::DgeMode::Swdge));
    return record;
  }
  bool isTransferNext(Engine engine) {
    return engine == Engine::Sync || (engine != Engine::Vector && chance(30));
  }

  //---- synchronisation --------------------------------------------------===//

  uint32_t sumOf(uint16_t semaphore) const {
    uint32_t sum = 0;
    for (const Issued &i : issued)
      if (i.semaphore == semaphore)
        sum += i.value;
    return sum;
  }
  /// A wait for `semaphore` that lets somebody through: all so far, or less.
  uint32_t waitValue(uint16_t semaphore) {
    const uint32_t sum = sumOf(semaphore);
    if (sum == 0 || !chance(unsigned(2 * dropped)))
      return sum;
    switch (below(6)) {
    case 4:
    case 5: { // what some of them raise it to
      uint32_t part = 0;
      for (const Issued &i : issued)
        part += i.semaphore == semaphore && chance(70) ? i.value : 0;
      return part;
    }
    case 0:
      return sum - 1;
    case 1:
      return sum > 15 ? sum - 15 : sum;
    case 2:
      return sum > 16 ? sum - 16 : 1;
    default:
      return 1 + uint32_t(below(sum));
    }
  }
  /// Waits in front of the next record of `engine`, which may carry the last of them itself.
  std::vector<std::pair<uint16_t, uint32_t>> waits() {
    std::vector<std::pair<uint16_t, uint32_t>> result;
    waitsFor = kNothing;
    if (style == Style::Heavy) {
      const std::vector<Issued> all = issued;
      if (all.empty() || chance(15))
        return {};
      const Issued &producer = oneOf(all);
      if (producer.value == 0)
        return {};
      waitsFor = producer.writes;
      const uint32_t others = sumOf(0) - producer.value;
      return {{0, producer.value + (chance(50) ? 0 : uint32_t(below(others + 1)))}};
    }
    std::set<uint16_t> used;
    for (const Issued &i : issued)
      if (i.semaphore != Sync::kNoSemaphore)
        used.insert(i.semaphore);
    if (style == Style::Any && !used.empty() && chance(60))
      used = {oneOf(std::vector<uint16_t>(used.begin(), used.end()))};
    for (uint16_t semaphore : used)
      if (!chance(unsigned(dropped)))
        if (const uint32_t value = waitValue(semaphore))
          result.push_back({semaphore, value});
    return result;
  }
  uint16_t semaphoreFor(Engine engine, bool isTransfer) {
    switch (style) {
    case Style::Serial:
    case Style::Heavy:
      return 0;
    case Style::Streams:
      return uint16_t(4 * isTransfer + (engine == Engine::Vector ? 0
                                        : engine == Engine::Sync ? 1
                                                                 : 2));
    default:
      return uint16_t(below(semaphores));
    }
  }

  void issue(Engine engine) {
    if (issued.size() > 12)
      return;
    auto before = waits();
    const bool isTransfer = isTransferNext(engine);
    while (before.size() > 1) {
      Record &wait = b.add(engine, Opcode::SemaphoreWait, {});
      waitFor(wait, before.back().first, before.back().second);
      before.pop_back();
      issued.push_back({&wait, Sync::kNoSemaphore, 0, kNothing});
    }
    written = kNothing;
    Record &record = isTransfer ? transfer(engine) : instruction(engine);
    if (!before.empty())
      waitFor(record, before[0].first, before[0].second);
    Issued entry{&record, Sync::kNoSemaphore, 0, written};
    if (style == Style::Heavy || !chance(unsigned(dropped) / 2)) {
      entry.semaphore = semaphoreFor(engine, isTransfer);
      entry.value = isTransfer                                ? 16
                    : chance(style == Style::Heavy ? 40 : 75) ? 1
                    : chance(60)                              ? 1 + uint32_t(below(20))
                                                              : 100; // outweighs everybody else
      raise(record, entry.semaphore, entry.value);
    }
    issued.push_back(entry);
  }
  /// An epoch.
  void segment(uint64_t records) {
    issued.clear();
    for (uint64_t i = 0; i < records; ++i)
      issue(isAnyLive() ? oneOf(engines) : chance(50) ? Engine::Vector : Engine::Sync);
    if (issued.size() > 1 && chance(20)) // neighbours in the opposite order
      for (size_t i = below(issued.size() - 1) + 1; i < issued.size(); i += 1 + below(6))
        std::swap(issued[i].record->order, issued[i - 1].record->order);
    if (chance(10)) { // a wait that may come too early
      const uint16_t semaphore = semaphoreFor(oneOf(engines), chance(50));
      if (const uint32_t sum = sumOf(semaphore))
        waitFor(*oneOf(issued).record, semaphore, 1 + uint32_t(below(sum)));
    }
  }
  void loop() {
    trips.push_back(chance(45) ? kDecided : int64_t(1 + below(3)));
    if (trips.back() != kDecided)
      b.loop(uint32_t(trips.back()));
    else
      b.loop(oneOf(std::vector{isa::LoopKind::Range, isa::LoopKind::While, isa::LoopKind::Once}));
    const uint32_t number = loops++;
    const bool hasOwn = chance(30);
    if (hasOwn) {
      addTensor();
      b.declareInLoop(chip.back(), number);
    }
    segment(below(6));
    while (trips.size() < 3 && chance(30)) {
      loop();
      segment(below(4));
    }
    b.endLoop();
    trips.pop_back();
    if (hasOwn) {
      chip.pop_back();
      isLive.pop_back();
      isUsed.pop_back();
    }
  }

  std::mt19937_64 random;
  ProgramBuilder b;
  std::vector<uint32_t> hbm, chip;
  std::vector<bool> isLive, isUsed;
  size_t waitsFor = kNothing; ///< what the record at hand waits for was written to it
  size_t written = kNothing;  ///< the tensor the record at hand writes
  std::vector<Engine> engines;
  Style style = Style::Serial;
  uint16_t semaphores = 1;
  int dropped = 0;            ///< percent of waits left out
  std::vector<int64_t> trips; ///< of the open loops
  uint32_t loops = 0;
  std::vector<Issued> issued;
};

} // namespace

Program kilnrt::test::randomProgram(uint64_t seed) {
  for (uint64_t attempt = 0;; ++attempt) {
    Program program = Generator(seed * 1000 + attempt).make();
    if (verify(program))
      return program;
  }
}
