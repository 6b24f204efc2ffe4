//===- TileNode.h - tile ops as nodes of a graph, and back ------------------------------------===//
//
// Generic code reads and writes tile ops through tile::Node, so it never names one of them. Only
// the numbers of nodes, buffers and locations are the caller's.
//
//===------------------------------------------------------------------------------------------===//

#ifndef KILN_DIALECT_TILE_IR_TILENODE_H
#define KILN_DIALECT_TILE_IR_TILENODE_H

#include "kiln/Dialect/Tile/IR/Tile.h"

namespace kiln::tile {

/// MLIR's type of `dtype`, spelled as the table's short name.
mlir::Type elementTypeOf(mlir::MLIRContext *context, isa::DType dtype);
/// The table's dtype of an element type; nothing when it has none.
std::optional<isa::DType> dtypeOf(mlir::Type elementType);
/// The type of a value.
mlir::RankedTensorType valueType(mlir::MLIRContext *context, llvm::ArrayRef<int64_t> shape,
                                 isa::DType dtype);
/// The dtype of a value. Precondition: isValueType of its type.
isa::DType dtypeOf(mlir::Value value);

/// The view that is the whole of a buffer, in its shape.
View wholeView(nisa::BufType type);
/// The buffer of a load, store or materialize; null for other ops.
mlir::Value bufferOf(NodeOpInterface op);

/// `op` as a node: its attributes, and shape and dtype of its result, for effects shape of the
/// operand and dtype of the buffer. `nodeOf` numbers the values it uses; the number of its buffer,
/// locations and position are left alone.
Node toNode(NodeOpInterface op, llvm::function_ref<NodeId(mlir::Value)> nodeOf);

/// Inserts the op of `node` at the builder's place. `operands` are its values, `buffer` is the
/// buffer of a border node and null for others, `hintPlace` may be null.
mlir::Operation *buildNode(mlir::OpBuilder &builder, mlir::Location loc, const Node &node,
                           mlir::ValueRange operands, mlir::Value buffer,
                           mlir::LocationAttr hintPlace = {});

/// Whether there is anything to plan: a tile op in `kernel`. One look at each of its top-level ops.
bool hasValues(nisa::KernelOp kernel);

/// The buffer `alloc` as graphs have it, without its location.
Buffer toBuffer(nisa::AllocOp alloc);

} // namespace kiln::tile

#endif // KILN_DIALECT_TILE_IR_TILENODE_H
