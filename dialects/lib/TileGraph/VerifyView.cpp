//===- VerifyView.cpp - views at the border to memory -----------------------------------------===//

#include "GraphSupport.h"

using namespace kiln;
using namespace kiln::tile;

namespace {

/// Smallest and largest element a view names; nothing when 64 bits do not hold them.
struct Span {
  int64_t first, last;
};
std::optional<Span> spanOf(const Shape &shape, const View &view, size_t fromDim) {
  Span span{view.offset, view.offset};
  for (size_t i = fromDim; i < shape.size(); ++i) {
    int64_t reach;
    if (__builtin_mul_overflow(view.stride[i], shape[i] - 1, &reach))
      return std::nullopt;
    int64_t &end = reach < 0 ? span.first : span.last;
    if (__builtin_add_overflow(end, reach, &end))
      return std::nullopt;
  }
  return span;
}

std::string rangeText(const std::optional<Span> &span) {
  return span ? text(span->first, " to ", span->last) : "beyond 64 bits";
}

} // namespace

static bool checkBuffer(const Graph &graph, const Node &node, const Complain &complain) {
  const View &view = node.view;
  if (view.buffer >= graph.buffers.size()) {
    complain("",
             text("'", name(node.op), "' names buffer ", view.buffer, " of ", graph.buffers.size()),
             "");
    return false;
  }
  const Buffer &buffer = graph.buffers[view.buffer];
  if (!checkShape(text("'", buffer.name, "'"), buffer.shape, complain))
    return false;
  if (view.stride.size() == node.shape.size())
    return true;
  complain("V-03",
           text("'", name(node.op), "' of '", buffer.name, "' has ",
                counted(int64_t(view.stride.size()), "stride"), " for a value of rank ",
                node.shape.size()),
           "give one for each dim");
  return false;
}

/// Partitions of an on-chip view.
static bool checkPartitions(const Node &node, const Buffer &buffer, const Complain &complain) {
  const View &view = node.view;
  const int64_t step = view.stride[0], count = node.shape[0];
  if (step != 1 && !(step == 0 && count == 1)) {
    complain("P-08",
             text("'", name(node.op), "' of '", buffer.name, "' steps over partitions by ", step,
                  ": a value covers consecutive partitions"),
             "move the elements with a DMA first");
    return false;
  }
  if (int64_t(view.partition) + count > buffer.shape[0]) {
    complain("V-11",
             text("'", name(node.op), "' of '", buffer.name, "' covers partitions ", view.partition,
                  " to ", int64_t(view.partition) + count - 1, ", '", buffer.name, "' has ",
                  buffer.shape[0]),
             text("stay below partition ", buffer.shape[0]));
    return false;
  }
  return true;
}

bool tile::verifyView(const Graph &graph, const Node &node, const Complain &complain) {
  if (!checkBuffer(graph, node, complain))
    return false;
  const Buffer &buffer = graph.buffers[node.view.buffer];
  const bool isHbm = buffer.memory == isa::Memory::Hbm;
  if (!isHbm && !checkPartitions(node, buffer, complain))
    return false;
  if (isHbm && node.view.partition != 0) {
    complain("V-11",
             text("'", name(node.op), "' of '", buffer.name, "' starts at partition ",
                  node.view.partition, ", HBM has none"),
             "count in elements");
    return false;
  }

  const size_t fromDim = isHbm ? 0 : 1;
  const int64_t elements =
      *countElements(Shape(buffer.shape.begin() + int64_t(fromDim), buffer.shape.end()));
  const std::optional<Span> span = spanOf(node.shape, node.view, fromDim);
  if (!span || span->first < 0 || span->last >= elements) {
    complain("V-11",
             text("'", name(node.op), "' of '", buffer.name, "' reaches elements ", rangeText(span),
                  ", '", buffer.name, "' has 0 to ", elements - 1,
                  isHbm ? "" : " in each partition"),
             text("keep ", tupleText(node.shape), " inside ", tupleText(buffer.shape)));
    return false;
  }
  if (node.op == Op::Load)
    return true;
  for (size_t i = fromDim; i < node.shape.size(); ++i)
    if (node.view.stride[i] == 0 && node.shape[i] > 1) {
      complain("V-08",
               text("'", name(node.op), "' to '", buffer.name, "' repeats storage: dim ", i,
                    " has extent ", node.shape[i],
                    " and stride 0, several values would land in "
                    "one place"),
               "write to a view that names each element once");
      return false;
    }
  return true;
}
