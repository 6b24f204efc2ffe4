//===- TileSimplifyTest.cpp - canonical forms change no bit -----------------------------------===//
//
// Random graphs of the ops that folders and patterns know, with the numbers they must not fall for:
// the interpreter gives the same bytes before and after tile-simplify.
//
//===------------------------------------------------------------------------------------------===//

#include "kiln/Conversion/TileGraph.h"

#include "kiln/Conversion/TraceToNisa/TraceToNisa.h"
#include "kiln/Dialect/Tile/Transforms/Passes.h"
#include "kiln/Tile/Interpreter.h"

#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"

#include <gmock/gmock.h>

#include <numeric>
#include <random>

using namespace kiln;
using namespace mlir;

namespace {

using tile::Node;
using tile::NodeId;
using tile::Op;
using tile::Shape;

/// Numbers at which a wrong fold shows: zeros of both signs, NaNs with payloads, infinities,
/// denormals, and integers no narrower type holds.
constexpr uint32_t kWords[] = {0x00000000, 0x80000000, 0x3F800000, 0xBF800000, 0x7FC00000,
                               0x7FA00001, 0xFFC12345, 0x7F800000, 0xFF800000, 0x00000001,
                               0x807FFFFF, 0x3F800001, 0x477FE100, 0x00010001, 0x7FFFFFFF};

class RandomTrace {
public:
  explicit RandomTrace(uint32_t seed) : random(seed) { trace.kernel = "random"; }

  trace::Trace run() {
    for (int i = 0; i < 2; ++i)
      load();
    const int count = 4 + int(pick(12));
    for (int i = 0; i < count; ++i)
      add();
    // The last value, and one of the others now and then, so that most values have one use.
    store(values.back());
    if (pick(2))
      store(any());
    return std::move(trace);
  }

private:
  uint32_t pick(uint32_t n) { return uint32_t(random() % n); }
  NodeId any() {
    // Mostly what came last: chains are what folds.
    const uint32_t back = std::min<uint32_t>(pick(2) ? 0 : pick(6), uint32_t(values.size() - 1));
    return values[values.size() - 1 - back];
  }
  isa::DType anyDType() { return isa::DType(isa::dtypeCases()[pick(9)].value); }

  uint32_t buffer(trace::TensorRole role, const Shape &shape, isa::DType dtype) {
    uint32_t &next = role == trace::TensorRole::Input ? inputs : outputs;
    trace::Tensor tensor;
    tensor.name = (role == trace::TensorRole::Input ? "x" : "y") + std::to_string(next);
    tensor.memory = isa::Memory::Hbm;
    tensor.role = role;
    tensor.index = next++;
    tensor.shape = shape;
    tensor.dtype = dtype;
    trace.tensors.push_back(tensor);
    return uint32_t(trace.tensors.size() - 1);
  }

  NodeId keep(Node node) {
    values.push_back(trace.graph.add(std::move(node)));
    return values.back();
  }

  tile::View whole(uint32_t tensor) {
    tile::View view;
    view.buffer = tensor;
    int64_t step = 1;
    view.stride.resize(trace.tensors[tensor].shape.size());
    for (size_t i = view.stride.size(); i-- > 0; step *= trace.tensors[tensor].shape[i])
      view.stride[i] = step;
    return view;
  }

  void load() {
    Node node;
    node.op = Op::Load;
    const unsigned rank = 1 + pick(3);
    for (unsigned i = 0; i < rank; ++i)
      node.shape.push_back(1 + pick(4));
    constexpr isa::DType kFloats[] = {isa::DType::Float32, isa::DType::BFloat16,
                                      isa::DType::Float16};
    node.dtype = pick(2) ? kFloats[pick(3)] : anyDType();
    node.view = whole(buffer(trace::TensorRole::Input, node.shape, node.dtype));
    keep(std::move(node));
  }

  void store(NodeId id) {
    Node node;
    node.op = Op::Store;
    node.operands = {id};
    node.shape = trace.graph[id].shape;
    node.dtype = trace.graph[id].dtype;
    node.view = whole(buffer(trace::TensorRole::Output, node.shape, node.dtype));
    trace.graph.add(std::move(node));
  }

