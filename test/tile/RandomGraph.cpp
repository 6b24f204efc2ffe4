//===- RandomGraph.cpp - graphs and data nobody thought of ------------------------------------===//

#include "RandomGraph.h"

#include "ShrinkGraph.h"

#include "kiln/ISA/Text.h"
#include "kiln/Tile/Decompose.h"
#include "kilnrt/Numerics/Convert.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

using namespace kiln;
using namespace kiln::tile;
using namespace kiln::tile::test;
using isa::AluOp;
using isa::DType;

uint64_t Random::bits() {
  uint64_t z = state += 0x9E3779B97F4A7C15u;
  z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
  z = (z ^ z >> 27) * 0x94D049BB133111EBu;
  return z ^ z >> 31;
}

double Random::normal() {
  // The sum of uniform numbers is near enough.
  double sum = -6;
  for (int i = 0; i < 12; ++i)
    sum += uniform();
  return sum;
}

View test::wholeView(uint32_t buffer, const Shape &shape) {
  View view{buffer, 0, 0, std::vector<int64_t>(shape.size(), 1)};
  for (size_t i = shape.size(); i-- > 1;)
    view.stride[i - 1] = view.stride[i] * shape[i];
  return view;
}

namespace {

constexpr DType kDTypes[] = {DType::Float32, DType::BFloat16,   DType::Float16,    DType::Int32,
                             DType::UInt8,   DType::Int8,       DType::Int16,      DType::UInt16,
                             DType::UInt32,  DType::Float8E4M3, DType::Float8E5M2, DType::TFloat32};

class Generator {
public:
  Generator(uint64_t seed, const RandomGraphOptions &options)
      : random(seed), options(options), products(options.maxProducts) {}

  Graph run() {
    // One random number a statement: the order of arguments is the compiler's.
    const Shape first = randomShape(1 + int(random.below(4)));
    input(first, inputDType());
    const int64_t ops = 1 + random.below(int64_t(options.maxOps));
    for (int64_t made = 0, tries = 0; made < ops && tries < 40 * ops; ++tries)
      if (addOperation()) {
        ++made;
        const Op op = graph[last()].op;
        const bool isComputed = op == Op::Unary || op == Op::Binary || op == Op::Select ||
                                op == Op::Matmul || op == Op::Reduce || isComposite(op);
        if (random.chance(isComputed ? 4 : 1))
          addHint(graph[last()]);
      }
    addOutputs();
    return std::move(graph);
  }

private:
  //---- shapes and dtypes

  int64_t extent() {
    if (options.hasLongDims && random.chance(15))
      return random.pick<int64_t>({2048, 4097, 20000, 53247, 70000, 200003});
    switch (random.below(4)) {
    case 0:
      return random.pick<int64_t>({1, 1, 2, 3, 4, 5, 7, 8});
    case 1:
      return random.pick<int64_t>({6, 16, 31, 32, 33, 63, 64, 65});
    case 2:
      return random.pick<int64_t>({100, 127, 128, 129, 130, 200, 255, 256});
    default:
      return random.pick<int64_t>({1, 2, 12, 96, 257, 300, 512, 513, 1000, 1152});
    }
  }
  Shape randomShape(int rank) {
    for (;;) {
      Shape shape;
      for (int i = 0; i < rank; ++i)
        shape.push_back(extent());
      if (*countElements(shape) <= options.maxElements)
        return shape;
    }
  }
  DType inputDType() {
    const int64_t roll = random.below(100);
    return roll < 50   ? DType::Float32
           : roll < 70 ? DType::BFloat16
                       : kDTypes[random.below(std::size(kDTypes))];
  }
  DType resultDType() {
    return random.chance(80) ? DType::Float32 : kDTypes[random.below(std::size(kDTypes))];
  }

  //---- values

