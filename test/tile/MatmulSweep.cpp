//===- MatmulSweep.cpp - one line of matmul at every odd size ---------------------------------===//
//
// Usage: matmul-sweep [--seed S] [--count N] [--all] [--slice I/N]
//
// matmul(a, b) with M, K and N of a list of 20 extents on both sides of the sizes of the machine,
// each transpose, one matrix and three, float32 and bfloat16: N of the 128,000 by chance, or all,
// or every Nth from the Ith on. Each is compiled, proven, run, equal to the interpreter bit for bit
// (CheckGraph.h) and near the sum in double.
//
//===------------------------------------------------------------------------------------------===//

#include "CheckGraph.h"
#include "RandomGraph.h"
#include "kiln/ISA/Text.h"
#include "kilnrt/Numerics/Convert.h"

#include <cmath>
#include <cstring>
#include <iostream>

using namespace kiln;
using namespace kiln::tile;
using namespace kiln::tile::test;
using isa::DType;

namespace {

constexpr int64_t kExtents[] = {1,   2,   63,  64,  100, 127, 128, 129,  130,  200,
                                256, 300, 384, 512, 513, 640, 768, 1000, 1152, 1536};
constexpr int64_t kExtentCount = std::size(kExtents);
constexpr int64_t kCases = kExtentCount * kExtentCount * kExtentCount * 16;

struct Case {
  int64_t m, k, n;
  bool transposeX, transposeY, isBatch;
  DType dtype;
};

Case caseOf(int64_t number) {
  const auto digit = [&](int64_t base) {
    const int64_t out = number % base;
    number /= base;
    return out;
  };
  Case c{};
  c.m = kExtents[digit(kExtentCount)];
  c.k = kExtents[digit(kExtentCount)];
  c.n = kExtents[digit(kExtentCount)];
  c.transposeX = digit(2);
  c.transposeY = digit(2);
  c.isBatch = digit(2);
  c.dtype = digit(2) ? DType::BFloat16 : DType::Float32;
  return c;
}

std::string nameOf(const Case &c) {
  return text(c.m, "x", c.k, "x", c.n, " ", isa::name(c.dtype), c.transposeX ? " x transposed" : "",
              c.transposeY ? " y transposed" : "", c.isBatch ? " three times" : "");
}

Graph graphOf(const Case &c) {
  Graph graph;
  const auto shape = [&](int64_t rows, int64_t columns, bool isTransposed) {
    Shape out = isTransposed ? Shape{columns, rows} : Shape{rows, columns};
    if (c.isBatch)
      out.insert(out.begin(), 3);
    return out;
  };
  const auto border = [&](Op op, Buffer::Role role, uint32_t index, const Shape &dims) {
    Node node;
    node.op = op;
    node.shape = dims;
    node.dtype = c.dtype;
    node.view = wholeView(uint32_t(graph.buffers.size()), dims);
    graph.buffers.push_back({role == Buffer::Role::Output ? "y"
                             : index                      ? "b"
                                                          : "a",
                             isa::Memory::Hbm, c.dtype, role, index, dims, kNone});
    return node;
  };
  graph.add(border(Op::Load, Buffer::Role::Input, 0, shape(c.m, c.k, c.transposeX)));
  graph.add(border(Op::Load, Buffer::Role::Input, 1, shape(c.k, c.n, c.transposeY)));
  Node matmul;
  matmul.op = Op::Matmul;
  matmul.operands = {0, 1};
  matmul.shape = shape(c.m, c.n, false);
  matmul.transposeX = c.transposeX;
  matmul.transposeY = c.transposeY;
  graph.add(std::move(matmul));
  Node store = border(Op::Store, Buffer::Role::Output, 0, shape(c.m, c.n, false));
  store.operands = {2};
  graph.add(std::move(store));
  return graph;
}

/// Uniform numbers in [0, 1), as the bounds are meant for.
std::vector<Value> dataOf(const Graph &graph, uint64_t seed) {
  Random random(seed);
  std::vector<Value> data(graph.buffers.size());
  for (size_t i = 0; i < 2; ++i) {
    const Buffer &buffer = graph.buffers[i];
    const size_t width = isa::bytesOf(buffer.dtype);
    data[i] = {buffer.dtype, buffer.shape,
               std::vector<std::byte>(size_t(*countElements(buffer.shape)) * width)};
    for (size_t at = 0; at < data[i].bytes.size(); at += width)
      kilnrt::storeElement(buffer.dtype, float(random.uniform()), data[i].bytes.data() + at);
  }
  return data;
}

/// Distance from the sum in double, relative to it, in the Euclidean norm. `least` is that of the
/// sum itself, rounded to the dtype: a single element has nothing to average its rounding out.
struct Distance {
  double found, least;
};
Distance distance(const Graph &graph, std::vector<Value> data, const Value &result) {
  Graph exact = graph; // to float32, beside which bfloat16 is coarse
  exact[2].dtype = DType::Float32;
  exact.buffers[2].dtype = DType::Float32;
  if (evaluate(exact, data))
    return {INFINITY, 0};
  const int64_t count = *countElements(result.shape);
  const size_t width = isa::bytesOf(result.dtype);
  double error = 0, rounding = 0, norm = 0;
  for (size_t i = 0; i < size_t(count); ++i) {
    float sum;
    std::memcpy(&sum, data[2].bytes.data() + i * sizeof(float), sizeof(float));
    std::byte rounded[sizeof(float)];
    kilnrt::storeElement(result.dtype, sum, rounded);
    error += std::pow(kilnrt::loadElement(result.dtype, result.bytes.data() + i * width) - sum, 2);
    rounding += std::pow(kilnrt::loadElement(result.dtype, rounded) - sum, 2);
    norm += double(sum) * sum;
  }
  return {std::sqrt(error / norm), std::sqrt(rounding / norm)};
}

/// What is wrong with a case; empty when nothing is.
std::string check(int64_t number) {
  const Case c = caseOf(number);
  const Graph graph = graphOf(c);
  const std::vector<Value> data = dataOf(graph, uint64_t(number));
  std::vector<Value> results;
  const Verdict verdict = checkGraph(graph, data, &results);
  if (verdict.kind != Verdict::Kind::Right)
    return text(nameOf(c), ": ", verdict.rule, " ", verdict.text);
  const double bound = c.dtype == DType::Float32 ? 1e-6 : 3e-3;
  const Distance d = distance(graph, data, results[0]);
  if (d.found > std::max(bound, d.least * 1.001))
    return text(nameOf(c), ": ", d.found, " from the sum in double, allowed ", bound);
  return {};
}

} // namespace