  NodeId splat(const Shape &shape) {
    constexpr double kNumbers[] = {1, 1, 0, 0, -0.0, -0.0, 0.5, 256, 257, -1, 65504, 1e-40};
    Node node;
    node.op = Op::Splat;
    node.shape = shape;
    node.dtype = pick(2) ? isa::DType::Float32 : anyDType();
    node.number = kNumbers[pick(12)];
    return keep(std::move(node));
  }

  void add() {
    const NodeId id = any();
    Node node;
    node.operands = {id};
    node.shape = trace.graph[id].shape;
    node.dtype = trace.graph[id].dtype;
    switch (pick(14)) {
    case 0:
      splat(node.shape);
      return;
    case 1:
    case 2:
    case 12:
    case 13:
      node.op = Op::Cast;
      node.dtype = pick(2) ? isa::DType::Float32 : anyDType();
      if (trace.graph[id].op == Op::Cast && pick(2)) // there and back
        node.dtype = trace.graph[trace.graph[id].operands[0]].dtype;
      break;
    case 3:
    case 10:
      node.op = Op::Unary;
      node.fn = pick(2) ? isa::ActFn::Copy : isa::ActFn::Abs;
      break;
    case 4:
    case 11:
      binary(node);
      break;
    case 5:
      transpose(node);
      break;
    case 6:
      node.op = Op::Reshape;
      node.shape = reshaped(node.shape);
      break;
    case 7:
      slice(node);
      break;
    case 8:
      pad(node);
      break;
    case 9:
      pick(2) ? broadcast(node) : matmul(node);
      break;
    }
    if (trace.graph.nodes.size() && node.elements() <= 4096)
      keep(std::move(node));
  }

  void binary(Node &node) {
    constexpr isa::AluOp kOps[] = {isa::AluOp::Multiply, isa::AluOp::Add, isa::AluOp::Subtract,
                                   isa::AluOp::Maximum};
    // What arithmetic made is what neutral numbers are folded for.
    Node made = node;
    made.op = Op::Unary;
    const NodeId x = pick(2) ? keep(std::move(made)) : node.operands[0];
    const NodeId y = splat(pick(2) ? Shape{1} : node.shape);
    node.op = Op::Binary;
    node.alu = kOps[pick(4)];
    node.operands = pick(2) ? std::vector{x, y} : std::vector{y, x};
    if (pick(4) == 0)
      node.dtype = anyDType();
  }

  void transpose(Node &node) {
    node.op = Op::Transpose;
    node.axes.resize(node.shape.size());
    std::iota(node.axes.begin(), node.axes.end(), 0);
    std::shuffle(node.axes.begin(), node.axes.end(), random);
    Shape shape;
    for (int64_t axis : node.axes)
      shape.push_back(node.shape[size_t(axis)]);
    node.shape = shape;
  }

  Shape reshaped(const Shape &shape) {
    const int64_t count = *tile::countElements(shape);
    for (int64_t divisor = 2 + pick(3); divisor > 1; --divisor)
      if (count % divisor == 0)
        return pick(2) ? Shape{divisor, count / divisor} : Shape{count / divisor, divisor};
    return {count};
  }

  void slice(Node &node) {
    node.op = Op::Slice;
    for (int64_t &extent : node.shape) {
      const int64_t start = pick(uint32_t(extent)), step = 1 + pick(3);
      const int64_t most = (extent - 1 - start) / step + 1;
      node.starts.push_back(pick(2) ? 0 : start);
      node.steps.push_back(pick(2) ? 1 : step);
      extent = pick(2) ? most : 1 + pick(uint32_t(most));
    }
  }

  void pad(Node &node) {
    constexpr double kNumbers[] = {0, -0.0, 1};
    node.op = Op::Pad;
    node.number = kNumbers[pick(3)];
    for (int64_t &extent : node.shape) {
      node.starts.push_back(pick(2));
      node.ends.push_back(pick(2));
      extent += node.starts.back() + node.ends.back();
    }
  }

  void broadcast(Node &node) {
    node.op = Op::Broadcast;
    for (int64_t &extent : node.shape)
      if (extent == 1)
        extent = 1 + pick(3);
    if (node.shape.size() < 3 && pick(2))
      node.shape.insert(node.shape.begin(), 1 + pick(2));
  }

