// RUN: kiln-opt %s -nisa-unroll="full-limit=6 body-target=6 max-factor=3" | FileCheck %s
// What has been decided stays decided: a second run finds bodies that are large enough.
// RUN: kiln-opt %s -nisa-unroll="full-limit=6 body-target=6 max-factor=3" | kiln-opt -nisa-unroll="full-limit=0 body-target=2 max-factor=3" | FileCheck %s --check-prefix=TWICE

!hbm = !nisa.buf<hbm, 4096xf32>
!tile = !nisa.buf<sbuf, 1x512xf32>

// Six instructions are written out as a whole.
// CHECK-LABEL: nisa.kernel @small
// CHECK-NOT:     nisa.for
// CHECK:         nisa.memset dst=%t[0+1, 0: 1x1]
// CHECK-NEXT:    nisa.memset dst=%t[0+1, 5: 1x1]
// CHECK:         nisa.memset dst=%t[0+1, 25: 1x1]
// CHECK-NEXT:  }
// TWICE-LABEL: nisa.kernel @small
nisa.kernel @small {
  %t = nisa.alloc "t" : !tile
  nisa.for 6 {
    nisa.memset dst=%t[0+1, 0: 1x1 loop 5] value=0 : !tile
  }
}

// Seven are not: three iterations stand in the body of two, and one is left over. Copies have buffers of
// their own, all under names of their own.
// CHECK-LABEL: nisa.kernel @left_over
// CHECK-NEXT:    %h = nisa.alloc "h" : !nisa.buf<hbm, 4096xf32>
// CHECK-NEXT:    nisa.for 2 {
// CHECK-NEXT:      %t = nisa.alloc "t" : !nisa.buf<sbuf, 1x512xf32>
// CHECK-NEXT:      nisa.dma_copy dst=%t[0+1, 0: 1x512] src=%h[0: 1x512 loop 1536] :
// CHECK-NEXT:      %t.1 = nisa.alloc "t.1" : !nisa.buf<sbuf, 1x512xf32>
// CHECK-NEXT:      nisa.dma_copy dst=%t.1[0+1, 0: 1x512] src=%h[512: 1x512 loop 1536] :
// CHECK-NEXT:      %t.2 = nisa.alloc "t.2" : !nisa.buf<sbuf, 1x512xf32>
// CHECK-NEXT:      nisa.dma_copy dst=%t.2[0+1, 0: 1x512] src=%h[1024: 1x512 loop 1536] :
// CHECK-NEXT:    }
// CHECK-NEXT:    %t.3 = nisa.alloc "t.3" : !nisa.buf<sbuf, 1x512xf32>
// CHECK-NEXT:    nisa.dma_copy dst=%t.3[0+1, 0: 1x512] src=%h[3072: 1x512] :
// CHECK-NEXT:  }
nisa.kernel @left_over {
  %h = nisa.alloc "h" : !hbm
  nisa.for 7 {
    %t = nisa.alloc "t" : !tile
    nisa.dma_copy dst=%t[0+1, 0: 1x512] src=%h[0: 1x512 loop 512] : !tile, !hbm
  }
}

// Of three and two, the one that leaves nothing over.
// CHECK-LABEL: nisa.kernel @divides
// CHECK:         nisa.for 4 {
// CHECK-NEXT:      nisa.memset dst=%t[0+1, 0: 1x1 loop 2]
// CHECK-NEXT:      nisa.memset dst=%t[0+1, 1: 1x1 loop 2]
// CHECK-NEXT:    }
// CHECK-NEXT:  }
nisa.kernel @divides {
  %t = nisa.alloc "t" : !tile
  nisa.for 8 {
    nisa.memset dst=%t[0+1, 0: 1x1 loop 1] value=0 : !tile
  }
}

// A body that is large enough stays as it is.
// CHECK-LABEL: nisa.kernel @large_body
// CHECK:         nisa.for 8 {
// CHECK-COUNT-4:   nisa.memset
// CHECK-NEXT:    }
// CHECK-NEXT:  }
nisa.kernel @large_body {
  %t = nisa.alloc "t" : !tile
  nisa.for 8 {
    nisa.memset dst=%t[0+1, 0: 1x1 loop 1] value=0 : !tile
    nisa.memset dst=%t[0+1, 1: 1x1 loop 1] value=0 : !tile
    nisa.memset dst=%t[0+1, 2: 1x1 loop 1] value=0 : !tile
    nisa.memset dst=%t[0+1, 3: 1x1 loop 1] value=0 : !tile
  }
}

