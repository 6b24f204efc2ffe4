// RUN: kiln-opt %s -nisa-unroll="max-instructions=13" -split-input-file -verify-diagnostics
// RUN: not kiln-opt %s -nisa-unroll="max-instructions=13" -split-input-file 2>&1 >%t.out | FileCheck %s

// The message does not print the kernel, which is long when this goes wrong.
// CHECK: error: [K-12] writing the loops out gives 14 instructions, more than 13
// CHECK-NOT: nisa.memset

// Thirteen instructions are allowed (control).
!tile = !nisa.buf<sbuf, 128x512xf32>
nisa.kernel @fits {
  %t = nisa.alloc "t" : !tile
  nisa.for 4 {
    nisa.for 3 {
      nisa.memset dst=%t[0+128, 0: 1x1] value=0 : !tile
    }
  }
  nisa.memset dst=%t[0+128, 0: 1x1] value=0 : !tile
}

// -----

// More without loops (control): there is nothing to write out.
!tile = !nisa.buf<sbuf, 128x512xf32>
nisa.kernel @no_loops {
  %t = nisa.alloc "t" : !tile
  nisa.memset dst=%t[0+128, 0: 1x1] value=0 : !tile
  nisa.memset dst=%t[0+128, 0: 1x1] value=0 : !tile
  nisa.memset dst=%t[0+128, 0: 1x1] value=0 : !tile
  nisa.memset dst=%t[0+128, 0: 1x1] value=0 : !tile
  nisa.memset dst=%t[0+128, 0: 1x1] value=0 : !tile
  nisa.memset dst=%t[0+128, 0: 1x1] value=0 : !tile
  nisa.memset dst=%t[0+128, 0: 1x1] value=0 : !tile
  nisa.memset dst=%t[0+128, 0: 1x1] value=0 : !tile
  nisa.memset dst=%t[0+128, 0: 1x1] value=0 : !tile
  nisa.memset dst=%t[0+128, 0: 1x1] value=0 : !tile
  nisa.memset dst=%t[0+128, 0: 1x1] value=0 : !tile
  nisa.memset dst=%t[0+128, 0: 1x1] value=0 : !tile
  nisa.memset dst=%t[0+128, 0: 1x1] value=0 : !tile
  nisa.memset dst=%t[0+128, 0: 1x1] value=0 : !tile
}

// -----

!tile = !nisa.buf<sbuf, 128x512xf32>
// expected-error @below {{[K-12] writing the loops out gives 14 instructions, more than 13}}
// expected-note @below {{help: let one instruction do more: a larger tile, or more free dims in an access}}
nisa.kernel @one_too_many {
  %t = nisa.alloc "t" : !tile
  nisa.for 7 {
    nisa.for 2 {
      nisa.memset dst=%t[0+128, 0: 1x1] value=0 : !tile
    }
  }
}

// -----

// A count that overflows 64 bits is no small one.
!tile = !nisa.buf<sbuf, 128x512xf32>
// expected-error @below {{[K-12] writing the loops out gives 18446744073709551615 instructions, more than 13}}
// expected-note @below {{help: let one instruction do more: a larger tile, or more free dims in an access}}
nisa.kernel @saturates {
  %t = nisa.alloc "t" : !tile
  nisa.for 9223372036854775807 {
    nisa.for 9223372036854775807 {
      nisa.memset dst=%t[0+128, 0: 1x1] value=0 : !tile
    }
  }
}