  /// Adds a node if it is right and not too large.
  bool tryAdd(Node node) {
    bool isRight = true;
    const Complain ignore = [&](std::string_view, std::string, std::string) { isRight = false; };
    const std::optional<Shape> shape = inferShape(graph, node, ignore);
    if (!shape || *countElements(*shape) > options.maxElements ||
        int64_t(shape->size()) > 4 + random.below(2))
      return false;
    node.shape = *shape;
    const NodeId id = graph.add(std::move(node));
    if (verify(graph, id, ignore))
      return true;
    graph.nodes.pop_back();
    return false;
  }
  NodeId last() const { return NodeId(graph.nodes.size() - 1); }

  /// A value of a new input buffer; sometimes of a part of one, or of a transposed one.
  NodeId input(const Shape &shape, DType dtype) {
    Node load;
    load.op = Op::Load;
    load.shape = shape;
    load.dtype = dtype;
    const uint32_t index = uint32_t(graph.buffers.size());
    Shape whole = shape;
    if (random.chance(15)) // every element but the first and last of a dim
      for (int64_t &e : whole)
        e += random.below(3);
    load.view = wholeView(index, whole);
    if (whole != shape)
      for (size_t i = 0; i < shape.size(); ++i)
        load.view.offset += random.below(whole[i] - shape[i] + 1) * load.view.stride[i];
    if (shape.size() > 1 && random.chance(10)) { // the last two dims come transposed
      const size_t a = shape.size() - 2, b = shape.size() - 1;
      std::swap(whole[a], whole[b]);
      const View turned = wholeView(index, whole);
      load.view.stride = turned.stride;
      std::swap(load.view.stride[a], load.view.stride[b]);
      load.view.offset = 0;
    }
    graph.buffers.push_back(
        {text("x", index), isa::Memory::Hbm, dtype, Buffer::Role::Input, index, whole, kNone});
    return graph.add(std::move(load));
  }

  NodeId splat(DType dtype) {
    Node node;
    node.op = Op::Splat;
    node.shape = {1};
    node.dtype = dtype;
    node.number = isa::isFloat(dtype) ? random.pick({0.5, 2.0, -1.0, 0.1, 1e-5, 0.0, 3.0})
                                      : double(random.below(7));
    return graph.add(std::move(node));
  }

  /// Recent values more often, so that operations follow on each other.
  NodeId value() {
    const int64_t n = int64_t(graph.nodes.size());
    return NodeId(random.chance(60) ? n - 1 - random.below(std::min<int64_t>(n, 3))
                                    : random.below(n));
  }
  /// A value of `shape` up to broadcasting.
  NodeId mate(const Shape &shape, DType dtype) {
    if (random.chance(40))
      for (int tries = 0; tries < 4; ++tries) {
        const NodeId id = value();
        const auto both = broadcastShapes({shape, graph[id].shape});
        if (both && *countElements(*both) <= options.maxElements)
          return id;
      }
    if (random.chance(30))
      return splat(dtype);
    Shape own = shape;
    for (int64_t &e : own)
      if (random.chance(30))
        e = 1;
    if (random.chance(20))
      own.erase(own.begin(), own.begin() + random.below(int64_t(own.size())));
    return input(own, dtype);
  }

  //---- operations

  bool addOperation() {
    switch (random.below(20)) {
    case 0:
    case 1:
    case 2:
      return addUnary();
    case 3:
    case 4:
    case 5:
    case 6:
      return addBinary();
    case 7:
      return addSelect();
    case 8:
      return addCast(value(), kDTypes[random.below(9)]);
    case 9:
    case 10:
      return addMatmul();
    case 11:
    case 12:
      return addReduce();
    case 13:
      return addTranspose();
    case 14:
      return addReshape();
    case 15:
      return addSlice();
    case 16:
      return random.chance(50) ? addConcat() : addPad();
    case 17:
      return random.chance(50) ? addBroadcast() : addIota();
    default:
      return addComposite();
    }
  }

  static Node make(Op op, std::vector<NodeId> operands, DType dtype) {
    Node node;
    node.op = op;
    node.operands = std::move(operands);
    node.dtype = dtype;
    return node;
  }

  bool addUnary() {
    const isa::EnumCases fns = isa::actFnCases();
    const NodeId x = value();
    Node node = make(Op::Unary, {x}, resultDType());
    node.fn = isa::ActFn(fns[size_t(random.below(int64_t(fns.size())))].value);
    return tryAdd(std::move(node));
  }

