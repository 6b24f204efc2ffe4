//===- Select.cpp - which instructions compute a group ----------------------------------------===//
//
// From the last node to the first: each node that is needed takes the largest pattern that computes
// it, and what the pattern reads is needed in turn. Arithmetic inside a pattern is the same, one
// rounding after each operation, so patterns never change bits; a value that others read, or that
// has a dtype of its own, is never inside one.
//
//===------------------------------------------------------------------------------------------===//

#include "Select.h"

#include <algorithm>
#include <cmath>

namespace kiln::plan {

using isa::AluOp;
using isa::DType;
using tile::Node;
using tile::Op;

namespace {

bool isArithmetic(AluOp op) { return !isa::info(op).isBitvec && op != AluOp::Power; }
bool isTruth(AluOp op) {
  return (op >= AluOp::Equal && op <= AluOp::Less) ||
         (op >= AluOp::LogicalAnd && op <= AluOp::LogicalXor);
}

class Selector {
public:
  Selector(const tile::Graph &graph, const Space &space, Group &group)
      : graph(graph), space(space), group(group) {
    const size_t count = group.nodes.size();
    uses.assign(count, 0);
    tileOf.assign(count, kNone);
    needed.assign(count, false);
    isNegated.assign(count, false);
    writtenAs.assign(count, std::nullopt);
    for (NodeId id : group.nodes)
      for (NodeId operand : graph[id].operands)
        ++uses[index(operand)];
  }

  void run() {
    for (size_t i = group.nodes.size(); i-- > 0;)
      if (node(i).op == Op::Store)
        needed[i] = true;
    for (size_t i = group.nodes.size(); i-- > 0;)
      if (needed[i])
        match(i);
    // Patterns were found from the end; steps stand in the order of their nodes.
    std::stable_sort(made.begin(), made.end(),
                     [](const auto &a, const auto &b) { return a.first < b.first; });
    group.steps.clear();
    for (auto &[at, steps] : made)
      group.steps.insert(group.steps.end(), steps.begin(), steps.end());
  }

private:
  const Node &node(size_t i) const { return graph[group.nodes[i]]; }
  size_t index(NodeId id) const {
    return size_t(std::lower_bound(group.nodes.begin(), group.nodes.end(), id) -
                  group.nodes.begin());
  }
  size_t operand(size_t i, size_t k) const { return index(node(i).operands[k]); }

  uint32_t partitionBit() const { return group.partition == kNone ? 0 : 1u << group.partition; }
  /// One value a partition.
  bool isColumn(size_t i) const { return (space.dims[i] & ~partitionBit()) == 0; }
  bool isNumber(size_t i) const { return node(i).op == Op::Splat; }

  //---- tiles ------------------------------------------------------------//

  uint32_t makeTile(NodeId of, DType dtype, uint32_t dims, isa::Memory memory = isa::Memory::Sbuf) {
    Tile tile;
    tile.node = of;
    tile.memory = memory;
    tile.dtype = dtype;
    tile.dims = dims;
    group.tiles.push_back(tile);
    return uint32_t(group.tiles.size() - 1);
  }

  /// The tile that holds node `i`, made when first asked for.
  uint32_t tile(size_t i) {
    needed[i] = true;
    if (tileOf[i] == kNone)
      tileOf[i] = makeTile(group.nodes[i], writtenAs[i].value_or(node(i).dtype), space.dims[i],
                           memoryOf(i));
    return tileOf[i];
  }
  isa::Memory memoryOf(size_t i) const {
    if (node(i).op == Op::Load && graph.buffers[node(i).view.buffer].memory == isa::Memory::Psum)
      return isa::Memory::Psum;
    return isAccumulator(i) ? isa::Memory::Psum : isa::Memory::Sbuf;
  }
  /// A matmul whose result is read where it is summed.
  bool isAccumulator(size_t i) const {
    return node(i).op == Op::Matmul && node(i).dtype == DType::Float32;
  }

