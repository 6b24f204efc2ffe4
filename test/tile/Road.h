//===- Road.h - a graph compiled, run and interpreted, for tests ------------------------------===//

#ifndef KILN_TEST_TILE_ROAD_H
#define KILN_TEST_TILE_ROAD_H

#include "kiln/Plan/Plan.h"
#include "kiln/Tile/Interpreter.h"
#include "kilnrt/Executor.h"
#include "kilnrt/Proof.h"

namespace kiln::test {

/// A graph on its way to a program.
struct Compiled {
  std::optional<plan::Plan> plan; ///< of the graph, with the orders its sums have in the program
  std::optional<kilnrt::Program> program;
  std::vector<Diagnostic> diagnostics;
};

/// Compiles `graph`, a kernel without instructions of its own: plan, streams, program.
Compiled compileGraph(const tile::Graph &graph);

/// Interprets the planned graph. `inputs` are the elements of Input buffers, by parameter number;
/// the result holds Output buffers, by result number.
std::variant<std::vector<tile::Value>, Diagnostic>
interpret(const tile::Graph &graph, const std::vector<tile::Value> &inputs);

/// Runs the program on the same inputs.
std::variant<std::vector<tile::Value>, Diagnostic> execute(const kilnrt::Program &program,
                                                           const std::vector<tile::Value> &inputs);

} // namespace kiln::test

#endif // KILN_TEST_TILE_ROAD_H
