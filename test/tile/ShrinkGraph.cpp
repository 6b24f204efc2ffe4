//===- ShrinkGraph.cpp - the smallest graph that still fails ----------------------------------===//
//
// Simplifications change a graph without looking left or right; `renew` then makes shapes, views
// and numbers fit each other again, or gives up on that one.
//
//===------------------------------------------------------------------------------------------===//

#include "ShrinkGraph.h"

#include "RandomGraph.h"
#include "kiln/ISA/Text.h"

#include <algorithm>
#include <numeric>
#include <set>

using namespace kiln;
using namespace kiln::tile;
using namespace kiln::tile::test;
using isa::DType;

Graph test::withoutDead(const Graph &graph) {
  std::vector<bool> isLive(graph.nodes.size(), false);
  std::vector<uint32_t> bufferNumbers(graph.buffers.size(), kNone);
  for (NodeId id = NodeId(graph.nodes.size()); id-- > 0;) {
    const Node &node = graph[id];
    if (!(isLive[id] = isLive[id] || node.isEffect()))
      continue;
    for (NodeId operand : node.operands)
      isLive[operand] = true;
    if (node.view.buffer != kNone)
      bufferNumbers[node.view.buffer] = 0;
  }
  Graph out;
  uint32_t inputs = 0, outputs = 0;
  for (size_t i = 0; i < graph.buffers.size(); ++i) {
    if (bufferNumbers[i] == kNone)
      continue;
    bufferNumbers[i] = uint32_t(out.buffers.size());
    Buffer buffer = graph.buffers[i];
    if (buffer.role == Buffer::Role::Input)
      buffer.index = inputs++;
    if (buffer.role == Buffer::Role::Output)
      buffer.index = outputs++;
    out.buffers.push_back(std::move(buffer));
  }
  std::vector<NodeId> numbers(graph.nodes.size(), kNone);
  for (NodeId id = 0; id < graph.nodes.size(); ++id) {
    if (!isLive[id])
      continue;
    Node node = graph[id];
    for (NodeId &operand : node.operands)
      operand = numbers[operand];
    if (node.view.buffer != kNone)
      node.view.buffer = bufferNumbers[node.view.buffer];
    numbers[id] = out.add(std::move(node));
  }
  return out;
}

