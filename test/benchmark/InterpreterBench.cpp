//===- InterpreterBench.cpp - how fast the reference interpreter multiplies -------------------===//
//
// One thread, N x N matrices. The yardstick is OpenBLAS, which adds up in an order of its own.
//
//===------------------------------------------------------------------------------------------===//

#include "kiln/Tile/Interpreter.h"
#include "kilnrt/Numerics/Convert.h"

#include <benchmark/benchmark.h>
#include <cblas.h>

using namespace kiln;
using namespace kiln::tile;
using isa::DType;

namespace {

Node matmulNode(NodeId x, NodeId y, const Shape &shape, Order order) {
  Node node;
  node.op = Op::Matmul;
  node.operands = {x, y};
  node.shape = shape;
  node.order = order;
  return node;
}

float element(int64_t i) { return float(i * 7919 % 1013) / 512 - 1; }

void matmul(benchmark::State &state, DType dtype, Order order) {
  const int64_t n = state.range(0);
  Graph graph;
  std::vector<Value> buffers;
  for (uint32_t i = 0; i < 2; ++i) {
    graph.buffers.push_back(
        {i ? "y" : "x", isa::Memory::Hbm, dtype, Buffer::Role::Input, i, {n, n}, kNone});
    Value value{dtype, {n, n}, std::vector<std::byte>(size_t(n * n) * isa::bytesOf(dtype))};
    for (int64_t k = 0; k < n * n; ++k)
      kilnrt::storeElement(dtype, element(k + i), value.bytes.data() + k * isa::bytesOf(dtype));
    buffers.push_back(std::move(value));
    Node load;
    load.op = Op::Load;
    load.shape = {n, n};
    load.dtype = dtype;
    load.view = {i, 0, 0, {n, 1}};
    graph.add(load);
  }
  graph.add(matmulNode(0, 1, {n, n}, order));
  for (auto _ : state)
    if (const auto fault = evaluate(graph, buffers))
      state.SkipWithError(fault->message.c_str());
  state.counters["FLOP/s"] =
      benchmark::Counter(2.0 * double(n * n * n), benchmark::Counter::kIsIterationInvariantRate);
}

void openBlas(benchmark::State &state) {
  openblas_set_num_threads(1);
  const int n = int(state.range(0));
  std::vector<float> x(size_t(n) * size_t(n)), y(x.size()), out(x.size());
  for (size_t i = 0; i < x.size(); ++i) {
    x[i] = element(int64_t(i));
    y[i] = element(int64_t(i) + 1);
  }
  for (auto _ : state) {
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, n, n, n, 1, x.data(), n, y.data(), n, 0,
                out.data(), n);
    benchmark::DoNotOptimize(out.data());
  }
  state.counters["FLOP/s"] = benchmark::Counter(2.0 * double(n) * double(n) * double(n),
                                                benchmark::Counter::kIsIterationInvariantRate);
}

constexpr Order kChunks{Order::Kind::Chunks, isa::machine.matmulMaxContraction, false};

BENCHMARK_CAPTURE(matmul, fp32, DType::Float32, kChunks)->Arg(512)->Arg(1000);
BENCHMARK_CAPTURE(matmul, bf16, DType::BFloat16, kChunks)->Arg(512)->Arg(1000);
BENCHMARK_CAPTURE(matmul, fp32_any, DType::Float32, Order())->Arg(512)->Arg(1000);
BENCHMARK_CAPTURE(matmul, bf16_any, DType::BFloat16, Order())->Arg(512)->Arg(1000);
BENCHMARK(openBlas)->Arg(512)->Arg(1000);

} // namespace

BENCHMARK_MAIN();
