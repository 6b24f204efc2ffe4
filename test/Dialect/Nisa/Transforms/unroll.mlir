// RUN: kiln-opt %s -nisa-unroll | FileCheck %s
// Without loops nothing is left to do.
// RUN: kiln-opt %s -nisa-unroll | kiln-opt -nisa-unroll | FileCheck %s
// Copies keep their line.
// RUN: kiln-opt %s -nisa-unroll -mlir-print-debuginfo | FileCheck %s --check-prefix=LOC

!hbm = !nisa.buf<hbm, 256x512xf32>
!tile = !nisa.buf<sbuf, 128x512xf32>

// CHECK-LABEL: nisa.kernel @one_loop
// CHECK:         nisa.dma_copy dst=%t[0+128, 0: 1x512] src=%h[128 rows of 512, 0: 1x512] :
// CHECK-NEXT:    nisa.memset dst=%t[0+128, 3: 1x1] value=0 :
// CHECK-NEXT:    nisa.dma_copy dst=%t[0+128, 0: 1x512] src=%h[128 rows of 512, 65536: 1x512] :
// CHECK-NEXT:    nisa.memset dst=%t[0+128, 3: 1x1] value=0 :
// CHECK-NEXT:    nisa.memset dst=%t[0+128, 9: 1x1] value=1 :
// CHECK-NEXT:  }
nisa.kernel @one_loop {
  %h = nisa.alloc "h" : !hbm
  %t = nisa.alloc "t" : !tile
  nisa.for 2 {
    nisa.dma_copy dst=%t[0+128, 0: 1x512] src=%h[128 rows of 512, 0: 1x512 loop 65536] : !tile, !hbm
    nisa.memset dst=%t[0+128, 3: 1x1] value=0 : !tile
  }
  nisa.memset dst=%t[0+128, 9: 1x1] value=1 : !tile
}

// The outer loop's coefficient comes first; an instruction between the inner loops keeps its place; fields,
// attributes and engines are copied.
// CHECK-LABEL: nisa.kernel @nest
// CHECK:         nisa.memset dst=%t[0+128, 100: 1x1] value=7 engine=gpsimd {tag = 1 : i64} :
// CHECK-NEXT:    nisa.memset dst=%t[0+128, 90: 1x1] value=7 engine=gpsimd {tag = 1 : i64} :
// CHECK-NEXT:    nisa.memset dst=%t[0+128, 80: 1x1] value=7 engine=gpsimd {tag = 1 : i64} :
// CHECK-NEXT:    nisa.memset dst=%t[0+128, 5: 1x1] value=1 :
// CHECK-NEXT:    nisa.memset dst=%t[0+128, 101: 1x1] value=7 engine=gpsimd {tag = 1 : i64} :
// CHECK-NEXT:    nisa.memset dst=%t[0+128, 91: 1x1] value=7 engine=gpsimd {tag = 1 : i64} :
// CHECK-NEXT:    nisa.memset dst=%t[0+128, 81: 1x1] value=7 engine=gpsimd {tag = 1 : i64} :
// CHECK-NEXT:    nisa.memset dst=%t[0+128, 7: 1x1] value=1 :
// CHECK-NEXT:  }
// LOC:           value=7 {{.*}} loc(#[[LOC:.*]])
// LOC-NEXT:      value=7 {{.*}} loc(#[[LOC]])
nisa.kernel @nest {
  %t = nisa.alloc "t" : !tile
  nisa.for 2 {
    nisa.for 3 {
      nisa.memset dst=%t[0+128, 100: 1x1 loop 1 -10] value=7 engine=gpsimd {tag = 1} : !tile
    }
    nisa.memset dst=%t[0+128, 5: 1x1 loop 2] value=1 : !tile
  }
}