  bool addBinary() {
    const NodeId x = value();
    const DType type = graph[x].dtype;
    const NodeId y = mate(graph[x].shape, random.chance(70) ? type : inputDType());
    Node node = make(Op::Binary, {x, y}, resultDType());
    if (random.chance(50))
      std::swap(node.operands[0], node.operands[1]);
    const isa::EnumCases alus = isa::aluOpCases();
    do
      node.alu = random.chance(60) ? random.pick({AluOp::Add, AluOp::Subtract, AluOp::Multiply,
                                                  AluOp::Maximum, AluOp::Minimum})
                                   : AluOp(alus[size_t(random.below(int64_t(alus.size())))].value);
    while (isa::info(node.alu).isUnary || (node.alu == AluOp::Power && random.chance(80)));
    if (isa::info(node.alu).isBitvec || (isa::isWideInteger(type) && random.chance(50)))
      node.dtype = type;
    return tryAdd(std::move(node));
  }

  bool addSelect() {
    const NodeId x = value();
    const NodeId y = mate(graph[x].shape, graph[x].dtype);
    const NodeId condition = mate(graph[x].shape, random.pick({DType::UInt8, DType::Float32}));
    return tryAdd(
        make(Op::Select, {condition, x, y}, random.chance(70) ? graph[x].dtype : resultDType()));
  }

  bool addCast(NodeId x, DType dtype) { return tryAdd(make(Op::Cast, {x}, dtype)); }

  bool addMatmul() {
    NodeId x = value();
    if (graph[x].shape.size() < 2)
      return false;
    const DType narrow = random.pick({DType::BFloat16, DType::Float16});
    DType dtype = graph[x].dtype;
    if (!isa::isFloat(dtype) || random.chance(20)) {
      dtype = random.chance(50) ? DType::Float32 : narrow;
      if (!addCast(x, dtype))
        return false;
      x = last();
    }
    Node node = make(Op::Matmul, {x}, random.chance(80) ? DType::Float32 : narrow);
    node.transposeX = random.chance(40);
    node.transposeY = random.chance(40);
    const Shape shape = graph[x].shape;
    const int64_t k = shape[shape.size() - (node.transposeX ? 2 : 1)], n = extent();
    const int64_t size = *countElements(shape) * n;
    if (size > products || k * n > options.maxElements)
      return false;
    Shape other(shape.begin(), shape.end() - 2);
    if (random.chance(50))
      other.clear();
    for (int64_t &e : other)
      if (random.chance(30))
        e = 1;
    other.insert(other.end(), {node.transposeY ? n : k, node.transposeY ? k : n});
    if (*countElements(other) > options.maxElements)
      return false;
    node.operands.push_back(random.chance(10) ? x : input(other, dtype));
    if (!tryAdd(std::move(node)))
      return false;
    products -= size;
    return true;
  }

  bool addReduce() {
    const NodeId x = value();
    Node node = make(Op::Reduce, {x}, resultDType());
    const int64_t rank = int64_t(graph[x].shape.size());
    for (int64_t axis = 0; axis < rank; ++axis)
      if (random.chance(axis == rank - 1 ? 60 : 30))
        node.axes.push_back(axis);
    node.keepDims = random.chance(60);
    node.alu =
        random.pick({AluOp::Add, AluOp::Add, AluOp::Maximum, AluOp::Minimum, AluOp::Multiply});
    return tryAdd(std::move(node));
  }

  bool addTranspose() {
    const NodeId x = value();
    Node node = make(Op::Transpose, {x}, graph[x].dtype);
    node.axes.resize(graph[x].shape.size());
    std::iota(node.axes.begin(), node.axes.end(), 0);
    for (size_t i = node.axes.size(); i > 1; --i)
      std::swap(node.axes[i - 1], node.axes[size_t(random.below(int64_t(i)))]);
    return tryAdd(std::move(node));
  }

