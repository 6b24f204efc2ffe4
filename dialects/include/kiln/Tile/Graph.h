//===- Graph.h - whole tensors and the operations on them, as plain data ----------------------===//
//
// What the tile dialect says in IR, without MLIR: a list of nodes in program order, each a value of
// static shape or an effect at the border to memory. The tracer records it, the reference
// interpreter evaluates it, the planner cuts it into groups. dialects/docs/TileRationale.md
// explains the operations; `inferShape` and `verify` hold their rules.
//
// Values have no memory. Arithmetic is fp32 inside; a node rounds once, to its own dtype, when it
// yields (matmul and reductions too). Elementwise nodes broadcast as NumPy does. Only sums depend
// on an order of operations: `Order` says which, or that none is chosen yet.
//
//===------------------------------------------------------------------------------------------===//

#ifndef KILN_TILE_GRAPH_H
#define KILN_TILE_GRAPH_H

#include "kiln/ISA/Diagnostic.h"
#include "kiln/ISA/Instruction.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace kiln::tile {

inline constexpr uint32_t kNone = UINT32_MAX;
inline constexpr unsigned kMaxRank = isa::machine.maxRank;

using NodeId = uint32_t;
using Shape = std::vector<int64_t>;

enum class Op : uint8_t {
  // The border to memory.
  Load,        ///< value: the elements of `view` at this point of the program
  Store,       ///< effect: writes operand 0 to `view`, rounded to the buffer's dtype
  Materialize, ///< effect: operand 0 fills the whole buffer of `view`, for instructions to read
  // Sources.
  Splat, ///< value: every element is `number`
  Iota,  ///< value: int32, the index along `axis`
  // Elementwise, with broadcasting.
  Unary,  ///< fn(x)
  Binary, ///< alu(x, y); comparisons and logic give 1 or 0
  Select, ///< x != 0 ? y : z
  Cast,   ///< x in another dtype
  // Sums.
  Matmul, ///< x . y over the last dims, each perhaps transposed; leading dims broadcast
  Reduce, ///< alu folded over `axes`, which stay as extent 1 (keepDims) or go
  // Movement of elements, bits unchanged.
  Transpose, ///< dim i of the result is dim axes[i] of x
  Reshape,   ///< x in row-major order with another shape
  Slice,     ///< starts[i] + j * steps[i] of dim i
  Concat,    ///< operands side by side along `axis`
  Pad,       ///< `number` around x: starts[i] elements in front, ends[i] behind
  Broadcast, ///< x repeated to the node's shape by NumPy's rules
  // Composites: each is its decomposition (kiln/Tile/Decompose.h), kept whole for readers and
  // hints.
  Softmax,   ///< over `axis`
  RmsNorm,   ///< x / rms(x) over the last dim (, times operand 1)
  LayerNorm, ///< (x - mean) / deviation over the last dim (, times operand 1 (, plus operand 2))
};

/// A tensor of the program that values are read from or written to.
struct Buffer {
  enum class Role : uint8_t { Internal, Input, Output };
  std::string name; ///< unique in a graph
  isa::Memory memory = isa::Memory::Hbm;
  isa::DType dtype = isa::DType::Float32;
  Role role = Role::Internal;
  uint32_t index = 0; ///< Input: parameter number; Output: result number
  Shape shape;        ///< on chip: dim 0 counts partitions
  uint32_t location = kNone;
};

/// Elements of a buffer as a value has them: element (i0, i1, ...) lies at offset + sum of
/// stride[k] * i_k. In HBM all in elements of the buffer; on chip dim 0 of the value steps over
/// partitions (stride 1, or 0 for extent 1) from `partition` on, and the rest counts inside one.
struct View {
  uint32_t buffer = kNone;
  uint32_t partition = 0;
  int64_t offset = 0;
  std::vector<int64_t> stride;
};