namespace {

bool isBorder(const Node &node) { return node.op == Op::Load || node.isEffect(); }

bool isWhole(const Graph &graph, const Node &node) {
  const View whole = wholeView(node.view.buffer, graph.buffers[node.view.buffer].shape);
  return node.view.offset == 0 && node.view.stride == whole.stride &&
         node.shape == graph.buffers[node.view.buffer].shape;
}

/// Operations whose shape is their own choice.
bool choosesShape(Op op) {
  return op == Op::Load || op == Op::Splat || op == Op::Iota || op == Op::Reshape ||
         op == Op::Slice || op == Op::Broadcast;
}

/// How much there is of a graph; what a simplification has to lower.
struct Size {
  size_t nodes;
  int64_t elements;
  size_t oddities;
  auto operator<=>(const Size &) const = default;
};

Size sizeOf(const Graph &graph) {
  Size size{graph.nodes.size(), 0, 0};
  const auto odd = [&](bool isOdd) { size.oddities += isOdd; };
  for (const Buffer &buffer : graph.buffers) {
    size.elements += *countElements(buffer.shape);
    odd(buffer.dtype != DType::Float32);
  }
  for (const Node &node : graph.nodes) {
    size.elements += *countElements(node.shape);
    // A load is simpler than what computes, a number than a load.
    size.oddities += node.op == Op::Splat ? 0 : node.op == Op::Load ? 1 : 3;
    odd(node.dtype != DType::Float32);
    odd(isBorder(node) && !isWhole(graph, node));
    odd(node.op == Op::Splat && node.number != 1);
    odd(node.op == Op::Pad && node.number != 0);
    odd(node.op == Op::Unary && node.fn != isa::ActFn::Exp);
    odd(node.op == Op::Binary && node.alu != isa::AluOp::Add);
    odd(node.op == Op::Reduce && node.alu != isa::AluOp::Add);
    odd(node.transposeX);
    odd(node.transposeY);
    odd(node.op == Op::Reduce && !node.keepDims);
    odd(node.hint.any());
    size.oddities += node.op == Op::Reduce ? node.axes.size() : 0;
    for (const auto *list : {&node.starts, &node.ends})
      for (int64_t value : *list)
        odd(value != 0);
    for (int64_t step : node.steps)
      odd(step != 1);
  }
  return size;
}

/// Axes that the operand no longer has become ones it has.
void clampAxes(const Graph &graph, Node &node) {
  if (node.operands.empty())
    return;
  const int64_t rank = int64_t(graph[node.operands[0]].shape.size());
  if (node.op == Op::Reduce && !node.axes.empty() && node.axes.back() >= rank)
    node.axes = {rank - 1};
  if (node.op == Op::Softmax || node.op == Op::Concat)
    node.axis = std::min(node.axis, rank - 1);
  if (node.op == Op::Transpose && int64_t(node.axes.size()) != rank) {
    node.axes.resize(size_t(rank));
    std::iota(node.axes.rbegin(), node.axes.rend(), 0);
  }
}

/// Shapes by the rules, whole views for what was whole in `before`, stores of their operand's
/// shape; nothing when that does not come out right.
std::optional<Graph> renew(Graph graph) {
  bool isRight = true;
  const Complain complain = [&](std::string_view, std::string, std::string) { isRight = false; };
  for (NodeId id = 0; id < graph.nodes.size(); ++id) {
    Node &node = graph[id];
    clampAxes(graph, node);
    if (node.isEffect()) {
      if (node.shape != graph[node.operands[0]].shape) {
        node.shape = graph[node.operands[0]].shape;
        graph.buffers[node.view.buffer].shape = node.shape;
        node.view = wholeView(node.view.buffer, node.shape);
      }
    } else if (node.op == Op::Load) {
      node.dtype = graph.buffers[node.view.buffer].dtype;
    } else if (!choosesShape(node.op)) {
      const std::optional<Shape> shape = inferShape(graph, node, complain);
      if (!shape)
        return std::nullopt;
      node.shape = *shape;
    }
    switch (node.op) { // movement has its operand's dtype
    case Op::Transpose:
    case Op::Reshape:
    case Op::Slice:
    case Op::Concat:
    case Op::Pad:
    case Op::Broadcast:
      node.dtype = graph[node.operands[0]].dtype;
      break;
    default:
      break;
    }
    if (!verify(graph, id, complain) || !isRight)
      return std::nullopt;
  }
  return withoutDead(graph);
}

class Shrinker {
public:
  Shrinker(Graph graph, const std::function<bool(const Graph &)> &fails, unsigned maxTries)
      : best(std::move(graph)), fails(fails), tries(maxTries) {}

  Graph run() {
    for (bool progress = true; progress && tries > 0;) {
      progress = false;
      for (auto step : {&Shrinker::dropStores, &Shrinker::cutBehind, &Shrinker::cutInFront,
                        &Shrinker::bypass, &Shrinker::shrinkExtents, &Shrinker::simplify})
        while ((this->*step)() && tries > 0)
          progress = true;
    }
    return std::move(best);
  }

private:
  /// Takes the changed graph if it is smaller and still fails.
  bool accept(Graph candidate) {
    std::optional<Graph> next = renew(std::move(candidate));
    if (!next || tries == 0 || sizeOf(*next) >= sizeOf(best))
      return false;
    --tries;
    if (!fails(*next))
      return false;
    best = std::move(*next);
    return true;
  }

  bool dropStores() {
    size_t stores = 0;
    for (const Node &node : best.nodes)
      stores += node.isEffect();
    for (NodeId id = 0; stores > 1 && id < best.nodes.size(); ++id) {
      if (!best[id].isEffect())
        continue;
      Graph candidate = best;
      candidate.nodes.erase(candidate.nodes.begin() + id); // nobody's operand
      for (Node &node : candidate.nodes)
        for (NodeId &operand : node.operands)
          operand -= operand > id;
      if (accept(std::move(candidate)))
        return true;
    }
    return false;
  }