// Inside a loop that stays a nest of six is written out; its coefficient is gone, the outer one stays.
// CHECK-LABEL: nisa.kernel @inner_written_out
// CHECK:         nisa.for 100 {
// CHECK-NEXT:      nisa.memset dst=%t[0+1, 7: 1x1 loop 4]
// CHECK-NEXT:      nisa.memset dst=%t[0+1, 5: 1x1 loop 4]
// CHECK-NEXT:      nisa.memset dst=%t[0+1, 3: 1x1 loop 4]
// CHECK-NEXT:      nisa.memset dst=%t[0+1, 0: 1x1] value=1
// CHECK-NEXT:    }
// CHECK-NEXT:  }
nisa.kernel @inner_written_out {
  %t = nisa.alloc "t" : !tile
  nisa.for 100 {
    nisa.for 3 {
      nisa.memset dst=%t[0+1, 7: 1x1 loop 4 -2] value=0 : !tile
    }
    nisa.memset dst=%t[0+1, 0: 1x1] value=1 : !tile
  }
}

// Both stay: only the inner one gets more iterations into its body, with its buffers; those of the outer
// loop stay where they are. What is left over stands between the loops.
// CHECK-LABEL: nisa.kernel @nest
// CHECK:         nisa.for 10 {
// CHECK-NEXT:      %o = nisa.alloc "o" : !nisa.buf<sbuf, 1x512xf32>
// CHECK-NEXT:      nisa.for 3 {
// CHECK-NEXT:        %i = nisa.alloc "i" : !nisa.buf<sbuf, 1x512xf32>
// CHECK-NEXT:        nisa.tensor_copy dst=%i[0+1, 0: 1x2 loop 3 15] src=%o[0+1, 1: 1x2] :
// CHECK-NEXT:        %i.1 = nisa.alloc "i.1" : !nisa.buf<sbuf, 1x512xf32>
// CHECK-NEXT:        nisa.tensor_copy dst=%i.1[0+1, 5: 1x2 loop 3 15] src=%o[0+1, 1: 1x2] :
// CHECK-NEXT:        %i.2 = nisa.alloc "i.2" : !nisa.buf<sbuf, 1x512xf32>
// CHECK-NEXT:        nisa.tensor_copy dst=%i.2[0+1, 10: 1x2 loop 3 15] src=%o[0+1, 1: 1x2] :
// CHECK-NEXT:      }
// CHECK-NEXT:      %i.3 = nisa.alloc "i.3" : !nisa.buf<sbuf, 1x512xf32>
// CHECK-NEXT:      nisa.tensor_copy dst=%i.3[0+1, 45: 1x2 loop 3] src=%o[0+1, 1: 1x2] :
// CHECK-NEXT:      %i.4 = nisa.alloc "i.4" : !nisa.buf<sbuf, 1x512xf32>
// CHECK-NEXT:      nisa.tensor_copy dst=%i.4[0+1, 50: 1x2 loop 3] src=%o[0+1, 1: 1x2] :
// CHECK-NEXT:    }
// CHECK-NEXT:  }
nisa.kernel @nest {
  nisa.for 10 {
    %o = nisa.alloc "o" : !tile
    nisa.for 11 {
      %i = nisa.alloc "i" : !tile
      nisa.tensor_copy dst=%i[0+1, 0: 1x2 loop 3 5] src=%o[0+1, 1: 1x2] : !tile, !tile
    }
  }
}

// A loop of one iteration around one that stays is no loop.
// CHECK-LABEL: nisa.kernel @once
// CHECK-NEXT:    %t = nisa.alloc "t"
// CHECK-NEXT:    nisa.for 3 {
// CHECK-COUNT-3:   nisa.memset dst=%t[0+1, {{[0-9]+}}: 1x1 loop 3]
// CHECK-NEXT:    }
// CHECK-NEXT:  }
nisa.kernel @once {
  %t = nisa.alloc "t" : !tile
  nisa.for 1 {
    nisa.for 9 {
      nisa.memset dst=%t[0+1, 0: 1x1 loop 7 1] value=0 : !tile
    }
  }
}
