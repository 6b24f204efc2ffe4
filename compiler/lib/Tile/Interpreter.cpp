//===- Interpreter.cpp - runs the nodes of a graph in order -----------------------------------===//
//
// Checks first, so that the functions of the operations need none. A value lives until its last
// reader has run.
//
//===------------------------------------------------------------------------------------------===//

#include "kiln/Tile/Interpreter.h"

#include "Operations.h"
#include "Strided.h"
#include "kiln/ISA/Text.h"
#include "kiln/Tile/Decompose.h"

#include <algorithm>

using namespace kiln;
using namespace kiln::tile;

namespace {

Diagnostic failure(Fault fault, std::string_view rule, std::string message, std::string help = {}) {
  Diagnostic out;
  out.fault = fault;
  out.rule = rule;
  out.message = std::move(message);
  out.help = std::move(help);
  return out;
}

int64_t bytesOf(const Shape &shape, isa::DType dtype) {
  return *countElements(shape) * isa::bytesOf(dtype);
}

/// The first broken rule of a graph.
std::optional<Diagnostic> findFault(const Graph &graph) {
  std::optional<Diagnostic> out;
  const Complain complain = [&](std::string_view rule, std::string message, std::string help) {
    if (!out)
      out = failure(rule.empty() ? Fault::Internal : Fault::User, rule, std::move(message),
                    std::move(help));
  };
  for (NodeId id = 0; id < graph.nodes.size(); ++id)
    if (!verify(graph, id, complain))
      return out;
  for (const Node &node : graph.nodes)
    if (node.position != 0)
      return failure(Fault::User, "",
                     text("'", name(node.op), "' stands after ",
                          counted(node.position, "instruction"),
                          "; the interpreter runs whole-tensor operations only"),
                     "run the compiled kernel instead");
  return std::nullopt;
}

/// Element (i0, i1, ...) of a border node in the row-major order of its buffer.
Walk<2> viewWalk(const Node &node, const Buffer &buffer) {
  Strides stride = node.view.stride;
  int64_t offset = node.view.offset;
  if (buffer.memory != isa::Memory::Hbm) {
    // Partition after partition.
    int64_t perPartition = 1;
    for (size_t i = 1; i < buffer.shape.size(); ++i)
      perPartition *= buffer.shape[i];
    stride[0] *= perPartition;
    offset += int64_t(node.view.partition) * perPartition;
  }
  return {node.shape, {rowMajor(node.shape), std::move(stride)}, {0, offset}};
}

class Run {
public:
  Run(const Graph &graph, std::span<Value> buffers, const InterpreterOptions &options)
      : graph(graph), buffers(buffers), options(options), values(graph.nodes.size()),
        lastReader(graph.nodes.size(), 0), written(graph.buffers.size()) {
    for (NodeId id = 0; id < graph.nodes.size(); ++id)
      for (NodeId operand : graph[id].operands)
        lastReader[operand] = id;
  }

  std::optional<Diagnostic> run() {
    if (std::optional<Diagnostic> fault = makeBuffers())
      return fault;
    for (NodeId id = 0; id < graph.nodes.size(); ++id) {
      if (std::optional<Diagnostic> fault = execute(id))
        return fault;
      if (options.nodes)
        continue;
      for (NodeId operand : graph[id].operands)
        if (lastReader[operand] == id)
          release(operand);
      if (lastReader[id] == 0)
        release(id); // nobody reads it
    }
    return std::nullopt;
  }

  Value &value(NodeId id) { return values[id]; }

private:
  std::optional<Diagnostic> reserve(std::string_view what, int64_t bytes) {
    if (bytes > options.maxBytes - used)
      return failure(Fault::Limit, "",
                     text(what, " needs ", bytes, " bytes beside the ", used,
                          " in use, the interpreter may take ", options.maxBytes),
                     "interpret smaller shapes, or raise the limit");
    used += bytes;
    return std::nullopt;
  }
  void release(NodeId id) {
    used -= int64_t(values[id].bytes.size());
    values[id] = Value();
  }

  std::optional<Diagnostic> makeBuffers() {
    if (buffers.size() != graph.buffers.size())
      return failure(Fault::Usage, "",
                     text("the graph has ", counted(int64_t(graph.buffers.size()), "buffer"), ", ",
                          buffers.size(), " were given"));
    for (size_t i = 0; i < buffers.size(); ++i) {
      const Buffer &buffer = graph.buffers[i];
      Value &value = buffers[i];
      if (!countElements(buffer.shape))
        return failure(Fault::Internal, "", text("'", buffer.name, "' has no possible shape"));
      const int64_t bytes = bytesOf(buffer.shape, buffer.dtype);
      if (buffer.role == Buffer::Role::Input) {
        if (value.shape != buffer.shape || value.dtype != buffer.dtype ||
            int64_t(value.bytes.size()) != bytes)
          return failure(Fault::Usage, "K-10",
                         text("argument '", buffer.name, "' is ", tupleText(value.shape), " ",
                              isa::name(value.dtype), " in ", value.bytes.size(),
                              " bytes, expected ", tupleText(buffer.shape), " ",
                              isa::name(buffer.dtype)));
        continue;
      }
      if (std::optional<Diagnostic> fault = reserve(text("'", buffer.name, "'"), bytes))
        return fault;
      value = {buffer.dtype, buffer.shape, std::vector<std::byte>(size_t(bytes))};
      written[i].assign(size_t(bytes) / isa::bytesOf(buffer.dtype), false);
    }
    return std::nullopt;
  }

