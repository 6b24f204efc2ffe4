//===- TileGraph.h - the values of a kernel as a graph
//-----------------------------------------===//
//
// The way from IR to plain data, for whoever plans or evaluates the values of a kernel. The way
// back is tile::buildNode.
//
//===------------------------------------------------------------------------------------------===//

#ifndef KILN_CONVERSION_TILEGRAPH_H
#define KILN_CONVERSION_TILEGRAPH_H

#include "kiln/Dialect/Tile/IR/Tile.h"

namespace kiln {

/// The graph of a kernel, and what its numbers stand for in the kernel.
struct KernelGraph {
  /// A node for each tile op, in program order. Positions count the nisa instructions in front,
  /// bodies of loops once.
  tile::Graph graph;
  std::vector<mlir::Operation *> ops;    ///< of the nodes
  std::vector<nisa::AllocOp> allocs;     ///< of the buffers: all outside loops, in program order
  std::vector<mlir::Location> locations; ///< what locations of nodes, buffers and hints index, each
                                         ///< once; unknown ones are kNone
};

/// The graph of `kernel`. Precondition: the kernel verifies.
KernelGraph graphOf(nisa::KernelOp kernel);

} // namespace kiln

#endif // KILN_CONVERSION_TILEGRAPH_H
