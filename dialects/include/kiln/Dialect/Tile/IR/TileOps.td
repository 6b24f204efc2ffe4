//===- TileOps.td - one op for each operation of a tile::Graph ----------------------------*- tablegen -*-===//
//
// Each op is a `tile::Node` of kiln/Tile/Graph.h; its rules are those of `tile::verify`. Decisions:
// dialects/docs/TileRationale.md.
//
//===--------------------------------------------------------------------------------------------===//

#ifndef KILN_DIALECT_TILE_IR_TILEOPS_TD
#define KILN_DIALECT_TILE_IR_TILEOPS_TD

include "kiln/Dialect/Tile/IR/TileBase.td"
include "kiln/Dialect/Tile/IR/TileInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

/// Base of all ops; `kind` is the enumerator of tile::Op.
class Tile_Op<string mnemonic, string kind, list<Trait> traits = []>
    : Op<Tile_Dialect, mnemonic,
         !listconcat([HasParent<"::kiln::nisa::KernelOp">,
                      DeclareOpInterfaceMethods<Tile_NodeOpInterface>], traits)> {
  let hasVerifier = 1;
  let extraClassDefinition = [{
    ::kiln::tile::Op $cppClass::getKind() { return ::kiln::tile::Op::}] # kind # [{; }
    ::llvm::LogicalResult $cppClass::verify() { return opimpl::verifyNode(*this); }
  }];
}

/// An op whose only meaning is its result.
class Tile_ValueOp<string mnemonic, string kind, list<Trait> traits = []>
    : Tile_Op<mnemonic, kind, !listconcat([Pure], traits)> {
  let results = (outs Tile_Value:$result);
}

/// An op between values and buffers.
class Tile_BorderOp<string mnemonic, string kind>
    : Tile_Op<mnemonic, kind, [DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]>;

//===--------------------------------------------------------------------------------------------===//
// The border to memory
//===--------------------------------------------------------------------------------------------===//

def Tile_LoadOp : Tile_BorderOp<"load", "Load"> {
  let summary = "Take the elements a buffer has at this point of the program";
  let description = [{
    `result[i] = source[view(i)]`, bits unchanged, of the element type of the buffer. A snapshot: later writes
    to the buffer do not change the value. It reads the buffer's memory, so that two loads are merged only
    with no write between them.

    Rules: V-03 (one stride for each dim), V-11 (the view stays inside the buffer), P-08 (partitions follow one
    another).

    ```mlir
    %x = tile.load %a : !nisa.buf<hbm, 300x512xbf16> -> tensor<300x512xbf16>
    %row = tile.load %a[at 512, stride 512 1] : !nisa.buf<hbm, 300x512xbf16> -> tensor<1x512xbf16>
    %t = tile.load %tile[partition 32, at 0, stride 1 2] : !nisa.buf<sbuf, 128x64xf32> -> tensor<16x32xf32>
    ```
  }];
  let arguments = (ins Nisa_BufType:$buffer, OptionalAttr<Tile_ViewAttr>:$view,
                       OptionalAttr<Tile_HintAttr>:$hint);
  let results = (outs Tile_Value:$result);
  let assemblyFormat = [{
    $buffer `` custom<View>($view) (`hint` `` $hint^)? attr-dict `:` qualified(type($buffer)) `->` type($result)
  }];
}

def Tile_StoreOp : Tile_BorderOp<"store", "Store"> {
  let summary = "Write a value to a part of a buffer";
  let description = [{
    `buffer[view(i)] = round(value[i])`, rounded once to the element type of the buffer; bits unchanged where
    the types are equal.

    Rules: those of `tile.load`, and V-08 (no dim of the view repeats storage).

    ```mlir
    %x = tile.load %a : !nisa.buf<hbm, 300x512xf32> -> tensor<300x512xf32>
    tile.store %x, %b : tensor<300x512xf32>, !nisa.buf<hbm, 300x512xbf16>
    tile.store %x, %c[at 512, stride 1024 1] : tensor<300x512xf32>, !nisa.buf<hbm, 300x1024xf32>
    ```
  }];
  let arguments = (ins Tile_Value:$value, Nisa_BufType:$buffer, OptionalAttr<Tile_ViewAttr>:$view,
                       OptionalAttr<Tile_HintAttr>:$hint);
  let assemblyFormat = [{
    $value `,` $buffer `` custom<View>($view) (`hint` `` $hint^)? attr-dict `:` type($value) `,`
    qualified(type($buffer))
  }];
}

