//===- ShrinkGraph.h - the smallest graph that still fails ------------------------------------===//

#ifndef KILN_TEST_TILE_SHRINKGRAPH_H
#define KILN_TEST_TILE_SHRINKGRAPH_H

#include "kiln/Tile/Graph.h"

#include <functional>

namespace kiln::tile::test {

/// Without values that no store depends on and buffers that no node names; arguments and results
/// are numbered anew.
Graph withoutDead(const Graph &graph);

/// A graph for which `fails` is true and that no simplification known here makes smaller: stores
/// and operations are dropped, values become inputs or numbers, extents shrink, attributes and
/// dtypes become plain. `fails(graph)` has to be true; it is called at most `maxTries` times, with
/// graphs that are right by `verify`.
Graph shrink(Graph graph, const std::function<bool(const Graph &)> &fails,
             unsigned maxTries = 3000);

} // namespace kiln::tile::test

#endif // KILN_TEST_TILE_SHRINKGRAPH_H
