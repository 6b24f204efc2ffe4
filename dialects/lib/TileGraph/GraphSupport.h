//===- GraphSupport.h - what shape inference, verifier and text share -------------------------===//

#ifndef KILN_LIB_TILEGRAPH_GRAPHSUPPORT_H
#define KILN_LIB_TILEGRAPH_GRAPHSUPPORT_H

#include "kiln/ISA/Text.h"
#include "kiln/Tile/Graph.h"

namespace kiln::tile {

/// What the author knows the node as: "add", "exp", "reduce".
std::string_view calledAs(const Node &node);

/// Complains unless `shape` is that of a value: 1 to kMaxRank dims, each at least 1, as many
/// elements as 64-bit byte counts can say.
bool checkShape(std::string_view what, const Shape &shape, const Complain &complain);

/// Complains unless `axis` is a dim of a shape of rank `rank`.
bool checkAxis(const Node &node, int64_t axis, size_t rank, const Complain &complain);

/// Slice, Pad, Concat, Transpose, Reshape, Broadcast. `operands` are the shapes of the node's
/// operands, as many as the operation takes, each a valid one.
std::optional<Shape> inferMovement(const Node &node, const std::vector<const Shape *> &operands,
                                   const Complain &complain);

/// The view of a border node: the buffer exists, all elements lie in it, a write names each once.
bool verifyView(const Graph &graph, const Node &node, const Complain &complain);

/// "1st", "2nd", "3rd", "4th" for 0, 1, 2, 3.
std::string ordinal(size_t index);

} // namespace kiln::tile

#endif // KILN_LIB_TILEGRAPH_GRAPHSUPPORT_H
