// Folders and canonical forms, each beside what it must leave alone. No bit of a result changes.
//
// RUN: kiln-opt %s -canonicalize | FileCheck %s
// RUN: kiln-opt %s -tile-simplify | FileCheck %s

!h = !nisa.buf<hbm, 4x6xf32>
!f = tensor<4x6xf32>
!b = tensor<4x6xbf16>

//===----------------------------------------------------------------------===//
// Movement
//===----------------------------------------------------------------------===//

// The permutations are no inverses of each other, so that a composition the wrong way round shows.
// CHECK-LABEL: nisa.kernel @transpose_of_transpose
// CHECK:         %[[X:.*]] = tile.load
// CHECK-NEXT:    %[[T:.*]] = tile.transpose %[[X]] [0, 2, 1] : tensor<2x3x5xf32> -> tensor<2x5x3xf32>
// CHECK-NEXT:    tile.store %[[T]]
nisa.kernel @transpose_of_transpose {
  %a = nisa.alloc "a" input 0 : !nisa.buf<hbm, 2x3x5xf32>
  %o = nisa.alloc "o" output 0 : !nisa.buf<hbm, 2x5x3xf32>
  %x = tile.load %a : !nisa.buf<hbm, 2x3x5xf32> -> tensor<2x3x5xf32>
  %t = tile.transpose %x [1, 2, 0] : tensor<2x3x5xf32> -> tensor<3x5x2xf32>
  %u = tile.transpose %t [2, 1, 0] : tensor<3x5x2xf32> -> tensor<2x5x3xf32>
  tile.store %u, %o : tensor<2x5x3xf32>, !nisa.buf<hbm, 2x5x3xf32>
}

// CHECK-LABEL: nisa.kernel @composition_of_cycles
// CHECK:         %[[X:.*]] = tile.load
// CHECK-NEXT:    tile.transpose %[[X]] [2, 0, 1] : tensor<2x3x5xf32> -> tensor<5x2x3xf32>
nisa.kernel @composition_of_cycles {
  %a = nisa.alloc "a" input 0 : !nisa.buf<hbm, 2x3x5xf32>
  %o = nisa.alloc "o" output 0 : !nisa.buf<hbm, 5x2x3xf32>
  %x = tile.load %a : !nisa.buf<hbm, 2x3x5xf32> -> tensor<2x3x5xf32>
  %t = tile.transpose %x [1, 2, 0] : tensor<2x3x5xf32> -> tensor<3x5x2xf32>
  %u = tile.transpose %t [1, 2, 0] : tensor<3x5x2xf32> -> tensor<5x2x3xf32>
  tile.store %u, %o : tensor<5x2x3xf32>, !nisa.buf<hbm, 5x2x3xf32>
}

// There and back is nothing; so are an identity, and a permutation of equal extents is not.
// CHECK-LABEL: nisa.kernel @identity_transpose
// CHECK:         %[[X:.*]] = tile.load
// CHECK-NEXT:    %[[T:.*]] = tile.transpose %[[X]] [1, 0] : tensor<4x4xf32> -> tensor<4x4xf32>
// CHECK-NEXT:    tile.store %[[X]], %o :
// CHECK-NEXT:    tile.store %[[T]], %p :
nisa.kernel @identity_transpose {
  %a = nisa.alloc "a" input 0 : !nisa.buf<hbm, 4x4xf32>
  %o = nisa.alloc "o" output 0 : !nisa.buf<hbm, 4x4xf32>
  %p = nisa.alloc "p" output 1 : !nisa.buf<hbm, 4x4xf32>
  %x = tile.load %a : !nisa.buf<hbm, 4x4xf32> -> tensor<4x4xf32>
  %i = tile.transpose %x [0, 1] : tensor<4x4xf32> -> tensor<4x4xf32>
  %t = tile.transpose %i [1, 0] : tensor<4x4xf32> -> tensor<4x4xf32>
  %u = tile.transpose %t [1, 0] : tensor<4x4xf32> -> tensor<4x4xf32>
  tile.store %u, %o : tensor<4x4xf32>, !nisa.buf<hbm, 4x4xf32>
  tile.store %t, %p : tensor<4x4xf32>, !nisa.buf<hbm, 4x4xf32>
}

