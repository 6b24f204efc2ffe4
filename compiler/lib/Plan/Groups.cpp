//===- Groups.cpp - cutting a graph into groups -----------------------------------------------===//
//
// Nodes join, in program order, the group of one of their operands where that is possible: the
// iteration spaces go together, some dim is left for the partitions, and no two groups come to need
// each other. What crosses from one group to another goes through HBM.
//
//===------------------------------------------------------------------------------------------===//

#include "Groups.h"

#include "kiln/ISA/Text.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

namespace kiln::plan {

using tile::Graph;
using tile::Node;
using tile::Op;
using tile::Shape;

namespace {

/// Elements one partition may fold by itself; longer sums are spread over partitions first.
constexpr int64_t kShortSum = 4096;
/// Groups that read a tensor before, which a new one tries to join.
constexpr size_t kSiblings = 8;
/// Nodes of a group: each may hold a tile.
constexpr size_t kMaxNodes = 48;

bool isLeaf(const Node &node) {
  return node.op == Op::Load || node.op == Op::Splat || node.op == Op::Iota;
}

Shape aligned(const Shape &shape, size_t rank) {
  Shape out(rank - std::min(rank, shape.size()), 1);
  out.insert(out.end(), shape.begin(), shape.end());
  return out;
}

} // namespace

uint32_t dimsOf(const Shape &shape, const Shape &extents) {
  uint32_t dims = 0;
  const size_t skip = extents.size() - shape.size();
  for (size_t i = 0; i < shape.size(); ++i)
    if (shape[i] != 1)
      dims |= 1u << (skip + i);
  return dims;
}

void chooseOrders(Graph &graph, const std::vector<bool> &isSplit, std::vector<NodeId> &source) {
  Graph out;
  source.clear();
  out.buffers = graph.buffers;
  std::vector<NodeId> renumbered(graph.nodes.size());
  for (NodeId id = 0; id < graph.nodes.size(); ++id) {
    Node node = graph[id];
    for (NodeId &operand : node.operands)
      operand = renumbered[operand];
    if (node.op == Op::Matmul)
      node.order = {tile::Order::Kind::Chunks, int64_t(isa::machine.matmulMaxContraction), false};
    if (node.op == Op::Reduce) {
      node.order = {tile::Order::Kind::LeftToRight, 0, true};
      const Shape shape = out[node.operands[0]].shape;
      std::vector<int64_t> long_; // reduced dims with more than one element
      for (int64_t axis : node.axes)
        if (shape[size_t(axis)] != 1)
          long_.push_back(axis);
      int64_t kept = 1, reduced = 1;
      for (size_t i = 0; i < shape.size(); ++i)
        (std::find(node.axes.begin(), node.axes.end(), int64_t(i)) == node.axes.end() ? kept
                                                                                      : reduced) *=
            shape[i];
      if (isSplit[id]) {
        while (long_.size() > 1) { // the innermost first
          Node inner = node;
          inner.hint = {};
          inner.axes = {long_.back()};
          inner.dtype = isa::DType::Float32;
          inner.shape = out[node.operands[0]].shape;
          inner.shape[size_t(long_.back())] = 1;
          node.operands = {out.add(inner)};
          source.push_back(id);
          long_.pop_back();
        }
        node.axes = long_;
      } else if (kept == 1 && long_.size() > 1 && reduced > kShortSum) {
        // Rows first, each on a partition of its own, then their sums.
        Node rows = node;
        rows.hint = {};
        rows.axes.assign(long_.begin() + 1, long_.end());
        rows.dtype = isa::DType::Float32;
        rows.shape = shape;
        for (int64_t axis : rows.axes)
          rows.shape[size_t(axis)] = 1;
        node.operands = {out.add(rows)};
        source.push_back(id);
        node.axes = {long_.front()};
      }
    }
    renumbered[id] = out.add(std::move(node));
    source.push_back(id);
  }
  graph = std::move(out);
}

namespace {

class Cutter {
public:
  Cutter(const Graph &graph, const std::vector<size_t> &maxNodes)
      : graph(graph), maxNodes(maxNodes), groupOf(graph.nodes.size(), kNone),
        demand(graph.nodes.size(), UINT32_MAX) {}

  /// By node of the new graph: which it was; kNone for what carries values.
  std::vector<NodeId> origin;

