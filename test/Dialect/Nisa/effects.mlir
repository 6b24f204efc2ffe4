// Instructions declare what they read and write, so that common-subexpression elimination and dead-code
// removal cannot touch them; only a buffer nobody names and nobody outside sees goes away.
//
// RUN: kiln-opt %s -cse -canonicalize | FileCheck %s

!tile = !nisa.buf<sbuf, 128x512xf32>
!hbm = !nisa.buf<hbm, 128x512xf32>

// CHECK-LABEL: nisa.kernel @stores_stay
// CHECK-NOT:     "unused_tile"
// CHECK:         nisa.alloc "unused_input"
// CHECK-NEXT:    nisa.alloc "unused_output"
// CHECK-NEXT:    nisa.alloc "unused_constant"
// CHECK-NEXT:    nisa.alloc "t"
// CHECK-NEXT:    nisa.memset
// CHECK-NEXT:    nisa.memset
// CHECK-NEXT:    nisa.tensor_copy
// CHECK-NEXT:    nisa.tensor_copy
// CHECK-NEXT:    nisa.for 2 {
// CHECK-NEXT:      nisa.memset
// CHECK-NEXT:      nisa.memset
nisa.kernel @stores_stay {
  %a = nisa.alloc "unused_tile" : !tile
  %b = nisa.alloc "unused_input" input 0 : !hbm
  %c = nisa.alloc "unused_output" output 0 : !hbm
  %d = nisa.alloc "unused_constant" = dense<0.0> : tensor<128x512xf32> : !hbm
  %t = nisa.alloc "t" : !tile
  nisa.memset dst=%t[0+128, 0: 1x512] value=0 : !tile
  nisa.memset dst=%t[0+128, 0: 1x512] value=0 : !tile
  nisa.tensor_copy dst=%t[0+128, 0: 1x256] src=%t[0+128, 256: 1x256] : !tile, !tile
  nisa.tensor_copy dst=%t[0+128, 0: 1x256] src=%t[0+128, 256: 1x256] : !tile, !tile
  nisa.for 2 {
    nisa.memset dst=%t[0+128, 0: 1x64 loop 64] value=0 : !tile
    nisa.memset dst=%t[0+128, 0: 1x64 loop 64] value=0 : !tile
  }
}

// Equal declarations are two buffers.
// CHECK-LABEL: nisa.kernel @buffers_stay_apart
// CHECK:         nisa.memset dst=%t[
// CHECK:         nisa.memset dst=%u[
nisa.kernel @buffers_stay_apart {
  %t = nisa.alloc "t" : !tile
  %u = nisa.alloc "u" : !tile
  nisa.memset dst=%t[0+128, 0: 1x512] value=0 : !tile
  nisa.memset dst=%u[0+128, 0: 1x512] value=0 : !tile
}
