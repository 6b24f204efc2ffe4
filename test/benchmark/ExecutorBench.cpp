//===- ExecutorBench.cpp - what a run costs ---------------------------------------------------===//
//
// Whole streams: a blocked bf16 matmul, and long runs of one instruction. The
// counters give FLOP/s or time per instruction, checks on and off.
//
//===------------------------------------------------------------------------------------------===//

#include "kilnrt/Executor.h"

#include <benchmark/benchmark.h>

#include <map>

using namespace kilnrt;
using isa::Engine;
using isa::Memory;
using isa::Opcode;

namespace {

/// Programs in one global order, placed, not synchronised.
class Builder {
public:
  Builder() { program.flags.placed = true; }

  uint32_t tensor(std::string name, Memory memory, DType dtype, std::vector<int64_t> shape,
                  uint64_t byte = 0, TensorRole role = TensorRole::Internal) {
    TensorInfo info;
    info.name = std::move(name);
    info.memory = memory;
    info.dtype = dtype;
    info.shape = std::move(shape);
    info.byte = byte;
    info.role = role;
    program.tensors.push_back(std::move(info));
    return uint32_t(program.tensors.size() - 1);
  }

  /// `rows` rows of `columns` elements from element `offset` on.
  isa::Access access(uint32_t tensor, uint32_t rows, int64_t columns, int64_t offset = 0,
                     int64_t rowStep = 0) const {
    isa::Access a;
    a.tensor = tensor;
    a.dtype = program.tensors[tensor].dtype;
    a.partitionCount = rows;
    a.rank = 1;
    a.step[0] = 1;
    a.num[0] = columns;
    a.offset = offset;
    a.rowStep = rowStep;
    return a;
  }

  isa::Instruction &add(Engine engine, Opcode opcode, std::vector<isa::Access> operands) {
    records[engine].emplace_back();
    Record &record = records[engine].back();
    record.inst = isa::makeInstruction(opcode);
    record.inst.engine = engine;
    std::copy(operands.begin(), operands.end(), record.inst.operands.begin());
    record.order = order++;
    return record.inst;
  }

