// A print keeps the author's numbers of iterations, whatever becomes of the loops around it.
//
// RUN: kiln-opt %s -nisa-unroll | FileCheck %s --check-prefix=ALL
// RUN: kiln-opt %s -nisa-unroll="full-limit=0 body-target=2 max-factor=2" | FileCheck %s --check-prefix=SOME
// What is left of them may be written out later.
// RUN: kiln-opt %s -nisa-unroll="full-limit=0 body-target=2 max-factor=2" | kiln-opt -nisa-unroll | FileCheck %s --check-prefix=ALL

!tile = !nisa.buf<sbuf, 128x512xf32>

// ALL-LABEL: nisa.kernel @nest
// ALL:         nisa.device_print data=%t[0+128, 0: 1x512] text=0 loops=2 :
// ALL-NEXT:    nisa.device_print data=%t[0+128, 0: 1x512] text=0 loops=2 base=[0 1 0 0] :
// ALL-NEXT:    nisa.device_print data=%t[0+128, 0: 1x512] text=0 loops=2 base=[0 2 0 0] :
// ALL-NEXT:    nisa.device_print data=%t[0+128, 0: 1x512] text=0 loops=2 base=[0 3 0 0] :
// ALL-NEXT:    nisa.device_print data=%t[0+128, 0: 1x512] text=0 loops=2 base=[0 4 0 0] :
// ALL-NEXT:    nisa.device_print data=%t[0+128, 0: 1x512] text=0 loops=2 base=[1 0 0 0] :
// ALL-NEXT:    nisa.device_print data=%t[0+128, 0: 1x512] text=0 loops=2 base=[1 1 0 0] :
// ALL-NEXT:    nisa.device_print data=%t[0+128, 0: 1x512] text=0 loops=2 base=[1 2 0 0] :
// ALL-NEXT:    nisa.device_print data=%t[0+128, 0: 1x512] text=0 loops=2 base=[1 3 0 0] :
// ALL-NEXT:    nisa.device_print data=%t[0+128, 0: 1x512] text=0 loops=2 base=[1 4 0 0] :
// ALL-NEXT:  }

// SOME-LABEL: nisa.kernel @nest
// SOME:         nisa.for 2 {
// SOME-NEXT:      nisa.for 2 {
// SOME-NEXT:        nisa.device_print data=%t[0+128, 0: 1x512] text=0 loops=2 step=[1 2 0 0] :
// SOME-NEXT:        nisa.device_print data=%t[0+128, 0: 1x512] text=0 loops=2 base=[0 1 0 0] step=[1 2 0 0] :
// SOME-NEXT:      }
// SOME-NEXT:      nisa.device_print data=%t[0+128, 0: 1x512] text=0 loops=2 base=[0 4 0 0] step=[1 0 0 0] :
// SOME-NEXT:    }
nisa.kernel @nest texts ["t"] {
  %t = nisa.alloc "t" : !tile
  nisa.for 2 {
    nisa.for 5 {
      nisa.device_print data=%t[0+128, 0: 1x512] text=0 loops=2 step=[1 1 0 0] : !tile
    }
  }
}
