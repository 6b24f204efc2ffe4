//===- TileBase.td - the tile dialect, its value type and attributes ------------------*- tablegen -*-===//
//
// What the ops of TileOps.td are made of. Decisions: dialects/docs/TileRationale.md.
//
//===--------------------------------------------------------------------------------------------===//

#ifndef KILN_DIALECT_TILE_IR_TILEBASE_TD
#define KILN_DIALECT_TILE_IR_TILEBASE_TD

include "kiln/Dialect/Nisa/IR/NisaBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/OpBase.td"

def Tile_Dialect : Dialect {
  let name = "tile";
  let cppNamespace = "::kiln::tile";
  let summary = "Whole tensors as values, and the operations on them";
  let description = [{
    The ops stand in a `nisa.kernel` between its instructions and say what is computed, not where: a value
    is a `tensor` of static shape that has no memory. `tile.load` makes one of the elements a buffer has at
    that point of the program, `tile.store` and `tile.materialize` write one to a buffer; everything between
    is pure. The planner turns them into instructions.

    Arithmetic is fp32 inside: an op converts its operands to fp32, computes, and rounds once to the element
    type of its result. Where all operands and the result are 32-bit integers the arithmetic is exact. A NaN
    that arithmetic makes is the canonical one of its type. Movement of elements keeps their bits, NaN
    payloads included, and so does a cast to the type a value has.

    The ops are `tile::Node`s of kiln/Tile/Graph.h in IR: the plain functions of that header hold their rules.
  }];
  let dependentDialects = ["::kiln::nisa::NisaDialect"];
  let useDefaultAttributePrinterParser = 1;
  let extraClassDeclaration = [{
    /// Ops are registered where their classes are defined.
    void registerOps();
  }];
}

//---- the type of values ----------------------------------------------------------------------------===//

def Tile_Value
    : Type<CPred<"::kiln::tile::isValueType($_self)">,
           "tensor of static shape with elements of the table's types", "::mlir::RankedTensorType">;

//---- attributes ------------------------------------------------------------------------------------===//

def Tile_ViewAttr : AttrDef<Tile_Dialect, "View"> {
  let mnemonic = "view";
  let summary = "The elements of a buffer a value stands for";
  let description = [{
    Element (i0, i1, ...) of the value lies at `at` + the sum of `stride` k times i_k. In HBM all of it counts
    elements of the buffer. On chip dim 0 of the value steps over partitions, from `partition` on (stride 1,
    or 0 for extent 1), and the rest counts elements inside one partition. Strides may be 0 or negative; those of a write
    name each element once.

    Without a view an op takes the whole buffer, in the buffer's shape.

    Examples: `#tile.view<at 64, stride 512 1>`, `#tile.view<partition 32, at 0, stride 1 2>`
  }];
  let parameters = (ins
    AttrOrTypeParameter<"uint32_t", "first partition; 0 in HBM">:$partition,
    AttrOrTypeParameter<"int64_t", "elements in front of the first one">:$offset,
    ArrayRefParameter<"int64_t", "elements from one index of a dim to the next">:$strides
  );
  let hasCustomAssemblyFormat = 1;
}

def Tile_OrderAttr : AttrDef<Tile_Dialect, "Order"> {
  let mnemonic = "order";
  let summary = "In which order a sum is added up";
  let description = [{
    `any`: not chosen yet, so the result is right to a tolerance only. `left_to_right`: one fold in row-major
    order of the summed dims. `chunks N`: N elements at a time, and their results folded left to right.
    `from_identity`: each fold starts from the identity instead of from its first element; the two differ
    for sums of -0.

    Ops leave `order any` out. Examples: `#tile.order<chunks 128>`, `#tile.order<left_to_right from_identity>`
  }];
  let parameters = (ins AttrOrTypeParameter<"::kiln::tile::Order", "the order">:$order);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def Tile_HintAttr : AttrDef<Tile_Dialect, "Hint"> {
  let mnemonic = "hint";
  let summary = "What the author asks of the planner for one value";
  let description = [{
    Which dim lies on partitions, the extent of a tile along each dim (0: the planner's choice), how many tiles
    are in flight, and `in hbm` for a value that shall be written out. The planner keeps to it, or says at
    `loc` why it does not. An op with a hint is never folded away.

    Example: `#tile.hint<partition_dim 0, tile [128, 512], buffers 2, in hbm>`
  }];
  let parameters = (ins
    AttrOrTypeParameter<"::std::optional<int64_t>", "dim on partitions">:$partitionDim,
    OptionalArrayRefParameter<"int64_t", "extent of a tile along each dim; empty: no wish">:$tile,
    AttrOrTypeParameter<"::std::optional<int64_t>", "tiles in flight">:$buffers,
    AttrOrTypeParameter<"::std::optional<::kiln::isa::Memory>", "where the value shall lie">:$memory,
    OptionalParameter<"::mlir::LocationAttr", "the author's line">:$place
  );
  let hasCustomAssemblyFormat = 1;
}

#endif // KILN_DIALECT_TILE_IR_TILEBASE_TD
