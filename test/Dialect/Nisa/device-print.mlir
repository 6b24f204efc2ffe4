// A print reads any memory from any partition, and its text is one of the kernel's.
//
// RUN: kiln-opt %s -split-input-file -verify-diagnostics | FileCheck %s
// RUN: kiln-opt %s -split-input-file -verify-diagnostics -cse -canonicalize | FileCheck %s

// CHECK-LABEL: nisa.kernel @print texts ["t = ", "a\22quote"] {
// CHECK:         nisa.device_print data=%t[5+3, 1: 2x4] text=0 :
// CHECK-NEXT:    nisa.device_print data=%t[5+3, 1: 2x4] text=0 :
// CHECK-NEXT:    nisa.device_print data=%p[0+128, 0: 1x512] text=1 engine=sync :
// CHECK-NEXT:    nisa.device_print data=%x[0: 1x8] text=0 flat=true :
// CHECK-NEXT:    nisa.for 3 {
// CHECK-NEXT:      nisa.device_print data=%x[2 rows of 512, 0: 1x8 loop 512] text=0 loops=2 base=[7 0 0 0] step=[0 2 0 0] :
nisa.kernel @print texts ["t = ", "a\22quote"] {
  %t = nisa.alloc "t" : !nisa.buf<sbuf, 128x512xf32>
  %p = nisa.alloc "p" : !nisa.buf<psum, 128x512xf32>
  %x = nisa.alloc "x" input 0 : !nisa.buf<hbm, 128x512xf32>
  nisa.device_print data=%t[5+3, 1: 2x4] text=0 : !nisa.buf<sbuf, 128x512xf32>
  nisa.device_print data=%t[5+3, 1: 2x4] text=0 : !nisa.buf<sbuf, 128x512xf32>
  nisa.device_print data=%p[0+128, 0: 1x512] text=1 engine=sync : !nisa.buf<psum, 128x512xf32>
  nisa.device_print data=%x[0: 1x8] text=0 flat=true : !nisa.buf<hbm, 128x512xf32>
  nisa.for 3 {
    nisa.device_print data=%x[2 rows of 512, 0: 1x8 loop 512] text=0 loops=2 base=[7 0 0 0] step=[0 2 0 0]
      : !nisa.buf<hbm, 128x512xf32>
  }
}

// -----

nisa.kernel @no_text {
  %t = nisa.alloc "t" : !nisa.buf<sbuf, 128x512xf32>
  // expected-error @+1 {{text 0 is shown, the kernel has 0}}
  nisa.device_print data=%t[0+128, 0: 1x512] text=0 : !nisa.buf<sbuf, 128x512xf32>
}

// -----

nisa.kernel @no_loop texts ["t"] {
  %t = nisa.alloc "t" : !nisa.buf<sbuf, 128x512xf32>
  nisa.for 2 {
    // expected-error @+1 {{the iterations of 2 loops are shown, there are 1 around it}}
    nisa.device_print data=%t[0+128, 0: 1x512] text=0 loops=2 step=[1 1 0 0] : !nisa.buf<sbuf, 128x512xf32>
  }
}

// -----

nisa.kernel @rules texts ["t"] {
  %t = nisa.alloc "t" : !nisa.buf<sbuf, 128x512xf32>
  // expected-error @+2 {{[X-06] flat of device_print is true, but data is (128, 512): only one row of one free dim is one dim}}
  // expected-note @+1 {{help: leave flat out}}
  nisa.device_print data=%t[0+128, 0: 1x512] text=0 flat=true : !nisa.buf<sbuf, 128x512xf32>
}

// -----

nisa.kernel @too_many_loops texts ["t"] {
  %t = nisa.alloc "t" : !nisa.buf<sbuf, 128x512xf32>
  // expected-error @+1 {{[X-06] loops of device_print is 5, at most 4 stand inside one another}}
  nisa.device_print data=%t[0+128, 0: 1x512] text=0 loops=5 : !nisa.buf<sbuf, 128x512xf32>
}

// -----

nisa.kernel @numbers_beyond texts ["t"] {
  %t = nisa.alloc "t" : !nisa.buf<sbuf, 128x512xf32>
  // expected-error @+2 {{[X-06] device_print has numbers for loop 1, loops is 1}}
  // expected-note @+1 {{help: write 0 for the loops there are not}}
  nisa.device_print data=%t[0+128, 0: 1x512] text=0 loops=1 base=[0 2 0 0] : !nisa.buf<sbuf, 128x512xf32>
}

// -----

nisa.kernel @engine texts ["t"] {
  %t = nisa.alloc "t" : !nisa.buf<sbuf, 128x512xf32>
  // expected-error @+2 {{[B-07] device_print runs on sync, not on vector}}
  // expected-note @+1 {{help: leave the engine unset, or name one that has the instruction}}
  nisa.device_print data=%t[0+128, 0: 1x512] text=0 engine=vector : !nisa.buf<sbuf, 128x512xf32>
}
