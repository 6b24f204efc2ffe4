//===- OpImpl.h - what the generated tile ops call --------------------------------------------===//
//
// Private. Verifier and text shared by all ops.
//
//===------------------------------------------------------------------------------------------===//

#ifndef KILN_LIB_TILE_IR_OPIMPL_H
#define KILN_LIB_TILE_IR_OPIMPL_H

#include "kiln/Dialect/Tile/IR/TileNode.h"

namespace kiln::tile::opimpl {

/// Hands the op, as a node of a graph of its own, to tile::verify.
llvm::LogicalResult verifyNode(NodeOpInterface op);

/// Text of attributes, shared by the attributes themselves and the ops that have them.
void printView(llvm::raw_ostream &os, ViewAttr view);
mlir::ParseResult parseView(mlir::AsmParser &parser, ViewAttr &view);
void printOrder(llvm::raw_ostream &os, Order order);
mlir::ParseResult parseOrder(mlir::AsmParser &parser, Order &order);

} // namespace kiln::tile::opimpl

#endif // KILN_LIB_TILE_IR_OPIMPL_H