// CHECK-LABEL: nisa.kernel @reshape_of_reshape
// CHECK:         %[[X:.*]] = tile.load
// CHECK-NEXT:    tile.store %[[X]], %p
// CHECK-NEXT:    %[[R:.*]] = tile.reshape %[[X]] : tensor<4x6xf32> -> tensor<2x12xf32>
// CHECK-NEXT:    tile.store %[[R]], %o
nisa.kernel @reshape_of_reshape {
  %a = nisa.alloc "a" input 0 : !h
  %o = nisa.alloc "o" output 0 : !nisa.buf<hbm, 2x12xf32>
  %p = nisa.alloc "p" output 1 : !h
  %x = tile.load %a : !h -> !f
  %r = tile.reshape %x : !f -> tensor<24xf32>
  %u = tile.reshape %r : tensor<24xf32> -> !f
  tile.store %u, %p : !f, !h
  %s = tile.reshape %r : tensor<24xf32> -> tensor<2x12xf32>
  tile.store %s, %o : tensor<2x12xf32>, !nisa.buf<hbm, 2x12xf32>
}

// Steps multiply, and a start of the second counts in steps of the first.
// CHECK-LABEL: nisa.kernel @slice_of_slice
// CHECK:         %[[X:.*]] = tile.load
// CHECK-NEXT:    tile.store %[[X]], %p
// CHECK-NEXT:    %[[S:.*]] = tile.slice %[[X]] from [3, 7] step [1, 6] : tensor<16x32xf32> -> tensor<5x3xf32>
// CHECK-NEXT:    tile.store %[[S]], %o
nisa.kernel @slice_of_slice {
  %a = nisa.alloc "a" input 0 : !nisa.buf<hbm, 16x32xf32>
  %o = nisa.alloc "o" output 0 : !nisa.buf<hbm, 5x3xf32>
  %p = nisa.alloc "p" output 1 : !nisa.buf<hbm, 16x32xf32>
  %x = tile.load %a : !nisa.buf<hbm, 16x32xf32> -> tensor<16x32xf32>
  %w = tile.slice %x from [0, 0] step [1, 1] : tensor<16x32xf32> -> tensor<16x32xf32>
  tile.store %w, %p : tensor<16x32xf32>, !nisa.buf<hbm, 16x32xf32>
  %s = tile.slice %x from [1, 3] step [1, 2] : tensor<16x32xf32> -> tensor<8x14xf32>
  %t = tile.slice %s from [2, 2] step [1, 3] : tensor<8x14xf32> -> tensor<5x3xf32>
  tile.store %t, %o : tensor<5x3xf32>, !nisa.buf<hbm, 5x3xf32>
}

// A dim of one element has any step; the product of two need not fit.
// CHECK-LABEL: nisa.kernel @steps_that_overflow
// CHECK-COUNT-2: tile.slice
nisa.kernel @steps_that_overflow {
  %a = nisa.alloc "a" input 0 : !nisa.buf<hbm, 16xf32>
  %o = nisa.alloc "o" output 0 : !nisa.buf<hbm, 1xf32>
  %x = tile.load %a : !nisa.buf<hbm, 16xf32> -> tensor<16xf32>
  %s = tile.slice %x from [3] step [9223372036854775807] : tensor<16xf32> -> tensor<1xf32>
  %t = tile.slice %s from [0] step [3] : tensor<1xf32> -> tensor<1xf32>
  %u = tile.slice %x from [2] step [9223372036854775807] : tensor<16xf32> -> tensor<1xf32>
  %v = tile.binary add %t, %u : tensor<1xf32>, tensor<1xf32> -> tensor<1xf32>
  tile.store %v, %o : tensor<1xf32>, !nisa.buf<hbm, 1xf32>
}