  Program finish() {
    for (auto &[engine, list] : records) {
      program.streams.push_back({engine, {}});
      for (const Record &record : list)
        encodeRecord(record, program.streams.back().bytes);
    }
    return program;
  }

private:
  Program program;
  std::map<Engine, std::vector<Record>> records;
  uint32_t order = 0;
};

/// C[n, n] = transpose(A[n, n]) * B[n, n] in blocks of 128 x 128 x 512.
Program matmulProgram(int64_t n) {
  const int64_t k = isa::machine.matmulMaxContraction, m = isa::machine.matmulMaxStationaryFree,
                w = isa::machine.matmulMaxMovingFree;
  Builder b;
  const DType bf16 = DType::BFloat16;
  const uint32_t a = b.tensor("a", Memory::Hbm, bf16, {n, n}, 0, TensorRole::Input);
  const uint32_t x = b.tensor("b", Memory::Hbm, bf16, {n, n}, 0, TensorRole::Input);
  b.tensor("c", Memory::Hbm, bf16, {n, n}, 0, TensorRole::Output);
  const uint32_t c = x + 1;
  // Input 1 needs its number; the others are numbered 0 by default.
  uint64_t byte = 0;
  auto tile = [&](DType dtype, int64_t columns) {
    const uint32_t t = b.tensor("t", Memory::Sbuf, dtype, {k, columns}, byte);
    byte += uint64_t(columns) * isa::bytesOf(dtype);
    return t;
  };
  std::vector<uint32_t> moving, stationary;
  for (int64_t i = 0; i < n / k; ++i)
    moving.push_back(tile(bf16, w));
  for (int64_t i = 0; i < 2 * n / k; ++i)
    stationary.push_back(tile(bf16, m));
  const uint32_t out = tile(bf16, w);
  std::vector<uint32_t> banks;
  for (int64_t i = 0; i < isa::machine.psumBanks; ++i)
    banks.push_back(b.tensor("p", Memory::Psum, DType::Float32, {m, w},
                             uint64_t(i * isa::machine.psumBankBytesPerPartition)));

  int64_t turn = 0;
  for (int64_t column = 0; column < n; column += w) {
    for (int64_t i = 0; i < n / k; ++i)
      b.add(Engine::Sync, Opcode::DmaCopy,
            {b.access(moving[size_t(i)], uint32_t(k), w),
             b.access(x, uint32_t(k), w, i * k * n + column, n)});
    for (int64_t row = 0; row < n; row += m, ++turn) {
      const uint32_t bank = banks[size_t(turn) % banks.size()];
      for (int64_t i = 0; i < n / k; ++i) {
        const uint32_t s = stationary[size_t(turn % 2 * n / k + i)];
        b.add(Engine::Sync, Opcode::DmaCopy,
              {b.access(s, uint32_t(k), m), b.access(a, uint32_t(k), m, i * k * n + row, n)});
        b.add(Engine::Tensor, Opcode::NcMatmul,
              {b.access(bank, uint32_t(m), w), b.access(s, uint32_t(k), m),
               b.access(moving[size_t(i)], uint32_t(k), w)})
            .setWord("accumulate",
                     int64_t(i == 0 ? isa::Accumulate::Overwrite : isa::Accumulate::Add));
      }
      b.add(Engine::Vector, Opcode::TensorCopy,
            {b.access(out, uint32_t(m), w), b.access(bank, uint32_t(m), w)});
      b.add(Engine::Sync, Opcode::DmaCopy,
            {b.access(c, uint32_t(m), w, row * n + column, n), b.access(out, uint32_t(m), w)});
    }
  }
  Program program = b.finish();
  program.tensors[x].index = 1;
  return program;
}

/// `count` times y = y + x on [128, columns] tiles of `dtype`, over `tiles`
/// pairs of tiles.
Program addProgram(DType dtype, int64_t columns, int64_t tiles, int64_t count) {
  Builder b;
  const uint32_t rows = uint32_t(isa::machine.numPartitions);
  std::vector<uint32_t> xs, ys;
  uint64_t byte = 0;
  const uint64_t bytes = (uint64_t(columns) * isa::bytesOf(dtype) + 63) / 64 * 64;
  for (int64_t i = 0; i < tiles; ++i)
    for (auto *list : {&xs, &ys}) {
      list->push_back(b.tensor("t", Memory::Sbuf, dtype, {int64_t(rows), columns}, byte));
      byte += bytes;
      b.add(Engine::Vector, Opcode::Memset, {b.access(list->back(), rows, columns)})
          .setReal("value", 1);
    }
  for (int64_t i = 0; i < count; ++i) {
    const size_t t = size_t(i % tiles);
    b.add(Engine::Vector, Opcode::TensorTensor,
          {b.access(ys[t], rows, columns), b.access(xs[t], rows, columns),
           b.access(ys[t], rows, columns)})
        .setWord("op", int64_t(isa::AluOp::Add));
  }
  return b.finish();
}

/// `count` transposes of a square tile through the array.
Program transposeProgram(DType dtype, int64_t count) {
  Builder b;
  const int64_t n = isa::machine.matmulMaxContraction;
  const uint32_t x = b.tensor("x", Memory::Sbuf, dtype, {n, n});
  const uint32_t y = b.tensor("y", Memory::Psum, dtype, {n, n});
  b.add(Engine::Vector, Opcode::Memset, {b.access(x, uint32_t(n), n)}).setReal("value", 1);
  for (int64_t i = 0; i < count; ++i)
    b.add(Engine::Tensor, Opcode::NcTranspose,
          {b.access(y, uint32_t(n), n), b.access(x, uint32_t(n), n)});
  return b.finish();
}

/// `count` times exp with a row sum, fp32 to bf16, on a [128, columns] tile.
Program expProgram(int64_t columns, int64_t count) {
  Builder b;
  const uint32_t rows = uint32_t(isa::machine.numPartitions);
  const uint32_t x = b.tensor("x", Memory::Sbuf, DType::Float32, {rows, columns});
  const uint32_t y =
      b.tensor("y", Memory::Sbuf, DType::BFloat16, {rows, columns}, uint64_t(columns) * 4);
  const uint32_t sum =
      b.tensor("s", Memory::Sbuf, DType::Float32, {rows, 1}, uint64_t(columns) * 8);
  b.add(Engine::Vector, Opcode::Memset, {b.access(x, rows, columns)}).setReal("value", -1.5);
  for (int64_t i = 0; i < count; ++i) {
    isa::Instruction &inst = b.add(
        Engine::Scalar, Opcode::Activation,
        {b.access(y, rows, columns), b.access(x, rows, columns), {}, {}, b.access(sum, rows, 1)});
    inst.setWord("op", int64_t(isa::ActFn::Exp));
    inst.setWord("reduce_op", int64_t(isa::AluOp::Add));
    inst.setWord("reduce_cmd", int64_t(isa::ReduceCmd::ResetReduce));
  }
  return b.finish();
}

Executable prepared(const Program &program) {
  Expected<Executable> executable = Executable::prepare(program);
  return std::move(*executable);
}

void runOnce(benchmark::State &state, const Executable &executable,
             const std::vector<HostArray> &inputs, bool isChecked) {
  if (!executable.run(inputs, {.checkUninitialised = isChecked}))
    state.SkipWithError("the run failed");
}

void matmulStream(benchmark::State &state) {
  const int64_t n = state.range(0);
  const Executable executable = prepared(matmulProgram(n));
  HostArray array{DType::BFloat16, {n, n}, {}};
  array.data.resize(size_t(n * n * 2));
  for (size_t i = 0; i < array.data.size(); i += 2) {
    array.data[i] = std::byte(i % 251);
    array.data[i + 1] = std::byte(0x3F); // between 0.5 and 2
  }
  const std::vector<HostArray> inputs = {array, array};
  for (auto _ : state)
    runOnce(state, executable, inputs, state.range(1) != 0);
  state.counters["FLOP/s"] = benchmark::Counter(2e0 * double(n) * double(n) * double(n),
                                                benchmark::Counter::kIsIterationInvariantRate);
}

void addStream(benchmark::State &state) {
  constexpr int64_t count = 20000;
  const int64_t columns = state.range(0), tiles = state.range(1);
  const int64_t n = columns > 64 ? count / 20 : count;
  const Executable executable = prepared(addProgram(DType::Float32, columns, tiles, n));
  for (auto _ : state)
    runOnce(state, executable, {}, state.range(2) != 0);
  state.counters["s/instruction"] = benchmark::Counter(
      double(n), benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}

void repeatedStream(benchmark::State &state, const Program &program, int64_t count) {
  const Executable executable = prepared(program);
  for (auto _ : state)
    runOnce(state, executable, {}, true);
  state.counters["s/instruction"] = benchmark::Counter(
      double(count), benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}

void transposeStream(benchmark::State &state) {
  repeatedStream(state, transposeProgram(DType(state.range(0)), 1000), 1000);
}

void expStream(benchmark::State &state) {
  repeatedStream(state, expProgram(state.range(0), 500), 500);
}

void prepareStream(benchmark::State &state) {
  const Program program = addProgram(DType::Float32, 64, 8, 25000);
  for (auto _ : state)
    benchmark::DoNotOptimize(prepared(program));
  state.counters["s/record"] = benchmark::Counter(
      25000, benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}

} // namespace

BENCHMARK(matmulStream)
    ->ArgNames({"n", "checked"})
    ->ArgsProduct({{1024, 4096}, {0, 1}})
    ->Unit(benchmark::kMillisecond);
BENCHMARK(addStream)
    ->ArgNames({"columns", "tiles", "checked"})
    ->ArgsProduct({{1, 16, 512}, {2, 40}, {0, 1}})
    ->Unit(benchmark::kMillisecond);
BENCHMARK(transposeStream)
    ->ArgNames({"dtype"})
    ->Args({int64_t(DType::Float32)})
    ->Args({int64_t(DType::BFloat16)})
    ->Unit(benchmark::kMillisecond);
BENCHMARK(expStream)->ArgNames({"columns"})->Args({512})->Unit(benchmark::kMillisecond);
BENCHMARK(prepareStream)->Unit(benchmark::kMillisecond);

BENCHMARK_MAIN();