def Tile_MaterializeOp : Tile_BorderOp<"materialize", "Materialize"> {
  let summary = "Fill a whole buffer on chip with a value, for instructions to read";
  let description = [{
    `buffer[i] = value[i]`. The border from values to the author's instructions: the buffer belongs to the
    compiler, and nothing else writes it, so that the planner may make the value in it.

    Rules: T-01 (the value has the shape of the buffer), V-11.

    ```mlir
    %x = tile.load %a : !nisa.buf<hbm, 128x512xf32> -> tensor<128x512xf32>
    tile.materialize %x, %t : tensor<128x512xf32>, !nisa.buf<sbuf, 128x512xf32>
    ```
  }];
  let arguments = (ins Tile_Value:$value, Nisa_BufType:$buffer, OptionalAttr<Tile_ViewAttr>:$view,
                       OptionalAttr<Tile_HintAttr>:$hint);
  let assemblyFormat = [{
    $value `,` $buffer `` custom<View>($view) (`hint` `` $hint^)? attr-dict `:` type($value) `,`
    qualified(type($buffer))
  }];
}

//===--------------------------------------------------------------------------------------------===//
// Sources
//===--------------------------------------------------------------------------------------------===//

def Tile_SplatOp : Tile_ValueOp<"splat", "Splat"> {
  let summary = "Make a value all of whose elements are one number";
  let description = [{
    `result[i] = round(number)`, rounded once to the element type.

    ```mlir
    %half = tile.splat 0.5 : tensor<64x512xf32>
    %low = tile.splat -inf : tensor<1x1xf32>
    ```
  }];
  let arguments = (ins Nisa_RealField<"every element">:$number, OptionalAttr<Tile_HintAttr>:$hint);
  let assemblyFormat = "custom<Real>($number) (`hint` `` $hint^)? attr-dict `:` type($result)";
}

def Tile_IotaOp : Tile_ValueOp<"iota", "Iota"> {
  let summary = "Make a value of its own indices along one dim";
  let description = [{
    `result[i0, i1, ...] = i_dim`, int32.

    Rules: T-03 (the dim exists).

    ```mlir
    %columns = tile.iota dim 1 : tensor<4x512xi32>
    ```
  }];
  let arguments = (ins I64Attr:$dim, OptionalAttr<Tile_HintAttr>:$hint);
  let assemblyFormat = "`dim` $dim (`hint` `` $hint^)? attr-dict `:` type($result)";
}

//===--------------------------------------------------------------------------------------------===//
// Elementwise
//===--------------------------------------------------------------------------------------------===//

def Tile_UnaryOp : Tile_ValueOp<"unary", "Unary"> {
  let summary = "Apply a function of the Scalar Engine to each element";
  let description = [{
    `result[i] = round(fn(fp32(x[i])))`: the exact function rounded to fp32, then to the element type of the
    result. The functions and their formulas are the table's.

    ```mlir
    %e = tile.unary exp %x : tensor<64x512xbf16> -> tensor<64x512xf32>
    ```
  }];
  let arguments = (ins Tile_Value:$x, Nisa_EnumField<"ActFn", "the function">:$fn,
                       OptionalAttr<Tile_HintAttr>:$hint);
  let assemblyFormat = [{
    custom<ActFn>($fn) $x (`hint` `` $hint^)? attr-dict `:` type($x) `->` type($result)
  }];
  let hasFolder = 1;
}

def Tile_BinaryOp : Tile_ValueOp<"binary", "Binary"> {
  let summary = "Apply an operator of the ALU to each pair of elements";
  let description = [{
    `result[i] = round(alu(x[i], y[i]))` in fp32, rounded once; exact where both operands and the result are
    32-bit integers. Comparisons and logic give 1 or 0, bitwise operators work on the bits of integers. The
    operands broadcast as in NumPy: dims are matched from the last one on, and an extent of 1 repeats.

    Rules: T-01 (the shapes broadcast), D-08 (bitwise operators on integers).

    ```mlir
    %s = tile.binary add %x, %bias : tensor<64x512xf32>, tensor<512xf32> -> tensor<64x512xf32>
    ```
  }];
  let arguments = (ins Tile_Value:$x, Tile_Value:$y, Nisa_EnumField<"AluOp", "the operator">:$alu,
                       OptionalAttr<Tile_HintAttr>:$hint);
  let assemblyFormat = [{
    custom<AluOp>($alu) $x `,` $y (`hint` `` $hint^)? attr-dict
    `:` type($x) `,` type($y) `->` type($result)
  }];
  let hasFolder = 1;
}