// CHECK-LABEL: nisa.kernel @nothing_moved
// CHECK:         %[[X:.*]] = tile.load
// CHECK-NEXT:    %[[B:.*]] = tile.broadcast %[[X]] : tensor<4x6xf32> -> tensor<2x3x4x6xf32>
// CHECK-NEXT:    tile.store %[[X]], %p
// CHECK-NEXT:    tile.store %[[B]], %o
nisa.kernel @nothing_moved {
  %a = nisa.alloc "a" input 0 : !h
  %o = nisa.alloc "o" output 0 : !nisa.buf<hbm, 2x3x4x6xf32>
  %p = nisa.alloc "p" output 1 : !h
  %x = tile.load %a : !h -> !f
  %c = tile.concat %x dim 1 : !f -> !f
  %d = tile.pad %c low [0, 0] high [0, 0] with 7 : !f -> !f
  %e = tile.broadcast %d : !f -> !f
  %g = tile.broadcast %e : !f -> tensor<3x4x6xf32>
  %i = tile.broadcast %g : tensor<3x4x6xf32> -> tensor<2x3x4x6xf32>
  tile.store %e, %p : !f, !h
  tile.store %i, %o : tensor<2x3x4x6xf32>, !nisa.buf<hbm, 2x3x4x6xf32>
}

//===----------------------------------------------------------------------===//
// Casts
//===----------------------------------------------------------------------===//

// CHECK-LABEL: nisa.kernel @exact_casts
// CHECK:         %[[X:.*]] = tile.load
// CHECK-NEXT:    tile.store %[[X]], %a
// bf16 -> f32 loses nothing, so i32 is reached in one step.
// CHECK-NEXT:    %[[C:.*]] = tile.cast %[[X]] : tensor<4x6xbf16> -> tensor<4x6xi32>
// CHECK-NEXT:    tile.store %[[C]], %i
// CHECK-NEXT:    %[[I:.*]] = tile.load %c
// CHECK-NEXT:    %[[D:.*]] = tile.cast %[[I]] : tensor<4x6xi8> -> tensor<4x6xf16>
// CHECK-NEXT:    tile.store %[[D]], %d
// CHECK-NEXT:    tile.store %[[I]], %c
nisa.kernel @exact_casts {
  %a = nisa.alloc "a" : !nisa.buf<hbm, 4x6xbf16>
  %c = nisa.alloc "c" : !nisa.buf<hbm, 4x6xi8>
  %i = nisa.alloc "i" output 0 : !nisa.buf<hbm, 4x6xi32>
  %d = nisa.alloc "d" output 1 : !nisa.buf<hbm, 4x6xf16>
  %x = tile.load %a : !nisa.buf<hbm, 4x6xbf16> -> !b
  %own = tile.cast %x : !b -> !b
  tile.store %own, %a : !b, !nisa.buf<hbm, 4x6xbf16>
  %y = tile.cast %x : !b -> !f
  %z = tile.cast %y : !f -> tensor<4x6xi32>
  tile.store %z, %i : tensor<4x6xi32>, !nisa.buf<hbm, 4x6xi32>
  %l = tile.load %c : !nisa.buf<hbm, 4x6xi8> -> tensor<4x6xi8>
  %m = tile.cast %l : tensor<4x6xi8> -> !b
  %n = tile.cast %m : !b -> tensor<4x6xf16>
  tile.store %n, %d : tensor<4x6xf16>, !nisa.buf<hbm, 4x6xf16>
  // Integers have no NaN: there and back is nothing.
  %back = tile.cast %m : !b -> tensor<4x6xi8>
  tile.store %back, %c : tensor<4x6xi8>, !nisa.buf<hbm, 4x6xi8>
}