  Plan run() {
    findDemand();
    loadedBy.resize(graph.nodes.size());
    storedBy.resize(graph.buffers.size());
    touchedBy.resize(graph.buffers.size());
    for (NodeId id = 0; id < graph.nodes.size(); ++id)
      if (graph[id].isEffect())
        assignEffect(id);
      else
        assign(id);
    return assemble();
  }

private:
  struct Draft {
    Skeleton skeleton = Skeleton::Rows;
    Shape extents;
    uint32_t reduced = 0; ///< dims some reduction folds
    uint32_t position = 0;
    std::optional<unsigned>
        onPartitions; ///< dim, from the last, that tiles of the kernel have there
    std::vector<NodeId> nodes;
    std::set<uint32_t> needs; ///< groups that come right before it
    std::set<uint32_t> apart; ///< groups it meets in memory only
    uint64_t seen = 0;        ///< by which search
    uint32_t merged = kNone;  ///< the group it became a part of
  };

  //---- positions --------------------------------------------------------//

  /// Where a value is needed first.
  void findDemand() {
    for (NodeId id = NodeId(graph.nodes.size()); id-- > 0;) {
      const Node &node = graph[id];
      const uint32_t at = node.isEffect() ? node.position : demand[id];
      for (NodeId operand : node.operands)
        demand[operand] = std::min(demand[operand], at);
    }
  }

  //---- joining ----------------------------------------------------------//

  uint32_t find(uint32_t g) const {
    while (g != kNone && drafts[g].merged != kNone)
      g = drafts[g].merged;
    return g;
  }
  uint32_t group(NodeId id) const { return find(groupOf[id]); }

  void addNeed(uint32_t g, uint32_t other) { drafts[g].needs.insert(other); }

  /// Whether g comes behind `other`, by any way.
  bool comesBehind(uint32_t g, uint32_t other) {
    ++visit;
    std::vector<uint32_t> open{g};
    while (!open.empty()) {
      const uint32_t next = find(open.back());
      open.pop_back();
      if (next == other)
        return true;
      if (drafts[next].seen == visit)
        continue;
      drafts[next].seen = visit;
      open.insert(open.end(), drafts[next].needs.begin(), drafts[next].needs.end());
    }
    return false;
  }

  static std::optional<Shape> together(const Shape &a, const Shape &b) {
    const size_t rank = std::max(a.size(), b.size());
    const Shape x = aligned(a, rank), y = aligned(b, rank);
    Shape out(rank);
    for (size_t i = 0; i < rank; ++i) {
      if (x[i] != y[i] && x[i] != 1 && y[i] != 1)
        return std::nullopt;
      out[i] = std::max(x[i], y[i]);
    }
    return out;
  }

  /// Whether a dim is left for partitions, or none is worth it.
  static bool hasPartitions(const Shape &extents, uint32_t reduced) {
    int64_t elements = 1;
    for (size_t i = 0; i < extents.size(); ++i) {
      elements *= extents[i];
      if (extents[i] != 1 && !(reduced >> i & 1))
        return true;
    }
    return elements <= kShortSum || reducedOnly(extents, reduced) == 1;
  }
  /// How many dims of more than one element there are, all of them reduced; 0 when some are not.
  static int reducedOnly(const Shape &extents, uint32_t reduced) {
    int count = 0;
    for (size_t i = 0; i < extents.size(); ++i)
      if (extents[i] != 1) {
        if (!(reduced >> i & 1))
          return 0;
        ++count;
      }
    return count;
  }

  static uint32_t shifted(uint32_t dims, size_t from, size_t to) { return dims << (to - from); }

  size_t limitOf(const Draft &draft) const {
    size_t limit = kMaxNodes;
    for (NodeId id : draft.nodes)
      if (id < maxNodes.size())
        limit = std::min(limit, maxNodes[id]);
    return limit;
  }
  int64_t matmulsOf(const Draft &draft) const {
    return std::count_if(draft.nodes.begin(), draft.nodes.end(),
                         [&](NodeId id) { return graph[id].op == Op::Matmul; });
  }