  // value = the elements of the view
  std::optional<Diagnostic> load(const Node &node, Value &out) {
    const uint32_t index = node.view.buffer;
    const Walk<2> walk = viewWalk(node, graph.buffers[index]);
    int64_t unwritten = -1;
    if (const std::vector<bool> &mask = written[index]; !mask.empty())
      walk.forEachRow(INT64_MAX, [&](const std::array<int64_t, 2> &at, int64_t n) {
        for (int64_t i = 0; i < n && unwritten < 0; ++i)
          if (!mask[size_t(at[1] + i * walk.step(1))])
            unwritten = at[1] + i * walk.step(1);
      });
    if (unwritten >= 0)
      return failure(Fault::User, "M-08",
                     text("'", graph.buffers[index].name,
                          "' is read before it is written: element ", unwritten, " of ",
                          *countElements(graph.buffers[index].shape)),
                     "store all of it first");
    moveElements(walk, isa::bytesOf(out.dtype), out.bytes.data(), buffers[index].bytes.data());
    return std::nullopt;
  }

  // the elements of the view = operand 0, rounded to the buffer's dtype
  void store(const Node &node) {
    const uint32_t index = node.view.buffer;
    const Value &from = values[node.operands[0]];
    Value &buffer = buffers[index];
    const int64_t count = node.elements(), width = isa::bytesOf(buffer.dtype);
    std::vector<std::byte> converted(size_t(count * width));
    convertElements(from.dtype, from.bytes.data(), buffer.dtype, converted.data(), count);
    Walk<2> walk = viewWalk(node, graph.buffers[index]);
    std::swap(walk.stride[0], walk.stride[1]);
    std::swap(walk.offset[0], walk.offset[1]);
    moveElements(walk, unsigned(width), buffer.bytes.data(), converted.data());
    if (std::vector<bool> &mask = written[index]; !mask.empty())
      walk.forEachRow(INT64_MAX, [&](const std::array<int64_t, 2> &at, int64_t n) {
        for (int64_t i = 0; i < n; ++i)
          mask[size_t(at[0] + i * walk.step(0))] = true;
      });
  }

  std::optional<Diagnostic> execute(NodeId id) {
    const Node &node = graph[id];
    if (node.isEffect()) {
      store(node);
      return std::nullopt;
    }
    const int64_t bytes = bytesOf(node.shape, node.dtype);
    if (std::optional<Diagnostic> fault = reserve(text("'", name(node.op), "'"), bytes))
      return fault;
    Value &out = values[id];
    out = {node.dtype, node.shape, std::vector<std::byte>(size_t(bytes))};
    if (node.op == Op::Load)
      return load(node, out);
    Operands operands;
    for (NodeId operand : node.operands)
      operands.push_back(&values[operand]);
    compute(node, operands, out);
    return std::nullopt;
  }

  static void compute(const Node &node, const Operands &operands, Value &out) {
    switch (node.op) {
    case Op::Splat:
      return evaluateSplat(node, out);
    case Op::Iota:
      return evaluateIota(node, out);
    case Op::Unary:
      return evaluateUnary(node, operands, out);
    case Op::Binary:
      return evaluateBinary(node, operands, out);
    case Op::Select:
      return evaluateSelect(node, operands, out);
    case Op::Cast:
      return evaluateCast(node, operands, out);
    case Op::Matmul:
      return evaluateMatmul(node, operands, out);
    case Op::Reduce:
      return evaluateReduce(node, operands, out);
    case Op::Transpose:
      return evaluateTranspose(node, operands, out);
    case Op::Reshape:
      return evaluateReshape(node, operands, out);
    case Op::Slice:
      return evaluateSlice(node, operands, out);
    case Op::Concat:
      return evaluateConcat(node, operands, out);
    case Op::Pad:
      return evaluatePad(node, operands, out);
    case Op::Broadcast:
      return evaluateBroadcast(node, operands, out);
    case Op::Load:
    case Op::Store:
    case Op::Materialize:
    case Op::Softmax:
    case Op::RmsNorm:
    case Op::LayerNorm:
      return; // border nodes are handled above, composites are decomposed
    }
  }

  const Graph &graph;
  std::span<Value> buffers;
  const InterpreterOptions &options;
  std::vector<Value> values;
  std::vector<NodeId> lastReader;         ///< 0: none, for node 0 reads nothing
  std::vector<std::vector<bool>> written; ///< elements of the buffers made here
  int64_t used = 0;
};

} // namespace

std::optional<Diagnostic> tile::evaluate(const Graph &graph, std::span<Value> buffers,
                                         const InterpreterOptions &options) {
  if (std::optional<Diagnostic> fault = findFault(graph))
    return fault;
  std::vector<NodeId> renamed;
  const Graph primitive = decompose(graph, &renamed);
  Run run(primitive, buffers, options);
  std::optional<Diagnostic> fault = run.run();
  if (options.nodes) {
    options.nodes->clear();
    for (NodeId id : renamed)
      options.nodes->push_back(std::move(run.value(id)));
  }
  return fault;
}