  /// One value alone is stored, what came after it goes.
  bool cutBehind() {
    for (NodeId id = 0; id < best.nodes.size(); ++id) {
      if (best[id].isEffect())
        continue;
      Graph candidate;
      candidate.buffers = best.buffers;
      candidate.nodes.assign(best.nodes.begin(), best.nodes.begin() + id + 1);
      std::erase_if(candidate.nodes, [](const Node &node) { return node.isEffect(); });
      // Stores stand at the end only, or the numbers would be others.
      if (candidate.nodes.size() != id + 1)
        continue;
      Node store;
      store.op = Op::Store;
      store.operands = {id};
      store.shape = best[id].shape;
      store.dtype = best[id].dtype;
      store.view = wholeView(uint32_t(candidate.buffers.size()), store.shape);
      candidate.buffers.push_back(
          {"y", isa::Memory::Hbm, store.dtype, Buffer::Role::Output, 0, store.shape, kNone});
      candidate.add(std::move(store));
      if (accept(std::move(candidate)))
        return true;
    }
    return false;
  }

  /// A value becomes an input of its own, or a number.
  bool cutInFront() {
    for (NodeId id = NodeId(best.nodes.size()); id-- > 0;)
      for (const bool isNumber : {true, false}) {
        const Op op = best[id].op;
        if (best[id].isEffect() || op == Op::Splat || (!isNumber && op == Op::Load))
          continue;
        Graph candidate = best;
        Node node;
        node.op = isNumber ? Op::Splat : Op::Load;
        node.shape = best[id].shape;
        node.dtype = best[id].dtype;
        node.number = 1;
        if (!isNumber) {
          const uint32_t index = uint32_t(candidate.buffers.size());
          node.view = wholeView(index, node.shape);
          candidate.buffers.push_back({text("in", ++made), isa::Memory::Hbm, node.dtype,
                                       Buffer::Role::Input, index, node.shape, kNone});
        }
        candidate[id] = std::move(node);
        if (accept(std::move(candidate)))
          return true;
      }
    return false;
  }

  /// An operation is left out: its readers take one of its operands.
  bool bypass() {
    for (NodeId id = NodeId(best.nodes.size()); id-- > 0;)
      for (NodeId operand : best[id].operands) {
        if (best[id].isEffect())
          continue;
        Graph candidate = best;
        for (Node &node : candidate.nodes)
          std::replace(node.operands.begin(), node.operands.end(), id, operand);
        if (accept(std::move(candidate)))
          return true;
      }
    // Factors of norms, parts of a concatenation.
    for (NodeId id = 0; id < best.nodes.size(); ++id)
      if (const Op op = best[id].op;
          (op == Op::Concat || op == Op::RmsNorm || op == Op::LayerNorm) &&
          best[id].operands.size() > 1) {
        Graph candidate = best;
        candidate[id].operands.pop_back();
        if (accept(std::move(candidate)))
          return true;
      }
    return false;
  }

  /// One extent becomes another wherever it occurs; or in one dim of one input only.
  bool shrinkExtents() {
    std::set<int64_t, std::greater<>> extents;
    for (const Node &node : best.nodes)
      extents.insert(node.shape.begin(), node.shape.end());
    for (int64_t extent : extents)
      for (int64_t smaller : {int64_t(1), int64_t(2), extent / 2, extent - extent / 4, extent - 1})
        if (smaller >= 1 && smaller < extent && shrinkExtent(extent, smaller))
          return true;
    for (NodeId id = 0; id < best.nodes.size(); ++id)
      for (size_t dim = 0; dim < best[id].shape.size(); ++dim)
        if (choosesShape(best[id].op) && best[id].shape[dim] > 1 && shrinkDim(id, dim))
          return true;
    return false;
  }