/// In which order a sum is added up. Elements come in row-major order of the reduced dims; for a
/// matmul they are the products along the contraction dim.
struct Order {
  enum class Kind : uint8_t {
    Any,         ///< not chosen: results are right to a tolerance
    LeftToRight, ///< one fold; for Reduce only
    Chunks,      ///< `chunk` elements at a time, and the results of chunks folded left to right
  };
  Kind kind = Kind::Any;
  int64_t chunk = 0;
  /// Reduce: the fold starts from the identity, not from the first element (they differ for sums
  /// of -0 only).
  bool fromIdentity = false;
  bool operator==(const Order &) const = default;
};

/// What the author asks of the planner for one value; it keeps to it or says why not.
struct Hint {
  std::optional<int64_t> partitionDim; ///< which dim lies on partitions
  std::vector<int64_t> tile;           ///< extent of a tile along each dim; 0: the planner's
  std::optional<int64_t> buffers;      ///< tiles in flight
  std::optional<isa::Memory> in;       ///< Hbm: the value is written out, not fused
  uint32_t location = kNone;
  bool any() const { return partitionDim || !tile.empty() || buffers || in; }
};

/// One operation. Fields an operation does not name stay at their defaults.
struct Node {
  Op op = Op::Splat;
  std::vector<NodeId> operands; ///< all smaller than the own number
  Shape shape;                  ///< of the value; of what is written, for effects
  isa::DType dtype = isa::DType::Float32;
  isa::ActFn fn{};           ///< Unary
  isa::AluOp alu{};          ///< Binary; Reduce: add, multiply, maximum or minimum
  std::vector<int64_t> axes; ///< Reduce: ascending; Transpose: the permutation
  int64_t axis = 0;          ///< Iota, Concat, Softmax
  bool keepDims = false;     ///< Reduce
  bool transposeX = false, transposeY = false; ///< Matmul: operand comes as [K, M], as [N, K]
  std::vector<int64_t> starts, ends, steps;    ///< Slice: starts and steps; Pad: starts and ends
  double number = 0; ///< Splat, Pad: the value; RmsNorm, LayerNorm: epsilon
  View view;         ///< Load, Store, Materialize
  Order order;       ///< Matmul, Reduce
  Hint hint;
  uint32_t location = kNone; ///< index into the owner's locations
  uint32_t position = 0;     ///< instructions of the program in front of it (border nodes)

  bool isEffect() const { return op == Op::Store || op == Op::Materialize; }
  int64_t elements() const {
    int64_t n = 1;
    for (int64_t extent : shape)
      n *= extent;
    return n;
  }
};

struct Graph {
  std::vector<Buffer> buffers;
  std::vector<Node> nodes;

  const Node &operator[](NodeId id) const { return nodes[id]; }
  Node &operator[](NodeId id) { return nodes[id]; }
  /// Appends a node and returns its number.
  NodeId add(Node node) {
    nodes.push_back(std::move(node));
    return static_cast<NodeId>(nodes.size() - 1);
  }
};

/// Elements of a value of this shape; nothing for a negative extent and for more than 64-bit byte
/// counts can say.
std::optional<int64_t> countElements(const Shape &shape);

/// Called for each broken rule: rule id (empty for what no author can write: a graph whose parts do
/// not fit each other), message, help.
using Complain = std::function<void(std::string_view rule, std::string message, std::string help)>;

/// Shape of NumPy's broadcast of `shapes`; nothing when they do not go together.
std::optional<Shape> broadcastShapes(const std::vector<Shape> &shapes);

/// Shape that `node` has by its operands' shapes and its attributes; nothing after a complaint.
/// Border nodes, Splat, Iota and Broadcast choose their own shape, which is only checked.
std::optional<Shape> inferShape(const Graph &graph, const Node &node, const Complain &complain);

/// Checks node `id` by itself: operands, shape, dtype, attributes, the range of its view.
bool verify(const Graph &graph, NodeId id, const Complain &complain);

/// The name of an operation as the dialect spells it: "matmul".
std::string_view name(Op op);

/// One line of text: "%4 = binary add %1, %3 : 128x512 float32". For messages and tests.
std::string print(const Graph &graph, NodeId id);
/// All buffers and nodes, a line each; what `parse` reads (kiln/Tile/Parse.h). Locations are left
/// out.
std::string print(const Graph &graph);

} // namespace kiln::tile

#endif // KILN_TILE_GRAPH_H