  /// Node `i` as an operand that may be a number.
  Argument argument(size_t i) {
    return isNumber(i) ? numberArgument(node(i).number) : tileArgument(tile(i));
  }
  /// A scalar operand of an engine: a number or a float32 column; `steps` converts it if need be.
  Argument scalar(size_t i, std::vector<Step> &steps) {
    if (isNumber(i))
      return numberArgument(node(i).number);
    const uint32_t column = tile(i);
    if (group.tiles[column].dtype == DType::Float32)
      return tileArgument(column);
    if (node(i).op == Op::Iota && uses[i] == 1) { // rounded the same way by the engine that counts
      group.tiles[column].dtype = DType::Float32;
      return tileArgument(column);
    }
    const uint32_t converted = makeTile(kNone, DType::Float32, space.dims[i]);
    steps.push_back(copy(converted, column, i));
    return tileArgument(converted);
  }
  /// A tile with the elements of node `i`, also of a number.
  uint32_t filled(size_t i, std::vector<Step> &steps, uint32_t dims = 0) {
    if (!isNumber(i))
      return tile(i);
    const uint32_t t = makeTile(kNone, node(i).dtype, dims);
    Step fill;
    fill.kind = Step::Kind::Fill;
    fill.dst = t;
    fill.x = numberArgument(node(i).number);
    fill.node = group.nodes[i];
    steps.push_back(fill);
    return t;
  }
  /// An operand of an instruction without a PSUM port, or beside another one in PSUM.
  uint32_t inSbuf(uint32_t t, size_t of, std::vector<Step> &steps) {
    if (group.tiles[t].memory == isa::Memory::Sbuf)
      return t;
    const uint32_t moved = makeTile(kNone, group.tiles[t].dtype, group.tiles[t].dims);
    steps.push_back(copy(moved, t, of));
    return moved;
  }

  Step copy(uint32_t dst, uint32_t src, size_t of) const {
    Step step;
    step.kind = Step::Kind::Copy;
    step.dst = dst;
    step.x = tileArgument(src);
    step.node = group.nodes[of];
    return step;
  }

  //---- what may be inside a pattern -------------------------------------//

  /// Node `i` exists only inside the pattern of its one reader.
  bool isInner(size_t i) const {
    return uses[i] == 1 && node(i).dtype == DType::Float32 && !needed[i] && tileOf[i] == kNone;
  }

  /// Integer arithmetic of GpSimd, exact: all three are 32-bit integers.
  bool isExactInteger(size_t i) const { return isExactInteger(i, node(i).dtype); }
  /// The same with a result written as `out`.
  bool isExactInteger(size_t i, DType out) const {
    const Node &n = node(i);
    return n.op == Op::Binary && isa::isWideInteger(out) &&
           isa::isWideInteger(node(operand(i, 0)).dtype) &&
           isa::isWideInteger(node(operand(i, 1)).dtype);
  }

  /// node(i) = op(tile operand, scalar operand) in one stage of an engine.
  struct Stage {
    size_t data = 0, scalar = 0;
    AluOp op{};
    bool reverse = false;
  };
  std::optional<Stage> stage(size_t i) const {
    const Node &n = node(i);
    if (n.op != Op::Binary || !isArithmetic(n.alu) || isExactInteger(i))
      return std::nullopt;
    const size_t a = operand(i, 0), b = operand(i, 1);
    const auto isScalarFor = [&](size_t s, size_t data) {
      return isNumber(s) || (isColumn(s) && !isColumn(data) && s != data);
    };
    if (isScalarFor(b, a) && !isNumber(a))
      return Stage{a, b, n.alu, false};
    if (isScalarFor(a, b) && !isNumber(b))
      return Stage{b, a, n.alu, true};
    if (isColumn(a) && isColumn(b) && !isNumber(a) && !isNumber(b) && a != b)
      return Stage{a, b, n.alu, false};
    return std::nullopt;
  }

  //---- patterns ---------------------------------------------------------//

  void add(size_t at, std::vector<Step> steps) { made.push_back({at, std::move(steps)}); }

