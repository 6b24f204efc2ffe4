//===- Plan.h - how whole tensors become tiles, as plain data ---------------------------------===//
//
// A plan is a graph without movement, cut into groups, and for each group the numbers that make it
// instructions: which dim lies on partitions, how large tiles are, which loop is outermost, what
// stays in SBUF, how many tiles are in flight. `verify` checks one without the code that made it,
// `describe` says it in words, and the emitter walks it. A hint is a constraint on these numbers.
//
//   Copy         one transfer; no engine touches the elements
//   Rows         maps and reductions along rows: every partition holds a row of the iteration space
//   Contraction  matmuls of one output shape, with what is done to their results
//
// Between groups values lie in HBM. compiler/docs/Planner.md explains the decisions.
//
//===------------------------------------------------------------------------------------------===//

#ifndef KILN_PLAN_PLAN_H
#define KILN_PLAN_PLAN_H

#include "kiln/Plan/Movement.h"

namespace kiln::plan {

using tile::kNone;
using tile::NodeId;

enum class Skeleton : uint8_t { Copy, Rows, Contraction };

/// Stands for the step along the partitions of a tile in a footprint.
inline constexpr int64_t kPartitionStep = INT64_MIN;

/// Up to so many bytes, a row that all partitions hold is read once for each; longer ones are read
/// once and repeated on chip.
inline constexpr int64_t kRepeatedRowBytes = 64;

/// A load or store as its group sees it: the step in the buffer along each dim of the iteration
/// space; 0 where it repeats.
struct Footprint {
  NodeId node = kNone;
  std::vector<int64_t> stride;
};

/// A tile of a group: what one iteration holds of a value. Elements (partition, free dims in
/// order).
struct Tile {
  NodeId node = kNone; ///< the value; kNone: a step in between
  isa::Memory memory = isa::Memory::Sbuf;
  isa::DType dtype = isa::DType::Float32;
  uint32_t dims = 0; ///< bit d: it has the tile's extent along dim d, elsewhere it repeats
  /// With a chunked reduction: it holds all chunks, loaded once for all passes.
  bool isWhole = false;
  unsigned level = 0; ///< how many loops it is inside of
  unsigned slot = 0;  ///< in the frame of its level: tiles of one slot never live together
  NodeId place =
      kNone; ///< the load or store on chip whose elements these are: no memory of its own
  uint32_t inPlaceOf = kNone; ///< the tile whose elements these replace, one by one
};

/// An argument of a step.
struct Argument {
  enum class Kind : uint8_t { None, Tile, Number };
  Kind kind = Kind::None;
  uint32_t tile = kNone;
  double number = 0;
  bool isTile() const { return kind == Kind::Tile; }
};
inline Argument tileArgument(uint32_t tile) { return {Argument::Kind::Tile, tile, 0}; }
inline Argument numberArgument(double number) { return {Argument::Kind::Number, kNone, number}; }

/// One instruction of an iteration (a load or store may take two).
struct Step {
  enum class Kind : uint8_t {
    Load,               ///< dst = what `node` loads
    Store,              ///< what `node` stores = x
    Fill,               ///< dst = the number x
    Iota,               ///< dst = index along dim `dim`
    Copy,               ///< dst = x
    Activation,         ///< dst = fn(x * y + z); with `sum`, its rows summed there
    TensorScalar,       ///< dst = op1(op0(x, y), z)
    TensorTensor,       ///< dst = op0(x, y)
    ScalarTensorTensor, ///< dst = op1(op0(x, y), z)
    Reciprocal,         ///< dst = 1 / x
    Predicated,         ///< dst = y ? x : dst
    Reduce,             ///< dst = op0 folded over `dims` of x
  };
  Kind kind = Kind::Copy;
  uint32_t dst = kNone, sum = kNone; ///< tiles
  Argument x, y, z;
  isa::ActFn fn{};
  isa::AluOp op0{}, op1{};
  bool reverse0 = false, reverse1 = false; ///< the second argument comes first
  uint32_t dims = 0;                       ///< Reduce: bits of the dims that go
  unsigned dim = 0;                        ///< Iota
  bool isNegated = false;                  ///< Reduce: dst is the negative
  bool isPartial = false; ///< Reduce, Activation's sum: of a chunk, to be folded into what is there
  uint32_t part = kNone;  ///< tile of the chunk's result, when isPartial
  NodeId node = kNone;    ///< Load, Store: the node; others: whose line it is
  unsigned level = 0;     ///< how many loops it is inside of
  unsigned stage = 0;     ///< with chunked reductions: how many passes come before
};

/// One operand of the matmuls of a contraction, as the loops see it: [contraction dim, side].
struct Side {
  NodeId load = kNone;
  isa::DType dtype = isa::DType::Float32;        ///< in SBUF: the transfer may cast
  int64_t contractionStride = 0, sideStride = 0; ///< in elements of the buffer
  std::vector<int64_t> batchStride;              ///< by batch dim
  /// The group that computes this operand, row by row of the side, instead of a load; kNone: none.
  uint32_t producer = kNone;
};

/// A matmul of a contraction: result tile, and which stationary and moving operand.
struct Product {
  uint32_t tile = kNone;
  uint32_t stationary = 0, moving = 0;
  int64_t contraction = 1;
};

/// The loops of a contraction. For each batch, blocks of the outer side, whose operands stay, and
/// blocks of the inner side, whose operands stream; inside, tiles of the array's size. Operands
/// come in pieces of `pieceChunks` array heights along the contraction dim.
struct ContractionPlan {
  bool stationaryIsN = false;    ///< the result's partitions are N, not M
  bool outerIsStationary = true; ///< the outer blocks are of the stationary side
  bool isSpannedOutside = false; ///< pieces are the outermost loop of a block: neither side stays
  bool isMovingFirst = false;    ///< inside a block tiles of the moving side are the outer loop
  int64_t stationaryBlock = 0, movingBlock = 0; ///< elements of a block
  int64_t pieceChunks = 1;
  int64_t outerSlots = 0, innerSlots = 0; ///< pieces that fit, of each outer and inner operand
  std::vector<Side> stationary, moving;   ///< different ones only
  std::vector<Product> products;
};

/// What a load or store of a group moves from or to HBM, over all iterations.
struct Transfer {
  NodeId node = kNone;
  int64_t bytes = 0; ///< elements met again count again
};

struct Group {
  Skeleton skeleton = Skeleton::Rows;
  std::vector<NodeId> nodes; ///< in order; a node belongs to one group
  uint32_t position = 0;     ///< instructions of the program in front of it
  uint32_t location = kNone; ///< of what it is named after

