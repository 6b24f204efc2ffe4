//===- GraphText.h - graphs of tests, written as text -----------------------------------------===//

#ifndef KILN_TEST_UNIT_TILE_GRAPHTEXT_H
#define KILN_TEST_UNIT_TILE_GRAPHTEXT_H

#include "kiln/Tile/Graph.h"
#include "kiln/Tile/Parse.h"

#include <gtest/gtest.h>

namespace kiln::tile::test {

/// The graph `text` says.
inline Graph graphOf(std::string_view text) {
  std::string error;
  std::optional<Graph> graph = parse(text, error);
  EXPECT_TRUE(graph) << error << "\n" << text;
  return graph ? *graph : Graph();
}

/// All complaints about the nodes of a graph, a line each: "T-01: message; help".
inline std::string complaintsOf(const Graph &graph) {
  std::string out;
  const Complain complain = [&](std::string_view rule, std::string message, std::string help) {
    out += std::string(rule) + ": " + message + (help.empty() ? "" : "; " + help) + "\n";
  };
  for (NodeId id = 0; id < graph.nodes.size(); ++id) {
    const std::string before = out;
    const bool isRight = verify(graph, id, complain);
    EXPECT_EQ(isRight, out == before) << "a failure has a complaint: " << print(graph, id);
  }
  return out;
}
inline std::string complaintsOf(std::string_view text) { return complaintsOf(graphOf(text)); }

} // namespace kiln::tile::test

#endif // KILN_TEST_UNIT_TILE_GRAPHTEXT_H