  void match(size_t i) {
    switch (node(i).op) {
    case Op::Store:
      return matchStore(i);
    case Op::Load: {
      const isa::Memory memory = graph.buffers[node(i).view.buffer].memory;
      if (memory != isa::Memory::Hbm) { // read where it is
        group.tiles[tile(i)].place = group.nodes[i];
        return;
      }
      Step step;
      step.kind = Step::Kind::Load;
      step.dst = tile(i);
      step.node = group.nodes[i];
      return add(i, {step});
    }
    case Op::Splat:
      return; // its readers take the number
    case Op::Iota: {
      Step step;
      step.kind = Step::Kind::Iota;
      step.dst = tile(i);
      step.node = group.nodes[i];
      step.dim = unsigned(group.extents.size() - node(i).shape.size() + size_t(node(i).axis));
      if (space.dims[i] != 0)
        step.dim = unsigned(__builtin_ctz(space.dims[i]));
      return add(i, {step});
    }
    case Op::Unary:
      return matchActivation(i);
    case Op::Cast:
      return matchCast(i);
    case Op::Binary:
      return matchBinary(i);
    case Op::Select:
      return matchSelect(i);
    case Op::Reduce:
      return matchReduce(i);
    case Op::Matmul:
      if (!isAccumulator(i)) {
        const uint32_t sum =
            makeTile(group.nodes[i], DType::Float32, space.dims[i], isa::Memory::Psum);
        add(i, {copy(tile(i), sum, i)});
      } else {
        tile(i);
      }
      return;
    default:
      return;
    }
  }

  void matchStore(size_t i) {
    const size_t value = operand(i, 0);
    std::vector<Step> steps;
    const DType out = graph.buffers[node(i).view.buffer].dtype;
    // What only this store reads may be written in the dtype it is stored in.
    if (uses[value] == 1 && node(value).dtype == DType::Float32 && isComputed(value) &&
        tileOf[value] == kNone && !isAccumulator(value) && !isExactInteger(value, out))
      writtenAs[value] = out;
    uint32_t t = filled(value, steps, space.dims[i]);
    if (group.tiles[t].memory == isa::Memory::Psum) {
      const uint32_t moved = makeTile(kNone, out, group.tiles[t].dims);
      steps.push_back(copy(moved, t, i));
      t = moved;
    }
    if (group.tiles[t].dims != space.dims[i]) {
      // A transfer repeats nothing along partitions.
      const uint32_t full = makeTile(kNone, group.tiles[t].dtype, space.dims[i]);
      steps.push_back(copy(full, t, i));
      t = full;
    }
    Step step;
    step.kind = Step::Kind::Store;
    step.x = tileArgument(t);
    step.node = group.nodes[i];
    steps.push_back(step);
    add(i, steps);
  }

  bool isComputed(size_t i) const {
    const Op op = node(i).op;
    return op == Op::Unary || op == Op::Binary || op == Op::Select || op == Op::Reduce ||
           op == Op::Cast || op == Op::Matmul;
  }

  void matchActivation(size_t i) {
    if (node(i).fn == isa::ActFn::Reciprocal) {
      // The Vector Engine's has no bounded domain, and needs no table of functions.
      std::vector<Step> steps;
      Step step;
      step.kind = Step::Kind::Reciprocal;
      step.x = tileArgument(filled(operand(i, 0), steps));
      step.dst = tile(i);
      step.node = group.nodes[i];
      steps.push_back(step);
      return add(i, steps);
    }
    Step step;
    step.kind = Step::Kind::Activation;
    step.fn = node(i).fn;
    step.dst = tile(i);
    step.node = group.nodes[i];
    step.y = numberArgument(1);
    step.z = numberArgument(-0.0); // adding -0 keeps every sign
    std::vector<Step> steps;
    size_t data = operand(i, 0);
    bool isReversed = false; // c - x is x * -1 + c
    if (auto s = innerStage(data, i); s && (s->op == AluOp::Add || s->op == AluOp::Subtract)) {
      isReversed = s->op == AluOp::Subtract && s->reverse;
      const bool isNegated = s->op == AluOp::Subtract && !s->reverse;
      step.z = isNegated ? negated(s->scalar, steps) : scalar(s->scalar, steps);
      step.y = numberArgument(isReversed ? -1 : 1);
      data = s->data;
    }
    if (auto s = innerStage(data, i); s && s->op == AluOp::Multiply && !isReversed) {
      step.y = scalar(s->scalar, steps);
      data = s->data;
    }
    step.x = tileArgument(filled(data, steps));
    steps.push_back(step);
    add(i, steps);
  }

