// Values come and go as they please, loads and stores do not: two loads are one only with no write
// between them, and what writes memory stays.
//
// RUN: kiln-opt %s -cse -canonicalize | FileCheck %s
// RUN: kiln-opt %s -tile-simplify | FileCheck %s

!h = !nisa.buf<hbm, 64x512xf32>
!t = tensor<64x512xf32>

// CHECK-LABEL: nisa.kernel @equal_loads_are_one
// CHECK:         %[[X:.*]] = tile.load %a
// CHECK-NOT:     tile.load
// CHECK:         tile.binary add %[[X]], %[[X]]
nisa.kernel @equal_loads_are_one {
  %a = nisa.alloc "a" input 0 : !h
  %b = nisa.alloc "b" output 0 : !h
  %x = tile.load %a : !h -> !t
  %y = tile.load %a : !h -> !t
  %s = tile.binary add %x, %y : !t, !t -> !t
  tile.store %s, %b : !t, !h
}

// Another part, another buffer, another wish: another value.
// CHECK-LABEL: nisa.kernel @other_loads_are_others
// CHECK-COUNT-4: tile.load
nisa.kernel @other_loads_are_others {
  %a = nisa.alloc "a" input 0 : !h
  %c = nisa.alloc "c" input 1 : !h
  %b = nisa.alloc "b" output 0 : !nisa.buf<hbm, 4x64x512xf32>
  %w = tile.load %a : !h -> !t
  %x = tile.load %a[at 32767, stride -512 -1] : !h -> !t
  %y = tile.load %c : !h -> !t
  %z = tile.load %a hint<in hbm> : !h -> !t
  tile.store %w, %b[at 0, stride 512 1] : !t, !nisa.buf<hbm, 4x64x512xf32>
  tile.store %x, %b[at 32768, stride 512 1] : !t, !nisa.buf<hbm, 4x64x512xf32>
  tile.store %y, %b[at 65536, stride 512 1] : !t, !nisa.buf<hbm, 4x64x512xf32>
  tile.store %z, %b[at 98304, stride 512 1] : !t, !nisa.buf<hbm, 4x64x512xf32>
}

// A store, a materialize, an instruction and a loop between two loads keep them apart.
// CHECK-LABEL: nisa.kernel @writes_keep_loads_apart
// CHECK:         %[[V:.*]] = tile.load %a
// CHECK-NEXT:    tile.store %[[V]], %a
// CHECK-NEXT:    %[[W:.*]] = tile.load %a
// CHECK-NEXT:    tile.store %[[W]], %b[at 0,
// CHECK-NEXT:    tile.materialize %[[W]], %u
// CHECK-NEXT:    %[[X:.*]] = tile.load %t
// CHECK-NEXT:    nisa.memset
// CHECK-NEXT:    %[[Y:.*]] = tile.load %t
// CHECK-NEXT:    nisa.for
// CHECK-NEXT:      nisa.memset
// CHECK-NEXT:    }
// CHECK-NEXT:    %[[Z:.*]] = tile.load %t
// CHECK-NEXT:    tile.store %[[X]], %b[at 32768,
// CHECK-NEXT:    tile.store %[[Y]], %b[at 65536,
// CHECK-NEXT:    tile.store %[[Z]], %b[at 98304,
nisa.kernel @writes_keep_loads_apart {
  %a = nisa.alloc "a" : !h
  %b = nisa.alloc "b" output 0 : !nisa.buf<hbm, 4x64x512xf32>
  %t = nisa.alloc "t" : !nisa.buf<sbuf, 64x512xf32>
  %u = nisa.alloc "u" : !nisa.buf<sbuf, 64x512xf32>
  %v = tile.load %a : !h -> !t
  tile.store %v, %a : !t, !h
  %w = tile.load %a : !h -> !t
  tile.store %w, %b[at 0, stride 512 1] : !t, !nisa.buf<hbm, 4x64x512xf32>
  tile.materialize %w, %u : !t, !nisa.buf<sbuf, 64x512xf32>
  %x = tile.load %t : !nisa.buf<sbuf, 64x512xf32> -> !t
  nisa.memset dst=%t[0+64, 0: 1x512] value=0 : !nisa.buf<sbuf, 64x512xf32>
  %y = tile.load %t : !nisa.buf<sbuf, 64x512xf32> -> !t
  nisa.for 2 {
    nisa.memset dst=%t[0+64, 0: 1x64 loop 64] value=0 : !nisa.buf<sbuf, 64x512xf32>
  }
  %z = tile.load %t : !nisa.buf<sbuf, 64x512xf32> -> !t
  tile.store %x, %b[at 32768, stride 512 1] : !t, !nisa.buf<hbm, 4x64x512xf32>
  tile.store %y, %b[at 65536, stride 512 1] : !t, !nisa.buf<hbm, 4x64x512xf32>
  tile.store %z, %b[at 98304, stride 512 1] : !t, !nisa.buf<hbm, 4x64x512xf32>
}

