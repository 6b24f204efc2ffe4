// What the parser, the attributes and the ops refuse. The rules are those of tile::verify, which has
// tests of its own for each; here each op breaks one, and the one beside it is the largest that does not.
//
// RUN: kiln-opt %s -split-input-file -verify-diagnostics

//===----------------------------------------------------------------------===//
// Text and attributes
//===----------------------------------------------------------------------===//

// expected-error @below {{no order is called 'pairs'; there are any, left_to_right and chunks N}}
nisa.kernel @f attributes {o = #tile.order<pairs>} {
}

// -----

// expected-error @below {{expected a whole number}}
nisa.kernel @f attributes {o = #tile.order<chunks>} {
}

// -----

// expected-error @below {{a hint has no 'colour'; it has partition_dim, tile, buffers, in and place}}
nisa.kernel @f attributes {o = #tile.hint<colour 3>} {
}

// -----

// expected-error @below {{no memory is called 'dram'}}
nisa.kernel @f attributes {o = #tile.hint<in dram>} {
}

// -----

// expected-error @below {{the partition -1 is not between 0 and 4294967295}}
nisa.kernel @f attributes {o = #tile.view<partition -1, at 0, stride 1>} {
}

// -----

// expected-error @below {{the number does not fit 64 bits}}
nisa.kernel @f attributes {o = #tile.view<at 9223372036854775808, stride 1>} {
}

// -----

nisa.kernel @f {
  // expected-error @below {{no function is called 'cosh'}}
  %x = tile.unary cosh %y : tensor<3xf32> -> tensor<3xf32>
}

// -----

nisa.kernel @f {
  // expected-error @below {{no operator is called 'plus'}}
  %x = tile.binary plus %y, %y : tensor<3xf32>, tensor<3xf32> -> tensor<3xf32>
}

// -----

nisa.kernel @f {
  // expected-error @below {{'tile.splat' op result #0 must be tensor of static shape with elements of the table's types, but got 'tensor<?xf32>'}}
  %x = tile.splat 0 : tensor<?xf32>
}

// -----

nisa.kernel @f {
  // expected-error @below {{'tile.splat' op result #0 must be tensor of static shape with elements of the table's types, but got 'tensor<3xf64>'}}
  %x = tile.splat 0 : tensor<3xf64>
}

// -----

// expected-error @below {{'tile.splat' op expects parent op 'nisa.kernel'}}
%x = tile.splat 0 : tensor<3xf32>

// -----

// Loops hold instructions, not values.
nisa.kernel @f {
  nisa.for 2 {
    // expected-error @below {{'tile.splat' op expects parent op 'nisa.kernel'}}
    %x = tile.splat 0 : tensor<3xf32>
  }
}

// -----

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

nisa.kernel @rank_five_is_the_largest {
  %x = tile.splat 0 : tensor<1x1x1x1x1xf32>
  // expected-error @below {{[S-06] the result of 'splat' has rank 6, a value has rank 1 to 5: (1, 1, 1, 1, 1, 1)}}
  // expected-note @below {{help: make neighbouring dims one with reshape}}
  %y = tile.splat 0 : tensor<1x1x1x1x1x1xf32>
}

// -----

nisa.kernel @broadcasting {
  %x = tile.splat 0 : tensor<64x512xf32>
  %y = tile.splat 0 : tensor<63x1xf32>
  %z = tile.splat 0 : tensor<64x1xf32>
  %control = tile.binary add %x, %z : tensor<64x512xf32>, tensor<64x1xf32> -> tensor<64x512xf32>
  // expected-error @below {{[T-01] 'add' of (64, 512) and (63, 1): these shapes do not broadcast, dim 0 is 64 and 63}}
  // expected-note @below {{help: extents must be equal or 1, dims count from the last; reshape, slice or repeat one of the operands}}
  %s = tile.binary add %x, %y : tensor<64x512xf32>, tensor<63x1xf32> -> tensor<64x512xf32>
}

// -----

nisa.kernel @result_shape {
  %x = tile.splat 0 : tensor<64x512xf32>
  // expected-error @below {{[T-01] 'exp' is (64, 511), by its operands it has to be (64, 512)}}
  // expected-note @below {{help: give it the shape (64, 512)}}
  %s = tile.unary exp %x : tensor<64x512xf32> -> tensor<64x511xf32>
}