  /// Node `i` as a stage inside the pattern of `of`, whose rows are long enough to gain by it.
  std::optional<Stage> innerStage(size_t i, size_t of) const {
    if (!isInner(i) || isColumn(of) || space.dims[i] != space.dims[of])
      return std::nullopt;
    return stage(i);
  }

  Argument negated(size_t i, std::vector<Step> &steps) {
    if (isNumber(i))
      return numberArgument(-node(i).number);
    if (node(i).op == Op::Reduce && isInner(i) && !group.isChunked) {
      isNegated[i] = true;
      return tileArgument(tile(i));
    }
    const uint32_t negative = makeTile(kNone, DType::Float32, space.dims[i]);
    Step step;
    step.kind = Step::Kind::TensorScalar;
    step.dst = negative;
    step.x = tileArgument(tile(i));
    step.op0 = AluOp::Multiply;
    step.y = numberArgument(-1);
    step.op1 = AluOp::None;
    step.node = group.nodes[i];
    steps.push_back(step);
    return tileArgument(negative);
  }

  void matchCast(size_t i) {
    const size_t value = operand(i, 0);
    if (uses[value] == 1 && isComputed(value) && node(value).dtype == DType::Float32 &&
        tileOf[value] == kNone && !isAccumulator(value) && node(value).op != Op::Cast) {
      // Computed in fp32 and rounded to the cast's dtype by the same write.
      tileOf[value] = tile(i);
      needed[value] = true;
      return;
    }
    if (uses[value] == 1 && node(value).op == Op::Load && tileOf[value] == kNone &&
        graph.buffers[node(value).view.buffer].memory == isa::Memory::Hbm) {
      Step step;
      step.kind = Step::Kind::Load;
      step.dst = tile(i);
      step.node = group.nodes[value];
      tileOf[value] = step.dst;
      needed[value] = false;
      return add(i, {step});
    }
    std::vector<Step> steps;
    const uint32_t x = filled(value, steps);
    steps.push_back(copy(tile(i), x, i));
    add(i, steps);
  }

  void matchBinary(size_t i) {
    Step step;
    step.dst = tile(i);
    step.node = group.nodes[i];
    std::vector<Step> steps;
    const auto s = stage(i);
    if (s) {
      step.kind = Step::Kind::TensorScalar;
      step.op0 = s->op;
      step.reverse0 = s->reverse;
      step.y = scalar(s->scalar, steps);
      step.op1 = AluOp::None;
      size_t data = s->data;
      const auto inner = isInner(data) ? stage(data) : std::nullopt;
      if (inner && isColumn(inner->scalar) && space.dims[inner->data] == space.dims[i]) {
        step.op1 = step.op0;
        step.reverse1 = step.reverse0;
        step.z = step.y;
        step.op0 = inner->op;
        step.reverse0 = inner->reverse;
        step.y = scalar(inner->scalar, steps);
        data = inner->data;
      }
      step.x = tileArgument(tile(data));
      steps.push_back(step);
      return add(i, steps);
    }
    const size_t a = operand(i, 0), b = operand(i, 1);
    const bool isPlain = isArithmetic(node(i).alu) && !isExactInteger(i);
    for (const bool second : {false, true}) {
      const size_t inner = second ? b : a, other = second ? a : b;
      const auto st = isPlain && inner != other && isInner(inner) ? stage(inner) : std::nullopt;
      if (!st || isNumber(other) || space.dims[st->data] != space.dims[i] || isTruth(node(i).alu))
        continue;
      step.kind = Step::Kind::ScalarTensorTensor;
      step.op0 = st->op;
      step.reverse0 = st->reverse;
      step.y = scalar(st->scalar, steps);
      step.op1 = node(i).alu;
      step.reverse1 = second; // op1(t, z) has t first
      uint32_t x = tile(st->data), z = tile(other);
      if (group.tiles[x].memory == isa::Memory::Psum && group.tiles[z].memory == isa::Memory::Psum)
        z = inSbuf(z, other, steps);
      step.x = tileArgument(x);
      step.z = tileArgument(z);
      steps.push_back(step);
      return add(i, steps);
    }
    step.kind = Step::Kind::TensorTensor;
    step.op0 = node(i).alu;
    uint32_t x = filled(a, steps), y = a == b ? x : filled(b, steps);
    const bool onGpsimd = node(i).alu == AluOp::Power || isExactInteger(i);
    if (onGpsimd)
      x = inSbuf(x, a, steps);
    if (onGpsimd ||
        (group.tiles[x].memory == isa::Memory::Psum && group.tiles[y].memory == isa::Memory::Psum))
      y = a == b ? (onGpsimd ? x : inSbuf(y, b, steps)) : inSbuf(y, b, steps);
    step.x = tileArgument(x);
    step.y = tileArgument(y);
    steps.push_back(step);
    add(i, steps);
  }

