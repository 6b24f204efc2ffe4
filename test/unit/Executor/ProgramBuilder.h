//===- ProgramBuilder.h - small programs by hand ----------------------------------------------===//
//
// Tensors, accesses and instructions with few words, for tests of the executor. Records get the
// order they are added in; everything built passes the verifier unless a test wants otherwise.
//
//===------------------------------------------------------------------------------------------===//

#ifndef KILN_TEST_UNIT_EXECUTOR_PROGRAMBUILDER_H
#define KILN_TEST_UNIT_EXECUTOR_PROGRAMBUILDER_H

#include "kiln/ISA/Args.h"
#include "kilnrt/Executor.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>

namespace kilnrt::test {

using isa::AluOp;
using isa::Engine;
using isa::Memory;
using isa::Opcode;

/// One [step, num] pair of an access.
struct Dim {
  int64_t step, num;
};

class ProgramBuilder {
public:
  Program program;

  explicit ProgramBuilder(ProgramFlags flags = {}) {
    program.kernel = "test";
    program.flags = flags;
    program.files = {"kernel.cpp"};
  }

  uint32_t hbm(std::string name, DType dtype, std::vector<int64_t> shape,
               TensorRole role = TensorRole::Internal);
  uint32_t input(std::string name, DType dtype, std::vector<int64_t> shape) {
    return hbm(std::move(name), dtype, std::move(shape), TensorRole::Input);
  }
  uint32_t output(std::string name, DType dtype, std::vector<int64_t> shape) {
    return hbm(std::move(name), dtype, std::move(shape), TensorRole::Output);
  }
  /// At the next free byte of its memory (a bank in PSUM), or at `byte`.
  uint32_t onChip(std::string name, Memory memory, DType dtype, std::vector<int64_t> shape,
                  std::optional<uint64_t> byte = {}, uint32_t partition = 0);
  uint32_t sbuf(std::string name, DType dtype, std::vector<int64_t> shape) {
    return onChip(std::move(name), Memory::Sbuf, dtype, std::move(shape));
  }
  uint32_t psum(std::string name, DType dtype, std::vector<int64_t> shape) {
    return onChip(std::move(name), Memory::Psum, dtype, std::move(shape));
  }

  /// The whole tensor: rows are partitions, or dim 0 in HBM.
  isa::Access all(uint32_t tensor) const;
  /// Part of an on-chip tensor, in its own dtype.
  isa::Access at(uint32_t tensor, uint32_t firstPartition, uint32_t partitions, int64_t offset,
                 std::vector<Dim> dims) const;
  /// Part of an HBM tensor.
  isa::Access rows(uint32_t tensor, int64_t offset, uint32_t rows, int64_t rowStep,
                   std::vector<Dim> dims) const;

  /// Appends a record on `engine` and returns it for changes; valid until `finish`.
  Record &add(Engine engine, Opcode opcode, std::vector<isa::Access> operands);
  /// Everything from the line on: records and tensors get it as their place.
  ProgramBuilder &line(uint32_t line);

  // Frequent instructions.
  Record &dma(isa::Access dst, isa::Access src, uint32_t ring = 0);
  Record &copy(isa::Access dst, isa::Access src, Engine engine = Engine::Vector) {
    return add(engine, Opcode::TensorCopy, {dst, src});
  }
  Record &memset(isa::Access dst, double value) {
    Record &record = add(Engine::Vector, Opcode::Memset, {dst});
    record.inst.setReal("value", value);
    return record;
  }
  Record &matmul(isa::Access dst, isa::Access stationary, isa::Access moving,
                 isa::Accumulate accumulate) {
    Record &record = add(Engine::Tensor, Opcode::NcMatmul, {dst, stationary, moving});
    record.inst.setWord("accumulate", int64_t(accumulate));
    return record;
  }

  /// Starts a loop in the streams of all engines.
  void loop(uint32_t tripCount) {
    for (Engine engine : allEngines)
      add(engine, Opcode::LoopBegin, {}).inst.setWord("trip_count", tripCount);
  }
  /// Starts a loop of `kind` that register 0 decides, up to it from 0 on, in the streams of all
  /// engines.
  void loop(isa::LoopKind kind) {
    for (Engine engine : allEngines) {
      isa::Instruction &begin = add(engine, Opcode::LoopBegin, {}).inst;
      begin.setWord("kind", int64_t(kind));
      begin.setWord("reg", kind == isa::LoopKind::Range ? 1 : 0);
      if (kind == isa::LoopKind::Range)
        begin.setWord("last_register", 0);
    }
  }
  /// Ends the innermost loop.
  void endLoop() {
    for (Engine engine : allEngines)
      add(engine, Opcode::LoopEnd, {});
  }
  /// Each iteration of loop `number` finds `tensor` never written.
  void declareInLoop(uint32_t tensor, uint32_t number) { program.tensors[tensor].loop = number; }

  /// Makes the program synchronised, every record waiting for the one before it
  /// on semaphore 0, which starts again at the edges of loops.
  void serialise();

  /// The encoded program.
  Program finish();

private:
  static constexpr Engine allEngines[] = {Engine::Tensor, Engine::Scalar, Engine::Gpsimd,
                                          Engine::Vector, Engine::Sync};
  std::map<Engine, std::vector<std::unique_ptr<Record>>> records;
  std::array<uint64_t, 2> nextByte{};
  uint32_t nextOrder = 0;
  uint32_t location = kNone;
};

/// `access` with the steps of the loops around it, outermost first.
inline isa::Access moving(isa::Access access, std::initializer_list<int64_t> steps) {
  std::copy(steps.begin(), steps.end(), access.loopStep.begin());
  return access;
}

inline void waitFor(Record &record, uint16_t semaphore, uint32_t value) {
  record.sync.waitSemaphore = semaphore;
  record.sync.waitValue = value;
}
inline void raise(Record &record, uint16_t semaphore, uint32_t value = 1) {
  record.sync.updateSemaphore = semaphore;
  record.sync.updateValue = value;
}

//---- running ------------------------------------------------------------===//

/// An array from values of the element's storage type (uint16_t for 16-bit floats).
template <typename T>
HostArray array(DType dtype, std::vector<int64_t> shape, const std::vector<T> &values) {
  HostArray result{dtype, std::move(shape), {}};
  EXPECT_EQ(size_t(result.elements()), values.size());
  result.data.resize(values.size() * sizeof(T));
  std::memcpy(result.data.data(), values.data(), result.data.size());
  return result;
}
/// The elements of an array as their storage type.
template <typename T>
std::vector<T> values(const HostArray &array) {
  std::vector<T> result(array.data.size() / sizeof(T));
  std::memcpy(result.data(), array.data.data(), array.data.size());
  return result;
}

/// Verifies, prepares and runs. A program the verifier refuses fails the test.
Expected<RunResult> run(ProgramBuilder &builder, std::span<const HostArray> inputs,
                        const RunOptions &options = {});
/// The same for runs that succeed; the outputs.
std::vector<HostArray> outputsOf(ProgramBuilder &builder, std::span<const HostArray> inputs,
                                 const RunOptions &options = {});
/// The same for runs that fail; the fault.
Diagnostic faultOf(ProgramBuilder &builder, std::span<const HostArray> inputs,
                   const RunOptions &options = {});

/// message, rule, place and notes of a diagnostic on one line each.
std::string render(const Diagnostic &diagnostic);

} // namespace kilnrt::test

#endif // KILN_TEST_UNIT_EXECUTOR_PROGRAMBUILDER_H
