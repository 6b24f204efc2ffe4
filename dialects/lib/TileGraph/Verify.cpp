//===- Verify.cpp - the rules of one node -----------------------------------------------------===//

#include "GraphSupport.h"

using namespace kiln;
using namespace kiln::tile;
using isa::DType;

namespace {

/// Everything the rules of a node look at, once its shape is known to be right.
struct Checker {
  const Graph &graph;
  const Node &node;
  const Complain &complain;

  DType dtype(size_t operand) const { return graph[node.operands[operand]].dtype; }

  bool fail(std::string_view rule, std::string message, std::string help) const {
    complain(rule, std::move(message), std::move(help));
    return false;
  }

  bool keepsDType() const {
    for (size_t i = 0; i < node.operands.size(); ++i)
      if (dtype(i) != node.dtype)
        return fail(
            "D-03",
            text("'", name(node.op), "' moves elements without changing them: its ",
                 node.operands.size() == 1 ? std::string("operand") : text(ordinal(i), " operand"),
                 " is ", isa::name(dtype(i)), ", its result ", isa::name(node.dtype)),
            "cast in a separate operation");
    return true;
  }

  bool hasDType(DType wanted, std::string_view why) const {
    if (node.dtype == wanted)
      return true;
    return fail(
        "D-03",
        text("'", name(node.op), "' is ", isa::name(node.dtype), ", ", why, " ", isa::name(wanted)),
        "cast in a separate operation");
  }

  /// Bit operators work on integers of one width.
  bool bits() const {
    const std::string_view places[] = {"left operand", "right operand", "result"};
    const DType types[] = {dtype(0), dtype(1), node.dtype};
    for (unsigned i = 0; i < 3; ++i)
      if (isa::isFloat(types[i]))
        return fail("D-08",
                    text("'", isa::name(node.alu), "' needs integers, its ", places[i], " is ",
                         isa::name(types[i])),
                    i < 2 ? "cast the operand to an integer dtype first"
                          : "give the result an integer dtype (.dtype)");
    for (unsigned i = 1; i < 3; ++i)
      if (isa::bytesOf(types[i]) != isa::bytesOf(types[0]))
        return fail("D-08",
                    text("'", isa::name(node.alu), "' needs integers of one width, its ", places[0],
                         " is ", isa::name(types[0]), ", its ", places[i], " ",
                         isa::name(types[i])),
                    text("cast to ", isa::name(types[0]), " first"));
    return true;
  }

  bool binary() const {
    const isa::AluOpInfo &op = isa::info(node.alu);
    if (op.isUnary)
      return fail("D-17",
                  text("'", op.name, "' takes one operand, 'binary' takes an operator of two"),
                  "use a function of one operand");
    return !op.isBitvec || bits();
  }

  bool matmul() const {
    for (size_t i = 0; i < 2; ++i)
      if (!isa::isFloat(dtype(i)))
        return fail("D-06",
                    text("the Tensor Engine has no integer path: the ", ordinal(i),
                         " operand of 'matmul' is ", isa::name(dtype(i))),
                    "cast to bfloat16 (exact up to 2^8) or float32 (exact up to 2^24)");
    constexpr auto isWide = [](isa::DType t) { return isa::bytesOf(t) == sizeof(float); };
    if (isWide(dtype(0)) != isWide(dtype(1)))
      return fail("D-01",
                  text("'matmul' cannot mix 32-bit and narrower operands (", isa::name(dtype(0)),
                       " with ", isa::name(dtype(1)), ")"),
                  "cast one of them");
    if (!isa::isFloat(node.dtype))
      return fail("D-06", text("'matmul' gives floats, its result is ", isa::name(node.dtype)),
                  "cast the result in a separate operation");
    if (node.order.kind == Order::Kind::LeftToRight)
      return fail("", "'matmul' adds up in chunks, its order is left_to_right", "");
    return order();
  }

  bool reduce() const {
    switch (node.alu) {
    case isa::AluOp::Add:
    case isa::AluOp::Multiply:
    case isa::AluOp::Maximum:
    case isa::AluOp::Minimum:
      return order();
    default:
      return fail("D-17",
                  text("'", isa::name(node.alu), "' cannot be a reduction operator of a value"),
                  "allowed: add, multiply, maximum, minimum");
    }
  }

  bool order() const {
    if (node.order.kind == Order::Kind::Chunks && node.order.chunk < 1)
      return fail("",
                  text("'", name(node.op), "' adds up in chunks of ", node.order.chunk,
                       " elements, a chunk has 1 or more"),
                  "");
    return true;
  }

  /// Values are computed, and no engine computes with e4m3fn. `what` has the dtype.
  bool computes(DType dtype, const std::string &what) const {
    if (dtype != DType::Float8E4M3FN)
      return true;
    return fail("D-05",
                text(what, " is ", isa::name(dtype), ", which no engine of trn2 computes with"),
                text("convert the data to ", isa::name(DType::Float8E4M3),
                     " on the host, or copy a tile of it, viewed as that, to one of that dtype"));
  }

  bool border() const {
    if (!verifyView(graph, node, complain))
      return false;
    const Buffer &buffer = graph.buffers[node.view.buffer];
    if (!computes(buffer.dtype, text("'", buffer.name, "'")))
      return false;
    if (node.op == Op::Load)
      return hasDType(buffer.dtype, text("'", buffer.name, "' is"));
    if (buffer.role == Buffer::Role::Input)
      return fail("K-02", text("'", buffer.name, "' is a kernel input and read-only"),
                  "write to a tensor of your own");
    if (node.op == Op::Materialize && node.shape != buffer.shape)
      return fail("T-01",
                  text("a value of ", tupleText(node.shape), " cannot fill '", buffer.name, "', ",
                       tupleText(buffer.shape)),
                  "the shapes must be equal");
    return true;
  }

  bool run() const {
    if (node.op == Op::Load || node.isEffect())
      return border();
    if (!computes(node.dtype, text("'", calledAs(node), "'")))
      return false;
    switch (node.op) {
    case Op::Iota:
      return hasDType(DType::Int32, "indices are");
    case Op::Binary:
      return binary();
    case Op::Matmul:
      return matmul();
    case Op::Reduce:
      return reduce();
    case Op::Transpose:
    case Op::Reshape:
    case Op::Slice:
    case Op::Concat:
    case Op::Pad:
    case Op::Broadcast:
      return keepsDType();
    default:
      return true;
    }
  }
};

} // namespace

bool tile::verify(const Graph &graph, NodeId id, const Complain &complain) {
  if (id >= graph.nodes.size()) {
    complain("", text("there is no node ", id, ", the graph has ", graph.nodes.size()), "");
    return false;
  }
  const Node &node = graph[id];
  for (size_t i = 0; i < node.operands.size(); ++i)
    if (node.operands[i] >= id) {
      complain("",
               text("the ", ordinal(i), " operand of '", calledAs(node), "' is node ",
                    node.operands[i], ", and its own number is ", id),
               "operands are values that come earlier");
      return false;
    }
  const std::optional<Shape> inferred = inferShape(graph, node, complain);
  if (!inferred)
    return false;
  if (*inferred != node.shape) {
    complain("T-01",
             text("'", calledAs(node), "' is ", tupleText(node.shape),
                  ", by its operands it has to be ", tupleText(*inferred)),
             text("give it the shape ", tupleText(*inferred)));
    return false;
  }
  return Checker{graph, node, complain}.run();
}