// A loaded float may be a NaN that a cast there and back makes canonical; one that arithmetic made is
// canonical already.
// CHECK-LABEL: nisa.kernel @there_and_back
// CHECK:         %[[X:.*]] = tile.load
// CHECK-NEXT:    %[[Y:.*]] = tile.cast %[[X]] : tensor<4x6xbf16> -> tensor<4x6xf32>
// CHECK-NEXT:    %[[Z:.*]] = tile.cast %[[Y]] : tensor<4x6xf32> -> tensor<4x6xbf16>
// CHECK-NEXT:    tile.store %[[Z]], %a
// CHECK-NEXT:    %[[E:.*]] = tile.unary exp %[[X]]
// CHECK-NEXT:    tile.store %[[E]], %a
nisa.kernel @there_and_back {
  %a = nisa.alloc "a" : !nisa.buf<hbm, 4x6xbf16>
  %x = tile.load %a : !nisa.buf<hbm, 4x6xbf16> -> !b
  %y = tile.cast %x : !b -> !f
  %z = tile.cast %y : !f -> !b
  tile.store %z, %a : !b, !nisa.buf<hbm, 4x6xbf16>
  %e = tile.unary exp %x : !b -> !b
  %g = tile.cast %e : !b -> !f
  %i = tile.cast %g : !f -> !b
  tile.store %i, %a : !b, !nisa.buf<hbm, 4x6xbf16>
}

// What loses digits stays: f32 -> bf16 -> f32, bf16 -> f16 -> f32, i16 -> bf16 -> f32, ui8 -> i8 -> f32,
// i32 -> f32 -> i32; and 32-bit integers convert among themselves in another way than through fp32.
// CHECK-LABEL: nisa.kernel @casts_that_lose_stay
// CHECK-COUNT-12: tile.cast
nisa.kernel @casts_that_lose_stay {
  %o = nisa.alloc "o" output 0 : !nisa.buf<hbm, 6x4x6xf32>
  %p = nisa.alloc "p" output 1 : !nisa.buf<hbm, 4x6xi32>
  %q = nisa.alloc "q" output 2 : !nisa.buf<hbm, 4x6xui32>
  %a0 = nisa.alloc "a0" input 0 : !h
  %a1 = nisa.alloc "a1" input 1 : !nisa.buf<hbm, 4x6xbf16>
  %a2 = nisa.alloc "a2" input 2 : !nisa.buf<hbm, 4x6xi16>
  %a3 = nisa.alloc "a3" input 3 : !nisa.buf<hbm, 4x6xui8>
  %a4 = nisa.alloc "a4" input 4 : !nisa.buf<hbm, 4x6xi32>
  %a5 = nisa.alloc "a5" input 5 : !nisa.buf<hbm, 4x6xi8>
  %x0 = tile.load %a0 : !h -> !f
  %x1 = tile.load %a1 : !nisa.buf<hbm, 4x6xbf16> -> !b
  %x2 = tile.load %a2 : !nisa.buf<hbm, 4x6xi16> -> tensor<4x6xi16>
  %x3 = tile.load %a3 : !nisa.buf<hbm, 4x6xui8> -> tensor<4x6xui8>
  %x4 = tile.load %a4 : !nisa.buf<hbm, 4x6xi32> -> tensor<4x6xi32>
  %x5 = tile.load %a5 : !nisa.buf<hbm, 4x6xi8> -> tensor<4x6xi8>
  %y0 = tile.cast %x0 : !f -> !b
  %y1 = tile.cast %x1 : !b -> tensor<4x6xf16>
  %y2 = tile.cast %x2 : tensor<4x6xi16> -> !b
  %y3 = tile.cast %x3 : tensor<4x6xui8> -> tensor<4x6xi8>
  %y4 = tile.cast %x4 : tensor<4x6xi32> -> !f
  %y5 = tile.cast %x5 : tensor<4x6xi8> -> tensor<4x6xi32>
  %z0 = tile.cast %y0 : !b -> !f
  %z1 = tile.cast %y1 : tensor<4x6xf16> -> !f
  %z2 = tile.cast %y2 : !b -> !f
  %z3 = tile.cast %y3 : tensor<4x6xi8> -> !f
  %z4 = tile.cast %y4 : !f -> tensor<4x6xi32>
  %z5 = tile.cast %y5 : tensor<4x6xi32> -> tensor<4x6xui32>
  tile.store %z0, %o[at 0, stride 6 1] : !f, !nisa.buf<hbm, 6x4x6xf32>
  tile.store %z1, %o[at 24, stride 6 1] : !f, !nisa.buf<hbm, 6x4x6xf32>
  tile.store %z2, %o[at 48, stride 6 1] : !f, !nisa.buf<hbm, 6x4x6xf32>
  tile.store %z3, %o[at 72, stride 6 1] : !f, !nisa.buf<hbm, 6x4x6xf32>
  tile.store %z4, %p : tensor<4x6xi32>, !nisa.buf<hbm, 4x6xi32>
  tile.store %z5, %q : tensor<4x6xui32>, !nisa.buf<hbm, 4x6xui32>
}

