// RUN: not kiln-opt %s -split-input-file -kiln-place 2>&1 | FileCheck %s

// 212,984 bytes of a partition are usable: a tensor of all of them fits (control), two of half and a bit do not.
nisa.kernel @exactly_full {
  %0 = nisa.alloc "all" : !nisa.buf<sbuf, 4x53246xf32>
  nisa.memset dst=%0[0+4, 0: 1x53246] value=0 engine=vector : !nisa.buf<sbuf, 4x53246xf32>
}

// -----

// CHECK-NOT: error
// CHECK: error: [M-01] SBUF peaks at 212992 of 212984 bytes per partition at line [[#]]; largest live: 'a' (line [[#]], 106496 bytes), 'b' (line [[#]], 106496 bytes)
// CHECK: note: 'a' holds 106496 bytes per partition
// CHECK: note: 'b' holds 106496 bytes per partition
// CHECK: note: help: the largest saving is 'a' (line [[#]], 106496 bytes): all else fits, and leaves it 106488 of 106496 bytes
// CHECK-NOT: error
nisa.kernel @one_too_many {
  %0 = nisa.alloc "a" : !nisa.buf<sbuf, 4x26624xf32>
  %1 = nisa.alloc "b" : !nisa.buf<sbuf, 4x26624xf32>
  nisa.memset dst=%0[0+4, 0: 1x26624] value=0 engine=vector : !nisa.buf<sbuf, 4x26624xf32>
  nisa.tensor_copy dst=%1[0+4, 0: 1x26624] src=%0[0+4, 0: 1x26624] engine=vector : !nisa.buf<sbuf, 4x26624xf32>, !nisa.buf<sbuf, 4x26624xf32>
}