  /// The draft that g and `other` make together; nothing when they do not go together.
  std::optional<Draft> united(const Draft &a, const Draft &b) const {
    why.clear();
    if (a.position != b.position) {
      why = "instructions of the kernel stand between them";
      return std::nullopt;
    }
    if (a.nodes.size() + b.nodes.size() > kMaxNodes) {
      why = text("a group has at most ", kMaxNodes, " operations");
      return std::nullopt;
    }
    if (a.nodes.size() + b.nodes.size() > std::min(limitOf(a), limitOf(b))) {
      why = "together they do not fit in SBUF";
      return std::nullopt;
    }
    auto extents = together(a.extents, b.extents);
    if (!extents) {
      why = text("their shapes ", tupleText(a.extents), " and ", tupleText(b.extents),
                 " have no common tiles");
      return std::nullopt;
    }
    Draft out;
    out.extents = *extents;
    out.position = a.position;
    out.reduced = shifted(a.reduced, a.extents.size(), extents->size()) |
                  shifted(b.reduced, b.extents.size(), extents->size());
    out.onPartitions = a.onPartitions ? a.onPartitions : b.onPartitions;
    why = "tiles of the kernel have other dims on partitions";
    if (a.onPartitions && b.onPartitions && *a.onPartitions != *b.onPartitions)
      return std::nullopt;
    if (!mayHold(out, out.onPartitions))
      return std::nullopt;
    const bool isContraction =
        a.skeleton == Skeleton::Contraction || b.skeleton == Skeleton::Contraction;
    if (isContraction) {
      const Shape &space = a.skeleton == Skeleton::Contraction ? a.extents : b.extents;
      if (out.reduced != 0) {
        why = "a fold needs whole rows, a matmul makes tiles";
        return std::nullopt;
      }
      if (aligned(space, extents->size()) != *extents ||
          (a.skeleton == b.skeleton && a.extents != b.extents)) {
        why = text("the tiles of a matmul's result ", tupleText(space), " are not those of ",
                   tupleText(*extents));
        return std::nullopt;
      }
      // Each product adds up in a bank of its own until the epilogue has read them all.
      if (matmulsOf(a) + matmulsOf(b) > isa::machine.psumBanks) {
        why = text("there are ", isa::machine.psumBanks, " PSUM banks for the matmuls of a group");
        return std::nullopt;
      }
      out.skeleton = Skeleton::Contraction;
    } else if (!hasPartitions(out.extents, out.reduced)) {
      why = text("no dim of ", tupleText(out.extents),
                 " is left for the partitions: each is folded by one of them");
      return std::nullopt;
    }
    return out;
  }

  /// Whether the dim at `fromLast` can lie on partitions: as the rows of one tile, and unfolded.
  static bool mayHold(const Draft &draft, std::optional<unsigned> fromLast) {
    if (!fromLast)
      return true;
    if (*fromLast >= draft.extents.size())
      return false;
    const size_t dim = draft.extents.size() - 1 - *fromLast;
    return !(draft.reduced >> dim & 1) && draft.extents[dim] <= int64_t(isa::machine.numPartitions);
  }

  /// Merges group `from` into `to` when that is possible.
  bool merge(uint32_t to, uint32_t from) {
    why.clear();
    if (needsThroughOthers(to, from) || needsThroughOthers(from, to)) {
      why = "a group between them needs the one and is needed by the other";
      return false;
    }
    if (areApart(to, from) || areApart(from, to)) {
      why = "they meet in memory elsewhere";
      return false;
    }
    auto draft = united(drafts[to], drafts[from]);
    if (!draft)
      return false;
    Draft &t = drafts[to];
    t.skeleton = draft->skeleton;
    t.extents = draft->extents;
    t.reduced = draft->reduced;
    t.onPartitions = draft->onPartitions;
    t.nodes.insert(t.nodes.end(), drafts[from].nodes.begin(), drafts[from].nodes.end());
    std::sort(t.nodes.begin(), t.nodes.end());
    drafts[from].merged = to;
    t.needs.insert(drafts[from].needs.begin(), drafts[from].needs.end());
    std::erase_if(t.needs, [&](uint32_t n) { return find(n) == to; });
    t.apart.insert(drafts[from].apart.begin(), drafts[from].apart.end());
    return true;
  }

  bool areApart(uint32_t g, uint32_t other) const {
    return std::any_of(drafts[g].apart.begin(), drafts[g].apart.end(),
                       [&](uint32_t a) { return find(a) == other; });
  }

  /// Group `own` reads what the stores of `load`'s buffer write.
  void needMemory(uint32_t own, NodeId load) {
    for (uint32_t writer : storedBy[graph[load].view.buffer])
      if (const uint32_t g = find(writer); g != own) {
        addNeed(own, g);
        drafts[own].apart.insert(g);
      }
  }

  /// g needs `other` by way of a third group.
  bool needsThroughOthers(uint32_t g, uint32_t other) {
    for (uint32_t n : drafts[g].needs) {
      const uint32_t between = find(n);
      if (between != g && between != other && comesBehind(between, other))
        return true;
    }
    return false;
  }

