//===- ProofBench.cpp - what a proof costs ----------------------------------------------------===//
//
// Synchronised streams of 10,000 to a million records: a matmul whose tiles rotate and whose output
// lies in HBM, many small tiles, each a tensor of its own, and the matmul with waits missing at its
// end, so that twenty findings are told. Times are thread CPU time, the
// median of the iterations. `ratio` is the time per record over that of the smallest size: level is
// linear.
//
//===------------------------------------------------------------------------------------------===//

#include "kilnrt/Proof.h"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <ctime>
#include <map>
#include <optional>

using namespace kilnrt;
using isa::DType;
using isa::Engine;
using isa::Memory;
using isa::Opcode;

namespace {

struct Count {
  uint16_t semaphore;
  uint32_t value;
};

class Builder {
public:
  Builder() {
    program.kernel = "bench";
    program.flags = {.placed = true, .scheduled = true, .synchronised = true};
    for (Engine engine :
         {Engine::Tensor, Engine::Scalar, Engine::Gpsimd, Engine::Vector, Engine::Sync})
      program.streams.push_back({engine, {}});
  }

  uint32_t tensor(const char *name, Memory memory, std::vector<int64_t> shape, uint64_t byte = 0,
                  TensorRole role = TensorRole::Internal) {
    TensorInfo info;
    info.name = name;
    info.memory = memory;
    info.shape = std::move(shape);
    info.byte = byte;
    info.role = role;
    program.tensors.push_back(std::move(info));
    return uint32_t(program.tensors.size() - 1);
  }
  static isa::Access access(uint32_t tensor, int64_t rows, int64_t columns, int64_t offset = 0,
                            int64_t rowStep = 0) {
    isa::Access a;
    a.tensor = tensor;
    a.partitionCount = uint32_t(rows);
    a.rank = 1;
    a.step[0] = 1;
    a.num[0] = columns;
    a.offset = offset;
    a.rowStep = rowStep;
    return a;
  }

  void add(Engine engine, Opcode opcode, std::vector<isa::Access> operands,
           std::optional<Count> wait, std::optional<Count> update) {
    Record record;
    record.inst = isa::makeInstruction(opcode);
    record.inst.engine = engine;
    std::copy(operands.begin(), operands.end(), record.inst.operands.begin());
    if (opcode == Opcode::DmaCopy && engine == Engine::Gpsimd)
      record.inst.setWord("dge_mode", int64_t(isa::DgeMode::Swdge));
    if (opcode == Opcode::NcMatmul)
      record.inst.setWord("accumulate", int64_t(isa::Accumulate::Overwrite));
    if (wait && wait->value > 0) {
      record.sync.waitSemaphore = wait->semaphore;
      record.sync.waitValue = wait->value;
    }
    if (update) {
      record.sync.updateSemaphore = update->semaphore;
      record.sync.updateValue = update->value;
    }
    record.order = records++;
    for (Stream &stream : program.streams)
      if (stream.engine == engine)
        encodeRecord(record, stream.bytes);
  }
  void wait(Engine engine, Count wait) {
    if (wait.value > 0)
      add(engine, Opcode::SemaphoreWait, {}, wait, {});
  }