  /// x times x, one of them transposed, in float32.
  void matmul(Node &node) {
    if (node.shape.size() < 2)
      return broadcast(node);
    Node x = node;
    x.op = Op::Cast;
    x.dtype = isa::DType::Float32;
    Node turned = node;
    const NodeId left = keep(x);
    turned.op = Op::Transpose;
    turned.dtype = isa::DType::Float32;
    turned.operands = {left};
    const size_t rank = node.shape.size();
    for (size_t i = 0; i < rank; ++i)
      turned.axes.push_back(int64_t(i));
    std::swap(turned.axes[rank - 1], turned.axes[rank - 2]);
    std::swap(turned.shape[rank - 1], turned.shape[rank - 2]);
    const NodeId right = keep(turned);
    node.op = Op::Matmul;
    node.dtype = isa::DType::Float32;
    node.order = {tile::Order::Kind::Chunks, 1 + pick(4), false};
    node.operands = {left, right};
    if (pick(2)) {
      node.operands = {right, left};
      std::swap(node.shape[rank - 1], node.shape[rank - 2]);
    }
    node.shape[rank - 1] = node.shape[rank - 2];
  }

  std::mt19937 random;
  trace::Trace trace;
  std::vector<NodeId> values;
  uint32_t inputs = 0, outputs = 0;
};

/// Contents of the buffers: patterns of special words, whatever the dtype.
std::vector<tile::Value> contentsOf(const tile::Graph &graph) {
  std::vector<tile::Value> values;
  for (const tile::Buffer &buffer : graph.buffers) {
    tile::Value value{buffer.dtype, buffer.shape, {}};
    const size_t bytes = size_t(*tile::countElements(buffer.shape)) * isa::bytesOf(buffer.dtype);
    value.bytes.resize(bytes);
    for (size_t i = 0; i < bytes; ++i) {
      // 16-bit floats have their special bits in the upper half of a word.
      const size_t element = i / isa::bytesOf(buffer.dtype), byte = i % isa::bytesOf(buffer.dtype);
      const uint32_t word = kWords[(element * 7 + values.size()) % std::size(kWords)];
      const unsigned skip = isa::isFloat(buffer.dtype) ? 4 - isa::bytesOf(buffer.dtype) : 0;
      value.bytes[i] = std::byte(word >> (8 * (byte + skip)));
    }
    values.push_back(std::move(value));
  }
  return values;
}

/// The outputs of `graph` by name: clean-up may drop buffers nobody uses.
std::map<std::string, std::vector<std::byte>> outputsOf(const tile::Graph &graph) {
  std::vector<tile::Value> values = contentsOf(graph);
  std::optional<kiln::Diagnostic> error = tile::evaluate(graph, values);
  EXPECT_FALSE(error) << error->message;
  std::map<std::string, std::vector<std::byte>> outputs;
  for (size_t i = 0; i < values.size(); ++i)
    if (graph.buffers[i].role == tile::Buffer::Role::Output)
      outputs[graph.buffers[i].name] = values[i].bytes;
  return outputs;
}

TEST(TileSimplify, NoBitChanges) {
  constexpr uint32_t kGraphs = 4000;
  MLIRContext context(MLIRContext::Threading::DISABLED);
  PassManager manager(&context);
  context.loadDialect<nisa::NisaDialect, tile::TileDialect>();
  manager.addNestedPass<nisa::KernelOp>(tile::createSimplifyPass());
  size_t before = 0, after = 0;
  for (uint32_t seed = 1; seed <= kGraphs; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    OwningOpRef<ModuleOp> module = traceToNisa(&context, RandomTrace(seed).run());
    ASSERT_TRUE(succeeded(verify(*module)));
    auto kernel = *module->getOps<nisa::KernelOp>().begin();
    const tile::Graph original = graphOf(kernel).graph;

    ASSERT_TRUE(succeeded(manager.run(*module)));

    const tile::Graph simplified = graphOf(kernel).graph;
    ASSERT_EQ(outputsOf(original), outputsOf(simplified)) << tile::print(original) << "became\n"
                                                          << tile::print(simplified);
    before += original.nodes.size();
    after += simplified.nodes.size();
  }
  // It did something.
  EXPECT_LT(after, before * 3 / 4);
}

} // namespace