def Tile_SelectOp : Tile_ValueOp<"select", "Select"> {
  let summary = "Choose between two values element by element";
  let description = [{
    `result[i] = condition[i] != 0 ? x[i] : y[i]`, converted to the element type of the result. NaN counts as
    not 0. The operands broadcast as in NumPy.

    Rules: T-01 (the shapes broadcast).

    ```mlir
    %r = tile.select %mask, %x, %low
      : tensor<64x512xui8>, tensor<64x512xf32>, tensor<1x1xf32> -> tensor<64x512xf32>
    ```
  }];
  let arguments = (ins Tile_Value:$condition, Tile_Value:$x, Tile_Value:$y,
                       OptionalAttr<Tile_HintAttr>:$hint);
  let assemblyFormat = [{
    $condition `,` $x `,` $y (`hint` `` $hint^)? attr-dict
    `:` type($condition) `,` type($x) `,` type($y) `->` type($result)
  }];
}

def Tile_CastOp : Tile_ValueOp<"cast", "Cast"> {
  let summary = "Convert a value to another element type";
  let description = [{
    `result[i] = round(x[i])`: through fp32, to nearest even; a float becomes an integer by saturating, a NaN
    becomes 0. Between 32-bit integers the conversion is exact where it can be. A cast to the type the value
    has keeps bits; any other makes NaNs canonical.

    ```mlir
    %b = tile.cast %x : tensor<64x512xf32> -> tensor<64x512xbf16>
    ```
  }];
  let arguments = (ins Tile_Value:$x, OptionalAttr<Tile_HintAttr>:$hint);
  let assemblyFormat = "$x (`hint` `` $hint^)? attr-dict `:` type($x) `->` type($result)";
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}

//===--------------------------------------------------------------------------------------------===//
// Sums
//===--------------------------------------------------------------------------------------------===//

def Tile_MatmulOp : Tile_ValueOp<"matmul", "Matmul"> {
  let summary = "Multiply matrices, perhaps many at once";
  let description = [{
    `result[..., m, n] = round(sum over k of x[..., m, k] * y[..., k, n])`, summed in fp32 in the given `order`
    and rounded once. With `transpose_x` the operand comes as `[..., k, m]`, with `transpose_y` as
    `[..., n, k]`. Leading dims broadcast as in NumPy. Both operands are float32, or both are 16-bit floats.

    `order chunks N` is what the Tensor Engine does: N rows of the contraction an instruction, and PSUM adds up
    the results.

    Rules: T-01 (leading dims broadcast), T-02 (contractions agree), D-01 (float32 with float32), D-06 (floats).

    ```mlir
    %r = tile.matmul %q, %k transpose_y order chunks 128
      : tensor<3x200x64xbf16>, tensor<300x64xbf16> -> tensor<3x200x300xf32>
    ```
  }];
  let arguments = (ins Tile_Value:$x, Tile_Value:$y, UnitAttr:$transpose_x, UnitAttr:$transpose_y,
                       Tile_OrderAttr:$order, OptionalAttr<Tile_HintAttr>:$hint);
  let assemblyFormat = [{
    $x `,` $y (`transpose_x` $transpose_x^)? (`transpose_y` $transpose_y^)? `` custom<Order>($order)
    (`hint` `` $hint^)? attr-dict `:` type($x) `,` type($y) `->` type($result)
  }];
  let hasCanonicalizer = 1;
}