//===----------------------------------------------------------------------===//
// Matmul
//===----------------------------------------------------------------------===//

// A transposed operand is a flag; the order of the sum stays.
// CHECK-LABEL: nisa.kernel @transposes_become_flags
// CHECK:         %[[X:.*]] = tile.load %a
// CHECK-NEXT:    %[[Y:.*]] = tile.load %c
// CHECK-NEXT:    %[[M:.*]] = tile.matmul %[[X]], %[[Y]] transpose_x order chunks 128 : tensor<3x7x4xbf16>, tensor<7x5xbf16> -> tensor<3x4x5xf32>
// CHECK-NEXT:    tile.store %[[M]]
nisa.kernel @transposes_become_flags {
  %a = nisa.alloc "a" input 0 : !nisa.buf<hbm, 3x7x4xbf16>
  %c = nisa.alloc "c" input 1 : !nisa.buf<hbm, 7x5xbf16>
  %o = nisa.alloc "o" output 0 : !nisa.buf<hbm, 3x4x5xf32>
  %x = tile.load %a : !nisa.buf<hbm, 3x7x4xbf16> -> tensor<3x7x4xbf16>
  %y = tile.load %c : !nisa.buf<hbm, 7x5xbf16> -> tensor<7x5xbf16>
  %xt = tile.transpose %x [0, 2, 1] : tensor<3x7x4xbf16> -> tensor<3x4x7xbf16>
  %yt = tile.transpose %y [1, 0] : tensor<7x5xbf16> -> tensor<5x7xbf16>
  %m = tile.matmul %xt, %yt transpose_y order chunks 128 : tensor<3x4x7xbf16>, tensor<5x7xbf16> -> tensor<3x4x5xf32>
  tile.store %m, %o : tensor<3x4x5xf32>, !nisa.buf<hbm, 3x4x5xf32>
}

// Other permutations move the batch, which a flag does not.
// CHECK-LABEL: nisa.kernel @other_transposes_stay
// CHECK:         %[[T:.*]] = tile.transpose
// CHECK-NEXT:    tile.matmul %[[T]], %{{.*}} :
nisa.kernel @other_transposes_stay {
  %a = nisa.alloc "a" input 0 : !nisa.buf<hbm, 7x3x4xf32>
  %c = nisa.alloc "c" input 1 : !nisa.buf<hbm, 7x5xf32>
  %o = nisa.alloc "o" output 0 : !nisa.buf<hbm, 3x4x5xf32>
  %x = tile.load %a : !nisa.buf<hbm, 7x3x4xf32> -> tensor<7x3x4xf32>
  %y = tile.load %c : !nisa.buf<hbm, 7x5xf32> -> tensor<7x5xf32>
  %xt = tile.transpose %x [1, 2, 0] : tensor<7x3x4xf32> -> tensor<3x4x7xf32>
  %m = tile.matmul %xt, %y : tensor<3x4x7xf32>, tensor<7x5xf32> -> tensor<3x4x5xf32>
  tile.store %m, %o : tensor<3x4x5xf32>, !nisa.buf<hbm, 3x4x5xf32>
}

