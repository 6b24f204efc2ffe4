//===- TileInterfaces.td - what all tile ops answer ----------------------------------------*- tablegen -*-===//

#ifndef KILN_DIALECT_TILE_IR_TILEINTERFACES_TD
#define KILN_DIALECT_TILE_IR_TILEINTERFACES_TD

include "mlir/IR/Interfaces.td"

def Tile_NodeOpInterface : OpInterface<"NodeOpInterface"> {
  let cppNamespace = "::kiln::tile";
  let description = [{
    An op that is one node of a `tile::Graph`. Generic code sees tile ops through this interface only;
    TileNode.h builds the conversion on top of it.
  }];
  let methods = [
    StaticInterfaceMethod<"The node's operation.", "::kiln::tile::Op", "getKind">,
    InterfaceMethod<[{
      Writes what the op's attributes say to `node`. Operands, shape, element type, buffer and locations are
      left to the caller.
    }], "void", "writeNode", (ins "::kiln::tile::Node &":$node)>,
    InterfaceMethod<"The author's wish, or null.", "::kiln::tile::HintAttr", "getHintAttr">,
  ];
}

#endif // KILN_DIALECT_TILE_IR_TILEINTERFACES_TD