int main(int argc, char **argv) {
  uint64_t seed = 1;
  int64_t count = 1000, first = 0, step = 0;
  for (int i = 1; i < argc; ++i) {
    const std::string_view flag = argv[i];
    const char *value = i + 1 < argc ? argv[i + 1] : "";
    if (flag == "--all")
      step = 1;
    else if (flag == "--slice" && std::strchr(value, '/'))
      first = std::atoll(value), step = std::atoll(std::strchr(argv[++i], '/') + 1);
    else if (flag == "--seed")
      seed = std::strtoull(argv[++i], nullptr, 10);
    else if (flag == "--count")
      count = std::atoll(argv[++i]);
    else {
      std::cerr << "usage: matmul-sweep [--seed S] [--count N] [--all] [--slice I/N]\n";
      return 2;
    }
  }
  Random random(seed);
  if (step > 0)
    count = (kCases - first + step - 1) / step;
  int64_t wrong = 0;
  for (int64_t i = 0; i < count; ++i)
    if (const std::string what = check(step > 0 ? first + i * step : random.below(kCases));
        !what.empty()) {
      ++wrong;
      std::cout << what << "\n" << std::flush;
    }
  std::cout << count - wrong << " of " << count << " matmuls are right";
  if (step == 0)
    std::cout << " (seed " << seed << ")";
  std::cout << "\n";
  return wrong == 0 ? 0 : 1;
}
