//===- Operations.h - one function for each operation of a graph ------------------------------===//
//
// Each makes the value of a node from those of its operands. Precondition everywhere: the node is
// right by `verify`, operands have the shapes and dtypes of their nodes, and `out` has the node's
// and enough bytes.
//
//===------------------------------------------------------------------------------------------===//

#ifndef KILN_LIB_TILE_OPERATIONS_H
#define KILN_LIB_TILE_OPERATIONS_H

#include "kiln/Tile/Interpreter.h"
#include "kiln/Tile/Numbers.h"

namespace kiln::tile {

using Operands = std::vector<const Value *>;

void evaluateSplat(const Node &node, Value &out);
void evaluateIota(const Node &node, Value &out);
void evaluateUnary(const Node &node, const Operands &operands, Value &out);
void evaluateBinary(const Node &node, const Operands &operands, Value &out);
void evaluateSelect(const Node &node, const Operands &operands, Value &out);
void evaluateCast(const Node &node, const Operands &operands, Value &out);

void evaluateMatmul(const Node &node, const Operands &operands, Value &out);
void evaluateReduce(const Node &node, const Operands &operands, Value &out);

void evaluateTranspose(const Node &node, const Operands &operands, Value &out);
void evaluateReshape(const Node &node, const Operands &operands, Value &out);
void evaluateSlice(const Node &node, const Operands &operands, Value &out);
void evaluateConcat(const Node &node, const Operands &operands, Value &out);
void evaluatePad(const Node &node, const Operands &operands, Value &out);
void evaluateBroadcast(const Node &node, const Operands &operands, Value &out);

/// Elements of `from` in another dtype and row-major order; equal dtypes keep bits, others go
/// through fp32. `from` and `to` are not the same memory.
void convertElements(isa::DType fromType, const std::byte *from, isa::DType toType, std::byte *to,
                     int64_t count);

/// Fills `out` with one number.
void fill(Value &out, double number);

} // namespace kiln::tile

#endif // KILN_LIB_TILE_OPERATIONS_H