  uint32_t open(Skeleton skeleton, NodeId id, const Shape &extents, uint32_t reduced) {
    Draft draft;
    draft.skeleton = skeleton;
    draft.extents = extents;
    draft.reduced = reduced;
    draft.position = demand[id];
    draft.nodes = {id};
    drafts.push_back(std::move(draft));
    groupOf[id] = uint32_t(drafts.size() - 1);
    return groupOf[id];
  }

  void assign(NodeId id) {
    const Node &node = graph[id];
    if (isLeaf(node) || demand[id] == UINT32_MAX)
      return;
    Shape extents = node.shape;
    uint32_t reduced = 0;
    if (node.op == Op::Reduce) {
      extents = graph[node.operands[0]].shape;
      for (int64_t axis : node.axes)
        if (extents[size_t(axis)] != 1)
          reduced |= 1u << axis;
    }
    const bool isMatmul = node.op == Op::Matmul;
    const uint32_t own =
        open(isMatmul ? Skeleton::Contraction : Skeleton::Rows, id, extents, reduced);
    std::vector<uint32_t> producers; // groups, the latest first
    for (NodeId operand : node.operands)
      if (uint32_t g = group(operand); g != kNone)
        producers.push_back(g);
    std::sort(producers.rbegin(), producers.rend());
    producers.erase(std::unique(producers.begin(), producers.end()), producers.end());
    for (uint32_t g : producers)
      addNeed(own, g);
    for (NodeId operand : node.operands)
      if (graph[operand].op == Op::Load)
        needMemory(own, operand);
    for (NodeId operand : node.operands)
      if (const uint32_t g = group(operand); g != kNone && graph[operand].hint.in) {
        drafts[own].apart.insert(g);
        reasons[{id, operand}] = "nl::hint asks for it in HBM";
      }
    for (NodeId operand : node.operands) {
      const uint32_t g = group(operand);
      if (g == kNone || g == find(own) || reasons.contains({id, operand}))
        continue;
      if (isMatmul)
        reasons[{id, operand}] = "a matmul reads its operands with the contraction dim on "
                                 "partitions, in tiles of their own";
      else if (!merge(own, g))
        reasons[{id, operand}] = why;
    }
    if (isMatmul) { // operands come from memory, also where what follows would take them in
      drafts[own].apart.insert(producers.begin(), producers.end());
      return;
    }
    // Groups that read the same tensors over the same space read them once together.
    for (NodeId operand : node.operands) {
      if (graph[operand].op != Op::Load)
        continue;
      // The latest ones: earlier ones are full, or were refused before.
      const std::vector<uint32_t> readers = loadedBy[operand];
      for (size_t i = readers.size() - std::min(readers.size(), kSiblings); i < readers.size(); ++i)
        if (const uint32_t g = find(readers[i]); g != find(own) &&
                                                 drafts[g].skeleton == Skeleton::Rows &&
                                                 drafts[g].extents == drafts[find(own)].extents)
          merge(find(own), g);
      if (readers.empty() || find(readers.back()) != find(own))
        loadedBy[operand].push_back(find(own));
    }
  }

  /// A store belongs to the group of its value; one of a leaf is a group of its own.
  void assignEffect(NodeId id) {
    const Node &node = graph[id];
    const NodeId value = node.operands[0];
    uint32_t own = group(value);
    if (own != kNone && isOnChip(node) && !admit(own, node)) {
      // Through memory, then.
      const uint32_t producer = own;
      own = open(Skeleton::Copy, id, node.shape, 0);
      drafts[own].position = node.position;
      drafts[own].nodes.clear();
      groupOf[id] = own;
      addNeed(own, producer);
      drafts[own].apart.insert(producer);
      carriedFor.insert(id);
      touch(own, node.view.buffer, true);
    }
    if (own == kNone) {
      own =
          open(isTransfer(graph[value], node) ? Skeleton::Copy : Skeleton::Rows, id, node.shape, 0);
      drafts[own].position = node.position;
      if (graph[value].op == Op::Load) {
        needMemory(own, value);
        touch(own, graph[value].view.buffer, false);
      }
      touch(own, node.view.buffer, true);
      drafts[own].nodes.clear();
    }
    effects.push_back({id, own});
    storedBy[node.view.buffer].push_back(own);
  }

  bool isOnChip(const Node &node) const {
    return graph.buffers[node.view.buffer].memory != isa::Memory::Hbm;
  }

