//===- CheckGraph.h - graphs through the compiler and the executor ----------------------------===//

#ifndef KILN_TEST_TILE_CHECKGRAPH_H
#define KILN_TEST_TILE_CHECKGRAPH_H

#include "kiln/Tile/Interpreter.h"

namespace kiln::tile::test {

/// What became of a graph on its way.
struct Verdict {
  enum class Kind : uint8_t { Right, Refused, Wrong } kind = Kind::Right;
  std::string rule; ///< Refused: why
  std::string text; ///< Refused: the message; Wrong: the step and what it did
  uint64_t instructions = 0;
  /// Right: the planned graph was compared with the author's in its orders, not only with the run.
  /// Not so where the plan adds up in stages that no order of one sum says.
  bool isComparedWithSource = false;
};

/// Compiles a kernel of these values, proves that its streams give one result in every order, runs
/// them on `data` (the Input buffers of the graph; others empty) and compares every output with the
/// interpreter, bit for bit. Every step is compared: simplified, planned, run. Refused needs a
/// rule.
Verdict checkGraph(const Graph &graph, std::span<const Value> data,
                   std::vector<Value> *results = nullptr);

/// The kernel as text in the tile dialect.
std::string printAsKernel(const Graph &graph);

} // namespace kiln::tile::test

#endif // KILN_TEST_TILE_CHECKGRAPH_H