// -----

nisa.kernel @contraction {
  %x = tile.splat 0 : tensor<64x512xf32>
  %y = tile.splat 0 : tensor<64x3xf32>
  %control = tile.matmul %x, %y transpose_x : tensor<64x512xf32>, tensor<64x3xf32> -> tensor<512x3xf32>
  // expected-error @below {{[T-02] 'matmul' of (64, 512) and (64, 3): the contraction dim is 512 in the first and 64 in the second}}
  // expected-note @below {{help: transpose the first operand (transpose_x)}}
  %m = tile.matmul %x, %y : tensor<64x512xf32>, tensor<64x3xf32> -> tensor<64x3xf32>
}

// -----

nisa.kernel @permutation {
  %x = tile.splat 0 : tensor<2x3xf32>
  // expected-error @below {{[T-03] 'transpose' of (2, 3) with axes (0, 0): each of 0 to 1 must be named once}}
  // expected-note @below {{help: axes (1, 0) reverse all dims}}
  %t = tile.transpose %x [0, 0] : tensor<2x3xf32> -> tensor<2x2xf32>
}

// -----

nisa.kernel @reshape {
  %x = tile.splat 0 : tensor<2x3xf32>
  %control = tile.reshape %x : tensor<2x3xf32> -> tensor<6xf32>
  // expected-error @below {{[V-04] 'reshape' of (2, 3) to (7,): 6 elements are not 7}}
  // expected-note @below {{help: the extents must multiply to as many elements; slice or pad to change their number}}
  %t = tile.reshape %x : tensor<2x3xf32> -> tensor<7xf32>
}

// -----

nisa.kernel @slice {
  %x = tile.splat 0 : tensor<9xf32>
  %control = tile.slice %x from [2] step [3] : tensor<9xf32> -> tensor<3xf32>
  // expected-error @below {{[V-01] 'slice' of (9,) takes 4 elements of dim 0 from 2 in steps of 3, dim 0 has indices 0 to 8}}
  // expected-note @below {{help: take at most 3 from 2}}
  %t = tile.slice %x from [2] step [3] : tensor<9xf32> -> tensor<4xf32>
}

// -----

nisa.kernel @concat {
  %x = tile.splat 0 : tensor<2x3xf32>
  %y = tile.splat 0 : tensor<3x3xf32>
  %control = tile.concat %x, %y dim 0 : tensor<2x3xf32>, tensor<3x3xf32> -> tensor<5x3xf32>
  // expected-error @below {{[T-01] 'concat' along axis 1 of (2, 3) and (3, 3): the other dims must be equal}}
  // expected-note @below {{help: reshape, slice or pad one of them, or choose another axis}}
  %t = tile.concat %x, %y dim 1 : tensor<2x3xf32>, tensor<3x3xf32> -> tensor<2x6xf32>
}

// -----

//===----------------------------------------------------------------------===//
// Element types
//===----------------------------------------------------------------------===//

nisa.kernel @mixed_matmul {
  %x = tile.splat 0 : tensor<2x3xf32>
  %y = tile.splat 0 : tensor<3x4xbf16>
  %z = tile.splat 0 : tensor<2x3xf16>
  %control = tile.matmul %z, %y : tensor<2x3xf16>, tensor<3x4xbf16> -> tensor<2x4xf32>
  // expected-error @below {{[D-01] 'matmul' cannot mix 32-bit and narrower operands (float32 with bfloat16)}}
  // expected-note @below {{help: cast one of them}}
  %m = tile.matmul %x, %y : tensor<2x3xf32>, tensor<3x4xbf16> -> tensor<2x4xf32>
}

// -----

nisa.kernel @float_bits {
  %x = tile.splat 0 : tensor<3xf32>
  %i = tile.splat 0 : tensor<3xi32>
  %control = tile.binary bitwise_and %i, %i : tensor<3xi32>, tensor<3xi32> -> tensor<3xi32>
  // expected-error @below {{[D-08] 'bitwise_and' needs integers, its left operand is float32}}
  // expected-note @below {{help: cast the operand to an integer dtype first}}
  %m = tile.binary bitwise_and %x, %i : tensor<3xf32>, tensor<3xi32> -> tensor<3xi32>
}

// -----

