//===- AnalysisBench.cpp - what placement and synchronisation cost ----------------------------===//
//
// A blocked matmul of eleven instructions a block, from 88,000 to a million: the time of each
// analysis and of its checker. `items_per_second` that stays level over the sizes is linear cost.
//
//===------------------------------------------------------------------------------------------===//

#include "AnalysisTestSupport.h"

#include <benchmark/benchmark.h>

using namespace kiln::analysis;

namespace {

/// The kernel of `blocks` blocks with its placement, made outside the measurement.
struct Placed {
  Kernel kernel;
  Placement placement;
  explicit Placed(const benchmark::State &state)
      : kernel(matmulKernel(uint32_t(state.range(0)), /*depth=*/3)),
        placement(*place(kernel).placement) {}
};

void count(benchmark::State &state, const Kernel &kernel) {
  state.SetItemsProcessed(state.iterations() * int64_t(kernel.instructions.size()));
  state.counters["instructions"] = double(kernel.instructions.size());
}

void placing(benchmark::State &state) {
  const Kernel kernel = matmulKernel(uint32_t(state.range(0)), /*depth=*/3);
  for (auto _ : state)
    benchmark::DoNotOptimize(place(kernel));
  count(state, kernel);
}

void synchronising(benchmark::State &state) {
  const Placed k(state);
  for (auto _ : state)
    benchmark::DoNotOptimize(synchronise(k.kernel, k.placement));
  count(state, k.kernel);
}

void checking(benchmark::State &state) {
  const Placed k(state);
  const Synchronisation result = synchronise(k.kernel, k.placement);
  for (auto _ : state)
    benchmark::DoNotOptimize(verifySynchronisation(k.kernel, k.placement, result));
  count(state, k.kernel);
}

} // namespace

#define SIZES ->Arg(8000)->Arg(32000)->Arg(91000)->Unit(benchmark::kMillisecond)
BENCHMARK(placing) SIZES;
BENCHMARK(synchronising) SIZES;
BENCHMARK(checking) SIZES;

BENCHMARK_MAIN();
