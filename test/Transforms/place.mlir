// RUN: kiln-opt %s -kiln-place | FileCheck %s
// RUN: kiln-opt %s -kiln-place=compact | FileCheck %s --check-prefix=COMPACT

// Rotation takes fresh addresses while there are any, so that iterations overlap; compact reuses at once.
// CHECK-LABEL: nisa.kernel @rotates placed
// CHECK: "t0" at(0, 0) : !nisa.buf<sbuf, 64x100xf32>
// CHECK: "t1" at(0, 448) : !nisa.buf<sbuf, 64x100xf32>
// CHECK: "t2" at(0, 896) : !nisa.buf<sbuf, 64x100xf32>
// COMPACT-LABEL: nisa.kernel @rotates placed
// COMPACT: "t0" at(0, 0) : !nisa.buf<sbuf, 64x100xf32>
// COMPACT: "t1" at(0, 0) : !nisa.buf<sbuf, 64x100xf32>
// COMPACT: "t2" at(0, 0) : !nisa.buf<sbuf, 64x100xf32>
nisa.kernel @rotates {
  %0 = nisa.alloc "t0" : !nisa.buf<sbuf, 64x100xf32>
  %1 = nisa.alloc "t1" : !nisa.buf<sbuf, 64x100xf32>
  %2 = nisa.alloc "t2" : !nisa.buf<sbuf, 64x100xf32>
  nisa.memset dst=%0[0+64, 0: 1x100] value=0 engine=vector : !nisa.buf<sbuf, 64x100xf32>
  nisa.memset dst=%1[0+64, 0: 1x100] value=0 engine=vector : !nisa.buf<sbuf, 64x100xf32>
  nisa.memset dst=%2[0+64, 0: 1x100] value=0 engine=vector : !nisa.buf<sbuf, 64x100xf32>
}

// PSUM tensors start at banks; one of 600 floats takes two.
// CHECK-LABEL: nisa.kernel @banks placed
// CHECK: "wide" at(0, 0) : !nisa.buf<psum, 64x600xf32>
// CHECK: "narrow" at(0, 4096) : !nisa.buf<psum, 64x8xf32>
nisa.kernel @banks {
  %0 = nisa.alloc "wide" : !nisa.buf<psum, 64x600xf32>
  %1 = nisa.alloc "narrow" : !nisa.buf<psum, 64x8xf32>
  nisa.memset dst=%0[0+64, 0: 1x600] value=0 engine=vector : !nisa.buf<psum, 64x600xf32>
  nisa.memset dst=%1[0+64, 0: 1x8] value=0 engine=vector : !nisa.buf<psum, 64x8xf32>
  nisa.tensor_copy dst=%1[0+64, 0: 1x8] src=%0[0+64, 0: 1x8] engine=vector : !nisa.buf<psum, 64x8xf32>, !nisa.buf<psum, 64x600xf32>
}

// The author's address stays, and others avoid it while it is live.
// CHECK-LABEL: nisa.kernel @by_hand placed
// CHECK: "mine" at(0, 0) : !nisa.buf<sbuf, 64x16xf32>
// CHECK: "other" at(0, 64) : !nisa.buf<sbuf, 64x16xf32>
nisa.kernel @by_hand {
  %0 = nisa.alloc "mine" at(0, 0) : !nisa.buf<sbuf, 64x16xf32>
  %1 = nisa.alloc "other" : !nisa.buf<sbuf, 64x16xf32>
  nisa.memset dst=%0[0+64, 0: 1x16] value=0 engine=vector : !nisa.buf<sbuf, 64x16xf32>
  nisa.tensor_copy dst=%1[0+64, 0: 1x16] src=%0[0+64, 0: 1x16] engine=vector : !nisa.buf<sbuf, 64x16xf32>, !nisa.buf<sbuf, 64x16xf32>
}