  /// Lets group `g` write the tile of `effect` where its rows are; false when it has other rows.
  bool admit(uint32_t g, const Node &effect) {
    Draft &draft = drafts[g];
    const unsigned fromLast = unsigned(effect.shape.size()) - 1;
    if ((draft.onPartitions && *draft.onPartitions != fromLast) || !mayHold(draft, fromLast))
      return false;
    const size_t dim = draft.extents.size() - 1 - fromLast;
    if (draft.extents[dim] != effect.shape[0])
      return false;
    if (draft.skeleton == Skeleton::Contraction &&
        (draft.extents.size() != effect.shape.size() || draft.extents.size() != 2))
      return false;
    draft.onPartitions = fromLast;
    return true;
  }

  /// Whether one transfer writes `load` to where `effect` wants it. What would move element by
  /// element, or read the same again, goes through SBUF.
  bool isTransfer(const Node &load, const Node &effect) const {
    if (load.op != Op::Load)
      return false;
    if (isOnChip(load) || isOnChip(effect))
      return true;
    if (load.elements() < kShortSum || load.shape != effect.shape)
      return true;
    bool isRepeated = false, isTransposed = false;
    for (size_t i = 0; i < load.shape.size(); ++i) {
      if (load.shape[i] == 1)
        continue;
      isRepeated |= load.view.stride[i] == 0;
      // What lies side by side on one side does not on the other.
      isTransposed |=
          load.view.stride[i] == 1 && effect.view.stride[i] != 1 && isa::bytesOf(load.dtype) > 1;
    }
    return !isRepeated && !isTransposed;
  }

  /// Copies of one buffer, where one of them writes it, keep their order.
  void touch(uint32_t own, uint32_t buffer, bool writes) {
    for (auto [g, wrote] : touchedBy[buffer])
      if ((writes || wrote) && find(g) != own) {
        addNeed(own, find(g));
        drafts[own].apart.insert(find(g));
      }
    touchedBy[buffer].push_back({own, writes});
  }

  //---- the new graph ----------------------------------------------------//

  Plan assemble() {
    plan.graph.buffers = graph.buffers;
    carried.assign(graph.nodes.size(), kNone);
    renumbered.assign(graph.nodes.size(), kNone);
    effectsOf.resize(drafts.size());
    for (auto [id, g] : effects) {
      effectsOf[find(g)].push_back(id);
      if (carriedFor.contains(id))
        carriedValues.insert(graph[id].operands[0]);
    }
    for (const tile::Buffer &buffer : graph.buffers)
      names.insert(buffer.name);
    // Effects in program order, each group as soon as something of it is asked for; what a group
    // needs comes first.
    for (auto [id, g] : effects)
      emitWithNeeds(find(g));
    return std::move(plan);
  }

  /// Group `g`, after all it needs. Not by recursion: chains of groups are as long as kernels.
  void emitWithNeeds(uint32_t g) {
    std::vector<std::pair<uint32_t, bool>> open{{g, false}}; // and whether its needs are done
    while (!open.empty()) {
      auto [next, isReady] = open.back();
      open.pop_back();
      if (isReady) {
        emitGroup(next);
        continue;
      }
      if (!emitted.insert(next).second)
        continue;
      open.push_back({next, true});
      std::set<uint32_t> first;
      for (uint32_t n : drafts[next].needs)
        if (uint32_t f = find(n); f != next)
          first.insert(f);
      for (auto f = first.rbegin(); f != first.rend(); ++f)
        open.push_back({*f, false});
    }
  }

  void emitGroup(uint32_t g) {
    const Draft &draft = drafts[g];
    Group out;
    out.skeleton = draft.skeleton;
    out.position = draft.position;
    std::vector<NodeId> touched; // old nodes that have a number in this group
    const auto number = [&](NodeId id, NodeId value) {
      renumbered[id] = value;
      touched.push_back(id);
    };
    const auto add = [&](Node node) {
      node.position = draft.position;
      out.nodes.push_back(plan.graph.add(std::move(node)));
      origin.push_back(kNone);
      return out.nodes.back();
    };
    for (NodeId id : draft.nodes) {
      Node node = graph[id];
      for (NodeId &operand : node.operands) {
        if (renumbered[operand] == kNone)
          number(operand, isLeaf(graph[operand]) ? add(graph[operand]) : add(reload(operand)));
        operand = renumbered[operand];
      }
      out.location = node.location;
      number(id, add(std::move(node)));
      origin[renumbered[id]] = id;
    }
    for (NodeId id : draft.nodes)
      if (isCarried(id, g)) {
        const NodeId store = add(carry(id, renumbered[id]));
        plan.crossings.push_back({store, reasonOf(id, g)});
      }
    for (NodeId id : effectsOf[g]) {
      Node effect = graph[id];
      const NodeId value = effect.operands[0];
      if (renumbered[value] == kNone)
        number(value, add(carriedFor.contains(id) ? reload(value) : graph[value]));
      effect.operands = {renumbered[value]};
      out.location = out.location == kNone ? effect.location : out.location;
      add(std::move(effect));
    }
    for (NodeId id : touched)
      renumbered[id] = kNone;
    plan.groups.push_back(std::move(out));
  }

