// RUN: kiln-opt %s | kiln-opt | FileCheck %s
// RUN: kiln-opt %s -mlir-print-op-generic | kiln-opt | FileCheck %s

!hbm = !nisa.buf<hbm, 128x512xf32>
!tile = !nisa.buf<sbuf, 128x512xf32>

// CHECK-LABEL: nisa.kernel @empty
// CHECK:         stream.program {
// CHECK-NEXT:    }
nisa.kernel @empty {
  stream.program {
  }
}

// All parts of a sync attribute on and off, in either order; numbers up to 32 bits.
// CHECK-LABEL: nisa.kernel @queues
// CHECK:         stream.program attributes {note} {
// CHECK-NEXT:      stream.queue gpsimd {
// CHECK-NEXT:        nisa.memset dst=%t[0+128, 0: 1x512] value=0 engine=gpsimd {stream.sync = #stream.sync<order 1>} :
// CHECK-NEXT:        nisa.memset dst=%t[0+128, 0: 1x512] value=0 engine=gpsimd {stream.sync = #stream.sync<order 4294967295, update 255 += 4294967295>} :
// CHECK-NEXT:      }
// CHECK-NEXT:      stream.queue vector attributes {note} {
// CHECK-NEXT:        stream.wait order 2, 1 reaches 32
// CHECK-NEXT:        stream.wait order 3, 255 reaches 4294967295 {note}
// CHECK-NEXT:        nisa.reciprocal dst=%t[0+128, 0: 1x512] data=%t[0+128, 0: 1x512] engine=vector {stream.sync = #stream.sync<order 5, wait 255 reaches 1, update 0 += 1>} :
// CHECK-NEXT:      }
// CHECK-NEXT:      stream.queue sync {
// CHECK-NEXT:        nisa.dma_copy dst=%t[0+128, 0: 1x512] src=%x[128 rows of 512, 0: 1x512] engine=sync {stream.sync = #stream.sync<order 0, update 1 += 1>} :
// CHECK-NEXT:        nisa.dma_copy dst=%y[128 rows of 512, 0: 1x512] src=%t[0+128, 0: 1x512] engine=sync {stream.sync = #stream.sync<order 6, wait 0 reaches 1, update 1 += 1>} :
// CHECK-NEXT:      }
// CHECK-NEXT:    }
nisa.kernel @queues {
  %x = nisa.alloc "x" input 0 : !hbm
  %y = nisa.alloc "y" output 0 : !hbm
  %t = nisa.alloc "t" : !tile
  stream.program attributes {note} {
    stream.queue gpsimd {
      nisa.memset dst=%t[0+128, 0: 1x512] value=0 engine=gpsimd {stream.sync = #stream.sync<order 1>} : !tile
      nisa.memset dst=%t[0+128, 0: 1x512] value=0 engine=gpsimd {stream.sync = #stream.sync<order 4294967295, update 255 += 4294967295>} : !tile
    }
    stream.queue vector attributes {note} {
      stream.wait order 2, 1 reaches 32
      stream.wait order 3, 255 reaches 4294967295 {note}
      nisa.reciprocal dst=%t[0+128, 0: 1x512] data=%t[0+128, 0: 1x512] engine=vector {stream.sync = #stream.sync<order 5, update 0 += 1, wait 255 reaches 1>} : !tile, !tile
    }
    stream.queue sync {
      nisa.dma_copy dst=%t[0+128, 0: 1x512] src=%x[128 rows of 512, 0: 1x512] engine=sync {stream.sync = #stream.sync<order 0, update 1 += 1>} : !tile, !hbm
      nisa.dma_copy dst=%y[128 rows of 512, 0: 1x512] src=%t[0+128, 0: 1x512] engine=sync {stream.sync = #stream.sync<order 6, wait 0 reaches 1, update 1 += 1>} : !hbm, !tile
    }
  }
}

// Queues are not touched by clean-up passes.
// RUN: kiln-opt %s -cse -canonicalize | FileCheck %s

// CHECK-LABEL: nisa.kernel @loops
// CHECK:         stream.queue vector {
// CHECK-NEXT:      stream.loop 4294967295 from 0 to 12 attributes {note} {
// CHECK-NEXT:        stream.loop 2 from 2 to 8 {
// CHECK-NEXT:          nisa.memset dst=%t[0+128, 0: 1x64 loop 0 64] value=0 engine=vector {stream.sync = #stream.sync<order 4, update 0 += 1>} :
// CHECK-NEXT:        }
// CHECK-NEXT:        nisa.memset dst=%t[0+128, 0: 1x64] value=0 engine=vector {stream.sync = #stream.sync<order 11, update 0 += 1>} :
// CHECK-NEXT:      }
// CHECK-NEXT:    }
// CHECK-NEXT:    stream.queue sync {
// CHECK-NEXT:      stream.loop 4294967295 from 1 to 13 {
// CHECK-NEXT:        stream.loop 2 from 3 to 9 {
// CHECK-NEXT:          stream.wait order 5, 0 reaches 1
// CHECK-NEXT:        }
// CHECK-NEXT:      }
// CHECK-NEXT:    }
nisa.kernel @loops {
  %t = nisa.alloc "t" : !tile
  stream.program {
    stream.queue vector {
      stream.loop 4294967295 from 0 to 12 attributes {note} {
        stream.loop 2 from 2 to 8 {
          nisa.memset dst=%t[0+128, 0: 1x64 loop 0 64] value=0 engine=vector {stream.sync = #stream.sync<order 4, update 0 += 1>} : !tile
        }
        nisa.memset dst=%t[0+128, 0: 1x64] value=0 engine=vector {stream.sync = #stream.sync<order 11, update 0 += 1>} : !tile
      }
    }
    stream.queue sync {
      stream.loop 4294967295 from 1 to 13 {
        stream.loop 2 from 3 to 9 {
          stream.wait order 5, 0 reaches 1
        }
      }
    }
  }
}
