// Loops that stay, from buffers to streams.
// RUN: kiln-opt %s -kiln-place | FileCheck %s --check-prefix=PLACE
// RUN: kiln-opt %s -kiln-place=compact -kiln-schedule -kiln-synchronise | FileCheck %s --check-prefix=STREAM
// The result is read back.
// RUN: kiln-opt %s -kiln-place=compact -kiln-schedule -kiln-synchronise | kiln-opt | FileCheck %s --check-prefix=STREAM

!hbm = !nisa.buf<hbm, 1024x64xf32>
!tile = !nisa.buf<sbuf, 64x64xf32>

// "sum" is carried from iteration to iteration, so nothing lies over it, though it is used last; tiles of the
// body take turns.
// PLACE-LABEL: nisa.kernel @carried placed
// PLACE:         %sum = nisa.alloc "sum" at(0, 0)
// PLACE:         nisa.for 16 {
// PLACE-NEXT:      %t = nisa.alloc "t" at(0, 256)
// PLACE-NEXT:      nisa.dma_copy
// PLACE-NEXT:      %u = nisa.alloc "u" at(0, 512)

// A wait never names what lies on the other side of an edge, and every engine has every loop: the beginnings
// take orders 1 and 2, the ends 6 and 7.
// STREAM-LABEL: nisa.kernel @carried placed scheduled
// STREAM-DAG:     %sum = nisa.alloc "sum" at(0, 0) : !nisa.buf<sbuf, 64x64xf32>
// STREAM-DAG:     %t = nisa.alloc "t" at(0, 256) loop 0 : !nisa.buf<sbuf, 64x64xf32>
// STREAM-DAG:     %u = nisa.alloc "u" at(0, 512) loop 0 : !nisa.buf<sbuf, 64x64xf32>
// STREAM:         stream.program {
// STREAM-NEXT:      stream.queue vector {
// STREAM-NEXT:        nisa.memset dst=%sum{{.*}}#stream.sync<order 0>} :
// STREAM-NEXT:        stream.loop 16 from 1 to 6 {
// STREAM-NEXT:          nisa.reciprocal dst=%u{{.*}}#stream.sync<order 4, wait 5 reaches 16>} :
// STREAM-NEXT:          nisa.tensor_tensor dst=%sum{{.*}}#stream.sync<order 5>} :
// STREAM-NEXT:        }
// STREAM-NEXT:      }
// STREAM-NEXT:      stream.queue sync {
// STREAM-NEXT:        stream.loop 16 from 2 to 7 {
// STREAM-NEXT:          nisa.dma_copy dst=%t{{.*}} src=%x[64 rows of 64, 0: 1x64 loop 4096]{{.*}}#stream.sync<order 3, update 5 += 1>} :
// STREAM-NEXT:        }
// STREAM-NEXT:        nisa.dma_copy dst=%y{{.*}}#stream.sync<order 8, update 5 += 1>} :
// STREAM-NEXT:      }
// STREAM-NEXT:    }
// STREAM-NEXT:  }
nisa.kernel @carried {
  %x = nisa.alloc "x" input 0 : !hbm
  %y = nisa.alloc "y" output 0 : !nisa.buf<hbm, 64x64xf32>
  %sum = nisa.alloc "sum" : !tile
  nisa.memset dst=%sum[0+64, 0: 1x64] value=0 engine=vector : !tile
  nisa.for 16 {
    %t = nisa.alloc "t" : !tile
    nisa.dma_copy dst=%t[0+64, 0: 1x64] src=%x[64 rows of 64, 0: 1x64 loop 4096] engine=sync : !tile, !hbm
    %u = nisa.alloc "u" : !tile
    nisa.reciprocal dst=%u[0+64, 0: 1x64] data=%t[0+64, 0: 1x64] engine=vector : !tile, !tile
    nisa.tensor_tensor dst=%sum[0+64, 0: 1x64] data1=%sum[0+64, 0: 1x64] data2=%u[0+64, 0: 1x64] op=add engine=vector : !tile, !tile, !tile
  }
  nisa.dma_copy dst=%y[64 rows of 64, 0: 1x64] src=%sum[0+64, 0: 1x64] engine=sync : !nisa.buf<hbm, 64x64xf32>, !tile
}

// Loops inside loops, one without work for an engine, and one that holds nothing at all.
// STREAM-LABEL: nisa.kernel @nest placed scheduled
// STREAM-DAG:     %unused = nisa.alloc "unused" at({{.*}}) loop 0
// STREAM-DAG:     %t = nisa.alloc "t" at({{.*}}) loop 0
// STREAM-DAG:     %u = nisa.alloc "u" at({{.*}}) loop 1
// STREAM:         stream.queue gpsimd {
// STREAM-NEXT:      stream.loop 3 from 0 to 10 {
// STREAM-NEXT:        stream.loop 5 from 3 to 6 {
// STREAM-NEXT:          nisa.memset dst=%u[0+64, 0: 1x8 loop 0 8]{{.*}}#stream.sync<order 5>} :
// STREAM-NEXT:        }
// STREAM-NEXT:      }
// STREAM-NEXT:      stream.loop 2 from 12 to 15 {
// STREAM-NEXT:      }
// STREAM-NEXT:    }
// STREAM-NEXT:    stream.queue vector {
// STREAM-NEXT:      stream.loop 3 from 1 to 11 {
// STREAM-NEXT:        nisa.memset dst=%t{{.*}}#stream.sync<order 2>} :
// STREAM-NEXT:        stream.loop 5 from 4 to 7 {
// STREAM-NEXT:        }
// STREAM-NEXT:        nisa.memset dst=%t{{.*}}#stream.sync<order 8>} :
// STREAM-NEXT:        nisa.memset dst=%t{{.*}}#stream.sync<order 9>} :
// STREAM-NEXT:      }
// STREAM-NEXT:      stream.loop 2 from 13 to 16 {
// STREAM-NEXT:        nisa.memset dst=%v{{.*}}#stream.sync<order 14>} :
// STREAM-NEXT:      }
// STREAM-NEXT:    }
nisa.kernel @nest {
  %v = nisa.alloc "v" : !tile
  nisa.for 3 {
    %t = nisa.alloc "t" : !tile
    nisa.memset dst=%t[0+64, 0: 1x64] value=0 engine=vector : !tile
    nisa.for 5 {
      %u = nisa.alloc "u" : !tile
      nisa.memset dst=%u[0+64, 0: 1x8 loop 0 8] value=0 engine=gpsimd : !tile
    }
    nisa.for 7 {
      %unused = nisa.alloc "unused" : !tile
    }
    nisa.memset dst=%t[0+64, 0: 1x64] value=1 engine=vector : !tile
    nisa.memset dst=%t[0+64, 0: 1x64] value=2 engine=vector : !tile
  }
  nisa.for 2 {
    nisa.memset dst=%v[0+64, 0: 1x64] value=0 engine=vector : !tile
  }
}