nisa.kernel @movement_keeps_the_dtype {
  %x = tile.splat 0 : tensor<3xf32>
  // expected-error @below {{[D-03] 'reshape' moves elements without changing them: its operand is float32, its result bfloat16}}
  // expected-note @below {{help: cast in a separate operation}}
  %m = tile.reshape %x : tensor<3xf32> -> tensor<3x1xbf16>
}

// -----

nisa.kernel @iota {
  // expected-error @below {{[D-03] 'iota' is float32, indices are int32}}
  // expected-note @below {{help: cast in a separate operation}}
  %m = tile.iota dim 0 : tensor<3xf32>
}

// -----

//===----------------------------------------------------------------------===//
// The border to memory
//===----------------------------------------------------------------------===//

nisa.kernel @view_in_hbm {
  // expected-note @below {{'a' is declared here}}
  %a = nisa.alloc "a" input 0 : !nisa.buf<hbm, 4x6xf32>
  %control = tile.load %a[at 3, stride 6 1] : !nisa.buf<hbm, 4x6xf32> -> tensor<4x3xf32>
  // expected-error @below {{[V-11] 'load' of 'a' reaches elements 4 to 24, 'a' has 0 to 23}}
  // expected-note @below {{help: keep (4, 3) inside (4, 6)}}
  %x = tile.load %a[at 4, stride 6 1] : !nisa.buf<hbm, 4x6xf32> -> tensor<4x3xf32>
}

// -----

nisa.kernel @view_on_chip {
  // expected-note @below {{'a' is declared here}}
  %a = nisa.alloc "a" : !nisa.buf<sbuf, 64x6xf32>
  %control = tile.load %a[partition 60, at 0, stride 1 1] : !nisa.buf<sbuf, 64x6xf32> -> tensor<4x6xf32>
  // expected-error @below {{[V-11] 'load' of 'a' covers partitions 61 to 64, 'a' has 64}}
  // expected-note @below {{help: stay below partition 64}}
  %x = tile.load %a[partition 61, at 0, stride 1 1] : !nisa.buf<sbuf, 64x6xf32> -> tensor<4x6xf32>
}

// -----

nisa.kernel @rank_of_a_view {
  // expected-note @below {{'a' is declared here}}
  %a = nisa.alloc "a" input 0 : !nisa.buf<hbm, 4x6xf32>
  // expected-error @below {{[V-03] 'load' of 'a' has 2 strides for a value of rank 1}}
  // expected-note @below {{help: give one for each dim}}
  %x = tile.load %a : !nisa.buf<hbm, 4x6xf32> -> tensor<24xf32>
}

// -----

nisa.kernel @stores_name_each_element_once {
  // expected-note @below {{'a' is declared here}}
  %a = nisa.alloc "a" output 0 : !nisa.buf<hbm, 4x6xf32>
  %x = tile.splat 0 : tensor<4x6xf32>
  // expected-error @below {{[V-08] 'store' to 'a' repeats storage: dim 0 has extent 4 and stride 0, several values would land in one place}}
  // expected-note @below {{help: write to a view that names each element once}}
  tile.store %x, %a[at 0, stride 0 1] : tensor<4x6xf32>, !nisa.buf<hbm, 4x6xf32>
}

// -----

nisa.kernel @loads_have_the_dtype_of_the_buffer {
  // expected-note @below {{'a' is declared here}}
  %a = nisa.alloc "a" input 0 : !nisa.buf<hbm, 4x6xbf16>
  // expected-error @below {{[D-03] 'load' is float32, 'a' is bfloat16}}
  // expected-note @below {{help: cast in a separate operation}}
  %x = tile.load %a : !nisa.buf<hbm, 4x6xbf16> -> tensor<4x6xf32>
}

// -----

nisa.kernel @materialize_fills {
  // expected-note @below {{'t' is declared here}}
  %t = nisa.alloc "t" : !nisa.buf<sbuf, 4x6xf32>
  %x = tile.splat 0 : tensor<4x5xf32>
  // expected-error @below {{[T-01] a value of (4, 5) cannot fill 't', (4, 6)}}
  // expected-note @below {{help: the shapes must be equal}}
  tile.materialize %x, %t[at 0, stride 1 1] : tensor<4x5xf32>, !nisa.buf<sbuf, 4x6xf32>
}
