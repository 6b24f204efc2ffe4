// RUN: kiln-opt %s -kiln-synchronise | FileCheck %s

// Load, compute, store: the compute waits for all sixteen increments of the load's ring, the store for the
// compute. A second load into the same bytes waits until the compute has read them.
// CHECK-LABEL: nisa.kernel @pipeline
// CHECK: stream.queue vector {
// CHECK-NEXT: nisa.reciprocal {{.*}}stream.sync = #stream.sync<order 1, wait 5 reaches 16, update 3 += 1>
// CHECK-NEXT: nisa.reciprocal {{.*}}stream.sync = #stream.sync<order 4, wait 7 reaches 16, update 3 += 1>
// CHECK: stream.queue sync {
// CHECK-NEXT: nisa.dma_copy dst=%{{.*}} engine=sync {stream.sync = #stream.sync<order 0, update 5 += 1>}
// CHECK-NEXT: nisa.dma_copy {{.*}} ring=1 engine=sync {stream.sync = #stream.sync<order 2, wait 3 reaches 1, update 6 += 1>}
// CHECK-NEXT: nisa.dma_copy {{.*}} ring=2 engine=sync {stream.sync = #stream.sync<order 3, update 7 += 1>}
nisa.kernel @pipeline placed scheduled {
  %x = nisa.alloc "x" input 0 : !nisa.buf<hbm, 128x64xf32>
  %y = nisa.alloc "y" output 0 : !nisa.buf<hbm, 128x64xf32>
  %t = nisa.alloc "t" at(0, 0) : !nisa.buf<sbuf, 64x64xf32>
  %r = nisa.alloc "r" at(0, 256) : !nisa.buf<sbuf, 64x64xf32>
  %q = nisa.alloc "q" at(0, 512) : !nisa.buf<sbuf, 64x64xf32>
  nisa.dma_copy dst=%t[0+64, 0: 1x64] src=%x[64 rows of 64, 0: 1x64] engine=sync : !nisa.buf<sbuf, 64x64xf32>, !nisa.buf<hbm, 128x64xf32>
  nisa.reciprocal dst=%r[0+64, 0: 1x64] data=%t[0+64, 0: 1x64] engine=vector : !nisa.buf<sbuf, 64x64xf32>, !nisa.buf<sbuf, 64x64xf32>
  nisa.dma_copy dst=%y[64 rows of 64, 0: 1x64] src=%r[0+64, 0: 1x64] engine=sync : !nisa.buf<hbm, 128x64xf32>, !nisa.buf<sbuf, 64x64xf32>
  nisa.dma_copy dst=%t[0+64, 0: 1x64] src=%x[64 rows of 64, 4096: 1x64] engine=sync : !nisa.buf<sbuf, 64x64xf32>, !nisa.buf<hbm, 128x64xf32>
  nisa.reciprocal dst=%q[0+64, 0: 1x64] data=%t[0+64, 0: 1x64] engine=vector : !nisa.buf<sbuf, 64x64xf32>, !nisa.buf<sbuf, 64x64xf32>
  nisa.dma_copy dst=%y[64 rows of 64, 4096: 1x64] src=%q[0+64, 0: 1x64] engine=sync : !nisa.buf<hbm, 128x64xf32>, !nisa.buf<sbuf, 64x64xf32>
}