//===----------------------------------------------------------------------===//
// Splats
//===----------------------------------------------------------------------===//

// CHECK-LABEL: nisa.kernel @moved_splats
// CHECK:         %[[S:.*]] = tile.splat -0 : tensor<2x3x12xf32>
// CHECK-NEXT:    tile.store %[[S]]
nisa.kernel @moved_splats {
  %o = nisa.alloc "o" output 0 : !nisa.buf<hbm, 2x3x12xf32>
  %s = tile.splat -0 : tensor<6x4xf32>
  %t = tile.transpose %s [1, 0] : tensor<6x4xf32> -> tensor<4x6xf32>
  %r = tile.reshape %t : tensor<4x6xf32> -> tensor<24xf32>
  %l = tile.slice %r from [0] step [2] : tensor<24xf32> -> tensor<10xf32>
  %p = tile.pad %l low [1] high [1] with -0 : tensor<10xf32> -> tensor<12xf32>
  %b = tile.broadcast %p : tensor<12xf32> -> tensor<2x3x12xf32>
  tile.store %b, %o : tensor<2x3x12xf32>, !nisa.buf<hbm, 2x3x12xf32>
}

// The sign of a zero is a bit too.
// CHECK-LABEL: nisa.kernel @another_number_around
// CHECK:         tile.splat -0
// CHECK-NEXT:    tile.pad %{{.*}} with 0
nisa.kernel @another_number_around {
  %o = nisa.alloc "o" output 0 : !nisa.buf<hbm, 12xf32>
  %s = tile.splat -0 : tensor<10xf32>
  %p = tile.pad %s low [1] high [1] with 0 : tensor<10xf32> -> tensor<12xf32>
  tile.store %p, %o : tensor<12xf32>, !nisa.buf<hbm, 12xf32>
}

// A number both types have is the same splat; 257 is no bf16, 0.5 and -0 are no integers.
// CHECK-LABEL: nisa.kernel @cast_splats
// CHECK-DAG:     %[[A:.*]] = tile.splat 256 : tensor<3xbf16>
// CHECK-DAG:     %[[B:.*]] = tile.splat 257 : tensor<3xi32>
// CHECK-DAG:     %[[C:.*]] = tile.splat 0.5 : tensor<3xf32>
// CHECK-DAG:     %[[D:.*]] = tile.splat -0 : tensor<3xf32>
// CHECK-DAG:     tile.cast %[[B]] : tensor<3xi32> -> tensor<3xbf16>
// CHECK-DAG:     tile.cast %[[C]] : tensor<3xf32> -> tensor<3xi32>
// CHECK-DAG:     tile.cast %[[D]] : tensor<3xf32> -> tensor<3xi32>
// CHECK-NOT:     tile.cast
nisa.kernel @cast_splats {
  %o = nisa.alloc "o" output 0 : !nisa.buf<hbm, 4x3xf32>
  %a = tile.splat 256 : tensor<3xi32>
  %b = tile.splat 257 : tensor<3xi32>
  %c = tile.splat 0.5 : tensor<3xf32>
  %d = tile.splat -0 : tensor<3xf32>
  %e = tile.cast %a : tensor<3xi32> -> tensor<3xbf16>
  %f = tile.cast %b : tensor<3xi32> -> tensor<3xbf16>
  %g = tile.cast %c : tensor<3xf32> -> tensor<3xi32>
  %h = tile.cast %d : tensor<3xf32> -> tensor<3xi32>
  tile.store %e, %o[at 0, stride 1] : tensor<3xbf16>, !nisa.buf<hbm, 4x3xf32>
  tile.store %f, %o[at 3, stride 1] : tensor<3xbf16>, !nisa.buf<hbm, 4x3xf32>
  tile.store %g, %o[at 6, stride 1] : tensor<3xi32>, !nisa.buf<hbm, 4x3xf32>
  tile.store %h, %o[at 9, stride 1] : tensor<3xi32>, !nisa.buf<hbm, 4x3xf32>
}

