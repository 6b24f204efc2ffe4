//===- TileTest.h - one instruction between load and store ------------------------------------===//
//
// A fixture that brings tiles on chip, lets a test add instructions, and brings
// results back as bits.
//
//===------------------------------------------------------------------------------------------===//

#ifndef KILN_TEST_UNIT_EXECUTOR_TILETEST_H
#define KILN_TEST_UNIT_EXECUTOR_TILETEST_H

#include "NumberModel.h"
#include "ProgramBuilder.h"

namespace kilnrt::test {

class TileTest : public ::testing::Test {
protected:
  ProgramBuilder b;
  std::vector<HostArray> inputs;

  /// An on-chip tile of `shape` (partitions first) that holds `bits`.
  uint32_t load(std::string name, DType dtype, std::vector<int64_t> shape,
                const std::vector<uint32_t> &bits, Memory memory = Memory::Sbuf) {
    inputs.push_back(fromBits(dtype, shape, bits));
    const uint32_t source = b.input(name + "_hbm", dtype, shape);
    uint32_t tile = b.sbuf(name, dtype, shape);
    b.dma(b.all(tile), b.all(source));
    if (memory == Memory::Sbuf)
      return tile;
    const uint32_t copy = b.psum(name + "_psum", dtype, shape);
    b.copy(b.all(copy), b.all(tile));
    return copy;
  }

  /// Brings `tile` back to the host; the results of `run` are in the order of
  /// these calls.
  void store(uint32_t tile) {
    const TensorInfo info = b.program.tensors[tile];
    uint32_t source = tile;
    if (info.memory == Memory::Psum) {
      source = b.sbuf(info.name + "_back", info.dtype, info.shape);
      b.copy(b.all(source), b.all(tile));
    }
    const uint32_t result = b.output(info.name + "_out", info.dtype, info.shape);
    b.dma(b.all(result), b.all(source));
  }

  /// Runs and returns the bits of each result: in program order, then with
  /// semaphores in every schedule, which must not change a bit.
  std::vector<std::vector<uint32_t>> run() {
    const std::vector<std::vector<uint32_t>> bits = runOnce({});
    b.serialise();
    for (Schedule schedule : {Schedule(), Schedule(Schedule::RoundRobin),
                              Schedule(Schedule::Random, 1), Schedule(Schedule::ReverseDma)})
      EXPECT_EQ(runOnce({.schedule = schedule}), bits) << scheduleText(schedule);
    return bits;
  }

private:
  std::vector<std::vector<uint32_t>> runOnce(const RunOptions &options) {
    std::vector<std::vector<uint32_t>> bits;
    for (const HostArray &array : outputsOf(b, inputs, options))
      bits.push_back(bitsOf(array));
    return bits;
  }
};

} // namespace kilnrt::test

#endif // KILN_TEST_UNIT_EXECUTOR_TILETEST_H