def Tile_ReduceOp : Tile_ValueOp<"reduce", "Reduce"> {
  let summary = "Fold an operator over some dims";
  let description = [{
    `result[kept] = round(alu folded over x[kept, dims])` in fp32, in the given `order` of the elements that
    `dims` run over (row-major), rounded once at the end. `alu` is add, multiply, maximum or minimum. The dims
    go, or stay as extent 1 with `keep_dims`; at least one stays.

    Rules: T-03 (each dim exists and is named once, ascending).

    ```mlir
    %s = tile.reduce add %x over [1] keep_dims order left_to_right from_identity
      : tensor<64x512xf32> -> tensor<64x1xf32>
    ```
  }];
  let arguments = (ins Tile_Value:$x, Nisa_EnumField<"AluOp", "the operator">:$alu, DenseI64ArrayAttr:$dims,
                       UnitAttr:$keep_dims, Tile_OrderAttr:$order, OptionalAttr<Tile_HintAttr>:$hint);
  let assemblyFormat = [{
    custom<AluOp>($alu) $x `over` $dims (`keep_dims` $keep_dims^)? `` custom<Order>($order)
    (`hint` `` $hint^)? attr-dict `:` type($x) `->` type($result)
  }];
}

//===--------------------------------------------------------------------------------------------===//
// Movement
//===--------------------------------------------------------------------------------------------===//

def Tile_TransposeOp : Tile_ValueOp<"transpose", "Transpose"> {
  let summary = "Reorder the dims of a value";
  let description = [{
    Dim i of the result is dim `permutation[i]` of `x`; bits unchanged.

    Rules: T-03 (each dim is named once).

    ```mlir
    %t = tile.transpose %x [0, 2, 1] : tensor<3x64x512xf32> -> tensor<3x512x64xf32>
    ```
  }];
  let arguments = (ins Tile_Value:$x, DenseI64ArrayAttr:$permutation, OptionalAttr<Tile_HintAttr>:$hint);
  let assemblyFormat = "$x $permutation (`hint` `` $hint^)? attr-dict `:` type($x) `->` type($result)";
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}

def Tile_ReshapeOp : Tile_ValueOp<"reshape", "Reshape"> {
  let summary = "Give the elements of a value another shape";
  let description = [{
    The elements in row-major order; bits unchanged.

    Rules: V-04 (as many elements as before).

    ```mlir
    %r = tile.reshape %x : tensor<6x512xf32> -> tensor<2x3x512xf32>
    ```
  }];
  let arguments = (ins Tile_Value:$x, OptionalAttr<Tile_HintAttr>:$hint);
  let assemblyFormat = "$x (`hint` `` $hint^)? attr-dict `:` type($x) `->` type($result)";
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}

def Tile_SliceOp : Tile_ValueOp<"slice", "Slice"> {
  let summary = "Take some of the elements along each dim";
  let description = [{
    `result[i0, i1, ...] = x[starts[0] + i0 * steps[0], starts[1] + i1 * steps[1], ...]`, bits unchanged.

    Rules: V-01 (every index lies inside the dim), V-02 (steps are 1 or more), V-03 (one of each for each dim).

    ```mlir
    %s = tile.slice %x from [0, 1] step [1, 2] : tensor<64x512xf32> -> tensor<64x256xf32>
    ```
  }];
  let arguments = (ins Tile_Value:$x, DenseI64ArrayAttr:$starts, DenseI64ArrayAttr:$steps,
                       OptionalAttr<Tile_HintAttr>:$hint);
  let assemblyFormat = [{
    $x `from` $starts `step` $steps (`hint` `` $hint^)? attr-dict `:` type($x) `->` type($result)
  }];
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}

def Tile_ConcatOp : Tile_ValueOp<"concat", "Concat"> {
  let summary = "Put values side by side";
  let description = [{
    The elements of the operands one after the other along `dim`, bits unchanged. All other extents and the
    element types are equal.

    Rules: T-03 (the dim exists).

    ```mlir
    %r = tile.concat %x, %y dim 1 : tensor<64x512xf32>, tensor<64x3xf32> -> tensor<64x515xf32>
    ```
  }];
  let arguments = (ins Variadic<Tile_Value>:$values, I64Attr:$dim, OptionalAttr<Tile_HintAttr>:$hint);
  let assemblyFormat = [{
    $values `dim` $dim (`hint` `` $hint^)? attr-dict `:` type($values) `->` type($result)
  }];
  let hasFolder = 1;
}