  bool addReshape() {
    const NodeId x = value();
    Node node = make(Op::Reshape, {x}, graph[x].dtype);
    int64_t rest = *countElements(graph[x].shape);
    for (int64_t dims = random.below(4); dims > 0 && rest > 1; --dims) {
      std::vector<int64_t> divisors;
      for (int64_t d = 1; d <= rest; ++d)
        if (rest % d == 0)
          divisors.push_back(d);
      node.shape.push_back(divisors[size_t(random.below(int64_t(divisors.size())))]);
      rest /= node.shape.back();
    }
    node.shape.push_back(rest);
    return tryAdd(std::move(node));
  }

  bool addSlice() {
    const NodeId x = value();
    Node node = make(Op::Slice, {x}, graph[x].dtype);
    for (int64_t e : graph[x].shape) {
      const bool isWhole = random.chance(40);
      const int64_t start = isWhole ? 0 : random.below(e);
      const int64_t step = random.chance(70) ? 1 : 1 + random.below(3);
      const int64_t most = (e - 1 - start) / step + 1;
      node.starts.push_back(start);
      node.steps.push_back(step);
      node.shape.push_back(isWhole ? most : 1 + random.below(most));
    }
    return tryAdd(std::move(node));
  }

  bool addConcat() {
    const NodeId x = value();
    Node node = make(Op::Concat, {x}, graph[x].dtype);
    const Shape shape = graph[x].shape;
    node.axis = random.below(int64_t(shape.size()));
    for (int64_t more = random.below(3); more > 0; --more) {
      Shape other = shape;
      other[size_t(node.axis)] = random.chance(30) ? shape[size_t(node.axis)] : 1 + random.below(9);
      node.operands.push_back(random.chance(30) ? x : input(other, node.dtype));
    }
    return tryAdd(std::move(node));
  }

  bool addPad() {
    const NodeId x = value();
    Node node = make(Op::Pad, {x}, graph[x].dtype);
    for (size_t i = 0; i < graph[x].shape.size(); ++i) {
      node.starts.push_back(random.chance(50) ? 0 : random.below(4));
      node.ends.push_back(random.chance(50) ? 0 : random.below(4));
    }
    node.number = random.pick({0.0, 0.0, 1.5, -0.0});
    return tryAdd(std::move(node));
  }

  bool addBroadcast() {
    const NodeId x = value();
    Node node = make(Op::Broadcast, {x}, graph[x].dtype);
    node.shape = graph[x].shape;
    for (int64_t &e : node.shape)
      if (e == 1)
        e = 1 + random.below(9);
    if (node.shape.size() < 4 && random.chance(60))
      node.shape.insert(node.shape.begin(), 1 + random.below(6));
    return *countElements(node.shape) <= options.maxElements && tryAdd(std::move(node));
  }

  bool addIota() {
    Node node = make(Op::Iota, {}, DType::Int32);
    node.shape = random.chance(70) ? graph[value()].shape : randomShape(2);
    node.axis = random.below(int64_t(node.shape.size()));
    return tryAdd(std::move(node));
  }

  bool addComposite() {
    const NodeId x = value();
    const Op op = random.pick({Op::Softmax, Op::RmsNorm, Op::LayerNorm});
    Node node = make(op, {x}, resultDType());
    const Shape shape = graph[x].shape;
    node.axis = node.op != Op::Softmax ? 0
                : random.chance(70)    ? int64_t(shape.size()) - 1
                                       : random.below(int64_t(shape.size()));
    if (node.op == Op::Softmax)
      return tryAdd(std::move(node));
    node.number = random.pick({1e-6, 1e-5, 1e-3});
    for (int64_t more = random.below(node.op == Op::RmsNorm ? 2 : 3); more > 0; --more) {
      Shape factor = {shape.back()};
      if (shape.size() > 1 && random.chance(50))
        factor.insert(factor.begin(), 1);
      node.operands.push_back(input(factor, random.pick({DType::Float32, DType::BFloat16})));
    }
    return tryAdd(std::move(node));
  }