  Program program;
  uint32_t records = 0;
};

/// What there is of a thing at turn `t` where one may be `slots` ahead.
uint32_t before(int64_t t, int64_t slots) { return uint32_t(std::max<int64_t>(t - slots + 1, 0)); }

/// Blocks of load, load, matmul, copy and store, seven records each, over four buffers and eight
/// banks. Semaphores: 0-3 loads and 4-7 stores of each buffer, 8 products, 9 copies. The last
/// `wrong` matmuls do not wait for their loads.
Program matmul(int64_t size, int64_t wrong) {
  constexpr int64_t kSlots = 4, kRecords = 7, kAcross = 64;
  const int64_t k = isa::machine.matmulMaxContraction, m = isa::machine.matmulMaxStationaryFree,
                w = 64, blocks = size / kRecords, banks = isa::machine.psumBanks;
  Builder b;
  const uint32_t x = b.tensor("x", Memory::Hbm, {k, m}, 0, TensorRole::Input);
  const uint32_t out =
      b.tensor("c", Memory::Hbm, {(blocks / kAcross + 1) * m, kAcross * w}, 0, TensorRole::Output);
  std::vector<uint32_t> stationary, moving, copied, products;
  uint64_t byte = 0;
  const auto tile = [&](const char *name, int64_t columns) {
    byte += uint64_t(columns) * 4;
    return b.tensor(name, Memory::Sbuf, {k, columns}, byte - uint64_t(columns) * 4);
  };
  for (int64_t s = 0; s < kSlots; ++s) {
    stationary.push_back(tile("s", m));
    moving.push_back(tile("m", w));
    copied.push_back(tile("o", w));
  }
  for (int64_t i = 0; i < banks; ++i)
    products.push_back(
        b.tensor("p", Memory::Psum, {m, w}, uint64_t(i * isa::machine.psumBankBytesPerPartition)));
  for (int64_t t = 0; t < blocks; ++t) {
    const size_t s = size_t(t % kSlots);
    const uint32_t round = uint32_t(t / kSlots), bank = products[size_t(t % banks)];
    const uint16_t loads = uint16_t(s), stores = uint16_t(kSlots + t % kSlots);
    b.add(Engine::Sync, Opcode::DmaCopy, {b.access(stationary[s], k, m), b.access(x, k, m, 0, m)},
          Count{8, before(t, kSlots)}, Count{loads, 16});
    b.add(Engine::Sync, Opcode::DmaCopy, {b.access(moving[s], k, w), b.access(x, k, w, 0, m)}, {},
          Count{loads, 16});
    b.wait(Engine::Tensor, {9, before(t, banks)});
    b.add(Engine::Tensor, Opcode::NcMatmul,
          {b.access(bank, m, w), b.access(stationary[s], k, m), b.access(moving[s], k, w)},
          Count{loads, t + wrong < blocks ? 32 * (round + 1) : 0}, Count{8, 1});
    b.wait(Engine::Vector, {stores, 16 * round});
    b.add(Engine::Vector, Opcode::TensorCopy, {b.access(copied[s], m, w), b.access(bank, m, w)},
          Count{8, uint32_t(t + 1)}, Count{9, 1});
    const int64_t corner = t / kAcross * m * kAcross * w + t % kAcross * w;
    b.add(Engine::Gpsimd, Opcode::DmaCopy,
          {b.access(out, m, w, corner, kAcross * w), b.access(copied[s], m, w)},
          Count{9, uint32_t(t + 1)}, Count{stores, 16});
  }
  return std::move(b.program);
}

Program rightMatmul(int64_t size) { return matmul(size, 0); }
Program wrongMatmul(int64_t size) { return matmul(size, 50); }

/// Load, copy and store of a tile of 16 columns, four records each, every tile a tensor of its own
/// at one of 256 places. Semaphores: 0-7 loads and 8-15 stores in turn, 16 copies.
Program smallTiles(int64_t size) {
  constexpr int64_t kFlying = 8, kPlaces = 256, kRecords = 4, kColumns = 16;
  const int64_t rows = isa::machine.numPartitions, tiles = size / kRecords;
  Builder b;
  const uint32_t x = b.tensor("x", Memory::Hbm, {rows, kColumns}, 0, TensorRole::Input);
  const uint32_t y = b.tensor("y", Memory::Hbm, {tiles * rows, kColumns}, 0, TensorRole::Output);
  for (int64_t t = 0; t < tiles; ++t) {
    const uint64_t byte = uint64_t(t % kPlaces * 2 * kColumns * 4);
    const uint32_t in = b.tensor("i", Memory::Sbuf, {rows, kColumns}, byte);
    const uint32_t out = b.tensor("o", Memory::Sbuf, {rows, kColumns}, byte + kColumns * 4);
    const uint16_t loads = uint16_t(t % kFlying), stores = uint16_t(kFlying + t % kFlying);
    const uint32_t round = uint32_t(t / kFlying);
    b.add(Engine::Sync, Opcode::DmaCopy,
          {b.access(in, rows, kColumns), b.access(x, rows, kColumns, 0, kColumns)},
          Count{16, before(t, kFlying)}, Count{loads, 16});
    b.wait(Engine::Vector, {stores, 16 * round});
    b.add(Engine::Vector, Opcode::TensorCopy,
          {b.access(out, rows, kColumns), b.access(in, rows, kColumns)},
          Count{loads, 16 * (round + 1)}, Count{16, 1});
    b.add(
        Engine::Gpsimd, Opcode::DmaCopy,
        {b.access(y, rows, kColumns, t * rows * kColumns, kColumns), b.access(out, rows, kColumns)},
        Count{16, uint32_t(t + 1)}, Count{stores, 16});
  }
  return std::move(b.program);
}

constexpr int64_t kSmallest = 10'000;

double threadSeconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return double(now.tv_sec) + double(now.tv_nsec) * 1e-9;
}

void proving(benchmark::State &state, Program (*make)(int64_t)) {
  static std::map<Program (*)(int64_t), double> smallest; // seconds of a record
  const Program program = make(state.range(0));
  if (Status status = verify(program); !status)
    return state.SkipWithError(status.error().message.c_str());
  std::vector<double> times;
  uint64_t records = 0;
  for (auto _ : state) {
    const double start = threadSeconds();
    const Expected<Proof> proof = prove(program);
    times.push_back(threadSeconds() - start);
    if (!proof || (!proof->isProven() && make != wrongMatmul))
      return state.SkipWithError(!proof ? proof.error().message.c_str()
                                 : proof->findings.empty()
                                     ? proof->reason.c_str()
                                     : proof->findings[0].diagnostic.message.c_str());
    records = proof->stats.instructions;
    state.counters["findings"] = double(proof->findings.size());
  }
  std::sort(times.begin(), times.end());
  const double perRecord = times[times.size() / 2] / double(records);
  if (state.range(0) == kSmallest)
    smallest[make] = perRecord; // the last measurement has the most iterations
  state.counters["records"] = double(records);
  state.counters["records/s"] = 1 / perRecord;
  state.counters["ratio"] = perRecord / smallest[make];
}

} // namespace

#define SIZES ->Arg(kSmallest)->Arg(100'000)->Arg(1'000'000)->Unit(benchmark::kMillisecond)
BENCHMARK_CAPTURE(proving, matmul, rightMatmul) SIZES;
BENCHMARK_CAPTURE(proving, small_tiles, smallTiles) SIZES;
BENCHMARK_CAPTURE(proving, refuted, wrongMatmul) SIZES;

BENCHMARK_MAIN();
