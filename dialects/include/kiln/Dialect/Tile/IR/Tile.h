//===- Tile.h - the tile dialect --------------------------------------------------------------===//
//
// The single include for users of the dialect: attributes, interface, ops. Conversion between ops
// and tile::Node is in TileNode.h.
//
//===------------------------------------------------------------------------------------------===//

#ifndef KILN_DIALECT_TILE_IR_TILE_H
#define KILN_DIALECT_TILE_IR_TILE_H

#include "kiln/Dialect/Nisa/IR/Nisa.h"
#include "kiln/Tile/Graph.h"

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/PatternMatch.h"

namespace kiln::tile {

/// Found by argument-dependent lookup when an order attribute is uniqued.
llvm::hash_code hash_value(const Order &order);

/// A tensor of static shape whose elements the table knows.
bool isValueType(mlir::Type type);

} // namespace kiln::tile

#include "kiln/Dialect/Tile/IR/TileDialect.h.inc"

#define GET_ATTRDEF_CLASSES
#include "kiln/Dialect/Tile/IR/TileAttrs.h.inc"

#include "kiln/Dialect/Tile/IR/TileInterfaces.h.inc"

#define GET_OP_CLASSES
#include "kiln/Dialect/Tile/IR/TileOps.h.inc"

#endif // KILN_DIALECT_TILE_IR_TILE_H