  tile::Shape extents; ///< iteration space, outermost first, adjacent dims merged where possible
  std::vector<Footprint> footprints; ///< of loads and stores

  unsigned partition = kNone;  ///< dim on partitions; kNone: one partition holds everything
  tile::Shape tile;            ///< elements of a tile along each dim
  std::vector<unsigned> loops; ///< dims with more than one tile, outermost first
  /// The partition dim and the one behind it are one dim of `ragged` elements, cut into rows; the
  /// last row may be shorter. 0: they are dims of their own.
  int64_t ragged = 0;
  bool isChunked = false; ///< the innermost loop cuts what is reduced: a pass for each reduction
  ContractionPlan contraction;

  std::vector<Tile> tiles;
  std::vector<Step> steps;
  unsigned stages = 1;                         ///< passes of the innermost loop
  std::vector<std::vector<int64_t>> slotBytes; ///< by level: bytes of a partition of each slot
  std::vector<int64_t> copies;                 ///< by level: frames in turn

  /// A contraction computes this group where it needs its result, which never is in memory.
  bool isInlined = false;

  // What the plan claims.
  int64_t sbufBytes = 0; ///< of a partition
  int64_t psumBanks = 0;
  int64_t readBytes = 0, writtenBytes = 0; ///< of HBM
  std::vector<Transfer> transfers;         ///< what they are, by node
};

/// A value that goes through HBM from its group to others.
struct Crossing {
  NodeId store = kNone; ///< what writes it
  std::string why;      ///< it does not stay in SBUF
};

struct Plan {
  tile::Graph graph;         ///< every sum has its order
  std::vector<Group> groups; ///< in order of execution
  std::vector<Crossing> crossings;
  uint32_t ownBuffers = 0; ///< from this buffer on they are the plan's, not the program's
  int64_t sbufLimit = 0;   ///< of a partition, that groups may use
  int64_t sbufBytes = 0;   ///< of a partition, at most
  int64_t readBytes = 0, writtenBytes = 0;
};

struct PlanOptions {
  int64_t sbufBytes = 0; ///< of a partition, for values; 0: all a kernel may use
  int64_t psumBanks = isa::machine.psumBanks; ///< for values; at least 1
};

/// Why there is no plan. Locations are the graph's.
struct PlanProblem {
  std::string rule; ///< T-06: a hint; T-07: a size
  std::string message, help;
  uint32_t location = kNone;
  std::vector<std::pair<std::string, uint32_t>> notes;
};

struct PlanResult {
  std::optional<Plan> plan;
  std::optional<PlanProblem> problem; ///< when there is none
};

/// Plans `graph`, which is verified and decomposed.
PlanResult makePlan(const tile::Graph &graph, const std::vector<Write> &writes,
                    const PlanOptions &options = {});

/// What is wrong with a plan, by a check that shares nothing with its making; empty when nothing.
/// Linear in the plan, whatever the number of instructions.
std::vector<std::string> verify(const Plan &plan);

/// Sets what groups and the plan read from and write to HBM.
void countTraffic(Plan &plan);

/// Bytes that a load or store moves at least: each different element once.
int64_t compulsoryBytes(const tile::Graph &graph, NodeId node);

/// A location as the author knows it, "line 12"; empty when unknown.
using PlaceText = std::function<std::string(uint32_t location)>;

/// A group in words: what it computes, layout, tiles, loops, residency, bytes. A line each; all but
/// the first are details of it and indented.
std::vector<std::string> describe(const Plan &plan, const Group &group,
                                  const PlaceText &place = {});
/// The plan's totals in one line.
std::string describeTotals(const Plan &plan);
/// What one step does: "activation exp, row sum".
std::string describeStep(const Plan &plan, const Step &step);

} // namespace kiln::plan

#endif // KILN_PLAN_PLAN_H