// Equal stores are two stores; a load nobody uses goes, and so does all that was computed of it.
// CHECK-LABEL: nisa.kernel @dead_values_go
// CHECK:         %[[X:.*]] = tile.load %a
// CHECK-NEXT:    tile.store %[[X]], %b
// CHECK-NEXT:    tile.store %[[X]], %b
// CHECK-NEXT:    tile.materialize %[[X]], %u
// CHECK-NEXT:    tile.materialize %[[X]], %u
// CHECK-NEXT:  }
nisa.kernel @dead_values_go {
  %a = nisa.alloc "a" input 0 : !h
  %b = nisa.alloc "b" output 0 : !h
  %c = nisa.alloc "c" input 1 : !h
  %u = nisa.alloc "u" : !nisa.buf<sbuf, 64x512xf32>
  %x = tile.load %a : !h -> !t
  %y = tile.load %c : !h -> !t
  %e = tile.unary exp %y : !t -> !t
  %m = tile.matmul %e, %x transpose_y : !t, !t -> tensor<64x64xf32>
  %s = tile.softmax %m dim 1 : tensor<64x64xf32> -> tensor<64x64xf32>
  tile.store %x, %b : !t, !h
  tile.store %x, %b : !t, !h
  tile.materialize %x, %u : !t, !nisa.buf<sbuf, 64x512xf32>
  tile.materialize %x, %u : !t, !nisa.buf<sbuf, 64x512xf32>
}

// Equal computations are one; another order, another dtype or another hint makes another value.
// CHECK-LABEL: nisa.kernel @equal_values_are_one
// CHECK:         %[[X:.*]] = tile.load
// CHECK-NEXT:    %[[A:.*]] = tile.reduce add %[[X]] over [1] keep_dims order left_to_right :
// CHECK-NEXT:    %[[B:.*]] = tile.reduce add %[[X]] over [1] keep_dims order chunks 128 :
// CHECK-NEXT:    %[[C:.*]] = tile.reduce add %[[X]] over [1] keep_dims order left_to_right from_identity :
// CHECK-NEXT:    %[[D:.*]] = tile.reduce add %[[X]] over [1] keep_dims order left_to_right hint<buffers 2> :
// CHECK-NEXT:    tile.concat %[[A]], %[[A]], %[[B]], %[[C]], %[[D]]
nisa.kernel @equal_values_are_one {
  %a = nisa.alloc "a" input 0 : !h
  %b = nisa.alloc "b" output 0 : !nisa.buf<hbm, 64x5xf32>
  %x = tile.load %a : !h -> !t
  %p = tile.reduce add %x over [1] keep_dims order left_to_right : !t -> tensor<64x1xf32>
  %q = tile.reduce add %x over [1] keep_dims order left_to_right : !t -> tensor<64x1xf32>
  %r = tile.reduce add %x over [1] keep_dims order chunks 128 : !t -> tensor<64x1xf32>
  %s = tile.reduce add %x over [1] keep_dims order left_to_right from_identity : !t -> tensor<64x1xf32>
  %t = tile.reduce add %x over [1] keep_dims order left_to_right hint<buffers 2> : !t -> tensor<64x1xf32>
  %c = tile.concat %p, %q, %r, %s, %t dim 1 : tensor<64x1xf32>, tensor<64x1xf32>, tensor<64x1xf32>, tensor<64x1xf32>, tensor<64x1xf32> -> tensor<64x5xf32>
  tile.store %c, %b : tensor<64x5xf32>, !nisa.buf<hbm, 64x5xf32>
}
