//===- InstructionFixture.h - a kernel of one instruction, run --------------------------------===//
//
// `runKernel` takes a kernel as its author writes it to the values it leaves: trace, records, file
// and assembler round trip, executor. Tensors get private byte ranges and records one global order,
// so nothing of placement or synchronisation is needed.
//
//===------------------------------------------------------------------------------------------===//

#ifndef KILN_TEST_UNIT_INSTRUCTIONS_INSTRUCTIONFIXTURE_H
#define KILN_TEST_UNIT_INSTRUCTIONS_INSTRUCTIONFIXTURE_H

#include "KernelFixture.h"
#include "kilnrt/Executor.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

namespace kiln::test {

using kilnrt::HostArray;

/// An array of `values`, converted to `dtype`; `shape` holds as many elements.
HostArray arrayOf(DType dtype, std::vector<int64_t> shape, const std::vector<float> &values);
/// 1, 2, 3, ... in `shape`.
HostArray counting(DType dtype, std::vector<int64_t> shape);
/// The elements of `array` as fp32.
std::vector<float> floatsOf(const HostArray &array);

/// Runs the program of a trace. Fails the test when the trace has errors, when a record, the
/// program's file or its assembler text does not come back as it was, or when the run faults.
/// Returns the results; `text`, if given, receives the assembler text.
std::vector<HostArray> runTrace(const TraceResult &traced, const std::vector<HostArray> &inputs,
                                std::string *text = nullptr);

/// The same with all of the run: prints, or the fault that stopped it.
kilnrt::Expected<kilnrt::RunResult> resultOf(const TraceResult &traced,
                                             const std::vector<HostArray> &inputs,
                                             std::string *text = nullptr);

/// Traces `kernel` for `inputs` and runs it.
template <class Lambda>
std::vector<HostArray> runKernel(Lambda kernel, const std::vector<HostArray> &inputs,
                                 std::string *text = nullptr) {
  std::vector<driver::Arg> args;
  for (const HostArray &input : inputs)
    args.push_back(TensorArg{input.dtype, input.shape});
  return runTrace(traceOf(kernel, args), inputs, text);
}

/// The elements of the only result.
inline std::vector<float> onlyResult(const std::vector<HostArray> &results) {
  EXPECT_EQ(results.size(), 1u);
  return results.size() == 1 ? floatsOf(results[0]) : std::vector<float>();
}

/// Bits of `values` as fp32: they tell the zeros apart, and a NaN equals itself.
inline std::vector<uint32_t> bitPatterns(const std::vector<float> &values) {
  std::vector<uint32_t> bits(values.size());
  std::memcpy(bits.data(), values.data(), values.size() * sizeof(float));
  return bits;
}

//---- for kernels ----

/// The tensor `x` in an SBUF tile of its shape and dtype.
inline Tensor loaded(const Tensor &x) {
  Tensor tile = nl::ndarray(x.shape(), x.dtype());
  nisa::dma_copy(tile, x);
  return tile;
}
/// `tile` in a result tensor of its shape and dtype.
inline Tensor stored(const Tensor &tile) {
  Tensor out = nl::ndarray(tile.shape(), tile.dtype(), nl::shared_hbm);
  nisa::dma_copy(out, tile);
  return out;
}

} // namespace kiln::test

#endif // KILN_TEST_UNIT_INSTRUCTIONS_INSTRUCTIONFIXTURE_H