  /// Something to keep to or to refuse.
  void addHint(Node &node) {
    Hint &hint = node.hint;
    switch (random.below(4)) {
    case 0:
      hint.partitionDim = random.below(int64_t(node.shape.size()));
      break;
    case 1:
      for (int64_t e : node.shape)
        hint.tile.push_back(random.chance(50) ? 0 : 1 + random.below(e));
      break;
    case 2:
      hint.buffers = 1 + random.below(4);
      break;
    default:
      hint.in = random.pick({isa::Memory::Hbm, isa::Memory::Sbuf});
    }
  }

  //---- outputs

  void addOutputs() {
    std::vector<bool> isRead(graph.nodes.size(), false);
    for (const Node &node : graph.nodes)
      for (NodeId id : node.operands)
        isRead[id] = true;
    const NodeId values = NodeId(graph.nodes.size());
    uint32_t outputs = 0;
    for (NodeId id = 0; id < values; ++id) {
      const Op op = graph[id].op;
      const bool isPlain = op == Op::Load || op == Op::Splat;
      // What was made for an operation that failed is not worth an output.
      const bool isLeftOver = isPlain && id + 1 != values;
      if (!(isRead[id] ? !isPlain && random.chance(10) : !isLeftOver || values == 1))
        continue;
      addOutput(id, outputs++);
    }
    if (outputs == 0)
      addOutput(values - 1, outputs);
  }

  void addOutput(NodeId id, uint32_t number) {
    Node store = make(Op::Store, {id}, graph[id].dtype);
    store.shape = graph[id].shape;
    const uint32_t index = uint32_t(graph.buffers.size());
    Shape whole = store.shape;
    store.view = wholeView(index, whole);
    if (whole.size() > 1 && random.chance(15)) { // stored transposed
      std::swap(whole.front(), whole.back());
      store.view = wholeView(index, whole);
      std::swap(store.view.stride.front(), store.view.stride.back());
    }
    const DType dtype = random.chance(70) ? graph[id].dtype : kDTypes[random.below(9)];
    graph.buffers.push_back(
        {text("y", number), isa::Memory::Hbm, dtype, Buffer::Role::Output, number, whole, kNone});
    store.dtype = dtype;
    graph.add(std::move(store));
  }

  Random random;
  const RandomGraphOptions &options;
  int64_t products;
  Graph graph;
};

/// NaNs of several kinds, infinities, zeros, denormals, the largest and the smallest.
constexpr uint32_t kSpecial[] = {0x7FC00000, 0xFFC12345, 0x7F800000, 0xFF800000, 0x80000000,
                                 0,          1,          0x80000001, 0x007FFFFF, 0x00800000,
                                 0x7F7FFFFF, 0x3F800000, 0x4B800001};

} // namespace

Graph test::randomGraph(uint64_t seed, const RandomGraphOptions &options) {
  return withoutDead(Generator(seed, options).run());
}

std::vector<Value> test::randomData(const Graph &graph, uint64_t seed) {
  Random random(seed ^ 0x5DEECE66Du);
  const int64_t kind = random.below(3);
  std::vector<Value> data(graph.buffers.size());
  for (size_t i = 0; i < data.size(); ++i) {
    const Buffer &buffer = graph.buffers[i];
    if (buffer.role != Buffer::Role::Input)
      continue;
    const size_t width = isa::bytesOf(buffer.dtype);
    data[i] = {buffer.dtype, buffer.shape,
               std::vector<std::byte>(size_t(*countElements(buffer.shape)) * width)};
    for (size_t at = 0; at < data[i].bytes.size(); at += width) {
      float x = float(random.normal());
      if (kind == 2 || !isa::isFloat(buffer.dtype))
        x = float(random.below(9) - (isa::info(buffer.dtype).isSigned ? 4 : 0));
      else if (kind == 1 && random.chance(3))
        x = std::bit_cast<float>(kSpecial[random.below(std::ssize(kSpecial))]);
      if (kind == 1 && !isa::isFloat(buffer.dtype) && random.chance(5)) {
        const isa::IntegerRange range = isa::integerRange(buffer.dtype);
        x = float(random.chance(50) ? range.low : range.high);
      }
      kilnrt::storeElement(buffer.dtype, x, data[i].bytes.data() + at);
    }
  }
  return data;
}