//===----------------------------------------------------------------------===//
// Arithmetic with neutral numbers
//===----------------------------------------------------------------------===//

// x is a result of arithmetic, whose NaNs are canonical: * 1 from both sides, + -0, - 0 and the engine's
// copy change nothing.
// CHECK-LABEL: nisa.kernel @neutral_numbers
// CHECK:         %[[E:.*]] = tile.unary exp
// CHECK-NEXT:    tile.store %[[E]]
nisa.kernel @neutral_numbers {
  %a = nisa.alloc "a" : !h
  %l = tile.load %a : !h -> !f
  %one = tile.splat 1 : tensor<1xi8>
  %nz = tile.splat -0 : tensor<4x1xf32>
  %pz = tile.splat 0 : tensor<6xbf16>
  %x = tile.unary exp %l : !f -> !f
  %p = tile.binary multiply %x, %one : !f, tensor<1xi8> -> !f
  %q = tile.binary multiply %one, %p : tensor<1xi8>, !f -> !f
  %r = tile.binary add %q, %nz : !f, tensor<4x1xf32> -> !f
  %s = tile.binary add %nz, %r : tensor<4x1xf32>, !f -> !f
  %t = tile.binary subtract %s, %pz : !f, tensor<6xbf16> -> !f
  %u = tile.unary copy %t : !f -> !f
  tile.store %u, %a : !f, !h
}

// Each of these changes a bit somewhere: a loaded NaN becomes canonical, x + 0 makes +0 of -0, x - -0 too,
// 0 - x is another number; a wider result and a broadcast are other values.
// CHECK-LABEL: nisa.kernel @not_neutral
// CHECK:         tile.binary multiply
// CHECK:         tile.unary copy
// CHECK:         tile.binary add
// CHECK:         tile.binary add
// CHECK:         tile.binary subtract
// CHECK:         tile.binary subtract
// CHECK:         tile.binary multiply
// CHECK:         tile.binary multiply
nisa.kernel @not_neutral {
  %a = nisa.alloc "a" : !h
  %c = nisa.alloc "c" : !nisa.buf<hbm, 2x4x6xf32>
  %l = tile.load %a : !h -> !f
  %one = tile.splat 1 : tensor<1xf32>
  %ones = tile.splat 1 : tensor<2x1x1xf32>
  %nz = tile.splat -0 : tensor<1xf32>
  %niz = tile.splat -0 : tensor<1xi32>
  %pz = tile.splat 0 : tensor<1xf32>
  %x = tile.unary exp %l : !f -> !f
  %p = tile.binary multiply %l, %one : !f, tensor<1xf32> -> !f
  tile.store %p, %a : !f, !h
  %q = tile.unary copy %l : !f -> !f
  tile.store %q, %a : !f, !h
  %r = tile.binary add %x, %pz : !f, tensor<1xf32> -> !f
  tile.store %r, %a : !f, !h
  %s = tile.binary add %x, %niz : !f, tensor<1xi32> -> !f
  tile.store %s, %a : !f, !h
  %t = tile.binary subtract %x, %nz : !f, tensor<1xf32> -> !f
  tile.store %t, %a : !f, !h
  %u = tile.binary subtract %pz, %x : tensor<1xf32>, !f -> !f
  tile.store %u, %a : !f, !h
  %v = tile.binary multiply %x, %one : !f, tensor<1xf32> -> !b
  tile.store %v, %a : !b, !h
  %w = tile.binary multiply %x, %ones : !f, tensor<2x1x1xf32> -> tensor<2x4x6xf32>
  tile.store %w, %c : tensor<2x4x6xf32>, !nisa.buf<hbm, 2x4x6xf32>
}

