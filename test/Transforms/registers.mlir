// RUN: kiln-opt %s | kiln-opt | FileCheck %s --check-prefix=TEXT
// RUN: kiln-opt -pass-pipeline='builtin.module(nisa.kernel(kiln-resolve-engines,kiln-registers))' %s | FileCheck %s
// RUN: kiln-opt -pass-pipeline='builtin.module(nisa.kernel(nisa-unroll))' %s | FileCheck %s --check-prefix=UNROLL

// Every form of a loop, and both bounds of a range as registers and numbers.
// TEXT-LABEL: nisa.kernel @forms
// TEXT: nisa.register_move dst=r0 value=-5
// TEXT: nisa.for r1 = 0 to r0 step 4 {
// TEXT: nisa.memset dst=%t[0+4, 0: 1x4 by r1 * 4 below 8] value=0
// TEXT: nisa.for while r0 {
// TEXT: nisa.for if r0 {
// TEXT: nisa.for r2 = r0 to -3 {
// TEXT: nisa.register_store dst=%n[0+1, 0: 1x1] src=r2

// Vector clears, Sync stores: both decide the loops, one writes memory.
// CHECK-LABEL: nisa.kernel @forms
// CHECK: nisa.register_move dst=r0 value=-5 engine=vector
// CHECK-NEXT: nisa.register_move dst=r0 value=-5 engine=sync
// CHECK-NEXT: nisa.for r1 = 0 to r0 step 4 {
// CHECK: nisa.memset dst=%t[0+4, 0: 1x4 by r1 * 4 below 8] value=0 engine=vector
// CHECK: nisa.for r1 = r0 to -3 {
// CHECK: nisa.register_store dst=%n[0+1, 0: 1x1] src=r1 engine=sync
// CHECK-NOT: nisa.register_store

// A loop of the run stays, whatever it holds.
// UNROLL-LABEL: nisa.kernel @forms
// UNROLL: nisa.for r1 = 0 to r0 step 4 {
// UNROLL: nisa.for while r0 {
nisa.kernel @forms {
  %t = nisa.alloc "t" : !nisa.buf<sbuf, 4x32xf32>
  %n = nisa.alloc "n" : !nisa.buf<sbuf, 1x1xi32>
  %y = nisa.alloc "y" output 0 : !nisa.buf<hbm, 4x32xf32>
  nisa.register_move dst=r0 value=-5
  nisa.for r1 = 0 to r0 step 4 {
    nisa.memset dst=%t[0+4, 0: 1x4 by r1 * 4 below 8] value=0 : !nisa.buf<sbuf, 4x32xf32>
    nisa.for while r0 {
      nisa.for if r0 {
        nisa.register_alu dst=r0 src=r0 op=add value=1
      }
    }
  }
  nisa.for r2 = r0 to -3 {
    nisa.register_store dst=%n[0+1, 0: 1x1] src=r2 : !nisa.buf<sbuf, 1x1xi32>
  }
  nisa.dma_copy dst=%y[4 rows of 32, 0: 1x32] src=%t[0+4, 0: 1x32]
    : !nisa.buf<hbm, 4x32xf32>, !nisa.buf<sbuf, 4x32xf32>
}
