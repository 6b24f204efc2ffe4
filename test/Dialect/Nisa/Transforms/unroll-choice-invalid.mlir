// RUN: kiln-opt %s -nisa-unroll="full-limit=6 body-target=6 max-factor=2 max-instructions=12" -split-input-file -verify-diagnostics

// Six times two copies are allowed (control): the loop's length does not count.
!tile = !nisa.buf<sbuf, 128x512xf32>
nisa.kernel @fits {
  %t = nisa.alloc "t" : !tile
  nisa.for 4294967296 {
    nisa.memset dst=%t[0+128, 0: 1x1] value=0 : !tile
    nisa.memset dst=%t[0+128, 0: 1x1] value=0 : !tile
    nisa.memset dst=%t[0+128, 0: 1x1] value=0 : !tile
  }
  nisa.for 6 {
    nisa.memset dst=%t[0+128, 0: 1x1] value=0 : !tile
  }
}

// -----

!tile = !nisa.buf<sbuf, 128x512xf32>
// expected-error @below {{[K-12] writing the loops out gives 13 instructions, more than 12}}
// expected-note @below {{help: let one instruction do more: a larger tile, or more free dims in an access}}
nisa.kernel @one_too_many {
  %t = nisa.alloc "t" : !tile
  nisa.for 7 {
    nisa.for 6 {
      nisa.memset dst=%t[0+128, 0: 1x1] value=0 : !tile
    }
  }
  nisa.for 6 {
    nisa.memset dst=%t[0+128, 0: 1x1] value=0 : !tile
  }
  nisa.memset dst=%t[0+128, 0: 1x1] value=0 : !tile
}

// -----

!tile = !nisa.buf<sbuf, 128x512xf32>
nisa.kernel @too_long {
  %t = nisa.alloc "t" : !tile
  // expected-error @below {{[K-12] a loop of 8589934592 iterations, more than 4294967295 even in groups of 2}}
  // expected-note @below {{help: put a loop inside a loop, or let one iteration do more}}
  nisa.for 8589934592 {
    nisa.memset dst=%t[0+128, 0: 1x1] value=0 : !tile
  }
}