// 16-bit integers come through fp32 unharmed; 32-bit ones only where all three are, and arithmetic exact.
// CHECK-LABEL: nisa.kernel @integers
// CHECK:         %[[S:.*]] = tile.load %s
// CHECK-NEXT:    tile.store %[[S]], %s
// CHECK-NEXT:    %[[W:.*]] = tile.load %w
// CHECK-NEXT:    tile.store %[[W]], %w
// CHECK-NEXT:    %[[V:.*]] = tile.binary add %[[W]], %{{.*}} : tensor<3xi32>, tensor<1xf32> -> tensor<3xi32>
// CHECK-NEXT:    tile.store %[[V]], %w
nisa.kernel @integers {
  %s = nisa.alloc "s" : !nisa.buf<hbm, 3xi16>
  %w = nisa.alloc "w" : !nisa.buf<hbm, 3xi32>
  %zf = tile.splat -0 : tensor<1xf32>
  %zi = tile.splat 0 : tensor<1xui32>
  %x = tile.load %s : !nisa.buf<hbm, 3xi16> -> tensor<3xi16>
  %y = tile.binary add %x, %zf : tensor<3xi16>, tensor<1xf32> -> tensor<3xi16>
  tile.store %y, %s : tensor<3xi16>, !nisa.buf<hbm, 3xi16>
  %p = tile.load %w : !nisa.buf<hbm, 3xi32> -> tensor<3xi32>
  %q = tile.binary add %p, %zi : tensor<3xi32>, tensor<1xui32> -> tensor<3xi32>
  tile.store %q, %w : tensor<3xi32>, !nisa.buf<hbm, 3xi32>
  %r = tile.binary add %p, %zf : tensor<3xi32>, tensor<1xf32> -> tensor<3xi32>
  tile.store %r, %w : tensor<3xi32>, !nisa.buf<hbm, 3xi32>
}

//===----------------------------------------------------------------------===//
// Hints
//===----------------------------------------------------------------------===//

// Neither an op with a hint goes, nor one below it that has one.
// CHECK-LABEL: nisa.kernel @hints_stay
// CHECK:         %[[K:.*]] = tile.cast %{{.*}} hint<in hbm>
// CHECK-NEXT:    %[[T:.*]] = tile.transpose %[[K]] [1, 0] hint<buffers 2>
// CHECK-NEXT:    %[[U:.*]] = tile.transpose %[[T]] [1, 0] :
// CHECK-NEXT:    %[[V:.*]] = tile.transpose %[[K]] [1, 0] :
// CHECK-NEXT:    %[[W:.*]] = tile.transpose %[[V]] [1, 0] hint<buffers 3>
// CHECK-NEXT:    %[[M:.*]] = tile.matmul %[[U]], %[[V]] hint<tile [128, 0]>
// CHECK-NEXT:    tile.store %[[M]]
// CHECK-NEXT:    tile.store %[[W]]
nisa.kernel @hints_stay {
  %a = nisa.alloc "a" input 0 : !h
  %o = nisa.alloc "o" output 0 : !nisa.buf<hbm, 4x4xf32>
  %p = nisa.alloc "p" output 1 : !h
  %x = tile.load %a : !h -> !f
  %k = tile.cast %x hint<in hbm> : !f -> !f
  %t = tile.transpose %k [1, 0] hint<buffers 2> : !f -> tensor<6x4xf32>
  %u = tile.transpose %t [1, 0] : tensor<6x4xf32> -> !f
  %v = tile.transpose %k [1, 0] : !f -> tensor<6x4xf32>
  %w = tile.transpose %v [1, 0] hint<buffers 3> : tensor<6x4xf32> -> !f
  %m = tile.matmul %u, %v hint<tile [128, 0]> : !f, tensor<6x4xf32> -> tensor<4x4xf32>
  tile.store %m, %o : tensor<4x4xf32>, !nisa.buf<hbm, 4x4xf32>
  tile.store %w, %p : !f, !h
}