  void matchSelect(size_t i) {
    std::vector<Step> steps;
    const size_t condition = operand(i, 0), yes = operand(i, 1), no = operand(i, 2);
    const uint32_t dst = tile(i);
    const DType dtype = group.tiles[dst].dtype;
    Step base;
    base.dst = dst;
    base.node = group.nodes[i];
    if (isNumber(no)) {
      base.kind = Step::Kind::Fill;
      base.x = numberArgument(node(no).number);
    } else {
      base.kind = Step::Kind::Copy;
      base.x = tileArgument(tile(no));
    }
    Step pick;
    pick.kind = Step::Kind::Predicated;
    pick.dst = dst;
    pick.node = group.nodes[i];
    if (isNumber(yes)) {
      pick.x = numberArgument(node(yes).number);
    } else {
      uint32_t source = tile(yes);
      if (group.tiles[source].dtype != dtype) {
        const uint32_t converted = makeTile(kNone, dtype, group.tiles[source].dims);
        steps.push_back(copy(converted, source, yes));
        source = converted;
      }
      pick.x = tileArgument(source);
    }
    uint32_t predicate = predicateOf(condition, steps);
    if (pick.x.isTile() && group.tiles[pick.x.tile].memory == isa::Memory::Psum &&
        group.tiles[predicate].memory == isa::Memory::Psum)
      predicate = inSbuf(predicate, condition, steps);
    pick.y = tileArgument(predicate);
    steps.push_back(base);
    steps.push_back(pick);
    add(i, steps);
  }

  /// A tile of bytes that are not 0 where node `i` is not.
  uint32_t predicateOf(size_t i, std::vector<Step> &steps) {
    const bool isPredicate = node(i).dtype == DType::UInt8 || node(i).dtype == DType::UInt16 ||
                             node(i).dtype == DType::UInt32;
    if (isPredicate && !isNumber(i))
      return tile(i);
    if (node(i).op == Op::Binary && isTruth(node(i).alu) && uses[i] == 1 && tileOf[i] == kNone &&
        node(i).dtype == DType::Float32) {
      writtenAs[i] = DType::UInt8;
      return tile(i);
    }
    const uint32_t t = makeTile(kNone, DType::UInt8, space.dims[i]);
    Step step;
    step.dst = t;
    step.node = group.nodes[i];
    if (isNumber(i)) {
      step.kind = Step::Kind::Fill;
      step.x = numberArgument(node(i).number != 0); // NaN is not 0
    } else {
      step.kind = Step::Kind::TensorScalar;
      step.x = tileArgument(tile(i));
      step.op0 = AluOp::NotEqual;
      step.y = numberArgument(0);
      step.op1 = AluOp::None;
    }
    steps.push_back(step);
    return t;
  }