  bool shrinkExtent(int64_t from, int64_t to) {
    Graph candidate = best;
    for (Node &node : candidate.nodes) {
      const bool whole = isBorder(node) && isWhole(best, node);
      if (isBorder(node) && !whole)
        continue;
      if (choosesShape(node.op))
        std::replace(node.shape.begin(), node.shape.end(), from, to);
      if (node.op == Op::Load) {
        candidate.buffers[node.view.buffer].shape = node.shape;
        node.view = wholeView(node.view.buffer, node.shape);
      }
    }
    return accept(std::move(candidate));
  }

  bool shrinkDim(NodeId id, size_t dim) {
    for (int64_t smaller : {int64_t(1), best[id].shape[dim] / 2, best[id].shape[dim] - 1}) {
      Graph candidate = best;
      Node &node = candidate[id];
      node.shape[dim] = smaller;
      if (node.op == Op::Load && isWhole(best, best[id])) {
        candidate.buffers[node.view.buffer].shape = node.shape;
        node.view = wholeView(node.view.buffer, node.shape);
      }
      if (accept(std::move(candidate)))
        return true;
    }
    return false;
  }

  bool simplify() {
    for (NodeId id = 0; id < best.nodes.size(); ++id) {
      const auto change = [&](auto &&apply) {
        Graph candidate = best;
        apply(candidate, candidate[id]);
        return accept(std::move(candidate));
      };
      const bool isChanged =
          change([](Graph &graph, Node &node) { // whole views
            if (isBorder(node)) {
              graph.buffers[node.view.buffer].shape = node.shape;
              node.view = wholeView(node.view.buffer, node.shape);
            }
          }) ||
          change([](Graph &graph, Node &node) {
            node.dtype = DType::Float32;
            if (isBorder(node))
              graph.buffers[node.view.buffer].dtype = DType::Float32;
          }) ||
          change([](Graph &graph, Node &) { // all at once, for what needs equal dtypes
            for (Node &node : graph.nodes)
              if (node.op != Op::Iota)
                node.dtype = DType::Float32;
            for (Buffer &buffer : graph.buffers)
              buffer.dtype = DType::Float32;
          }) ||
          change([](Graph &, Node &node) { node.number = node.op == Op::Splat ? 1 : 0; }) ||
          change([](Graph &, Node &node) { node.fn = isa::ActFn::Exp; }) ||
          change([](Graph &, Node &node) { node.alu = isa::AluOp::Add; }) ||
          change([](Graph &, Node &node) { node.keepDims = true; }) ||
          change([](Graph &, Node &node) { node.hint = {}; }) || change([](Graph &, Node &node) {
            node.axes.resize(node.op == Op::Reduce ? 1 : node.axes.size());
          }) ||
          change([](Graph &, Node &node) { node.starts.assign(node.starts.size(), 0); }) ||
          change([](Graph &, Node &node) { node.ends.assign(node.ends.size(), 0); }) ||
          change([](Graph &, Node &node) { node.steps.assign(node.steps.size(), 1); }) ||
          change([](Graph &graph, Node &node) { return turn(graph, node, 0, node.transposeX); }) ||
          change([](Graph &graph, Node &node) { return turn(graph, node, 1, node.transposeY); });
      if (isChanged)
        return true;
    }
    return false;
  }

  /// An operand of a matmul that is a whole input comes the usual way round.
  static void turn(Graph &graph, Node &node, size_t operand, bool &isTransposed) {
    if (!isTransposed || node.operands.size() <= operand)
      return;
    Node &load = graph[node.operands[operand]];
    if (load.op != Op::Load || load.shape.size() < 2)
      return;
    isTransposed = false;
    std::swap(load.shape[load.shape.size() - 1], load.shape[load.shape.size() - 2]);
    graph.buffers[load.view.buffer].shape = load.shape;
    load.view = wholeView(load.view.buffer, load.shape);
  }

  Graph best;
  const std::function<bool(const Graph &)> &fails;
  unsigned tries;
  unsigned made = 0;
};

} // namespace

Graph test::shrink(Graph graph, const std::function<bool(const Graph &)> &fails,
                   unsigned maxTries) {
  return Shrinker(std::move(graph), fails, maxTries).run();
}