def Tile_PadOp : Tile_ValueOp<"pad", "Pad"> {
  let summary = "Put a number around a value";
  let description = [{
    `low[d]` elements of `number` in front of dim d and `high[d]` behind it; the bits of `x` are unchanged.

    ```mlir
    %r = tile.pad %x low [0, 1] high [2, 1] with 0 : tensor<64x512xf32> -> tensor<66x514xf32>
    ```
  }];
  let arguments = (ins Tile_Value:$x, DenseI64ArrayAttr:$low, DenseI64ArrayAttr:$high,
                       Nisa_RealField<"what is put around">:$number, OptionalAttr<Tile_HintAttr>:$hint);
  let assemblyFormat = [{
    $x `low` $low `high` $high `with` custom<Real>($number) (`hint` `` $hint^)? attr-dict
    `:` type($x) `->` type($result)
  }];
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}

def Tile_BroadcastOp : Tile_ValueOp<"broadcast", "Broadcast"> {
  let summary = "Repeat a value to a larger shape";
  let description = [{
    Dims are matched from the last one on; an extent of 1, or a dim that is missing, repeats. Bits unchanged.

    Rules: T-01 (the shape broadcasts to the result's).

    ```mlir
    %r = tile.broadcast %x : tensor<1x512xf32> -> tensor<3x64x512xf32>
    ```
  }];
  let arguments = (ins Tile_Value:$x, OptionalAttr<Tile_HintAttr>:$hint);
  let assemblyFormat = "$x (`hint` `` $hint^)? attr-dict `:` type($x) `->` type($result)";
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}

//===--------------------------------------------------------------------------------------------===//
// Composites
//===--------------------------------------------------------------------------------------------===//

def Tile_SoftmaxOp : Tile_ValueOp<"softmax", "Softmax"> {
  let summary = "Turn each row into exponentials that sum to 1";
  let description = [{
    With m the maximum of x along `dim`, `e = exp(x - m)` and s the sum of e along it:
    `result = e * reciprocal(s)`. Each of these rounds to fp32, the last one to the element type.

    Rules: T-03 (the dim exists).

    ```mlir
    %r = tile.softmax %x dim 1 : tensor<64x512xf32> -> tensor<64x512xf32>
    ```
  }];
  let arguments = (ins Tile_Value:$x, I64Attr:$dim, OptionalAttr<Tile_HintAttr>:$hint);
  let assemblyFormat = "$x `dim` $dim (`hint` `` $hint^)? attr-dict `:` type($x) `->` type($result)";
}

class Tile_NormOp<string mnemonic, string kind> : Tile_ValueOp<mnemonic, kind> {
  // The optional operands follow `x` in order: scale, then shift.
  let arguments = (ins Variadic<Tile_Value>:$values, Nisa_RealField<"added to the mean square">:$epsilon,
                       OptionalAttr<Tile_HintAttr>:$hint);
  let assemblyFormat = [{
    $values `epsilon` custom<Real>($epsilon) (`hint` `` $hint^)? attr-dict `:` type($values) `->` type($result)
  }];
}

def Tile_RmsNormOp : Tile_NormOp<"rmsnorm", "RmsNorm"> {
  let summary = "Divide each row by the root of its mean square";
  let description = [{
    Over the last dim of n elements: `r = rsqrt(sum(x * x) * (1/n) + epsilon)`, `result = x * r`, times the
    second operand if there is one. Each operation rounds to fp32, the last one to the element type.

    ```mlir
    %r = tile.rmsnorm %x, %gamma epsilon 1.0e-06
      : tensor<64x512xf32>, tensor<1x512xf32> -> tensor<64x512xf32>
    ```
  }];
}

def Tile_LayerNormOp : Tile_NormOp<"layernorm", "LayerNorm"> {
  let summary = "Subtract the mean of each row and divide by its deviation";
  let description = [{
    Over the last dim of n elements: `c0 = x - sum(x) * (1/n)`, `c = c0 - sum(c0) * (1/n)` (the second step
    keeps digits where the mean is large), `r = rsqrt(sum(c * c) * (1/n) + epsilon)`, `result = c * r`, times
    the second operand, plus the third, where there are any. Each operation rounds to fp32, the last one to
    the element type.

    ```mlir
    %r = tile.layernorm %x, %gamma, %beta epsilon 1.0e-05
      : tensor<64x512xf32>, tensor<1x512xf32>, tensor<1x512xf32> -> tensor<64x512xf32>
    ```
  }];
}

#endif // KILN_DIALECT_TILE_IR_TILEOPS_TD