  void matchReduce(size_t i) {
    const size_t value = operand(i, 0);
    Step step;
    step.kind = Step::Kind::Reduce;
    step.dst = tile(i);
    step.op0 = node(i).alu;
    step.isNegated = isNegated[i];
    step.dims = space.reduced[i]; // of what repeats along one of them, every repetition
    step.node = group.nodes[i];
    std::vector<Step> steps;
    step.x = tileArgument(filled(value, steps));
    steps.push_back(step);
    add(i, steps);
  }

  const tile::Graph &graph;
  const Space &space;
  Group &group;
  std::vector<uint32_t> uses; ///< readers in the group, by index
  std::vector<uint32_t> tileOf;
  std::vector<bool> needed;
  std::vector<bool> isNegated; ///< reductions whose tile holds the negative
  std::vector<std::optional<DType>>
      writtenAs; ///< dtype a value is written in by its only reader's wish
  std::vector<std::pair<size_t, std::vector<Step>>> made;
};

/// Row sums that an activation can do on its way: Reduce(add) of its float32 result over all its
/// free dims.
void fuseSums(Group &group) {
  const uint32_t partition = group.partition == kNone ? 0 : 1u << group.partition;
  for (size_t r = 0; r < group.steps.size(); ++r) {
    const Step reduce = group.steps[r];
    if (reduce.kind != Step::Kind::Reduce || reduce.op0 != AluOp::Add || !reduce.x.isTile())
      continue;
    const Tile &source = group.tiles[reduce.x.tile];
    if (reduce.isNegated || source.dtype != DType::Float32 ||
        (source.dims & ~partition) != reduce.dims)
      continue;
    const auto producer = std::find_if(group.steps.begin(), group.steps.begin() + long(r),
                                       [&](const Step &s) { return s.dst == reduce.x.tile; });
    if (producer == group.steps.begin() + long(r) || producer->sum != kNone)
      continue;
    const bool isSquare = producer->kind == Step::Kind::TensorTensor &&
                          producer->op0 == AluOp::Multiply && producer->x.isTile() &&
                          producer->y.isTile() && producer->x.tile == producer->y.tile;
    if (producer->kind != Step::Kind::Activation && !isSquare)
      continue;
    if (isSquare) {
      const uint32_t x = producer->x.tile;
      if (group.tiles[x].dims != source.dims)
        continue;
      producer->kind = Step::Kind::Activation;
      producer->fn = isa::ActFn::Square;
      producer->x = tileArgument(x);
      producer->y = numberArgument(1);
      producer->z = numberArgument(-0.0);
    }
    if (producer->x.isTile() && group.tiles[producer->x.tile].dims != source.dims)
      continue;
    producer->sum = reduce.dst;
    group.steps.erase(group.steps.begin() + long(r));
    --r;
  }
}

/// Results that only a store on chip reads are written where it wants them.
void writeInPlace(const tile::Graph &graph, Group &group) {
  for (size_t s = 0; s < group.steps.size(); ++s) {
    const Step store = group.steps[s];
    if (store.kind != Step::Kind::Store)
      continue;
    const tile::Buffer &buffer = graph.buffers[graph[store.node].view.buffer];
    Tile &tile = group.tiles[store.x.tile];
    uint32_t reads = 0, writes = 0;
    for (const Step &step : group.steps) {
      for (const Argument *a : {&step.x, &step.y, &step.z})
        reads += a->isTile() && a->tile == store.x.tile;
      writes += step.dst == store.x.tile && step.kind != Step::Kind::Load;
      reads += step.kind == Step::Kind::Predicated && step.dst == store.x.tile;
    }
    if (buffer.memory != isa::Memory::Sbuf || reads != 1 || writes != 1 ||
        tile.dtype != buffer.dtype || tile.place != kNone || tile.memory != isa::Memory::Sbuf)
      continue;
    tile.place = store.node;
    group.steps.erase(group.steps.begin() + long(s));
    --s;
  }
}

} // namespace

void selectSteps(const tile::Graph &graph, const Space &space, Group &group) {
  group.tiles.clear();
  Selector(graph, space, group).run();
  fuseSums(group);
  writeInPlace(graph, group);
}

} // namespace kiln::plan