  /// Why a group but `g` reads `id`.
  std::string reasonOf(NodeId id, uint32_t g) {
    for (NodeId reader : readers[id])
      if (group(reader) != g)
        if (const auto known = reasons.find({reader, id}); known != reasons.end())
          return known->second;
    return "another group reads it";
  }

  /// Whether a group but `g` reads `id`.
  bool isCarried(NodeId id, uint32_t g) {
    if (readers.empty()) {
      readers.resize(graph.nodes.size());
      for (NodeId n = 0; n < graph.nodes.size(); ++n)
        if (!graph[n].isEffect() && groupOf[n] != kNone)
          for (NodeId operand : graph[n].operands)
            readers[operand].push_back(n);
    }
    if (carriedValues.contains(id))
      return true;
    return std::any_of(readers[id].begin(), readers[id].end(),
                       [&](NodeId reader) { return group(reader) != g; });
  }

  /// The store that carries `id`, node `value` of the new graph, to other groups.
  Node carry(NodeId id, NodeId value) {
    const Node &node = graph[id];
    tile::Buffer buffer;
    do
      buffer.name = "carried" + std::to_string(number++);
    while (std::any_of(plan.graph.buffers.begin(), plan.graph.buffers.end(),
                       [&](const tile::Buffer &b) { return b.name == buffer.name; }));
    buffer.dtype = node.dtype;
    buffer.shape = node.shape;
    buffer.location = node.location;
    plan.graph.buffers.push_back(std::move(buffer));
    carried[id] = uint32_t(plan.graph.buffers.size() - 1);
    Node store;
    store.op = Op::Store;
    store.operands = {value};
    store.shape = node.shape;
    store.dtype = node.dtype;
    store.view.buffer = carried[id];
    store.view.stride = contiguousStrides(node.shape);
    store.location = node.location;
    return store;
  }

  Node reload(NodeId id) const {
    const Node &node = graph[id];
    Node load;
    load.op = Op::Load;
    load.shape = node.shape;
    load.dtype = node.dtype;
    load.view.buffer = carried[id];
    load.view.stride = contiguousStrides(node.shape);
    load.location = node.location;
    return load;
  }

  const Graph &graph;
  const std::vector<size_t> &maxNodes;                      ///< by node: that its group may have
  mutable std::string why;                                  ///< two groups did not go together
  std::map<std::pair<NodeId, NodeId>, std::string> reasons; ///< by reader and value
  std::vector<uint32_t> groupOf;
  std::vector<uint32_t> demand; ///< position at which a value is needed first
  std::vector<Draft> drafts;
  Plan plan;
  std::vector<std::pair<NodeId, uint32_t>> effects; ///< stores and their groups
  std::vector<std::vector<uint32_t>> loadedBy;      ///< by load: groups of maps and reductions
  std::vector<std::vector<uint32_t>> storedBy;      ///< by buffer: groups
  std::vector<std::vector<std::pair<uint32_t, bool>>>
      touchedBy; ///< by buffer: copies, if they write
  std::vector<std::vector<NodeId>> readers;
  std::vector<uint32_t> carried; ///< by node: the buffer it crosses in
  std::set<uint32_t> emitted;
  std::vector<NodeId> renumbered;             ///< in the group being written
  std::vector<std::vector<NodeId>> effectsOf; ///< by group
  std::set<NodeId> carriedValues;
  std::set<std::string> names; ///< of buffers
  uint64_t visit = 0;
  std::set<NodeId> carriedFor; ///< stores whose value comes through memory
  uint32_t number = 0;
};

} // namespace

Plan cut(const Graph &graph, const std::vector<size_t> &maxNodes, std::vector<NodeId> &origin) {
  Cutter cutter(graph, maxNodes);
  Plan plan = cutter.run();
  origin = std::move(cutter.origin);
  return plan;
}

} // namespace kiln::plan
